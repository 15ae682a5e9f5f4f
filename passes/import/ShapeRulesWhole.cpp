// Shape rules of ops that are more than a primitive: whole attention,
// quantisation, convolution, rarer norms and rearrangements.
#include "compiler/eval/Einsum.h"
#include "dialects/onnx/Onnx.h"
#include "passes/import/ShapeRules.h"

using namespace mlir;

namespace llmc {

static Dim unlessNegative(const Dim &D) {
  return D && D->lowerBound().value_or(-1) >= 0 ? D : Dim();
}

//===----------------------------------------------------------------------===//
// Quantisation
//===----------------------------------------------------------------------===//

static Type typeAttr(RuleCall &C, StringRef Name) {
  TypeAttr A = C.Op->getAttrOfType<TypeAttr>(Name);
  return A ? A.getValue() : Type();
}

static void quantize(RuleCall &C) {
  Type T = typeAttr(C, "output_dtype");
  if (!T)
    T = C.in(2).Element;
  C.out().Element =
      T ? T : IntegerType::get(C.Op->getContext(), 8, IntegerType::Unsigned);
  sameRule(C);
}

static void dequantize(RuleCall &C) {
  Type T = typeAttr(C, "output_dtype");
  C.out().Element = T ? T : C.in(1).Element;
  sameRule(C);
}

static void dynamicQuantize(RuleCall &C) {
  Type U8 = IntegerType::get(C.Op->getContext(), 8, IntegerType::Unsigned);
  C.Out[0].Element = C.Out[2].Element = U8;
  C.Out[1].Element = Float32Type::get(C.Op->getContext());
  sameRule(C);
  C.Out[1].setShape({});
  C.Out[2].setShape({});
}

static void matMulInteger(RuleCall &C) {
  C.out().Element = C.intType(32);
  matMulRule(C);
}

static void qLinearMatMul(RuleCall &C) {
  C.out().Element = C.in(7).Element;
  C.In[1] = C.In[3];
  matMulRule(C);
}

static void bitCast(RuleCall &C) {
  C.out().Element = typeAttr(C, "to");
  sameRule(C);
}

//===----------------------------------------------------------------------===//
// Convolution
//===----------------------------------------------------------------------===//

static int64_t listAt(RuleCall &C, StringRef Name, size_t I, int64_t Default) {
  DenseI64ArrayAttr A = C.Op->getAttrOfType<DenseI64ArrayAttr>(Name);
  return A && I < static_cast<size_t>(A.size()) ? A[static_cast<int64_t>(I)]
                                                : Default;
}

static void conv(RuleCall &C) {
  if (isa<onnx::ConvIntegerOp>(C.Op))
    C.out().Element = C.intType(32);
  const ValueInfo &X = C.in(0), &W = C.in(1);
  if (!X.Ranked || !W.Ranked || X.rank() < 3 || W.rank() != X.rank())
    return;
  StringAttr Auto = C.Op->getAttrOfType<StringAttr>("auto_pad");
  StringRef Mode = Auto ? Auto.getValue() : "NOTSET";
  DimList Out{X.Shape[0], W.Shape[0]};
  size_t Spatial = X.rank() - 2;
  for (size_t I = 0; I < Spatial; ++I) {
    const Dim &In = X.Shape[I + 2], &Kernel = W.Shape[I + 2];
    int64_t Stride = listAt(C, "strides", I, 1);
    int64_t Dilation = listAt(C, "dilations", I, 1);
    if (Stride < 1 || Dilation < 1) {
      Out.push_back(Dim());
    } else if (Mode.starts_with("SAME")) {
      Out.push_back(floorDiv(add(In, DimExpr(Stride - 1)), DimExpr(Stride)));
    } else {
      int64_t Pads = Mode == "VALID" ? 0
                                     : listAt(C, "pads", I, 0) +
                                           listAt(C, "pads", I + Spatial, 0);
      Dim Reach = mul(sub(Kernel, DimExpr(1)), DimExpr(Dilation));
      Dim Steps = sub(add(In, DimExpr(Pads - 1)), Reach);
      Out.push_back(
          unlessNegative(add(floorDiv(Steps, DimExpr(Stride)), DimExpr(1))));
    }
  }
  C.out().setShape(std::move(Out));
}

//===----------------------------------------------------------------------===//
// Attention and its kin
//===----------------------------------------------------------------------===//

namespace {
struct Heads {
  Dim Batch, Count, Length, Size;
};
} // namespace

/// The four dims of packed or split heads. Count is read from the attribute
/// where the operand is packed.
static std::optional<Heads> headsOf(RuleCall &C, unsigned I, StringRef Attr) {
  const ValueInfo &V = C.in(I);
  if (V.Ranked && V.rank() == 4)
    return Heads{V.Shape[0], V.Shape[1], V.Shape[2], V.Shape[3]};
  int64_t N = C.attr(Attr, 0);
  if (!V.Ranked || V.rank() != 3 || N <= 0)
    return std::nullopt;
  return Heads{V.Shape[0], DimExpr(N), V.Shape[1],
               divideExactly(V.Shape[2], DimExpr(N))};
}

static void attention(RuleCall &C) {
  for (unsigned I = 0; I < 3; ++I)
    C.Out[I].Element = C.in(I).Element;
  std::optional<Heads> Q = headsOf(C, 0, "q_num_heads"),
                       K = headsOf(C, 1, "kv_num_heads"),
                       V = headsOf(C, 2, "kv_num_heads");
  if (!Q || !K || !V)
    return;
  Dim Total = K->Length;
  if (!C.absent(4))
    Total = C.in(4).rank() == 4 ? add(C.in(4).Shape[2], K->Length) : Dim();
  if (C.in(0).rank() == 4)
    C.Out[0].setShape({Q->Batch, Q->Count, Q->Length, V->Size});
  else
    C.Out[0].setShape({Q->Batch, Q->Length, mul(Q->Count, V->Size)});
  C.Out[1].setShape({K->Batch, K->Count, Total, K->Size});
  C.Out[2].setShape({V->Batch, V->Count, Total, V->Size});
  C.Out[3].setShape({Q->Batch, Q->Count, Q->Length, Total});
}

static void linearAttention(RuleCall &C) {
  C.Out[1].Element = C.absent(3) ? C.in(0).Element : C.in(3).Element;
  std::optional<Heads> Q = headsOf(C, 0, "q_num_heads"),
                       K = headsOf(C, 1, "kv_num_heads"),
                       V = headsOf(C, 2, "kv_num_heads");
  if (!Q || !K || !V)
    return;
  C.Out[0].setShape({Q->Batch, Q->Length, mul(Q->Count, V->Size)});
  C.Out[1].setShape({K->Batch, K->Count, K->Size, V->Size});
}

static void causalConv(RuleCall &C) {
  sameRule(C);
  if (C.in(0).rank() == 3 && C.in(1).rank() == 3)
    C.Out[1].setShape({C.in(0).Shape[0], C.in(0).Shape[1],
                       unlessNegative(sub(C.in(1).Shape[2], DimExpr(1)))});
}

static void layerNorm(RuleCall &C) {
  sameRule(C);
  if (C.attr("stash_type", 1) == 1)
    C.Out[1].Element = C.Out[2].Element = Float32Type::get(C.Op->getContext());
  std::optional<size_t> Axis = axisOf(C.attr("axis", -1), C.in(0).rank());
  if (!C.in(0).Ranked || !Axis)
    return;
  DimList Outer = C.in(0).Shape;
  std::fill(Outer.begin() + *Axis, Outer.end(), DimExpr(1));
  C.Out[1].setShape(Outer);
  C.Out[2].setShape(std::move(Outer));
}

static void rmsNorm(RuleCall &C) {
  C.out().Element = C.in(1).Element;
  sameRule(C);
}

//===----------------------------------------------------------------------===//
// Rearrangements
//===----------------------------------------------------------------------===//

static void einsum(RuleCall &C) {
  std::vector<int64_t> Ranks;
  for (const ValueInfo *V : C.In) {
    if (!V->Ranked)
      return;
    Ranks.push_back(static_cast<int64_t>(V->rank()));
  }
  Result<eval::EinsumLabels> L =
      eval::parseEinsum(cast<onnx::EinsumOp>(C.Op).getEquation(), Ranks);
  if (!L)
    return;
  DimList Out;
  for (int Label : L->Output) {
    Dim D = DimExpr(1);
    for (size_t I = 0; I < L->Inputs.size(); ++I)
      for (size_t A = 0; A < L->Inputs[I].size(); ++A)
        if (L->Inputs[I][A] == Label)
          D = broadcastDim(D, C.in(static_cast<unsigned>(I)).Shape[A]);
    Out.push_back(D);
  }
  C.out().setShape(std::move(Out));
}

static void compress(RuleCall &C) {
  if (!C.has("axis"))
    return C.out().setShape({Dim()});
  std::optional<size_t> Axis = axisOf(C.attr("axis", 0), C.in(0).rank());
  if (!C.in(0).Ranked || !Axis)
    return;
  DimList Out = C.in(0).Shape;
  Out[*Axis] = Dim();
  C.out().setShape(std::move(Out));
}

static void unique(RuleCall &C) {
  for (size_t I = 1; I < C.Out.size(); ++I) {
    C.Out[I].Element = C.intType(64);
    C.Out[I].setShape({Dim()});
  }
  compress(C);
}

static void centerCropPad(RuleCall &C) {
  if (!C.in(0).Ranked)
    return;
  DimList Out = C.in(0).Shape;
  SmallVector<int64_t> Axes;
  if (DenseI64ArrayAttr A = C.Op->getAttrOfType<DenseI64ArrayAttr>("axes"))
    Axes.assign(A.asArrayRef().begin(), A.asArrayRef().end());
  else
    for (size_t I = 0; I < Out.size(); ++I)
      Axes.push_back(static_cast<int64_t>(I));
  bool Known = C.in(1).HasData && C.in(1).Data.size() == Axes.size();
  for (auto [I, Axis] : llvm::enumerate(Axes))
    if (std::optional<size_t> A = axisOf(Axis, Out.size()))
      Out[*A] = Known ? unlessNegative(C.in(1).Data[I]) : Dim();
  C.out().setShape(std::move(Out));
}

static void depth(RuleCall &C) {
  if (!C.in(0).Ranked || C.in(0).rank() != 4)
    return;
  DimList Out = C.in(0).Shape;
  Dim Block = DimExpr(C.attr("blocksize", 1)), Area = mul(Block, Block);
  bool ToSpace = isa<onnx::DepthToSpaceOp>(C.Op);
  Out[1] = ToSpace ? divideExactly(Out[1], Area) : mul(Out[1], Area);
  for (size_t I : {2, 3})
    Out[I] = ToSpace ? mul(Out[I], Block) : divideExactly(Out[I], Block);
  C.out().setShape(std::move(Out));
}

void addWholeRules(RuleTable &T) {
  for (const char *Name : {"acos",
                           "acosh",
                           "asin",
                           "asinh",
                           "atan",
                           "atanh",
                           "cosh",
                           "sinh",
                           "tan",
                           "softsign",
                           "mish",
                           "hard_swish",
                           "bitwise_not",
                           "p_relu",
                           "celu",
                           "elu",
                           "leaky_relu",
                           "thresholded_relu",
                           "swish",
                           "selu",
                           "hard_sigmoid",
                           "shrink",
                           "swi_glu",
                           "hardmax",
                           "group_normalization",
                           "instance_normalization",
                           "batch_normalization",
                           "lp_normalization",
                           "mean_variance_normalization",
                           "cum_prod",
                           "reverse_sequence",
                           "tensor_scatter",
                           "rotary_embedding"})
    T[("onnx." + StringRef(Name)).str()] = sameRule;
  for (const char *Name :
       {"bitwise_and", "bitwise_or", "bitwise_xor", "bit_shift"})
    T[("onnx." + StringRef(Name)).str()] = broadcastRule;
  for (const char *Name : {"reduce_l1", "reduce_log_sum", "reduce_log_sum_exp"})
    T[("onnx." + StringRef(Name)).str()] = reduceRule;
  T["onnx.bit_cast"] = bitCast;
  T["onnx.quantize_linear"] = quantize;
  T["onnx.dequantize_linear"] = dequantize;
  T["onnx.dynamic_quantize_linear"] = dynamicQuantize;
  T["onnx.mat_mul_integer"] = matMulInteger;
  T["onnx.q_linear_mat_mul"] = qLinearMatMul;
  T["onnx.conv"] = T["onnx.conv_integer"] = conv;
  T["onnx.attention"] = attention;
  T["onnx.linear_attention"] = linearAttention;
  T["onnx.causal_conv_with_state"] = causalConv;
  T["onnx.layer_normalization"] = layerNorm;
  T["onnx.rms_normalization"] = rmsNorm;
  T["onnx.einsum"] = einsum;
  T["onnx.compress"] = compress;
  T["onnx.unique"] = unique;
  T["onnx.center_crop_pad"] = centerCropPad;
  T["onnx.depth_to_space"] = T["onnx.space_to_depth"] = depth;
}

} // namespace llmc
