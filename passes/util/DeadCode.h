// Removal of ops without users, and of the traces that replacing values leaves.
#ifndef LLMC_PASSES_UTIL_DEADCODE_H
#define LLMC_PASSES_UTIL_DEADCODE_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Region.h"

namespace llmc {

/// Erases pure ops whose results are unused, in one walk from the end, so that
/// whole chains go. Returns how many.
int64_t eraseDeadOps(mlir::Region &R);

/// Gives a function the types that its return has by now.
void updateResultTypes(mlir::func::FuncOp F);

} // namespace llmc

#endif // LLMC_PASSES_UTIL_DEADCODE_H
