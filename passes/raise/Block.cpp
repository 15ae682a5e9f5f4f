// Parts of an attention block; see Block.h.
#include "passes/raise/Block.h"

#include "passes/raise/Cone.h"
#include "passes/raise/Match.h"

using namespace mlir;

namespace llmc::raise {

/// From the softmax back to the one product of two values that are token data:
/// through masks, scales, caps, casts, sinks and guards (x - max x).
static onnx::MatMulOp scoresAbove(onnx::SoftmaxOp Softmax, const Roles &R,
                                  llvm::SetVector<Operation *> &Between) {
  constexpr size_t Most = 48;
  onnx::MatMulOp Scores;
  llvm::SetVector<Value> Work;
  Work.insert(Softmax.getInput());
  for (size_t I = 0; I < Work.size(); ++I) {
    Operation *Op = Work[I].getDefiningOp();
    if (!Op || I > Most || !isa<onnx::OnnxDialect>(Op->getDialect()))
      return {};
    SmallVector<Value> Data;
    for (Value Operand : Op->getOperands())
      if (R.isData(Operand))
        Data.push_back(Operand);
    if (auto MatMul = dyn_cast<onnx::MatMulOp>(Op)) {
      if (Data.size() != 2 || (Scores && Scores != MatMul))
        return {};
      Scores = MatMul;
      continue;
    }
    if (isa<onnx::SoftmaxOp>(Op))
      return {};
    Between.insert(Op);
    Work.insert(Data.begin(), Data.end());
  }
  return Scores;
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

/// Whether a dim of that size may be that of the new tokens.
static bool isTokens(int64_t Size, const Roles &R) {
  return ShapedType::isDynamic(Size) ||
         (R.fixedTokens() > 0 && Size == R.fixedTokens());
}

/// From the heads' results on to flat rows: the first value of rank 2 or 3
/// after a transpose or reshape.
static Value mergedBelow(onnx::MatMulOp Mix, const Roles &R) {
  Value V = Mix.getOutput();
  int64_t Dim = featuresOf(V);
  for (int Steps = 0; Steps < 16; ++Steps) {
    int64_t F = featuresOf(V), Rank = rankOf(V);
    if (V != Mix.getOutput() && (Rank == 2 || Rank == 3) && F > 0 &&
        F % Dim == 0 &&
        isa<onnx::ReshapeOp, onnx::FlattenOp>(V.getDefiningOp()) &&
        isTokens(cast<RankedTensorType>(V.getType()).getDimSize(Rank - 2), R))
      return V;
    Operation *Next = onlyUser(V);
    if (!Next || !(isMovement(Next) || isa<onnx::CastOp>(Next)) ||
        (isa<onnx::ConcatOp>(Next) && Next->getNumOperands() > 1))
      break; // heads of other blocks join it
    V = Next->getResult(0);
  }
  // A head by itself is rows already: [batch, tokens, features].
  V = Mix.getOutput();
  if (rankOf(V) == 3 && rankOf(Mix.getB()) == 3 && Dim > 0 &&
      isTokens(cast<RankedTensorType>(V.getType()).getDimSize(1), R))
    return V;
  return {};
}

AttentionBlock blockOf(onnx::SoftmaxOp Softmax, const Roles &R) {
  AttentionBlock Out;
  Out.Softmax = Softmax;
  int64_t Rank = rankOf(Softmax.getInput());
  int64_t Axis = Softmax.getAxis();
  Out.Scores = scoresAbove(Softmax, R, Out.Between);
  Out.Mix = mixBelow(Softmax, R);
  if (!Out.Scores)
    Out.Failure = "no product of queries and keys leads to the softmax";
  else if (!Out.Mix)
    Out.Failure = "the softmax does not lead to a product with values";
  else if (Axis != -1 && Axis != Rank - 1)
    Out.Failure = "the softmax is not over the last axis";
  else if (featuresOf(Out.Mix) < 1 || featuresOf(Out.Scores.getA()) < 1)
    Out.Failure = "the heads have no static size";
  else if (!(Out.Output = mergedBelow(Out.Mix, R)))
    Out.Failure = "the heads are not merged to rows by reshapes and transposes";
  return Out;
}

eval::Dims scoresLike(Value Scores, int64_t Seq, int64_t Total) {
  auto Type = dyn_cast<RankedTensorType>(Scores.getType());
  eval::Dims Out;
  for (int64_t D = 0, Rank = Type ? Type.getRank() : 0; D < Rank; ++D)
    Out.push_back(!Type.isDynamicDim(D) ? Type.getDimSize(D)
                  : D == Rank - 1       ? Total
                  : D == Rank - 2       ? Seq
                                        : 1);
  return Out;
}

eval::Dims shapeOfScores(onnx::MatMulOp Scores, const Roles &R, Probe &P) {
  constexpr int64_t MostKeys = 4096; // of all queries, for a product of zeros
  const Sample &S = P.sample();
  bool Few = S.Seq * S.total() <= MostKeys;
  eval::Dims Out;
  bool Known = P.shapeOf(Scores.getOutput(), Out);
  if (Known && !Few)
    return Out; // zeros of a long past are many
  for (Value Operand : {Scores.getA(), Scores.getB()})
    for (Value Leaf : coneOf(Operand, R, Mixing::None).Leaves) {
      eval::Dims Shape;
      if (auto Arg = dyn_cast<BlockArgument>(Leaf))
        P.bindCache(Arg);
      else if (getElementTypeOrSelf(Leaf).isF32() && P.shapeOf(Leaf, Shape))
        P.bind(Leaf, zeroTensor(DType::F32, Shape));
    }
  if (Known || P.shapeOf(Scores.getOutput(), Out))
    return Out;
  if (Few)
    if (Result<const eval::Tensor *> Zeros = P.evaluate(Scores.getOutput()))
      return (*Zeros)->Shape;
  return scoresLike(Scores.getOutput(), S.Seq, S.total());
}

} // namespace llmc::raise
