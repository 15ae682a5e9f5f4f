// Between flat rows [batch, seq, heads * dim] and the heads of a row, and other
// views of values.
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
/// Rows [batch, seq, heads * dim] of which X counts the heads with the tokens:
/// [batch, seq * heads, dim], or [batch * seq * heads, dim]; or null.
mlir::Value countedHeads(mlir::Value X);
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

/// What V is the transpose of, when it is one of its last two dims; else null.
mlir::Value transposedFrom(mlir::Value V);
/// A transpose of the last two dims of V.
mlir::Value transposeLast(mlir::OpBuilder &B, mlir::Location Loc,
                          mlir::Value V);
/// V with its last two dims swapped: what it is a transpose of where it is one.
mlir::Value swapLast(mlir::OpBuilder &B, mlir::Value V);
/// f32 values in another static shape of as many elements.
mlir::Value reshapeTo(mlir::OpBuilder &B, mlir::Location Loc, mlir::Value V,
                      mlir::ArrayRef<int64_t> Shape);

} // namespace llmc::raise

#endif // LLMC_PASSES_RAISE_HEADS_H
