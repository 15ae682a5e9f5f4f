// The onnx dialect in C++: one class per op of the Onnx*Ops.td files.
#ifndef LLMC_DIALECTS_ONNX_ONNX_H
#define LLMC_DIALECTS_ONNX_ONNX_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/IR/TensorEncoding.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "dialects/onnx/OnnxDialect.h.inc"

#define GET_ATTRDEF_CLASSES
#include "dialects/onnx/OnnxAttrs.h.inc"

#define GET_OP_CLASSES
#include "dialects/onnx/OnnxCoreOps.h.inc"
#define GET_OP_CLASSES
#include "dialects/onnx/OnnxMathOps.h.inc"
#define GET_OP_CLASSES
#include "dialects/onnx/OnnxShapeOps.h.inc"
#define GET_OP_CLASSES
#include "dialects/onnx/OnnxIndexOps.h.inc"
#define GET_OP_CLASSES
#include "dialects/onnx/OnnxNeuralOps.h.inc"
#define GET_OP_CLASSES
#include "dialects/onnx/OnnxActivationOps.h.inc"
#define GET_OP_CLASSES
#include "dialects/onnx/OnnxAttentionOps.h.inc"
#define GET_OP_CLASSES
#include "dialects/onnx/OnnxQuantOps.h.inc"
#define GET_OP_CLASSES
#include "dialects/onnx/MsAttentionOps.h.inc"
#define GET_OP_CLASSES
#include "dialects/onnx/MsWeightOps.h.inc"

namespace llmc::onnx {

/// Names of attributes that hold names of the ONNX file.
constexpr llvm::StringLiteral NameAttr = "onnx.name";   ///< args and results
constexpr llvm::StringLiteral FilesAttr = "onnx.files"; ///< module
constexpr llvm::StringLiteral OpsetAttr = "onnx.opset"; ///< module

/// Whether an optional operand is absent.
inline bool isNone(mlir::Value V) {
  return mlir::isa<mlir::NoneType>(V.getType());
}

} // namespace llmc::onnx

#endif // LLMC_DIALECTS_ONNX_ONNX_H
