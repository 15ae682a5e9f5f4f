// The comparison of verify-raised on numbers that no rightly raised model
// gives: not finite, far off, of another shape.
#include "passes/raise/VerifyRaised.h"

#include <gtest/gtest.h>

#include <limits>

using namespace llmc;
using raise::compareLogits;
using raise::Matrix;

namespace {

constexpr double NaN = std::numeric_limits<double>::quiet_NaN();
constexpr double Inf = std::numeric_limits<double>::infinity();

eval::Tensor graph(int64_t Rows, const std::vector<double> &Values) {
  return eval::Tensor::ofFloats(
      DType::F32, {1, Rows, int64_t(Values.size()) / Rows}, Values);
}

Matrix step(int64_t Rows, const std::vector<float> &Values) {
  return Matrix{Rows, int64_t(Values.size()) / Rows, Values};
}

TEST(CompareLogits, EqualAndNearlyEqualAgree) {
  EXPECT_TRUE(
      compareLogits(graph(2, {1, 2, 3, 4}), step(2, {1, 2, 3, 4})).ok());
  EXPECT_TRUE(
      compareLogits(graph(2, {1, 2, 3, 4}), step(2, {1, 2, 3, 4.0003f})).ok());
}

TEST(CompareLogits, FewerRowsOfTheGraphAreTheLast) {
  EXPECT_TRUE(compareLogits(graph(1, {3, 4}), step(2, {1, 2, 3, 4})).ok());
  EXPECT_FALSE(compareLogits(graph(1, {1, 2}), step(2, {1, 2, 3, 4})).ok());
}

TEST(CompareLogits, ALargeDifferenceIsNamed) {
  Status S = compareLogits(graph(2, {1, 2, 3, 4}), step(2, {1, 2, 3.5f, 4}));
  ASSERT_FALSE(S.ok());
  EXPECT_NE(S.message().find("differ by 0.5"), std::string::npos)
      << S.message();
  EXPECT_NE(S.message().find("at token 1"), std::string::npos) << S.message();
}

TEST(CompareLogits, ANumberThatIsNotFiniteFailsWhereverItIs) {
  for (double Bad : {NaN, Inf, -Inf})
    for (size_t At = 0; At < 4; ++At) {
      std::vector<double> Want = {1, 2, 3, 4};
      std::vector<float> Have = {1, 2, 3, 4};
      Have[At] = float(Bad);
      EXPECT_FALSE(compareLogits(graph(2, Want), step(2, Have)).ok())
          << Bad << " of the step function at " << At;
      Want[At] = Bad;
      EXPECT_FALSE(compareLogits(graph(2, Want), step(2, Have)).ok())
          << Bad << " of both at " << At;
      Have[At] = 1;
      EXPECT_FALSE(compareLogits(graph(2, Want), step(2, Have)).ok())
          << Bad << " of the graph at " << At;
    }
}

TEST(CompareLogits, AnotherNumberOfLogitsFails) {
  EXPECT_FALSE(compareLogits(graph(1, {1, 2, 3}), step(2, {1, 2, 3, 4})).ok());
  EXPECT_FALSE(compareLogits(graph(2, {1, 2, 3, 4}), step(1, {1, 2})).ok());
  EXPECT_FALSE(compareLogits(graph(1, {1, 2}), Matrix()).ok());
}
} // namespace
