// Sizes and attribute checks.
#include "dialects/support/Verify.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;

unsigned llmc::elementBits(Type T) {
  return T.isIntOrFloat() ? T.getIntOrFloatBitWidth() : 0;
}

std::optional<int64_t> llmc::tensorBytes(RankedTensorType T) {
  int64_t Bits = elementBits(T.getElementType());
  // A bool takes a byte in files and in memory.
  if (Bits == 1)
    Bits = 8;
  for (int64_t Dim : T.getShape())
    if (ShapedType::isDynamic(Dim) || llvm::MulOverflow(Bits, Dim, Bits))
      return std::nullopt;
  if (Bits == 0 && T.getNumElements() != 0)
    return std::nullopt;
  return Bits / 8 + (Bits % 8 != 0);
}

bool llmc::isOneOf(Attribute A, std::initializer_list<StringRef> Values) {
  StringAttr S = dyn_cast<StringAttr>(A);
  return S && llvm::is_contained(Values, S.getValue());
}

LogicalResult llmc::verifyAxis(Operation *Op, int64_t Axis, int Extra) {
  if (Op->getNumOperands() == 0)
    return success();
  RankedTensorType T = dyn_cast<RankedTensorType>(Op->getOperand(0).getType());
  if (!T)
    return success();
  int64_t Rank = T.getRank() + Extra;
  if (Axis < -Rank || Axis >= Rank)
    return Op->emitOpError() << "axis " << Axis << " is outside [" << -Rank
                             << ", " << Rank << ") for rank " << T.getRank();
  return success();
}

LogicalResult llmc::verifyAtLeastOneInput(Operation *Op) {
  if (Op->getNumOperands() == 0)
    return Op->emitOpError("has 0 inputs, expected at least 1");
  return success();
}
