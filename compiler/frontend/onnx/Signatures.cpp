// The table of primitive ops and the lookup in all tables. Keep it sorted by
// family; attributes of older opsets that became operands are not here:
// Upgrade.cpp takes them away first.
#include "compiler/frontend/onnx/Signatures.h"

#include "compiler/frontend/onnx/MsExpand.h"

#include "llvm/ADT/StringMap.h"

#include <vector>

using namespace llmc;

namespace {
constexpr AttrSpec IsInfAttrs[] = {{"detect_negative", AttrKind::Int},
                                   {"detect_positive", AttrKind::Int}};
constexpr AttrSpec GeluAttrs[] = {{"approximate", AttrKind::String}};
constexpr AttrSpec ModAttrs[] = {{"fmod", AttrKind::Int}};
constexpr AttrSpec CastAttrs[] = {{"to", AttrKind::Type, true},
                                  {"saturate", AttrKind::Int},
                                  {"round_mode", AttrKind::String}};
constexpr AttrSpec CastLikeAttrs[] = {{"saturate", AttrKind::Int},
                                      {"round_mode", AttrKind::String}};
constexpr AttrSpec RangeAttrs[] = {{"stash_type", AttrKind::Int}};
constexpr AttrSpec SeedAttrs[] = {{"seed", AttrKind::Int}};
constexpr AttrSpec ShapeAttrs[] = {{"start", AttrKind::Int},
                                   {"end", AttrKind::Int}};
constexpr AttrSpec ReshapeAttrs[] = {{"allowzero", AttrKind::Int}};
constexpr AttrSpec AxisAttrs[] = {{"axis", AttrKind::Int}};
constexpr AttrSpec TransposeAttrs[] = {{"perm", AttrKind::Ints}};
constexpr AttrSpec ConcatAttrs[] = {{"axis", AttrKind::Int, true}};
constexpr AttrSpec SplitAttrs[] = {{"axis", AttrKind::Int},
                                   {"num_outputs", AttrKind::Int}};
constexpr AttrSpec PadAttrs[] = {{"mode", AttrKind::String}};
constexpr AttrSpec ValueAttrs[] = {{"value", AttrKind::Tensor}};
constexpr AttrSpec TriluAttrs[] = {{"upper", AttrKind::Int}};
constexpr AttrSpec EyeLikeAttrs[] = {{"dtype", AttrKind::Type},
                                     {"k", AttrKind::Int}};
constexpr AttrSpec GatherNDAttrs[] = {{"batch_dims", AttrKind::Int}};
constexpr AttrSpec ScatterElementsAttrs[] = {{"axis", AttrKind::Int},
                                             {"reduction", AttrKind::String}};
constexpr AttrSpec ScatterNDAttrs[] = {{"reduction", AttrKind::String}};
constexpr AttrSpec CumSumAttrs[] = {{"exclusive", AttrKind::Int},
                                    {"reverse", AttrKind::Int}};
constexpr AttrSpec TopKAttrs[] = {{"axis", AttrKind::Int},
                                  {"largest", AttrKind::Int},
                                  {"sorted", AttrKind::Int}};
constexpr AttrSpec ArgAttrs[] = {{"axis", AttrKind::Int},
                                 {"keepdims", AttrKind::Int},
                                 {"select_last_index", AttrKind::Int}};
constexpr AttrSpec ReduceAttrs[] = {{"keepdims", AttrKind::Int},
                                    {"noop_with_empty_axes", AttrKind::Int}};
constexpr AttrSpec GemmAttrs[] = {{"alpha", AttrKind::Float},
                                  {"beta", AttrKind::Float},
                                  {"transA", AttrKind::Int},
                                  {"transB", AttrKind::Int}};
constexpr AttrSpec NormAttrs[] = {{"axis", AttrKind::Int},
                                  {"epsilon", AttrKind::Float},
                                  {"stash_type", AttrKind::Int}};
constexpr llvm::ArrayRef<AttrSpec> None = {};

using E = ElementRule;
const OpSpec Ops[] = {
    {"Neg", "onnx.neg", 1, 1, 1, E::Operand0, None},
    {"Abs", "onnx.abs", 1, 1, 1, E::Operand0, None},
    {"Sqrt", "onnx.sqrt", 1, 1, 1, E::Operand0, None},
    {"Reciprocal", "onnx.reciprocal", 1, 1, 1, E::Operand0, None},
    {"Exp", "onnx.exp", 1, 1, 1, E::Operand0, None},
    {"Log", "onnx.log", 1, 1, 1, E::Operand0, None},
    {"Erf", "onnx.erf", 1, 1, 1, E::Operand0, None},
    {"Sin", "onnx.sin", 1, 1, 1, E::Operand0, None},
    {"Cos", "onnx.cos", 1, 1, 1, E::Operand0, None},
    {"Tanh", "onnx.tanh", 1, 1, 1, E::Operand0, None},
    {"Sigmoid", "onnx.sigmoid", 1, 1, 1, E::Operand0, None},
    {"Relu", "onnx.relu", 1, 1, 1, E::Operand0, None},
    {"Softplus", "onnx.softplus", 1, 1, 1, E::Operand0, None},
    {"Floor", "onnx.floor", 1, 1, 1, E::Operand0, None},
    {"Ceil", "onnx.ceil", 1, 1, 1, E::Operand0, None},
    {"Round", "onnx.round", 1, 1, 1, E::Operand0, None},
    {"Sign", "onnx.sign", 1, 1, 1, E::Operand0, None},
    {"Not", "onnx.not", 1, 1, 1, E::Operand0, None},
    {"Identity", "onnx.identity", 1, 1, 1, E::Operand0, None},
    {"IsNaN", "onnx.is_nan", 1, 1, 1, E::Bool, None},
    {"IsInf", "onnx.is_inf", 1, 1, 1, E::Bool, IsInfAttrs},
    {"Gelu", "onnx.gelu", 1, 1, 1, E::Operand0, GeluAttrs},
    {"Add", "onnx.add", 2, 2, 1, E::Operand0, None},
    {"Sub", "onnx.sub", 2, 2, 1, E::Operand0, None},
    {"Mul", "onnx.mul", 2, 2, 1, E::Operand0, None},
    {"Div", "onnx.div", 2, 2, 1, E::Operand0, None},
    {"Pow", "onnx.pow", 2, 2, 1, E::Operand0, None},
    {"And", "onnx.and", 2, 2, 1, E::Operand0, None},
    {"Or", "onnx.or", 2, 2, 1, E::Operand0, None},
    {"Xor", "onnx.xor", 2, 2, 1, E::Operand0, None},
    {"Mod", "onnx.mod", 2, 2, 1, E::Operand0, ModAttrs},
    {"Equal", "onnx.equal", 2, 2, 1, E::Bool, None},
    {"Less", "onnx.less", 2, 2, 1, E::Bool, None},
    {"LessOrEqual", "onnx.less_or_equal", 2, 2, 1, E::Bool, None},
    {"Greater", "onnx.greater", 2, 2, 1, E::Bool, None},
    {"GreaterOrEqual", "onnx.greater_or_equal", 2, 2, 1, E::Bool, None},
    {"Max", "onnx.max", 1, -1, 1, E::Operand0, None},
    {"Min", "onnx.min", 1, -1, 1, E::Operand0, None},
    {"Sum", "onnx.sum", 1, -1, 1, E::Operand0, None},
    {"Mean", "onnx.mean", 1, -1, 1, E::Operand0, None},
    {"Where", "onnx.where", 3, 3, 1, E::Operand1, None},
    {"Clip", "onnx.clip", 1, 3, 1, E::Operand0, None},
    {"Cast", "onnx.cast", 1, 1, 1, E::To, CastAttrs},
    {"CastLike", "onnx.cast_like", 2, 2, 1, E::Operand1, CastLikeAttrs},
    {"Dropout", "onnx.dropout", 1, 3, 2, E::Operand0ThenBool, SeedAttrs},
    {"Shape", "onnx.shape", 1, 1, 1, E::Int64, ShapeAttrs},
    {"Size", "onnx.size", 1, 1, 1, E::Int64, None},
    {"Reshape", "onnx.reshape", 2, 2, 1, E::Operand0, ReshapeAttrs},
    {"Flatten", "onnx.flatten", 1, 1, 1, E::Operand0, AxisAttrs},
    {"Squeeze", "onnx.squeeze", 1, 2, 1, E::Operand0, None},
    {"Unsqueeze", "onnx.unsqueeze", 2, 2, 1, E::Operand0, None},
    {"Transpose", "onnx.transpose", 1, 1, 1, E::Operand0, TransposeAttrs},
    {"Expand", "onnx.expand", 2, 2, 1, E::Operand0, None},
    {"Tile", "onnx.tile", 2, 2, 1, E::Operand0, None},
    {"Concat", "onnx.concat", 1, -1, 1, E::Operand0, ConcatAttrs},
    {"Split", "onnx.split", 1, 2, -1, E::Operand0, SplitAttrs},
    {"Slice", "onnx.slice", 3, 5, 1, E::Operand0, None},
    {"Pad", "onnx.pad", 2, 4, 1, E::Operand0, PadAttrs},
    {"Range", "onnx.range", 3, 3, 1, E::Operand0, RangeAttrs},
    {"ConstantOfShape", "onnx.constant_of_shape", 1, 1, 1, E::Value,
     ValueAttrs},
    {"Trilu", "onnx.trilu", 1, 2, 1, E::Operand0, TriluAttrs},
    {"EyeLike", "onnx.eye_like", 1, 1, 1, E::DtypeOrOperand, EyeLikeAttrs},
    {"Gather", "onnx.gather", 2, 2, 1, E::Operand0, AxisAttrs},
    {"GatherElements", "onnx.gather_elements", 2, 2, 1, E::Operand0, AxisAttrs},
    {"GatherND", "onnx.gather_nd", 2, 2, 1, E::Operand0, GatherNDAttrs},
    {"ScatterElements", "onnx.scatter_elements", 3, 3, 1, E::Operand0,
     ScatterElementsAttrs},
    {"ScatterND", "onnx.scatter_nd", 3, 3, 1, E::Operand0, ScatterNDAttrs},
    {"CumSum", "onnx.cum_sum", 2, 2, 1, E::Operand0, CumSumAttrs},
    {"TopK", "onnx.top_k", 2, 2, 2, E::Operand0ThenInt64, TopKAttrs},
    {"ArgMax", "onnx.arg_max", 1, 1, 1, E::Int64, ArgAttrs},
    {"ArgMin", "onnx.arg_min", 1, 1, 1, E::Int64, ArgAttrs},
    {"NonZero", "onnx.non_zero", 1, 1, 1, E::Int64, None},
    {"OneHot", "onnx.one_hot", 3, 3, 1, E::Operand2, AxisAttrs},
    {"ReduceMean", "onnx.reduce_mean", 1, 2, 1, E::Operand0, ReduceAttrs},
    {"ReduceSum", "onnx.reduce_sum", 1, 2, 1, E::Operand0, ReduceAttrs},
    {"ReduceMax", "onnx.reduce_max", 1, 2, 1, E::Operand0, ReduceAttrs},
    {"ReduceMin", "onnx.reduce_min", 1, 2, 1, E::Operand0, ReduceAttrs},
    {"ReduceProd", "onnx.reduce_prod", 1, 2, 1, E::Operand0, ReduceAttrs},
    {"ReduceSumSquare", "onnx.reduce_sum_square", 1, 2, 1, E::Operand0,
     ReduceAttrs},
    {"ReduceL2", "onnx.reduce_l2", 1, 2, 1, E::Operand0, ReduceAttrs},
    {"MatMul", "onnx.mat_mul", 2, 2, 1, E::Operand0, None},
    {"Gemm", "onnx.gemm", 2, 3, 1, E::Operand0, GemmAttrs},
    {"Softmax", "onnx.softmax", 1, 1, 1, E::Operand0, AxisAttrs},
    {"LogSoftmax", "onnx.log_softmax", 1, 1, 1, E::Operand0, AxisAttrs},
    {"LayerNormalization", "onnx.layer_normalization", 2, 3, 3,
     E::Operand0ThenStash, NormAttrs},
    {"RMSNormalization", "onnx.rms_normalization", 2, 2, 1, E::Operand1,
     NormAttrs},
};

struct Twin {
  llvm::StringLiteral Domain, Name, Standard;
};
/// Same inputs, attributes and defaults as the standard op.
constexpr Twin Twins[] = {
    {"", "SimplifiedLayerNormalization", "RMSNormalization"},
    {"", "Scatter", "ScatterElements"}, // until opset 10
    {"com.microsoft", "Gelu", "Gelu"},
    {"com.microsoft", "QuantizeLinear", "QuantizeLinear"},
    {"com.microsoft", "DequantizeLinear", "DequantizeLinear"},
    {"com.microsoft", "MatMulInteger16", "MatMulInteger"},
    {"com.microsoft", "Trilu", "Trilu"},
    {"com.microsoft", "Pad", "Pad"},
    {"com.microsoft", "GatherND", "GatherND"},
};
} // namespace

const AttrSpec *OpSpec::attr(llvm::StringRef Name) const {
  for (const AttrSpec &A : Attrs)
    if (A.Name == Name)
      return &A;
  return nullptr;
}

llvm::ArrayRef<OpSpec> llmc::allOps() {
  static const std::vector<OpSpec> All = [] {
    std::vector<OpSpec> Out(std::begin(Ops), std::end(Ops));
    for (llvm::ArrayRef<OpSpec> Table : {wholeOps(), microsoftOps()})
      Out.insert(Out.end(), Table.begin(), Table.end());
    return Out;
  }();
  return All;
}

static std::string keyOf(llvm::StringRef Domain, llvm::StringRef Name) {
  return Domain.str() + "." + Name.str();
}

const OpSpec *llmc::findOp(llvm::StringRef Domain, llvm::StringRef Name) {
  static const llvm::StringMap<const OpSpec *> ByName = [] {
    llvm::StringMap<const OpSpec *> Map;
    for (const OpSpec &Op : allOps())
      Map[keyOf(Op.Domain, Op.Name)] = &Op;
    return Map;
  }();
  for (const Twin &T : Twins)
    if (T.Domain == Domain && T.Name == Name)
      return ByName.lookup(keyOf("", T.Standard));
  if (const OpSpec *Op = ByName.lookup(keyOf(Domain, Name)))
    return Op;
  return findExpandedOp(Domain, Name);
}

llvm::StringRef llmc::similarOp(llvm::StringRef Name) {
  llvm::StringRef Best;
  unsigned BestDistance = Name.size() / 3 + 1;
  for (const OpSpec &Op : allOps()) {
    unsigned Distance =
        Name.edit_distance_insensitive(Op.Name, true, BestDistance);
    if (Distance < BestDistance) {
      BestDistance = Distance;
      Best = Op.Name;
    }
  }
  return Best;
}
