// GroupQueryAttention and PagedAttention of com.microsoft in primitive form,
// over a cache that grows: past rows, then the new ones. What the file says of
// buffers (seqlens_k, shared buffers, block tables, codes of quantised caches)
// describes how its caller keeps the cache and has no meaning here.
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

/// Rows [B, S, N * VDim] in the query's type; the caches with the new rows in
/// PresentK and PresentV, in the type that the past has.
Value grouped(OpMaker &M, Grouped &G, Value &PresentK, Value &PresentV) {
  Type Element = getElementTypeOrSelf(G.Q.getType());
  Value Q = heads(M, G.Q, G.Heads, G.Dim, G.QNorm, G.NormEpsilonQ);
  Value K = heads(M, G.K, G.KvHeads, G.Dim, G.KNorm, G.NormEpsilonK);
  Value V = heads(M, G.V, G.KvHeads, G.VDim, {}, 0);
  Value Seq = M.dim(G.Q, 1);
  Value Past = G.PastK ? M.dim(G.PastK, 2) : M.integer(0);
  if (G.Rotary) {
    Value At = G.Positions;
    if (!At) {
      At = M.add(Past, M.range(Seq));
      At.setType(RankedTensorType::get({ShapedType::kDynamic},
                                       M.Builder.getI64Type()));
    }
    Q = rotate(M, Q, G.Cos, G.Sin, At, 0, G.Interleaved);
    K = rotate(M, K, G.Cos, G.Sin, At, 0, G.Interleaved);
  }
  if (G.PastK) {
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
  return M.cast(mergeHeads(M, attend(M, A)), Element);
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
  G.Window = Op.getLocalWindowSize();
  G.Scale = Op.getScale().convertToFloat();
  G.Softcap = Op.getSoftcap().convertToFloat();
  G.Causal = Op.getCausal() != 0;
  G.Rotary = Op.getDoRotary() != 0;
  G.Interleaved = Op.getRotaryInterleaved() != 0;
  G.Cos = present(Op.getCosCache());
  G.Sin = present(Op.getSinCache());
  if (G.Rotary && (!G.Cos || staticDim(G.Cos, -1) < 1))
    return Op.emitError("do_rotary needs tables of a known width");
  G.Positions = present(Op.getPositionIds());
  G.Bias = present(Op.getAttentionBias());
  G.Sinks = present(Op.getHeadSink());
  if (!G.Sinks && Op.getSmoothSoftmax() == 1)
    G.Sinks = zeroSinks(M, G.Heads);
  G.QNorm = present(Op.getQNormWeight());
  G.KNorm = present(Op.getKNormWeight());
  double Epsilon = Op.getQkNormEpsilon().convertToFloat();
  G.NormEpsilonQ =
      Op.getQNormEpsilon() ? Op.getQNormEpsilon()->convertToFloat() : Epsilon;
  G.NormEpsilonK =
      Op.getKNormEpsilon() ? Op.getKNormEpsilon()->convertToFloat() : Epsilon;
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
  if (failed(takeApart(Op, M, G, Batched(Op.getQuery()),
                       Batched(present(Op.getKey())),
                       Batched(present(Op.getValue())))))
    return failure();
  G.Window = Op.getLocalWindowSize();
  G.Scale = Op.getScale().convertToFloat();
  G.Softcap = Op.getSoftcap().convertToFloat();
  G.Causal = Op.getIsCausal() != 0;
  G.Rotary = Op.getDoRotary() != 0;
  G.Interleaved = Op.getRotaryInterleaved() != 0;
  G.Cos = present(Op.getCosCache());
  G.Sin = present(Op.getSinCache());
  if (G.Rotary && (!G.Cos || staticDim(G.Cos, -1) < 1))
    return Op.emitError("do_rotary needs tables of a known width");
  G.Sinks = present(Op.getHeadSink());
  G.QNorm = present(Op.getQNormWeight());
  G.KNorm = present(Op.getKNormWeight());
  G.NormEpsilonQ = G.NormEpsilonK = Op.getQkNormEpsilon().convertToFloat();
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
