// Proves that a block of the graph is an attention: finds its rows and heads by
// numbering (RowMap), measures scale and cap, and compares the block on random
// rows with what llm.attention means, in one step and over several steps, where
// each gets the cache outputs of the one before as inputs.
#ifndef LLMC_PASSES_RAISE_ATTENTIONPROOF_H
#define LLMC_PASSES_RAISE_ATTENTIONPROOF_H

#include "passes/raise/Block.h"
#include "passes/raise/MaskFit.h"
#include "passes/raise/RowMap.h"

#include <map>
#include <memory>

namespace llmc::raise {

struct Attention {
  AttentionBlock Block;
  MaskRule Rule;          ///< by raise-mask
  int64_t StepTokens = 0; ///< tokens at once; 0: any number
  RowMap Q, K, V;
  int64_t Heads = 0, KvHeads = 0, Dim = 0, VDim = 0;
  double Scale = 0, Softcap = 0;

  /// Features of Q's leaf (or K's, V's) in the order of the op's rows.
  std::vector<int64_t> features(const RowMap &Map, int64_t Count) const;
};

class Prover {
public:
  Prover(mlir::func::FuncOp Main, const Roles &R, eval::WeightReader Reader);

  /// Fills A but for its block and rule; why the block is no attention, or
  /// empty.
  std::string prove(Attention &A);

private:
  /// The samples of a graph that takes that many tokens at once.
  struct Steps {
    std::unique_ptr<Probe> Whole;              ///< null: not possible
    std::vector<std::unique_ptr<Probe>> Parts; ///< each continues the last
    std::unique_ptr<Probe> Zero, One, Huge, Low, Cap; ///< for the scale
    std::unique_ptr<RowReader> Rows;
  };
  Steps &stepsOf(int64_t Tokens);

  std::string findRows(Steps &St, Attention &A);
  std::string findHeads(Attention &A);
  std::string measureScale(Steps &St, Attention &A);
  std::string checkFactors(const Attention &A);
  std::string checkFactor(mlir::Operation *Op, mlir::Value Factor);
  std::string compare(Probe &P, Attention &A, mlir::ArrayRef<double> Want);
  std::string bindLeaf(Probe &P, mlir::Value Leaf);
  std::string passCaches(Probe &From, Probe &To, const Attention &A);

  mlir::func::FuncOp Main;
  const Roles &R;
  eval::WeightReader Reader;
  std::map<int64_t, Steps> All;
  bool Spoilt = false; ///< other blocks' values were bound in them
  /// Of scores, and why they are not the same everywhere.
  llvm::DenseMap<mlir::Value, std::string> Factors;
  /// Random rows of the block that is proved.
  llvm::DenseMap<mlir::Value, eval::Tensor> Leaves;
};

} // namespace llmc::raise

#endif // LLMC_PASSES_RAISE_ATTENTIONPROOF_H
