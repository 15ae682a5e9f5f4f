// What the recognisers of expert layers share: samples of the rows below a
// value, the bodies of experts, and the ops that a layer becomes.
#ifndef LLMC_PASSES_RAISE_EXPERTS_H
#define LLMC_PASSES_RAISE_EXPERTS_H

#include "passes/raise/Probe.h"
#include "passes/raise/TokenRows.h"
#include "passes/raise/Weights.h"

#include "mlir/IR/Builders.h"

namespace llmc::raise {

/// Whether Op computes each element from elements at the same place.
bool isElementwiseOp(mlir::Operation *Op);

/// Binds random rows to everything with token rows that V depends on.
void bindRows(mlir::Value V, Probe &P, const Roles &R, TokenRows &Rows,
              double Scale = 1);

/// Rows of X ([b, s, h] or flat) with another number of features.
mlir::RankedTensorType rowsLike(mlir::Value X, int64_t Features);

/// Most weights of a row of Route that are not 0, on samples; Experts when they
/// cannot be computed.
int64_t slotsOf(mlir::Value Route, int64_t Experts, mlir::func::FuncOp Main,
                const Roles &R, const eval::WeightReader &Reader);

/// Largest K of the choices (TopK) that V depends on; 0 without one.
int64_t chosenAbove(mlir::Value V, const Roles &R);

/// llm.experts, its result marked as data.
mlir::Value makeExperts(mlir::OpBuilder &B, mlir::Location Loc, mlir::Value X,
                        mlir::Value Route, mlir::FlatSymbolRefAttr Weight,
                        mlir::FlatSymbolRefAttr Bias, int64_t Slots,
                        int64_t Features, bool Combine, Roles &R);

/// sum over the chosen of one_hot(Choice) * Share: one weight per expert. Both
/// are [.., k]; the result [.., Experts].
mlir::Value makeRoute(mlir::OpBuilder &B, mlir::Location Loc,
                      mlir::Value Choice, mlir::Value Share, int64_t Experts,
                      Roles &R);

} // namespace llmc::raise

#endif // LLMC_PASSES_RAISE_EXPERTS_H
