// Between MLIR attributes and types and evaluator tensors.
#ifndef LLMC_COMPILER_EVAL_CONVERT_H
#define LLMC_COMPILER_EVAL_CONVERT_H

#include "compiler/eval/Tensor.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"

namespace llmc::eval {

/// Element type of the onnx dialect as DType; None if there is none.
DType dtypeOf(mlir::Type Element);
/// The reverse; null for None and types that the dialect does not have.
mlir::Type typeOf(DType T, mlir::MLIRContext *Context);

/// Elements of a dense attribute; fails for other kinds of attributes.
Result<Tensor> fromAttribute(Budget &B, mlir::ElementsAttr Value);
/// A dense attribute with the tensor's shape (no dims encoding).
mlir::DenseElementsAttr toAttribute(const Tensor &T,
                                    mlir::MLIRContext *Context);
/// Bytes as they lie in a model file (sub-byte types packed, low bits first).
Result<Tensor> fromFileBytes(Budget &B, mlir::ShapedType Type,
                             std::vector<uint8_t> Bytes);

/// The elements as a file holds them: packed without gaps, low bits first.
std::vector<uint8_t> packedElements(mlir::DenseElementsAttr Data);

} // namespace llmc::eval

#endif // LLMC_COMPILER_EVAL_CONVERT_H
