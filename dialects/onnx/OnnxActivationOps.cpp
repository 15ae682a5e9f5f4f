// Activations and the rarer elementwise ops. All verifiers are in the .td file.
#include "dialects/onnx/Onnx.h"
#include "dialects/support/Verify.h"

using namespace mlir;
using namespace llmc::onnx;

#define GET_OP_CLASSES
#include "dialects/onnx/OnnxActivationOps.cpp.inc"

void OnnxDialect::registerActivationOps() {
  addOperations<
#define GET_OP_LIST
#include "dialects/onnx/OnnxActivationOps.cpp.inc"
      >();
}
