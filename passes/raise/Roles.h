// What the inputs of a graph mean: token ids, attention mask, positions, past
// keys and values. Decided by structure where it tells (who indexes the token
// table, which input is paired with an output), else by shape, else by name.
#ifndef LLMC_PASSES_RAISE_ROLES_H
#define LLMC_PASSES_RAISE_ROLES_H

#include "passes/util/GraphAttrs.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"

namespace llmc::raise {

/// On a past argument and on the present result that continues it: the number
/// of the pair, by raise-kv-cache. Only such an argument has the role Past.
constexpr llvm::StringLiteral CacheAttr = "llm.cache";

/// PastLength, TotalLength and LastIndex (total - 1) are lengths of each
/// sequence. Types are kinds of tokens (token_type_ids), taken as 0: text.
enum class Role {
  Tokens,
  Mask,
  Positions,
  Past,
  PastLength,
  TotalLength,
  LastIndex,
  Types,
  Other
};

/// The function that holds the graph, or null.
mlir::func::FuncOp graphOf(mlir::ModuleOp M);

/// The argument that V is a view of (through casts and reshapes), or null.
mlir::BlockArgument indexArgument(mlir::Value V);

class Roles {
public:
  explicit Roles(mlir::func::FuncOp Graph);

  Role of(mlir::BlockArgument Arg) const;
  /// The argument of that role; null if there is none.
  mlir::BlockArgument find(Role R) const;

  /// Tokens that come at once, where the file fixes it; else 0.
  int64_t fixedTokens() const;

  /// Whether V holds token data: it depends on the values (not the shapes) of
  /// the ids or of a cache. All else is masks, tables, shapes and constants.
  bool isData(mlir::Value V) const { return Data.contains(V); }
  /// For values that a pass adds after the analysis.
  void markData(mlir::Value V) { Data.insert(V); }

private:
  void assign(mlir::func::FuncOp Graph);
  Role integerRole(mlir::BlockArgument Arg) const;
  void findData(mlir::func::FuncOp Graph);

  llvm::DenseMap<mlir::Value, Role> Known;
  llvm::DenseSet<mlir::Value> Data;
};

} // namespace llmc::raise

#endif // LLMC_PASSES_RAISE_ROLES_H
