// The comparison of verify-raised, apart from the passes so that it can be
// tested with numbers that no raised model gives.
#ifndef LLMC_PASSES_RAISE_VERIFYRAISED_H
#define LLMC_PASSES_RAISE_VERIFYRAISED_H

#include "compiler/eval/Evaluator.h"
#include "passes/raise/LlmInterpreter.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace llmc::raise {

/// Compares the graph's logits with the last rows of the step function's (all
/// rows, if the graph gives them); every one must be finite and the largest
/// difference at most 1e-4 of the largest logit.
Status compareLogits(const eval::Tensor &Want, const Matrix &Have);

/// What the graph itself gives for one sequence of tokens with nothing cached:
/// the first output of that many features that is no cache. Caches must be
/// paired (raise-kv-cache). Takes its time: whole models are evaluated.
Result<eval::Tensor> graphLogits(mlir::func::FuncOp Main,
                                 const eval::WeightReader &Reader,
                                 const std::vector<int64_t> &Ids,
                                 int64_t Features);

} // namespace llmc::raise

#endif // LLMC_PASSES_RAISE_VERIFYRAISED_H
