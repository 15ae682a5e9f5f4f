// Activations quantised with scales of their own tensor (dynamic) are computed
// as if they never had been quantised: that rounding is an economy of other
// engines. With constant scales it is kept beside products (StaticRounding).
// Elsewhere only saturation that stands for an activation function is:
// exporters drop a Relu in front of a quantisation whose range begins at zero.
//
// Every quantised value is followed on its own, from its user back to where it
// was made (not region by region), through ops that only move elements.
#include "passes/raise/QuantizedActivations.h"

#include "passes/raise/Match.h"

#include "mlir/IR/IRMapping.h"
#include "mlir/IR/TypeUtilities.h"

#include <cmath>

using namespace mlir;

namespace llmc::raise {
namespace {
constexpr int MaxDepth = 64;

bool isMove(Operation *Op) {
  return isa<onnx::ReshapeOp, onnx::TransposeOp, onnx::UnsqueezeOp,
             onnx::SqueezeOp, onnx::FlattenOp, onnx::SliceOp, onnx::GatherOp,
             onnx::ExpandOp, onnx::IdentityOp, onnx::SplitOp, onnx::ConcatOp>(
      Op);
}

/// Whether V is never below zero, as far as its ops tell.
bool isNonNegative(Value V, int Depth = 0) {
  Operation *Op = V.getDefiningOp();
  if (!Op || Depth > 8)
    return false;
  const auto Of = [&](unsigned I) {
    return isNonNegative(Op->getOperand(I), Depth + 1);
  };
  if (isa<onnx::ReluOp, onnx::SoftmaxOp, onnx::SigmoidOp, onnx::ExpOp,
          onnx::AbsOp, onnx::SqrtOp>(Op))
    return true;
  if (isa<onnx::MulOp>(Op) && Op->getOperand(0) == Op->getOperand(1))
    return true;
  if (onnx::PowOp Pow = dyn_cast<onnx::PowOp>(Op))
    return isScalar(Pow.getRhs(), 2);
  if (isa<onnx::MulOp, onnx::AddOp, onnx::DivOp>(Op))
    return Of(0) && Of(1);
  if (isa<onnx::ReduceMeanOp, onnx::ReduceSumOp, onnx::CastOp,
          onnx::DequantizeLinearOp>(Op) ||
      (isMove(Op) && !isa<onnx::ConcatOp>(Op)))
    return Of(0);
  if (isa<onnx::ConstantOp>(Op))
    if (std::optional<double> C = scalar(V))
      return *C >= 0;
  return false;
}

/// Whether V is a cache input, or one that was only moved: its rows were
/// rounded before they were cached.
bool isCacheInput(Value V) {
  for (int Depth = 0; Depth < MaxDepth; ++Depth) {
    Operation *Op = V.getDefiningOp();
    if (!Op) {
      RankedTensorType Type = dyn_cast<RankedTensorType>(V.getType());
      return Type && Type.getRank() >= 4 &&
             isa<FloatType>(Type.getElementType());
    }
    if (!isMove(Op) || isa<onnx::ConcatOp>(Op))
      return false;
    V = Op->getOperand(0);
  }
  return false;
}

/// Smallest number of a quantised type; nothing for floats.
std::optional<double> lowest(Type Element) {
  IntegerType T = dyn_cast<IntegerType>(Element);
  if (!T)
    return std::nullopt;
  return T.isUnsigned() ? 0.0 : -std::ldexp(1.0, int(T.getWidth()) - 1);
}
} // namespace

Type floatLike(Value Like) {
  Type F32 = Float32Type::get(Like.getContext());
  if (RankedTensorType T = dyn_cast<RankedTensorType>(Like.getType()))
    return RankedTensorType::get(T.getShape(), F32, T.getEncoding());
  return UnrankedTensorType::get(F32);
}

Value QuantizedActivations::exact(Value V) {
  auto [It, New] = Exact.try_emplace(V);
  if (!New)
    return It->second;
  Value Made = make(V); // may insert others
  return Exact[V] = Made;
}

Value QuantizedActivations::quantized(Operation *Op, Value X, Value Scale,
                                      Value Zero) {
  if (isCacheInput(X))
    return X;
  if (Value Kept = Static.rounded(Op, X, Scale, Zero))
    return Kept;
  std::optional<double> Bottom =
      lowest(getElementTypeOrSelf(Op->getResult(0).getType()));
  std::optional<double> At = 0.0;
  if (Zero && !onnx::isNone(Zero))
    At = Maker.scalarOf(Zero);
  if (!Bottom || !At || *At != *Bottom || isNonNegative(X))
    return X;
  OpBuilder B(Op);
  return onnx::ReluOp::create(B, Op->getLoc(), floatLike(X), X);
}

/// The same move of the float value.
Value QuantizedActivations::moved(Operation *Op, Value V) {
  IRMapping Map;
  bool All = isa<onnx::ConcatOp>(Op);
  for (Value Operand : All ? Op->getOperands() : Op->getOperands().take_front())
    if (Value Float = exact(Operand))
      Map.map(Operand, Float);
    else
      return {};
  OpBuilder B(Op);
  Operation *Copy = B.clone(*Op, Map);
  for (auto [Old, New] : llvm::zip(Op->getResults(), Copy->getResults())) {
    New.setType(floatLike(Old));
    Exact[Old] = New;
  }
  return Copy->getResult(cast<OpResult>(V).getResultNumber());
}

Value QuantizedActivations::make(Value V) {
  Operation *Op = V.getDefiningOp();
  if (!Op)
    return {};
  if (onnx::QuantizeLinearOp Q = dyn_cast<onnx::QuantizeLinearOp>(Op))
    return quantized(Q, Q.getX(), Q.getYScale(), Q.getYZeroPoint());
  if (onnx::DynamicQuantizeLinearOp Q =
          dyn_cast<onnx::DynamicQuantizeLinearOp>(Op))
    return V == Q.getY() ? Q.getX() : Value();
  if (onnx::QLinearMatMulOp M = dyn_cast<onnx::QLinearMatMulOp>(Op)) {
    Value A = operand(Op, M.getA(), {M.getAScale(), M.getAZeroPoint(), {}});
    Value B = operand(Op, M.getB(), {M.getBScale(), M.getBZeroPoint(), {}});
    if (!A || !B)
      return {};
    OpBuilder Builder(Op);
    Value Product =
        onnx::MatMulOp::create(Builder, Op->getLoc(), floatLike(V), A, B);
    return quantized(Op, Product, M.getYScale(), M.getYZeroPoint());
  }
  if (isMove(Op))
    return moved(Op, V);
  return {};
}

Value QuantizedActivations::operand(Operation *At, Value V,
                                    const QuantizedBy &By, double Times) {
  if (Maker.isRaw(V)) {
    RankedTensorType Type = dyn_cast<RankedTensorType>(V.getType());
    if (!Type || !Type.hasStaticShape() || Type.getRank() < 1)
      return {};
    BlockAxis Blocks = By.Blocks;
    if (Blocks.Axis < 0)
      Blocks.Axis += Type.getRank();
    if (Type.getRank() == 1)
      Blocks.Axis = 0;
    if (Type.getRank() > 2)
      return Blocks.Axis < 0 || Blocks.Axis >= Type.getRank()
                 ? Value()
                 : Maker.byAxisOfMany(At, Type.getShape(),
                                      {V, By.Scale, By.Zero, {}}, Blocks,
                                      Times);
    return Maker.byAxis(At, Type.getShape(), {V, By.Scale, By.Zero, {}}, Blocks,
                        Times);
  }
  if (Value Float = exact(V))
    return Float;
  // Codes of the file that were moved, with one scale for all of them.
  Operation *Op = V.getDefiningOp();
  std::optional<RawTensor> Scale = Maker.raw(By.Scale);
  if (!Op || !isMove(Op) || isa<onnx::ConcatOp>(Op) || !Scale ||
      Scale->Count != 1)
    return {};
  Value From = operand(Op, Op->getOperand(0), By, Times);
  if (!From)
    return {};
  IRMapping Map;
  Map.map(Op->getOperand(0), From);
  OpBuilder B(Op);
  Operation *Copy = B.clone(*Op, Map);
  for (auto [Old, New] : llvm::zip(Op->getResults(), Copy->getResults()))
    New.setType(floatLike(Old));
  return Copy->getResult(cast<OpResult>(V).getResultNumber());
}

Value QuantizedActivations::scaleOf(Value V) {
  for (int Depth = 0; Depth < MaxDepth; ++Depth) {
    Operation *Op = V.getDefiningOp();
    if (!Op)
      return {};
    if (onnx::QuantizeLinearOp Q = dyn_cast<onnx::QuantizeLinearOp>(Op))
      return Q.getYScale();
    if (onnx::DynamicQuantizeLinearOp Q =
            dyn_cast<onnx::DynamicQuantizeLinearOp>(Op))
      return V == Q.getY() ? Q.getYScale() : Value();
    if (onnx::QLinearMatMulOp M = dyn_cast<onnx::QLinearMatMulOp>(Op))
      return M.getYScale();
    if (!isMove(Op) || isa<onnx::ConcatOp>(Op))
      return {};
    V = Op->getOperand(0);
  }
  return {};
}

} // namespace llmc::raise
