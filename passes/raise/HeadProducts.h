// Products of heads with a matrix of each head's own. In latent attention whose
// up-projections are absorbed by queries and results they stand before and
// behind the attention.
#ifndef LLMC_PASSES_RAISE_HEADPRODUCTS_H
#define LLMC_PASSES_RAISE_HEADPRODUCTS_H

#include "compiler/eval/Evaluator.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace llmc::raise {

/// Makes an llm.linear per head of every onnx.mat_mul of heads [batch, heads,
/// tokens, k] with matrices [heads, k, n] of the file. The matrices of heads
/// must lie in one piece each, in either order of their dims.
void raiseHeadProducts(mlir::func::FuncOp Main,
                       const eval::WeightReader &Reader);

} // namespace llmc::raise

#endif // LLMC_PASSES_RAISE_HEADPRODUCTS_H
