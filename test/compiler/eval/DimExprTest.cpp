// Symbolic dims: canonical text, arithmetic, bounds, evaluation.
#include "passes/import/DimExpr.h"
#include "gtest/gtest.h"

using namespace llmc;

namespace {

std::string text(const Dim &D) { return D ? D->str() : "?"; }
Dim of(const char *Text) { return DimExpr::parse(Text); }
std::string canonical(const char *Text) { return text(of(Text)); }

TEST(DimExpr, PrintsOneCanonicalForm) {
  EXPECT_EQ(canonical("seq + past"), "past + seq");
  EXPECT_EQ(canonical("b + 2*a - 1"), "2*a + b - 1");
  EXPECT_EQ(canonical("-1 + a"), "a - 1");
  EXPECT_EQ(canonical("-a"), "-a");
  EXPECT_EQ(canonical("a - a"), "0");
  EXPECT_EQ(canonical("(a + 1)*b"), "a*b + b");
  EXPECT_EQ(canonical("b*a*3"), "3*a*b");
  EXPECT_EQ(canonical("s16+s17"), "s16 + s17");
  EXPECT_EQ(canonical("max(b, min(3, a))"), "max(b, min(3, a))");
  EXPECT_EQ(canonical("(2*a + b + 3)//2"), "a + floordiv(b + 1, 2) + 1");
  for (const char *Text : {"past + seq", "2*a + b - 1", "floordiv(a + 1, 2)"})
    EXPECT_EQ(canonical(Text), Text);
}

TEST(DimExpr, RefusesOtherText) {
  for (const char *Text : {"", "a b", "a +", "2a", "f(a, b)", "(a", "min(a)",
                           "99999999999999999999", "a//0"})
    EXPECT_EQ(canonical(Text), "?") << Text;
  std::string Deep(1000, '(');
  EXPECT_FALSE(DimExpr::parse(Deep + "a" + std::string(1000, ')')));
  EXPECT_FALSE(DimExpr::parse(std::string(1000, '-') + "a"));
}

TEST(DimExpr, ParamsBecomeExpressionsOrOneSymbol) {
  EXPECT_EQ(DimExpr::ofParam("past_sequence_length + sequence_length").str(),
            "past_sequence_length + sequence_length");
  EXPECT_EQ(DimExpr::ofParam("batch-size").str(), "batch$2dsize");
  EXPECT_EQ(DimExpr::ofParam("a b").str(), "a$20b");
  EXPECT_EQ(DimExpr::ofParam("12").str(), "$312");
  EXPECT_EQ(DimExpr::ofParam("").str(), "$");
  // Reading the canonical text again changes nothing.
  EXPECT_EQ(DimExpr::ofParam("a$20b").str(), "a$20b");
  std::string Long(5000, 'x');
  EXPECT_LE(DimExpr::ofParam(Long).str().size(), 128u);
  EXPECT_NE(DimExpr::ofParam(Long), DimExpr::ofParam(Long + "y"));
}

TEST(DimExpr, Arithmetic) {
  EXPECT_EQ(text(sub(of("past + seq"), of("past"))), "seq");
  EXPECT_EQ(text(divideExactly(of("576*b*s"), of("64*b*s"))), "9");
  EXPECT_EQ(text(divideExactly(of("a*b + a*c"), of("a"))), "b + c");
  EXPECT_EQ(text(divideExactly(of("a*b + a*c"), of("b + c"))), "a");
  EXPECT_EQ(text(divideExactly(of("a + 1"), of("a"))), "?");
  EXPECT_EQ(text(divideExactly(of("3*a"), of("2"))), "?");
  EXPECT_EQ(text(floorDiv(of("-7"), of("2"))), "-4");
  EXPECT_EQ(text(floorMod(of("-7"), of("2"))), "1");
  EXPECT_EQ(text(floorMod(of("4*a + 3"), of("4"))), "3");
  EXPECT_EQ(text(add(of("9223372036854775807"), of("1"))), "?");
  EXPECT_EQ(text(mul(of("4611686018427387904*a"), of("2"))), "?");
  EXPECT_EQ(text(add(Dim(), of("1"))), "?");
}

TEST(DimExpr, MinimumAndMaximumUseWhatIsKnown) {
  EXPECT_EQ(text(minimum(of("past + seq"), of("seq"))), "seq");
  EXPECT_EQ(text(maximum(of("past + seq"), of("seq"))), "past + seq");
  EXPECT_EQ(text(maximum(of("seq"), of("0"))), "seq");
  EXPECT_EQ(text(minimum(of("seq"), of("2048"))), "min(2048, seq)");
  EXPECT_TRUE(minimum(of("seq"), of("9"))->isMinimumWith(*of("seq")));
  EXPECT_FALSE(minimum(of("seq"), of("9"))->isMinimumWith(*of("past")));
}

TEST(DimExpr, RecognisesRowsCutFromATable) {
  Dim Rows = of("max(0, min(64, past + seq) - min(64, past))");
  EXPECT_TRUE(Rows->isClippedSpan(*of("seq")));
  EXPECT_FALSE(Rows->isClippedSpan(*of("past")));
  EXPECT_FALSE(of("max(0, min(64, past + seq) - min(32, past))")
                   ->isClippedSpan(*of("seq")));
  EXPECT_FALSE(of("seq")->isClippedSpan(*of("seq")));
}

TEST(DimExpr, Bounds) {
  EXPECT_EQ(of("2*a + 3")->lowerBound(), 3);
  EXPECT_EQ(of("a - b")->lowerBound(), std::nullopt);
  EXPECT_EQ(of("min(a, 5)")->upperBound(), 5);
  EXPECT_EQ(of("max(a, 5)")->lowerBound(), 5);
  EXPECT_EQ(of("7 - min(a, 5)")->lowerBound(), 2);
  EXPECT_TRUE(provablyDifferent(of("seq"), of("-1")));
  EXPECT_FALSE(provablyDifferent(of("seq"), of("1")));
  EXPECT_FALSE(provablyDifferent(of("seq"), of("past")));
  EXPECT_TRUE(provablyAtLeast(of("a + b"), of("b")));
}

TEST(DimExpr, Evaluates) {
  DimExpr::Lookup Symbol = [](std::string_view S) -> std::optional<int64_t> {
    if (S == "a")
      return 7;
    return S == "b" ? std::optional<int64_t>(3) : std::nullopt;
  };
  EXPECT_EQ(of("2*a*b - 1")->evaluate(Symbol), 41);
  EXPECT_EQ(of("min(a, b) + floordiv(a, 2)")->evaluate(Symbol), 6);
  EXPECT_EQ(of("a + c")->evaluate(Symbol), std::nullopt);
}

} // namespace
