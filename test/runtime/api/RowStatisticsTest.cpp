// The numbers of llmc eval against their definitions in double.
#include "tools/llmc-run/RowStatistics.h"

#include <cmath>
#include <gtest/gtest.h>
#include <random>
#include <vector>

namespace {

double exactLse(const std::vector<float> &L) {
  double Sum = 0, Max = *std::max_element(L.begin(), L.end());
  for (float V : L)
    Sum += std::exp(V - Max);
  return Max + std::log(Sum);
}

double exactKl(const std::vector<float> &A, const std::vector<float> &B) {
  double LseA = exactLse(A), LseB = exactLse(B), Sum = 0;
  for (size_t I = 0; I < A.size(); ++I)
    Sum += std::exp(A[I] - LseA) * ((A[I] - LseA) - (B[I] - LseB));
  return Sum;
}

TEST(RowStatistics, MatchTheDefinitions) {
  std::mt19937 Random(1);
  std::normal_distribution<float> Wide(0, 4), Narrow(0, 0.05f);
  for (size_t N : {1, 7, 16, 1000, 1024, 5003, 49152}) {
    std::vector<float> A(N), B(N), C(N);
    for (size_t I = 0; I < N; ++I) {
      A[I] = Wide(Random) + 20;
      B[I] = A[I] + Narrow(Random);
      C[I] = Wide(Random);
    }
    double LseA = llmcrun::logSumExp(A.data(), N);
    double LseB = llmcrun::logSumExp(B.data(), N);
    double LseC = llmcrun::logSumExp(C.data(), N);
    EXPECT_NEAR(LseA, exactLse(A), 2e-6) << N;
    EXPECT_NEAR(llmcrun::klDivergence(A.data(), LseA, B.data(), LseB, N),
                exactKl(A, B), 1e-5)
        << N;
    double Far = exactKl(A, C);
    EXPECT_NEAR(llmcrun::klDivergence(A.data(), LseA, C.data(), LseC, N), Far,
                1e-5 * (1 + Far))
        << N;
  }
}

TEST(RowStatistics, DistantLogitsAreZeroNotNoise) {
  std::vector<float> A = {0, -1000, -80}, B = {0, 0, 0};
  EXPECT_NEAR(llmcrun::logSumExp(A.data(), 3), 0, 1e-6);
  double Kl = llmcrun::klDivergence(A.data(), 0, B.data(), std::log(3.0), 3);
  EXPECT_NEAR(Kl, std::log(3.0), 1e-6);
}

} // namespace
