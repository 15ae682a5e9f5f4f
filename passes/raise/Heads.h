// Between flat rows [batch, seq, heads * dim] and the heads of a row.
#ifndef LLMC_PASSES_RAISE_HEADS_H
#define LLMC_PASSES_RAISE_HEADS_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"

namespace llmc::raise {

/// Type with another last dim.
mlir::RankedTensorType withFeatures(mlir::RankedTensorType Type,
                                    int64_t Features);
/// [batch, seq, features] as [batch * seq, features].
mlir::Value flattenRows(mlir::OpBuilder &B, mlir::Value X,
                        mlir::RankedTensorType Result);
/// [batch, seq, features] as Result = [batch, seq, ...static dims].
mlir::Value reshapeRows(mlir::OpBuilder &B, mlir::Value X,
                        mlir::RankedTensorType Result);
/// [batch, seq, k * Dim] as [batch, seq, k, Dim].
mlir::Value splitFeatures(mlir::OpBuilder &B, mlir::Value X, int64_t Dim);
/// [batch, seq, heads, dim] as Result = [batch, seq * heads, dim].
mlir::Value countHeads(mlir::OpBuilder &B, mlir::Value X,
                       mlir::RankedTensorType Result);
/// X as flat rows: itself, or reshaped when it is [batch, seq, heads, dim].
mlir::Value flattenHeads(mlir::OpBuilder &B, mlir::Value X, int64_t Features);
/// Flat rows as heads of type Result: [batch, heads, seq, dim] with
/// HeadsFirst, else [batch, seq, heads, dim].
mlir::Value splitHeads(mlir::OpBuilder &B, mlir::Value Flat, int64_t Heads,
                       int64_t Dim, bool HeadsFirst,
                       mlir::RankedTensorType Result);

/// [batch, heads, seq, dim] as [batch, seq, heads, dim], or back.
mlir::Value swapHeads(mlir::OpBuilder &B, mlir::Value X);
/// [batch, heads, seq, dim] as flat rows.
mlir::Value mergeHeads(mlir::OpBuilder &B, mlir::Value Heads);

} // namespace llmc::raise

#endif // LLMC_PASSES_RAISE_HEADS_H
