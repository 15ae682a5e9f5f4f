// The comparison of verify-raised, apart from the passes so that it can be
// tested with numbers that no raised model gives.
#ifndef LLMC_PASSES_RAISE_VERIFYRAISED_H
#define LLMC_PASSES_RAISE_VERIFYRAISED_H

#include "compiler/eval/Tensor.h"
#include "passes/raise/LlmInterpreter.h"

namespace llmc::raise {

/// Compares the graph's logits with the last rows of the step function's (all
/// rows, if the graph gives them); every one must be finite and the largest
/// difference at most 1e-4 of the largest logit.
Status compareLogits(const eval::Tensor &Want, const Matrix &Have);

} // namespace llmc::raise

#endif // LLMC_PASSES_RAISE_VERIFYRAISED_H
