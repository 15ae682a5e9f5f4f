// Evaluator operations beyond what node_cases.mlir holds: IEEE corner cases,
// budgets, and refusal of everything that is out of range.
#include "compiler/eval/Ops.h"
#include "compiler/eval/Attention.h"
#include "gtest/gtest.h"

#include <cmath>
#include <limits>

using namespace llmc;
using namespace llmc::eval;

namespace {

Budget small() { return Budget(1 << 16, 1 << 20); }

Tensor floats(Dims Shape, const std::vector<double> &V) {
  return Tensor::ofFloats(DType::F32, std::move(Shape), V);
}
Tensor ints(Dims Shape, const std::vector<int64_t> &V) {
  return Tensor::ofInts(DType::I64, std::move(Shape), V);
}

TEST(EvalOps, SoftmaxOfMinusInfinityIsNan) {
  Budget B = small();
  double Inf = std::numeric_limits<double>::infinity();
  Result<Tensor> R =
      softmax(B, floats({2, 2}, {-Inf, -Inf, 0, -Inf}), -1, false);
  ASSERT_TRUE(R.ok());
  std::vector<double> V = load<double>(*R);
  EXPECT_TRUE(std::isnan(V[0]) && std::isnan(V[1]));
  EXPECT_EQ(V[2], 1);
  EXPECT_EQ(V[3], 0);
}

TEST(EvalOps, NormRoundsBeforeTheScale) {
  // 3 / sqrt(9 + 1e-5) is 0.99999944 in f32; f16 rounds it to 1 first.
  Budget B = small();
  Tensor X = Tensor::ofFloats(DType::F16, {1, 1}, {3});
  Tensor Scale = Tensor::ofFloats(DType::F16, {1}, {0.1});
  Result<Tensor> R = rmsNorm(B, X, Scale, -1, 1e-5);
  ASSERT_TRUE(R.ok());
  EXPECT_EQ(floatAt(*R, 0), floatAt(Scale, 0));
}

TEST(EvalOps, SliceClampsEveryBound) {
  int64_t Max = std::numeric_limits<int64_t>::max();
  int64_t Min = std::numeric_limits<int64_t>::min();
  EXPECT_EQ(sliceRange(5, 0, Max, 1).Count, 5);
  EXPECT_EQ(sliceRange(5, Min, Max, 1).Count, 5);
  EXPECT_EQ(sliceRange(5, Max, Max, 1).Count, 0);
  EXPECT_EQ(sliceRange(5, -1, Min, -1).Count, 5);
  EXPECT_EQ(sliceRange(5, -1, Min, Min).Count, 1);
  EXPECT_EQ(sliceRange(0, 0, Max, 1).Count, 0);
  EXPECT_EQ(sliceRange(0, -1, Min, -1).Count, 0);
  EXPECT_EQ(sliceRange(5, 4, 0, -2).Count, 2);
}

TEST(EvalOps, IntegerCornersAreDefined) {
  Budget B = small();
  int64_t Min = std::numeric_limits<int64_t>::min();
  Result<Tensor> Q =
      binary(B, Binary::Div, ints({2}, {Min, 1}), ints({2}, {-1, 0}));
  ASSERT_TRUE(Q.ok());
  EXPECT_EQ(load<int64_t>(*Q), (std::vector<int64_t>{Min, 0}));
  Result<Tensor> M =
      binary(B, Binary::Mod, ints({2}, {Min, 7}), ints({2}, {-1, 0}));
  ASSERT_TRUE(M.ok());
  EXPECT_EQ(load<int64_t>(*M), (std::vector<int64_t>{0, 0}));
  Result<Tensor> C = cast(B, floats({2}, {1e30, std::nan("")}), DType::I32);
  ASSERT_TRUE(C.ok());
  EXPECT_EQ(load<int64_t>(*C), (std::vector<int64_t>{0, 0}));
}

TEST(EvalOps, MatMulIntegerSubtractsZeroPoints) {
  Budget B = small();
  Tensor X = Tensor::ofInts(DType::U8, {1, 2}, {130, 126});
  Tensor Y = Tensor::ofInts(DType::I8, {2, 2}, {1, 2, 3, 4});
  Result<Tensor> R =
      matMulInteger(B, X, Y, Tensor::ofInts(DType::U8, {}, {128}),
                    Tensor::ofInts(DType::I8, {2}, {1, 0}));
  ASSERT_TRUE(R.ok());
  EXPECT_EQ(load<int64_t>(*R), (std::vector<int64_t>{-4, -4}));
}

TEST(EvalOps, TensorScatterWritesRows) {
  Budget B = small();
  Tensor Past = floats({2, 3, 1}, {0, 0, 0, 0, 0, 0});
  Tensor New = floats({2, 1, 1}, {5, 6});
  Result<Tensor> R = tensorScatter(B, Past, New, ints({2}, {0, 2}), 1, false);
  ASSERT_TRUE(R.ok());
  EXPECT_EQ(load<double>(*R), (std::vector<double>{5, 0, 0, 0, 0, 6}));
  EXPECT_FALSE(tensorScatter(B, Past, New, ints({2}, {0, 3}), 1, false).ok());
  EXPECT_TRUE(tensorScatter(B, Past, New, ints({2}, {0, 3}), 1, true).ok());
}

TEST(EvalOps, PadCutsWithNegativePads) {
  Budget B = small();
  Result<Tensor> R =
      pad(B, floats({3}, {1, 2, 3}), {-1}, {1}, PadMode::Constant, Tensor());
  ASSERT_TRUE(R.ok());
  EXPECT_EQ(load<double>(*R), (std::vector<double>{2, 3, 0}));
}

TEST(EvalOps, BudgetStopsLargeResults) {
  Budget B = small();
  Result<Tensor> R = constantOfShape(B, {1 << 10, 1 << 10}, floats({}, {0}));
  ASSERT_FALSE(R.ok());
  EXPECT_EQ(R.status().message(),
            "evaluation: a result needs 1048576 elements, "
            "65536 are left");
  int64_t Huge = int64_t(1) << 40;
  EXPECT_EQ(
      constantOfShape(B, {Huge, Huge}, floats({}, {0})).status().message(),
      "evaluation: the size of a result overflows");
  Budget Work(1 << 16, 1000);
  EXPECT_FALSE(matMul(Work, floats({10, 20}, std::vector<double>(200)),
                      floats({20, 10}, std::vector<double>(200)))
                   .ok());
  EXPECT_FALSE(
      range(B, ints({}, {0}), ints({}, {1ll << 62}), ints({}, {1})).ok());
}

TEST(EvalOps, RefusesWhatIsOutOfRange) {
  Budget B = small();
  Tensor X = floats({2, 3}, {1, 2, 3, 4, 5, 6});
  EXPECT_EQ(gather(B, X, ints({1}, {2}), 0).status().message(),
            "gather: index 2 is out of range for dim 2");
  EXPECT_EQ(softmax(B, X, 2, false).status().message(),
            "axis 2 is out of range for rank 2");
  EXPECT_FALSE(reshape(B, X, {4, -1}).ok());
  EXPECT_FALSE(reshape(B, X, {-1, -1}).ok());
  EXPECT_FALSE(reshape(B, X, {1, 2, 0}).ok());
  EXPECT_FALSE(transpose(B, X, {0, 0}).ok());
  EXPECT_FALSE(concat(B, {&X, &X}, 2).ok());
  EXPECT_FALSE(binary(B, Binary::Add, X, floats({2}, {1, 2})).ok());
  EXPECT_FALSE(binary(B, Binary::Add, X, ints({}, {1})).ok());
  EXPECT_FALSE(slice(B, X, {0}, {1}, {0}, {0}).ok());
  EXPECT_FALSE(slice(B, X, {0, 0}, {1, 1}, {0, 0}, {}).ok());
  EXPECT_FALSE(split(B, X, 1, {1, 1}).ok());
  EXPECT_FALSE(topK(B, X, 4, 1, true).ok());
  EXPECT_FALSE(gatherNd(B, X, ints({1, 3}, {0, 0, 0}), 0).ok());
  EXPECT_FALSE(
      scatterNd(B, X, ints({1, 2}, {0, 3}), floats({1}, {0}), ScatterMode::None)
          .ok());
  EXPECT_FALSE(range(B, ints({}, {0}), ints({}, {1}), ints({}, {0})).ok());
  EXPECT_FALSE(tile(B, X, {-1, 1}).ok());
  EXPECT_FALSE(expand(B, X, {-1, 3}).ok());
}

TEST(EvalOps, NewOpsRefuseWhatDoesNotFit) {
  Budget B(1 << 20, 1 << 24);
  Tensor None, X = floats({1, 2, 4}, std::vector<double>(8, 1)),
               Scale = floats({2}, {1, 2}), Bytes;
  Bytes = Tensor::ofInts(DType::I8, {3, 4}, std::vector<int64_t>(12, 1));
  EXPECT_FALSE(dequantizeLinear(B, Bytes, Scale, None, 0, 0, DType::F32).ok());
  EXPECT_FALSE(dequantizeLinear(B, Bytes,
                                floats({2, 4}, std::vector<double>(8, 1)), None,
                                0, 3, DType::F32)
                   .ok());
  EXPECT_FALSE(dequantizeLinear(B, Bytes, Scale, None, 7, 0, DType::F32).ok());
  EXPECT_FALSE(einsum(B, "ab,bc->ac", {&X, &X}).ok());
  EXPECT_FALSE(einsum(B, "abc,abd->az", {&X, &X}).ok());
  EXPECT_FALSE(
      conv(B, X, floats({1, 2, 9}, std::vector<double>(18, 1)), None, {}).ok());
  // Nothing has any size: no allocation, no endless loop.
  Tensor Empty{DType::F32, {0, 0, 4}, {}},
      Wide{DType::F32, {0, 1, int64_t(1) << 40}, {}};
  EXPECT_TRUE(causalConv(B, Empty, Wide, None, None, false).ok());
  Budget Small(100, 100);
  Tensor Keys = floats({1, 1, 30, 1}, std::vector<double>(30, 1));
  Result<std::vector<Tensor>> R =
      attention(Small, {Keys, Keys, Keys, None, None, None, None}, {});
  EXPECT_FALSE(R.ok());
}

TEST(EvalOps, AttentionBoundsDoNotOverflow) {
  Budget B(1 << 16, 1 << 20);
  Tensor None, X = floats({1, 1, 2, 1}, {1, 2});
  int64_t Most = std::numeric_limits<int64_t>::max();
  AttentionOptions O;
  O.Left = O.Right = Most;
  for (int64_t Length : {-Most - 1, Most, int64_t(0)}) {
    Tensor N = ints({1}, {Length});
    Result<std::vector<Tensor>> R =
        attention(B, {X, X, X, None, None, None, N}, O);
    ASSERT_TRUE(R.ok());
    EXPECT_EQ(floatAt((*R)[0], 0) == 0, Length <= 0);
  }
}

TEST(EvalOps, UniqueTakesNansAsOne) {
  Budget B = small();
  double NaN = std::numeric_limits<double>::quiet_NaN();
  Result<std::vector<Tensor>> R =
      unique(B, floats({5}, {NaN, 2, NaN, 1, 2}), std::nullopt, true);
  ASSERT_TRUE(R.ok());
  EXPECT_EQ(load<int64_t>((*R)[1]), (std::vector<int64_t>{3, 1, 0}));
  EXPECT_EQ(load<int64_t>((*R)[3]), (std::vector<int64_t>{1, 2, 2}));
}

} // namespace
