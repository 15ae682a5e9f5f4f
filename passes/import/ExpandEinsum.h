// Einsum of two operands as a product of matrices.
#ifndef LLMC_PASSES_IMPORT_EXPANDEINSUM_H
#define LLMC_PASSES_IMPORT_EXPANDEINSUM_H

#include "dialects/onnx/Onnx.h"

namespace llmc {

/// Whether expand can say it: two operands of known ranks, no label twice in
/// one of them, and none that only one of them has and the output lacks.
bool isProduct(onnx::EinsumOp Op);
/// Replaces all uses of the op's result.
mlir::LogicalResult expand(onnx::EinsumOp Op);

} // namespace llmc

#endif // LLMC_PASSES_IMPORT_EXPANDEINSUM_H
