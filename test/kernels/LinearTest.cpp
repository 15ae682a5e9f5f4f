// linear and logits against the reference, bit for bit, on odd shapes, every
// fusion, one to three threads; rows must not depend on their company.
#include "test/kernels/Harness.h"

#include <gtest/gtest.h>

using namespace llmc::test;
using namespace llmc::kernels;

namespace {
struct Shape {
  int64_t K, N, WType, Norm, Glu, Act;
  bool Gain, NormBias, Bias, Residual;
};

struct Problem {
  Shape S;
  uint32_t Tokens, Prompt;
  std::vector<float> X, Gain, NormBias, Bias, Residual;
  Buffer W;

  static Problem make(const Shape &S, uint32_t Tokens, uint32_t Prompt,
                      float Scale = 1.0f) {
    Rng R(static_cast<uint32_t>(S.K * 31 + S.N * 7 + Tokens));
    std::vector<float> W = randomFloats(R, S.N * S.K, 0.05f);
    int64_t Out = S.Glu ? S.N / 2 : S.N;
    return {S,
            Tokens,
            Prompt,
            randomFloats(R, Tokens * S.K, Scale),
            randomFloats(R, S.K),
            randomFloats(R, S.K),
            randomFloats(R, S.N),
            randomFloats(R, Tokens * Out),
            packed(W, S.N, S.K, S.WType)};
  }

  std::vector<float> run(const KernelSet &Set, uint32_t Threads) {
    Step Step(Tokens, Prompt);
    int64_t Policy = S.WType == WF32 ? XF32 : XI8;
    std::vector<float> Out(Tokens * (S.Glu ? S.N / 2 : S.N), NAN);
    Buffer Xq(Tokens * xqBytesPerToken(S.K, Policy));
    Step.run(Threads, [&](const LlmcCtx *C) {
      Set.linear(C, X.data(), S.Gain ? Gain.data() : nullptr,
                 S.NormBias ? NormBias.data() : nullptr, W.bytes(),
                 S.Bias ? Bias.data() : nullptr,
                 S.Residual ? Residual.data() : nullptr, Out.data(), Xq.bytes(),
                 S.K, S.N, S.WType, Policy, S.Norm, S.Glu, S.Act, RowsT, 1e-5f);
    });
    return Out;
  }
};

const Shape Shapes[] = {
    {64, 16, WF32, NormNone, 0, 0, false, false, false, false},
    {576, 48, WF32, NormRms, 0, 0, true, false, false, true},
    {33, 19, WF32, NormLayer, 0, ActGelu, true, true, true, false},
    {100, 64, WF32, NormRms, ActSilu, 0, true, false, true, false},
    {64, 16, WI8B32, NormNone, 0, 0, false, false, false, false},
    {576, 80, WI8B32, NormRms, 0, 0, true, false, false, true},
    {96, 35, WI8B32, NormLayer, 0, ActGeluTanh, true, true, true, false},
    {1536, 96, WI8B32, NormNone, 0, 0, false, false, true, true},
    {33, 64, WI8B32, NormRms, ActSilu, 0, true, false, true, true},
    {2048, 32, WI8B32, NormRms, ActGelu, 0, true, false, false, false},
};

TEST(LinearKernel, EqualsReferenceBitForBit) {
  const std::pair<uint32_t, uint32_t> Rows[] = {
      {1, 0}, {1, 1}, {2, 0}, {3, 3}, {4, 2}, {5, 0}, {9, 9}, {9, 4}, {65, 63}};
  for (const KernelSet *Set : runnableSets())
    for (const Shape &S : Shapes)
      for (std::pair<uint32_t, uint32_t> R : Rows) {
        Problem P = Problem::make(S, R.first, R.second);
        std::vector<float> Expected = P.run(Reference, 1);
        for (uint32_t Threads : {1u, 2u, 3u})
          EXPECT_EQ(firstDifference(Expected, P.run(*Set, Threads)), -1)
              << Set->Name << " k " << S.K << " n " << S.N << " type "
              << S.WType << " rows " << R.first << " prompt " << R.second
              << " threads " << Threads;
      }
}

TEST(LinearKernel, RowDoesNotDependOnItsCompany) {
  for (const KernelSet *Set : runnableSets())
    for (int64_t Type : {WF32, WI8B32}) {
      Shape S{576, 64, Type, NormRms, 0, 0, true, false, false, false};
      Problem All = Problem::make(S, 70, 0);
      std::vector<float> Together = All.run(*Set, 2);
      for (uint32_t Row : {0u, 3u, 5u, 69u}) {
        Problem One = Problem::make(S, 70, 0);
        One.Tokens = 1;
        One.X.assign(All.X.begin() + Row * S.K,
                     All.X.begin() + (Row + 1) * S.K);
        std::vector<float> Alone = One.run(*Set, 1);
        EXPECT_EQ(
            firstDifference(Alone.data(), Together.data() + Row * S.N, S.N), -1)
            << Set->Name << " type " << Type << " row " << Row;
      }
    }
}

TEST(LinearKernel, TwoPlanesAreCloserThanOne) {
  Shape S{576, 64, WI8B32, NormNone, 0, 0, false, false, false, false};
  Problem P = Problem::make(S, 4, 0);
  std::vector<float> Two = P.run(Reference, 1);
  P.Prompt = 4;
  std::vector<float> One = P.run(Reference, 1);
  std::vector<float> Exact(4 * S.N);
  for (int64_t R = 0; R < 4; ++R)
    for (int64_t N = 0; N < S.N; ++N) {
      double Sum = 0;
      for (int64_t K = 0; K < S.K; ++K) {
        const uint8_t *Rec = P.W.bytes() + (N / 16 * 9 + K / 64) * 1088;
        uint16_t H;
        std::memcpy(&H, Rec + 1024 + K % 64 / 32 * 32 + N % 16 * 2, 2);
        Sum += double(P.X[R * S.K + K]) * llmc::f16ToFloat(H) *
               (Rec[K % 64 / 4 * 64 + N % 16 * 4 + K % 4] - 128);
      }
      Exact[R * S.N + N] = static_cast<float>(Sum);
    }
  double ErrorOne = 0, ErrorTwo = 0;
  for (size_t I = 0; I < Exact.size(); ++I) {
    ErrorOne = std::fmax(ErrorOne, std::fabs(One[I] - Exact[I]));
    ErrorTwo = std::fmax(ErrorTwo, std::fabs(Two[I] - Exact[I]));
  }
  EXPECT_LT(ErrorTwo * 50, ErrorOne);
  EXPECT_GT(ErrorTwo, 0);
}

TEST(LinearKernel, ExtremesGiveNoNan) {
  for (const KernelSet *Set : runnableSets())
    for (float Scale : {1e-42f, 1e-30f, 0.0f, 1e18f})
      for (int64_t Type : {WF32, WI8B32}) {
        Shape S{100, 32, Type, NormRms, ActSilu, 0, true, false, true, true};
        Problem P = Problem::make(S, 6, 3, Scale);
        for (float V : P.run(*Set, 2))
          ASSERT_FALSE(std::isnan(V)) << Set->Name << " scale " << Scale;
        EXPECT_EQ(firstDifference(P.run(Reference, 1), P.run(*Set, 2)), -1)
            << Set->Name << " scale " << Scale;
      }
}

/// All weights and activations at the ends of their range: nothing saturates.
TEST(LinearKernel, IntegerSumsDoNotSaturate) {
  Shape S{256, 32, WI8B32, NormNone, 0, 0, false, false, false, false};
  for (const KernelSet *Set : runnableSets())
    for (float Sign : {1.0f, -1.0f}) {
      Problem P = Problem::make(S, 5, 2);
      std::vector<float> W(S.N * S.K, Sign * 127.0f);
      P.W = packI8(W, S.N, S.K);
      P.X.assign(P.X.size(), 127.0f);
      std::vector<float> Out = P.run(*Set, 1);
      for (float V : Out)
        ASSERT_NEAR(V, Sign * 127.0f * 127.0f * 256, 64) << Set->Name;
    }
}

/// The domain of logit rows: R rows, whose classes come from the rows of T.
TEST(LinearKernel, LogitRowsHaveTheirOwnClasses) {
  for (const KernelSet *Set : runnableSets()) {
    int64_t K = 64, N = 40;
    Rng R(9);
    std::vector<float> X = randomFloats(R, 3 * K);
    Buffer W = packI8(randomFloats(R, N * K, 0.1f), N, K);
    auto Run = [&](const KernelSet &Kernels, uint32_t Prompt) {
      Step S(20, Prompt);
      S.LogitRows = {2, 9, 15};
      std::vector<float> Out(3 * N, NAN);
      Buffer Xq(3 * xqBytesPerToken(K, XI8));
      S.run(2, [&](const LlmcCtx *C) {
        Kernels.linear(C, X.data(), nullptr, nullptr, W.bytes(), nullptr,
                       nullptr, Out.data(), Xq.bytes(), K, N, WI8B32, XI8,
                       NormNone, 0, 0, RowsR, 0.0f);
      });
      return Out;
    };
    std::vector<float> Mixed = Run(*Set, 10);
    EXPECT_EQ(firstDifference(Run(Reference, 10), Mixed), -1) << Set->Name;
    std::vector<float> Prompt = Run(*Set, 20), Generated = Run(*Set, 0);
    EXPECT_EQ(firstDifference(Mixed.data(), Prompt.data(), 2 * N), -1);
    EXPECT_EQ(
        firstDifference(Mixed.data() + 2 * N, Generated.data() + 2 * N, N), -1);
    EXPECT_NE(firstDifference(Prompt, Generated), -1);
  }
}

TEST(LogitsKernel, EqualsReferenceBitForBit) {
  for (const KernelSet *Set : runnableSets())
    for (int64_t Type : {WF32, WI8B32})
      for (float Cap : {0.0f, 30.0f}) {
        int64_t K = 576, N = 1003;
        Rng R(5);
        std::vector<float> X = randomFloats(R, 9 * K);
        std::vector<float> Gain = randomFloats(R, K);
        std::vector<float> Bias = randomFloats(R, N);
        Buffer W = packed(randomFloats(R, N * K, 0.1f), N, K, Type);
        int64_t Policy = Type == WF32 ? XF32 : XI8;
        auto Run = [&](const KernelSet &Kernels, uint32_t Threads,
                       std::vector<int32_t> Rows) {
          Step S(9, 4);
          S.LogitRows = Rows;
          std::vector<float> Out(Rows.size() * N, NAN);
          Buffer Xq(9 * xqBytesPerToken(K, Policy));
          S.run(Threads, [&](const LlmcCtx *C) {
            Kernels.logits(C, X.data(), Gain.data(), nullptr, W.bytes(),
                           Bias.data(), S.LogitRows.data(), Out.data(),
                           Xq.bytes(), K, N, Type, Policy, NormRms, 1e-6f,
                           0.25f, Cap);
          });
          return Out;
        };
        for (const std::vector<int32_t> &Rows :
             {std::vector<int32_t>{}, {8}, {3}, {0, 3, 4, 5, 6, 7, 8}})
          for (uint32_t Threads : {1u, 3u})
            EXPECT_EQ(firstDifference(Run(Reference, 1, Rows),
                                      Run(*Set, Threads, Rows)),
                      -1)
                << Set->Name << " type " << Type << " rows " << Rows.size();
      }
}
} // namespace
