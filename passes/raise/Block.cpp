// Parts of an attention block; see Block.h.
#include "passes/raise/Block.h"

#include "passes/raise/Cone.h"
#include "passes/raise/Match.h"

using namespace mlir;

namespace llmc::raise {

/// From the softmax back to the product of two values that are token data:
/// through masks, scales, caps and casts, which have one such operand each.
static onnx::MatMulOp scoresAbove(onnx::SoftmaxOp Softmax, const Roles &R) {
  Value V = Softmax.getInput();
  for (int Steps = 0; Steps < 32; ++Steps) {
    Operation *Op = V.getDefiningOp();
    if (!Op)
      return {};
    SmallVector<Value> Data;
    for (Value Operand : Op->getOperands())
      if (R.isData(Operand))
        Data.push_back(Operand);
    if (auto MatMul = dyn_cast<onnx::MatMulOp>(Op))
      return Data.size() == 2 ? MatMul : onnx::MatMulOp();
    if (Data.size() != 1 || Op->getNumResults() != 1)
      return {};
    V = Data.front();
  }
  return {};
}

/// From the softmax on to the product with v: through casts, reshapes and
/// guards against NaN (Where with a condition made of the value itself).
static onnx::MatMulOp mixBelow(onnx::SoftmaxOp Softmax, const Roles &R) {
  Value V = Softmax.getOutput();
  for (int Steps = 0; Steps < 16; ++Steps) {
    Operation *Next = nullptr;
    for (Operation *User : V.getUsers()) {
      if (isa<onnx::IsNaNOp, onnx::IsInfOp, onnx::ShapeOp>(User))
        continue;
      if (Next && Next != User)
        return {};
      Next = User;
    }
    if (auto MatMul = dyn_cast_or_null<onnx::MatMulOp>(Next))
      return MatMul.getA() == V ? MatMul : onnx::MatMulOp();
    if (!Next || !(isMovement(Next) ||
                   isa<onnx::WhereOp, onnx::CastOp, onnx::DropoutOp>(Next)))
      return {};
    V = Next->getResult(0);
  }
  return {};
}

/// From the heads' results on to flat rows: the first value of rank 2 or 3
/// after a transpose or reshape.
static Value mergedBelow(onnx::MatMulOp Mix) {
  Value V = Mix.getOutput();
  int64_t Dim = featuresOf(V);
  for (int Steps = 0; Steps < 16; ++Steps) {
    int64_t F = featuresOf(V), Rank = rankOf(V);
    if (V != Mix.getOutput() && (Rank == 2 || Rank == 3) && F > 0 &&
        F % Dim == 0 &&
        isa<onnx::ReshapeOp, onnx::FlattenOp>(V.getDefiningOp()) &&
        cast<RankedTensorType>(V.getType()).isDynamicDim(Rank - 2))
      return V;
    Operation *Next = onlyUser(V);
    if (!Next || !(isMovement(Next) || isa<onnx::CastOp>(Next)))
      return {};
    V = Next->getResult(0);
  }
  return {};
}

AttentionBlock blockOf(onnx::SoftmaxOp Softmax, const Roles &R) {
  AttentionBlock Out;
  Out.Softmax = Softmax;
  int64_t Rank = rankOf(Softmax.getInput());
  int64_t Axis = Softmax.getAxis();
  if (Axis != -1 && Axis != Rank - 1)
    Out.Failure = "the softmax is not over the last axis";
  else if (!(Out.Scores = scoresAbove(Softmax, R)))
    Out.Failure = "no product of queries and keys leads to the softmax";
  else if (!(Out.Mix = mixBelow(Softmax, R)))
    Out.Failure = "the softmax does not lead to a product with values";
  else if (featuresOf(Out.Mix) < 1 || featuresOf(Out.Scores.getA()) < 1)
    Out.Failure = "the heads have no static size";
  else if (!(Out.Output = mergedBelow(Out.Mix)))
    Out.Failure = "the heads are not merged to rows by reshapes and transposes";
  return Out;
}
} // namespace llmc::raise
