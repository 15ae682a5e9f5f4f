// Steps see a list of tokens, as in the reference library; Fuse and ByteLevel
// make one of it.
#include "runtime/text/Decoder.h"

#include "runtime/text/ByteLevel.h"
#include "runtime/text/Normalizer.h"
#include "runtime/text/Utf8.h"

#include <algorithm>

namespace llmc {

namespace {

constexpr std::string_view Replacement = "\xEF\xBF\xBD";

/// Undoes the spaces that WordPiece puts before punctuation and endings.
std::string cleanUp(std::string Text) {
  static const std::pair<std::string_view, std::string_view> Changes[] = {
      {" .", "."},   {" ?", "?"},     {" !", "!"},    {" ,", ","},
      {" ' ", "'"},  {" n't", "n't"}, {" 'm", "'m"},  {" do not", " don't"},
      {" 's", "'s"}, {" 've", "'ve"}, {" 're", "'re"}};
  if (Text.find(' ') == std::string::npos)
    return Text;
  for (const auto &[From, To] : Changes)
    Text = replaceText(Text, From, To);
  return Text;
}

std::string stripChars(std::string_view Token, const DecodeStep &S) {
  if (S.Content.empty())
    return std::string(Token);
  size_t Begin = 0, End = Token.size();
  for (uint32_t I = 0;
       I < S.Start && Token.substr(Begin).starts_with(S.Content); ++I)
    Begin += S.Content.size();
  // The reference looks at the whole token from behind as well; an end before
  // the begin leaves nothing.
  for (uint32_t I = 0; I < S.Stop && Token.substr(0, End).ends_with(S.Content);
       ++I)
    End -= S.Content.size();
  return std::string(Token.substr(Begin, End > Begin ? End - Begin : 0));
}

/// Runs of byte tokens become their text, or one U+FFFD per byte when the run
/// is not well-formed.
void joinBytes(std::vector<std::string> &Tokens) {
  std::vector<std::string> Out;
  std::string Run;
  auto Flush = [&]() {
    if (Run.empty())
      return;
    if (findBadUtf8(Run) == std::string_view::npos)
      Out.push_back(Run);
    else
      Out.insert(Out.end(), Run.size(), std::string(Replacement));
    Run.clear();
  };
  for (std::string &T : Tokens) {
    int Byte = byteOfFallback(T);
    if (Byte >= 0) {
      Run.push_back(static_cast<char>(Byte));
      continue;
    }
    Flush();
    Out.push_back(std::move(T));
  }
  Flush();
  Tokens = std::move(Out);
}

} // namespace

int byteOfFallback(std::string_view T) {
  if (T.size() != 6 || !T.starts_with("<0x") || T[5] != '>')
    return -1;
  // As in the reference, a sign is a digit too: "<0x+A>".
  std::string_view Digits = T.substr(3, 2);
  if (Digits[0] == '+')
    Digits.remove_prefix(1);
  int Value = 0;
  for (char C : Digits) {
    int D = C >= '0' && C <= '9'   ? C - '0'
            : C >= 'a' && C <= 'f' ? C - 'a' + 10
            : C >= 'A' && C <= 'F' ? C - 'A' + 10
                                   : -1;
    if (D < 0)
      return -1;
    Value = Value * 16 + D;
  }
  return Value;
}

Result<Decoder> Decoder::create(const std::vector<DecodeStep> &In) {
  Decoder D;
  D.Steps = In;
  D.Fused = In.size();
  for (size_t I = 0; I < In.size(); ++I) {
    D.Regexes.emplace_back();
    if (In[I].What == DecodeStep::ReplaceRegex) {
      LLMC_ASSIGN_OR_RETURN(SplitRegex R, SplitRegex::compile(In[I].Pattern));
      D.Regexes.back().emplace(std::move(R));
    }
    if (findBadUtf8(In[I].Pattern) != std::string_view::npos ||
        findBadUtf8(In[I].Content) != std::string_view::npos)
      return malformedError("decoder text is not UTF-8");
    bool Joins =
        In[I].What == DecodeStep::Fuse || In[I].What == DecodeStep::ByteLevel;
    if (Joins && D.Fused == In.size())
      D.Fused = I;
  }
  return D;
}

Status Decoder::apply(size_t Step, bool First, std::string &T,
                      SplitRegex::Scratch &S) const {
  const DecodeStep &D = Steps[Step];
  switch (D.What) {
  case DecodeStep::ByteLevel:
    if (std::optional<std::string> Bytes = byteLevelToBytes(T))
      T = std::move(*Bytes);
    break;
  case DecodeStep::ByteFallback:
    if (int Byte = byteOfFallback(T); Byte >= 0)
      T.assign(1, static_cast<char>(Byte));
    break;
  case DecodeStep::Fuse:
    break;
  case DecodeStep::Metaspace:
    T = replaceText(T, D.Pattern, First && D.Start ? "" : " ");
    break;
  case DecodeStep::ReplaceText:
    T = replaceText(T, D.Pattern, D.Content);
    break;
  case DecodeStep::ReplaceRegex: {
    std::vector<MatchSpan> M;
    if (!T.empty())
      LLMC_RETURN_IF_ERROR(Regexes[Step]->findAll(T, M, S));
    std::string Out;
    replaceMatches(T, M, D.Content, Out);
    T = std::move(Out);
    break;
  }
  case DecodeStep::Strip:
    T = stripChars(T, D);
    break;
  case DecodeStep::WordPiece:
    if (!First) {
      if (T.starts_with(D.Pattern))
        T.erase(0, D.Pattern.size());
      else
        T.insert(0, " ");
    }
    if (D.Start)
      T = cleanUp(std::move(T));
    break;
  case DecodeStep::Ctc:
    if (!D.Pattern.empty())
      T = replaceText(T, D.Pattern, "");
    if (D.Start)
      T = replaceText(cleanUp(std::move(T)), D.Content, " ");
    break;
  case DecodeStep::Bpe:
    T = replaceText(T, D.Pattern, " ");
    break;
  case DecodeStep::LeadingMark:
    if (First && T.starts_with(D.Pattern))
      T.erase(0, D.Pattern.size());
    break;
  case DecodeStep::Spaces:
    if (!First)
      T.insert(0, " ");
    break;
  }
  return Status::success();
}

Status Decoder::applyAll(size_t Step, std::vector<std::string> &Tokens,
                         SplitRegex::Scratch &S) const {
  const DecodeStep &D = Steps[Step];
  if (D.What == DecodeStep::ByteFallback) {
    joinBytes(Tokens);
    return Status::success();
  }
  if (D.What == DecodeStep::Ctc)
    Tokens.erase(std::unique(Tokens.begin(), Tokens.end()), Tokens.end());
  bool First = true;
  for (size_t I = 0; I < Tokens.size(); ++I) {
    if (D.What == DecodeStep::Bpe && I + 1 == Tokens.size())
      Tokens[I] = replaceText(Tokens[I], D.Pattern, "");
    else
      LLMC_RETURN_IF_ERROR(apply(Step, First, Tokens[I], S));
    First = First && staysFirst(D, Tokens[I]);
  }
  if (D.What == DecodeStep::Ctc)
    std::erase(Tokens, std::string());
  if (D.What != DecodeStep::Fuse && D.What != DecodeStep::ByteLevel)
    return Status::success();
  std::string All;
  for (const std::string &T : Tokens)
    All += T;
  if (D.What == DecodeStep::ByteLevel) {
    Utf8Stream Stream;
    std::string Text;
    Stream.push(All, Text);
    Stream.finish(Text);
    All = std::move(Text);
  }
  Tokens.assign(1, std::move(All));
  return Status::success();
}

Result<std::string> Decoder::decode(std::vector<std::string> Tokens) const {
  SplitRegex::Scratch S;
  for (size_t I = 0; I < Steps.size(); ++I)
    LLMC_RETURN_IF_ERROR(applyAll(I, Tokens, S));
  std::string All;
  for (const std::string &T : Tokens)
    All += T;
  return All;
}

Result<std::string> Decoder::middle(std::string_view Spelling) const {
  std::string Token(Spelling);
  SplitRegex::Scratch S;
  bool Raw = false; // once it is bytes, no step looks at it as text
  for (size_t I = 0; I < Steps.size() && I <= Fused && !Raw; ++I) {
    Raw = Steps[I].What == DecodeStep::ByteLevel ||
          (Steps[I].What == DecodeStep::ByteFallback &&
           byteOfFallback(Token) >= 0);
    LLMC_RETURN_IF_ERROR(apply(I, false, Token, S));
  }
  // What a replacement of the whole text does to every token alike.
  for (size_t I = Fused + 1; I < Steps.size() && !Raw; ++I)
    if (Steps[I].What == DecodeStep::ReplaceText)
      LLMC_RETURN_IF_ERROR(apply(I, false, Token, S));
  return Token;
}

} // namespace llmc
