// Evaluation of parts of the padded graph on small samples. Recognisers use it
// to find out what a subgraph computes instead of how it is written: masks,
// rope tables, layouts of heads and caches, scales.
#ifndef LLMC_PASSES_RAISE_PROBE_H
#define LLMC_PASSES_RAISE_PROBE_H

#include "compiler/eval/Evaluator.h"
#include "passes/raise/Roles.h"

#include <string>
#include <vector>

namespace llmc::raise {

/// One sequence: Past tokens in the caches, Seq new ones.
struct Sample {
  int64_t Past = 0;
  int64_t Seq = 1;
  /// Of the new tokens; empty: Past, Past + 1, …
  std::vector<int64_t> Positions;
  /// So many of the first tokens are padding: mask 0, and positions count from
  /// the first that is not.
  int64_t Padding = 0;

  int64_t total() const { return Past + Seq; }
  /// Position of new token I, as a caller gives it.
  int64_t position(int64_t I) const;
};

class Probe {
public:
  /// Binds every input of the graph: ids 0, mask, positions, empty or zero
  /// caches (long ones only by their shape: many layers of them are large).
  Probe(mlir::func::FuncOp Graph, const Roles &R, eval::WeightReader Reader,
        Sample S, eval::Budget Limit = defaultBudget());
  Probe(const Probe &) = delete;

  const Sample &sample() const { return S; }
  void bind(mlir::Value V, eval::Tensor T) { Eval.bind(V, std::move(T)); }
  Result<const eval::Tensor *> evaluate(mlir::Value V) {
    return Eval.evaluate(V);
  }
  /// Binds a cache input that was too large to be bound at once. False when
  /// its shape is not known.
  bool bindCache(mlir::BlockArgument Arg);
  /// For a last evaluation: values are given up on the way.
  Result<eval::Tensor> evaluateOnce(mlir::Value V);
  /// What the evaluation of parts may use.
  static eval::Budget defaultBudget();
  /// Dims of V in this sample, without computing it if possible.
  bool shapeOf(mlir::Value V, eval::Dims &Out);

private:
  bool typeShape(mlir::Value V, eval::Dims &Out);
  bool guessRows(mlir::Value V, eval::Dims &Out) const;
  void bindInputs(mlir::func::FuncOp Graph);
  void alignWithNew(mlir::BlockArgument Arg, eval::Dims &Shape);
  bool isCapacity(int64_t N) const;
  int64_t maskAt(int64_t I, const eval::Dims &Shape, DType Type);
  eval::Dims inputShape(mlir::BlockArgument Arg, Role Mine);

  const Roles &R;
  Sample S;
  eval::Evaluator Eval;
  llvm::StringMap<int64_t> Symbols;
  llvm::DenseMap<mlir::Value, eval::Dims> Inputs; ///< shapes of all arguments
};

/// Numbers in [-1, 1], the same ones for the same seed on every machine.
eval::Tensor randomTensor(const eval::Dims &Shape, uint64_t Seed,
                          double Scale = 1);
/// Zeros of a type that the onnx dialect has.
eval::Tensor zeroTensor(DType Type, const eval::Dims &Shape);

/// A reader that opens the files of a model by its path (llmc-opt).
Result<eval::WeightReader> readerOf(mlir::ModuleOp M, const std::string &Path);
/// For a pass: fills Reader by readerOf unless it has one already. Emits an
/// error when the model's files cannot be opened.
mlir::LogicalResult openReader(mlir::ModuleOp M, const std::string &Path,
                               eval::WeightReader &Reader);

} // namespace llmc::raise

#endif // LLMC_PASSES_RAISE_PROBE_H
