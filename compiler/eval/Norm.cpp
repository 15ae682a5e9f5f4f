// Norms of the evaluator. Statistics in double; the normalised value is
// rounded to the type of X before the scale is applied, as the standard says
// for stash_type 1.
#include "compiler/eval/Ops.h"

#include <algorithm>
#include <cmath>

namespace llmc::eval {

namespace {
struct Rows {
  int64_t Count, Length;
};
/// Of one row.
struct Statistics {
  double Mean, Factor;
};
} // namespace

static Result<Rows> rowsFrom(const Tensor &X, int64_t Axis) {
  if (!isFloat(X.Type))
    return malformedError("norm of " + describe(X));
  LLMC_ASSIGN_OR_RETURN(int64_t A, normaliseAxis(Axis, X.rank()));
  return Rows{countOf(Dims(X.Shape.begin(), X.Shape.begin() + A)),
              countOf(Dims(X.Shape.begin() + A, X.Shape.end()))};
}

static Statistics normaliseRow(double *Row, int64_t N, bool Centre,
                               double Epsilon) {
  double Mean = 0, Square = 0;
  for (int64_t I = 0; I < N && Centre; ++I)
    Mean += Row[I];
  Mean /= static_cast<double>(N);
  for (int64_t I = 0; I < N; ++I) {
    Row[I] -= Mean;
    Square += Row[I] * Row[I];
  }
  double Factor = 1 / std::sqrt(Square / static_cast<double>(N) + Epsilon);
  for (int64_t I = 0; I < N; ++I)
    Row[I] *= Factor;
  return {Mean, Factor};
}

/// All three results of a layer norm before scale and bias: the normalised
/// rows, their means and their factors.
static Result<std::vector<Tensor>> normalise(Budget &B, const Tensor &X,
                                             int64_t Axis, bool Centre,
                                             double Epsilon, DType Stash) {
  LLMC_ASSIGN_OR_RETURN(Rows R, rowsFrom(X, Axis));
  LLMC_RETURN_IF_ERROR(B.work(2 * X.count()));
  Dims Outer = X.Shape;
  int64_t First = Axis < 0 ? Axis + X.rank() : Axis;
  std::fill(Outer.begin() + First, Outer.end(), 1);
  LLMC_ASSIGN_OR_RETURN(Tensor Out, B.allocate(X.Type, X.Shape));
  LLMC_ASSIGN_OR_RETURN(Tensor Mean, B.allocate(Stash, Outer));
  LLMC_ASSIGN_OR_RETURN(Tensor Factor, B.allocate(Stash, Outer));
  std::vector<double> V = load<double>(X), Means, Factors;
  for (int64_t I = 0; I < R.Count; ++I) {
    Statistics S{0, 0};
    if (R.Length)
      S = normaliseRow(V.data() + I * R.Length, R.Length, Centre, Epsilon);
    Means.push_back(S.Mean);
    Factors.push_back(S.Factor);
  }
  store(Out, V);
  store(Mean, Means);
  store(Factor, Factors);
  std::vector<Tensor> All;
  All.push_back(std::move(Out));
  All.push_back(std::move(Mean));
  All.push_back(std::move(Factor));
  return All;
}

Result<std::vector<Tensor>> layerNorm(Budget &B, const Tensor &X,
                                      const Tensor &Scale, const Tensor &Bias,
                                      int64_t Axis, double Epsilon,
                                      bool StashF32) {
  LLMC_ASSIGN_OR_RETURN(
      std::vector<Tensor> Out,
      normalise(B, X, Axis, true, Epsilon, StashF32 ? DType::F32 : X.Type));
  LLMC_ASSIGN_OR_RETURN(Out[0], binary(B, Binary::Mul, Out[0], Scale));
  if (Bias.present()) {
    LLMC_ASSIGN_OR_RETURN(Out[0], binary(B, Binary::Add, Out[0], Bias));
  }
  return Out;
}

Result<Tensor> rmsNorm(Budget &B, const Tensor &X, const Tensor &Scale,
                       int64_t Axis, double Epsilon) {
  LLMC_ASSIGN_OR_RETURN(std::vector<Tensor> Y,
                        normalise(B, X, Axis, false, Epsilon, DType::F32));
  // The result has the type of the scale.
  LLMC_ASSIGN_OR_RETURN(Tensor Cast, cast(B, Y[0], Scale.Type));
  return binary(B, Binary::Mul, Cast, Scale);
}

//===----------------------------------------------------------------------===//
// Norms of channels
//===----------------------------------------------------------------------===//

/// A vector over channels as a tensor that broadcasts to X.
static Result<Tensor> perChannel(const Tensor &X, const Tensor &V) {
  if (X.rank() < 2 || V.rank() != 1 || V.Shape[0] != X.Shape[1])
    return malformedError("a norm of " + describe(X) + " with " + describe(V) +
                          " per channel");
  Tensor Out = V;
  Out.Shape.assign(X.Shape.size() - 1, 1);
  Out.Shape[0] = X.Shape[1];
  return Out;
}

Result<Tensor> groupNorm(Budget &B, const Tensor &X, const Tensor &Scale,
                         const Tensor &Bias, int64_t Groups, double Epsilon) {
  if (X.rank() < 2 || Groups < 1 || X.Shape[1] % Groups)
    return malformedError("group_normalization of " + describe(X) + " in " +
                          std::to_string(Groups) + " groups");
  Tensor Rows = X;
  Rows.Shape = {X.Shape[0], Groups,
                X.count() / std::max<int64_t>(X.Shape[0] * Groups, 1)};
  LLMC_ASSIGN_OR_RETURN(std::vector<Tensor> Y,
                        normalise(B, Rows, 2, true, Epsilon, DType::F32));
  Y[0].Shape = X.Shape;
  LLMC_ASSIGN_OR_RETURN(Tensor S, perChannel(X, Scale));
  LLMC_ASSIGN_OR_RETURN(Tensor Add, perChannel(X, Bias));
  LLMC_ASSIGN_OR_RETURN(Y[0], binary(B, Binary::Mul, Y[0], S));
  return binary(B, Binary::Add, Y[0], Add);
}

Result<Tensor> batchNorm(Budget &B, const Tensor &X, const Tensor &Scale,
                         const Tensor &Bias, const Tensor &Mean,
                         const Tensor &Variance, double Epsilon) {
  std::vector<std::vector<double>> V;
  for (const Tensor *T : {&Scale, &Bias, &Mean, &Variance}) {
    LLMC_ASSIGN_OR_RETURN(Tensor Checked, perChannel(X, *T));
    V.push_back(load<double>(Checked));
  }
  if (!isFloat(X.Type))
    return malformedError("batch_normalization of " + describe(X));
  LLMC_ASSIGN_OR_RETURN(Tensor Out, B.allocate(X.Type, X.Shape));
  std::vector<double> Y = load<double>(X);
  size_t Channels = static_cast<size_t>(X.Shape[1]);
  size_t Inner =
      static_cast<size_t>(countOf(Dims(X.Shape.begin() + 2, X.Shape.end())));
  for (size_t I = 0; I < Y.size(); ++I) {
    size_t C = I / Inner % Channels;
    Y[I] = (Y[I] - V[2][C]) / std::sqrt(V[3][C] + Epsilon) * V[0][C] + V[1][C];
  }
  store(Out, Y);
  return Out;
}

Result<Tensor> lpNorm(Budget &B, const Tensor &X, int64_t Axis, int64_t P) {
  LLMC_ASSIGN_OR_RETURN(Tensor Norm, reduce(B, P == 1 ? Reduce::L1 : Reduce::L2,
                                            X, {Axis}, true));
  LLMC_ASSIGN_OR_RETURN(Tensor Out, B.allocate(X.Type, X.Shape));
  std::vector<double> V = load<double>(X), N = load<double>(Norm);
  forEachIndex(X.Shape, {broadcastStrides(Norm.Shape, X.Shape)},
               [&](int64_t I, const int64_t *At) {
                 double By = N[static_cast<size_t>(At[0])];
                 double &E = V[static_cast<size_t>(I)];
                 E = By == 0 ? 0 : E / By;
               });
  store(Out, V);
  return Out;
}

Result<Tensor> meanVarianceNorm(Budget &B, const Tensor &X, const Dims &Axes) {
  LLMC_ASSIGN_OR_RETURN(Tensor Wide, cast(B, X, DType::F64));
  LLMC_ASSIGN_OR_RETURN(Tensor Mean, reduce(B, Reduce::Mean, Wide, Axes, true));
  LLMC_ASSIGN_OR_RETURN(Tensor Y, binary(B, Binary::Sub, Wide, Mean));
  LLMC_ASSIGN_OR_RETURN(Tensor Square, binary(B, Binary::Mul, Y, Y));
  LLMC_ASSIGN_OR_RETURN(Tensor Deviation,
                        reduce(B, Reduce::Mean, Square, Axes, true));
  LLMC_ASSIGN_OR_RETURN(Deviation, unary(B, Unary::Sqrt, Deviation));
  LLMC_ASSIGN_OR_RETURN(Deviation,
                        binary(B, Binary::Add, Deviation,
                               Tensor::ofFloats(DType::F64, {}, {1e-9})));
  LLMC_ASSIGN_OR_RETURN(Y, binary(B, Binary::Div, Y, Deviation));
  return cast(B, Y, X.Type);
}

} // namespace llmc::eval
