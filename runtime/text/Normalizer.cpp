// One function per step, text in, text out.
#include "runtime/text/Normalizer.h"

#include "runtime/text/ByteLevel.h"
#include "runtime/text/SpmNormalizer.h"
#include "runtime/text/Unicode.h"
#include "runtime/text/UnicodeForms.h"
#include "runtime/text/Utf8.h"

#include <utf8proc.h>

namespace llmc {

namespace {

constexpr uint32_t Removed = UINT32_MAX;

/// Maps each character by Change; Removed drops it.
template <typename F> std::string mapChars(std::string_view Text, F Change) {
  std::string Out;
  Out.reserve(Text.size());
  for (size_t At = 0; At < Text.size();)
    if (uint32_t C = Change(nextCodePoint(Text, At)); C != Removed)
      appendUtf8(Out, C);
  return Out;
}

std::string lowercase(std::string_view Text) {
  std::string Out;
  Out.reserve(Text.size());
  for (size_t At = 0; At < Text.size();) {
    uint32_t C = nextCodePoint(Text, At);
    if (C == 0x130) // I with dot above: i and a combining dot
      Out += "i\xCC\x87";
    else
      appendUtf8(Out, lowerOf(C));
  }
  return Out;
}

std::string strip(std::string_view Text, uint8_t Flags) {
  auto IsWhite = [](uint32_t C) { return charTraits(C) & White; };
  size_t Begin = 0, End = Text.size();
  for (size_t At = 0; (Flags & 1) && At < Text.size(); Begin = At)
    if (!IsWhite(nextCodePoint(Text, At)))
      break;
  while ((Flags & 2) && End > Begin) {
    size_t At = End - 1;
    while (At > Begin && (Text[At] & 0xC0) == 0x80)
      --At;
    size_t Pos = At;
    if (!IsWhite(nextCodePoint(Text, Pos)))
      break;
    End = At;
  }
  return std::string(Text.substr(Begin, End - Begin));
}

bool isChinese(uint32_t C) {
  return (C >= 0x4E00 && C <= 0x9FFF) || (C >= 0x3400 && C <= 0x4DBF) ||
         (C >= 0x20000 && C <= 0x2A6DF) || (C >= 0x2A700 && C <= 0x2B73F) ||
         (C >= 0x2B740 && C <= 0x2B81F) || (C >= 0x2B920 && C <= 0x2CEAF) ||
         (C >= 0xF900 && C <= 0xFAFF) || (C >= 0x2F800 && C <= 0x2FA1F);
}

std::string bert(std::string Text, uint8_t Flags) {
  if (Flags & 1)
    Text = mapChars(Text, [](uint32_t C) -> uint32_t {
      if (C == '\t' || C == '\n' || C == '\r')
        return ' ';
      uint8_t T = charTraits(C);
      if (C == 0 || C == 0xFFFD || (T & Other))
        return Removed;
      return T & White ? ' ' : C;
    });
  if (Flags & 2) {
    std::string Out;
    for (size_t At = 0; At < Text.size();) {
      uint32_t C = nextCodePoint(Text, At);
      bool Apart = isChinese(C);
      Out += Apart ? " " : "";
      appendUtf8(Out, C);
      Out += Apart ? " " : "";
    }
    Text = std::move(Out);
  }
  if (Flags & 4)
    Text = mapChars(toNormalForm(Text, NormalForm::D), [](uint32_t C) {
      return charTraits(C) & NonSpacing ? Removed : C;
    });
  return Flags & 8 ? lowercase(Text) : Text;
}

uint32_t nmt(uint32_t C) {
  if ((C >= 1 && C <= 8) || C == 0xB || (C >= 0xE && C <= 0x1F) || C == 0x7F ||
      C == 0x8F || C == 0x9F)
    return Removed;
  if (C == 9 || C == 0xA || C == 0xC || C == 0xD || C == 0x1680 ||
      (C >= 0x200B && C <= 0x200F) || C == 0x2028 || C == 0x2029 ||
      C == 0x2581 || C == 0xFEFF || C == 0xFFFD)
    return ' ';
  return C;
}

/// End of the grapheme cluster that begins at Begin.
size_t clusterEnd(std::string_view Text, size_t Begin) {
  size_t At = Begin;
  int32_t State = 0;
  int32_t Before = static_cast<int32_t>(nextCodePoint(Text, At));
  while (At < Text.size()) {
    size_t Next = At;
    int32_t C = static_cast<int32_t>(nextCodePoint(Text, Next));
    if (utf8proc_grapheme_break_stateful(Before, C, &State))
      break;
    Before = C;
    At = Next;
  }
  return At;
}

/// The reference library looks up whole clusters of up to five bytes, and
/// takes the shortest key that the cluster begins with for all of it.
std::string precompiled(std::string_view Text, const CharsMap &Map) {
  std::string Out;
  Out.reserve(Text.size());
  for (size_t At = 0; At < Text.size();) {
    size_t End = clusterEnd(Text, At);
    std::string_view Cluster = Text.substr(At, End - At);
    At = End;
    if (Cluster.size() < 6)
      if (std::optional<CharsMap::Found> F = Map.shortest(Cluster)) {
        Out += F->Text;
        continue;
      }
    for (size_t I = 0; I < Cluster.size();) {
      size_t Begin = I;
      nextCodePoint(Cluster, I);
      std::string_view Char = Cluster.substr(Begin, I - Begin);
      std::optional<CharsMap::Found> F = Map.shortest(Char);
      Out += F ? F->Text : Char;
    }
  }
  return Out;
}

Status checkSize(double Bytes) {
  if (Bytes <= INT32_MAX)
    return Status::success();
  return doesNotFitError("normalised text of " +
                         std::to_string(static_cast<uint64_t>(Bytes)) +
                         " bytes, at most " + std::to_string(INT32_MAX));
}

} // namespace

void findText(std::string_view Text, std::string_view Pattern,
              std::vector<MatchSpan> &Out) {
  if (Pattern.empty()) {
    for (size_t At = 0; At <= Text.size(); ++At)
      if (At == Text.size() || (Text[At] & 0xC0) != 0x80)
        Out.push_back({At, At});
    return;
  }
  for (size_t At = Text.find(Pattern); At != std::string_view::npos;
       At = Text.find(Pattern, At + Pattern.size()))
    Out.push_back({At, At + Pattern.size()});
}

void replaceMatches(std::string_view Text, const std::vector<MatchSpan> &M,
                    std::string_view Content, std::string &Out) {
  size_t Done = 0;
  for (const MatchSpan &S : M) {
    Out += Text.substr(Done, S.Begin - Done);
    Out += Content;
    Done = S.End;
  }
  Out += Text.substr(Done);
}

std::string replaceText(std::string_view Text, std::string_view Pattern,
                        std::string_view Content) {
  std::vector<MatchSpan> M;
  if (!Text.empty())
    findText(Text, Pattern, M);
  std::string Out;
  replaceMatches(Text, M, Content, Out);
  return Out;
}

Result<Normalizer> Normalizer::create(const std::vector<NormalStep> &In) {
  Normalizer N;
  N.Steps = In;
  for (const NormalStep &S : In) {
    N.Regexes.emplace_back();
    N.Maps.emplace_back();
    if (S.What == NormalStep::ReplaceRegex) {
      LLMC_ASSIGN_OR_RETURN(SplitRegex R, SplitRegex::compile(S.Pattern));
      N.Regexes.back().emplace(std::move(R));
    }
    if (S.What == NormalStep::Precompiled ||
        S.What == NormalStep::SentencePiece) {
      LLMC_ASSIGN_OR_RETURN(N.Maps.back(), CharsMap::parse(S.Pattern));
    }
    if (findBadUtf8(S.Content) != std::string_view::npos)
      return malformedError("normalizer content is not UTF-8");
  }
  return N;
}

Status Normalizer::runStep(size_t I, std::string &Text,
                           SplitRegex::Scratch &Scratch) const {
  const NormalStep &S = Steps[I];
  switch (S.What) {
  case NormalStep::NFC:
    Text = toNormalForm(Text, NormalForm::C);
    break;
  case NormalStep::NFD:
    Text = toNormalForm(Text, NormalForm::D);
    break;
  case NormalStep::NFKC:
    Text = toNormalForm(Text, NormalForm::KC);
    break;
  case NormalStep::NFKD:
    Text = toNormalForm(Text, NormalForm::KD);
    break;
  case NormalStep::Lowercase:
    Text = lowercase(Text);
    break;
  case NormalStep::Strip:
    Text = strip(Text, S.Flags);
    break;
  case NormalStep::StripAccents:
    Text = mapChars(Text, [](uint32_t C) {
      return charTraits(C) & Combining ? Removed : C;
    });
    break;
  case NormalStep::ReplaceText:
  case NormalStep::ReplaceRegex: {
    std::vector<MatchSpan> M;
    if (!Text.empty() && S.What == NormalStep::ReplaceRegex)
      LLMC_RETURN_IF_ERROR(Regexes[I]->findAll(Text, M, Scratch));
    else if (!Text.empty())
      findText(Text, S.Pattern, M);
    // A content that is long and a pattern that is found everywhere.
    LLMC_RETURN_IF_ERROR(
        checkSize(Text.size() + static_cast<double>(M.size()) *
                                    static_cast<double>(S.Content.size())));
    std::string Out;
    replaceMatches(Text, M, S.Content, Out);
    Text = std::move(Out);
    break;
  }
  case NormalStep::Prepend:
    if (!Text.empty())
      Text.insert(0, S.Content);
    break;
  case NormalStep::Precompiled:
    Text = precompiled(Text, Maps[I]);
    break;
  case NormalStep::Bert:
    Text = bert(std::move(Text), S.Flags);
    break;
  case NormalStep::Nmt:
    Text = mapChars(Text, nmt);
    break;
  case NormalStep::ByteLevel:
    Text = bytesToByteLevel(Text);
    break;
  case NormalStep::SentencePiece:
    Text = spmNormalize(Text, S, Maps[I]);
    break;
  }
  return Status::success();
}

/// Each step is asked twice, with the first character and without, over the
/// begin of the text: the difference in length is what the character became.
Result<size_t> Normalizer::firstLength(std::string_view Text,
                                       SplitRegex::Scratch &S) const {
  constexpr size_t Window = 64;
  size_t End = 0, Length = 0;
  while (End < Text.size() && End < Window)
    nextCodePoint(Text, End);
  std::string Whole(Text.substr(0, End));
  if (!Whole.empty())
    nextCodePoint(Whole, Length);
  for (size_t I = 0; I < Steps.size() && Length > 0; ++I) {
    std::string Rest = Whole.substr(Length);
    size_t First = 0;
    bool IsWhite = charTraits(nextCodePoint(Whole, First)) & White;
    LLMC_RETURN_IF_ERROR(runStep(I, Whole, S));
    if (Steps[I].What == NormalStep::Strip) {
      // What follows white space would be stripped alone, but not here.
      Length =
          IsWhite && (Steps[I].Flags & 1) ? 0 : std::min(Length, Whole.size());
      continue;
    }
    if (Steps[I].What == NormalStep::Prepend) {
      Length += Steps[I].Content.size();
      continue;
    }
    LLMC_RETURN_IF_ERROR(runStep(I, Rest, S));
    bool Apart = Whole.size() >= Rest.size() && Whole.ends_with(Rest);
    if (Apart) {
      Length = Whole.size() - Rest.size();
    } else { // it joined with what follows
      Length = 0;
      nextCodePoint(Whole, Length);
    }
  }
  return Length;
}

Status Normalizer::run(std::string &Text, SplitRegex::Scratch &S) const {
  for (size_t I = 0; I < Steps.size(); ++I) {
    LLMC_RETURN_IF_ERROR(runStep(I, Text, S));
    if (Text.size() > INT32_MAX)
      return doesNotFitError("normalised text of " +
                             std::to_string(Text.size()) + " bytes, at most " +
                             std::to_string(INT32_MAX));
  }
  return Status::success();
}

} // namespace llmc
