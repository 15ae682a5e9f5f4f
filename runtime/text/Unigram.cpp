// Viterbi over the byte positions of the piece: from each character's begin the
// trie gives all tokens that fit. Of equal sums the one found first stays, and
// unknown neighbours are fused, both as in the reference libraries.
#include "runtime/text/Unigram.h"

#include "runtime/text/TokenTrie.h"
#include "runtime/text/Utf8.h"

#include <algorithm>

namespace llmc {

namespace {
constexpr uint32_t NoBegin = UINT32_MAX;
constexpr int32_t Unknown = -1;
} // namespace

/// Score: the type in which sums are kept; it decides ties. SentencePiece keeps
/// single precision, but compares a new sum before it is rounded.
template <typename Score>
Status Unigram::findPath(std::string_view Piece, Scratch &S) const {
  S.Nodes.assign(Piece.size() + 1, {0, Unknown, NoBegin});
  auto Offer = [&](size_t Begin, size_t End, double Sum, int32_t Id) {
    Scratch::Node &N = S.Nodes[End];
    if (N.Begin != NoBegin && !(Sum > N.Score))
      return;
    N = {static_cast<Score>(Sum), Id, static_cast<uint32_t>(Begin)};
  };
  for (size_t At = 0, Next = 0; At < Piece.size(); At = Next) {
    nextCodePoint(Piece, Next);
    Score Here = static_cast<Score>(S.Nodes[At].Score);
    bool Single = false; // a token of just this character
    uint32_t Node = 0;
    for (size_t I = At; I < Piece.size(); ++I) {
      Node = trieChild(D.Trie, Node, static_cast<uint8_t>(Piece[I]));
      if (Node == 0)
        break;
      int32_t Id = D.Trie[Node].Token;
      // A hostile trie may hold half characters; those do not count.
      if (Id < 0 || (I + 1 < Piece.size() && (Piece[I + 1] & 0xC0) == 0x80))
        continue;
      Offer(At, I + 1, D.Scores[Id] + Here, Id);
      Single |= I + 1 == Next;
    }
    if (Single)
      continue;
    Score Sum = static_cast<Score>(D.Config.UnkScore) + Here;
    if (D.Config.UnkId < 0)
      return unsupportedError(
          "text has the character '" +
          std::string(Piece.substr(At, Next - At)) +
          "', for which the tokenizer has neither a token nor an unknown one");
    Offer(At, Next, Sum, Unknown);
  }
  return Status::success();
}

/// Tokens of one part of the path that is no single token of the model.
Status Unigram::put(std::string_view Text, std::vector<int32_t> &Out) const {
  // Only the library of tokenizer.json looks for the fused text.
  if (int32_t Id = D.Config.FloatScores ? -1 : D.find(Text); Id >= 0) {
    Out.push_back(Id);
    return Status::success();
  }
  bool AllBytes = D.Config.ByteFallback;
  for (size_t I = 0; AllBytes && I < Text.size(); ++I)
    AllBytes = D.Config.ByteId[static_cast<uint8_t>(Text[I])] >= 0;
  if (!AllBytes) {
    Out.push_back(D.Config.UnkId);
    return Status::success();
  }
  for (char C : Text)
    Out.push_back(D.Config.ByteId[static_cast<uint8_t>(C)]);
  return Status::success();
}

Status Unigram::encode(std::string_view Piece, std::vector<int32_t> &Out,
                       Scratch &S) const {
  if (D.Config.FloatScores)
    LLMC_RETURN_IF_ERROR(findPath<float>(Piece, S));
  else
    LLMC_RETURN_IF_ERROR(findPath<double>(Piece, S));
  S.Path.clear();
  for (size_t End = Piece.size(); End > 0; End = S.Nodes[End].Begin)
    S.Path.push_back({S.Nodes[End].Begin, End});
  std::reverse(S.Path.begin(), S.Path.end());
  for (size_t I = 0; I < S.Path.size(); ++I) {
    MatchSpan Part = S.Path[I];
    int32_t Id = S.Nodes[Part.End].Id;
    auto IsUnknown = [&](size_t K) {
      int32_t T = S.Nodes[S.Path[K].End].Id;
      return T == Unknown || T == D.Config.UnkId;
    };
    if (!IsUnknown(I)) {
      Out.push_back(Id);
      continue;
    }
    while (I + 1 < S.Path.size() && IsUnknown(I + 1))
      Part.End = S.Path[++I].End;
    LLMC_RETURN_IF_ERROR(
        put(Piece.substr(Part.Begin, Part.End - Part.Begin), Out));
  }
  return Status::success();
}

} // namespace llmc
