// Products of all tokens with a tensor of all experts; see BatchedExperts.cpp.
#ifndef LLMC_PASSES_RAISE_BATCHEDEXPERTS_H
#define LLMC_PASSES_RAISE_BATCHEDEXPERTS_H

#include "passes/raise/Probe.h"
#include "passes/raise/Weights.h"

namespace llmc::raise {

/// Makes llm.experts of every pair of products with tensors [experts, .., ..]
/// whose results a router weighs and adds up. What is not understood stays as
/// it is, with a remark.
void raiseBatchedExperts(mlir::func::FuncOp Main, Roles &R,
                         WeightMaker &Weights,
                         const eval::WeightReader &Reader);

} // namespace llmc::raise

#endif // LLMC_PASSES_RAISE_BATCHEDEXPERTS_H
