// A rank file has the tokens only. tiktoken merges the neighbours whose joined
// bytes have the lowest rank, so each way to make a token of two others is a
// merge of that token's rank; whole pieces are looked up first.
#include "runtime/text/TokenizerFiles.h"

#include "runtime/text/Base64.h"
#include "runtime/text/ByteLevel.h"
#include "runtime/text/Lines.h"
#include "runtime/text/PreTokenizer.h"
#include "runtime/text/TokenizerParts.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <unordered_map>

namespace llmc {

namespace {

/// Patterns of the encodings that tiktoken itself names.
std::string patternOf(const std::string &Given) {
  static const std::pair<const char *, const char *> Named[] = {
      {"gpt2", "'(?:[sdmt]|ll|ve|re)| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|"
               "\\s+(?!\\S)|\\s+"},
      {"cl100k_base",
       "'(?i:[sdmt]|ll|ve|re)|[^\\r\\n\\p{L}\\p{N}]?+\\p{L}+|\\p{N}{1,3}| "
       "?[^\\s\\p{L}\\p{N}]++[\\r\\n]*|\\s*[\\r\\n]|\\s+(?!\\S)|\\s+"},
      {"o200k_base",
       "[^\\r\\n\\p{L}\\p{N}]?[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}]*"
       "[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|"
       "[^\\r\\n\\p{L}\\p{N}]?[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}]+"
       "[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|"
       "\\p{N}{1,3}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n/]*|\\s*[\\r\\n]+|"
       "\\s+(?!\\S)|\\s+"}};
  std::string Name = Given;
  if (Name == "r50k_base" || Name == "p50k_base" || Name == "p50k_edit")
    Name = "gpt2";
  if (Name == "o200k_harmony")
    Name = "o200k_base";
  for (const auto &[Known, Pattern] : Named)
    if (Name == Known)
      return Pattern;
  return Given;
}

/// One line: bytes and rank.
bool readLine(std::string_view Line, std::string &Bytes, int64_t &Rank) {
  size_t Space = Line.find(' ');
  if (Space == std::string_view::npos)
    return false;
  std::optional<std::string> Decoded = decodeBase64(Line.substr(0, Space));
  std::string_view Digits = Line.substr(Space + 1);
  std::from_chars_result R =
      std::from_chars(Digits.data(), Digits.data() + Digits.size(), Rank);
  if (!Decoded || Decoded->empty() || R.ec != std::errc() ||
      R.ptr != Digits.data() + Digits.size())
    return false;
  Bytes = std::move(*Decoded);
  return Rank >= 0 && Rank <= MaxTokenId;
}

using Ranks = std::unordered_map<std::string, int32_t>;

Result<Ranks> readRanks(std::string_view Text, const std::string &Name) {
  Ranks Out;
  Lines All(Text);
  for (std::string_view Line; All.next(Line);) {
    if (Line.empty())
      continue;
    std::string Bytes;
    int64_t Rank = 0;
    if (!readLine(Line, Bytes, Rank))
      return malformedError(Name + ": line " + std::to_string(All.number()) +
                            " is not a token in Base64 and its rank");
    if (!Out.emplace(std::move(Bytes), static_cast<int32_t>(Rank)).second)
      return malformedError(Name + ": line " + std::to_string(All.number()) +
                            " repeats a token");
  }
  if (Out.empty())
    return malformedError(Name + ": has no tokens");
  return Out;
}

Status addTokens(const Ranks &R, const std::string &Name, TokenizerSource &S) {
  for (const auto &[Bytes, Rank] : R) {
    if (S.Tokens.size() <= static_cast<size_t>(Rank))
      S.Tokens.resize(Rank + 1);
    TokenizerSource::Token &T = S.Tokens[Rank];
    if (T.Flags != 0)
      return malformedError(Name + ": rank " + std::to_string(Rank) +
                            " occurs twice");
    T.Spelling = bytesToByteLevel(Bytes);
    T.Flags = KnownToken | InModel;
    for (size_t Cut = 1; Cut < Bytes.size(); ++Cut) {
      auto Left = R.find(Bytes.substr(0, Cut));
      if (Left == R.end())
        continue;
      auto Right = R.find(Bytes.substr(Cut));
      if (Right != R.end())
        S.Merges.push_back(
            {Left->second, Right->second, static_cast<uint32_t>(Rank), Rank});
    }
  }
  // The same image in every run, whatever the order of the hash table.
  std::sort(S.Merges.begin(), S.Merges.end(),
            [](const MergeSlot &A, const MergeSlot &B) {
              return A.Rank != B.Rank ? A.Rank < B.Rank : A.Left < B.Left;
            });
  return Status::success();
}

} // namespace

bool looksLikeTiktoken(std::string_view Text) {
  std::string Bytes;
  int64_t Rank = 0;
  std::string_view Line = Text.substr(0, Text.find('\n'));
  if (Line.ends_with('\r'))
    Line.remove_suffix(1);
  return Line.size() < 4096 && readLine(Line, Bytes, Rank);
}

Result<TokenizerSource> readTiktoken(std::string_view Text,
                                     const TokenizerFolder &F,
                                     const std::string &Name) {
  LLMC_ASSIGN_OR_RETURN(Ranks R, readRanks(Text, Name));
  TokenizerSource S;
  TokenizerConfig &C = S.Config;
  LLMC_RETURN_IF_ERROR(addTokens(R, Name, S));
  C.IgnoreMerges = true;
  if (F.Pattern.empty())
    return malformedError(
        Name + ": the pattern that cuts the text is not in the file; expected "
               "\"pat_str\" in tokenizer_config.json: a regular expression or "
               "the name of an encoding (cl100k_base …)");
  C.PreSteps.emplace_back();
  C.PreSteps.back().Pattern = patternOf(F.Pattern);
  Result<PreTokenizer> Check = PreTokenizer::create(C.PreSteps, true);
  if (!Check.ok())
    return malformedError("tokenizer_config.json: pat_str: " +
                          Check.status().message());
  C.PreSteps.emplace_back();
  C.PreSteps.back().What = PreStep::Bytes;
  C.Decoders.emplace_back();
  C.Decoders.back().What = DecodeStep::ByteLevel;
  LLMC_RETURN_IF_ERROR(addWithIds(S, F.Added));
  auto IdOf = [&S](const std::string &Content) {
    const AddedToken *A = findAdded(S.Config.AddedTokens, Content);
    return A ? A->Id : -1;
  };
  frameTexts(C, F.AddBos.value_or(false) ? IdOf(F.Bos) : -1,
             F.AddEos.value_or(false) ? IdOf(F.Eos) : -1);
  return S;
}

} // namespace llmc
