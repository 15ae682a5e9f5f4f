// Norms with residuals, activations with biases, embeddings, products with
// more around them. Formulas: onnxruntime docs/ContribOperators.md.
//
// Long because every op is a few lines and one table names them all.
#include "compiler/frontend/onnx/MsExpand.h"

#include "dialects/onnx/Onnx.h"
#include "runtime/base/Quote.h"

using namespace llmc;
using namespace mlir;

//===----------------------------------------------------------------------===//
// Norms
//===----------------------------------------------------------------------===//

namespace {
using Results = SmallVectorImpl<Value>;
constexpr float SkipEpsilon = 1e-12f; ///< where the attribute is absent

/// A layer norm over the last dim with its statistics.
void layerNorm(Expander &X, Value Sum, Value Gamma, Value Beta, Results &Out) {
  OperationState State(X.Node.Loc, "onnx.layer_normalization");
  for (Value V : {Sum, Gamma, Beta})
    State.operands.push_back(
        V ? V : llmc::onnx::NoneOp::create(X.B, X.Node.Loc, X.B.getNoneType()));
  State.addAttributes({X.attr("axis", int64_t(-1)),
                       X.attr("epsilon", X.real("epsilon", SkipEpsilon))});
  Type T = UnrankedTensorType::get(X.elementOf(Sum));
  Type F32 = UnrankedTensorType::get(X.B.getF32Type());
  State.addTypes({T, F32, F32});
  Operation *Norm = X.B.create(State);
  for (unsigned I = 0; I < 3; ++I)
    Out[I] = Norm->getResult(I);
}

/// 1 / sqrt(mean of squares + epsilon) over the last dim, where asked for; the
/// mean of an RMS norm is 0 and nobody reads it.
void rmsStatistics(Expander &X, Value Sum, float Epsilon, Results &Out) {
  if (!X.uses(2))
    return;
  Value Variance = X.op("reduce_mean", {X.mul(Sum, Sum), X.ints({-1})},
                        {X.attr("keepdims", int64_t(1))});
  Value Root = X.op(
      "sqrt", {X.op("add", {Variance, X.scalar(X.elementOf(Sum), Epsilon)})});
  Out[2] = X.op("reciprocal", {Root});
}

Value rmsNorm(Expander &X, Value V, Value Scale, float Epsilon) {
  return X.op("rms_normalization", {V, Scale},
              {X.attr("axis", int64_t(-1)), X.attr("epsilon", Epsilon)});
}

Status skipLayerNorm(Expander &X, Results &Out) {
  Value Sum = X.add(X.op("add", {X.in(0), X.in(1)}), X.in(4));
  layerNorm(X, Sum, X.in(2), X.in(3), Out);
  Out[3] = Sum;
  return Status::success();
}

Status skipRmsNorm(Expander &X, Results &Out) {
  float Epsilon = X.real("epsilon", SkipEpsilon);
  Value Sum = X.add(X.op("add", {X.in(0), X.in(1)}), X.in(3));
  Out[0] = rmsNorm(X, Sum, X.in(2), Epsilon);
  rmsStatistics(X, Sum, Epsilon, Out);
  Out[3] = Sum;
  return Status::success();
}

/// Positions 0, 1, .. as [1, S] of ids [B, S].
Value countPositions(Expander &X, Value Ids) {
  Type I64 = X.B.getI64Type();
  Value Length =
      X.op("shape", {Ids},
           {X.attr("start", int64_t(1)), X.attr("end", int64_t(2))}, I64);
  Value Scalar = X.op("squeeze", {Length, X.ints({0})});
  Value Range = X.op("range", {X.scalar(I64, 0), Scalar, X.scalar(I64, 1)});
  return X.op("unsqueeze", {Range, X.ints({0})});
}

Status embedLayerNorm(Expander &X, Results &Out) {
  for (unsigned I : {5u, 6u})
    if (!X.in(I))
      return X.unsupported("lacks gamma or beta");
  NamedAttribute Axis = X.attr("axis", int64_t(0));
  const auto Rows = [&](Value Table, Value Index) {
    return X.op("gather", {Table, Index}, {Axis});
  };
  Value Positions = X.in(8) ? X.in(8) : countPositions(X, X.in(0));
  Value Sum = Rows(X.in(2), X.in(0));
  Sum = X.op("add", {Sum, Rows(X.in(3), Positions)});
  if (X.in(4) && X.in(1))
    Sum = X.op("add", {Sum, Rows(X.in(4), X.in(1))});
  SmallVector<Value, 3> Norm(3);
  layerNorm(X, Sum, X.in(5), X.in(6), Norm);
  Out[0] = Norm[0];
  // The tokens of each row that the mask lets through.
  Type I32 = X.B.getI32Type();
  if (X.uses(1) && X.in(7)) {
    Out[1] = X.op("reduce_sum", {X.in(7), X.ints({1})},
                  {X.attr("keepdims", int64_t(0))});
  } else if (X.uses(1)) {
    Value Batch = X.op("shape", {X.in(0)},
                       {X.attr("start", int64_t(0)), X.attr("end", int64_t(1))},
                       X.B.getI64Type());
    Out[1] = X.op("expand", {X.scalar(I32, 0), Batch});
  }
  Out[2] = Sum;
  return Status::success();
}

/// x / rms(x) * scale * act(gate), in groups as long as the scale.
Status gatedRmsNorm(Expander &X, Results &Out) {
  RankedTensorType Scale = dyn_cast<RankedTensorType>(X.in(1).getType());
  if (!Scale || Scale.getRank() != 1 || Scale.isDynamicDim(0))
    return X.unsupported("has a scale whose size is not known");
  Value Shape = X.op("shape", {X.in(0)}, {}, X.B.getI64Type());
  Value Groups = X.op("reshape", {X.in(0), X.ints({-1, Scale.getDimSize(0)})});
  Value Norm = rmsNorm(X, Groups, X.in(1), X.real("epsilon", 1e-5f));
  Norm = X.op("reshape", {Norm, Shape});
  std::string Act = X.text("activation", "silu");
  Value Gate = X.sigmoid(X.in(2));
  if (Act == "silu" || Act == "swish")
    Gate = X.mul(X.in(2), Gate);
  else if (Act != "sigmoid")
    return X.unsupported("has activation " + quoted(Act) +
                         ", supported are silu, swish and sigmoid");
  Out[0] = X.mul(Norm, Gate);
  return Status::success();
}

//===----------------------------------------------------------------------===//
// Activations
//===----------------------------------------------------------------------===//

Value tanhGelu(Expander &X, Value V) {
  return X.op("gelu", {V}, {X.attr("approximate", llvm::StringRef("tanh"))});
}

/// x * sigmoid(alpha * x)
Value swish(Expander &X, Value V, float Alpha) {
  Value Scaled = Alpha == 1.0f ? V : X.mul(V, X.scalar(X.elementOf(V), Alpha));
  return X.mul(V, X.sigmoid(Scaled));
}

Status biasGelu(Expander &X, Results &Out) {
  Out[0] = X.op("gelu", {X.op("add", {X.in(0), X.in(1)})});
  return Status::success();
}

Status fastGelu(Expander &X, Results &Out) {
  Out[0] = tanhGelu(X, X.add(X.in(0), X.in(1)));
  return Status::success();
}

Status gemmFastGelu(Expander &X, Results &Out) {
  Value Product = X.op("mat_mul", {X.in(0), X.in(1)});
  Out[0] = tanhGelu(X, X.add(Product, X.in(2)));
  return Status::success();
}

Status quickGelu(Expander &X, Results &Out) {
  Out[0] = swish(X, X.in(0), X.real("alpha", 1.702f));
  return Status::success();
}

/// silu(scale * x)
Status scaledSilu(Expander &X, Results &Out) {
  Value V = X.in(0);
  Value Scale = X.in(1) ? X.op("cast_like", {X.in(1), V}, {}, X.elementOf(V))
                        : X.scalar(X.elementOf(V), X.real("alpha", 1.0f));
  Out[0] = swish(X, X.mul(V, Scale), 1.0f);
  return Status::success();
}

/// Both halves of the last dim.
std::pair<Value, Value> halves(Expander &X, Value V) {
  OperationState State(X.Node.Loc, "onnx.split");
  State.addOperands(
      {V, llmc::onnx::NoneOp::create(X.B, X.Node.Loc, X.B.getNoneType())});
  State.addAttributes(
      {X.attr("axis", int64_t(-1)), X.attr("num_outputs", int64_t(2))});
  Type T = UnrankedTensorType::get(X.elementOf(V));
  State.addTypes({T, T});
  Operation *Split = X.B.create(State);
  return {Split->getResult(0), Split->getResult(1)};
}

Status biasSplitGelu(Expander &X, Results &Out) {
  auto [Left, Right] = halves(X, X.op("add", {X.in(0), X.in(1)}));
  Out[0] = X.mul(Left, X.op("gelu", {Right}));
  return Status::success();
}

/// min(g, limit) * sigmoid(alpha g) * (clamp(u, limit) + beta)
Status swiglu(Expander &X, Results &Out) {
  Value Gate = X.in(0), Up = X.in(1);
  if (!Up)
    std::tie(Gate, Up) = halves(X, Gate);
  Type T = X.elementOf(Gate);
  if (float Limit = X.real("limit", 0.0f); Limit > 0) {
    Gate = X.op("clip", {Gate, Value(), X.scalar(T, Limit)});
    Up = X.op("clip", {Up, X.scalar(T, -Limit), X.scalar(T, Limit)});
  }
  if (float Beta = X.real("activation_beta", 0.0f); Beta != 0)
    Up = X.op("add", {Up, X.scalar(T, Beta)});
  Out[0] = X.mul(swish(X, Gate, X.real("activation_alpha", 1.0f)), Up);
  return Status::success();
}

Status biasAdd(Expander &X, Results &Out) {
  Out[0] = X.add(X.op("add", {X.in(0), X.in(1)}), X.in(2));
  return Status::success();
}

/// Inference: nothing is dropped.
Status biasDropout(Expander &X, Results &Out) { return biasAdd(X, Out); }

Status gatedAdd(Expander &X, Results &Out) {
  Value Gate = X.in(2);
  if (X.in(3))
    Gate = X.sigmoid(X.op("mat_mul", {Gate, X.in(3)}));
  Out[0] = X.op("add", {X.in(0), X.mul(X.in(1), Gate)});
  return Status::success();
}

/// decay = scale * softplus(a + bias), beta = sigmoid(b)
Status linearAttentionGate(Expander &X, Results &Out) {
  Type F32 = X.B.getF32Type(), T = X.elementOf(X.in(0));
  const auto CastTo = [&](Value V, Type To) {
    return X.elementOf(V) == To
               ? V
               : X.op("cast", {V}, {X.B.getNamedAttr("to", TypeAttr::get(To))},
                      To);
  };
  Value Sum = X.op("add", {CastTo(X.in(0), F32), CastTo(X.in(1), F32)});
  Value Decay = X.mul(CastTo(X.in(2), F32), X.op("softplus", {Sum}));
  Out[0] = CastTo(Decay, T);
  if (X.in(3))
    Out[1] = X.sigmoid(X.in(3));
  return Status::success();
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

/// The activations that FusedGemm and FusedMatMulActivation name.
Status activate(Expander &X, Value V, Value &Out) {
  std::string Name = X.text("activation", "");
  if (Name.empty())
    Out = V;
  else if (Name == "Relu" || Name == "Sigmoid" || Name == "Tanh" ||
           Name == "Softplus")
    Out = X.op(llvm::StringRef(Name).lower(), {V});
  else if (Name == "LeakyRelu") {
    // max(v, alpha v) is right for alpha <= 1 only.
    Value Zero = X.scalar(X.elementOf(V), 0);
    float Alpha = X.real("activation_alpha", 0.01f);
    Value Negative = X.op("min", {V, Zero});
    Out = X.op("add", {X.op("max", {V, Zero}),
                       X.mul(Negative, X.scalar(X.elementOf(V), Alpha))});
  } else
    return X.unsupported("has activation " + quoted(Name) +
                         ", supported are Relu, Sigmoid, Tanh, Softplus and "
                         "LeakyRelu");
  return Status::success();
}

Status fusedGemm(Expander &X, Results &Out) {
  Value Product = X.op("gemm", {X.in(0), X.in(1), X.in(2)},
                       {X.attr("alpha", X.real("alpha", 1.0f)),
                        X.attr("beta", X.real("beta", 1.0f)),
                        X.attr("transA", X.integer("transA", 0)),
                        X.attr("transB", X.integer("transB", 0))});
  return activate(X, Product, Out[0]);
}

Value matMul(Expander &X) {
  SmallVector<NamedAttribute> Attrs = {X.attr("alpha", X.real("alpha", 1.0f))};
  for (const char *Name : {"transA", "transB", "transBatchA", "transBatchB"})
    Attrs.push_back(X.attr(Name, X.integer(Name, 0)));
  return X.op("ms_fused_mat_mul", {X.in(0), X.in(1)}, Attrs);
}

Status transposeMatMul(Expander &X, Results &Out) {
  Out[0] = matMul(X);
  return Status::success();
}

Status fusedMatMulActivation(Expander &X, Results &Out) {
  return activate(X, matMul(X), Out[0]);
}

/// Norm of the input of products that share it; `Sum` is input + skip.
Value sharedNorm(Expander &X, Value Scale, float Epsilon, Value &Sum) {
  Sum = X.add(X.in(0), X.in(1));
  return Scale ? rmsNorm(X, Sum, Scale, Epsilon) : Sum;
}

Value nbits(Expander &X, Value A, unsigned First, int64_t N) {
  return X.op(
      "ms_mat_mul_n_bits",
      {A, X.in(First), X.in(First + 1), Value(), Value(), X.in(First + 2)},
      {X.attr("K", X.integer("K", 0)), X.attr("N", N),
       X.attr("bits", X.integer("bits", 4)),
       X.attr("block_size", X.integer("block_size", 0)),
       X.attr("accuracy_level", X.integer("accuracy_level", 0))});
}

/// act(A Wg) * (A Wu), the norm in front included.
Status nbitsMlp(Expander &X, Results &Out) {
  for (unsigned I : {3u, 4u, 6u, 7u})
    if (!X.in(I))
      return X.unsupported("lacks input " + std::to_string(I));
  Value Sum;
  Value A = sharedNorm(X, X.in(2), X.real("epsilon", 1e-5f), Sum);
  int64_t N = X.integer("N", 0);
  Value Gate = nbits(X, A, 3, N), Up = nbits(X, A, 6, N);
  std::string Act = llvm::StringRef(X.text("activation", "")).lower();
  if (Act == "silu" || Act == "swish")
    Gate = swish(X, Gate, 1.0f);
  else if (Act == "gelu")
    Gate = X.op("gelu", {Gate});
  else
    return X.unsupported("has activation " + quoted(Act) +
                         ", supported are silu, swish and gelu");
  Out[0] = X.mul(Gate, Up);
  Out[1] = Sum;
  return Status::success();
}

Status nbitsQkv(Expander &X, Results &Out) {
  for (unsigned I : {2u, 3u, 4u, 6u, 7u, 9u, 10u})
    if (!X.in(I))
      return X.unsupported("lacks input " + std::to_string(I));
  Value Sum;
  Value A = sharedNorm(X, X.in(2), X.real("epsilon", 1e-6f), Sum);
  Out[0] = nbits(X, A, 3, X.integer("Nq", 0));
  Out[1] = nbits(X, A, 6, X.integer("Nkv", 0));
  Out[2] = nbits(X, A, 9, X.integer("Nkv", 0));
  Out[3] = Sum;
  return Status::success();
}

/// Attributes that the standard op does not have must say what it does.
Status onlyDefaults(
    Expander &X,
    std::initializer_list<std::pair<llvm::StringRef, int64_t>> Defaults) {
  for (const auto &[Name, Default] : Defaults)
    if (int64_t Value = X.integer(Name, Default); Value != Default)
      return X.unsupported("has " + Name.str() + " " + std::to_string(Value) +
                           ", supported is " + std::to_string(Default));
  return Status::success();
}

/// Builds the standard op with two results; operand 3 is the state.
void standardState(Expander &X, llvm::StringRef Mnemonic, ValueRange Operands,
                   ArrayRef<NamedAttribute> Attrs, Results &Out) {
  OperationState State(X.Node.Loc, ("onnx." + Mnemonic).str());
  for (Value V : Operands)
    State.operands.push_back(
        V ? V : llmc::onnx::NoneOp::create(X.B, X.Node.Loc, X.B.getNoneType()));
  State.addAttributes(Attrs);
  Value Past = Operands[3] ? Operands[3] : Operands[0];
  State.addTypes({UnrankedTensorType::get(X.elementOf(X.in(0))),
                  UnrankedTensorType::get(X.elementOf(Past))});
  Operation *Op = X.B.create(State);
  Out[0] = Op->getResult(0);
  Out[1] = Op->getResult(1);
}

Status causalConv(Expander &X, Results &Out) {
  LLMC_RETURN_IF_ERROR(onlyDefaults(X, {{"channels_last", 0},
                                        {"dilation", 1},
                                        {"input_channel_offset", 0},
                                        {"input_channels", 0},
                                        {"ndim", 1},
                                        {"state_length", 0},
                                        {"state_update_capacity", 0},
                                        {"state_window", 0}}));
  if (X.integer("state_channels_last", -1) > 0)
    return X.unsupported("has state_channels_last 1, supported is 0");
  std::string Act = X.text("activation", "none");
  standardState(X, "causal_conv_with_state",
                {X.in(0), X.in(1), X.in(2), X.in(3)},
                {X.attr("activation", llvm::StringRef(Act))}, Out);
  return Status::success();
}

/// Size of the last axis, over a number.
Value featuresOver(Expander &X, Value V, Value Count) {
  Type I64 = X.B.getI64Type();
  Value Features = X.op("shape", {V}, X.attr("start", int64_t(-1)), I64);
  return X.op("div", {Features, Count}, {}, I64);
}

/// Rows of heads of Size features, each repeated where it is so that there are
/// Heads of them.
Value repeatHeads(Expander &X, Value V, Value Size, int64_t Heads) {
  Type I64 = X.B.getI64Type();
  NamedAttribute Axis = X.attr("axis", int64_t(0));
  Value Times =
      X.op("div", {X.ints({Heads}), featuresOver(X, V, Size)}, {}, I64);
  Value Apart = X.op("concat", {X.ints({0, 0, -1, 1}), Size}, Axis, I64);
  Value Wide = X.op("concat", {X.ints({1, 1, 1}), Times, X.ints({1})}, Axis);
  return X.op("reshape", {X.op("expand", {X.op("reshape", {V, Apart}), Wide}),
                          X.ints({0, 0, -1})});
}

/// With fewer heads of queries than of states, those of queries and keys serve
/// several states each; the standard op does not have that.
Status linearAttention(Expander &X, Results &Out) {
  LLMC_RETURN_IF_ERROR(onlyDefaults(X, {{"state_window", 0}}));
  std::string Rule = X.text("update_rule", "gated_delta");
  int64_t Queries = X.integer("q_num_heads", 0);
  int64_t States = X.integer("kv_num_heads", 0);
  Value Query = X.in(0), Key = X.in(1);
  if (Queries > 0 && States > Queries && States % Queries == 0) {
    Value Size = featuresOver(X, Query, X.ints({Queries}));
    Query = repeatHeads(X, Query, Size, States);
    Key = repeatHeads(X, Key, Size, States);
    Queries = States;
  }
  standardState(X, "linear_attention",
                {Query, Key, X.in(2), X.in(3), X.in(4), X.in(5)},
                {X.attr("q_num_heads", Queries), X.attr("kv_num_heads", States),
                 X.attr("update_rule", llvm::StringRef(Rule)),
                 X.attr("scale", X.real("scale", 0.0f)),
                 X.attr("chunk_size", X.integer("chunk_size", 64))},
                Out);
  return Status::success();
}

/// The step is 1 where it is absent.
Status range(Expander &X, Results &Out) {
  Value Step = X.in(2) ? X.in(2) : X.scalar(X.elementOf(X.in(0)), 1);
  Out[0] = X.op("range", {X.in(0), X.in(1), Step});
  return Status::success();
}

/// A dim of 1 at a scalar axis.
Status expandDims(Expander &X, Results &Out) {
  Value Axis = X.op("cast", {X.in(1)},
                    {X.B.getNamedAttr("to", TypeAttr::get(X.B.getI64Type()))},
                    X.B.getI64Type());
  Out[0] = X.op("unsqueeze", {X.in(0), X.op("reshape", {Axis, X.ints({1})})});
  return Status::success();
}

//===----------------------------------------------------------------------===//
// Table
//===----------------------------------------------------------------------===//

constexpr AttrSpec EpsilonAttrs[] = {{"epsilon", AttrKind::Float}};
constexpr AttrSpec EmbedAttrs[] = {{"epsilon", AttrKind::Float},
                                   {"mask_index_type", AttrKind::Int}};
constexpr AttrSpec GatedNormAttrs[] = {{"epsilon", AttrKind::Float},
                                       {"activation", AttrKind::String}};
constexpr AttrSpec AlphaAttrs[] = {{"alpha", AttrKind::Float}};
constexpr AttrSpec SeedAttrs[] = {{"seed", AttrKind::Int}};
constexpr AttrSpec SwigluAttrs[] = {{"activation_alpha", AttrKind::Float},
                                    {"activation_beta", AttrKind::Float},
                                    {"limit", AttrKind::Float},
                                    {"round_activation", AttrKind::Int}};
constexpr AttrSpec GemmAttrs[] = {{"alpha", AttrKind::Float},
                                  {"beta", AttrKind::Float},
                                  {"transA", AttrKind::Int},
                                  {"transB", AttrKind::Int},
                                  {"activation", AttrKind::String},
                                  {"activation_alpha", AttrKind::Float},
                                  {"activation_beta", AttrKind::Float},
                                  {"activation_gamma", AttrKind::Float}};
constexpr AttrSpec MatMulAttrs[] = {{"alpha", AttrKind::Float},
                                    {"transA", AttrKind::Int},
                                    {"transB", AttrKind::Int},
                                    {"transBatchA", AttrKind::Int},
                                    {"transBatchB", AttrKind::Int},
                                    {"activation", AttrKind::String},
                                    {"activation_alpha", AttrKind::Float},
                                    {"activation_beta", AttrKind::Float},
                                    {"activation_gamma", AttrKind::Float},
                                    {"activation_axis", AttrKind::Int}};
constexpr AttrSpec TransposeAttrs[] = {{"alpha", AttrKind::Float},
                                       {"transA", AttrKind::Int},
                                       {"transB", AttrKind::Int}};
constexpr AttrSpec MlpAttrs[] = {
    {"K", AttrKind::Int, true},        {"N", AttrKind::Int, true},
    {"bits", AttrKind::Int},           {"block_size", AttrKind::Int, true},
    {"accuracy_level", AttrKind::Int}, {"activation", AttrKind::String, true},
    {"epsilon", AttrKind::Float}};
constexpr AttrSpec QkvAttrs[] = {
    {"K", AttrKind::Int, true},          {"Nq", AttrKind::Int, true},
    {"Nkv", AttrKind::Int, true},        {"bits", AttrKind::Int},
    {"block_size", AttrKind::Int, true}, {"accuracy_level", AttrKind::Int},
    {"epsilon", AttrKind::Float}};
constexpr AttrSpec CausalConvAttrs[] = {
    {"activation", AttrKind::String},
    {"channels_last", AttrKind::Int},
    {"dilation", AttrKind::Int},
    {"input_channel_offset", AttrKind::Int},
    {"input_channels", AttrKind::Int},
    {"ndim", AttrKind::Int},
    {"state_channels_last", AttrKind::Int},
    {"state_length", AttrKind::Int},
    {"state_update_capacity", AttrKind::Int},
    {"state_window", AttrKind::Int}};
constexpr AttrSpec LinearAttentionAttrs[] = {
    {"q_num_heads", AttrKind::Int, true}, {"kv_num_heads", AttrKind::Int, true},
    {"update_rule", AttrKind::String},    {"scale", AttrKind::Float},
    {"chunk_size", AttrKind::Int},        {"state_window", AttrKind::Int}};
constexpr llvm::ArrayRef<AttrSpec> NoAttrs = {};

using E = ElementRule;
constexpr llvm::StringLiteral Domain = "com.microsoft";
const Expansion Expansions[] = {
    {{"SkipLayerNormalization", "", 3, 5, 4, E::Operand0, EpsilonAttrs, Domain},
     skipLayerNorm},
    {{"SkipSimplifiedLayerNormalization", "", 3, 4, 4, E::Operand0,
      EpsilonAttrs, Domain},
     skipRmsNorm},
    {{"EmbedLayerNormalization", "", 1, 9, 3, E::Operand2, EmbedAttrs, Domain},
     embedLayerNorm},
    {{"GatedRMSNorm", "", 3, 3, 1, E::Operand0, GatedNormAttrs, Domain},
     gatedRmsNorm},
    {{"BiasGelu", "", 2, 2, 1, E::Operand0, NoAttrs, Domain}, biasGelu},
    {{"FastGelu", "", 1, 2, 1, E::Operand0, NoAttrs, Domain}, fastGelu},
    {{"GemmFastGelu", "", 2, 3, 1, E::Operand0, NoAttrs, Domain}, gemmFastGelu},
    {{"QuickGelu", "", 1, 1, 1, E::Operand0, AlphaAttrs, Domain}, quickGelu},
    {{"ScaledSiLU", "", 1, 2, 1, E::Operand0, AlphaAttrs, Domain}, scaledSilu},
    {{"BiasSplitGelu", "", 2, 2, 1, E::Operand0, NoAttrs, Domain},
     biasSplitGelu},
    {{"SwiGLU", "", 1, 2, 1, E::Operand0, SwigluAttrs, Domain}, swiglu},
    {{"BiasAdd", "", 3, 3, 1, E::Operand0, NoAttrs, Domain}, biasAdd},
    {{"BiasDropout", "", 2, 5, 1, E::Operand0, SeedAttrs, Domain}, biasDropout},
    {{"GatedAdd", "", 3, 4, 1, E::Operand0, NoAttrs, Domain}, gatedAdd},
    {{"LinearAttentionGate", "", 3, 4, 2, E::Operand0, NoAttrs, Domain},
     linearAttentionGate},
    {{"FusedGemm", "", 2, 3, 1, E::Operand0, GemmAttrs, Domain}, fusedGemm},
    {{"TransposeMatMul", "", 2, 2, 1, E::Operand0, TransposeAttrs, Domain},
     transposeMatMul},
    {{"FusedMatMulActivation", "", 2, 2, 1, E::Operand0, MatMulAttrs, Domain},
     fusedMatMulActivation},
    {{"MatMulNBitsMlp", "", 1, 9, 2, E::Operand0, MlpAttrs, Domain}, nbitsMlp},
    {{"MatMulNBitsQkv", "", 1, 12, 4, E::Operand0, QkvAttrs, Domain}, nbitsQkv},
    {{"CausalConvWithState", "", 2, 4, 3, E::State, CausalConvAttrs, Domain},
     causalConv},
    {{"LinearAttention", "", 3, 6, 2, E::State, LinearAttentionAttrs, Domain},
     linearAttention},
    {{"Range", "", 2, 3, 1, E::Operand0, NoAttrs, Domain}, range},
    {{"ExpandDims", "", 2, 2, 1, E::Operand0, NoAttrs, Domain}, expandDims},
};
} // namespace

llvm::ArrayRef<Expansion> llmc::fusedExpansions() { return Expansions; }
