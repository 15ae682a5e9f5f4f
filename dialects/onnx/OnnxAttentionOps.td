// Attention, positions, caches and recurrent mixers as whole ops (opset 23+).
#ifndef LLMC_ONNX_ATTENTION_OPS
#define LLMC_ONNX_ATTENTION_OPS
include "dialects/onnx/OnnxBase.td"

def Onnx_AttentionOp : Onnx_PureOp<"attention"> {
  let summary = "scaled dot product attention with mask, cache and window";
  let description = [{
    Q, K and V are `[batch, heads, seq, size]` or, with the numbers of heads as
    attributes, `[batch, seq, heads * size]`. Key j is visible to query i when
    `is_causal` is 0 or `j <= i + offset`, where offset is the length of the
    past, `nonpad_kv_seqlen - S` with an external cache, else 0; windows bound
    `offset + i - left <= j <= offset + i + right`, -1 meaning no bound. A query
    that sees no key gives zeros. `softmax_precision` is a DataType of ONNX.

    C1: past key and value are both given or both none. C2: nonpad_kv_seqlen
    is none where they are given. C3: q_num_heads is a multiple of
    kv_num_heads, both positive.
  }];
  let arguments = (ins AnyType:$q, AnyType:$k, AnyType:$v, AnyType:$attn_mask,
                       AnyType:$past_key, AnyType:$past_value,
                       AnyType:$nonpad_kv_seqlen,
                       Onnx_Flag<"0">:$is_causal,
                       OptionalAttr<I64Attr>:$q_num_heads,
                       OptionalAttr<I64Attr>:$kv_num_heads,
                       OptionalAttr<F32Attr>:$scale,
                       Onnx_Float<"0.0f">:$softcap,
                       OptionalAttr<I64Attr>:$softmax_precision,
                       DefaultValuedAttr<ConfinedAttr<I64Attr,
                           [IntMinValue<0>, IntMaxValue<3>]>, "0">:$qk_matmul_output_mode,
                       DefaultValuedAttr<ConfinedAttr<I64Attr, [IntMinValue<-1>]>, "-1">:$left_window_size,
                       DefaultValuedAttr<ConfinedAttr<I64Attr, [IntMinValue<-1>]>, "-1">:$right_window_size);
  let results = (outs AnyType:$y, AnyType:$present_key, AnyType:$present_value,
                      AnyType:$qk_matmul_output);
  let hasVerifier = 1;
}
def Onnx_RotaryEmbeddingOp : Onnx_PureOp<"rotary_embedding"> {
  let summary = "rotates pairs of features by angles given as cos and sin";
  let description = [{
    X is `[batch, heads, seq, size]` or, with `num_heads`, `[batch, seq, heads *
    size]`. Caches are `[max, rotated / 2]`, read at position_ids, or without
    those `[batch, seq, rotated / 2]`. `rotary_embedding_dim` 0 rotates all
    features; what is beyond passes through. Pairs are the halves or, when
    interleaved, neighbours.
  }];
  let arguments = (ins AnyType:$x, AnyType:$cos_cache, AnyType:$sin_cache,
                       AnyType:$position_ids, Onnx_Flag<"0">:$interleaved,
                       Onnx_Int<"0">:$rotary_embedding_dim,
                       OptionalAttr<I64Attr>:$num_heads);
  let results = (outs AnyType:$output);
}
def Onnx_TensorScatterOp : Onnx_AxisOp<"tensor_scatter"> {
  let summary = "a cache with the update written at an index per batch";
  let arguments = (ins AnyType:$past_cache, AnyType:$update,
                       AnyType:$write_indices, Onnx_Int<"-2">:$axis,
                       Onnx_Choice<"linear", "\"linear\", \"circular\"", "linear or circular">:$mode);
  let results = (outs AnyType:$output);
}
def Onnx_LinearAttentionOp : Onnx_PureOp<"linear_attention"> {
  let summary = "a recurrent state per head, updated and read token by token";
  let description = [{
    Query, key, value are `[batch, seq, heads * size]`, states `[batch, kv
    heads, key size, value size]`, decay `[batch, seq, kv heads]` or with key
    size behind, beta `[batch, seq, kv heads]` or one per token. Per token:
    `S = e^decay * S`, then `S += k (beta * (v - S^T k))^T` (delta rules) or
    `S += k v^T`, then `out = scale * S^T q`; scale 0 is 1 / sqrt(key size).

    C1: q_num_heads is a multiple of kv_num_heads, both positive.
  }];
  let arguments = (ins AnyType:$query, AnyType:$key, AnyType:$value,
                       AnyType:$past_state, AnyType:$decay, AnyType:$beta,
                       I64Attr:$q_num_heads, I64Attr:$kv_num_heads,
                       Onnx_Choice<"gated_delta", "\"linear\", \"gated\", \"delta\", \"gated_delta\"", "linear, gated, delta or gated_delta">:$update_rule,
                       Onnx_Float<"0.0f">:$scale, Onnx_Int<"64">:$chunk_size);
  let results = (outs AnyType:$output, AnyType:$present_state);
  let hasVerifier = 1;
}
def Onnx_CausalConvWithStateOp : Onnx_PureOp<"causal_conv_with_state"> {
  let summary = "depthwise convolution over past and present positions";
  let description = [{
    Input `[batch, channels, length]`, weight `[channels, 1, k]`, state
    `[batch, channels, k - 1]`: the values before the input, then its last
    ones. `silu` and `swish` are the same activation.
  }];
  let arguments = (ins AnyType:$input, AnyType:$weight, AnyType:$bias,
                       AnyType:$past_state,
                       Onnx_Choice<"none", "\"none\", \"silu\", \"swish\"", "none, silu or swish">:$activation);
  let results = (outs AnyType:$output, AnyType:$present_state);
}
#endif
