// The operations of the scalar evaluator: one function per family, exact ONNX
// semantics (newest signatures) in plain loops. Every function checks its
// operands and draws its result from the budget, so that no input can crash or
// hang it. Floats are computed in float (f64 in double) with sums in double.
#ifndef LLMC_COMPILER_EVAL_OPS_H
#define LLMC_COMPILER_EVAL_OPS_H

#include "compiler/eval/SmallFloat.h"
#include "compiler/eval/Tensor.h"

#include <optional>
#include <string_view>

namespace llmc::eval {

// Elementwise.cpp

enum class Unary {
  Abs,
  Neg,
  Sign,
  Floor,
  Ceil,
  Round,
  Sqrt,
  Reciprocal,
  Exp,
  Log,
  Sin,
  Cos,
  Tan,
  Asin,
  Acos,
  Atan,
  Sinh,
  Cosh,
  Asinh,
  Acosh,
  Atanh,
  Tanh,
  Erf,
  Sigmoid,
  Relu,
  Softplus,
  Softsign,
  Mish,
  HardSwish,
  Gelu,
  GeluTanh,
  LeakyRelu,
  Elu,
  Selu,
  Celu,
  HardSigmoid,
  Swish,
  ThresholdedRelu,
  Shrink,
  QuickGelu
};
/// Alpha and Beta are used by the parametrised ones (LeakyRelu … QuickGelu).
Result<Tensor> unary(Budget &B, Unary Kind, const Tensor &X, double Alpha = 1,
                     double Beta = 0);
Result<Tensor> logicalNot(Budget &B, const Tensor &X);
Result<Tensor> bitwiseNot(Budget &B, const Tensor &X);
Result<Tensor> isNan(Budget &B, const Tensor &X);
Result<Tensor> isInf(Budget &B, const Tensor &X, bool Positive, bool Negative);

enum class Binary { Add, Sub, Mul, Div, Pow, Min, Max, Mod, FMod, PRelu };
/// Broadcasting; the result has the type of X (Y is converted for Pow).
Result<Tensor> binary(Budget &B, Binary Kind, const Tensor &X, const Tensor &Y);
enum class Compare { Equal, Less, LessOrEqual, Greater, GreaterOrEqual };
Result<Tensor> compare(Budget &B, Compare Kind, const Tensor &X,
                       const Tensor &Y);
enum class Logical {
  And,
  Or,
  Xor,
  BitAnd,
  BitOr,
  BitXor,
  ShiftLeft,
  ShiftRight
};
Result<Tensor> logical(Budget &B, Logical Kind, const Tensor &X,
                       const Tensor &Y);
Result<Tensor> where(Budget &B, const Tensor &Condition, const Tensor &X,
                     const Tensor &Y);
/// Low and High may be absent.
Result<Tensor> clip(Budget &B, const Tensor &X, const Tensor &Low,
                    const Tensor &High);
/// The last two are for 8-bit floats only.
Result<Tensor> cast(Budget &B, const Tensor &X, DType To, bool Saturate = true,
                    PowerRounding Rounding = PowerRounding::Up);
/// The same bits; both types have the same size.
Result<Tensor> bitCast(Budget &B, const Tensor &X, DType To);

// Layout.cpp: operations that only move elements.

/// 0 copies a dim unless AllowZero, -1 takes what is left.
Result<Tensor> reshape(Budget &B, const Tensor &X, const Dims &Shape,
                       bool AllowZero = false);
Result<Tensor> flatten(Budget &B, const Tensor &X, int64_t Axis);
Result<Tensor> unsqueeze(Budget &B, const Tensor &X, const Dims &Axes);
/// All dims of 1 when AllOnes.
Result<Tensor> squeeze(Budget &B, const Tensor &X, const Dims &Axes,
                       bool AllOnes);
Result<Tensor> transpose(Budget &B, const Tensor &X, const Dims &Permutation);
Result<Tensor> expand(Budget &B, const Tensor &X, const Dims &Shape);
Result<Tensor> tile(Budget &B, const Tensor &X, const Dims &Repeats);
Result<Tensor> concat(Budget &B, const std::vector<const Tensor *> &Parts,
                      int64_t Axis);
Result<std::vector<Tensor>> split(Budget &B, const Tensor &X, int64_t Axis,
                                  const Dims &Sizes);
/// Axes and Steps may be empty (all leading axes, step 1).
Result<Tensor> slice(Budget &B, const Tensor &X, const Dims &Starts,
                     const Dims &Ends, const Dims &Axes, const Dims &Steps);
/// What Slice does on one dim, after clamping.
struct SliceRange {
  int64_t Begin, Count;
};
SliceRange sliceRange(int64_t Dim, int64_t Start, int64_t End, int64_t Step);
enum class PadMode { Constant, Reflect, Edge, Wrap };
/// Begin and End have one entry per dim of X; negative ones cut.
Result<Tensor> pad(Budget &B, const Tensor &X, const Dims &Begin,
                   const Dims &End, PadMode Mode, const Tensor &Value);
Result<Tensor> trilu(Budget &B, const Tensor &X, int64_t K, bool Upper);

// Index.cpp: operations whose indices are data, and makers of tensors.

Result<Tensor> gather(Budget &B, const Tensor &X, const Tensor &Indices,
                      int64_t Axis);
Result<Tensor> gatherElements(Budget &B, const Tensor &X, const Tensor &Indices,
                              int64_t Axis);
Result<Tensor> gatherNd(Budget &B, const Tensor &X, const Tensor &Indices,
                        int64_t BatchDims);
enum class ScatterMode { None, Add, Mul, Min, Max };
Result<Tensor> scatterElements(Budget &B, const Tensor &X,
                               const Tensor &Indices, const Tensor &Updates,
                               int64_t Axis, ScatterMode Mode);
Result<Tensor> scatterNd(Budget &B, const Tensor &X, const Tensor &Indices,
                         const Tensor &Updates, ScatterMode Mode);
Result<Tensor> tensorScatter(Budget &B, const Tensor &Past,
                             const Tensor &Update, const Tensor &WriteIndices,
                             int64_t Axis, bool Circular);
Result<Tensor> range(Budget &B, const Tensor &Start, const Tensor &Limit,
                     const Tensor &Delta);
/// Value has one element.
Result<Tensor> constantOfShape(Budget &B, const Dims &Shape,
                               const Tensor &Value);
Result<Tensor> oneHot(Budget &B, const Tensor &Indices, int64_t Depth,
                      const Tensor &Values, int64_t Axis);
Result<Tensor> nonZero(Budget &B, const Tensor &X);
Result<Tensor> eyeLike(Budget &B, const Tensor &X, DType Type, int64_t K);

// Reduce.cpp

enum class Reduce {
  Sum,
  Mean,
  Max,
  Min,
  Prod,
  L1,
  L2,
  SumSquare,
  LogSum,
  LogSumExp
};
/// Empty Axes: all axes, or none when NoopOnEmpty.
Result<Tensor> reduce(Budget &B, Reduce Kind, const Tensor &X, const Dims &Axes,
                      bool KeepDims, bool NoopOnEmpty = false);
Result<Tensor> argReduce(Budget &B, const Tensor &X, int64_t Axis,
                         bool KeepDims, bool Max, bool SelectLast);
Result<Tensor> softmax(Budget &B, const Tensor &X, int64_t Axis, bool Log);
Result<Tensor> hardmax(Budget &B, const Tensor &X, int64_t Axis);
/// Running sums, or products.
Result<Tensor> cumulate(Budget &B, const Tensor &X, int64_t Axis,
                        bool Exclusive, bool Reverse, bool Products = false);
/// Values and indices.
Result<std::vector<Tensor>> topK(Budget &B, const Tensor &X, int64_t K,
                                 int64_t Axis, bool Largest);

// MatMul.cpp

Result<Tensor> matMul(Budget &B, const Tensor &X, const Tensor &Y);
/// C may be absent.
Result<Tensor> gemm(Budget &B, const Tensor &X, const Tensor &Y,
                    const Tensor &C, double Alpha, double Beta, bool TransA,
                    bool TransB);
/// Zero points may be absent.
Result<Tensor> matMulInteger(Budget &B, const Tensor &X, const Tensor &Y,
                             const Tensor &XZero, const Tensor &YZero);

// Norm.cpp

/// Over all axes from Axis on; Bias may be absent. The result, the means and
/// 1 / sqrt(variance + epsilon), those in f32 or the type of X.
Result<std::vector<Tensor>> layerNorm(Budget &B, const Tensor &X,
                                      const Tensor &Scale, const Tensor &Bias,
                                      int64_t Axis, double Epsilon,
                                      bool StashF32 = true);
Result<Tensor> rmsNorm(Budget &B, const Tensor &X, const Tensor &Scale,
                       int64_t Axis, double Epsilon);
/// Scale and Bias have one element per channel (dim 1).
Result<Tensor> groupNorm(Budget &B, const Tensor &X, const Tensor &Scale,
                         const Tensor &Bias, int64_t Groups, double Epsilon);
Result<Tensor> batchNorm(Budget &B, const Tensor &X, const Tensor &Scale,
                         const Tensor &Bias, const Tensor &Mean,
                         const Tensor &Variance, double Epsilon);
Result<Tensor> lpNorm(Budget &B, const Tensor &X, int64_t Axis, int64_t P);
Result<Tensor> meanVarianceNorm(Budget &B, const Tensor &X, const Dims &Axes);

// Quant.cpp

struct QuantizeOptions {
  DType To = DType::U8;
  DType Precision = DType::None; ///< of the division; None: as the operands
  int64_t Axis = 1, Block = 0;
  bool Saturate = true;
};
/// Scale per tensor, along Axis or per Block of Axis; Zero may be absent.
Result<Tensor> quantizeLinear(Budget &B, const Tensor &X, const Tensor &Scale,
                              const Tensor &Zero, const QuantizeOptions &O);
Result<Tensor> dequantizeLinear(Budget &B, const Tensor &X, const Tensor &Scale,
                                const Tensor &Zero, int64_t Axis, int64_t Block,
                                DType To);
/// Codes, scale, zero point.
Result<std::vector<Tensor>> dynamicQuantizeLinear(Budget &B, const Tensor &X);
struct QLinearInputs {
  const Tensor &A, &AScale, &AZero, &B, &BScale, &BZero, &YScale, &YZero;
};
Result<Tensor> qLinearMatMul(Budget &B, const QLinearInputs &In);

// Conv.cpp

enum class ConvPad { Explicit, SameUpper, SameLower, Valid };
/// Empty lists are ones (Pads: zeros, Kernel: that of the weights).
struct ConvOptions {
  ConvPad Pad = ConvPad::Explicit;
  int64_t Groups = 1;
  Dims Kernel, Pads, Strides, Dilations;
};
Result<Tensor> conv(Budget &B, const Tensor &X, const Tensor &W,
                    const Tensor &Bias, const ConvOptions &O);
Result<Tensor> convInteger(Budget &B, const Tensor &X, const Tensor &W,
                           const Tensor &XZero, const Tensor &WZero,
                           const ConvOptions &O);

// Einsum.cpp

Result<Tensor> einsum(Budget &B, std::string_view Equation,
                      const std::vector<const Tensor *> &Inputs);

// Rearrange.cpp

/// Without Axis of the flattened tensor.
Result<Tensor> compress(Budget &B, const Tensor &X, const Tensor &Condition,
                        std::optional<int64_t> Axis);
Result<Tensor> reverseSequence(Budget &B, const Tensor &X,
                               const Tensor &Lengths, int64_t BatchAxis,
                               int64_t TimeAxis);
/// Slices, first indices, inverse indices, counts.
Result<std::vector<Tensor>> unique(Budget &B, const Tensor &X,
                                   std::optional<int64_t> Axis, bool Sorted);
Result<Tensor> centerCropPad(Budget &B, const Tensor &X, const Dims &Shape,
                             const Dims &Axes);
Result<Tensor> depthToSpace(Budget &B, const Tensor &X, int64_t Block,
                            bool ColumnFirst);
Result<Tensor> spaceToDepth(Budget &B, const Tensor &X, int64_t Block,
                            bool ColumnFirst);

} // namespace llmc::eval

#endif // LLMC_COMPILER_EVAL_OPS_H
