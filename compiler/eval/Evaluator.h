// Evaluates values of an onnx function from given arguments: lazily, only the
// backward slice that is asked for, and within a budget. Used to fold
// constants, to sample masks, to read tables and to compare whole graphs.
#ifndef LLMC_COMPILER_EVAL_EVALUATOR_H
#define LLMC_COMPILER_EVAL_EVALUATOR_H

#include "compiler/eval/Tensor.h"

#include "mlir/IR/Operation.h"
#include "llvm/ADT/DenseMap.h"

#include <functional>
#include <memory>

namespace llmc::onnx {
class WeightDataOp;
}

namespace llmc::eval {

/// Fills the bytes of a weight as they lie in the file.
using WeightReader =
    std::function<Status(onnx::WeightDataOp, std::vector<uint8_t> &)>;
/// The dims of a value where they are known without its data; false if not.
/// Lets Shape of a large tensor be answered without computing it.
using ShapeOracle = std::function<bool(mlir::Value, Dims &)>;

/// One call of an op's evaluation: operands, attributes, budget.
struct OpCall {
  mlir::Operation *Op;
  std::vector<const Tensor *> Inputs;
  Budget &Limit;

  /// Operand I; a tensor of type None when it is absent.
  const Tensor &in(unsigned I) const;
  /// Operand I as a list of integers (empty when absent).
  Dims ints(unsigned I) const;
  /// The only element of integer operand I, or Default when absent.
  Result<int64_t> scalar(unsigned I, int64_t Default) const;
  int64_t attr(llvm::StringRef Name, int64_t Default) const;
  double floatAttr(llvm::StringRef Name, double Default) const;
  llvm::StringRef text(llvm::StringRef Name, llvm::StringRef Default) const;
};

using OpHandler = std::function<Result<std::vector<Tensor>>(const OpCall &)>;
/// The evaluation of an op by its full name; null for one without.
const OpHandler *handlerOf(llvm::StringRef OpName);

class Evaluator {
public:
  explicit Evaluator(Budget B, WeightReader Reader = {})
      : Limit(B), Reader(std::move(Reader)) {}

  void bind(mlir::Value V, Tensor T);
  void setShapeOracle(ShapeOracle Oracle) { Shapes = std::move(Oracle); }

  /// The value, computed once. The pointer stays valid with the evaluator.
  /// A failure names the op and its location.
  Result<const Tensor *> evaluate(mlir::Value V);
  /// Several values, each computed value given up as soon as nothing on the way
  /// to them needs it any more: whole graphs fit that would not otherwise.
  /// What was bound stays.
  Result<std::vector<Tensor>> evaluateOnce(const std::vector<mlir::Value> &Vs);
  /// Whether the value was already computed or bound.
  const Tensor *lookup(mlir::Value V) const;
  const Budget &budget() const { return Limit; }

private:
  /// Values that the op needs before it can run; for onnx.if the condition
  /// first, then what the taken branch yields.
  Result<std::vector<mlir::Value>> needs(mlir::Value V);
  Status run(mlir::Value V);
  Status runOp(mlir::Operation *Op);
  Status runWeight(mlir::Operation *Op);
  bool runShape(mlir::Operation *Op);
  void set(mlir::Value V, Tensor T);
  void countUses(const std::vector<mlir::Value> &Wanted);
  void release(mlir::Value V);
  void releaseOperands(mlir::Operation *Op);

  Budget Limit;
  WeightReader Reader;
  ShapeOracle Shapes;
  llvm::DenseMap<mlir::Value, std::shared_ptr<const Tensor>> Values;
  /// During evaluateOnce: how often a value will still be read.
  llvm::DenseMap<mlir::Value, unsigned> Uses;
};

} // namespace llmc::eval

#endif // LLMC_COMPILER_EVAL_EVALUATOR_H
