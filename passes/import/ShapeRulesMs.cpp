// Shape rules of the com.microsoft ops.
#include "dialects/onnx/Onnx.h"
#include "passes/import/ShapeRules.h"

using namespace mlir;

namespace llmc {

/// A result that is like operand `I`.
static void like(RuleCall &C, size_t Result, unsigned I) {
  C.Out[Result].Element = C.in(I).Element;
  if (C.in(I).Ranked)
    C.Out[Result].setShape(C.in(I).Shape);
}

static void sameAsFirst(RuleCall &C) { like(C, 0, 0); }

static DimExpr number(int64_t N) { return DimExpr(N); }

/// The element of an operand of one integer, e.g. a total length.
static Dim elementOf(RuleCall &C, unsigned I) {
  const ValueInfo &V = C.in(I);
  return V.HasData && V.Data.size() == 1 ? V.Data.front() : Dim();
}

//===----------------------------------------------------------------------===//
// Attention
//===----------------------------------------------------------------------===//

/// A head of the query and of the value, where q, k, v are [.., heads * H] and
/// key and value may be absent because the query holds all three.
struct HeadSizes {
  Dim Key, Value;
};

static HeadSizes headSizes(RuleCall &C, int64_t Heads, int64_t KvHeads) {
  const ValueInfo &Q = C.in(0), &V = C.in(2);
  if (!Q.Ranked || Q.rank() == 0)
    return {};
  if (C.absent(1)) {
    Dim H = divideExactly(Q.Shape.back(), number(Heads + 2 * KvHeads));
    return {H, H};
  }
  Dim H = divideExactly(Q.Shape.back(), number(Heads));
  if (!V.Ranked || V.rank() == 0)
    return {H, H};
  return {H, divideExactly(V.Shape.back(), number(KvHeads))};
}

/// [.., N * Hv] with the leading dims of the query.
static void attentionOutput(RuleCall &C, int64_t Heads, const Dim &H) {
  if (!C.in(0).Ranked || C.in(0).rank() == 0)
    return;
  DimList Shape = C.in(0).Shape;
  Shape.back() = mul(number(Heads), H);
  C.out().setShape(std::move(Shape));
}

/// A presented cache: like the past, with max(past, total) rows.
static void presentCache(RuleCall &C, size_t Result, unsigned Past,
                         unsigned TotalOperand, int64_t KvHeads, const Dim &H) {
  const ValueInfo &P = C.in(Past);
  Dim Total = elementOf(C, TotalOperand);
  C.Out[Result].Element = C.absent(Past) ? C.in(0).Element : P.Element;
  if (P.Ranked && P.rank() == 4) {
    DimList Shape = P.Shape;
    Shape[2] =
        provablyEqual(Shape[2], Total) ? Total : maximum(Shape[2], Total);
    C.Out[Result].setShape(std::move(Shape));
  } else if (C.absent(Past) && C.in(0).Ranked && C.in(0).rank() == 3) {
    C.Out[Result].setShape({C.in(0).Shape[0], number(KvHeads), Total, H});
  }
}

static void groupQueryAttention(RuleCall &C) {
  int64_t Heads = C.attr("num_heads", 1), Kv = C.attr("kv_num_heads", 1);
  HeadSizes H = headSizes(C, Heads, Kv);
  attentionOutput(C, Heads, H.Value);
  presentCache(C, 1, 3, 6, Kv, H.Key);
  presentCache(C, 2, 4, 6, Kv, H.Value);
  if (C.in(0).Ranked && C.in(0).rank() == 3)
    C.Out[3].setShape(
        {C.in(0).Shape[0], number(Heads), C.in(0).Shape[1], elementOf(C, 6)});
}

static void sparseAttention(RuleCall &C) {
  int64_t Heads = C.attr("num_heads", 1), Kv = C.attr("kv_num_heads", 1);
  HeadSizes H = headSizes(C, Heads, Kv);
  attentionOutput(C, Heads, H.Value);
  presentCache(C, 1, 3, 7, Kv, H.Key);
  presentCache(C, 2, 4, 7, Kv, H.Value);
}

static void pagedAttention(RuleCall &C) {
  int64_t Heads = C.attr("num_heads", 1);
  attentionOutput(C, Heads,
                  headSizes(C, Heads, C.attr("kv_num_heads", 1)).Value);
  like(C, 1, 3);
  like(C, 2, 4);
}

/// Batch, length and head size of the keys or values of multi-head attention.
struct KeyShape {
  Dim Batch, Length, Head;
};

static KeyShape keyShape(RuleCall &C, unsigned I, int64_t Heads) {
  const ValueInfo &Q = C.in(0), &K = C.in(I);
  if (C.absent(1) && Q.Ranked && Q.rank() == 5) // all in the query
    return {Q.Shape[0], Q.Shape[1], Q.Shape[4]};
  const ValueInfo &V = C.absent(I) ? C.in(1) : K;
  if (!V.Ranked)
    return {};
  if (V.rank() == 3)
    return {V.Shape[0], V.Shape[1], divideExactly(V.Shape[2], number(Heads))};
  if (V.rank() == 5) // keys and values side by side
    return {V.Shape[0], V.Shape[1], V.Shape[4]};
  if (V.rank() == 4)
    return {V.Shape[0], V.Shape[2], V.Shape[3]};
  return {};
}

/// Of multi-head attention and its form for one token; they differ in the
/// places of the caches.
template <unsigned PastKey> static void multiHeadAttention(RuleCall &C) {
  int64_t Heads = C.attr("num_heads", 1);
  KeyShape K = keyShape(C, 1, Heads), V = keyShape(C, 2, Heads);
  const ValueInfo &Q = C.in(0);
  if (Q.Ranked && Q.rank() >= 3)
    C.out().setShape({Q.Shape[0], Q.Shape[1], mul(number(Heads), V.Head)});
  for (auto [Result, Past, Own] :
       {std::tuple(1, PastKey, K), std::tuple(2, PastKey + 1, V)}) {
    size_t R = static_cast<size_t>(Result);
    const ValueInfo &P = C.in(Past);
    bool Shared = C.attr("past_present_share_buffer", 0) != 0 ||
                  (!C.absent(8) && PastKey == 6);
    if (P.Ranked && P.rank() == 4)
      C.Out[R].setShape({P.Shape[0], P.Shape[1],
                         Shared ? P.Shape[2] : add(P.Shape[2], Own.Length),
                         P.Shape[3]});
    else if (C.absent(Past) && Q.Ranked)
      C.Out[R].setShape({Own.Batch, number(Heads), Own.Length, Own.Head});
  }
}

static void attention(RuleCall &C) {
  const ValueInfo &X = C.in(0), &W = C.in(1), &P = C.in(4);
  if (!X.Ranked || X.rank() != 3 || !W.Ranked || W.rank() != 2)
    return;
  int64_t Heads = C.attr("num_heads", 1);
  Dim Key = divideExactly(W.Shape[1], number(3)), Hidden = Key;
  if (DenseI64ArrayAttr Sizes =
          C.Op->getAttrOfType<DenseI64ArrayAttr>("qkv_hidden_sizes");
      Sizes && Sizes.size() == 3) {
    Key = number(Sizes[1]);
    Hidden = number(Sizes[2]);
  }
  C.out().setShape({X.Shape[0], X.Shape[1], Hidden});
  Dim Rows = X.Shape[1];
  if (!C.absent(4)) {
    Dim Past = P.Ranked && P.rank() == 5 ? P.Shape[3] : Dim();
    Rows = C.attr("past_present_share_buffer", 0) ? Past : add(Past, Rows);
  }
  C.Out[1].setShape({number(2), X.Shape[0], number(Heads), Rows,
                     divideExactly(Key, number(Heads))});
}

static void gemmaRotary(RuleCall &C) {
  like(C, 0, 1);
  like(C, 1, 3);
}

//===----------------------------------------------------------------------===//
// Products and tables
//===----------------------------------------------------------------------===//

/// Operand of FusedMatMul after its transpositions.
static DimList transposed(DimList D, bool Batch, bool Matrix) {
  if (Batch && D.size() >= 3) // the first dim moves next to last
    std::rotate(D.begin(), D.begin() + 1, D.end() - 1);
  if (Matrix && D.size() >= 2)
    std::swap(D[D.size() - 1], D[D.size() - 2]);
  return D;
}

static void fusedMatMul(RuleCall &C) {
  if (!C.in(0).Ranked || !C.in(1).Ranked)
    return;
  ValueInfo A = C.in(0), B = C.in(1);
  A.setShape(
      transposed(A.Shape, C.attr("transBatchA", 0), C.attr("transA", 0)));
  B.setShape(
      transposed(B.Shape, C.attr("transBatchB", 0), C.attr("transB", 0)));
  RuleCall Product{C.Op, {&A, &B}, {C.out()}};
  ruleOf("onnx.mat_mul")(Product);
  C.out() = std::move(Product.out());
}

/// [.., K] times the transpose of [N, K].
static void rowsOfWeight(RuleCall &C, const Dim &N) {
  const ValueInfo &A = C.in(0);
  if (!A.Ranked || A.rank() == 0)
    return;
  DimList Shape = A.Shape;
  Shape.back() = N;
  C.out().setShape(std::move(Shape));
}

static void matMulNBits(RuleCall &C) {
  rowsOfWeight(C, number(C.attr("N", 0)));
}

static void matMulBnb4(RuleCall &C) {
  rowsOfWeight(C, number(C.attr(C.attr("transB", 1) ? "N" : "K", 0)));
}

static void matMulFp8(RuleCall &C) {
  if (C.in(1).Ranked && C.in(1).rank() == 2)
    rowsOfWeight(C, C.in(1).Shape[0]);
}

static void gatherBlockQuantized(RuleCall &C) {
  C.out().Element = C.in(2).Element;
  const ValueInfo &Data = C.in(0), &Index = C.in(1);
  if (!Data.Ranked || !Index.Ranked || Data.rank() == 0)
    return;
  std::optional<size_t> Axis = axisOf(C.attr("gather_axis", 0), Data.rank());
  if (!Axis)
    return;
  DimList Codes = Data.Shape;
  int64_t Bits = C.attr("bits", 4);
  if (Data.Element && Data.Element.isInteger(8) && Bits > 0 && Bits < 8)
    Codes.back() = mul(Codes.back(), number(8 / Bits));
  DimList Shape(Codes.begin(), Codes.begin() + static_cast<ptrdiff_t>(*Axis));
  Shape.append(Index.Shape.begin(), Index.Shape.end());
  Shape.append(Codes.begin() + static_cast<ptrdiff_t>(*Axis) + 1, Codes.end());
  C.out().setShape(std::move(Shape));
}

void addMsRules(RuleTable &T) {
  T["onnx.ms_group_query_attention"] = groupQueryAttention;
  T["onnx.ms_sparse_attention"] = sparseAttention;
  T["onnx.ms_paged_attention"] = pagedAttention;
  T["onnx.ms_multi_head_attention"] = multiHeadAttention<6>;
  T["onnx.ms_decoder_masked_multi_head_attention"] = multiHeadAttention<5>;
  T["onnx.ms_attention"] = attention;
  T["onnx.ms_gemma_rotary_embedding"] = gemmaRotary;
  T["onnx.ms_fused_mat_mul"] = fusedMatMul;
  T["onnx.ms_mat_mul_n_bits"] = matMulNBits;
  T["onnx.ms_mat_mul_bnb4"] = matMulBnb4;
  T["onnx.ms_mat_mul_block_quantized_fp8_weight"] = matMulFp8;
  T["onnx.ms_gather_block_quantized"] = gatherBlockQuantized;
  for (const char *Name :
       {"rotary_embedding", "m_rotary_embedding", "moe", "q_moe"})
    T[("onnx.ms_" + StringRef(Name)).str()] = sameAsFirst;
}

} // namespace llmc
