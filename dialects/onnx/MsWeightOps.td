// Ops of ONNX Runtime (domain com.microsoft) that carry quantised or
// transposed weights, experts included. Source of the semantics: onnxruntime
// docs/ContribOperators.md and measurements against ONNX Runtime 1.32.
#ifndef LLMC_ONNX_MS_WEIGHT_OPS
#define LLMC_ONNX_MS_WEIGHT_OPS
include "dialects/onnx/OnnxBase.td"

def Onnx_MsFusedMatMulOp : Onnx_PureOp<"ms_fused_mat_mul"> {
  let summary = "com.microsoft.FusedMatMul: alpha * op(A) op(B)";
  let description = [{
    transA and transB swap the last two dims; transBatchA and transBatchB move
    the first dim next to last beforehand.
  }];
  let arguments = (ins AnyType:$a, AnyType:$b, Onnx_Float<"1.0f">:$alpha,
      Onnx_Flag<"0">:$transA, Onnx_Flag<"0">:$transB,
      Onnx_Flag<"0">:$transBatchA, Onnx_Flag<"0">:$transBatchB);
  let results = (outs AnyType:$output);
}

def Onnx_MsMatMulNBitsOp : Onnx_PureOp<"ms_mat_mul_n_bits"> {
  let summary = "com.microsoft.MatMulNBits: A times the transpose of W [N, K], blockwise quantised";
  let description = [{
    W[n, k] = (q - z) * scales[n, k / block_size], or with `g_idx`
    scales[n, g_idx[k]]. `b` is [N, blocks, block_size * bits / 8] bytes, lowest
    bits first; blocks = ceil(K / block_size). `zero_points` are packed the same
    way along the blocks, each row of them starting on a byte, or numbers of the
    scales' type; absent: 2^(bits-1).

    C1: bits is 2, 4 or 8, block_size a power of two >= 16, K and N positive.
    C2: weight_prepacked is 0. C3: the elements of each operand are as many as
    N, K and block_size demand. C4: the last dim of A is K.
  }];
  let arguments = (ins AnyType:$a, AnyType:$b, AnyType:$scales,
      AnyType:$zero_points, AnyType:$g_idx, AnyType:$bias, I64Attr:$K,
      I64Attr:$N, Onnx_Int<"4">:$bits, I64Attr:$block_size,
      Onnx_Int<"0">:$accuracy_level, Onnx_Int<"0">:$weight_prepacked);
  let results = (outs AnyType:$output);
  let hasVerifier = 1;
}

def Onnx_MsMatMulBnb4Op : Onnx_PureOp<"ms_mat_mul_bnb4"> {
  let summary = "com.microsoft.MatMulBnb4: A times the transpose of W [N, K], 4-bit codebook of bitsandbytes";
  let description = [{
    `b` holds N*K codes row by row, the high nibble first; `absmax` one float
    per block_size codes. quant_type 0 is FP4, 1 NF4. `transB` 0 multiplies by
    W as [K, N] read from the same rows.

    C1: quant_type is 0 or 1, K, N and block_size are positive. C2: `b` and
    `absmax` have the sizes that follow. C3: the last dim of A is K.
  }];
  let arguments = (ins AnyType:$a, AnyType:$b, AnyType:$absmax, I64Attr:$K,
      I64Attr:$N, I64Attr:$block_size, I64Attr:$quant_type,
      Onnx_Flag<"0">:$training_mode, Onnx_Flag<"1">:$transB);
  let results = (outs AnyType:$output);
  let hasVerifier = 1;
}

def Onnx_MsGatherBlockQuantizedOp : Onnx_PureOp<"ms_gather_block_quantized"> {
  let summary = "com.microsoft.GatherBlockQuantized: rows of a blockwise quantised table";
  let description = [{
    `data` of 8-bit type holds `bits`-bit codes packed along the last dim,
    lowest bits first; 4-bit types hold one code per element. Scales and zero
    points have one element per block_size codes of quantize_axis (0: one per
    row); those of 8-bit type are packed like the data. Without zero points
    unsigned bytes have 2^(bits-1), others 0. An index out of range gives zeros.

    C1: bits is 2, 4 or 8, block_size 0 or a power of two >= 16. C2: scales
    have the dims that follow from the data's.
  }];
  let arguments = (ins AnyType:$data, AnyType:$indices, AnyType:$scales,
      AnyType:$zero_points, Onnx_Int<"4">:$bits, Onnx_Int<"128">:$block_size,
      Onnx_Int<"0">:$gather_axis, Onnx_Int<"1">:$quantize_axis);
  let results = (outs AnyType:$output);
  let hasVerifier = 1;
}

def Onnx_MsMatMulBlockQuantizedFp8WeightOp
    : Onnx_PureOp<"ms_mat_mul_block_quantized_fp8_weight"> {
  let summary = "com.microsoft.MatMulBlockQuantizedFp8Weight: A times the transpose of W [N, K] in e4m3";
  let description = [{
    W[n, k] = b[n, k] * b_scale[n, k / block_size]; `a_scale` only says with
    which scale A may be quantised.
  }];
  let arguments = (ins AnyType:$a, AnyType:$b, AnyType:$b_scale,
      AnyType:$a_scale, AnyType:$bias, Onnx_Int<"128">:$block_size);
  let results = (outs AnyType:$output);
}

def Onnx_MsMoEOp : Onnx_PureOp<"ms_moe"> {
  let summary = "com.microsoft.MoE: the k best experts of each token";
  let description = [{
    `input` [.., D], `router_probs` [tokens, E] logits; softmax over all
    experts, the k largest (renormalised to sum 1 with
    `normalize_routing_weights`) weigh the experts' results.
    `fc1_experts_weights` [E, F*I, D] (or [E, D, F*I]), `fc2_experts_weights`
    [E, D, I] (or [E, I, D]), `fc3_experts_weights` [E, I, D] multiplies the
    activated fc1. `swiglu_fusion` 1: gate and linear rows alternate, 2: the
    gates come first; then F is 2. SwiGLU is
    min(g, limit) * sigmoid(alpha * g) * (clamp(l, limit) + beta).

    C1: k is positive.
  }];
  let arguments = (ins AnyType:$input, AnyType:$router_probs,
      AnyType:$fc1_experts_weights, AnyType:$fc1_experts_bias,
      AnyType:$fc2_experts_weights, AnyType:$fc2_experts_bias,
      AnyType:$fc3_experts_weights, AnyType:$fc3_experts_bias,
      Onnx_Int<"1">:$k,
      Onnx_Choice<"relu", "\"relu\", \"gelu\", \"silu\", \"swiglu\", \"identity\", \"relu2\", \"geglu\"", "relu, gelu, silu, swiglu, identity, relu2 or geglu">:$activation_type,
      Onnx_Float<"1.0f">:$activation_alpha, Onnx_Float<"0.0f">:$activation_beta,
      Onnx_Flag<"0">:$normalize_routing_weights,
      Onnx_Flag<"0">:$use_sparse_mixer, Onnx_Int<"0">:$swiglu_fusion,
      OptionalAttr<F32Attr>:$swiglu_limit,
      Onnx_Flag<"0">:$swiglu_limit_after_activation);
  let results = (outs AnyType:$output);
  let hasVerifier = 1;
}

def Onnx_MsQMoEOp : Onnx_PureOp<"ms_q_moe"> {
  let summary = "com.microsoft.QMoE: MoE with quantised experts";
  let description = [{
    As `ms_moe`; weights are bytes [E, rows, K / (8 / bits)], lowest bits
    first, scales [E, rows] or [E, rows, K / block_size], zero points packed
    like the weights (absent: 2^(bits-1)). With `router_weights` the experts
    are chosen by `router_probs` and weighed by these.

    C1: k is positive. C2: bits are 2, 4 or 8 where quant_type is int.
  }];
  let arguments = (ins AnyType:$input, AnyType:$router_probs,
      AnyType:$fc1_experts_weights, AnyType:$fc1_scales,
      AnyType:$fc1_experts_bias, AnyType:$fc2_experts_weights,
      AnyType:$fc2_scales, AnyType:$fc2_experts_bias,
      AnyType:$fc3_experts_weights, AnyType:$fc3_scales,
      AnyType:$fc3_experts_bias, AnyType:$fc1_zero_points,
      AnyType:$fc2_zero_points, AnyType:$fc3_zero_points,
      AnyType:$router_weights, AnyType:$fc1_global_scale,
      AnyType:$fc2_global_scale, AnyType:$fc1_act_scale, AnyType:$fc2_act_scale,
      AnyType:$fc1_act_block_scale, AnyType:$fc2_act_block_scale,
      Onnx_Int<"1">:$k,
      Onnx_Choice<"relu", "\"relu\", \"gelu\", \"silu\", \"swiglu\", \"identity\", \"relu2\", \"geglu\"", "relu, gelu, silu, swiglu, identity, relu2 or geglu">:$activation_type,
      Onnx_Float<"1.0f">:$activation_alpha, Onnx_Float<"0.0f">:$activation_beta,
      Onnx_Flag<"0">:$normalize_routing_weights,
      Onnx_Flag<"0">:$use_sparse_mixer, Onnx_Int<"0">:$swiglu_fusion,
      OptionalAttr<F32Attr>:$swiglu_limit,
      Onnx_Flag<"0">:$swiglu_limit_after_activation,
      Onnx_Int<"4">:$expert_weight_bits,
      OptionalAttr<I64Attr>:$fc1_expert_weight_bits,
      OptionalAttr<I64Attr>:$fc2_expert_weight_bits,
      OptionalAttr<I64Attr>:$fc3_expert_weight_bits,
      Onnx_Int<"0">:$block_size,
      Onnx_Choice<"int", "\"int\", \"fp4\", \"nvfp4\", \"fp8\", \"wfp4afp8\"", "int, fp4, nvfp4, fp8 or wfp4afp8">:$quant_type,
      Onnx_Int<"-1">:$weights_prepacked, Onnx_Int<"0">:$accuracy_level);
  let results = (outs AnyType:$output);
  let hasVerifier = 1;
}
#endif
