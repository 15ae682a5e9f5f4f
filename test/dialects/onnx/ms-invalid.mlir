// RUN: llmc-opt %s -split-input-file -verify-diagnostics
// Verifiers of the com.microsoft ops: one case per constraint; messages have the ONNX names.

func.func @gqa_heads(%q: tensor<1x4x48xf32>, %k: tensor<1x4x32xf32>, %n: none, %l: tensor<1xi32>, %t: tensor<i32>) {
  // expected-error @+1 {{GroupQueryAttention: C1: num_heads 3 is no multiple of kv_num_heads 2}}
  %0:4 = onnx.ms_group_query_attention %q, %k, %k, %n, %n, %l, %t, %n, %n, %n, %n, %n, %n, %n, %n, %n, %n {num_heads = 3 : i64, kv_num_heads = 2 : i64} : (tensor<1x4x48xf32>, tensor<1x4x32xf32>, tensor<1x4x32xf32>, none, none, tensor<1xi32>, tensor<i32>, none, none, none, none, none, none, none, none, none, none) -> (tensor<*xf32>, tensor<*xf32>, tensor<*xf32>, tensor<*xf32>)
  return
}

// -----

func.func @gqa_pair(%q: tensor<1x4x64xf32>, %k: tensor<1x4x32xf32>, %n: none, %l: tensor<1xi32>, %t: tensor<i32>) {
  // expected-error @+1 {{GroupQueryAttention: C2: key is there without value}}
  %0:4 = onnx.ms_group_query_attention %q, %k, %n, %n, %n, %l, %t, %n, %n, %n, %n, %n, %n, %n, %n, %n, %n {num_heads = 4 : i64, kv_num_heads = 2 : i64} : (tensor<1x4x64xf32>, tensor<1x4x32xf32>, none, none, none, tensor<1xi32>, tensor<i32>, none, none, none, none, none, none, none, none, none, none) -> (tensor<*xf32>, tensor<*xf32>, tensor<*xf32>, tensor<*xf32>)
  return
}

// -----

func.func @gqa_sizes(%q: tensor<1x4x60xf32>, %n: none, %l: tensor<1xi32>, %t: tensor<i32>) {
  // expected-error @+1 {{GroupQueryAttention: C3: the last dim of query is 60, expected a multiple of 8 heads}}
  %0:4 = onnx.ms_group_query_attention %q, %n, %n, %n, %n, %l, %t, %n, %n, %n, %n, %n, %n, %n, %n, %n, %n {num_heads = 4 : i64, kv_num_heads = 2 : i64} : (tensor<1x4x60xf32>, none, none, none, none, tensor<1xi32>, tensor<i32>, none, none, none, none, none, none, none, none, none, none) -> (tensor<*xf32>, tensor<*xf32>, tensor<*xf32>, tensor<*xf32>)
  return
}

// -----

func.func @attention_columns(%x: tensor<1x4x8xf32>, %w: tensor<8x20xf32>, %n: none) {
  // expected-error @+1 {{Attention: C2: weights have 20 columns, expected a multiple of 3 * 2 heads}}
  %0:2 = onnx.ms_attention %x, %w, %n, %n, %n, %n, %n {num_heads = 2 : i64} : (tensor<1x4x8xf32>, tensor<8x20xf32>, none, none, none, none, none) -> (tensor<*xf32>, tensor<*xf32>)
  return
}

// -----

func.func @rotary_caches(%x: tensor<1x4x16xf32>, %p: tensor<1x4xi64>, %c: tensor<8x4xf32>, %s: tensor<8x8xf32>) {
  // expected-error @+1 {{RotaryEmbedding: C2: cos_cache has 4 columns, sin_cache 8}}
  %0 = onnx.ms_rotary_embedding %x, %p, %c, %s : (tensor<1x4x16xf32>, tensor<1x4xi64>, tensor<8x4xf32>, tensor<8x8xf32>) -> tensor<*xf32>
  return
}

// -----

func.func @nbits_block(%a: tensor<?x64xf32>, %b: tensor<8x4x8xui8>, %s: tensor<8x4xf32>, %n: none) {
  // expected-error @+1 {{MatMulNBits: C1: block_size is 24, expected a power of two from 16}}
  %0 = onnx.ms_mat_mul_n_bits %a, %b, %s, %n, %n, %n {K = 64 : i64, N = 8 : i64, block_size = 24 : i64} : (tensor<?x64xf32>, tensor<8x4x8xui8>, tensor<8x4xf32>, none, none, none) -> tensor<*xf32>
  return
}

// -----

func.func @nbits_prepacked(%a: tensor<?x64xf32>, %b: tensor<8x4x8xui8>, %s: tensor<8x4xf32>, %n: none) {
  // expected-error @+1 {{MatMulNBits: C2: weight_prepacked is 1}}
  %0 = onnx.ms_mat_mul_n_bits %a, %b, %s, %n, %n, %n {K = 64 : i64, N = 8 : i64, block_size = 16 : i64, weight_prepacked = 1 : i64} : (tensor<?x64xf32>, tensor<8x4x8xui8>, tensor<8x4xf32>, none, none, none) -> tensor<*xf32>
  return
}

// -----

func.func @nbits_scales(%a: tensor<?x64xf32>, %b: tensor<8x4x8xui8>, %s: tensor<16xf32>, %n: none) {
  // expected-error @+1 {{MatMulNBits: C3: scales has 16 elements, expected 32}}
  %0 = onnx.ms_mat_mul_n_bits %a, %b, %s, %n, %n, %n {K = 64 : i64, N = 8 : i64, block_size = 16 : i64} : (tensor<?x64xf32>, tensor<8x4x8xui8>, tensor<16xf32>, none, none, none) -> tensor<*xf32>
  return
}

// -----

// Three blocks of 4 bits are two bytes per row.
func.func @nbits_zero_points(%a: tensor<?x48xf32>, %b: tensor<8x3x8xui8>, %s: tensor<8x3xf32>, %z: tensor<12xui8>, %n: none) {
  // expected-error @+1 {{MatMulNBits: C3: zero_points has 12 elements, expected 16}}
  %0 = onnx.ms_mat_mul_n_bits %a, %b, %s, %z, %n, %n {K = 48 : i64, N = 8 : i64, block_size = 16 : i64} : (tensor<?x48xf32>, tensor<8x3x8xui8>, tensor<8x3xf32>, tensor<12xui8>, none, none) -> tensor<*xf32>
  return
}

// -----

func.func @nbits_k(%a: tensor<?x32xf32>, %b: tensor<8x3x8xui8>, %s: tensor<8x3xf32>, %n: none) {
  // expected-error @+1 {{MatMulNBits: K is 48, the last dim of A is 32}}
  %0 = onnx.ms_mat_mul_n_bits %a, %b, %s, %n, %n, %n {K = 48 : i64, N = 8 : i64, block_size = 16 : i64} : (tensor<?x32xf32>, tensor<8x3x8xui8>, tensor<8x3xf32>, none, none, none) -> tensor<*xf32>
  return
}

// -----

func.func @bnb4_absmax(%a: tensor<?x32xf32>, %b: tensor<128xui8>, %s: tensor<8xf32>) {
  // expected-error @+1 {{MatMulBnb4: C3: absmax has 8 elements, expected 16}}
  %0 = onnx.ms_mat_mul_bnb4 %a, %b, %s {K = 32 : i64, N = 8 : i64, block_size = 16 : i64, quant_type = 1 : i64} : (tensor<?x32xf32>, tensor<128xui8>, tensor<8xf32>) -> tensor<*xf32>
  return
}

// -----

func.func @gather_scales(%d: tensor<10x16xui8>, %i: tensor<2xi64>, %s: tensor<10x3xf32>, %n: none) {
  // expected-error @+1 {{GatherBlockQuantized: C2: dim 1 of scales is 3, expected 2}}
  %0 = onnx.ms_gather_block_quantized %d, %i, %s, %n {block_size = 16 : i64} : (tensor<10x16xui8>, tensor<2xi64>, tensor<10x3xf32>, none) -> tensor<*xf32>
  return
}

// -----

// Columns first: the order of one GPU kernel.
func.func @experts_prepacked(%x: tensor<?x64xf32>, %p: tensor<?x4xf32>, %a: tensor<4x64x64xui8>, %s: tensor<4x128x2xf32>, %b: tensor<4x64x32xui8>, %t: tensor<4x64x2xf32>, %n: none) {
  // expected-error @+1 {{QMoE: fc1_experts_weights have 64 rows, their scales 128}}
  %0 = onnx.ms_q_moe %x, %p, %a, %s, %n, %b, %t, %n, %n, %n, %n, %n, %n, %n, %n, %n, %n, %n, %n, %n, %n {block_size = 32 : i64} : (tensor<?x64xf32>, tensor<?x4xf32>, tensor<4x64x64xui8>, tensor<4x128x2xf32>, none, tensor<4x64x32xui8>, tensor<4x64x2xf32>, none, none, none, none, none, none, none, none, none, none, none, none, none, none) -> tensor<*xf32>
  return
}
