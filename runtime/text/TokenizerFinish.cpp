// What all kinds of tokenizer files have in common once their tokens are read.
#include "runtime/text/ByteLevel.h"
#include "runtime/text/Decoder.h"
#include "runtime/text/TokenizerParts.h"

#include <algorithm>
#include <cstdio>

namespace llmc {

namespace {

std::string fallbackName(unsigned Byte) {
  char Name[8];
  std::snprintf(Name, sizeof(Name), "<0x%02X>", Byte);
  return Name;
}

/// Pieces may reach the model as bytes when the last step before it spells
/// bytes, each byte is a token of its own, and the decoder undoes just that.
bool takesBytes(const TokenizerSource &S, const std::array<int32_t, 256> &Ids) {
  const TokenizerConfig &C = S.Config;
  bool Last = !C.PreSteps.empty() && C.PreSteps.back().What == PreStep::Bytes;
  bool Undone =
      C.Decoders.size() == 1 && C.Decoders[0].What == DecodeStep::ByteLevel;
  bool All = std::find(Ids.begin(), Ids.end(), -1) == Ids.end();
  return C.Model == ModelKind::Bpe && Last && Undone && C.Prefix.empty() &&
         C.Suffix.empty() && (All || (C.UnkId < 0 && !C.ByteFallback));
}

/// A text without pre-tokenizer is one piece, but words that begin with U+2581
/// cannot merge with what is before when no token has the mark inside.
bool wordsStandAlone(const TokenizerSource &S, const TokenIndex &Index) {
  static const std::string Mark = "\xE2\x96\x81";
  const TokenizerConfig &C = S.Config;
  if (C.Model != ModelKind::Bpe || C.ByteMode || C.IgnoreMerges ||
      !C.Prefix.empty() || !C.Suffix.empty() || Index.find(Mark) < 0)
    return false;
  for (const TokenizerSource::Token &T : S.Tokens) {
    size_t Begin = 0;
    while (T.Spelling.compare(Begin, Mark.size(), Mark) == 0)
      Begin += Mark.size();
    if ((T.Flags & InModel) &&
        T.Spelling.find(Mark, Begin) != std::string::npos)
      return false;
  }
  return true;
}

} // namespace

TokenIndex::TokenIndex(const TokenizerSource &S) {
  Ids.reserve(S.Tokens.size());
  for (size_t Id = 0; Id < S.Tokens.size(); ++Id)
    if (S.Tokens[Id].Flags & InModel)
      Ids[S.Tokens[Id].Spelling] = static_cast<int32_t>(Id);
}

int32_t TokenIndex::find(const std::string &Spelling) const {
  auto It = Ids.find(Spelling);
  return It == Ids.end() ? -1 : It->second;
}

AddedNumbering::AddedNumbering(TokenizerSource &S, size_t ModelSize)
    : S(S), ModelSize(ModelSize) {
  Ids.reserve(S.Tokens.size());
  for (size_t Id = 0; Id < S.Tokens.size(); ++Id)
    if (S.Tokens[Id].Flags & InModel)
      Ids[S.Tokens[Id].Spelling] = static_cast<int32_t>(Id);
}

Status AddedNumbering::add(AddedToken T) {
  // Files that the library wrote give the number that it would give again;
  // a number of another token does not count.
  int64_t Next = T.Id;
  bool Taken =
      static_cast<size_t>(T.Id) < S.Tokens.size() && S.Tokens[T.Id].Flags != 0;
  if (Taken)
    Next = std::max(MaxAdded + 1, static_cast<int64_t>(ModelSize));
  auto [It, New] = Ids.emplace(T.Content, static_cast<int32_t>(Next));
  T.Id = It->second;
  if (T.Id > MaxTokenId)
    return malformedError("added token '" + T.Content + "' has the number " +
                          std::to_string(T.Id) + ", at most " +
                          std::to_string(MaxTokenId));
  MaxAdded = std::max<int64_t>(MaxAdded, T.Id);
  if (S.Tokens.size() <= static_cast<size_t>(T.Id))
    S.Tokens.resize(T.Id + 1);
  TokenizerSource::Token &Token = S.Tokens[T.Id];
  if (Token.Spelling != T.Content) // a damaged numbering: the added one wins
    Token.Flags &= ~InModel;
  Token.Spelling = T.Content;
  Token.Flags |= KnownToken | InAdded | (T.Special ? SpecialToken : 0);
  // The last of equal ones counts.
  std::erase_if(S.Config.AddedTokens, [&T](const AddedToken &A) {
    return !A.Content.empty() && A.Id == T.Id;
  });
  S.Config.AddedTokens.push_back(std::move(T));
  return Status::success();
}

Result<std::vector<uint8_t>> finishTokenizer(TokenizerSource S) {
  TokenizerConfig &C = S.Config;
  TokenIndex Index(S);
  std::array<int32_t, 256> Spelled;
  for (unsigned B = 0; B < 256; ++B) {
    char Byte = static_cast<char>(B);
    Spelled[B] = Index.find(bytesToByteLevel(std::string_view(&Byte, 1)));
    C.ByteId[B] = Index.find(fallbackName(B));
  }
  for (size_t Id = 0; Id < S.Tokens.size(); ++Id)
    if (int Byte = S.Tokens[Id].Flags & ByteToken
                       ? byteOfFallback(S.Tokens[Id].Spelling)
                       : -1;
        Byte >= 0)
      C.ByteId[Byte] = static_cast<int32_t>(Id);
  C.ByteMode = takesBytes(S, Spelled);
  if (C.ByteMode)
    C.ByteId = Spelled;
  C.CutMarks = wordsStandAlone(S, Index);
  LLMC_ASSIGN_OR_RETURN(std::vector<uint8_t> Bytes, writeTokenizerImage(S));
  // What we write we must be able to read. The vector is aligned by its
  // allocator.
  Result<TokenizerData> Back = readTokenizerImage(Bytes);
  if (!Back.ok())
    return Back.status();
  return Bytes;
}

} // namespace llmc
