// The acceptance rule keeps the target's distribution; the drafter finds
// repetitions; the meter gives up what does not pay.
#include "runtime/engine/Speculation.h"

#include "runtime/engine/Sampler.h"

#include <gtest/gtest.h>

using namespace llmc;

namespace {

using Ids = std::vector<int32_t>;

TEST(AcceptDraft, SameDistributionAsTheTarget) {
  // All draft tokens and a fine grid of random numbers: the first token that
  // comes out has the target's probabilities.
  std::vector<std::vector<double>> Draft = {{0.5, 0.3, 0.2, 0}};
  std::vector<std::vector<double>> Target = {{0.1, 0.4, 0.3, 0.2},
                                             {0.25, 0.25, 0.25, 0.25}};
  constexpr int Grid = 200;
  std::vector<double> Mass(4, 0);
  for (int32_t Token = 0; Token < 3; ++Token)
    for (int U = 0; U < Grid; ++U)
      for (int F = 0; F < Grid; ++F) {
        std::vector<double> Uniforms = {(U + 0.5) / Grid};
        Ids Tokens = {Token};
        AcceptedDraft A =
            acceptDraft(Draft, Target, Tokens, Uniforms, (F + 0.5) / Grid);
        Mass[A.Accepted == 1 ? Token : A.Next] +=
            Draft[0][Token] / (Grid * Grid);
      }
  for (int I = 0; I < 4; ++I)
    EXPECT_NEAR(Mass[I], Target[0][I], 0.005) << I;
}

TEST(AcceptDraft, AllAcceptedDrawsFromTheLastRow) {
  std::vector<std::vector<double>> Draft = {{1, 0}}, Target = {{1, 0}, {0, 1}};
  Ids Tokens = {0};
  std::vector<double> Uniforms = {0.999};
  AcceptedDraft A = acceptDraft(Draft, Target, Tokens, Uniforms, 0.5);
  EXPECT_EQ(A.Accepted, 1u);
  EXPECT_EQ(A.Next, 1);
  EXPECT_TRUE(A.Residual.empty());
}

TEST(NgramDrafter, ContinuesTheLatestLongestMatch) {
  NgramDrafter D;
  // 1 2 3 stood twice before: once behind 9 (then 4), once behind 8 (then 5).
  for (int32_t T : {9, 1, 2, 3, 4, 8, 1, 2, 3, 5, 6, 9, 1, 2, 3})
    D.append(T);
  Ids Out;
  D.draft(3, Out);
  EXPECT_EQ(Out, (Ids{4, 8, 1}));
  D.append(7);
  D.draft(3, Out);
  EXPECT_TRUE(Out.empty()); // 3 7 is new
}

TEST(NgramDrafter, MatchThatReachesTheEndRepeatsItself) {
  NgramDrafter D;
  for (int32_t T : {5, 5, 5, 5})
    D.append(T);
  Ids Out;
  D.draft(6, Out);
  EXPECT_EQ(Out, Ids(6, 5));
}

TEST(NgramDrafter, NothingWithoutHistory) {
  NgramDrafter D;
  Ids Out = {1};
  D.draft(4, Out);
  EXPECT_TRUE(Out.empty());
  D.append(1);
  D.draft(4, Out);
  EXPECT_TRUE(Out.empty());
}

/// Steps of a machine where a guess costs Cost of a step; a guess is right
/// as often as Share says. Returns the guesses of the last steps.
uint32_t settle(double Cost, double Share) {
  DraftMeter M;
  uint32_t Sum = 0;
  for (int I = 0; I < 400; ++I) {
    uint32_t N = M.count(), Right = 0;
    while (Right < N && randomUniform(7, I * 8 + Right) < Share)
      ++Right;
    M.add(N, Right, 1 + Cost * N);
    if (I >= 300)
      Sum += N;
  }
  return Sum;
}

TEST(DraftMeter, GuessesWhereItPaysOnly) {
  EXPECT_GT(settle(0.02, 0.9), 400u); // cheap and right: several a step
  EXPECT_LT(settle(0.9, 0.3), 20u);   // dear and wrong: a rare try
}

} // namespace
