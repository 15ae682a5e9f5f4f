// Attention and rotary embedding of ONNX Runtime (domain com.microsoft).
// Letters: B batch, S new tokens, P past, T total, N query heads, KV key-value
// heads, H head size. Source of the semantics: onnxruntime
// docs/ContribOperators.md and measurements against ONNX Runtime 1.32.
#ifndef LLMC_ONNX_MS_ATTENTION_OPS
#define LLMC_ONNX_MS_ATTENTION_OPS
include "dialects/onnx/OnnxBase.td"

def Onnx_CacheQuant : Onnx_Choice<"NONE",
    "\"NONE\", \"PER_TENSOR\", \"PER_CHANNEL\"",
    "NONE, PER_TENSOR or PER_CHANNEL">;

def Onnx_MsGroupQueryAttentionOp : Onnx_PureOp<"ms_group_query_attention"> {
  let summary = "com.microsoft.GroupQueryAttention";
  let description = [{
    `query` is [B, S, N*H] with `key`, `value` [B, S, KV*H], or the three side
    by side [B, S, (N+2*KV)*H] with the latter two absent. `seqlens_k` is the
    number of keys minus one per row. The caches are [B, KV, P, H] and hold
    rotated keys; a presented cache has max(P, T) rows.

    Key j is visible to the query at position p when j <= p (`causal`) and
    j > p - local_window_size (-1: no window). Order: scale (0: 1/sqrt(H)),
    softcap, bias and masks, softmax; `smooth_softmax` 1 is a sink of 0,
    `head_sink` [N] one logit per head that takes part in the sum only.

    C1: num_heads is a multiple of kv_num_heads, both positive. C2: key and
    value are both there or both absent, so are the caches, cos and sin. C3:
    sizes of the last dims agree with heads, where they are known.
  }];
  let arguments = (ins AnyType:$query, AnyType:$key, AnyType:$value,
      AnyType:$past_key, AnyType:$past_value, AnyType:$seqlens_k,
      AnyType:$total_sequence_length, AnyType:$cos_cache, AnyType:$sin_cache,
      AnyType:$position_ids, AnyType:$attention_bias, AnyType:$head_sink,
      AnyType:$k_scale, AnyType:$v_scale, AnyType:$q_norm_weight,
      AnyType:$k_norm_weight, AnyType:$query_seqlens,
      I64Attr:$num_heads, I64Attr:$kv_num_heads, Onnx_Float<"0.0f">:$scale,
      Onnx_Float<"0.0f">:$softcap, Onnx_Int<"-1">:$local_window_size,
      Onnx_Flag<"0">:$do_rotary, Onnx_Flag<"0">:$rotary_interleaved,
      Onnx_Int<"-1">:$smooth_softmax, Onnx_Flag<"1">:$causal,
      Onnx_CacheQuant:$k_quant_type, Onnx_CacheQuant:$v_quant_type,
      Onnx_Int<"8">:$kv_cache_bit_width,
      Onnx_Float<"1e-6f">:$qk_norm_epsilon,
      OptionalAttr<F32Attr>:$q_norm_epsilon,
      OptionalAttr<F32Attr>:$k_norm_epsilon, Onnx_Int<"0">:$qk_output,
      Onnx_Flag<"0">:$sliding_window_cache);
  let results = (outs AnyType:$output, AnyType:$present_key,
                      AnyType:$present_value, AnyType:$output_qk);
  let hasVerifier = 1;
}

def Onnx_MsMultiHeadAttentionOp : Onnx_PureOp<"ms_multi_head_attention"> {
  let summary = "com.microsoft.MultiHeadAttention";
  let description = [{
    `query` [B, S, N*H] with `key` [B, L, N*H] and `value` [B, L, N*Hv]; or
    `query` [B, S, N, 3, H] alone; or `key` [B, L, N, 2, H] without `value`; or
    both of them [B, N, L, H]. `bias` is that of the three projections side by
    side. `key_padding_mask` is int32 [B], [3*B+2], [B, T] or [B, S, T]; what it
    hides gets `mask_filter_value` added. `unidirectional` with a past aligns
    the last query with the last key.

    C1: num_heads is positive. C2: the caches are both there or both absent.
    C3: sizes of the last dims agree with heads, where they are known.
  }];
  let arguments = (ins AnyType:$query, AnyType:$key, AnyType:$value,
      AnyType:$bias, AnyType:$key_padding_mask, AnyType:$attention_bias,
      AnyType:$past_key, AnyType:$past_value, AnyType:$past_sequence_length,
      AnyType:$cache_indirection, I64Attr:$num_heads,
      Onnx_Float<"0.0f">:$scale, Onnx_Float<"-10000.0f">:$mask_filter_value,
      Onnx_Flag<"0">:$unidirectional);
  let results = (outs AnyType:$output, AnyType:$present_key,
                      AnyType:$present_value, AnyType:$qk);
  let hasVerifier = 1;
}

def Onnx_MsAttentionOp : Onnx_PureOp<"ms_attention"> {
  let summary = "com.microsoft.Attention: the projection of q, k, v inside";
  let description = [{
    `input` [B, S, D], `weights` [D, hq + hk + hv] (`qkv_hidden_sizes`, default
    equal thirds), `bias` of as many elements. `mask_index` is int32 [B]
    (lengths), [2*B] (ends, then starts), [3*B+2], [B, T], [B, S, T] or
    [B, 1, M, M]; what it hides gets `mask_filter_value` added. `past` and
    `present` are [2, B, N, P, H].

    C1: num_heads is positive. C2: hidden sizes are positive multiples of
    num_heads and sum up to the columns of the weights.
  }];
  let arguments = (ins AnyType:$input, AnyType:$weights, AnyType:$bias,
      AnyType:$mask_index, AnyType:$past, AnyType:$attention_bias,
      AnyType:$past_sequence_length, I64Attr:$num_heads,
      Onnx_Flag<"0">:$unidirectional,
      OptionalAttr<DenseI64ArrayAttr>:$qkv_hidden_sizes,
      Onnx_Flag<"0">:$do_rotary, Onnx_Int<"0">:$rotary_embedding_dim,
      Onnx_Float<"0.0f">:$scale, Onnx_Float<"-10000.0f">:$mask_filter_value,
      Onnx_Flag<"0">:$past_present_share_buffer);
  let results = (outs AnyType:$output, AnyType:$present);
  let hasVerifier = 1;
}

def Onnx_MsDecoderMaskedMultiHeadAttentionOp
    : Onnx_PureOp<"ms_decoder_masked_multi_head_attention"> {
  let summary = "com.microsoft.DecoderMaskedMultiHeadAttention: one new token";
  let description = [{
    As `ms_multi_head_attention` with S = 1 and operands in another order.
    C1: num_heads is positive.
  }];
  let arguments = (ins AnyType:$query, AnyType:$key, AnyType:$value,
      AnyType:$mask_index, AnyType:$attention_bias, AnyType:$past_key,
      AnyType:$past_value, AnyType:$past_sequence_length, AnyType:$beam_width,
      AnyType:$cache_indirection, AnyType:$bias, I64Attr:$num_heads,
      Onnx_Float<"0.0f">:$scale, Onnx_Float<"-10000.0f">:$mask_filter_value,
      Onnx_Flag<"0">:$past_present_share_buffer, Onnx_Flag<"0">:$output_qk);
  let results = (outs AnyType:$output, AnyType:$present_key,
                      AnyType:$present_value, AnyType:$qk);
  let hasVerifier = 1;
}

def Onnx_MsPagedAttentionOp : Onnx_PureOp<"ms_paged_attention"> {
  let summary = "com.microsoft.PagedAttention: tokens of all rows, caches in blocks";
  let description = [{
    `query` [tokens, N*H] (or q, k, v side by side), `key_cache` and
    `value_cache` [blocks, block size, KV, H], `cumulative_sequence_length`
    [B+1] (first token of each row), `past_seqlens` [B], `block_table`
    [B, blocks per row]. Windows, softcap and sinks as in
    `ms_group_query_attention`.

    C1: num_heads is a multiple of kv_num_heads, both positive. C2: cos and sin
    are both there or both absent.
  }];
  let arguments = (ins AnyType:$query, AnyType:$key, AnyType:$value,
      AnyType:$key_cache, AnyType:$value_cache,
      AnyType:$cumulative_sequence_length, AnyType:$past_seqlens,
      AnyType:$block_table, AnyType:$cos_cache, AnyType:$sin_cache,
      AnyType:$slot_mapping, AnyType:$head_sink, AnyType:$q_norm_weight,
      AnyType:$k_norm_weight, AnyType:$k_scale, AnyType:$v_scale,
      AnyType:$attention_metadata, I64Attr:$num_heads, I64Attr:$kv_num_heads,
      Onnx_Float<"0.0f">:$scale, Onnx_Float<"0.0f">:$softcap,
      Onnx_Int<"-1">:$local_window_size, Onnx_Flag<"0">:$do_rotary,
      Onnx_Flag<"0">:$rotary_interleaved, Onnx_Int<"0">:$rotary_offset,
      Onnx_Flag<"1">:$is_causal, Onnx_Float<"1e-6f">:$qk_norm_epsilon,
      Onnx_CacheQuant:$k_quant_type, Onnx_CacheQuant:$v_quant_type,
      DefaultValuedStrAttr<StrAttr, "">:$k_cache_dtype,
      DefaultValuedStrAttr<StrAttr, "">:$v_cache_dtype,
      DefaultValuedStrAttr<StrAttr, "SEPARATE">:$kv_cache_layout,
      Onnx_Int<"0">:$v_head_size);
  let results = (outs AnyType:$output, AnyType:$key_cache_out,
                      AnyType:$value_cache_out);
  let hasVerifier = 1;
}

def Onnx_MsSparseAttentionOp : Onnx_PureOp<"ms_sparse_attention"> {
  let summary = "com.microsoft.SparseAttention: blocks of keys listed per head group";
  let description = [{
    As `ms_group_query_attention`, with blocks of `sparse_block_size` keys that
    are visible given as CSR: `block_row_indices` [layouts, blocks + 1],
    `block_col_indices` [layouts, non-zeros]; head h uses layout h % layouts.

    C1: num_heads is a multiple of kv_num_heads, both positive.
  }];
  let arguments = (ins AnyType:$query, AnyType:$key, AnyType:$value,
      AnyType:$past_key, AnyType:$past_value, AnyType:$block_row_indices,
      AnyType:$block_col_indices, AnyType:$total_sequence_length,
      AnyType:$key_total_sequence_lengths, AnyType:$cos_cache,
      AnyType:$sin_cache, I64Attr:$num_heads, I64Attr:$kv_num_heads,
      I64Attr:$sparse_block_size, Onnx_Float<"0.0f">:$scale,
      Onnx_Flag<"0">:$do_rotary, Onnx_Flag<"0">:$rotary_interleaved);
  let results = (outs AnyType:$output, AnyType:$present_key,
                      AnyType:$present_value);
  let hasVerifier = 1;
}

def Onnx_MsRotaryEmbeddingOp : Onnx_PureOp<"ms_rotary_embedding"> {
  let summary = "com.microsoft.RotaryEmbedding";
  let description = [{
    `input` [B, S, N*H] or [B, N, S, H]; `position_ids` [B, S], or one element
    that is the position of the first token; caches [max, rotated/2]. In the
    3-D form H is twice the caches' width unless `num_heads` and
    `rotary_embedding_dim` say otherwise. The result is multiplied by nothing:
    `scale` is kept for the file's sake.

    C1: num_heads and rotary_embedding_dim are not negative, and the latter
    comes with the former where the input has 3 dims. C2: both caches have the
    same width.
  }];
  let arguments = (ins AnyType:$input, AnyType:$position_ids,
      AnyType:$cos_cache, AnyType:$sin_cache, Onnx_Flag<"0">:$interleaved,
      Onnx_Int<"0">:$num_heads, Onnx_Int<"0">:$rotary_embedding_dim,
      Onnx_Float<"1.0f">:$scale, Onnx_Flag<"0">:$is_packed_batching);
  let results = (outs AnyType:$output);
  let hasVerifier = 1;
}

def Onnx_MsMRotaryEmbeddingOp : Onnx_PureOp<"ms_m_rotary_embedding"> {
  let summary = "com.microsoft.MRotaryEmbedding: sections of the head rotate by positions of their own";
  let description = [{
    As `ms_rotary_embedding` with `position_ids` [sections, B, S]. `mrope_layout`
    0: section i covers the next `mrope_section[i]` frequencies; 1: frequency f
    belongs to section f % 3 as long as that section lasts, else to the first.

    C1: mrope_section has positive entries.
  }];
  let arguments = (ins AnyType:$input, AnyType:$position_ids,
      AnyType:$cos_cache, AnyType:$sin_cache,
      DenseI64ArrayAttr:$mrope_section, Onnx_Flag<"0">:$mrope_layout,
      Onnx_Flag<"0">:$interleaved, Onnx_Int<"0">:$num_heads,
      Onnx_Int<"0">:$rotary_embedding_dim, Onnx_Float<"1.0f">:$scale,
      Onnx_Flag<"0">:$is_packed_batching);
  let results = (outs AnyType:$output);
  let hasVerifier = 1;
}

def Onnx_MsGemmaRotaryEmbeddingOp : Onnx_PureOp<"ms_gemma_rotary_embedding"> {
  let summary = "com.microsoft.GemmaRotaryEmbedding: x * cos(emb) + x_rot * sin(emb) of q and k";
  let arguments = (ins AnyType:$emb, AnyType:$q, AnyType:$q_rot, AnyType:$k,
                       AnyType:$k_rot);
  let results = (outs AnyType:$output1, AnyType:$output2);
}
#endif
