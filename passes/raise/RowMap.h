// Which features of which token row an operand of an attention product is made
// of. Layouts (fused q/k/v in any interleaving, heads first or last, repeated
// KV heads, keys kept transposed, caches of any shape) are not matched: rows
// are numbered, the operand is evaluated, and the numbers are read back.
#ifndef LLMC_PASSES_RAISE_ROWMAP_H
#define LLMC_PASSES_RAISE_ROWMAP_H

#include "passes/raise/Probe.h"
#include "passes/raise/Weights.h"

#include "llvm/ADT/SetVector.h"

namespace llmc::raise {

struct RowMap {
  mlir::Value Leaf;     ///< rows [.., Features] of the new tokens
  int64_t Features = 0; ///< of Leaf per token
  double Scale = 1;     ///< operand = Scale * rows
  /// For each head that the operand has, in its order: features of Leaf.
  std::vector<std::vector<int64_t>> Heads;
  /// Cache inputs that the operand is made of, too.
  llvm::SetVector<mlir::Value> Caches;
  /// Other values of which nothing is left in the operand.
  llvm::SetVector<mlir::Value> Others;
};

/// Two evaluations of one sample, used for all operands of a graph.
class RowReader {
public:
  RowReader(mlir::func::FuncOp Main, const Roles &R, eval::WeightReader Reader,
            int64_t Seq)
      : R(R), Numbers(Main, R, Reader, Sample{0, Seq, {}, 0}),
        Ones(Main, R, Reader, Sample{0, Seq, {}, 0}) {}

  /// Fills Out for an operand whose rows of one head lie along its last axis,
  /// or with Columns along the one before (keys, transposed). Why not, or
  /// empty.
  std::string read(mlir::Value Operand, bool Columns, RowMap &Out);

private:
  std::string number(const llvm::SetVector<mlir::Value> &Leaves);
  /// The leaf that a number belongs to; null if none.
  mlir::Value leafOf(const llvm::SetVector<mlir::Value> &Leaves,
                     int64_t Number) const;

  const Roles &R;
  Probe Numbers, Ones;
  /// First number and count of each leaf that was bound so far.
  llvm::DenseMap<mlir::Value, std::pair<int64_t, int64_t>> Bound;
};

/// These features of the rows V, as rows: V itself, a product by those rows of
/// the weight where V is one, or a choice of whole heads of what made V; else
/// an onnx.gather on the last axis.
mlir::Value selectRows(mlir::OpBuilder &B, mlir::Value V,
                       llvm::ArrayRef<int64_t> Features, WeightMaker &Weights,
                       Roles &R);

} // namespace llmc::raise

#endif // LLMC_PASSES_RAISE_ROWMAP_H
