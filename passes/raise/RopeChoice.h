// Rotation tables of the file of which a graph takes one by the length of the
// sequence (If).
#ifndef LLMC_PASSES_RAISE_ROPECHOICE_H
#define LLMC_PASSES_RAISE_ROPECHOICE_H

#include "passes/raise/Probe.h"
#include "passes/raise/RopeTable.h"

#include "dialects/onnx/Onnx.h"

namespace llmc::raise {

/// Fills T with the tables above the leaves, of which Choice is one: those for
/// short sequences, and from a length on T.Long. Why not, or empty.
std::string readChoice(mlir::func::FuncOp Main, const Roles &R,
                       const eval::WeightReader &Reader, onnx::IfOp Choice,
                       mlir::Value CosLeaf, mlir::Value SinLeaf, RopeTable &T);

} // namespace llmc::raise

#endif // LLMC_PASSES_RAISE_ROPECHOICE_H
