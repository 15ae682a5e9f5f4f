// RUN: llmc-opt %s -split-input-file -llmc-fuse-qkv --remarks-filter=fusion --remark-policy=all --remark-format=emitRemark 2>%t | FileCheck %s
// RUN: FileCheck %s --check-prefix=REMARK < %t
// RUN: llmc-opt %s -split-input-file -llmc-fuse-qkv -llmc-fuse-qkv | FileCheck %s
// Products of q, k and v with rope and cache write become one llm.qkv, its rows ordered per KV group.

llm.source @wq : tensor<64x32xf32> {file = 1, offset = 0, length = 8192}
llm.source @wk : tensor<32x32xf32> {file = 1, offset = 8192, length = 4096}
llm.source @wv : tensor<32x32xf32> {file = 1, offset = 12288, length = 4096}
llm.source @bq : tensor<64xf32> {file = 1, offset = 16384, length = 256}
llm.source @bk : tensor<32xf32> {file = 1, offset = 16640, length = 128}
llm.source @bv : tensor<32xf32> {file = 1, offset = 16768, length = 128}
llm.weight @l0.q : tensor<64x32xf32> [#llm.piece<source = @wq, begin = 0, count = 64>]
llm.weight @l0.k : tensor<32x32xf32> [#llm.piece<source = @wk, begin = 0, count = 32>]
llm.weight @l0.v : tensor<32x32xf32> [#llm.piece<source = @wv, begin = 0, count = 32>]
llm.weight @l0.bq : tensor<64xf32> [#llm.piece<source = @bq, begin = 0, count = 64>]
llm.weight @l0.bk : tensor<32xf32> [#llm.piece<source = @bk, begin = 0, count = 32>]
llm.weight @l0.bv : tensor<32xf32> [#llm.piece<source = @bv, begin = 0, count = 32>]
llm.state @l0.kv {kind = "paged_kv", index = 0 : i64, kv_heads = 2 : i64, head_dim = 16 : i64, v_head_dim = 16 : i64}
// CHECK-NOT: llm.weight @l0.q :
// CHECK: llm.weight @l0.qkv : tensor<128x32xf32>
// CHECK-SAME: [#llm.piece<source = @wq, begin = 0, count = 32>, #llm.piece<source = @wk, begin = 0, count = 16>, #llm.piece<source = @wv, begin = 0, count = 16>,
// CHECK-SAME:  #llm.piece<source = @wq, begin = 32, count = 32>, #llm.piece<source = @wk, begin = 16, count = 16>, #llm.piece<source = @wv, begin = 16, count = 16>]
// CHECK: llm.weight @l0.qkv_bias : tensor<128xf32>
// CHECK-SAME: [#llm.piece<source = @bq, begin = 0, count = 32>, #llm.piece<source = @bk, begin = 0, count = 16>
// CHECK-LABEL: func.func @fires
func.func @fires(%x: tensor<?x32xf32>, %t: tensor<?x16xf32>) -> tensor<?x64xf32> {
  // CHECK-NEXT: %[[Q:.*]] = llm.qkv %arg0, %arg1 {bias = @l0.qkv_bias, heads = 4 : i64, rotary_half = 8 : i64, state = @l0.kv, weight = @l0.qkv}
  // CHECK-NEXT: %[[A:.*]] = llm.attention %[[Q]], @l0.kv
  // CHECK-NEXT: return %[[A]]
  %q = llm.linear %x, @l0.q {bias = @l0.bq} : (tensor<?x32xf32>) -> tensor<?x64xf32> loc("/q/MatMul")
  %k = llm.linear %x, @l0.k {bias = @l0.bk} : (tensor<?x32xf32>) -> tensor<?x32xf32> loc("/k/MatMul")
  %v = llm.linear %x, @l0.v {bias = @l0.bv} : (tensor<?x32xf32>) -> tensor<?x32xf32> loc("/v/MatMul")
  %qr = llm.rope %q, %t {heads = 4 : i64, head_dim = 16 : i64, rotary_half = 8 : i64} : (tensor<?x64xf32>, tensor<?x16xf32>) -> tensor<?x64xf32> loc("/q/Rope")
  %kr = llm.rope %k, %t {heads = 2 : i64, head_dim = 16 : i64, rotary_half = 8 : i64} : (tensor<?x32xf32>, tensor<?x16xf32>) -> tensor<?x32xf32> loc("/k/Rope")
  llm.kv_write %kr, %v, @l0.kv : tensor<?x32xf32>, tensor<?x32xf32> loc("/Concat")
  %a = llm.attention %qr, @l0.kv {heads = 4 : i64, scale = 2.5e-01 : f32} : (tensor<?x64xf32>) -> tensor<?x64xf32>
  return %a : tensor<?x64xf32>
}
// REMARK: [Passed] fuse-qkv
// REMARK-SAME: /q/MatMul, /k/MatMul, /v/MatMul, /q/Rope, /k/Rope, /Concat

// -----
// A norm between product and rope (query and key norm) must keep it from firing.
llm.source @w : tensor<16x32xf32> {file = 1, offset = 0, length = 2048}
llm.weight @w0 : tensor<16x32xf32> [#llm.piece<source = @w, begin = 0, count = 16>]
llm.state @kv {kind = "paged_kv", index = 0 : i64, kv_heads = 1 : i64, head_dim = 16 : i64, v_head_dim = 16 : i64}
// CHECK-LABEL: func.func @qk_norm
// CHECK-NOT: llm.qkv
// REMARK: [Missed] fuse-qkv
// REMARK-SAME: Nodes=/Concat, Reason="k comes from llm.norm, not from a plain product
func.func @qk_norm(%x: tensor<?x32xf32>, %t: tensor<?x16xf32>) -> tensor<?x16xf32> {
  %q = llm.linear %x, @w0 : (tensor<?x32xf32>) -> tensor<?x16xf32>
  %k = llm.linear %x, @w0 : (tensor<?x32xf32>) -> tensor<?x16xf32>
  %v = llm.linear %x, @w0 : (tensor<?x32xf32>) -> tensor<?x16xf32>
  %kn = llm.norm %k {kind = 1 : i64, eps = 1.0e-5 : f32} : (tensor<?x16xf32>) -> tensor<?x16xf32>
  %qr = llm.rope %q, %t {heads = 1 : i64, head_dim = 16 : i64, rotary_half = 8 : i64} : (tensor<?x16xf32>, tensor<?x16xf32>) -> tensor<?x16xf32>
  %kr = llm.rope %kn, %t {heads = 1 : i64, head_dim = 16 : i64, rotary_half = 8 : i64} : (tensor<?x16xf32>, tensor<?x16xf32>) -> tensor<?x16xf32>
  llm.kv_write %kr, %v, @kv : tensor<?x16xf32>, tensor<?x16xf32> loc("/Concat")
  %a = llm.attention %qr, @kv {heads = 1 : i64, scale = 2.5e-01 : f32} : (tensor<?x16xf32>) -> tensor<?x16xf32>
  return %a : tensor<?x16xf32>
}

// -----
// Keys that something else reads, too, must stay.
llm.source @w : tensor<16x32xf32> {file = 1, offset = 0, length = 2048}
llm.weight @w0 : tensor<16x32xf32> [#llm.piece<source = @w, begin = 0, count = 16>]
llm.state @kv {kind = "paged_kv", index = 0 : i64, kv_heads = 1 : i64, head_dim = 16 : i64, v_head_dim = 16 : i64}
// CHECK-LABEL: func.func @other_user
// CHECK-NOT: llm.qkv
// REMARK: [Missed] fuse-qkv
// REMARK-SAME: the product of k has other users
func.func @other_user(%x: tensor<?x32xf32>) -> (tensor<?x16xf32>, tensor<?x16xf32>) {
  %q = llm.linear %x, @w0 : (tensor<?x32xf32>) -> tensor<?x16xf32>
  %k = llm.linear %x, @w0 : (tensor<?x32xf32>) -> tensor<?x16xf32>
  %v = llm.linear %x, @w0 : (tensor<?x32xf32>) -> tensor<?x16xf32>
  llm.kv_write %k, %v, @kv : tensor<?x16xf32>, tensor<?x16xf32>
  %a = llm.attention %q, @kv {heads = 1 : i64, scale = 2.5e-01 : f32} : (tensor<?x16xf32>) -> tensor<?x16xf32>
  return %a, %k : tensor<?x16xf32>, tensor<?x16xf32>
}

// -----
// Products of different rows must not be joined.
llm.source @w : tensor<16x32xf32> {file = 1, offset = 0, length = 2048}
llm.weight @w0 : tensor<16x32xf32> [#llm.piece<source = @w, begin = 0, count = 16>]
llm.state @kv {kind = "paged_kv", index = 0 : i64, kv_heads = 1 : i64, head_dim = 16 : i64, v_head_dim = 16 : i64}
// CHECK-LABEL: func.func @other_rows
// CHECK-NOT: llm.qkv
// REMARK: [Missed] fuse-qkv
// REMARK-SAME: k and v are products of different rows
func.func @other_rows(%x: tensor<?x32xf32>, %y: tensor<?x32xf32>) -> tensor<?x16xf32> {
  %q = llm.linear %x, @w0 : (tensor<?x32xf32>) -> tensor<?x16xf32>
  %k = llm.linear %x, @w0 : (tensor<?x32xf32>) -> tensor<?x16xf32>
  %v = llm.linear %y, @w0 : (tensor<?x32xf32>) -> tensor<?x16xf32>
  llm.kv_write %k, %v, @kv : tensor<?x16xf32>, tensor<?x16xf32>
  %a = llm.attention %q, @kv {heads = 1 : i64, scale = 2.5e-01 : f32} : (tensor<?x16xf32>) -> tensor<?x16xf32>
  return %a : tensor<?x16xf32>
}

// -----
// Without rope it fires, too; a second attention on the same state keeps its own q.
llm.source @w : tensor<16x32xf32> {file = 1, offset = 0, length = 2048}
llm.weight @w0 : tensor<16x32xf32> [#llm.piece<source = @w, begin = 0, count = 16>]
llm.state @kv {kind = "paged_kv", index = 0 : i64, kv_heads = 1 : i64, head_dim = 16 : i64, v_head_dim = 16 : i64}
// CHECK-LABEL: func.func @no_rope
// CHECK: %[[Q:.*]] = llm.qkv %arg0 {heads = 1 : i64, state = @kv, weight = @qkv}
// CHECK: llm.attention %[[Q]]
// CHECK: %[[Q2:.*]] = llm.linear
// CHECK: llm.attention %[[Q2]]
func.func @no_rope(%x: tensor<?x32xf32>) -> (tensor<?x16xf32>, tensor<?x16xf32>) {
  %q = llm.linear %x, @w0 : (tensor<?x32xf32>) -> tensor<?x16xf32>
  %k = llm.linear %x, @w0 : (tensor<?x32xf32>) -> tensor<?x16xf32>
  %v = llm.linear %x, @w0 : (tensor<?x32xf32>) -> tensor<?x16xf32>
  llm.kv_write %k, %v, @kv : tensor<?x16xf32>, tensor<?x16xf32>
  %a = llm.attention %q, @kv {heads = 1 : i64, scale = 2.5e-01 : f32} : (tensor<?x16xf32>) -> tensor<?x16xf32>
  %q2 = llm.linear %x, @w0 : (tensor<?x32xf32>) -> tensor<?x16xf32>
  %b = llm.attention %q2, @kv {heads = 1 : i64, scale = 2.5e-01 : f32} : (tensor<?x16xf32>) -> tensor<?x16xf32>
  return %a, %b : tensor<?x16xf32>, tensor<?x16xf32>
}
