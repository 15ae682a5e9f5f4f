// Small matchers that all recognisers share. They see through what changes
// nothing (Identity, Cast to the same type, Dropout), and read constants.
#ifndef LLMC_PASSES_RAISE_MATCH_H
#define LLMC_PASSES_RAISE_MATCH_H

#include "dialects/llm/LlmDialect.h"
#include "dialects/onnx/Onnx.h"

#include "llvm/ADT/SmallVector.h"
#include <optional>
#include <string>

namespace llmc::raise {

/// V without Identity, Dropout and casts that keep the element type.
mlir::Value skip(mlir::Value V);

/// The op of that kind which makes V, seen through `skip`; null if another.
template <typename OpTy> OpTy producer(mlir::Value V) {
  return skip(V).template getDefiningOp<OpTy>();
}

/// The value of a constant of one element, as double.
std::optional<double> scalar(mlir::Value V);
/// Whether V is computed from constants and weights of the file only.
bool isFixed(mlir::Value V);
/// Whether V is a constant of one element within 1e-4 relative of Want.
bool isScalar(mlir::Value V, double Want);
/// All elements of an integer constant.
std::optional<llvm::SmallVector<int64_t>> integers(mlir::Value V);

/// For a commutative op: its other operand when one of them satisfies Test.
template <typename OpTy, typename F> mlir::Value other(OpTy Op, F Test) {
  if (Test(Op->getOperand(0)))
    return Op->getOperand(1);
  if (Test(Op->getOperand(1)))
    return Op->getOperand(0);
  return {};
}

/// The only user of V but for Shape, seen through what `skip` sees through;
/// null if there are several or none.
mlir::Operation *onlyUser(mlir::Value V);

/// Rank of a ranked tensor, or -1.
int64_t rankOf(mlir::Value V);
/// Static size of the last dim, or -1.
int64_t featuresOf(mlir::Value V);
/// Whether the reduction of Op is over the last axis only, keeping the dim.
template <typename OpTy> bool reducesLastAxis(OpTy Op) {
  std::optional<llvm::SmallVector<int64_t>> Axes = integers(Op.getAxes());
  int64_t Rank = rankOf(Op.getData());
  return Op.getKeepdims() == 1 && Axes && Axes->size() == 1 &&
         (Axes->front() == -1 || (Rank > 0 && Axes->front() == Rank - 1));
}

/// Name of the ONNX node that Op came from.
std::string nodeName(mlir::Operation *Op);
/// Name of an argument or result of the graph.
llvm::StringRef argName(mlir::BlockArgument Arg);

/// Says why a recogniser that nearly matched did not (remark "missed").
void missed(llvm::StringRef Pass, mlir::Operation *Op, const llvm::Twine &Why);
/// Attribute of an op that only one recogniser takes: why it did not.
constexpr llvm::StringLiteral WhyNot = "onnx.why_not";
/// Says what a recogniser made of which node (remark "passed").
void passed(llvm::StringRef Pass, mlir::Operation *Op, const llvm::Twine &What);

/// Erases what has no users, from the end of the block backwards.
void eraseDead(mlir::Block &Body);

} // namespace llmc::raise

#endif // LLMC_PASSES_RAISE_MATCH_H
