// Backward walks over token data. A cone is what lies between a value and its
// leaves: the nearest token data that is not made by moving, scaling or mixing
// elements. Masks, tables and shapes on the way are not followed.
#ifndef LLMC_PASSES_RAISE_CONE_H
#define LLMC_PASSES_RAISE_CONE_H

#include "passes/raise/Roles.h"

#include "llvm/ADT/SetVector.h"

namespace llmc::raise {

struct Cone {
  /// Token data at the bottom, arguments of the graph included.
  llvm::SetVector<mlir::Value> Leaves;
  /// Float operands that are no token data and no constant: masks, tables.
  llvm::SetVector<mlir::Value> Tables;
  llvm::SetVector<mlir::Operation *> Ops;

  /// The only leaf that is not a cache input; null if there are several.
  mlir::Value root(const Roles &R) const;
};

/// What a walk goes through beside movements and products with constant
/// scalars: Add, Sub, Neg and products with tables; with Varying not where the
/// table is made of constants and weights only (gains, temperatures).
enum class Mixing { None, Varying, All };

/// Whether Op only moves elements (reshapes, transposes, slices, …).
bool isMovement(mlir::Operation *Op);
/// Whether Op writes some elements into a copy of its first operand, as caches
/// of a fixed size are written.
bool isCacheUpdate(mlir::Operation *Op);
/// What V is made of by one movement of one value, or by a product or quotient
/// with a constant number; null if it is made otherwise.
mlir::Value beforeMove(mlir::Value V);
/// Walks from V to the leaves. `Stop` is a leaf if it is met.
Cone coneOf(mlir::Value V, const Roles &R, Mixing Mix, mlir::Value Stop = {});

} // namespace llmc::raise

#endif // LLMC_PASSES_RAISE_CONE_H
