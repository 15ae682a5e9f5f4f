// Cosines and sines of positions, as computed from frequencies or given as
// tables, and how they are read from what a graph evaluates to.
#ifndef LLMC_PASSES_RAISE_ROPETABLE_H
#define LLMC_PASSES_RAISE_ROPETABLE_H

#include "passes/raise/Probe.h"

#include "mlir/IR/Value.h"
#include "llvm/ADT/STLFunctionalExtras.h"

#include <memory>
#include <string>
#include <vector>

namespace llmc::raise {

/// Cos and sin of positions, as found in the graph.
struct RopeTable {
  int64_t Half = 0;
  double Scaling = 1;
  std::vector<float> Freq;     ///< [half]; empty: given tables
  std::vector<float> Cos, Sin; ///< [rows][half]
  int64_t Rows = 0;
  /// Another table for sequences longer than Threshold.
  std::shared_ptr<RopeTable> Long;
  int64_t Threshold = 0;

  /// Cos and sin of angle I at a position; false beyond a given table.
  bool at(int64_t Position, int64_t I, double &C, double &S) const;
};

/// Angles of token S among Seq, stored by rows or by columns.
std::vector<float> anglesOf(const eval::Tensor &A, int64_t Seq, int64_t S,
                            bool Columns);
/// Most positions of the tables above V: rows of the largest tensor of the file
/// that it depends on.
int64_t tableRows(mlir::Value V);
/// Takes the columns that angles need of a table with rows of Width values, the
/// first Used of which count: all, or every angle once where the rows
/// [1, Looked) have each twice, in halves or in pairs.
void takeAngles(const eval::Tensor &W, int64_t Width, int64_t Used,
                int64_t Looked, RopeTable &T, std::vector<float> &Out);
/// Fills T with what the leaves give for the tokens of a sample that begins at
/// position 0: sines and cosines may be halves of one table, or rows of a
/// gather. Why not, or empty.
std::string readPlaces(Probe &All, mlir::Value CosLeaf, mlir::Value SinLeaf,
                       RopeTable &T);
/// Fills the tables of cosines and sines by Load, which says why it cannot.
std::string loadBoth(
    mlir::Value CosLeaf, mlir::Value SinLeaf, RopeTable &T,
    llvm::function_ref<std::string(mlir::Value, std::vector<float> &)> Load);

} // namespace llmc::raise

#endif // LLMC_PASSES_RAISE_ROPETABLE_H
