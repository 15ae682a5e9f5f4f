// experts and take_rows against the reference, bit for bit; the reference
// against sums that are written down here.
#include "test/kernels/Harness.h"

#include <gtest/gtest.h>

using namespace llmc::test;
using namespace llmc::kernels;

namespace {
struct Mixture {
  int64_t K, N, Experts, Slots, WType;
  bool Combine, Bias;
  uint32_t Tokens, Prompt;
  std::vector<float> Weights, B, X, Route;
  Buffer W;

  static Mixture make(int64_t K, int64_t N, int64_t Experts, int64_t Slots,
                      int64_t WType, bool Combine, bool Bias, uint32_t Tokens,
                      uint32_t Prompt) {
    Rng R(static_cast<uint32_t>(K * 3 + N + Tokens));
    std::vector<float> W = randomFloats(R, Experts * N * K, 0.1f);
    std::vector<float> Route(Tokens * Experts);
    for (uint32_t T = 0; T < Tokens; ++T)
      for (int64_t I = 0; I < Slots; ++I) // the same one twice: fewer experts
        Route[T * Experts + R() % Experts] = 0.1f + float(R() % 7);
    return {K,
            N,
            Experts,
            Slots,
            WType,
            Combine,
            Bias,
            Tokens,
            Prompt,
            W,
            randomFloats(R, Experts * N),
            randomFloats(R, Tokens * K * (Combine ? Slots : 1)),
            Route,
            packed(W, Experts * N, K, WType)};
  }

  std::vector<float> run(const KernelSet &Set, uint32_t Threads) {
    Step S(Tokens, Prompt);
    int64_t Policy = WType == WF32 ? XF32 : XI8;
    std::vector<float> Out(Tokens * N * (Combine ? 1 : Slots), NAN);
    Buffer Xq(Tokens * Slots * xqBytesPerToken(K, Policy));
    S.run(Threads, [&](const LlmcCtx *C) {
      Set.experts(C, X.data(), Route.data(), W.bytes(),
                  Bias ? B.data() : nullptr, Out.data(), Xq.bytes(), K, N,
                  Experts, Slots, Combine, WType, Policy);
    });
    return Out;
  }
};

TEST(ExpertsKernel, EqualsReference) {
  for (const KernelSet *Set : runnableSets())
    for (int64_t WType : {WF32, WI8B32})
      for (bool Combine : {false, true})
        for (int64_t N : {16, 19, 80}) {
          Mixture M = Mixture::make(72, N, 5, 3, WType, Combine, N != 16, 9, 4);
          std::vector<float> Want = M.run(Reference, 1);
          for (uint32_t Threads : {1u, 2u, 3u})
            EXPECT_EQ(firstDifference(M.run(*Set, Threads), Want), -1)
                << Set->Name << " n " << N << " threads " << Threads;
        }
}

TEST(ExpertsKernel, ReferenceIsTheWeighedSum) {
  Mixture M = Mixture::make(8, 6, 4, 2, WF32, true, true, 3, 3);
  std::vector<float> Got = M.run(Reference, 1);
  for (uint32_t T = 0; T < 3; ++T)
    for (int64_t I = 0; I < 6; ++I) {
      double Want = 0;
      int64_t Slot = 0;
      for (int64_t E = 0; E < 4; ++E) {
        float Share = M.Route[T * 4 + E];
        if (Share == 0)
          continue;
        double Sum = M.B[E * 6 + I];
        for (int64_t K = 0; K < 8; ++K)
          Sum += M.Weights[(E * 6 + I) * 8 + K] * M.X[(T * 2 + Slot) * 8 + K];
        Want += Share * Sum;
        ++Slot;
      }
      EXPECT_NEAR(Got[T * 6 + I], Want, 1e-4);
    }
}

TEST(ExpertsKernel, RowsDoNotDependOnTheirCompany) {
  Mixture All = Mixture::make(64, 32, 4, 2, WI8B32, false, false, 6, 6);
  std::vector<float> Whole = All.run(Reference, 1);
  for (const KernelSet *Set : runnableSets()) {
    Mixture One = Mixture::make(64, 32, 4, 2, WI8B32, false, false, 6, 6);
    One.Tokens = One.Prompt = 1;
    One.X.assign(All.X.begin() + 3 * 64, All.X.begin() + 4 * 64);
    One.Route.assign(All.Route.begin() + 3 * 4, All.Route.begin() + 4 * 4);
    EXPECT_EQ(firstDifference(One.run(*Set, 2),
                              std::vector<float>(Whole.begin() + 3 * 64,
                                                 Whole.begin() + 4 * 64)),
              -1);
  }
}

TEST(TakeRowsKernel, EqualsReference) {
  for (const KernelSet *Set : runnableSets())
    for (int64_t Norm : {NormNone, NormRms, NormLayer}) {
      Rng R(5);
      std::vector<float> X = randomFloats(R, 7 * 35),
                         Gain = randomFloats(R, 35);
      std::vector<float> A(3 * 35), B(3 * 35);
      Step S(7, 7);
      S.LogitRows = {1, 2, 6};
      S.run(1, [&](const LlmcCtx *C) {
        k_take_rows_ref(C, X.data(), Norm ? Gain.data() : nullptr, nullptr,
                        S.LogitRows.data(), A.data(), 35, Norm, 1e-5f);
      });
      S.run(2, [&](const LlmcCtx *C) {
        Set->take_rows(C, X.data(), Norm ? Gain.data() : nullptr, nullptr,
                       S.LogitRows.data(), B.data(), 35, Norm, 1e-5f);
      });
      EXPECT_EQ(firstDifference(A, B), -1) << Set->Name << " " << Norm;
      if (Norm == NormNone) {
        EXPECT_EQ(A[35], X[2 * 35]);
      }
    }
}
} // namespace
