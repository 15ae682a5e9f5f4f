// Quantisation and quantised products of the evaluator.
#include "compiler/eval/Ops.h"

#include <algorithm>
#include <cmath>

namespace llmc::eval {

//===----------------------------------------------------------------------===//
// Scales
//===----------------------------------------------------------------------===//

static Status scaleError(const Tensor &X, const Tensor &Scale, int64_t Axis,
                         int64_t Block) {
  return malformedError("scale " + describe(Scale) + " for " + describe(X) +
                        ", axis " + std::to_string(Axis) + ", block size " +
                        std::to_string(Block));
}

/// Where the scale of each element of X is.
static Result<std::vector<size_t>>
scaleIndex(const Tensor &X, const Tensor &Scale, int64_t Axis, int64_t Block) {
  std::vector<size_t> Index(static_cast<size_t>(X.count()), 0);
  if (Scale.count() == 1 && (Scale.rank() <= 1 || Block == 0))
    return Index;
  Result<int64_t> A = normaliseAxis(Axis, X.rank());
  if (!A || Block < 0)
    return scaleError(X, Scale, Axis, Block);
  size_t At = static_cast<size_t>(*A);
  int64_t Dim = X.Shape[At], PerScale = Scale.rank() == 1 ? 1 : Block;
  Dims Want = X.Shape;
  if (Scale.rank() == 1)
    Want = {Dim};
  else if (PerScale > 0)
    Want[At] = (Dim + PerScale - 1) / PerScale;
  if (PerScale <= 0 || Scale.Shape != Want)
    return scaleError(X, Scale, Axis, Block);
  int64_t Inner = countOf(Dims(X.Shape.begin() + *A + 1, X.Shape.end()));
  for (size_t I = 0; I < Index.size(); ++I) {
    int64_t N = static_cast<int64_t>(I), K = N / Inner % Dim;
    Index[I] = static_cast<size_t>(
        Scale.rank() == 1
            ? K
            : (N / (Inner * Dim) * Want[At] + K / PerScale) * Inner +
                  N % Inner);
  }
  return Index;
}

static Status checkZero(const Tensor &Scale, const Tensor &Zero) {
  if (!Zero.present() || Zero.Shape == Scale.Shape ||
      (Zero.count() == 1 && Scale.count() == 1))
    return Status::success();
  return malformedError("zero point " + describe(Zero) + " for scale " +
                        describe(Scale));
}

static std::pair<double, double> rangeOf(DType T) {
  double Bits = bitsOf(T);
  bool Signed = isSigned(T);
  return Signed ? std::pair(-std::exp2(Bits - 1), std::exp2(Bits - 1) - 1)
                : std::pair(0.0, std::exp2(Bits) - 1);
}

/// Round to nearest even, add the zero point, saturate. NaN becomes the zero
/// point.
static double toCode(double X, double Zero, std::pair<double, double> Range) {
  double V = std::nearbyint(X);
  return std::clamp((std::isnan(V) ? 0 : V) + Zero, Range.first, Range.second);
}

//===----------------------------------------------------------------------===//
// Linear quantisation
//===----------------------------------------------------------------------===//

Result<Tensor> quantizeLinear(Budget &B, const Tensor &X, const Tensor &Scale,
                              const Tensor &Zero, const QuantizeOptions &O) {
  DType To = O.To;
  if ((!isInteger(To) && !isSmallFloat(To)) || bitsOf(To) > 16 ||
      (!isFloat(X.Type) && X.Type != DType::I32) || !isFloat(Scale.Type) ||
      (Zero.present() && Zero.Type != To))
    return malformedError("quantize_linear of " + describe(X) + " by " +
                          describe(Scale) + ", zero point " + describe(Zero) +
                          ", to " + std::string(nameOf(To)));
  LLMC_RETURN_IF_ERROR(checkZero(Scale, Zero));
  LLMC_ASSIGN_OR_RETURN(std::vector<size_t> Index,
                        scaleIndex(X, Scale, O.Axis, O.Block));
  LLMC_ASSIGN_OR_RETURN(Tensor Out, B.allocate(To, X.Shape));
  DType Precision = O.Precision == DType::None ? Scale.Type : O.Precision;
  // Division happens in the wider of the types when none is asked for.
  if (O.Precision == DType::None && isFloat(X.Type) &&
      bitsOf(X.Type) > bitsOf(Precision))
    Precision = X.Type;
  std::vector<double> V = load<double>(X), S = load<double>(Scale), Z;
  if (Zero.present())
    Z = load<double>(Zero);
  std::pair<double, double> Range = rangeOf(To);
  for (size_t I = 0; I < V.size(); ++I) {
    double Y = roundTo(Precision, roundTo(Precision, V[I]) /
                                      roundTo(Precision, S[Index[I]]));
    double Offset = Z.empty() ? 0 : Z[Z.size() == 1 ? 0 : Index[I]];
    if (isSmallFloat(To))
      Out.Bytes[I] = toSmallFloat(To, Y + Offset, O.Saturate);
    else
      V[I] = toCode(Y, Offset, Range);
  }
  if (!isSmallFloat(To))
    store(Out, V);
  return Out;
}

Result<Tensor> dequantizeLinear(Budget &B, const Tensor &X, const Tensor &Scale,
                                const Tensor &Zero, int64_t Axis, int64_t Block,
                                DType To) {
  if ((!isInteger(X.Type) && !isSmallFloat(X.Type)) || !isFloat(Scale.Type) ||
      !isFloat(To) || (Zero.present() && Zero.Type != X.Type))
    return malformedError("dequantize_linear of " + describe(X) + " by " +
                          describe(Scale) + ", zero point " + describe(Zero) +
                          ", to " + std::string(nameOf(To)));
  LLMC_RETURN_IF_ERROR(checkZero(Scale, Zero));
  LLMC_ASSIGN_OR_RETURN(std::vector<size_t> Index,
                        scaleIndex(X, Scale, Axis, Block));
  LLMC_ASSIGN_OR_RETURN(Tensor Out, B.allocate(To, X.Shape));
  std::vector<double> V = load<double>(X), S = load<double>(Scale), Z;
  if (Zero.present())
    Z = load<double>(Zero);
  for (size_t I = 0; I < V.size(); ++I) {
    double Offset = Z.empty() ? 0 : Z[Z.size() == 1 ? 0 : Index[I]];
    V[I] = (V[I] - Offset) * S[Index[I]];
  }
  store(Out, V);
  return Out;
}

Result<std::vector<Tensor>> dynamicQuantizeLinear(Budget &B, const Tensor &X) {
  if (X.Type != DType::F32)
    return malformedError("dynamic_quantize_linear of " + describe(X));
  float Low = 0, High = 0;
  for (float V : load<float>(X)) {
    Low = std::min(Low, V);
    High = std::max(High, V);
  }
  // A range of nothing has any scale; one is what ONNX Runtime takes.
  float Scale = Low == High ? 1.0f : (High - Low) / 255.0f;
  std::pair<double, double> Range = rangeOf(DType::U8);
  float Zero = static_cast<float>(toCode(-Low / Scale, 0, Range));
  QuantizeOptions O;
  O.To = DType::U8;
  Tensor S = Tensor::ofFloats(DType::F32, {}, {Scale});
  Tensor Z = Tensor::ofFloats(DType::U8, {}, {Zero});
  LLMC_ASSIGN_OR_RETURN(Tensor Y, quantizeLinear(B, X, S, Z, O));
  std::vector<Tensor> Out;
  for (Tensor *T : {&Y, &S, &Z})
    Out.push_back(std::move(*T));
  return Out;
}

//===----------------------------------------------------------------------===//
// Quantised product
//===----------------------------------------------------------------------===//

/// A parameter of the rows (A, Y) or columns (B) of a matrix, seen through the
/// matrix' shape: one for all, a vector, or with dims of 1 where it repeats.
static Result<Tensor> alignParameter(Budget &B, const Tensor &P, bool OfRows) {
  if (P.rank() != 1 || P.count() == 1 || !OfRows)
    return P;
  return reshape(B, P, {P.count(), 1}, true);
}

static Result<Tensor> centre(Budget &B, const Tensor &X, const Tensor &Zero,
                             bool OfRows) {
  LLMC_ASSIGN_OR_RETURN(Tensor Wide, cast(B, X, DType::F64));
  LLMC_ASSIGN_OR_RETURN(Tensor Z, cast(B, Zero, DType::F64));
  LLMC_ASSIGN_OR_RETURN(Z, alignParameter(B, Z, OfRows));
  return binary(B, Binary::Sub, Wide, Z);
}

Result<Tensor> qLinearMatMul(Budget &B, const QLinearInputs &In) {
  DType To = In.YZero.Type;
  if ((!isInteger(To) && !isSmallFloat(To)) || !isFloat(In.YScale.Type) ||
      In.AScale.Type != In.YScale.Type || In.BScale.Type != In.YScale.Type)
    return malformedError("q_linear_mat_mul of " + describe(In.A) + " and " +
                          describe(In.B) + " to " + describe(In.YZero));
  // Sums of products of bytes are exact in double.
  LLMC_ASSIGN_OR_RETURN(Tensor X, centre(B, In.A, In.AZero, true));
  LLMC_ASSIGN_OR_RETURN(Tensor W, centre(B, In.B, In.BZero, false));
  LLMC_ASSIGN_OR_RETURN(Tensor Product, matMul(B, X, W));
  LLMC_ASSIGN_OR_RETURN(Tensor SA, alignParameter(B, In.AScale, true));
  LLMC_ASSIGN_OR_RETURN(Tensor SY, alignParameter(B, In.YScale, true));
  LLMC_ASSIGN_OR_RETURN(Tensor Factor, binary(B, Binary::Mul, SA, In.BScale));
  LLMC_ASSIGN_OR_RETURN(Factor, binary(B, Binary::Div, Factor, SY));
  LLMC_ASSIGN_OR_RETURN(Factor, cast(B, Factor, DType::F64));
  LLMC_ASSIGN_OR_RETURN(Product, binary(B, Binary::Mul, Product, Factor));
  LLMC_ASSIGN_OR_RETURN(Tensor Zero, cast(B, In.YZero, DType::F64));
  LLMC_ASSIGN_OR_RETURN(Zero, alignParameter(B, Zero, true));
  LLMC_ASSIGN_OR_RETURN(Dims Shape, broadcastShapes(Product.Shape, Zero.Shape));
  if (Shape != Product.Shape)
    return malformedError("q_linear_mat_mul: zero point " + describe(In.YZero) +
                          " for " + describe(Product));
  LLMC_ASSIGN_OR_RETURN(Tensor Out, B.allocate(To, Shape));
  std::vector<double> V = load<double>(Product), Z = load<double>(Zero);
  std::pair<double, double> Range = rangeOf(To);
  forEachIndex(Shape, {broadcastStrides(Zero.Shape, Shape)},
               [&](int64_t I, const int64_t *At) {
                 double &E = V[static_cast<size_t>(I)];
                 double Offset = Z[static_cast<size_t>(At[0])];
                 E = isSmallFloat(To) ? E + Offset : toCode(E, Offset, Range);
               });
  store(Out, V);
  return Out;
}

} // namespace llmc::eval
