// Norms of the evaluator. Statistics in double; the normalised value is
// rounded to the type of X before the scale is applied, as the standard says
// for stash_type 1.
#include "compiler/eval/Ops.h"

#include <cmath>

namespace llmc::eval {

namespace {
struct Rows {
  int64_t Count, Length;
};
} // namespace

static Result<Rows> rowsFrom(const Tensor &X, int64_t Axis) {
  if (!isFloat(X.Type))
    return malformedError("norm of " + describe(X));
  LLMC_ASSIGN_OR_RETURN(int64_t A, normaliseAxis(Axis, X.rank()));
  return Rows{countOf(Dims(X.Shape.begin(), X.Shape.begin() + A)),
              countOf(Dims(X.Shape.begin() + A, X.Shape.end()))};
}

static void normaliseRow(double *Row, int64_t N, bool Centre, double Epsilon) {
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
}

static Result<Tensor> normalise(Budget &B, const Tensor &X, int64_t Axis,
                                bool Centre, double Epsilon) {
  LLMC_ASSIGN_OR_RETURN(Rows R, rowsFrom(X, Axis));
  LLMC_RETURN_IF_ERROR(B.work(2 * X.count()));
  LLMC_ASSIGN_OR_RETURN(Tensor Out, B.allocate(X.Type, X.Shape));
  std::vector<double> V = load<double>(X);
  for (int64_t I = 0; I < R.Count && R.Length; ++I)
    normaliseRow(V.data() + I * R.Length, R.Length, Centre, Epsilon);
  store(Out, V);
  return Out;
}

Result<Tensor> layerNorm(Budget &B, const Tensor &X, const Tensor &Scale,
                         const Tensor &Bias, int64_t Axis, double Epsilon) {
  LLMC_ASSIGN_OR_RETURN(Tensor Y, normalise(B, X, Axis, true, Epsilon));
  LLMC_ASSIGN_OR_RETURN(Y, binary(B, Binary::Mul, Y, Scale));
  if (!Bias.present())
    return Y;
  return binary(B, Binary::Add, Y, Bias);
}

Result<Tensor> rmsNorm(Budget &B, const Tensor &X, const Tensor &Scale,
                       int64_t Axis, double Epsilon) {
  LLMC_ASSIGN_OR_RETURN(Tensor Y, normalise(B, X, Axis, false, Epsilon));
  return binary(B, Binary::Mul, Y, Scale);
}

} // namespace llmc::eval
