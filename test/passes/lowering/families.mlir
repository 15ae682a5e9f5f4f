// RUN: llmc-opt %s "-llmc-choose-precision=precision=f32" "-llmc-llm-to-exe=max-tokens=64" | FileCheck %s
// RUN: llmc-opt %s "-llmc-choose-precision=precision=f16 target=sm_80" -llmc-llm-to-exe | FileCheck %s --check-prefix=CUDA
// Experts, row programs and states become phases with their scratch and pages; on CUDA row programs and sums over experts have scratch.

// A row of 32 inputs, 64 of a record of 8 by 8 in f32: two rows of a page of 64.
// CHECK: exe.state @kv {dtype = f32, head_dim = 16 : i64, kv_heads = 1 : i64, layers = 1 : i64, v_head_dim = 16 : i64}
// CHECK: exe.state @{{.*}} {dtype = f32, head_dim = 1 : i64, kv_heads = 1 : i64, layers = 1 : i64, v_head_dim = 1 : i64}
// Packed rows of both slots of a token.
// CHECK: exe.slot @xq{{.*}} {per_token = 256 : i64}
// CUDA: exe.phase "rowwise" {{.*}}#exe.buf<slot, "xq">] {count = 3 : i64
// CUDA: exe.phase "experts" {{.*}}#exe.buf<slot, "xq{{.*}}">] {combine = 0 : i64
// CUDA: exe.phase "experts" {{.*}}#exe.buf<slot, "xq{{.*}}">] {combine = 1 : i64
// CUDA: exe.phase "linear_attention" {{.*}} {block = 256 : i64
module attributes {llm.model = {max_positions = 256 : i64}} {
  llm.source @s : tensor<64x32xf32> {file = 1, offset = 0, length = 8192}
  llm.source @c : tensor<96xf32> {data = dense<0.0> : tensor<96xf32>}
  llm.weight @emb : tensor<64x32xf32> [#llm.piece<source = @s, begin = 0, count = 64>]
  llm.weight @code : tensor<96xf32> [#llm.piece<source = @c, begin = 0, count = 96>]
  llm.state @conv {kind = "paged_rows", index = 0 : i64, kv_heads = 1 : i64, head_dim = 16 : i64, v_head_dim = 16 : i64}
  llm.state @rec {kind = "record", index = 0 : i64, kv_heads = 1 : i64, head_dim = 8 : i64, v_head_dim = 8 : i64}
  func.func @step(%ids: tensor<?xi32>, %pos: tensor<?xi32>) -> tensor<?x32xf32> {
    %x = llm.embed %ids, @emb : (tensor<?xi32>) -> tensor<?x32xf32>
    // CHECK: exe.phase "rowwise" [#exe.buf<slot, "x">, #exe.buf<none>, {{.*}}#exe.buf<weight, "code">, #exe.buf<slot, "row">, #exe.buf<slot, "xq">] {count = 3 : i64, n = 2 : i64, n0 = 32 : i64, n1 = 0 : i64, {{.*}}scratch = 16 : i64}
    %r = llm.rowwise %x {program = @code, count = 3 : i64, scratch = 16 : i64} : (tensor<?x32xf32>) -> tensor<?x2xf32>
    // CHECK: exe.phase "experts" {{.*}} {combine = 0 : i64, experts = 2 : i64, k = 32 : i64, n = 32 : i64, slots = 2 : i64, wtype = 0 : i64, xpolicy = 0 : i64}
    %u = llm.experts %x, %r, @emb {slots = 2 : i64} : (tensor<?x32xf32>, tensor<?x2xf32>) -> tensor<?x64xf32>
    // CHECK: exe.phase "experts" {{.*}} {combine = 1 : i64, experts = 2 : i64, k = 32 : i64, n = 32 : i64, slots = 2 : i64, wtype = 0 : i64, xpolicy = 0 : i64}
    %d = llm.experts %u, %r, @emb {slots = 2 : i64, combine} : (tensor<?x64xf32>, tensor<?x2xf32>) -> tensor<?x32xf32>
    // CHECK: exe.phase "causal_conv" [#exe.buf<slot, "{{.*}}">, #exe.buf<state, "kv">, #exe.buf<weight, "code">, #exe.buf<none>, {{.*}}] {activation = 1 : i64, kvtype = 0 : i64, n = 32 : i64, taps = 3 : i64}
    %y = llm.causal_conv %d, @conv {weight = @code, taps = 3 : i64, activation = 1 : i64} : (tensor<?x32xf32>) -> tensor<?x32xf32>
    %q = llm.rowwise %y {program = @code, count = 3 : i64, scratch = 0 : i64} : (tensor<?x32xf32>) -> tensor<?x8xf32>
    // CHECK: exe.phase "linear_attention" {{.*}} {block = 512 : i64, decay_dim = 0 : i64, delta = 1 : i64, head_dim = 8 : i64, heads = 1 : i64, kv_heads = 1 : i64, scale = 5.000000e-01 : f32, v_head_dim = 8 : i64}
    %l = llm.linear_attention %q, %q, %q, @rec {heads = 1 : i64, scale = 0.5 : f32, delta} : (tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
    %s = llm.select_by_length %l, %q {threshold = 32 : i64} : (tensor<?x8xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
    // CHECK: exe.phase "select_by_length" {{.*}} {n = 8 : i64, threshold = 32 : i64}
    %z = llm.rowwise %s, %y {program = @code, count = 3 : i64, scratch = 0 : i64} : (tensor<?x8xf32>, tensor<?x32xf32>) -> tensor<?x32xf32>
    // CHECK: exe.phase "take_rows" [#exe.buf<slot, "{{.*}}">, #exe.buf<none>, #exe.buf<none>, #exe.buf<arg, "logit_rows">, #exe.buf<arg, "logits">] {eps = 0.000000e+00 : f32, n = 32 : i64, norm = 0 : i64}
    %h = llm.take_rows %z : (tensor<?x32xf32>) -> tensor<?x32xf32>
    return %h : tensor<?x32xf32>
  }
}
