// What the verifiers of the com.microsoft ops share. Messages name the ONNX op
// and operand, since the user has the file and not this dialect.
#ifndef LLMC_DIALECTS_ONNX_MSVERIFY_H
#define LLMC_DIALECTS_ONNX_MSVERIFY_H

#include "dialects/onnx/Onnx.h"

#include <optional>

namespace llmc::onnx {

/// The ranked type of an operand; null when it is absent or has no rank yet.
inline mlir::RankedTensorType rankedType(mlir::Value V) {
  return mlir::dyn_cast<mlir::RankedTensorType>(V.getType());
}

/// Dim `Axis` (from the back when negative); nothing where it is not known.
std::optional<int64_t> knownDim(mlir::Value V, int64_t Axis);

/// Elements of an operand; nothing where a dim is not known.
std::optional<int64_t> knownElements(mlir::Value V);

/// Fails where operand `V` is absent; `Name` is that of the ONNX op.
llvm::LogicalResult verifyThere(mlir::Operation *Op, llvm::StringRef Name,
                                mlir::Value V, llvm::StringRef What);

/// An error of `Op` that begins with its ONNX name: "MatMulNBits: ...".
mlir::InFlightDiagnostic msError(mlir::Operation *Op, llvm::StringRef Name);

} // namespace llmc::onnx

#endif // LLMC_DIALECTS_ONNX_MSVERIFY_H
