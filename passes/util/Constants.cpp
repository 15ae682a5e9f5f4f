// Reading of constants in the onnx dialect.
#include "passes/util/Constants.h"
#include "dialects/onnx/Onnx.h"

using namespace mlir;

namespace llmc {

DenseElementsAttr constantOf(Value V) {
  onnx::ConstantOp C = V.getDefiningOp<onnx::ConstantOp>();
  return C ? dyn_cast<DenseElementsAttr>(C.getValue()) : DenseElementsAttr();
}

static double asDouble(const APFloat &F) {
  APFloat Copy = F;
  bool Lost;
  Copy.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &Lost);
  return Copy.convertToDouble();
}

static int64_t asInteger(const APInt &V, Type T) {
  bool Unsigned = T.isUnsignedInteger() || V.getBitWidth() == 1;
  return Unsigned ? static_cast<int64_t>(V.getZExtValue()) : V.getSExtValue();
}

std::optional<SmallVector<int64_t>> integersOf(Value V) {
  DenseElementsAttr Dense = constantOf(V);
  if (!Dense || !Dense.getElementType().isInteger())
    return std::nullopt;
  SmallVector<int64_t> Out;
  for (APInt E : Dense.getValues<APInt>())
    Out.push_back(asInteger(E, Dense.getElementType()));
  return Out;
}

std::optional<SmallVector<double>> floatsOf(Value V) {
  DenseElementsAttr Dense = constantOf(V);
  if (!Dense || !isa<FloatType>(Dense.getElementType()))
    return std::nullopt;
  SmallVector<double> Out;
  for (APFloat E : Dense.getValues<APFloat>())
    Out.push_back(asDouble(E));
  return Out;
}

std::optional<int64_t> integerOf(Value V) {
  std::optional<SmallVector<int64_t>> All = integersOf(V);
  if (!All || All->size() != 1)
    return std::nullopt;
  return All->front();
}

std::optional<double> splatOf(Value V) {
  if (std::optional<SmallVector<double>> F = floatsOf(V)) {
    if (F->empty() || !llvm::all_equal(*F))
      return std::nullopt;
    return F->front();
  }
  std::optional<SmallVector<int64_t>> I = integersOf(V);
  if (!I || I->empty() || !llvm::all_equal(*I))
    return std::nullopt;
  return static_cast<double>(I->front());
}

bool isStatic(Value V) {
  return isa_and_nonnull<onnx::ConstantOp, onnx::WeightOp>(V.getDefiningOp());
}

/// The operand that op copies; null when it does something.
static Value copied(Operation *Op) {
  if (isa_and_nonnull<onnx::IdentityOp, onnx::DropoutOp>(Op))
    return Op->getOperand(0);
  onnx::CastOp Cast = dyn_cast_or_null<onnx::CastOp>(Op);
  TensorType From =
      Cast ? dyn_cast<TensorType>(Cast.getInput().getType()) : TensorType();
  return From && From.getElementType() == Cast.getTo() ? Cast.getInput()
                                                       : Value();
}

Value skipCopies(Value V) {
  while (Value From = copied(V.getDefiningOp()))
    V = From;
  return V;
}

/// The operand that op only converts between float types; null otherwise.
static Value converted(Operation *Op) {
  onnx::CastOp Cast = dyn_cast_or_null<onnx::CastOp>(Op);
  TensorType From =
      Cast ? dyn_cast<TensorType>(Cast.getInput().getType()) : TensorType();
  bool Floats = From && isa<FloatType>(From.getElementType()) &&
                isa<FloatType>(Cast.getTo());
  return Floats ? Cast.getInput() : copied(Op);
}

Value skipCasts(Value V) {
  while (Value From = converted(V.getDefiningOp()))
    V = From;
  return V;
}

/// Dims other than 1.
static SmallVector<int64_t> properDims(RankedTensorType T) {
  SmallVector<int64_t> Out;
  for (int64_t D : T.getShape())
    if (D != 1)
      Out.push_back(D);
  return Out;
}

/// The operand whose shape op only pads with dims of 1; null otherwise.
static Value padded(Operation *Op) {
  if (isa_and_nonnull<onnx::UnsqueezeOp, onnx::SqueezeOp>(Op))
    return Op->getOperand(0);
  if (isa_and_nonnull<onnx::ReshapeOp, onnx::FlattenOp>(Op)) {
    RankedTensorType From =
        dyn_cast<RankedTensorType>(Op->getOperand(0).getType());
    RankedTensorType To =
        dyn_cast<RankedTensorType>(Op->getResult(0).getType());
    SmallVector<int64_t> Dims =
        From ? properDims(From) : SmallVector<int64_t>();
    // One dynamic dim on both sides is the same, for the count is the same.
    if (From && To && Dims == properDims(To) &&
        llvm::count(Dims, ShapedType::kDynamic) <= 1)
      return Op->getOperand(0);
  }
  return converted(Op);
}

Value skipUnitDims(Value V) {
  while (Value From = padded(V.getDefiningOp()))
    V = From;
  return V;
}

} // namespace llmc
