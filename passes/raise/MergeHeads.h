// Blocks of attention whose heads are worked on before they are flat rows
// (gates and norms per head, differences of two heads) get rows right behind
// their product with the values, and the heads again from those. What works on
// the heads is then a function of single rows, as raise-rowwise knows them.
#ifndef LLMC_PASSES_RAISE_MERGEHEADS_H
#define LLMC_PASSES_RAISE_MERGEHEADS_H

#include "passes/raise/Roles.h"

namespace llmc::raise {

/// Makes every block of attention in Main end in rows that has none and gives
/// [batch, heads, seq, dim]. New values are data in R.
void mergeBlocks(mlir::func::FuncOp Main, Roles &R);

} // namespace llmc::raise

#endif // LLMC_PASSES_RAISE_MERGEHEADS_H
