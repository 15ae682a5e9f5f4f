// Removal of ops without users.
#ifndef LLMC_PASSES_UTIL_DEADCODE_H
#define LLMC_PASSES_UTIL_DEADCODE_H

#include "mlir/IR/Region.h"

namespace llmc {

/// Erases pure ops whose results are unused, in one walk from the end, so that
/// whole chains go. Returns how many.
int64_t eraseDeadOps(mlir::Region &R);

} // namespace llmc

#endif // LLMC_PASSES_UTIL_DEADCODE_H
