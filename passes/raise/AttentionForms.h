// Spellings of attention that are another order of the same ops.
#ifndef LLMC_PASSES_RAISE_ATTENTIONFORMS_H
#define LLMC_PASSES_RAISE_ATTENTIONFORMS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace llmc::raise {

/// Brings to the form that the recogniser knows: softmax made of exponentials
/// and their sum; softmax over an axis that is not the last; transposed
/// products of queries, keys and values.
void unifyAttention(mlir::func::FuncOp Main);

} // namespace llmc::raise

#endif // LLMC_PASSES_RAISE_ATTENTIONFORMS_H
