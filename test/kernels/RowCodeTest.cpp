// The rowwise kernel against the reference on every operation, and the
// functions of RowMath.h against libm.
#include "compiler/kernels/RowMath.h"
#include "test/kernels/Harness.h"

#include <gtest/gtest.h>

using namespace llmc::test;
using namespace llmc::kernels;

namespace {
/// A record as RowCode.h lays it out.
std::vector<float> record(int64_t Op, RowOperand D, RowOperand A, RowOperand B,
                          RowOperand C, std::vector<int64_t> Dim,
                          int64_t Extra0 = 0, int64_t Extra1 = 0) {
  std::vector<float> R{float(Op)};
  for (const RowOperand *O : {&D, &A, &B, &C}) {
    R.push_back(float(O->Space));
    R.push_back(float(O->Offset));
    for (int64_t Stride : O->Stride)
      R.push_back(float(Stride));
  }
  for (int64_t N : Dim)
    R.push_back(float(N));
  R.push_back(float(Extra0));
  R.push_back(float(Extra1));
  R.resize(size_t(RowRecord));
  return R;
}

RowOperand operand(int64_t Space, int64_t Offset, std::vector<int64_t> Stride) {
  RowOperand O;
  O.Space = Space;
  O.Offset = Offset;
  std::copy(Stride.begin(), Stride.end(), O.Stride);
  return O;
}

/// Runs one record on Rows rows of two inputs of N values; the result has
/// Width.
std::vector<float> run(const KernelSet &Set, uint32_t Threads,
                       const std::vector<float> &Code,
                       const std::vector<float> &X, const std::vector<float> &Y,
                       int64_t N, int64_t Width) {
  uint32_t Rows = static_cast<uint32_t>(X.size() / size_t(N));
  Step S(Rows, 0);
  std::vector<float> Out(Rows * size_t(Width), 0.0f), Scratch(Rows * size_t(N));
  S.run(Threads, [&](const LlmcCtx *C) {
    Set.rowwise(C, X.data(), Y.data(), nullptr, nullptr, nullptr, nullptr,
                nullptr, nullptr, Code.data(), Out.data(), Scratch.data(), 1, N,
                Width, N, N, 0, 0, 0, 0, 0, 0);
  });
  return Out;
}

void equal(const std::vector<float> &Code, const std::vector<float> &X,
           const std::vector<float> &Y, int64_t N, int64_t Width, int64_t Op) {
  std::vector<float> Want = run(Reference, 1, Code, X, Y, N, Width);
  for (const KernelSet *Set : runnableSets())
    for (uint32_t Threads : {1u, 3u}) {
      std::vector<float> Got = run(*Set, Threads, Code, X, Y, N, Width);
      for (size_t I = 0; I < Want.size(); ++I)
        ASSERT_TRUE(std::memcmp(&Got[I], &Want[I], 4) == 0 ||
                    (Got[I] != Got[I] && Want[I] != Want[I]))
            << Set->Name << " op " << Op << " at " << I << ": " << Got[I]
            << ", expected " << Want[I];
    }
}

TEST(RowwiseKernel, ElementwiseEqualsReference) {
  Rng R(11);
  for (int64_t N : {5, 16, 37}) {
    std::vector<float> X = randomFloats(R, 4 * size_t(N), 3.0f),
                       Y = randomFloats(R, 4 * size_t(N), 2.0f);
    X[1] = 0.0f;
    Y[2] = X[2];
    for (int64_t Op = RowCopy; Op <= RowSelect; ++Op)
      for (int64_t Stride : {0, 1})
        equal(record(Op, operand(RowResult, 0, {0, 0, 0, 1}),
                     operand(RowInput, 0, {0, 0, 0, 1}),
                     operand(RowInput + 1, 0, {0, 0, 0, Stride}),
                     operand(RowInput + 1, 0, {0, 0, 0, 1}), {1, 1, 1, N}),
              X, Y, N, N, Op);
  }
}

TEST(RowwiseKernel, AxesEqualReference) {
  Rng R(12);
  std::vector<float> X = randomFloats(R, 3 * 60), Y = randomFloats(R, 3 * 60);
  X[7] = X[9]; // equal values, for the order of a choice
  for (int64_t Op : {RowSum, RowMaxOf, RowMinOf, RowProd, RowDot})
    for (bool Last : {false, true}) // axis of 20 (stride 1) or of 3
      equal(
          record(Op, operand(RowResult, 0, {0, 0, 1, 0}),
                 operand(RowInput, 0, {0, 0, Last ? 20 : 1, Last ? 1 : 20}),
                 operand(RowInput + 1, 0, {0, 0, Last ? 20 : 1, Last ? 1 : 20}),
                 {}, {1, 1, Last ? 3 : 20, Last ? 20 : 3}),
          X, Y, 60, 20, Op);
  equal(record(RowCumSum, operand(RowResult, 0, {0, 0, 20, 1}),
               operand(RowInput, 0, {0, 0, 20, 1}), {}, {}, {1, 1, 3, 20}, 1,
               1),
        X, Y, 60, 60, RowCumSum);
}

TEST(RowwiseKernel, ChoosesTheLargestInOrder) {
  std::vector<float> X = {1, 5, 5, -2, 3, 0, 7, 7};
  std::vector<float> Code =
      record(RowTopK, operand(RowResult, 0, {0, 0, 0, 1}),
             operand(RowInput, 0, {0, 0, 0, 1}), {},
             operand(RowResult, 3, {0, 0, 0, 1}), {1, 1, 1, 4}, 3, 1);
  for (const KernelSet *Set : runnableSets())
    EXPECT_EQ(run(*Set, 2, Code, X, X, 4, 6),
              (std::vector<float>{5, 5, 1, 1, 2, 0, 7, 7, 3, 2, 3, 0}));
  Code = record(RowTopK, operand(RowResult, 0, {0, 0, 0, 1}),
                operand(RowInput, 0, {0, 0, 0, 1}), {},
                operand(RowResult, 1, {0, 0, 0, 1}), {1, 1, 1, 4}, 1, 0);
  EXPECT_EQ(run(Reference, 1, Code, X, X, 4, 2),
            (std::vector<float>{-2, 3, 0, 1}));
}

TEST(RowwiseKernel, TakesAndPutsByIndex) {
  std::vector<float> X = {10, 11, 12, 13}, I = {3, 0, -1, 9};
  auto Code = [&](int64_t Op, bool Take) {
    return record(Op, operand(RowResult, 0, {0, 0, 0, Take}),
                  operand(RowInput, 0, {0, 0, 0, !Take}),
                  operand(RowInput + 1, 0, {0, 0, 0, 1}), {}, {1, 1, 1, 4}, 1,
                  4);
  };
  for (const KernelSet *Set : runnableSets()) {
    EXPECT_EQ(run(*Set, 1, Code(RowTake, true), X, I, 4, 4),
              (std::vector<float>{13, 10, 13, 13})); // the last is clamped
    EXPECT_EQ(run(*Set, 1, Code(RowPutAdd, false), X, I, 4, 4),
              (std::vector<float>{11, 0, 0, 35}));
  }
}

TEST(RowMath, IsThatOfLibm) {
  auto Near = [](float Got, double Want, const char *What, float X) {
    EXPECT_NEAR(Got, Want, 2e-6 * (1e-30 + std::fabs(Want)) + 1e-37)
        << What << " " << X;
  };
  for (float X = 1e-30f; X < 1e30f; X *= 1.9f) {
    Near(row::log(X), std::log(double(X)), "log", X);
    Near(row::pow(X, 0.37f), std::pow(double(X), double(0.37f)), "pow", X);
  }
  for (float X = -30; X < 30; X += 0.113f) {
    Near(row::softplus(X), std::log1p(std::exp(double(X))), "softplus", X);
    EXPECT_NEAR(row::sine(X * 100, false), std::sin(double(X * 100)), 1e-7);
    EXPECT_NEAR(row::sine(X * 100, true), std::cos(double(X * 100)), 1e-7);
    Near(row::pow(2.0f, X), std::pow(2.0, double(X)), "exp2", X);
    EXPECT_EQ(row::fmod(X, 0.7f), std::fmod(X, 0.7f)) << X;
  }
  EXPECT_EQ(row::pow(-2.0f, 3.0f), -8.0f);
  EXPECT_EQ(row::pow(0.0f, 0.0f), 1.0f);
  EXPECT_TRUE(std::isnan(row::pow(-2.0f, 0.5f)));
  EXPECT_TRUE(std::isnan(row::log(-1.0f)));
  EXPECT_EQ(row::binary(RowMod, -7.0f, 3.0f), 2.0f);
  EXPECT_EQ(row::binary(RowFMod, -7.0f, 3.0f), -1.0f);
}
} // namespace
