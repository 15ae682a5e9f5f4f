// Ops of ONNX Runtime (domain com.microsoft) that have an op of the dialect.
// What can be said with standard ops is in MsExpand.cpp instead. Required
// inputs behind optional ones are the business of the verifiers.
#include "compiler/frontend/onnx/Signatures.h"

using namespace llmc;

namespace {
constexpr AttrSpec GroupQueryAttentionAttrs[] = {
    {"num_heads", AttrKind::Int, true},
    {"kv_num_heads", AttrKind::Int, true},
    {"scale", AttrKind::Float},
    {"softcap", AttrKind::Float},
    {"local_window_size", AttrKind::Int},
    {"do_rotary", AttrKind::Int},
    {"rotary_interleaved", AttrKind::Int},
    {"smooth_softmax", AttrKind::Int},
    {"causal", AttrKind::Int},
    {"k_quant_type", AttrKind::String},
    {"v_quant_type", AttrKind::String},
    {"kv_cache_bit_width", AttrKind::Int},
    {"qk_norm_epsilon", AttrKind::Float},
    {"q_norm_epsilon", AttrKind::Float},
    {"k_norm_epsilon", AttrKind::Float},
    {"qk_output", AttrKind::Int},
    {"sliding_window_cache", AttrKind::Int}};
constexpr AttrSpec MultiHeadAttentionAttrs[] = {
    {"num_heads", AttrKind::Int, true},
    {"scale", AttrKind::Float},
    {"mask_filter_value", AttrKind::Float},
    {"unidirectional", AttrKind::Int}};
constexpr AttrSpec AttentionAttrs[] = {
    {"num_heads", AttrKind::Int, true},
    {"unidirectional", AttrKind::Int},
    {"qkv_hidden_sizes", AttrKind::Ints},
    {"do_rotary", AttrKind::Int},
    {"rotary_embedding_dim", AttrKind::Int},
    {"scale", AttrKind::Float},
    {"mask_filter_value", AttrKind::Float},
    {"past_present_share_buffer", AttrKind::Int}};
constexpr AttrSpec DecoderMaskedMultiHeadAttentionAttrs[] = {
    {"num_heads", AttrKind::Int, true},
    {"scale", AttrKind::Float},
    {"mask_filter_value", AttrKind::Float},
    {"past_present_share_buffer", AttrKind::Int},
    {"output_qk", AttrKind::Int}};
constexpr AttrSpec PagedAttentionAttrs[] = {
    {"num_heads", AttrKind::Int, true},
    {"kv_num_heads", AttrKind::Int, true},
    {"scale", AttrKind::Float},
    {"softcap", AttrKind::Float},
    {"local_window_size", AttrKind::Int},
    {"do_rotary", AttrKind::Int},
    {"rotary_interleaved", AttrKind::Int},
    {"rotary_offset", AttrKind::Int},
    {"is_causal", AttrKind::Int},
    {"qk_norm_epsilon", AttrKind::Float},
    {"k_quant_type", AttrKind::String},
    {"v_quant_type", AttrKind::String},
    {"k_cache_dtype", AttrKind::String},
    {"v_cache_dtype", AttrKind::String},
    {"kv_cache_layout", AttrKind::String},
    {"v_head_size", AttrKind::Int}};
constexpr AttrSpec SparseAttentionAttrs[] = {
    {"num_heads", AttrKind::Int, true},
    {"kv_num_heads", AttrKind::Int, true},
    {"sparse_block_size", AttrKind::Int, true},
    {"scale", AttrKind::Float},
    {"do_rotary", AttrKind::Int},
    {"rotary_interleaved", AttrKind::Int}};
constexpr AttrSpec RotaryEmbeddingAttrs[] = {
    {"interleaved", AttrKind::Int},
    {"num_heads", AttrKind::Int},
    {"rotary_embedding_dim", AttrKind::Int},
    {"scale", AttrKind::Float},
    {"is_packed_batching", AttrKind::Int}};
constexpr AttrSpec MRotaryEmbeddingAttrs[] = {
    {"mrope_section", AttrKind::Ints, true}, {"mrope_layout", AttrKind::Int},
    {"interleaved", AttrKind::Int},          {"num_heads", AttrKind::Int},
    {"rotary_embedding_dim", AttrKind::Int}, {"scale", AttrKind::Float},
    {"is_packed_batching", AttrKind::Int}};
constexpr AttrSpec FusedMatMulAttrs[] = {{"alpha", AttrKind::Float},
                                         {"transA", AttrKind::Int},
                                         {"transB", AttrKind::Int},
                                         {"transBatchA", AttrKind::Int},
                                         {"transBatchB", AttrKind::Int}};
constexpr AttrSpec MatMulNBitsAttrs[] = {
    {"K", AttrKind::Int, true},        {"N", AttrKind::Int, true},
    {"bits", AttrKind::Int},           {"block_size", AttrKind::Int, true},
    {"accuracy_level", AttrKind::Int}, {"weight_prepacked", AttrKind::Int}};
constexpr AttrSpec MatMulBnb4Attrs[] = {
    {"K", AttrKind::Int, true},          {"N", AttrKind::Int, true},
    {"block_size", AttrKind::Int, true}, {"quant_type", AttrKind::Int, true},
    {"training_mode", AttrKind::Int},    {"transB", AttrKind::Int}};
constexpr AttrSpec GatherBlockQuantizedAttrs[] = {
    {"bits", AttrKind::Int},
    {"block_size", AttrKind::Int},
    {"gather_axis", AttrKind::Int},
    {"quantize_axis", AttrKind::Int}};
constexpr AttrSpec MatMulBlockQuantizedFp8WeightAttrs[] = {
    {"block_size", AttrKind::Int}};
constexpr AttrSpec MoEAttrs[] = {
    {"k", AttrKind::Int},
    {"activation_type", AttrKind::String},
    {"activation_alpha", AttrKind::Float},
    {"activation_beta", AttrKind::Float},
    {"normalize_routing_weights", AttrKind::Int},
    {"use_sparse_mixer", AttrKind::Int},
    {"swiglu_fusion", AttrKind::Int},
    {"swiglu_limit", AttrKind::Float},
    {"swiglu_limit_after_activation", AttrKind::Int}};
constexpr AttrSpec QMoEAttrs[] = {
    {"k", AttrKind::Int},
    {"activation_type", AttrKind::String},
    {"activation_alpha", AttrKind::Float},
    {"activation_beta", AttrKind::Float},
    {"normalize_routing_weights", AttrKind::Int},
    {"use_sparse_mixer", AttrKind::Int},
    {"swiglu_fusion", AttrKind::Int},
    {"swiglu_limit", AttrKind::Float},
    {"swiglu_limit_after_activation", AttrKind::Int},
    {"expert_weight_bits", AttrKind::Int},
    {"fc1_expert_weight_bits", AttrKind::Int},
    {"fc2_expert_weight_bits", AttrKind::Int},
    {"fc3_expert_weight_bits", AttrKind::Int},
    {"block_size", AttrKind::Int},
    {"quant_type", AttrKind::String},
    {"weights_prepacked", AttrKind::Int},
    {"accuracy_level", AttrKind::Int}};
constexpr llvm::ArrayRef<AttrSpec> None = {};

using E = ElementRule;
constexpr llvm::StringLiteral Domain = "com.microsoft";
const OpSpec Ops[] = {
    {"GroupQueryAttention", "onnx.ms_group_query_attention", 1, 17, 4,
     E::Operand0ThenCaches, GroupQueryAttentionAttrs, Domain},
    {"MultiHeadAttention", "onnx.ms_multi_head_attention", 1, 10, 4,
     E::Operand0, MultiHeadAttentionAttrs, Domain},
    {"Attention", "onnx.ms_attention", 2, 7, 2, E::Operand0, AttentionAttrs,
     Domain},
    {"DecoderMaskedMultiHeadAttention",
     "onnx.ms_decoder_masked_multi_head_attention", 1, 11, 4, E::Operand0,
     DecoderMaskedMultiHeadAttentionAttrs, Domain},
    {"PagedAttention", "onnx.ms_paged_attention", 1, 17, 3,
     E::Operand0ThenCaches, PagedAttentionAttrs, Domain},
    {"SparseAttention", "onnx.ms_sparse_attention", 1, 11, 3, E::Operand0,
     SparseAttentionAttrs, Domain},
    {"RotaryEmbedding", "onnx.ms_rotary_embedding", 4, 4, 1, E::Operand0,
     RotaryEmbeddingAttrs, Domain},
    {"MRotaryEmbedding", "onnx.ms_m_rotary_embedding", 4, 4, 1, E::Operand0,
     MRotaryEmbeddingAttrs, Domain},
    {"GemmaRotaryEmbedding", "onnx.ms_gemma_rotary_embedding", 5, 5, 2,
     E::Operand1, None, Domain},
    {"FusedMatMul", "onnx.ms_fused_mat_mul", 2, 2, 1, E::Operand0,
     FusedMatMulAttrs, Domain},
    {"MatMulNBits", "onnx.ms_mat_mul_n_bits", 3, 6, 1, E::Operand0,
     MatMulNBitsAttrs, Domain},
    {"MatMulBnb4", "onnx.ms_mat_mul_bnb4", 3, 3, 1, E::Operand0,
     MatMulBnb4Attrs, Domain},
    {"GatherBlockQuantized", "onnx.ms_gather_block_quantized", 3, 4, 1,
     E::Operand2, GatherBlockQuantizedAttrs, Domain},
    {"MatMulBlockQuantizedFp8Weight",
     "onnx.ms_mat_mul_block_quantized_fp8_weight", 3, 5, 1, E::Operand0,
     MatMulBlockQuantizedFp8WeightAttrs, Domain},
    {"MoE", "onnx.ms_moe", 3, 8, 1, E::Operand0, MoEAttrs, Domain},
    {"QMoE", "onnx.ms_q_moe", 3, 21, 1, E::Operand0, QMoEAttrs, Domain},
};
} // namespace

llvm::ArrayRef<OpSpec> llmc::microsoftOps() { return Ops; }
