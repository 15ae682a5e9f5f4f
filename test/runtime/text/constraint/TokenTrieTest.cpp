// Images of tries: the same trie again, and hostile bytes.
#include "runtime/text/constraint/Constraint.h"
#include "runtime/text/constraint/TokenTrieImage.h"
#include "test/runtime/text/constraint/Support.h"

namespace llmc::constraint {
namespace {

std::vector<std::string> someTokens() {
  std::vector<std::string> V{"",  "a",  "ab", "abc", "a",    "b\xC3\xA9",
                             "é", "\"", "{",  "}",   "\x80", "東京"};
  Random R(11);
  for (int I = 0; I < 400; ++I) {
    std::string S;
    for (unsigned J = 0, N = 1 + R.below(12); J < N; ++J)
      S += V[1 + R.below(11)];
    V.push_back(S);
  }
  V.push_back(std::string(300, 'a') + "é");
  return V;
}

std::shared_ptr<const TokenTrie> build(const std::vector<std::string> &V) {
  return std::make_shared<TokenTrie>(
      V.size(), [&](int32_t Id) { return std::string_view(V[Id]); });
}

TEST(TokenTrie, IsMappedAsItWasBuilt) {
  std::vector<std::string> V = someTokens();
  std::shared_ptr<const TokenTrie> Built = build(V);
  std::vector<uint8_t> Bytes(Built->image().begin(), Built->image().end());
  for (size_t Shift : {0, 1}) { // aligned or not
    std::vector<uint8_t> Moved(Shift);
    Moved.insert(Moved.end(), Bytes.begin(), Bytes.end());
    Result<std::shared_ptr<const TokenTrie>> T =
        TokenTrie::map(std::span(Moved).subspan(Shift));
    ASSERT_TRUE(T.ok()) << T.status().message();
    ASSERT_EQ((*T)->vocab(), V.size());
    for (size_t I = 0; I < V.size(); ++I)
      EXPECT_EQ((*T)->bytes(static_cast<int32_t>(I)), V[I]);
    EXPECT_EQ((*T)->order().size(), V.size() - 1); // all but the empty one
    EXPECT_EQ((*T)->longest(), 302u);
  }
}

TEST(TokenTrie, RefusesOrSurvivesWhatIsDamaged) {
  std::vector<std::string> V = someTokens();
  std::shared_ptr<const TokenTrie> Built = build(V);
  std::vector<uint8_t> Bytes(Built->image().begin(), Built->image().end());
  EXPECT_FALSE(TokenTrie::map({}).ok());
  EXPECT_FALSE(TokenTrie::map(std::span(Bytes).first(Bytes.size() - 8)).ok());
  std::vector<uint8_t> Other = Bytes;
  Other[3] ^= 1;
  EXPECT_EQ(TokenTrie::map(Other).status().code(), StatusCode::Unsupported);
  Random R(5);
  int Refused = 0;
  for (int Round = 0; Round < 300; ++Round) {
    std::vector<uint8_t> Bad = Bytes;
    for (unsigned N = 1 + R.below(3); N > 0; --N)
      Bad[R.below(static_cast<unsigned>(Bad.size()))] ^=
          static_cast<uint8_t>(1 + R.below(255));
    Result<std::shared_ptr<const TokenTrie>> T = TokenTrie::map(Bad);
    if (!T.ok()) {
      ++Refused;
      continue;
    }
    Result<std::unique_ptr<Grammar>> G =
        compileConstraint(Dialect::Regex, "(a|b|é)*\"?.{0,3}");
    Constraint C(G.take(), T.take());
    Constraint::State S;
    C.mask(S);
    S = C.accept(S, 1);
    C.mask(S);
    std::vector<int32_t> Forced;
    C.forced(S, 4, Forced);
  }
  EXPECT_GT(Refused, 100);
}

} // namespace
} // namespace llmc::constraint
