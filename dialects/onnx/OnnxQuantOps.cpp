// Quantisation and quantised products. All verifiers are in the .td file.
#include "dialects/onnx/Onnx.h"
#include "dialects/support/Verify.h"

using namespace mlir;
using namespace llmc::onnx;

#define GET_OP_CLASSES
#include "dialects/onnx/OnnxQuantOps.cpp.inc"

void OnnxDialect::registerQuantOps() {
  addOperations<
#define GET_OP_LIST
#include "dialects/onnx/OnnxQuantOps.cpp.inc"
      >();
}
