// Products, norms, softmax. All verifiers are in the .td file.
#include "dialects/onnx/Onnx.h"
#include "dialects/support/Verify.h"

using namespace mlir;
using namespace llmc::onnx;

#define GET_OP_CLASSES
#include "dialects/onnx/OnnxNeuralOps.cpp.inc"

void OnnxDialect::registerNeuralOps() {
  addOperations<
#define GET_OP_LIST
#include "dialects/onnx/OnnxNeuralOps.cpp.inc"
      >();
}
