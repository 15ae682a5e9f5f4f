// The hand-written matchers against the regular expressions that they stand
// for, on random texts.
#include "runtime/text/FastSplit.h"
#include "runtime/text/SplitRegex.h"
#include "runtime/text/Utf8.h"

#include <gtest/gtest.h>
#include <random>

using namespace llmc;

namespace {

const char *const Patterns[] = {
    "'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|"
    "\\s+(?!\\S)|\\s+",
    "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}{1,3}| "
    "?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+",
    "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}| "
    "?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+",
    "[^\\r\\n\\p{L}\\p{N}]?[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}]*[\\p{Ll}\\p{Lm}"
    "\\p{Lo}\\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|[^\\r\\n\\p{L}\\p{N}]?["
    "\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}]+[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}]*(?i:'s|"
    "'t|'re|'ve|'m|'ll|'d)?|\\p{N}{1,3}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n/]*|\\s*["
    "\\r\\n]+|\\s+(?!\\S)|\\s+"};

/// Letters of every case, marks, digits, spaces, breaks, contractions, and
/// characters on which the Unicode versions of the libraries differ.
std::string randomText(std::mt19937 &Random) {
  static const char32_t Kinds[] =
      U"aZsStTrReEvVmMlLdD''''''  \t\n\r/.-_09²٣ªǅʰßſK\u0301\u0903\u20DD\u00A0"
      U"\u2028\u0085\u180E\u200B中あ가🙂\U0001E4D0\U00031350\u08C8\U00011F02";
  constexpr size_t Count = sizeof(Kinds) / sizeof(*Kinds) - 1;
  std::string Text;
  for (size_t N = Random() % 14; N != 0; --N)
    appendUtf8(Text, Kinds[Random() % Count]);
  return Text;
}

TEST(FastSplit, MatchesTheRegularExpression) {
  std::mt19937 Random(1);
  SplitRegex::Scratch Scratch;
  for (const char *Pattern : Patterns) {
    ASSERT_NE(recognizePattern(Pattern).What, FastPattern::None) << Pattern;
    Result<SplitRegex> Fast = SplitRegex::compile(Pattern);
    Result<SplitRegex> Slow = SplitRegex::compile(Pattern, false);
    ASSERT_TRUE(Fast.ok() && Slow.ok());
    for (int I = 0; I < 20'000; ++I) {
      std::string Text = randomText(Random);
      std::vector<MatchSpan> A, B;
      ASSERT_TRUE(Fast->findAll(Text, A, Scratch).ok());
      ASSERT_TRUE(Slow->findAll(Text, B, Scratch).ok());
      ASSERT_EQ(A.size(), B.size()) << Text << "\n" << Pattern;
      for (size_t K = 0; K < A.size(); ++K)
        ASSERT_TRUE(A[K].Begin == B[K].Begin && A[K].End == B[K].End)
            << Text << "\n"
            << Pattern;
    }
  }
}

TEST(FastSplit, OtherPatternsAreLeftToTheRegularExpression) {
  EXPECT_EQ(recognizePattern("\\p{L}+").What, FastPattern::None);
}

} // namespace
