// ai.onnx Attention (opset 23 to 25) in primitive form.
#include "passes/import/FusedOps.h"

#include <cmath>

using namespace mlir;

namespace llmc {
namespace {

/// Q, K or V as [B, heads, tokens, size].
Value headsOf(OpMaker &M, Value X, int64_t Heads) {
  return staticRank(X) == 4 ? X : splitHeads(M, X, Heads);
}

/// The mask as wide as the keys: from opset 24 on it may be shorter, and what
/// is missing is hidden.
Value padded(OpMaker &M, Value Mask, Value Keys, bool Bools) {
  auto Type = dyn_cast<RankedTensorType>(Mask.getType());
  if (Type && !Type.isDynamicDim(Type.getRank() - 1) &&
      Type.getShape().back() == 1)
    return Mask;
  Value Missing = M.sub(Keys, M.dim(Mask, staticRank(Mask) - 1));
  SmallVector<int64_t> Zeros(size_t(2 * staticRank(Mask) - 1), 0);
  Value Pads = M.concat({M.ints(Zeros), M.reshape(Missing, {1})}, 0);
  Value Fill = M.real(M.Builder.getF32Type(), Bools ? 0 : -INFINITY);
  Value Wide = M.op("pad", {M.toF32(Mask), Pads, Fill, Value()});
  return Bools ? M.cast(Wide, M.Builder.getI1Type()) : Wide;
}

bool coversKeys(Value Mask, Value K, Value PastKey) {
  // Equal dims by their canonical text need no padding.
  auto Dims = [](Value V, int64_t Axis) {
    auto Type = dyn_cast<RankedTensorType>(V.getType());
    auto Known = Type ? dyn_cast_or_null<onnx::DimsAttr>(Type.getEncoding())
                      : onnx::DimsAttr();
    if (Axis < 0 && Type)
      Axis += Type.getRank();
    if (Type && !Type.isDynamicDim(Axis))
      return std::to_string(Type.getDimSize(Axis));
    return Known ? Known.getExprs()[Axis].str() : std::string("?");
  };
  if (!onnx::isNone(PastKey))
    return false;
  std::string Have = Dims(Mask, -1);
  return Have != "?" && Have == Dims(K, -2);
}
} // namespace

LogicalResult expand(onnx::AttentionOp Op) {
  if (!Op.getQkMatmulOutput().use_empty())
    return Op.emitError("qk_matmul_output is not supported");
  int64_t Rank = staticRank(Op.getQ());
  int64_t N = Rank == 4 ? staticDim(Op.getQ(), 1)
                        : int64_t(Op.getQNumHeads().value_or(0));
  int64_t Kv = staticRank(Op.getK()) == 4
                   ? staticDim(Op.getK(), 1)
                   : int64_t(Op.getKvNumHeads().value_or(0));
  int64_t Size = staticDim(Op.getQ(), -1);
  if ((Rank != 3 && Rank != 4) || N < 1 || Kv < 1 || N % Kv != 0 || Size < 1)
    return Op.emitError("attention of rank ")
           << Rank << " with " << N << " query and " << Kv
           << " key heads of rows of " << Size
           << " is not supported, expected rank 3 or 4 and static heads";
  if (Rank == 3)
    Size /= N;
  OpMaker M(Op);
  HeadAttention A;
  A.Heads = N;
  A.KvHeads = Kv;
  A.Scale = Op.getScale() ? Op.getScale()->convertToFloat()
                          : 1 / std::sqrt(double(Size));
  A.Softcap = Op.getSoftcap().convertToFloat();
  A.Q = headsOf(M, Op.getQ(), N);
  A.K = headsOf(M, Op.getK(), Kv);
  A.V = headsOf(M, Op.getV(), Kv);
  Value Offset = M.integer(0);
  bool HasPast = !onnx::isNone(Op.getPastKey());
  if (HasPast) {
    Offset = M.dim(Op.getPastKey(), 2);
    A.K = M.concat({Op.getPastKey(), A.K}, 2);
    A.V = M.concat({Op.getPastValue(), A.V}, 2);
  }
  Op.getPresentKey().replaceAllUsesWith(A.K);
  Op.getPresentValue().replaceAllUsesWith(A.V);
  Value Seq = M.dim(Op.getQ(), Rank == 4 ? 2 : 1), Keys = M.dim(A.K, 2);
  Value Nonpad = Op.getNonpadKvSeqlen();
  if (!onnx::isNone(Nonpad)) {
    Value Count =
        M.reshape(M.cast(Nonpad, M.Builder.getI64Type()), {-1, 1, 1, 1});
    A.Visible = M.compare("less", M.range(Keys), Count);
    Offset = M.sub(Count, Seq);
  }
  int64_t Left = Op.getLeftWindowSize(), Right = Op.getRightWindowSize();
  if (Op.getIsCausal())
    Right = Right < 0 ? 0 : std::min<int64_t>(Right, 0);
  A.Visible = M.both(A.Visible, visibleKeys(M, Offset, Seq, Keys, Left, Right));
  if (Value Mask = Op.getAttnMask(); !onnx::isNone(Mask)) {
    bool Bools = getElementTypeOrSelf(Mask.getType()).isInteger(1);
    if (staticRank(Mask) < 1)
      return Op.emitError("the mask has no known rank");
    if (!coversKeys(Mask, Op.getK(), Op.getPastKey()))
      Mask = padded(M, Mask, Keys, Bools);
    if (Bools)
      A.Visible = M.both(A.Visible, Mask);
    else
      A.Bias = Mask;
  }
  Type Element = getElementTypeOrSelf(Op.getQ().getType());
  Value Y = M.cast(attend(M, A), Element);
  Op.getY().replaceAllUsesWith(Rank == 4 ? Y : mergeHeads(M, Y));
  return success();
}
} // namespace llmc
