// Whether the inputs of a graph can be sampled at all, before recognisers
// evaluate it.
#ifndef LLMC_COMPILER_PIPELINE_CHECKINPUTS_H
#define LLMC_COMPILER_PIPELINE_CHECKINPUTS_H

#include "runtime/base/Status.h"

#include "mlir/IR/BuiltinOps.h"

namespace llmc {

/// Unsupported: an input that something reads has no rank, or fixes more
/// elements than a sample may have, or the ids are a fixed number of tokens.
/// Names the input and both numbers.
Status checkInputs(mlir::ModuleOp Module);

} // namespace llmc

#endif // LLMC_COMPILER_PIPELINE_CHECKINPUTS_H
