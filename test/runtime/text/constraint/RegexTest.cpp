// Regular expressions against a matcher that tries everything.
#include "test/runtime/text/constraint/Support.h"

#include <set>

namespace llmc::constraint {
namespace {

/// A random expression, its pattern, and where its matches can end.
struct Expr {
  enum Kind { Char, Cat, Alt, Rep, Begin, End } What = Char;
  char C = 'a';
  unsigned Min = 0, Max = 0;
  std::vector<Expr> Kids;

  std::string pattern() const {
    switch (What) {
    case Char:
      return C == '.' ? "." : std::string(1, C);
    case Begin:
      return "^";
    case End:
      return "$";
    case Rep:
      return "(?:" + Kids[0].pattern() + "){" + std::to_string(Min) + "," +
             (Max == 99 ? "" : std::to_string(Max)) + "}";
    default: {
      std::string S;
      for (size_t I = 0; I < Kids.size(); ++I)
        S += (I && What == Alt ? "|" : "") + Kids[I].pattern();
      return "(" + S + ")";
    }
    }
  }
  std::set<size_t> ends(const std::string &S, size_t At) const {
    switch (What) {
    case Char:
      if (At < S.size() && (C == '.' || S[At] == C))
        return {At + 1};
      return {};
    case Begin:
      return At == 0 ? std::set<size_t>{At} : std::set<size_t>{};
    case End:
      return At == S.size() ? std::set<size_t>{At} : std::set<size_t>{};
    case Cat: {
      std::set<size_t> Now{At};
      for (const Expr &K : Kids)
        Now = each(K, S, Now);
      return Now;
    }
    case Alt: {
      std::set<size_t> All;
      for (const Expr &K : Kids)
        All.merge(K.ends(S, At));
      return All;
    }
    default: {
      std::set<size_t> Now{At}, All;
      if (Min == 0)
        All = Now;
      for (unsigned I = 1; I <= std::min(Max, 12u); ++I) {
        Now = each(Kids[0], S, Now);
        if (I >= Min)
          All.insert(Now.begin(), Now.end());
      }
      return All;
    }
    }
  }
  static std::set<size_t> each(const Expr &K, const std::string &S,
                               const std::set<size_t> &From) {
    std::set<size_t> To;
    for (size_t P : From)
      To.merge(K.ends(S, P));
    return To;
  }
};

Expr randomExpr(Random &R, unsigned Depth, bool Anchors) {
  Expr E;
  unsigned Pick = Depth == 0 ? 0 : R.below(Anchors ? 6 : 5);
  if (Pick < 2) {
    E.C = "ab."[R.below(3)];
  } else if (Pick == 5) {
    E.What = R.below(2) ? Expr::Begin : Expr::End;
  } else if (Pick == 4) {
    E.What = Expr::Rep;
    E.Min = R.below(3);
    E.Max = R.below(3) == 0 ? 99 : E.Min + R.below(3);
    E.Kids.push_back(randomExpr(R, Depth - 1, Anchors));
  } else {
    E.What = Pick == 2 ? Expr::Cat : Expr::Alt;
    for (unsigned I = 0, N = 1 + R.below(3); I < N; ++I)
      E.Kids.push_back(randomExpr(R, Depth - 1, Anchors));
  }
  return E;
}

TEST(Regex, MatchesWhatAnExhaustiveMatcherMatches) {
  const std::vector<std::string> Texts = allTexts("abc", 5);
  for (unsigned Seed = 0; Seed < 300; ++Seed) {
    Random R(Seed);
    Expr E = randomExpr(R, 4, Seed % 3 == 0);
    Compiled C(Dialect::Regex, E.pattern());
    std::set<std::string> LivePrefixes;
    for (const std::string &S : Texts) {
      bool Want = E.ends(S, 0).count(S.size()) != 0;
      ASSERT_EQ(Want, C.ok() && C.accepts(S))
          << E.pattern() << " on '" << S << "' " << C.Refused;
      for (size_t N = 0; Want && N <= S.size(); ++N)
        ASSERT_TRUE(C.live(S.substr(0, N))) << E.pattern() << " on " << S;
    }
    for (size_t I = 0; C.ok() && I < Texts.size(); I += 7)
      ASSERT_TRUE(!C.live(Texts[I]) || C.completes(Texts[I], "abc", 60))
          << E.pattern() << " on " << Texts[I];
  }
}

TEST(Regex, CountsWithoutUnrolling) {
  Compiled C(Dialect::Regex, "a{3,100000}b");
  ASSERT_TRUE(C.ok());
  EXPECT_TRUE(C.accepts(std::string(50000, 'a') + "b"));
  EXPECT_FALSE(C.live(std::string(100001, 'a')));
}

TEST(Regex, RefusesWhatIsNotRegularOrTooLarge) {
  for (const char *P : {"(a)\\1", "a(?!b)", "\\bx", "a++", "(?>a)", "[[:no:]]",
                        "(?m)a", "a**", "x{99999999999}", "(a{1000}){1000}",
                        "a^b", "[b-a]", "\\p{Foo}", "\xff"})
    EXPECT_FALSE(Compiled(Dialect::Regex, P).ok()) << P;
  std::string Deep(100000, '(');
  EXPECT_FALSE(Compiled(Dialect::Regex, Deep).ok());
}

TEST(Regex, KnowsUnicode) {
  Compiled C(Dialect::Regex, "\\p{Lu}\\p{Greek}[^\\p{L}](?i:straße)\\u{1F600}");
  ASSERT_TRUE(C.ok()) << C.Refused;
  EXPECT_TRUE(C.accepts("Éλ1STRAßE😀"));
  EXPECT_FALSE(C.live("éλ"));
  EXPECT_FALSE(C.live("Éλx"));
  // Half a character is live, a broken one is not.
  EXPECT_TRUE(C.live("\xC3"));
  EXPECT_FALSE(C.live("\xC3\xC3"));
}

} // namespace
} // namespace llmc::constraint
