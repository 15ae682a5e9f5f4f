// Each alternative of a pattern is tried in the pattern's order. A character
// is looked at as a set of bits: letter, number, space, line break, and for
// o200k whether it can stand in the upper or lower part of a word.
#include "runtime/text/FastSplit.h"

#include "runtime/text/Unicode.h"
#include "runtime/text/Utf8.h"

#include <array>

namespace llmc {

namespace {

#define LLMC_CONTRACTIONS "'s|'t|'re|'ve|'m|'ll|'d"
#define LLMC_TAIL "|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+"
#define LLMC_UPPER "[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}]"
#define LLMC_LOWER "[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}]"
#define LLMC_O200K(Digits)                                                     \
  "[^\\r\\n\\p{L}\\p{N}]?" LLMC_UPPER "*" LLMC_LOWER "+(?i:" LLMC_CONTRACTIONS \
  ")?|[^\\r\\n\\p{L}\\p{N}]?" LLMC_UPPER "+" LLMC_LOWER                        \
  "*(?i:" LLMC_CONTRACTIONS ")?|\\p{N}" Digits                                 \
  "| ?[^\\s\\p{L}\\p{N}]+[\\r\\n/]*" LLMC_TAIL
#define LLMC_GPT4(Digits)                                                      \
  "(?i:" LLMC_CONTRACTIONS ")|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}" Digits     \
  "| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*" LLMC_TAIL
#define LLMC_GPT2 "| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+"

enum Bit : uint8_t {
  Letter = 1,
  Number = 2,
  Space = 4,
  Break = 8, ///< \r and \n
  UpperPart = 16,
  LowerPart = 32,
};

uint8_t bitsOf(uint32_t C) {
  uint8_t Class = charClass(C);
  Category K = static_cast<Category>(Class & CategoryBits);
  uint8_t Bits = Class & RegexSpace ? Space : 0;
  if (C == '\r' || C == '\n')
    Bits |= Break;
  switch (K) {
  case Category::Lu:
  case Category::Lt:
    return Bits | Letter | UpperPart;
  case Category::Ll:
    return Bits | Letter | LowerPart;
  case Category::Lm:
  case Category::Lo:
    return Bits | Letter | UpperPart | LowerPart;
  case Category::Mn:
  case Category::Mc:
  case Category::Me:
    return Bits | UpperPart | LowerPart;
  case Category::Nd:
  case Category::Nl:
  case Category::No:
    return Bits | Number;
  default:
    return Bits;
  }
}

const std::array<uint8_t, 128> &asciiBits() {
  static const std::array<uint8_t, 128> Table = [] {
    std::array<uint8_t, 128> T = {};
    for (uint32_t C = 0; C < 128; ++C)
      T[C] = bitsOf(C);
    return T;
  }();
  return Table;
}

class Splitter {
public:
  Splitter(const FastPattern &P, std::string_view Text,
           std::vector<MatchSpan> &Out)
      : P(P), Text(Text), Ascii(asciiBits()), Out(Out) {}
  void run();

private:
  /// Bits of the character at At < size; Next becomes the place behind it.
  uint8_t look(size_t At, size_t &Next) const {
    uint8_t B = static_cast<uint8_t>(Text[At]);
    if (B < 0x80) {
      Next = At + 1;
      return Ascii[B];
    }
    Next = At;
    return bitsOf(nextCodePoint(Text, Next));
  }
  /// End of the run of characters that have one of the bits Any.
  size_t run(size_t At, uint8_t Any) const {
    for (size_t Next; At < Text.size() && (look(At, Next) & Any);)
      At = Next;
    return At;
  }
  /// End of the run of characters that have none of the bits.
  size_t runWithout(size_t At, uint8_t None) const {
    for (size_t Next; At < Text.size() && !(look(At, Next) & None);)
      At = Next;
    return At;
  }
  size_t contraction(size_t At, bool AnyCase) const;
  size_t digits(size_t At) const;
  size_t spaces(size_t At, bool Breaks) const;
  size_t gpt2(size_t At) const;
  size_t gpt4(size_t At) const;
  size_t o200k(size_t At) const;
  size_t lowerWord(size_t At) const;
  size_t upperWord(size_t At) const;

  const FastPattern &P;
  std::string_view Text;
  const std::array<uint8_t, 128> &Ascii;
  std::vector<MatchSpan> &Out;
};

/// End of 's, 't, 're … at At, or At. The long s is the letter s as well
/// where case does not count.
size_t Splitter::contraction(size_t At, bool AnyCase) const {
  if (At + 1 >= Text.size() || Text[At] != '\'')
    return At;
  auto Letter = [&](size_t I) -> char {
    if (I >= Text.size())
      return 0;
    char C = Text[I];
    return AnyCase && C >= 'A' && C <= 'Z' ? static_cast<char>(C + 32) : C;
  };
  char A = Letter(At + 1), B = Letter(At + 2);
  if (A == 's' || A == 't' || A == 'm' || A == 'd')
    return At + 2;
  if ((A == 'r' && B == 'e') || (A == 'v' && B == 'e') ||
      (A == 'l' && B == 'l'))
    return At + 3;
  if (AnyCase && Text.substr(At + 1).starts_with("\xC5\xBF"))
    return At + 3;
  return At;
}

size_t Splitter::digits(size_t At) const {
  if (P.MaxDigits == 0)
    return run(At, Number);
  for (uint32_t N = 0; N < P.MaxDigits && At < Text.size(); ++N) {
    size_t Next;
    if (!(look(At, Next) & Number))
      break;
    At = Next;
  }
  return At;
}

/// \s*[\r\n]+ when Breaks, then \s+(?!\S), then \s+; At is a space.
size_t Splitter::spaces(size_t At, bool Breaks) const {
  size_t End = At, LastBegin = At, LastBreak = At;
  for (size_t Next; End < Text.size(); End = Next) {
    uint8_t B = look(End, Next);
    if (!(B & Space))
      break;
    if (B & Break)
      LastBreak = Next;
    LastBegin = End;
  }
  if (Breaks && LastBreak > At)
    return LastBreak;
  // Before other text the last space stays with that text, unless it is all.
  return End < Text.size() && LastBegin > At ? LastBegin : End;
}

size_t Splitter::gpt2(size_t At) const {
  if (size_t End = contraction(At, false); End > At)
    return End;
  size_t From = At + (Text[At] == ' '), Next;
  if (From < Text.size()) {
    uint8_t B = look(From, Next);
    if (B & Letter)
      return run(Next, Letter);
    if (B & Number)
      return run(Next, Number);
    if (!(B & Space))
      return runWithout(Next, Space | Letter | Number);
  }
  return spaces(At, false);
}

size_t Splitter::gpt4(size_t At) const {
  if (size_t End = contraction(At, true); End > At)
    return End;
  size_t Next, After;
  uint8_t B = look(At, Next);
  if (B & Letter)
    return run(Next, Letter);
  if (!(B & (Break | Number)) && Next < Text.size() &&
      (look(Next, After) & Letter))
    return run(After, Letter);
  if (B & Number)
    return digits(At);
  size_t From = At + (Text[At] == ' ');
  if (From < Text.size() && !(look(From, After) & (Space | Letter | Number)))
    return run(runWithout(After, Space | Letter | Number), Break);
  return spaces(At, true);
}

/// UPPER*LOWER+ at At and the contraction behind it; At when there is none.
/// UPPER* takes all it can and gives back until LOWER+ has one character: the
/// last one of the run that can be lower too.
size_t Splitter::lowerWord(size_t At) const {
  size_t End = At, LowerEnd = At;
  for (size_t Next; End < Text.size(); End = Next) {
    uint8_t B = look(End, Next);
    if (!(B & UpperPart))
      break;
    if (B & LowerPart)
      LowerEnd = Next;
  }
  if (size_t Low = run(End, LowerPart); Low > End)
    LowerEnd = Low;
  return LowerEnd > At ? contraction(LowerEnd, true) : At;
}

/// UPPER+LOWER* at At and the contraction behind it; At when there is none.
size_t Splitter::upperWord(size_t At) const {
  size_t End = run(At, UpperPart);
  return End > At ? contraction(run(End, LowerPart), true) : At;
}

size_t Splitter::o200k(size_t At) const {
  size_t Next, After;
  uint8_t B = look(At, Next);
  // The optional character in front is taken first when it can be.
  bool Front = !(B & (Break | Letter | Number)) && Next < Text.size();
  if (size_t End = Front ? lowerWord(Next) : Next; End > Next)
    return End;
  if (size_t End = lowerWord(At); End > At)
    return End;
  if (size_t End = Front ? upperWord(Next) : Next; End > Next)
    return End;
  if (size_t End = upperWord(At); End > At)
    return End;
  if (B & Number)
    return digits(At);
  size_t From = At + (Text[At] == ' ');
  if (From < Text.size() && !(look(From, After) & (Space | Letter | Number))) {
    size_t End = runWithout(After, Space | Letter | Number);
    while (End < Text.size() &&
           (Text[End] == '\r' || Text[End] == '\n' || Text[End] == '/'))
      ++End;
    return End;
  }
  return spaces(At, true);
}

void Splitter::run() {
  for (size_t At = 0; At < Text.size();) {
    size_t End = P.What == FastPattern::Gpt2   ? gpt2(At)
                 : P.What == FastPattern::Gpt4 ? gpt4(At)
                                               : o200k(At);
    Out.push_back({At, End});
    At = End;
  }
}

} // namespace

FastPattern recognizePattern(std::string_view Regex) {
  static const std::pair<std::string_view, FastPattern> Known[] = {
      {LLMC_CONTRACTIONS LLMC_GPT2, {FastPattern::Gpt2, 0}},
      {"(?:" LLMC_CONTRACTIONS ")" LLMC_GPT2, {FastPattern::Gpt2, 0}},
      {"'(?:[sdmt]|ll|ve|re)" LLMC_GPT2, {FastPattern::Gpt2, 0}},
      {LLMC_GPT4("{1,3}"), {FastPattern::Gpt4, 3}},
      {LLMC_GPT4("{1,2}"), {FastPattern::Gpt4, 2}},
      {LLMC_GPT4(""), {FastPattern::Gpt4, 1}},
      {LLMC_GPT4("+"), {FastPattern::Gpt4, 0}},
      {LLMC_O200K("{1,3}"), {FastPattern::O200k, 3}},
      {LLMC_O200K(""), {FastPattern::O200k, 1}}};
  for (const auto &[Pattern, Fast] : Known)
    if (Regex == Pattern)
      return Fast;
  return {};
}

void fastSplit(const FastPattern &P, std::string_view Text,
               std::vector<MatchSpan> &Out) {
  Splitter(P, Text, Out).run();
}

} // namespace llmc
