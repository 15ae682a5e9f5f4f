// Values that a graph computes from positions alone and mixes into token rows:
// temperatures of queries that grow with the position, sinusoids, gates by
// position. For one position they look like constants, which is the danger:
// most of them are 1 on any short sample. They become rows of a table by
// position.
#ifndef LLMC_PASSES_RAISE_PLACEROWS_H
#define LLMC_PASSES_RAISE_PLACEROWS_H

#include "passes/raise/Probe.h"
#include "passes/raise/Weights.h"

namespace llmc::raise {

/// Whether V, which is no token data, is computed from anything but constants
/// and weights: positions, masks, lengths.
bool dependsOnPlace(mlir::Value V, const Roles &R);

class PlaceRows {
public:
  PlaceRows(mlir::func::FuncOp TheMain, Roles &TheRoles,
            eval::WeightReader TheReader)
      : Main(TheMain), R(TheRoles), Reader(std::move(TheReader)),
        Weights(TheMain->getParentOfType<mlir::ModuleOp>()) {}

  /// Replaces operands of Op that differ from position to position by rows of
  /// a table. Why one of them depends on more than the position, or empty.
  std::string settle(mlir::Operation *Op);
  /// Whether V is the same for every position of every sequence; else Why.
  bool isSame(mlir::Value V, std::string &Why);
  /// Gives the operands that settle replaced since the last call back.
  void undo();
  void keep() { Replaced.clear(); }

private:
  /// A value at every position, in the order of its dims without the one of
  /// the tokens.
  struct Table {
    bool Same = false;   ///< one row for all of them
    std::string Failure; ///< or why it is no table
    eval::Dims Shape;    ///< of a sample
    int64_t Axis = -1;   ///< of the tokens
    int64_t Rows = 0;
    std::vector<float> Data; ///< [Rows][elements of a token]
  };

  Table read(mlir::Value V);
  Table readFixed(mlir::Value V, int64_t Tokens);
  void readRows(mlir::Value V, Table &T);
  std::string check(mlir::Value V, const Table &T, const Sample &S);
  std::optional<eval::Tensor> at(mlir::Value V, Sample S);
  mlir::Value embedded(const Table &T);
  mlir::Value create(mlir::Value V, const Table &T);

  mlir::func::FuncOp Main;
  Roles &R;
  eval::WeightReader Reader;
  WeightMaker Weights;
  llvm::DenseMap<mlir::Value, Table> Tables;
  llvm::DenseMap<mlir::Value, mlir::Value> Made;
  llvm::StringMap<mlir::Value> Embeds; ///< by their weights
  llvm::SmallVector<std::tuple<mlir::Operation *, unsigned, mlir::Value>>
      Replaced;
};

} // namespace llmc::raise

#endif // LLMC_PASSES_RAISE_PLACEROWS_H
