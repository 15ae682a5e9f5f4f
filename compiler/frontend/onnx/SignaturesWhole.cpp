// The table of ops that are more than a primitive: activations with
// parameters, whole attention, quantisation, rarer norms and rearrangements.
#include "compiler/frontend/onnx/Signatures.h"

using namespace llmc;

namespace {
constexpr AttrKind Int = AttrKind::Int, Ints = AttrKind::Ints,
                   Float = AttrKind::Float, String = AttrKind::String,
                   ElementType = AttrKind::Type;
constexpr AttrSpec AlphaAttrs[] = {{"alpha", Float}};
constexpr AttrSpec SeluAttrs[] = {{"alpha", Float}, {"gamma", Float}};
constexpr AttrSpec HardSigmoidAttrs[] = {{"alpha", Float}, {"beta", Float}};
constexpr AttrSpec ShrinkAttrs[] = {{"bias", Float}, {"lambd", Float}};
constexpr AttrSpec ShiftAttrs[] = {{"direction", String, true}};
constexpr AttrSpec ToAttrs[] = {{"to", ElementType, true}};
constexpr AttrSpec AttentionAttrs[] = {{"is_causal", Int},
                                       {"q_num_heads", Int},
                                       {"kv_num_heads", Int},
                                       {"scale", Float},
                                       {"softcap", Float},
                                       {"softmax_precision", Int},
                                       {"qk_matmul_output_mode", Int},
                                       {"left_window_size", Int},
                                       {"right_window_size", Int}};
constexpr AttrSpec RotaryAttrs[] = {
    {"interleaved", Int}, {"rotary_embedding_dim", Int}, {"num_heads", Int}};
constexpr AttrSpec TensorScatterAttrs[] = {{"axis", Int}, {"mode", String}};
constexpr AttrSpec LinearAttentionAttrs[] = {{"q_num_heads", Int, true},
                                             {"kv_num_heads", Int, true},
                                             {"update_rule", String},
                                             {"scale", Float},
                                             {"chunk_size", Int}};
constexpr AttrSpec CausalConvAttrs[] = {{"activation", String}};
constexpr AttrSpec QuantizeAttrs[] = {{"axis", Int},
                                      {"block_size", Int},
                                      {"saturate", Int},
                                      {"output_dtype", ElementType},
                                      {"precision", ElementType}};
constexpr AttrSpec DequantizeAttrs[] = {
    {"axis", Int}, {"block_size", Int}, {"output_dtype", ElementType}};
constexpr AttrSpec ConvAttrs[] = {{"auto_pad", String}, {"dilations", Ints},
                                  {"group", Int},       {"kernel_shape", Ints},
                                  {"pads", Ints},       {"strides", Ints}};
constexpr AttrSpec GroupNormAttrs[] = {
    {"epsilon", Float}, {"num_groups", Int, true}, {"stash_type", Int}};
constexpr AttrSpec EpsilonAttrs[] = {{"epsilon", Float}};
constexpr AttrSpec BatchNormAttrs[] = {
    {"epsilon", Float}, {"momentum", Float}, {"training_mode", Int}};
constexpr AttrSpec LpNormAttrs[] = {{"axis", Int}, {"p", Int}};
constexpr AttrSpec AxesAttrs[] = {{"axes", Ints}};
constexpr AttrSpec AxisAttrs[] = {{"axis", Int}};
constexpr AttrSpec EinsumAttrs[] = {{"equation", String, true}};
constexpr AttrSpec CumAttrs[] = {{"exclusive", Int}, {"reverse", Int}};
constexpr AttrSpec ReduceAttrs[] = {{"keepdims", Int},
                                    {"noop_with_empty_axes", Int}};
constexpr AttrSpec SequenceAttrs[] = {{"batch_axis", Int}, {"time_axis", Int}};
constexpr AttrSpec UniqueAttrs[] = {{"axis", Int}, {"sorted", Int}};
constexpr AttrSpec DepthAttrs[] = {{"blocksize", Int, true}, {"mode", String}};
constexpr llvm::ArrayRef<AttrSpec> None = {};

using E = ElementRule;
const OpSpec Ops[] = {
    {"Acos", "onnx.acos", 1, 1, 1, E::Operand0, None},
    {"Acosh", "onnx.acosh", 1, 1, 1, E::Operand0, None},
    {"Asin", "onnx.asin", 1, 1, 1, E::Operand0, None},
    {"Asinh", "onnx.asinh", 1, 1, 1, E::Operand0, None},
    {"Atan", "onnx.atan", 1, 1, 1, E::Operand0, None},
    {"Atanh", "onnx.atanh", 1, 1, 1, E::Operand0, None},
    {"Cosh", "onnx.cosh", 1, 1, 1, E::Operand0, None},
    {"Sinh", "onnx.sinh", 1, 1, 1, E::Operand0, None},
    {"Tan", "onnx.tan", 1, 1, 1, E::Operand0, None},
    {"Softsign", "onnx.softsign", 1, 1, 1, E::Operand0, None},
    {"Mish", "onnx.mish", 1, 1, 1, E::Operand0, None},
    {"HardSwish", "onnx.hard_swish", 1, 1, 1, E::Operand0, None},
    {"PRelu", "onnx.p_relu", 2, 2, 1, E::Operand0, None},
    {"Celu", "onnx.celu", 1, 1, 1, E::Operand0, AlphaAttrs},
    {"Elu", "onnx.elu", 1, 1, 1, E::Operand0, AlphaAttrs},
    {"LeakyRelu", "onnx.leaky_relu", 1, 1, 1, E::Operand0, AlphaAttrs},
    {"ThresholdedRelu", "onnx.thresholded_relu", 1, 1, 1, E::Operand0,
     AlphaAttrs},
    {"Swish", "onnx.swish", 1, 1, 1, E::Operand0, AlphaAttrs},
    {"Selu", "onnx.selu", 1, 1, 1, E::Operand0, SeluAttrs},
    {"HardSigmoid", "onnx.hard_sigmoid", 1, 1, 1, E::Operand0,
     HardSigmoidAttrs},
    {"Shrink", "onnx.shrink", 1, 1, 1, E::Operand0, ShrinkAttrs},
    {"SwiGLU", "onnx.swi_glu", 2, 2, 1, E::Operand0, AlphaAttrs},
    {"BitwiseNot", "onnx.bitwise_not", 1, 1, 1, E::Operand0, None},
    {"BitwiseAnd", "onnx.bitwise_and", 2, 2, 1, E::Operand0, None},
    {"BitwiseOr", "onnx.bitwise_or", 2, 2, 1, E::Operand0, None},
    {"BitwiseXor", "onnx.bitwise_xor", 2, 2, 1, E::Operand0, None},
    {"BitShift", "onnx.bit_shift", 2, 2, 1, E::Operand0, ShiftAttrs},
    {"BitCast", "onnx.bit_cast", 1, 1, 1, E::To, ToAttrs},
    {"Attention", "onnx.attention", 3, 7, 4, E::Attention, AttentionAttrs},
    {"RotaryEmbedding", "onnx.rotary_embedding", 3, 4, 1, E::Operand0,
     RotaryAttrs},
    {"TensorScatter", "onnx.tensor_scatter", 2, 3, 1, E::Operand0,
     TensorScatterAttrs},
    {"LinearAttention", "onnx.linear_attention", 3, 6, 2, E::State,
     LinearAttentionAttrs},
    {"CausalConvWithState", "onnx.causal_conv_with_state", 2, 4, 2, E::State,
     CausalConvAttrs},
    {"QuantizeLinear", "onnx.quantize_linear", 2, 3, 1, E::Quantize,
     QuantizeAttrs},
    {"DequantizeLinear", "onnx.dequantize_linear", 2, 3, 1, E::Dequantize,
     DequantizeAttrs},
    {"DynamicQuantizeLinear", "onnx.dynamic_quantize_linear", 1, 1, 3,
     E::DynamicQuantize, None},
    {"MatMulInteger", "onnx.mat_mul_integer", 2, 4, 1, E::Int32, None},
    {"QLinearMatMul", "onnx.q_linear_mat_mul", 8, 8, 1, E::Operand7, None},
    {"Conv", "onnx.conv", 2, 3, 1, E::Operand0, ConvAttrs},
    {"ConvInteger", "onnx.conv_integer", 2, 4, 1, E::Int32, ConvAttrs},
    {"GroupNormalization", "onnx.group_normalization", 3, 3, 1, E::Operand0,
     GroupNormAttrs},
    {"InstanceNormalization", "onnx.instance_normalization", 3, 3, 1,
     E::Operand0, EpsilonAttrs},
    {"BatchNormalization", "onnx.batch_normalization", 5, 5, 1, E::Operand0,
     BatchNormAttrs},
    {"LpNormalization", "onnx.lp_normalization", 1, 1, 1, E::Operand0,
     LpNormAttrs},
    {"MeanVarianceNormalization", "onnx.mean_variance_normalization", 1, 1, 1,
     E::Operand0, AxesAttrs},
    {"Hardmax", "onnx.hardmax", 1, 1, 1, E::Operand0, AxisAttrs},
    {"Einsum", "onnx.einsum", 1, -1, 1, E::Operand0, EinsumAttrs},
    {"CumProd", "onnx.cum_prod", 2, 2, 1, E::Operand0, CumAttrs},
    {"ReduceL1", "onnx.reduce_l1", 1, 2, 1, E::Operand0, ReduceAttrs},
    {"ReduceLogSum", "onnx.reduce_log_sum", 1, 2, 1, E::Operand0, ReduceAttrs},
    {"ReduceLogSumExp", "onnx.reduce_log_sum_exp", 1, 2, 1, E::Operand0,
     ReduceAttrs},
    {"Compress", "onnx.compress", 2, 2, 1, E::Operand0, AxisAttrs},
    {"ReverseSequence", "onnx.reverse_sequence", 2, 2, 1, E::Operand0,
     SequenceAttrs},
    {"Unique", "onnx.unique", 1, 1, 4, E::Operand0ThenInt64, UniqueAttrs},
    {"CenterCropPad", "onnx.center_crop_pad", 2, 2, 1, E::Operand0, AxesAttrs},
    {"DepthToSpace", "onnx.depth_to_space", 1, 1, 1, E::Operand0, DepthAttrs},
    {"SpaceToDepth", "onnx.space_to_depth", 1, 1, 1, E::Operand0, DepthAttrs},
};
} // namespace

llvm::ArrayRef<OpSpec> llmc::wholeOps() { return Ops; }
