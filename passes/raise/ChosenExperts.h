// Products of tokens with gathered matrices of experts; see ChosenExperts.cpp.
#ifndef LLMC_PASSES_RAISE_CHOSENEXPERTS_H
#define LLMC_PASSES_RAISE_CHOSENEXPERTS_H

#include "passes/raise/Probe.h"
#include "passes/raise/Weights.h"

namespace llmc::raise {

/// Makes llm.experts of every pair of products whose matrices are gathered from
/// a tensor of all experts by the router's choice. What is not understood stays
/// as it is, with a remark.
void raiseChosenExperts(mlir::func::FuncOp Main, Roles &R, WeightMaker &Weights,
                        const eval::WeightReader &Reader);

} // namespace llmc::raise

#endif // LLMC_PASSES_RAISE_CHOSENEXPERTS_H
