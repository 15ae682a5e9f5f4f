// GroupQueryAttention, SparseAttention and PagedAttention of com.microsoft in
// primitive form, over a cache that grows: past rows, then the new ones. What
// the file says of buffers (seqlens_k, shared buffers, block tables) describes
// how its caller keeps the cache and has no meaning here. The codes of
// quantised caches have one: new rows are rounded to what the codes can say, in
// whatever type the cache is kept.
#include "passes/import/FusedOps.h"

#include <cmath>

using namespace mlir;

namespace llmc {
namespace {

/// What both ops say in the same way.
struct Grouped {
  int64_t Heads = 0, KvHeads = 0, Dim = 0, VDim = 0, Window = -1;
  double Scale = 0, Softcap = 0, NormEpsilonQ = 0, NormEpsilonK = 0;
  bool Causal = true, Rotary = false, Interleaved = false;
  Value Q, K, V;             ///< rows [B, S, heads * dim]
  Value PastK, PastV;        ///< [B, KV, P, dim], or null
  Value Cos, Sin, Positions; ///< null: past + index
  Value QNorm, KNorm, Bias, Sinks;
  Value KScale, VScale; ///< of a quantised cache, [1] or [KV * dim]; null: none
  int64_t CacheBits = 8;
  Value Rows, Columns; ///< of blocks that are visible, [L, n + 1] and [L, nnz]
  int64_t Block = 0;   ///< tokens of a block
};

Value present(Value V) { return onnx::isNone(V) ? Value() : V; }

/// [B, S, (N + 2 KV) H] taken apart where key and value are absent.
LogicalResult takeApart(Operation *Op, OpMaker &M, Grouped &G, Value Query,
                        Value Key, Value Value_) {
  int64_t Width = staticDim(Query, -1);
  if (G.Heads < 1 || G.KvHeads < 1 || Width < 1)
    return Op->emitError("the query has no static width");
  G.Q = Query;
  if (Key) {
    G.Dim = Width / G.Heads;
    G.VDim = staticDim(Value_, -1) / G.KvHeads;
    G.K = Key;
    G.V = Value_;
    if ((staticDim(G.K, 1) == 0) != (staticDim(G.V, 1) == 0))
      return Op->emitError(
          "keys or values have no rows, expected both or none");
    return success();
  }
  G.Dim = G.VDim = Width / (G.Heads + 2 * G.KvHeads);
  int64_t QEnd = G.Heads * G.Dim, KEnd = QEnd + G.KvHeads * G.Dim;
  G.Q = M.slice(Query, -1, 0, QEnd);
  G.K = M.slice(Query, -1, QEnd, KEnd);
  G.V = M.slice(Query, -1, KEnd, Width);
  return success();
}

/// Rows as [B, S, heads, dim], normed if there is a weight, then heads first.
Value heads(OpMaker &M, Value Rows, int64_t Heads, int64_t Dim, Value Norm,
            double Epsilon) {
  Value X = M.reshape(Rows, {0, 0, Heads, Dim});
  if (Norm)
    X = M.op("rms_normalization", {X, Norm},
             {M.attr("axis", int64_t(-1)), M.attr("epsilon", float(Epsilon))});
  X = M.transpose(X, {0, 2, 1, 3});
  X.setType(RankedTensorType::get(
      {ShapedType::kDynamic, Heads, ShapedType::kDynamic, Dim},
      getElementTypeOrSelf(Rows.getType())));
  return X;
}

/// Heads [B, KV, S, H] rounded to codes of signed integers and back.
Value rounded(OpMaker &M, const Grouped &G, Value X, Value Scale, int64_t Heads,
              int64_t Dim) {
  if (!Scale)
    return X;
  Type Element = getElementTypeOrSelf(X.getType()),
       F32 = M.Builder.getF32Type();
  Type Shape = X.getType();
  Value S = M.cast(Scale, F32);
  if (cast<RankedTensorType>(Scale.getType()).getNumElements() != 1)
    S = M.reshape(S, {1, Heads, 1, Dim});
  double Low = -std::ldexp(1.0, int(G.CacheBits) - 1);
  Value Codes = M.op("round", {M.op("div", {M.cast(X, F32), S})});
  Codes = M.op("clip", {Codes, M.real(F32, Low), M.real(F32, -Low - 1)});
  Value Out = M.cast(M.op("mul", {Codes, S}), Element);
  Out.setType(Shape);
  return Out;
}

/// Bools [1, N or 1, S, T]: whether the block of a query lists that of a key.
/// Head h has the list h % L.
Value visibleBlocks(OpMaker &M, const Grouped &G, Value Past, Value Seq,
                    Value Keys) {
  Type I64 = M.Builder.getI64Type();
  int64_t Lists = staticDim(G.Rows, 0), Blocks = staticDim(G.Rows, 1) - 1;
  Value Rows = M.cast(G.Rows, I64), Columns = M.cast(G.Columns, I64);
  // Entry i is of row r when it lies between the ends of r - 1 and r.
  Value Entry = M.range(M.integer(staticDim(G.Columns, 1)));
  Value First = M.unsqueeze(M.slice(Rows, 1, 0, Blocks), {2});
  Value End = M.unsqueeze(M.slice(Rows, 1, 1, Blocks + 1), {2});
  Value OfRow = M.both(M.compare("greater_or_equal", Entry, First),
                       M.compare("less", Entry, End));
  Value OfColumn =
      M.compare("equal", M.unsqueeze(Columns, {2}), M.range(M.integer(Blocks)));
  Value Listed =
      M.compare("greater", M.op("mat_mul", {M.toF32(OfRow), M.toF32(OfColumn)}),
                M.real(M.Builder.getF32Type(), 0.5));
  auto BlockOf = [&](Value Position) {
    return M.op("div", {Position, M.integer(G.Block)});
  };
  Value Out = M.gather(Listed, BlockOf(M.add(Past, M.range(Seq))), 1);
  Out = M.gather(Out, BlockOf(M.range(Keys)), 2);
  if (Lists > 1) {
    SmallVector<int64_t> OfHead;
    for (int64_t H = 0; H < G.Heads; ++H)
      OfHead.push_back(H % Lists);
    Out = M.gather(Out, M.ints(OfHead), 0);
  }
  return M.unsqueeze(Out, {0});
}

/// Rows [B, S, N * VDim] in the query's type; the caches with the new rows in
/// PresentK and PresentV, in the type that the past has.
Value grouped(OpMaker &M, Grouped &G, Value &PresentK, Value &PresentV) {
  Type Element = getElementTypeOrSelf(G.Q.getType());
  Value Q = heads(M, G.Q, G.Heads, G.Dim, G.QNorm, G.NormEpsilonQ);
  Value K = heads(M, G.K, G.KvHeads, G.Dim, G.KNorm, G.NormEpsilonK);
  Value V = heads(M, G.V, G.KvHeads, G.VDim, {}, 0);
  Value Seq = M.dim(G.Q, 1);
  Value Past = G.PastK ? M.dim(G.PastK, 2) : M.integer(0);
  // Without new keys the cache is that of a layer before, with this step's.
  bool Shared = G.PastK && staticDim(G.K, 1) == 0;
  if (Shared)
    Past = M.sub(Past, Seq);
  if (G.Rotary) {
    Value At = G.Positions;
    if (!At) {
      At = M.add(Past, M.range(Seq));
      At.setType(RankedTensorType::get({ShapedType::kDynamic},
                                       M.Builder.getI64Type()));
    }
    Q = rotate(M, Q, G.Cos, G.Sin, At, 0, G.Interleaved);
    if (!Shared)
      K = rotate(M, K, G.Cos, G.Sin, At, 0, G.Interleaved);
  }
  K = rounded(M, G, K, G.KScale, G.KvHeads, G.Dim);
  V = rounded(M, G, V, G.VScale, G.KvHeads, G.VDim);
  if (Shared) {
    K = G.PastK;
    V = G.PastV;
  } else if (G.PastK) {
    Type Kept = getElementTypeOrSelf(G.PastK.getType());
    K = M.concat({G.PastK, M.cast(K, Kept)}, 2);
    V = M.concat({G.PastV, M.cast(V, Kept)}, 2);
  }
  PresentK = K;
  PresentV = V;
  HeadAttention A;
  A.Q = Q;
  A.K = K;
  A.V = V;
  A.Heads = G.Heads;
  A.KvHeads = G.KvHeads;
  A.Scale = G.Scale != 0 ? G.Scale : 1 / std::sqrt(double(G.Dim));
  A.Softcap = G.Softcap;
  A.Bias = G.Bias;
  A.Sinks = G.Sinks;
  A.Visible = visibleKeys(M, Past, Seq, M.dim(K, 2),
                          G.Window > 0 ? G.Window - 1 : -1, G.Causal ? 0 : -1);
  if (G.Rows)
    A.Visible = M.both(A.Visible, visibleBlocks(M, G, Past, Seq, M.dim(K, 2)));
  return M.cast(mergeHeads(M, attend(M, A)), Element);
}

/// The rotation inside of an op.
template <typename OpTy> LogicalResult readRotary(OpTy Op, Grouped &G) {
  G.Rotary = Op.getDoRotary() != 0;
  G.Interleaved = Op.getRotaryInterleaved() != 0;
  G.Cos = present(Op.getCosCache());
  G.Sin = present(Op.getSinCache());
  if (G.Rotary && (!G.Cos || staticDim(G.Cos, -1) < 1))
    return Op.emitError("do_rotary needs tables of a known width");
  return success();
}

/// Attributes and inputs of the same names.
template <typename OpTy> LogicalResult readShared(OpTy Op, Grouped &G) {
  G.Window = Op.getLocalWindowSize();
  G.Scale = Op.getScale().convertToFloat();
  G.Softcap = Op.getSoftcap().convertToFloat();
  if (failed(readRotary(Op, G)))
    return failure();
  G.Sinks = present(Op.getHeadSink());
  G.QNorm = present(Op.getQNormWeight());
  G.KNorm = present(Op.getKNormWeight());
  G.NormEpsilonQ = G.NormEpsilonK = Op.getQkNormEpsilon().convertToFloat();
  return success();
}

/// The scales of a cache of integers; one of small floats stays exact.
template <typename OpTy>
LogicalResult readCacheForm(OpTy Op, Value Cache, int64_t Bits, Grouped &G) {
  G.CacheBits = Bits;
  if (Cache && isa<FloatType>(getElementTypeOrSelf(Cache.getType())))
    return success();
  const auto Read = [&](StringRef Kind, Value Scale, StringRef Name,
                        int64_t Dim, Value &Out) -> LogicalResult {
    if (Kind == "NONE")
      return success();
    if (Bits != 4 && Bits != 8)
      return Op.emitError("the cache has codes of ")
             << Bits << " bits, expected 4 or 8";
    auto Type = Scale ? dyn_cast<RankedTensorType>(Scale.getType())
                      : RankedTensorType();
    int64_t Want = Kind == "PER_CHANNEL" ? G.KvHeads * Dim : 1;
    int64_t Have =
        Type && Type.hasStaticShape() ? Type.getNumElements() : int64_t(0);
    if (Have != Want)
      return Op.emitError(Name)
             << " has " << Have << " elements, expected " << Want
             << " for a cache quantised " << Kind.lower();
    Out = Scale;
    return success();
  };
  if (failed(Read(Op.getKQuantType(), present(Op.getKScale()), "k_scale", G.Dim,
                  G.KScale)))
    return failure();
  return Read(Op.getVQuantType(), present(Op.getVScale()), "v_scale", G.VDim,
              G.VScale);
}

Value zeroSinks(OpMaker &M, int64_t Heads) {
  auto Type = RankedTensorType::get({Heads}, M.Builder.getF32Type());
  return onnx::ConstantOp::create(M.Builder, M.Loc, Type,
                                  DenseElementsAttr::get(Type, 0.0f));
}
} // namespace

LogicalResult expand(onnx::MsGroupQueryAttentionOp Op) {
  if (!Op.getOutputQk().use_empty())
    return Op.emitError("the output qk is not supported");
  if (present(Op.getQuerySeqlens()))
    return Op.emitError("query_seqlens is not supported");
  OpMaker M(Op);
  Grouped G;
  G.Heads = Op.getNumHeads();
  G.KvHeads = Op.getKvNumHeads();
  if (failed(takeApart(Op, M, G, Op.getQuery(), present(Op.getKey()),
                       present(Op.getValue()))))
    return failure();
  if (failed(readShared(Op, G)) ||
      failed(readCacheForm(Op, present(Op.getPastKey()),
                           Op.getKvCacheBitWidth(), G)))
    return failure();
  G.Causal = Op.getCausal() != 0;
  G.Positions = present(Op.getPositionIds());
  G.Bias = present(Op.getAttentionBias());
  if (!G.Sinks && Op.getSmoothSoftmax() == 1)
    G.Sinks = zeroSinks(M, G.Heads);
  if (Op.getQNormEpsilon())
    G.NormEpsilonQ = Op.getQNormEpsilon()->convertToFloat();
  if (Op.getKNormEpsilon())
    G.NormEpsilonK = Op.getKNormEpsilon()->convertToFloat();
  if (Value Past = present(Op.getPastKey())) {
    G.PastK = growingCache(Past, 2, G.Dim);
    G.PastV = growingCache(Op.getPastValue(), 2, G.VDim);
  }
  Value K, V, Out = grouped(M, G, K, V);
  Op.getOutput().replaceAllUsesWith(Out);
  Op.getPresentKey().replaceAllUsesWith(K);
  Op.getPresentValue().replaceAllUsesWith(V);
  return success();
}

LogicalResult expand(onnx::MsSparseAttentionOp Op) {
  OpMaker M(Op);
  Grouped G;
  G.Heads = Op.getNumHeads();
  G.KvHeads = Op.getKvNumHeads();
  if (failed(takeApart(Op, M, G, Op.getQuery(), present(Op.getKey()),
                       present(Op.getValue()))))
    return failure();
  G.Scale = Op.getScale().convertToFloat();
  if (failed(readRotary(Op, G)))
    return failure();
  G.Rows = Op.getBlockRowIndices();
  G.Columns = Op.getBlockColIndices();
  G.Block = Op.getSparseBlockSize();
  if (staticRank(G.Rows) != 2 || staticRank(G.Columns) != 2 ||
      staticDim(G.Rows, 0) < 1 || staticDim(G.Rows, 1) < 2 ||
      staticDim(G.Columns, 1) < 1 || G.Block < 1)
    return Op.emitError("the lists of visible blocks have no static size");
  G.PastK = growingCache(Op.getPastKey(), 2, G.Dim);
  G.PastV = growingCache(Op.getPastValue(), 2, G.VDim);
  Value K, V, Out = grouped(M, G, K, V);
  Op.getOutput().replaceAllUsesWith(Out);
  Op.getPresentKey().replaceAllUsesWith(K);
  Op.getPresentValue().replaceAllUsesWith(V);
  return success();
}

/// Tokens of one sequence: the rows of the batch are the caller's business.
LogicalResult expand(onnx::MsPagedAttentionOp Op) {
  OpMaker M(Op);
  Grouped G;
  G.Heads = Op.getNumHeads();
  G.KvHeads = Op.getKvNumHeads();
  auto Batched = [&](Value V) {
    if (!V || staticRank(V) != 2)
      return V;
    int64_t Width = staticDim(V, -1);
    Value Out = M.reshape(V, {1, -1, Width});
    Out.setType(RankedTensorType::get({1, ShapedType::kDynamic, Width},
                                      getElementTypeOrSelf(V.getType())));
    return Out;
  };
  if (Op.getKvCacheLayout() != "SEPARATE" || Op.getRotaryOffset() != 0)
    return Op.emitError("a joint cache or a rotary_offset is not supported");
  // How many blocks a caller has set aside says nothing of the sequence.
  for (Operation *User : Op.getBlockTable().getUsers())
    if (isa<onnx::ShapeOp>(User) && !User->use_empty())
      return Op.emitError("the graph uses the dims of block_table, which are "
                          "the caller's and not the sequence's");
  if (failed(takeApart(Op, M, G, Batched(Op.getQuery()),
                       Batched(present(Op.getKey())),
                       Batched(present(Op.getValue())))))
    return failure();
  if (failed(readShared(Op, G)) ||
      failed(readCacheForm(Op, Op.getKeyCache(),
                           Op.getKCacheDtype().contains("4") ? 4 : 8, G)))
    return failure();
  G.Causal = Op.getIsCausal() != 0;
  // Blocks [blocks, size, KV, H] become the past of one sequence.
  auto Rows = [&](Value Cache, int64_t Dim) -> Value {
    auto Arg = dyn_cast<BlockArgument>(Cache);
    auto Func = Arg ? dyn_cast<func::FuncOp>(Arg.getOwner()->getParentOp())
                    : func::FuncOp();
    if (!Func)
      return {};
    MLIRContext *Context = Op.getContext();
    SmallVector<StringAttr> Dims;
    for (const std::string &Text :
         {std::string("1"), std::to_string(G.KvHeads),
          std::string("past_sequence_length"), std::to_string(Dim)})
      Dims.push_back(StringAttr::get(Context, Text));
    Type Element = getElementTypeOrSelf(Cache.getType());
    if (!isa<FloatType>(Element) || Element.getIntOrFloatBitWidth() < 16)
      Element = Float32Type::get(Context);
    auto New =
        RankedTensorType::get({1, G.KvHeads, ShapedType::kDynamic, Dim},
                              Element, onnx::DimsAttr::get(Context, Dims));
    Arg.setType(New);
    SmallVector<Type> Inputs(Func.getArgumentTypes());
    Inputs[Arg.getArgNumber()] = New;
    Func.setFunctionType(
        FunctionType::get(Context, Inputs, Func.getResultTypes()));
    return Cache;
  };
  G.PastK = Rows(Op.getKeyCache(), G.Dim);
  G.PastV = Rows(Op.getValueCache(), G.VDim);
  if (!G.PastK || !G.PastV)
    return Op.emitError("the caches are no inputs of the graph");
  Value K, V, Out = grouped(M, G, K, V);
  if (staticRank(Op.getQuery()) == 2)
    Out = M.reshape(Out, {-1, G.Heads * G.VDim});
  Op.getOutput().replaceAllUsesWith(Out);
  Op.getKeyCacheOut().replaceAllUsesWith(K);
  Op.getValueCacheOut().replaceAllUsesWith(V);
  return success();
}
} // namespace llmc
