// Loops over experts that gather tokens; see ExpertLoops.cpp.
#ifndef LLMC_PASSES_RAISE_EXPERTLOOPS_H
#define LLMC_PASSES_RAISE_EXPERTLOOPS_H

#include "compiler/eval/Evaluator.h"
#include "passes/raise/Roles.h"

namespace llmc::raise {

/// Turns every loop around a NonZero of Main into a weighted sum over all
/// tokens. What is not understood stays as it is, with a remark.
void removeExpertLoops(mlir::func::FuncOp Main, Roles &R,
                       const eval::WeightReader &Reader);

} // namespace llmc::raise

#endif // LLMC_PASSES_RAISE_EXPERTLOOPS_H
