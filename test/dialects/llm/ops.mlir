// RUN: llmc-opt %s | llmc-opt | FileCheck %s
// Every op of the llm dialect prints what it parsed.

// CHECK: llm.source @f : tensor<64x32xf32> {file = 1 : i64, length = 8192 : i64, offset = 0 : i64}
llm.source @f : tensor<64x32xf32> {file = 1, offset = 0, length = 8192}
// CHECK: llm.source @half : tensor<4xf16> {data = dense<1.000000e+00> : tensor<4xf16>}
llm.source @half : tensor<4xf16> {data = dense<1.0> : tensor<4xf16>}
llm.source @t : tensor<32x64xf32> {file = 1, offset = 8192, length = 8192}
llm.source @v : tensor<32xf32> {data = dense<1.0> : tensor<32xf32>}
llm.source @big : tensor<64xf32> {data = dense<1.0> : tensor<64xf32>}
// CHECK: llm.weight @w : tensor<64x32xf32> [#llm.piece<source = @f, begin = 0, count = 64>]
llm.weight @w : tensor<64x32xf32> [#llm.piece<source = @f, begin = 0, count = 64>]
// CHECK: llm.weight @qkv : tensor<128x32xf32> [#llm.piece<source = @f, begin = 0, count = 64>, #llm.piece<source = @t, begin = 0, count = 64, transposed = true>]
llm.weight @qkv : tensor<128x32xf32> [#llm.piece<source = @f, begin = 0, count = 64>, #llm.piece<source = @t, begin = 0, count = 64, transposed = true>]
llm.weight @square : tensor<32x32xf32> [#llm.piece<source = @f, begin = 32, count = 32>]
llm.weight @g : tensor<32xf32> [#llm.piece<source = @v, begin = 0, count = 32>]
llm.weight @b : tensor<64xf32> [#llm.piece<source = @big, begin = 0, count = 64>]
llm.weight @freq : tensor<4xf32> [#llm.piece<source = @half, begin = 0, count = 4>]
llm.weight @head_gain : tensor<8xf32> [#llm.piece<source = @v, begin = 0, count = 8>]
// CHECK: llm.state @l0.kv {head_dim = 8 : i64, index = 0 : i64, kind = "paged_kv", kv_heads = 4 : i64, v_head_dim = 8 : i64}
llm.state @l0.kv {kind = "paged_kv", index = 0, kv_heads = 4, head_dim = 8, v_head_dim = 8}
llm.state @l1.kv {kind = "paged_kv", index = 1, kv_heads = 4, head_dim = 8, v_head_dim = 8}

// CHECK-LABEL: @step
func.func @step(%ids: tensor<?xi32>, %pos: tensor<?xi32>) -> tensor<?x64xf32> {
  // CHECK: llm.embed %{{.*}}, @w {scale = 2.000000e+00 : f32}
  %x = llm.embed %ids, @w {scale = 2.0 : f32} : (tensor<?xi32>) -> tensor<?x32xf32>
  // CHECK: llm.rope_table %{{.*}} {freq = @freq}
  %r = llm.rope_table %pos {freq = @freq} : (tensor<?xi32>) -> tensor<?x8xf32>
  // CHECK: llm.norm %{{.*}} {eps = 9.99999974E-6 : f32, gain = @g, kind = 1 : i64}
  %n = llm.norm %x {kind = 1, gain = @g, eps = 1.0e-5 : f32} : (tensor<?x32xf32>) -> tensor<?x32xf32>
  // CHECK: llm.linear %{{.*}}, @w {bias = @b}
  %y = llm.linear %n, @w {bias = @b} : (tensor<?x32xf32>) -> tensor<?x64xf32>
  // CHECK: llm.linear %{{.*}} residual %{{.*}}, @qkv {glu = 1 : i64}
  %h = llm.linear %n residual %y, @qkv {glu = 1} : (tensor<?x32xf32>, tensor<?x64xf32>) -> tensor<?x64xf32>
  %k = llm.linear %n, @square : (tensor<?x32xf32>) -> tensor<?x32xf32>
  // CHECK: llm.norm %{{.*}} {eps = {{.*}}, gain = @head_gain, heads = 4 : i64, kind = 1 : i64}
  %kn = llm.norm %k {kind = 1, gain = @head_gain, heads = 4, eps = 1.0e-5 : f32} : (tensor<?x32xf32>) -> tensor<?x32xf32>
  // CHECK: llm.rope %{{.*}}, %{{.*}} {head_dim = 8 : i64, heads = 4 : i64, rotary_half = 4 : i64}
  %kr = llm.rope %kn, %r {heads = 4, head_dim = 8, rotary_half = 4} : (tensor<?x32xf32>, tensor<?x8xf32>) -> tensor<?x32xf32>
  // CHECK: llm.kv_write %{{.*}}, %{{.*}}, @l0.kv
  llm.kv_write %kr, %k, @l0.kv : tensor<?x32xf32>, tensor<?x32xf32>
  // CHECK: llm.attention %{{.*}}, @l0.kv {heads = 8 : i64, scale = 2.500000e-01 : f32, window = 8 : i64}
  %a = llm.attention %y, @l0.kv {heads = 8, scale = 0.25 : f32, window = 8} : (tensor<?x64xf32>) -> tensor<?x64xf32>
  // CHECK: llm.qkv %{{.*}}, %{{.*}} {heads = 8 : i64, rotary_half = 4 : i64, state = @l1.kv, weight = @qkv}
  %q = llm.qkv %n, %r {weight = @qkv, state = @l1.kv, heads = 8, rotary_half = 4} : (tensor<?x32xf32>, tensor<?x8xf32>) -> tensor<?x64xf32>
  // CHECK: llm.activation %{{.*}} {kind = 2 : i64}
  %act = llm.activation %a {kind = 2} : (tensor<?x64xf32>) -> tensor<?x64xf32>
  // CHECK: llm.glu
  %glu = llm.glu %act, %q {kind = 1} : (tensor<?x64xf32>, tensor<?x64xf32>) -> tensor<?x64xf32>
  // CHECK: llm.add
  %s = llm.add %glu, %h : (tensor<?x64xf32>, tensor<?x64xf32>) -> tensor<?x64xf32>
  // CHECK: llm.scale %{{.*}} {factor = 5.000000e-01 : f32}
  %half = llm.scale %s {factor = 0.5 : f32} : (tensor<?x64xf32>) -> tensor<?x64xf32>
  // CHECK: llm.logits %{{.*}}, @w {softcap = 3.000000e+01 : f32}
  %l = llm.logits %n, @w {softcap = 30.0 : f32} : (tensor<?x32xf32>) -> tensor<?x64xf32>
  return %l : tensor<?x64xf32>
}

// CHECK-LABEL: @padded
func.func @padded(%ids: tensor<?x?xi64>, %q: tensor<?x?x64xf32>, %k: tensor<?x?x32xf32>) -> tensor<?x?x64xf32> {
  // CHECK: llm.padded_positions %{{.*}} : (tensor<?x?xi64>) -> tensor<?x?xi64>
  %p = llm.padded_positions %ids : (tensor<?x?xi64>) -> tensor<?x?xi64>
  // CHECK: llm.padded_attention %{{.*}}, %{{.*}}, %{{.*}}, @l0.kv {heads = 8 : i64, scale = 2.500000e-01 : f32}
  %a = llm.padded_attention %q, %k, %k, @l0.kv {heads = 8, scale = 0.25 : f32} : (tensor<?x?x64xf32>, tensor<?x?x32xf32>, tensor<?x?x32xf32>) -> tensor<?x?x64xf32>
  return %a : tensor<?x?x64xf32>
}
