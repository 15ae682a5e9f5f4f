// Context-free grammars against the least fixed point of their languages.
#include "test/runtime/text/constraint/Support.h"

#include <set>

namespace llmc::constraint {
namespace {

constexpr size_t Longest = 5;

/// Rules of alternatives of symbols: a letter, or the number of a rule.
struct Cfg {
  std::vector<std::vector<std::vector<int>>> Rules;

  std::string text() const {
    std::string S;
    for (size_t R = 0; R < Rules.size(); ++R) {
      S += (R == 0 ? std::string("root") : "r" + std::to_string(R)) + " ::= ";
      for (size_t A = 0; A < Rules[R].size(); ++A) {
        S += A ? " | " : "";
        for (int Symbol : Rules[R][A])
          S += Symbol >= 'a' ? std::string("\"") + char(Symbol) + "\" "
               : Symbol == 0 ? "root "
                             : "r" + std::to_string(Symbol) + " ";
        if (Rules[R][A].empty())
          S += "\"\"";
      }
      S += "\n";
    }
    return S;
  }
  /// Texts of the start of at most Longest letters.
  std::set<std::string> language() const {
    std::vector<std::set<std::string>> L(Rules.size());
    for (bool Grew = true; Grew;) {
      Grew = false;
      for (size_t R = 0; R < Rules.size(); ++R)
        for (const std::vector<int> &Alt : Rules[R]) {
          std::set<std::string> Now{""};
          for (int Symbol : Alt) {
            std::set<std::string> Next;
            for (const std::string &S : Now)
              if (Symbol >= 'a') {
                if (S.size() < Longest)
                  Next.insert(S + char(Symbol));
              } else {
                for (const std::string &T : L[static_cast<size_t>(Symbol)])
                  if (S.size() + T.size() <= Longest)
                    Next.insert(S + T);
              }
            Now = std::move(Next);
          }
          for (const std::string &S : Now)
            Grew |= L[R].insert(S).second;
        }
    }
    return L[0];
  }
};

TEST(Grammar, AcceptsItsLanguage) {
  const std::vector<std::string> Texts = allTexts("ab", Longest);
  for (unsigned Seed = 0; Seed < 400; ++Seed) {
    Random R(Seed);
    Cfg G;
    for (unsigned I = 0, N = 1 + R.below(4); I < N; ++I) {
      G.Rules.emplace_back();
      for (unsigned A = 0, M = 1 + R.below(3); A < M; ++A) {
        G.Rules.back().emplace_back();
        for (unsigned S = 0, K = R.below(4); S < K; ++S)
          G.Rules.back().back().push_back(R.below(2) ? int('a' + R.below(2))
                                                     : int(R.below(N)));
      }
    }
    std::set<std::string> Language = G.language();
    Compiled C(Dialect::Gbnf, G.text());
    for (const std::string &S : Texts) {
      ASSERT_EQ(Language.count(S) != 0, C.ok() && C.accepts(S))
          << G.text() << "on '" << S << "' " << C.Refused;
      bool Completes = !C.ok() || !C.live(S) || C.completes(S, "ab", 40);
      ASSERT_TRUE(Completes) << G.text() << "on '" << S << "'";
    }
    for (const std::string &S : Language)
      for (size_t N = 0; N <= S.size(); ++N)
        ASSERT_TRUE(C.live(S.substr(0, N))) << G.text() << "on '" << S << "'";
  }
}

TEST(Grammar, DeepNestingTakesNoStack) {
  Compiled C(Dialect::Gbnf, "root ::= \"(\" root \")\" | \"x\"\n");
  std::string S = std::string(20000, '(') + "x" + std::string(20000, ')');
  EXPECT_TRUE(C.accepts(S));
  EXPECT_FALSE(C.live(S + ")"));
}

TEST(Grammar, RightRecursionTakesNoStack) {
  Compiled C(Dialect::Gbnf, "root ::= \"x\" root | \"y\"\n");
  ASSERT_TRUE(C.accepts(std::string(100000, 'x') + "y"));
  EXPECT_LT(C.A->setCount(), 100u);
}

TEST(Grammar, ManyRulesInARow) {
  std::string Text = "root ::= r0\n";
  for (int I = 0; I < 5000; ++I)
    Text += "r" + std::to_string(I) + " ::= " +
            (I == 4999 ? std::string("\"end\"") : "r" + std::to_string(I + 1)) +
            "\n";
  Compiled C(Dialect::Gbnf, Text);
  ASSERT_TRUE(C.ok()) << C.Refused;
  EXPECT_TRUE(C.accepts("end"));
}

} // namespace
} // namespace llmc::constraint
