// The ops MoE and QMoE of ONNX Runtime; see MoeOps.cpp.
#ifndef LLMC_PASSES_RAISE_MOEOPS_H
#define LLMC_PASSES_RAISE_MOEOPS_H

#include "passes/raise/Probe.h"
#include "passes/raise/Weights.h"

namespace llmc::raise {

/// Makes llm.experts and a router of every onnx.ms_moe and onnx.ms_q_moe of
/// Main.
void raiseMoeOps(mlir::func::FuncOp Main, Roles &R, WeightMaker &Weights);

} // namespace llmc::raise

#endif // LLMC_PASSES_RAISE_MOEOPS_H
