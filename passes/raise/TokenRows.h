// Which values of the padded graph raise-model has token rows for, and how the
// features of a row are seen in a type. Shared with raise-rowwise, which makes
// rows of what is left.
#ifndef LLMC_PASSES_RAISE_TOKENROWS_H
#define LLMC_PASSES_RAISE_TOKENROWS_H

#include "passes/raise/Roles.h"

namespace llmc::raise {

/// Whether Op only renames dims of its input: rows stay what they are if their
/// number of features does.
bool keepsRows(mlir::Operation *Op);
/// Features of a row: all static dims from the end on, so [b, s, h, d] are rows
/// of h * d. -1 when the last dim is not static.
int64_t featuresOfRows(mlir::Value V);

class TokenRows {
public:
  explicit TokenRows(const Roles &TheRoles) : R(TheRoles) {}

  /// Whether V is made of llm ops and what raise-model understands (sums,
  /// scales, renamed dims, choices of the last rows).
  bool has(mlir::Value V);
  /// The llm result that V renames, if it only does that; else V.
  static mlir::Value origin(mlir::Value V);

private:
  bool find(mlir::Value V);

  const Roles &R;
  llvm::DenseMap<mlir::Value, bool> Known;
};

} // namespace llmc::raise

#endif // LLMC_PASSES_RAISE_TOKENROWS_H
