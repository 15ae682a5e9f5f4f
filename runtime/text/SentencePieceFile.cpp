// The protocol buffer is read by hand (wire format of protobuf: a key of field
// and kind, then a varint, 4 or 8 bytes, or a length and that many bytes); the
// fields are those of sentencepiece_model.proto. Merges of a BPE model are not
// stored there: a pair may merge when its text is a piece, best score first.
#include "runtime/text/TokenizerFiles.h"

#include "runtime/text/CharsMap.h"
#include "runtime/text/TokenizerParts.h"
#include "runtime/text/Utf8.h"

#include <algorithm>
#include <bit>
#include <cfloat>
#include <cmath>
#include <cstring>
#include <set>

namespace llmc {

namespace {

constexpr std::string_view Mark = "\xE2\x96\x81"; // U+2581
enum PieceType { Normal = 1, Unknown, Control, UserDefined, Unused, Byte };

/// Walks over the fields of one message.
class Message {
public:
  explicit Message(std::string_view B) : Bytes(B) {}
  uint64_t Field = 0, Number = 0;
  std::string_view Text;

  /// The next field; false at the end or when the message is broken.
  bool next() {
    if (At == Bytes.size() || Broken)
      return false;
    uint64_t Key = varint();
    Field = Key >> 3;
    Text = {};
    switch (Key & 7) {
    case 0:
      Number = varint();
      break;
    case 1:
      Number = fixed(8);
      break;
    case 5:
      Number = fixed(4);
      break;
    case 2: {
      uint64_t N = varint();
      Broken |= N > Bytes.size() - At;
      if (!Broken)
        Text = Bytes.substr(At, N), At += N;
      break;
    }
    default:
      Broken = true;
    }
    return !Broken;
  }
  bool broken() const { return Broken; }
  size_t place() const { return At; }

private:
  uint64_t varint() {
    uint64_t V = 0;
    for (unsigned Shift = 0; Shift < 64; Shift += 7) {
      if (At == Bytes.size())
        break;
      uint8_t B = static_cast<uint8_t>(Bytes[At++]);
      V |= static_cast<uint64_t>(B & 0x7F) << Shift;
      if (B < 0x80)
        return V;
    }
    Broken = true;
    return 0;
  }
  uint64_t fixed(size_t N) {
    uint64_t V = 0;
    if (Bytes.size() - At < N) {
      Broken = true;
      return 0;
    }
    std::memcpy(&V, Bytes.data() + At, N);
    At += N;
    return V;
  }
  std::string_view Bytes;
  size_t At = 0;
  bool Broken = false;
};

struct Piece {
  std::string Text;
  float Score = 0;
  uint64_t Type = Normal;
};

struct Model {
  std::vector<Piece> Pieces;
  uint64_t Kind = 1; ///< 1 unigram, 2 BPE, 3 word, 4 char
  bool SuffixSpace = false, ByteFallback = false;
  bool DummyPrefix = true, Trim = true, Escape = true;
  std::string Table;
  int64_t UnkId = 0, BosId = 1, EosId = 2;
};

class Reader {
public:
  Reader(std::string_view Bytes, std::string Name)
      : Bytes(Bytes), Name(std::move(Name)) {}
  Result<Model> run();

private:
  Status bad(const std::string &What) const {
    return malformedError(Name + ": " + What);
  }
  Status readPiece(std::string_view Text);
  Status readTrainer(std::string_view Text);
  Status readNormalizerSpec(std::string_view Text);

  std::string_view Bytes;
  std::string Name;
  Model M;
};

Status Reader::readPiece(std::string_view Text) {
  Message P(Text);
  Piece New;
  while (P.next()) {
    if (P.Field == 1)
      New.Text = P.Text;
    else if (P.Field == 2)
      New.Score = std::bit_cast<float>(static_cast<uint32_t>(P.Number));
    else if (P.Field == 3)
      New.Type = P.Number;
  }
  std::string Which = "piece " + std::to_string(M.Pieces.size());
  if (P.broken() || New.Text.empty())
    return bad(Which + " is broken");
  if (findBadUtf8(New.Text) != std::string_view::npos)
    return bad(Which + " is not UTF-8");
  if (New.Type < Normal || New.Type > Byte)
    return bad(Which + " is of type " + std::to_string(New.Type) +
               ", expected 1 to 6");
  if (!std::isfinite(New.Score))
    return bad(Which + " has no finite score");
  M.Pieces.push_back(std::move(New));
  return Status::success();
}

Status Reader::readTrainer(std::string_view Text) {
  Message P(Text);
  while (P.next()) {
    int64_t N = static_cast<int32_t>(P.Number); // negative ids are stored long
    if (P.Field == 3)
      M.Kind = P.Number;
    else if (P.Field == 24)
      M.SuffixSpace = P.Number != 0;
    else if (P.Field == 35)
      M.ByteFallback = P.Number != 0;
    else if (P.Field == 40)
      M.UnkId = N;
    else if (P.Field == 41)
      M.BosId = N;
    else if (P.Field == 42)
      M.EosId = N;
  }
  return P.broken() ? bad("trainer specification is broken")
                    : Status::success();
}

Status Reader::readNormalizerSpec(std::string_view Text) {
  Message P(Text);
  while (P.next()) {
    if (P.Field == 2)
      M.Table = P.Text;
    else if (P.Field == 3)
      M.DummyPrefix = P.Number != 0;
    else if (P.Field == 4)
      M.Trim = P.Number != 0;
    else if (P.Field == 5)
      M.Escape = P.Number != 0;
  }
  if (P.broken())
    return bad("normalizer specification is broken");
  Result<CharsMap> Map = CharsMap::parse(M.Table);
  return Map.ok() ? Status::success() : bad(Map.status().message());
}

Result<Model> Reader::run() {
  Message P(Bytes);
  while (P.next()) {
    if (P.Field == 1)
      LLMC_RETURN_IF_ERROR(readPiece(P.Text));
    else if (P.Field == 2)
      LLMC_RETURN_IF_ERROR(readTrainer(P.Text));
    else if (P.Field == 3)
      LLMC_RETURN_IF_ERROR(readNormalizerSpec(P.Text));
  }
  if (P.broken() || M.Pieces.empty())
    return bad("not a SentencePiece model, at byte " +
               std::to_string(P.place()) + " of " +
               std::to_string(Bytes.size()));
  if (M.Pieces.size() > static_cast<size_t>(MaxTokenId))
    return bad(std::to_string(M.Pieces.size()) + " pieces, at most " +
               std::to_string(MaxTokenId));
  if (M.Kind != 1 && M.Kind != 2)
    return unsupportedError(Name + ": model type " + std::to_string(M.Kind) +
                            " is not implemented, only 1 (unigram) and 2 "
                            "(BPE)");
  return std::move(M);
}

std::string escaped(std::string_view Text) {
  std::string Out;
  for (char C : Text)
    if (C == ' ')
      Out += Mark;
    else
      Out.push_back(C);
  return Out;
}

/// Tokens with their flags, byte tokens, special and user-defined ones.
Status addPieces(const Model &M, TokenizerSource &S) {
  std::set<std::string_view> Seen;
  for (size_t Id = 0; Id < M.Pieces.size(); ++Id) {
    const Piece &P = M.Pieces[Id];
    if (!Seen.insert(P.Text).second)
      return malformedError("piece '" + P.Text + "' occurs twice");
    TokenizerSource::Token T;
    T.Spelling = P.Text;
    T.Flags = KnownToken;
    T.Score = P.Score;
    AddedToken A;
    A.Id = static_cast<int32_t>(Id);
    A.Content = P.Text;
    bool IsAdded = false;
    switch (P.Type) {
    case Normal:
      T.Flags |= InModel;
      break;
    case Byte:
      T.Flags |= ByteToken;
      break;
    case UserDefined:
      T.Flags |= InModel;
      // BPE takes them as they are; Unigram finds them by their score.
      IsAdded = M.Kind == 2;
      A.Normalized = true;
      A.Content = escaped(P.Text);
      break;
    case Unknown:
    case Control:
      T.Flags |= SpecialToken;
      IsAdded = A.Special = true;
      break;
    default:
      break; // unused: decodes, but no text becomes it
    }
    if (IsAdded) {
      T.Flags |= InAdded;
      S.Config.AddedTokens.push_back(std::move(A));
    }
    S.Tokens.push_back(std::move(T));
  }
  return Status::success();
}

/// Scores as the library computes them, in single precision.
void finishScores(const Model &M, TokenizerSource &S) {
  // The library begins its maximum at the least positive number, so that a
  // user-defined piece costs next to nothing.
  float Least = FLT_MAX, Most = FLT_MIN;
  for (const Piece &P : M.Pieces)
    if (P.Type == Normal) {
      Least = std::min(Least, P.Score);
      Most = std::max(Most, P.Score);
    }
  for (size_t Id = 0; Id < M.Pieces.size(); ++Id)
    if (M.Pieces[Id].Type == UserDefined)
      S.Tokens[Id].Score =
          static_cast<float>(M.Pieces[Id].Text.size()) * Most - 0.1;
  S.Config.UnkScore = Least - 10.0f;
  S.Config.FloatScores = true;
}

/// Every way to make a piece of two others, by descending score.
void makeMerges(const Model &M, TokenizerSource &S) {
  TokenIndex Index(S);
  std::vector<float> Scores;
  for (const Piece &P : M.Pieces)
    Scores.push_back(P.Score);
  std::sort(Scores.begin(), Scores.end(), std::greater<float>());
  Scores.erase(std::unique(Scores.begin(), Scores.end()), Scores.end());
  for (size_t Id = 0; Id < M.Pieces.size(); ++Id) {
    const Piece &P = M.Pieces[Id];
    if (P.Type != Normal)
      continue;
    uint32_t Rank =
        static_cast<uint32_t>(std::lower_bound(Scores.begin(), Scores.end(),
                                               P.Score, std::greater<float>()) -
                              Scores.begin());
    for (size_t Cut = 1; Cut < P.Text.size(); ++Cut) {
      if ((P.Text[Cut] & 0xC0) == 0x80)
        continue;
      int32_t Left = Index.find(P.Text.substr(0, Cut));
      int32_t Right = Left < 0 ? -1 : Index.find(P.Text.substr(Cut));
      if (Right >= 0)
        S.Merges.push_back({Left, Right, Rank, static_cast<int32_t>(Id)});
    }
  }
}

void addSteps(const Model &M, TokenizerConfig &C) {
  NormalStep N;
  N.What = NormalStep::SentencePiece;
  N.Pattern = M.Table;
  N.Flags = static_cast<uint8_t>(
      (M.Trim ? 1 : 0) | (M.DummyPrefix && !M.SuffixSpace ? 2 : 0) |
      (M.DummyPrefix && M.SuffixSpace ? 4 : 0) | (M.Escape ? 8 : 0));
  for (const Piece &P : M.Pieces)
    if (P.Type == UserDefined)
      N.Content += P.Text + std::string(1, '\0');
  C.Normalizers.push_back(std::move(N));
  auto Add = [&C](DecodeStep::Kind K) -> DecodeStep & {
    C.Decoders.emplace_back();
    C.Decoders.back().What = K;
    return C.Decoders.back();
  };
  if (M.DummyPrefix || M.Trim) {
    DecodeStep &Lead = Add(DecodeStep::LeadingMark);
    Lead.Pattern = Mark;
    Lead.Start = M.Trim;
  }
  DecodeStep &Spaces = Add(DecodeStep::ReplaceText);
  Spaces.Pattern = Mark;
  Spaces.Content = " ";
  Add(DecodeStep::ByteFallback);
  Add(DecodeStep::Fuse);
}

} // namespace

Result<TokenizerSource> readSentencePiece(std::string_view Bytes,
                                          const TokenizerFolder &F,
                                          const std::string &Name) {
  LLMC_ASSIGN_OR_RETURN(Model M, Reader(Bytes, Name).run());
  TokenizerSource S;
  TokenizerConfig &C = S.Config;
  Status Added = addPieces(M, S);
  if (!Added.ok())
    return malformedError(Name + ": " + Added.message());
  int64_t Size = static_cast<int64_t>(M.Pieces.size());
  if (M.UnkId < 0 || M.UnkId >= Size)
    return malformedError(Name + ": unknown piece " + std::to_string(M.UnkId) +
                          " of " + std::to_string(Size));
  C.UnkId = static_cast<int32_t>(M.UnkId);
  C.FuseUnk = true;
  C.ByteFallback = M.ByteFallback;
  if (M.Kind == 1) {
    C.Model = ModelKind::Unigram;
    finishScores(M, S);
  } else {
    for (const Piece &P : M.Pieces)
      if (P.Type == Unused)
        return unsupportedError(Name + ": BPE model with the unused piece '" +
                                P.Text + "' is not implemented");
    makeMerges(M, S);
  }
  addSteps(M, C);
  LLMC_RETURN_IF_ERROR(addWithIds(S, F.Added));
  // The classes of Llama and Gemma begin a text unless told otherwise.
  bool Begins = F.Class == "LlamaTokenizer" || F.Class == "GemmaTokenizer" ||
                F.Class == "CodeLlamaTokenizer";
  auto Wanted = [Size](std::optional<bool> Flag, bool Default, int64_t Id) {
    bool On = Flag.value_or(Default) && Id >= 0 && Id < Size;
    return On ? static_cast<int32_t>(Id) : -1;
  };
  frameTexts(C, Wanted(F.AddBos, Begins, M.BosId),
             Wanted(F.AddEos, false, M.EosId));
  return S;
}

} // namespace llmc
