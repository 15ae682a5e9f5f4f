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

} // namespace llmc
