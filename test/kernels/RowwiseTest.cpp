// The kernels that work row by row against the reference, and the elementary
// functions against libm.
#include "compiler/kernels/ref/Product.h"
#include "test/kernels/Harness.h"

#include <gtest/gtest.h>

using namespace llmc::test;
using namespace llmc::kernels;

namespace {
TEST(EmbedKernel, EqualsReference) {
  for (const KernelSet *Set : runnableSets())
    for (int64_t Type : {WF32, WI8B32})
      for (int64_t Hidden : {33, 576}) {
        Rng R(1);
        Buffer W = packed(randomFloats(R, 50 * Hidden), 50, Hidden, Type);
        Step S(5, 2);
        S.Ids = {0, 49, 17, 16, 15};
        std::vector<float> A(5 * Hidden), B(5 * Hidden);
        S.run(1, [&](const LlmcCtx *C) {
          k_embed_ref(C, S.Ids.data(), W.bytes(), A.data(), 50, Hidden, Type,
                      0.3f);
        });
        S.run(3, [&](const LlmcCtx *C) {
          Set->embed(C, S.Ids.data(), W.bytes(), B.data(), 50, Hidden, Type,
                     0.3f);
        });
        EXPECT_EQ(firstDifference(A, B), -1) << Set->Name << " " << Hidden;
        EXPECT_NE(A[0], 0.0f);
      }
}

TEST(RopeTableKernel, IsTheCosineOfTheF32Angle) {
  for (const KernelSet *Set : runnableSets()) {
    Step S(6, 6);
    S.Positions = {0, 1, 7, 1000, 131071, 1000000};
    std::vector<float> Freq = {1.0f, 0.7498942f, 0.05f, 3e-6f};
    std::vector<float> Out(6 * 8);
    S.run(2, [&](const LlmcCtx *C) {
      Set->rope_table(C, S.Positions.data(), Freq.data(), nullptr, nullptr,
                      Out.data(), 4, 0, 1.0f);
    });
    for (int T = 0; T < 6; ++T)
      for (int I = 0; I < 4; ++I) {
        double A = float(S.Positions[T]) * Freq[I];
        EXPECT_NEAR(Out[T * 8 + I], std::cos(A), 7e-8) << A;
        EXPECT_NEAR(Out[T * 8 + 4 + I], std::sin(A), 7e-8) << A;
      }
  }
}

TEST(RopeTableKernel, ReadsTables) {
  for (const KernelSet *Set : runnableSets()) {
    Step S(2, 2);
    S.Positions = {1, 2};
    float Cos[] = {1, 2, 3, 4, 5, 6}, Sin[] = {-1, -2, -3, -4, -5, -6};
    std::vector<float> Out(8);
    S.run(1, [&](const LlmcCtx *C) {
      Set->rope_table(C, S.Positions.data(), nullptr, Cos, Sin, Out.data(), 2,
                      3, 2.0f);
    });
    EXPECT_EQ(Out, (std::vector<float>{6, 8, -6, -8, 10, 12, -10, -12}));
  }
}

TEST(NormKernel, EqualsReference) {
  for (const KernelSet *Set : runnableSets())
    for (int64_t Kind : {NormRms, NormLayer})
      for (int64_t N : {7, 16, 33, 576})
        for (int64_t Heads : {1, 3}) {
          Rng R(2);
          std::vector<float> X = randomFloats(R, 5 * N * Heads);
          std::vector<float> Gain = randomFloats(R, N);
          std::vector<float> Bias = randomFloats(R, N);
          std::vector<float> A(X.size()), B(X.size());
          Step S(5, 0);
          S.run(1, [&](const LlmcCtx *C) {
            k_norm_ref(C, X.data(), Gain.data(), Bias.data(), A.data(), N, Kind,
                       Heads, 1e-5f);
          });
          S.run(2, [&](const LlmcCtx *C) {
            Set->norm(C, X.data(), Gain.data(), Bias.data(), B.data(), N, Kind,
                      Heads, 1e-5f);
          });
          EXPECT_EQ(firstDifference(A, B), -1) << Set->Name << " n " << N;
        }
}

TEST(RopeKernel, EqualsReferenceInPlaceToo) {
  for (const KernelSet *Set : runnableSets())
    for (int64_t Interleaved : {0, 1}) {
      Rng R(3);
      std::vector<float> X = randomFloats(R, 3 * 2 * 20);
      std::vector<float> Table = randomFloats(R, 3 * 16);
      std::vector<float> A(X.size()), B = X;
      Step S(3, 0);
      S.run(1, [&](const LlmcCtx *C) {
        k_rope_ref(C, X.data(), Table.data(), A.data(), 2, 20, 8, Interleaved);
      });
      S.run(2, [&](const LlmcCtx *C) {
        Set->rope(C, B.data(), Table.data(), B.data(), 2, 20, 8, Interleaved);
      });
      EXPECT_EQ(firstDifference(A, B), -1) << Set->Name;
    }
}

std::vector<float> interesting() {
  std::vector<float> X;
  for (float V = 1e-40f; V < 3e38f; V *= 1.7f) {
    X.push_back(V);
    X.push_back(-V);
  }
  for (float V = -20; V < 20; V += 0.0371f)
    X.push_back(V);
  X.push_back(0.0f);
  X.push_back(-0.0f);
  return X;
}

TEST(ElementwiseKernels, EqualReference) {
  std::vector<float> X = interesting(), Y(X.rbegin(), X.rend());
  int64_t N = static_cast<int64_t>(X.size());
  for (const KernelSet *Set : runnableSets()) {
    Step S(1, 0);
    auto Both = [&](auto Fn, const char *Name) {
      std::vector<float> A(N), B(N);
      S.run(1, [&](const LlmcCtx *C) { Fn(C, Reference, A.data()); });
      S.run(2, [&](const LlmcCtx *C) { Fn(C, *Set, B.data()); });
      EXPECT_EQ(firstDifference(A, B), -1) << Set->Name << " " << Name;
    };
    for (int64_t Kind = ActNone; Kind <= ActRelu2; ++Kind) {
      Both([&](const LlmcCtx *C, const KernelSet &K,
               float *Out) { K.activation(C, X.data(), Out, N, Kind); },
           "activation");
      Both([&](const LlmcCtx *C, const KernelSet &K,
               float *Out) { K.glu(C, X.data(), Y.data(), Out, N, Kind); },
           "glu");
    }
    Both([&](const LlmcCtx *C, const KernelSet &K,
             float *Out) { K.add(C, X.data(), Y.data(), Out, N); },
         "add");
    Both([&](const LlmcCtx *C, const KernelSet &K,
             float *Out) { K.scale(C, X.data(), Out, N, 0.7f); },
         "scale");
  }
}

TEST(Half, ReferenceConvertsAsTheRuntime) {
  for (uint32_t H = 0; H < 0x10000; ++H) {
    float F = ref::fromHalf(static_cast<uint16_t>(H));
    if (std::isnan(F))
      continue;
    ASSERT_EQ(F, llmc::f16ToFloat(static_cast<uint16_t>(H))) << H;
    // The value, and the middle between it and the next: ties to even.
    float Next = ref::fromHalf(static_cast<uint16_t>(H + 1));
    for (float X : {F, (F + Next) / 2, F * 1.0003f}) {
      if (!std::isnan(X)) {
        ASSERT_EQ(ref::toHalf(X), llmc::floatToF16(X)) << X;
      }
    }
  }
}

/// Relative to the larger of the true value and 1e-3.
double errorOf(double Found, double True) {
  return std::fabs(Found - True) / std::fmax(std::fabs(True), 1e-3);
}

TEST(ElementaryFunctions, AreCloseToLibm) {
  for (float X = -30; X < 30; X += 0.00317f) {
    double D = X;
    EXPECT_LT(errorOf(ref::exp(X), std::exp(D)), 2e-7) << X;
    EXPECT_LT(errorOf(ref::tanh(X), std::tanh(D)), 3e-7) << X;
    EXPECT_LT(std::fabs(ref::erf(X) - std::erf(D)), 5e-7) << X;
    EXPECT_LT(errorOf(ref::activate(X, ActSilu), D / (1 + std::exp(-D))), 4e-7)
        << X;
  }
  EXPECT_EQ(ref::exp(-1e30f), 0.0f);
  EXPECT_EQ(ref::exp(1e30f), INFINITY);
  EXPECT_EQ(ref::activate(-1e30f, ActSilu), 0.0f);
}
} // namespace
