// Ops on shapes and their verifiers.
#include "dialects/onnx/Onnx.h"
#include "dialects/support/Verify.h"

using namespace mlir;
using namespace llmc::onnx;

#define GET_OP_CLASSES
#include "dialects/onnx/OnnxShapeOps.cpp.inc"

void OnnxDialect::registerShapeOps() {
  addOperations<
#define GET_OP_LIST
#include "dialects/onnx/OnnxShapeOps.cpp.inc"
      >();
}

LogicalResult TransposeOp::verify() {
  std::optional<ArrayRef<int64_t>> Perm = getPerm();
  if (!Perm)
    return success();
  RankedTensorType T = dyn_cast<RankedTensorType>(getData().getType());
  if (T && T.getRank() != static_cast<int64_t>(Perm->size()))
    return emitOpError("perm has ")
           << Perm->size() << " entries, expected " << T.getRank();
  SmallVector<bool> Seen(Perm->size(), false);
  for (int64_t Axis : *Perm) {
    if (Axis < 0 || Axis >= static_cast<int64_t>(Perm->size()) || Seen[Axis])
      return emitOpError("perm is not a permutation: ") << Axis;
    Seen[Axis] = true;
  }
  return success();
}

LogicalResult ConcatOp::verify() {
  if (failed(llmc::verifyAtLeastOneInput(*this)))
    return failure();
  return llmc::verifyAxis(*this, getAxis(), 0);
}
