// Beam search on tables small enough to follow by hand.
#include "runtime/engine/BeamSearch.h"

#include <cmath>
#include <gtest/gtest.h>

using namespace llmc;

namespace {

using Rows = std::vector<std::vector<double>>;

/// Log-probabilities of a row of probabilities.
std::vector<double> logs(std::vector<double> P) {
  for (double &V : P)
    V = std::log(V);
  return P;
}

std::span<const BeamSearch::Move> advance(BeamSearch &S, const Rows &R) {
  std::vector<std::span<const double>> Views(R.begin(), R.end());
  return S.advance(Views);
}

TEST(BeamSearch, FindsWhatGreedyMisses) {
  // Greedy takes 1 (0.6) and then 0.5; the best pair begins with 2 (0.4 x 1).
  BeamSearch S({.Beams = 2, .MaxTokens = 2});
  std::vector<double> First = logs({0, 0.6, 0.4});
  std::span<const BeamSearch::Move> M = advance(S, {First, First});
  ASSERT_EQ(M.size(), 2u);
  EXPECT_EQ(M[0].Token, 1);
  EXPECT_EQ(M[1].Token, 2);
  EXPECT_EQ(M[1].Parent, 0u); // beam 1 does not exist before the first step
  advance(S, {logs({0.5, 0.25, 0.25}), logs({0, 0, 1})});
  ASSERT_TRUE(S.done());
  std::vector<BeamSearch::Hypothesis> Best = S.best();
  ASSERT_EQ(Best.size(), 1u);
  EXPECT_EQ(Best[0].Tokens, (std::vector<int32_t>{2, 2}));
  EXPECT_NEAR(Best[0].Score, std::log(0.4) / 2, 1e-12);
  EXPECT_FALSE(Best[0].Ended);
}

TEST(BeamSearch, EndIdBelowTheBeamsIsDropped) {
  // Rank of the end id (0) is 2, so it does not become a hypothesis.
  BeamSearch S({.Beams = 2, .MaxTokens = 2, .EosIds = {0}});
  std::vector<double> First = logs({0.1, 0.5, 0.4});
  advance(S, {First, First});
  EXPECT_TRUE(S.best().empty());
  EXPECT_FALSE(S.done());
}

TEST(BeamSearch, StopsAtOnceWhenAsked) {
  for (EarlyStopping Early : {EarlyStopping::AtOnce, EarlyStopping::Never}) {
    BeamSearch S({.Beams = 1,
                  .LengthPenalty = 2,
                  .Early = Early,
                  .MaxTokens = 9,
                  .EosIds = {0}});
    advance(S, {logs({0.6, 0.4})});
    EXPECT_EQ(S.done(), Early == EarlyStopping::AtOnce);
    EXPECT_EQ(S.best().at(0).Tokens, std::vector<int32_t>{0});
    EXPECT_TRUE(S.best().at(0).Ended);
  }
}

TEST(BeamSearch, NotANumberIsNoCandidate) {
  BeamSearch S({.Beams = 1, .MaxTokens = 1});
  advance(S, {{std::nan(""), -3.0, std::nan("")}});
  EXPECT_EQ(S.best().at(0).Tokens, std::vector<int32_t>{1});
}

TEST(BeamSearch, ParametersOutOfRange) {
  EXPECT_EQ(checkBeams({.Beams = 0}).message(),
            "beams is 0, expected 1 to 256");
  EXPECT_EQ(checkBeams({.Beams = 2, .Return = 3}).message(),
            "3 results of beam search are wanted, expected 1 to 2 (the number "
            "of beams)");
  EXPECT_FALSE(checkBeams({.LengthPenalty = std::nan("")}).ok());
  EXPECT_TRUE(checkBeams({.Beams = 256, .Return = 256}).ok());
}

} // namespace
