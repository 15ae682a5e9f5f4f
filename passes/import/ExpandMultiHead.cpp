// MultiHeadAttention, DecoderMaskedMultiHeadAttention and Attention of
// com.microsoft in primitive form.
#include "passes/import/FusedOps.h"

#include <cmath>

using namespace mlir;

namespace llmc {
namespace {

Value present(Value V) { return onnx::isNone(V) ? Value() : V; }

/// What the three ops come down to.
struct MultiHead {
  int64_t Heads = 0, Dim = 0;
  double Scale = 0, Filter = -10000;
  bool Unidirectional = false;
  Value Q, K, V; ///< [B, N, tokens, size]
  Value Mask, Bias;
  Value PastK, PastV; ///< [B, N, P, size], or null
};

/// Text of dim `Axis`, or "?".
std::string dimText(Value V, int64_t Axis) {
  auto Type = dyn_cast<RankedTensorType>(V.getType());
  if (!Type)
    return "?";
  if (!Type.isDynamicDim(Axis))
    return std::to_string(Type.getDimSize(Axis));
  auto Known = dyn_cast_or_null<onnx::DimsAttr>(Type.getEncoding());
  return Known ? Known.getExprs()[Axis].str() : "?";
}

/// Keys that an integer mask lets through, as bools that broadcast to
/// [B, N, S, T]; fails for forms that are not known.
LogicalResult visibleOf(Operation *Op, OpMaker &M, Value Mask, Value Batch,
                        Value Seq, Value Keys, Value &Out) {
  auto NotZero = [&](Value V) { return M.cast(V, M.Builder.getI1Type()); };
  switch (staticRank(Mask)) {
  case 1: { // the number of keys of each row
    if (dimText(Mask, 0) != dimText(Batch, 0) || dimText(Mask, 0) == "?")
      return Op->emitError("a mask of ")
             << dimText(Mask, 0) << " numbers is not supported, expected one "
             << "length per row of the batch (" << dimText(Batch, 0) << ")";
    Value Count =
        M.reshape(M.cast(Mask, M.Builder.getI64Type()), {-1, 1, 1, 1});
    Out = M.compare("less", M.range(Keys), Count);
    return success();
  }
  case 2:
    Out = M.unsqueeze(NotZero(Mask), {1, 2});
    return success();
  case 3:
    Out = M.unsqueeze(NotZero(Mask), {1});
    return success();
  case 4: { // [B, 1, M, M]: rows of the last queries, columns of the first keys
    Value From = M.reshape(M.sub(Keys, Seq), {1}), To = M.reshape(Keys, {1});
    Value Rows = M.op("slice", {Mask, From, To, M.ints({2}), M.ints({1})});
    Value Cols =
        M.op("slice", {Rows, M.ints({0}), To, M.ints({3}), M.ints({1})});
    Out = NotZero(Cols);
    return success();
  }
  default:
    return Op->emitError("a mask of rank ")
           << staticRank(Mask) << " is not supported";
  }
}

/// [B, N, S, size] in f32; the caches in K and V of A.
LogicalResult multiHead(Operation *Op, OpMaker &M, MultiHead &A, Value Batch,
                        Value Seq, Value &Out) {
  Value Past = M.integer(0);
  if (A.PastK) {
    Past = M.dim(A.PastK, 2);
    Type Kept = getElementTypeOrSelf(A.PastK.getType());
    A.K = M.concat({A.PastK, M.cast(A.K, Kept)}, 2);
    A.V = M.concat({A.PastV, M.cast(A.V, Kept)}, 2);
  }
  Value Keys = M.dim(A.K, 2);
  HeadAttention H;
  H.Q = A.Q;
  H.K = A.K;
  H.V = A.V;
  H.Heads = H.KvHeads = A.Heads;
  H.Scale = A.Scale != 0 ? A.Scale : 1 / std::sqrt(double(A.Dim));
  H.Bias = A.Bias;
  if (A.Unidirectional)
    H.Visible = visibleKeys(M, Past, Seq, Keys, -1, 0);
  if (A.Mask) {
    Value Seen;
    if (failed(visibleOf(Op, M, A.Mask, Batch, Seq, Keys, Seen)))
      return failure();
    // Hidden keys get the filter value added, not minus infinity.
    Type F32 = M.Builder.getF32Type();
    Value Low =
        M.op("where", {Seen, M.real(F32, 0), M.real(F32, A.Filter)}, {}, F32);
    H.Bias = H.Bias ? M.add(M.toF32(H.Bias), Low) : Low;
  }
  Out = attend(M, H);
  return success();
}

/// Part I of the bias of three projections side by side, added to rows.
Value biased(OpMaker &M, Value Rows, Value Bias, int64_t Begin, int64_t Size) {
  return Bias ? M.add(Rows, M.slice(Bias, 0, Begin, Begin + Size)) : Rows;
}

/// Heads of rows whose width is known although their type is not inferred yet.
Value headsOf(OpMaker &M, Value Rows, int64_t Heads, int64_t Dim) {
  return M.transpose(M.reshape(Rows, {0, 0, Heads, Dim}), {0, 2, 1, 3});
}

/// Slice `I` of axis `Axis` without that axis.
Value part(OpMaker &M, Value X, int64_t I, int64_t Axis) {
  return M.gather(X, M.integer(I), Axis);
}

/// Operands of the two multi-head ops in all packings.
LogicalResult readHeads(Operation *Op, OpMaker &M, MultiHead &A, Value Query,
                        Value Key, Value Val, Value Bias) {
  int64_t N = A.Heads, Width = staticDim(Query, -1);
  if (N < 1 || Width < 1)
    return Op->emitError("the query has no static width");
  if (staticRank(Query) == 5) { // [B, S, N, 3, H]
    A.Dim = Width;
    Value Rows[3];
    for (int64_t I = 0; I < 3; ++I) {
      Rows[I] = M.reshape(part(M, Query, I, 3), {0, 0, N * A.Dim});
      Rows[I] = headsOf(M, biased(M, Rows[I], Bias, I * N * A.Dim, N * A.Dim),
                        N, A.Dim);
    }
    std::tie(A.Q, A.K, A.V) = std::tie(Rows[0], Rows[1], Rows[2]);
    return success();
  }
  if (!Key)
    return Op->emitError("the op has neither keys nor a packed query");
  A.Dim = Width / N;
  int64_t VWidth = staticRank(Key) == 5   ? N * A.Dim
                   : staticRank(Val) == 4 ? N * staticDim(Val, -1)
                                          : staticDim(Val, -1);
  if (VWidth < 1)
    return Op->emitError("the value has no static width");
  A.Q = headsOf(M, biased(M, Query, Bias, 0, Width), N, A.Dim);
  if (staticRank(Key) == 5) { // [B, L, N, 2, H]
    Value Rows[2];
    for (int64_t I = 0; I < 2; ++I) {
      Rows[I] = M.reshape(part(M, Key, I, 3), {0, 0, Width});
      Rows[I] = headsOf(M, biased(M, Rows[I], Bias, (I + 1) * Width, Width), N,
                        A.Dim);
    }
    std::tie(A.K, A.V) = std::tie(Rows[0], Rows[1]);
    return success();
  }
  if (staticRank(Key) == 4) { // heads of an encoder
    A.K = Key;
    A.V = Val;
    return success();
  }
  A.K = headsOf(M, biased(M, Key, Bias, Width, Width), N, A.Dim);
  A.V = headsOf(M, biased(M, Val, Bias, 2 * Width, VWidth), N, VWidth / N);
  return success();
}

/// The rest of both multi-head ops.
template <typename OpTy>
LogicalResult finish(OpTy Op, OpMaker &M, MultiHead &A) {
  if (!Op.getQk().use_empty())
    return Op.emitError("the output qk is not supported");
  if (present(Op.getCacheIndirection()))
    return Op.emitError("cache_indirection (beams) is not supported");
  A.Scale = Op.getScale().convertToFloat();
  A.Filter = Op.getMaskFilterValue().convertToFloat();
  A.Bias = present(Op.getAttentionBias());
  if (Value Past = present(Op.getPastKey())) {
    A.PastK = growingCache(Past, 2, A.Dim);
    A.PastV =
        growingCache(Op.getPastValue(), 2, staticDim(Op.getPastValue(), -1));
  }
  Value Out, Query = Op.getQuery();
  if (failed(multiHead(Op, M, A, Query, M.dim(Query, 1), Out)))
    return failure();
  Type Element = getElementTypeOrSelf(Query.getType());
  Op.getOutput().replaceAllUsesWith(M.cast(mergeHeads(M, Out), Element));
  Op.getPresentKey().replaceAllUsesWith(A.K);
  Op.getPresentValue().replaceAllUsesWith(A.V);
  return success();
}
} // namespace

LogicalResult expand(onnx::MsMultiHeadAttentionOp Op) {
  OpMaker M(Op);
  MultiHead A;
  A.Heads = Op.getNumHeads();
  A.Unidirectional = Op.getUnidirectional() != 0;
  A.Mask = present(Op.getKeyPaddingMask());
  if (failed(readHeads(Op, M, A, Op.getQuery(), present(Op.getKey()),
                       present(Op.getValue()), present(Op.getBias()))))
    return failure();
  return finish(Op, M, A);
}

LogicalResult expand(onnx::MsDecoderMaskedMultiHeadAttentionOp Op) {
  OpMaker M(Op);
  MultiHead A;
  A.Heads = Op.getNumHeads();
  A.Mask = present(Op.getMaskIndex());
  if (failed(readHeads(Op, M, A, Op.getQuery(), present(Op.getKey()),
                       present(Op.getValue()), present(Op.getBias()))))
    return failure();
  return finish(Op, M, A);
}

LogicalResult expand(onnx::MsAttentionOp Op) {
  if (Op.getDoRotary())
    return Op.emitError("do_rotary is not supported");
  OpMaker M(Op);
  MultiHead A;
  A.Heads = Op.getNumHeads();
  int64_t Columns = staticDim(Op.getWeights(), -1);
  SmallVector<int64_t> Sizes(3, Columns / 3);
  if (Op.getQkvHiddenSizes())
    Sizes.assign(Op.getQkvHiddenSizes()->begin(),
                 Op.getQkvHiddenSizes()->end());
  if (Columns < 3 || Sizes.size() != 3 || A.Heads < 1)
    return Op.emitError("the weights have no static number of columns");
  Value Rows = M.op("mat_mul", {Op.getInput(), Op.getWeights()});
  if (Value Bias = present(Op.getBias()))
    Rows = M.add(Rows, Bias);
  Value Parts[3];
  int64_t Begin = 0;
  for (int64_t I = 0; I < 3; ++I) {
    Parts[I] = headsOf(M, M.slice(Rows, -1, Begin, Begin + Sizes[size_t(I)]),
                       A.Heads, Sizes[size_t(I)] / A.Heads);
    Begin += Sizes[size_t(I)];
  }
  std::tie(A.Q, A.K, A.V) = std::tie(Parts[0], Parts[1], Parts[2]);
  A.Dim = Sizes[0] / A.Heads;
  A.Unidirectional = Op.getUnidirectional() != 0;
  A.Scale = Op.getScale().convertToFloat();
  A.Filter = Op.getMaskFilterValue().convertToFloat();
  A.Mask = present(Op.getMaskIndex());
  A.Bias = present(Op.getAttentionBias());
  if (Value Past = present(Op.getPast())) {
    Past = growingCache(Past, 3, A.Dim);
    A.PastK = part(M, Past, 0, 0);
    A.PastV = part(M, Past, 1, 0);
  }
  Value Out;
  if (failed(multiHead(Op, M, A, Op.getInput(), M.dim(Op.getInput(), 1), Out)))
    return failure();
  Type Element = getElementTypeOrSelf(Op.getInput().getType());
  Op.getOutput().replaceAllUsesWith(M.cast(mergeHeads(M, Out), Element));
  if (!Op.getPresent().use_empty())
    Op.getPresent().replaceAllUsesWith(
        M.concat({M.unsqueeze(A.K, {0}), M.unsqueeze(A.V, {0})}, 0));
  return success();
}
} // namespace llmc
