// RUN: llmc-opt %s -split-input-file "-llmc-choose-precision=precision=int8" "-llmc-llm-to-exe=max-batch=2 max-tokens=64" | FileCheck %s
// RUN: llmc-opt %s -split-input-file "-llmc-choose-precision=precision=f16 target=sm_80" -llmc-llm-to-exe | FileCheck %s --check-prefix=CUDA
// RUN: llmc-opt %s -split-input-file "-llmc-choose-precision=precision=f16 kv-cache=int8 target=sm_80" -llmc-llm-to-exe | FileCheck %s --check-prefix=CODES
// Every llm op becomes one phase with the catalogue's constants; tied weights are packed once; scratch of products exists on the CPU only; heads become codes as a whole.

// CHECK: llm.model = {max_positions = 2048 : i64}
// CHECK-NOT: llm.weight
// CHECK: exe.program @program attributes {buckets = array<i64: 64>, max_context = 2048 : i64, max_sequences = 2 : i64, page_tokens = 64 : i64, target = "x86-64-avx512vnni"}
// CUDA: exe.program @program attributes {buckets = array<i64: 512>, max_context = 2048 : i64, max_sequences = 1 : i64, page_tokens = 32 : i64, target = "sm_80"}
module attributes {llm.model = {max_positions = 2048 : i64}} {
  llm.source @s : tensor<64x32xf32> {file = 1, offset = 0, length = 8192}
  llm.source @t : tensor<32xf32> {file = 1, offset = 8192, length = 128}
  llm.source @c : tensor<8xf32> {data = dense<[1.0, 0.5, 0.25, 0.125, 0.1, 0.2, 0.3, 0.4]> : tensor<8xf32>}
  llm.weight @emb : tensor<64x32xf32> [#llm.piece<source = @s, begin = 0, count = 64>]
  llm.weight @head : tensor<64x32xf32> [#llm.piece<source = @s, begin = 0, count = 64>]
  llm.weight @half : tensor<32x32xf32> [#llm.piece<source = @s, begin = 32, count = 32>]
  llm.weight @gain : tensor<32xf32> [#llm.piece<source = @t, begin = 0, count = 32>]
  llm.weight @freq : tensor<8xf32> [#llm.piece<source = @c, begin = 0, count = 8>]
  llm.state @s1 {kind = "paged_kv", index = 1 : i64, kv_heads = 1 : i64, head_dim = 16 : i64, v_head_dim = 16 : i64}
  llm.state @s0 {kind = "paged_kv", index = 0 : i64, kv_heads = 1 : i64, head_dim = 16 : i64, v_head_dim = 16 : i64}
  // CODES: exe.state @kv {dtype = i8
  // CHECK-NEXT: exe.state @kv {dtype = f16, head_dim = 16 : i64, kv_heads = 1 : i64, layers = 2 : i64, v_head_dim = 16 : i64}
  // CHECK-NEXT: exe.slot @x {per_token = 128 : i64}
  // CHECK-NEXT: exe.slot @rope {per_token = 64 : i64}
  // CHECK-NEXT: exe.slot @xq {per_token = 192 : i64}
  // CHECK-NEXT: exe.slot @q {per_token = 128 : i64}
  // CHECK: exe.slot @partial {fixed = 16384 : i64, per_token = 0 : i64}
  // CHECK: exe.packed_weight @emb {cols = 32 : i64, layout = "p16.w8b32", program = [#exe.source<name = "s", type = tensor<64x32xf32>, file = 1, offset = 0, length = 8192, begin = 0, count = 64, transposed = false>], rows = 64 : i64}
  // CHECK-NEXT: exe.packed_weight @freq {cols = 1 : i64, layout = "vec.f32", program = [#exe.source<name = "c", {{.*}} file = -1, {{.*}} data = dense<
  // CHECK-NOT: exe.packed_weight @head
  // CUDA: exe.slot @partial {fixed = 10240 : i64, per_token = 0 : i64}
  // CUDA: exe.packed_weight @emb {cols = 32 : i64, layout = "m16.f16"
  func.func @step(%ids: tensor<?xi32>, %pos: tensor<?xi32>) -> tensor<?x64xf32> {
    // CHECK: exe.step {
    // CHECK-NEXT: exe.phase "embed" [#exe.buf<arg, "ids">, #exe.buf<weight, "emb">, #exe.buf<slot, "x">] {hidden = 32 : i64, scale = 2.000000e+00 : f32, vocab = 64 : i64, wtype = 1 : i64} {source_nodes = ["/Gather", "/Mul"]}
    %x = llm.embed %ids, @emb {scale = 2.0 : f32} : (tensor<?xi32>) -> tensor<?x32xf32> loc(fused["/Gather", "/Mul"])
    // CHECK-NEXT: exe.phase "rope_table" [#exe.buf<arg, "positions">, #exe.buf<weight, "freq">, #exe.buf<none>, #exe.buf<none>, #exe.buf<slot, "rope">] {half = 8 : i64, scaling = 1.000000e+00 : f32, table_rows = 0 : i64}
    %r = llm.rope_table %pos {freq = @freq} : (tensor<?xi32>) -> tensor<?x16xf32>
    // CHECK-NEXT: exe.phase "qkv" [#exe.buf<slot, "x">, #exe.buf<weight, "gain">, #exe.buf<none>, #exe.buf<weight, "emb">, #exe.buf<none>, #exe.buf<slot, "rope">, #exe.buf<state, "kv">, #exe.buf<slot, "q">, #exe.buf<slot, "xq">]
    // CHECK-SAME: {eps = 9.99999974E-6 : f32, head_dim = 16 : i64, heads = 2 : i64, interleaved = 1 : i64, k = 32 : i64, kv_heads = 1 : i64, kvtype = 1 : i64, norm = 1 : i64, rotary_half = 8 : i64, v_head_dim = 16 : i64, wtype = 1 : i64, xpolicy = 1 : i64} {layer = 1 : i64}
    // CODES: exe.phase "linear" {{.*}}#exe.buf<weight, "emb">{{.*}} #exe.buf<slot, "qkv">, {{.*}} n = 64 : i64, norm = 1 : i64
    // CODES-NEXT: exe.phase "qkv_finish" [#exe.buf<slot, "qkv">, #exe.buf<slot, "rope">, #exe.buf<state, "kv">, #exe.buf<slot, "q">] {head_dim = 16 : i64, heads = 2 : i64, interleaved = 1 : i64, kv_heads = 1 : i64, kvtype = 2 : i64, rotary_half = 8 : i64, v_head_dim = 16 : i64} {layer = 1 : i64}
    // CUDA: exe.phase "qkv" {{.*}} #exe.buf<slot, "xq">] {eps{{.*}} wtype = 4 : i64, xpolicy = 0 : i64}
    %q = llm.qkv %x, %r {weight = @head, state = @s1, heads = 2 : i64, rotary_half = 8 : i64, interleaved = true, norm = 1 : i64, gain = @gain, eps = 1.0e-5 : f32} : (tensor<?x32xf32>, tensor<?x16xf32>) -> tensor<?x32xf32>
    // CHECK-NEXT: exe.phase "attention" [#exe.buf<slot, "q">, #exe.buf<state, "kv">, #exe.buf<slot, "a">, #exe.buf<slot, "partial">, #exe.buf<none>, #exe.buf<none>] {chunk = 0 : i64, head_dim = 16 : i64, heads = 2 : i64, kv_heads = 1 : i64, kvtype = 1 : i64, scale = 2.500000e-01 : f32, softcap = 0.000000e+00 : f32, v_head_dim = 16 : i64, window = 7 : i64} {layer = 1 : i64}
    %a = llm.attention %q, @s1 {heads = 2 : i64, scale = 0.25 : f32, window = 7 : i64} : (tensor<?x32xf32>) -> tensor<?x32xf32>
    // CHECK-NEXT: exe.phase "linear" [#exe.buf<slot, "a">, #exe.buf<none>, #exe.buf<none>, #exe.buf<weight, "half">, #exe.buf<weight, "gain">, #exe.buf<slot, "x">, #exe.buf<slot, "h">, #exe.buf<slot, "xq_0">]
    // CHECK-SAME: {activation = 2 : i64, eps = 0.000000e+00 : f32, glu = 0 : i64, k = 32 : i64, n = 32 : i64, norm = 0 : i64, rows = 0 : i64, wtype = 1 : i64, xpolicy = 1 : i64}
    %h = llm.linear %a residual %x, @half {bias = @gain, activation = 2 : i64} : (tensor<?x32xf32>, tensor<?x32xf32>) -> tensor<?x32xf32>
    // CHECK-NEXT: exe.phase "linear" {{.*}} glu = 1 : i64, k = 32 : i64, n = 64 : i64
    %g = llm.linear %h, @emb {glu = 1 : i64} : (tensor<?x32xf32>) -> tensor<?x32xf32>
    // CHECK-NEXT: exe.phase "logits" [#exe.buf<slot, "h_{{.*}}">, #exe.buf<none>, #exe.buf<none>, #exe.buf<weight, "emb">, #exe.buf<none>, #exe.buf<arg, "logit_rows">, #exe.buf<arg, "logits">, #exe.buf<slot, "xq_{{.*}}">]
    // CHECK-SAME: {eps = 0.000000e+00 : f32, k = 32 : i64, multiplier = 5.000000e-01 : f32, n = 64 : i64, norm = 0 : i64, softcap = 3.000000e+01 : f32, wtype = 1 : i64, xpolicy = 1 : i64}
    %l = llm.logits %g, @head {multiplier = 0.5 : f32, softcap = 30.0 : f32} : (tensor<?x32xf32>) -> tensor<?x64xf32>
    return %l : tensor<?x64xf32>
  }
}

// -----
// The forms that fusion leaves behind.
// CUDA: exe.program @program attributes {buckets = array<i64: 512>, max_context = 100 : i64
module {
  llm.source @s : tensor<32x32xf32> {file = 1, offset = 0, length = 4096}
  llm.source @t : tensor<16xf32> {file = 1, offset = 4096, length = 64}
  llm.source @u : tensor<100x8xf32> {file = 1, offset = 4160, length = 3200}
  llm.weight @w : tensor<32x32xf32> [#llm.piece<source = @s, begin = 0, count = 32>]
  llm.weight @gain : tensor<16xf32> [#llm.piece<source = @t, begin = 0, count = 16>]
  llm.weight @table : tensor<100x8xf32> [#llm.piece<source = @u, begin = 0, count = 100>]
  llm.state @s0 {kind = "paged_kv", index = 0 : i64, kv_heads = 2 : i64, head_dim = 16 : i64, v_head_dim = 16 : i64}
  func.func @step(%ids: tensor<?xi32>, %pos: tensor<?xi32>) -> tensor<?x32xf32> {
    %x = llm.embed %ids, @w : (tensor<?xi32>) -> tensor<?x32xf32>
    // CUDA: exe.phase "rope_table" [#exe.buf<arg, "positions">, #exe.buf<none>, #exe.buf<weight, "table">, #exe.buf<weight, "table">, #exe.buf<slot, "rope">] {half = 8 : i64, scaling = 1.000000e+00 : f32, table_rows = 100 : i64}
    %r = llm.rope_table %pos {cos = @table, sin = @table} : (tensor<?xi32>) -> tensor<?x16xf32>
    // CUDA-NEXT: exe.phase "norm" {{.*}} {eps = {{.*}} : f32, heads = 2 : i64, n = 16 : i64, norm = 1 : i64}
    %n = llm.norm %x {kind = 1 : i64, gain = @gain, eps = 1.0e-5 : f32, heads = 2 : i64} : (tensor<?x32xf32>) -> tensor<?x32xf32>
    // CUDA-NEXT: exe.phase "rope" [#exe.buf<slot, "norm">, #exe.buf<slot, "rope">, #exe.buf<slot, "rope_{{.*}}">] {head_dim = 16 : i64, heads = 2 : i64, interleaved = 0 : i64, rotary_half = 8 : i64}
    %k = llm.rope %n, %r {heads = 2 : i64, head_dim = 16 : i64, rotary_half = 8 : i64} : (tensor<?x32xf32>, tensor<?x16xf32>) -> tensor<?x32xf32>
    // CODES: exe.phase "kv_write" {{.*}} kvtype = 2 : i64
    // CUDA-NEXT: exe.phase "kv_write" [#exe.buf<slot, "rope_{{.*}}">, #exe.buf<slot, "x">, #exe.buf<state, "kv">] {head_dim = 16 : i64, kv_heads = 2 : i64, kvtype = 1 : i64, v_head_dim = 16 : i64}
    llm.kv_write %k, %x, @s0 : tensor<?x32xf32>, tensor<?x32xf32>
    // CUDA-NEXT: exe.phase "glu" [#exe.buf<slot, "x">, #exe.buf<slot, "norm">, #exe.buf<slot, "glu">] {activation = 1 : i64, n = 32 : i64}
    %g = llm.glu %x, %n {kind = 1 : i64} : (tensor<?x32xf32>, tensor<?x32xf32>) -> tensor<?x32xf32>
    // CUDA-NEXT: exe.phase "activation" [#exe.buf<slot, "glu">, #exe.buf<slot, "act">] {activation = 3 : i64, n = 32 : i64}
    %c = llm.activation %g {kind = 3 : i64} : (tensor<?x32xf32>) -> tensor<?x32xf32>
    // CUDA-NEXT: exe.phase "add" [#exe.buf<slot, "act">, #exe.buf<slot, "x">, #exe.buf<slot, "sum">] {n = 32 : i64}
    %y = llm.add %c, %x : (tensor<?x32xf32>, tensor<?x32xf32>) -> tensor<?x32xf32>
    // CUDA-NEXT: exe.phase "scale" [#exe.buf<slot, "sum">, #exe.buf<slot, "scaled">] {factor = 5.000000e-01 : f32, n = 32 : i64}
    %z = llm.scale %y {factor = 0.5 : f32} : (tensor<?x32xf32>) -> tensor<?x32xf32>
    %l = llm.logits %z, @w : (tensor<?x32xf32>) -> tensor<?x32xf32>
    return %l : tensor<?x32xf32>
  }
}

// -----
// Caches of two geometries are two states, each with layers of its own.
// CHECK: exe.state @kv {dtype = f16, head_dim = 16 : i64, kv_heads = 1 : i64, layers = 2 : i64, v_head_dim = 16 : i64}
// CHECK-NEXT: exe.state @kv_0 {dtype = f16, head_dim = 32 : i64, kv_heads = 1 : i64, layers = 1 : i64, v_head_dim = 32 : i64}
module {
  llm.source @s : tensor<32x32xf32> {file = 1, offset = 0, length = 4096}
  llm.weight @w : tensor<32x32xf32> [#llm.piece<source = @s, begin = 0, count = 32>]
  llm.weight @h : tensor<16x32xf32> [#llm.piece<source = @s, begin = 0, count = 16>]
  llm.state @s0 {kind = "paged_kv", index = 0 : i64, kv_heads = 1 : i64, head_dim = 16 : i64, v_head_dim = 16 : i64}
  llm.state @s1 {kind = "paged_kv", index = 1 : i64, kv_heads = 1 : i64, head_dim = 32 : i64, v_head_dim = 32 : i64}
  llm.state @s2 {kind = "paged_kv", index = 2 : i64, kv_heads = 1 : i64, head_dim = 16 : i64, v_head_dim = 16 : i64}
  func.func @step(%ids: tensor<?xi32>, %pos: tensor<?xi32>) -> tensor<?x32xf32> {
    %x = llm.embed %ids, @w : (tensor<?xi32>) -> tensor<?x32xf32>
    %k = llm.linear %x, @h : (tensor<?x32xf32>) -> tensor<?x16xf32>
    // CHECK: exe.phase "kv_write" {{.*}} #exe.buf<state, "kv">] {{{.*}}}{{$}}
    llm.kv_write %k, %k, @s0 : tensor<?x16xf32>, tensor<?x16xf32>
    // CHECK-NEXT: exe.phase "kv_write" {{.*}} #exe.buf<state, "kv_0">] {{{.*}}}{{$}}
    llm.kv_write %x, %x, @s1 : tensor<?x32xf32>, tensor<?x32xf32>
    // CHECK-NEXT: exe.phase "kv_write" {{.*}} #exe.buf<state, "kv">] {{{.*}}} {layer = 1 : i64}
    llm.kv_write %k, %k, @s2 : tensor<?x16xf32>, tensor<?x16xf32>
    %l = llm.logits %x, @w : (tensor<?x32xf32>) -> tensor<?x32xf32>
    return %l : tensor<?x32xf32>
  }
}
