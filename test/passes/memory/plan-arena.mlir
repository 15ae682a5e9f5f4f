// RUN: llmc-opt %s -split-input-file -llmc-plan-arena | FileCheck %s
// RUN: llmc-opt %s -split-input-file -llmc-plan-arena -llmc-plan-arena | FileCheck %s
// Slots that are needed at the same time do not overlap, others do; every bucket by itself; idempotent.

// A chain a -> b -> c: a and c share memory, b lies beside them.
// CHECK-LABEL: exe.program @chain attributes {arena_bytes = array<i64: 128, 640>
exe.program @chain attributes {target = "x86-64-v3", buckets = array<i64: 1, 8>, page_tokens = 64, max_context = 64, max_sequences = 1} {
  // CHECK: exe.slot @a {offsets = array<i64: 0, 0>
  exe.slot @a {per_token = 40}
  // CHECK: exe.slot @b {offsets = array<i64: 64, 320>
  exe.slot @b {per_token = 40}
  // CHECK: exe.slot @c {offsets = array<i64: 0, 0>
  exe.slot @c {per_token = 40}
  exe.step {
    exe.phase "scale" [#exe.buf<slot, "a">, #exe.buf<slot, "b">] {n = 10 : i64, factor = 2.0 : f32}
    exe.phase "scale" [#exe.buf<slot, "b">, #exe.buf<slot, "c">] {n = 10 : i64, factor = 2.0 : f32}
  }
}

// -----
// Input, output and scratch of one phase are live together; scratch is free again behind it.
// CHECK-LABEL: exe.program @scratch attributes {arena_bytes = array<i64: 1152>
exe.program @scratch attributes {target = "x86-64-v3", buckets = array<i64: 1>, page_tokens = 64, max_context = 64, max_sequences = 1} {
  exe.state @kv {layers = 1, kv_heads = 1, head_dim = 16, v_head_dim = 16, dtype = f32}
  // CHECK: exe.slot @q {offsets = array<i64: 1024>
  exe.slot @q {per_token = 64}
  // CHECK: exe.slot @a {offsets = array<i64: 1088>
  exe.slot @a {per_token = 64}
  // CHECK: exe.slot @partial {fixed = 1000 : i64, offsets = array<i64: 0>
  exe.slot @partial {per_token = 0, fixed = 1000}
  // CHECK: exe.slot @z {offsets = array<i64: 0>
  exe.slot @z {per_token = 64}
  exe.step {
    exe.phase "attention" [#exe.buf<slot, "q">, #exe.buf<state, "kv">, #exe.buf<slot, "a">, #exe.buf<slot, "partial">, #exe.buf<none>, #exe.buf<none>]
      {heads = 1 : i64, kv_heads = 1 : i64, head_dim = 16 : i64, v_head_dim = 16 : i64, window = 0 : i64, chunk = 0 : i64, kvtype = 0 : i64, scale = 1.0 : f32, softcap = 0.0 : f32}
    exe.phase "add" [#exe.buf<slot, "q">, #exe.buf<slot, "a">, #exe.buf<slot, "z">] {n = 16 : i64}
  }
}

// -----
// What enters a loop (@r from outside, @x from layer to layer) is kept throughout; @t of the body may not lie on it,
// but on @before, which is done with, and on @after.
// CHECK-LABEL: exe.program @loop attributes {arena_bytes = array<i64: 192>
exe.program @loop attributes {target = "x86-64-v3", buckets = array<i64: 1>, page_tokens = 64, max_context = 64, max_sequences = 1} {
  // CHECK: exe.slot @before {offsets = array<i64: 0>
  exe.slot @before {per_token = 64}
  // CHECK: exe.slot @r {offsets = array<i64: 64>
  exe.slot @r {per_token = 64}
  // CHECK: exe.slot @x {offsets = array<i64: 128>
  exe.slot @x {per_token = 64}
  // CHECK: exe.slot @t {offsets = array<i64: 0>
  exe.slot @t {per_token = 64}
  // CHECK: exe.slot @after {offsets = array<i64: 0>
  exe.slot @after {per_token = 64}
  exe.step {
    exe.phase "scale" [#exe.buf<slot, "before">, #exe.buf<slot, "r">] {n = 16 : i64, factor = 2.0 : f32}
    exe.phase "scale" [#exe.buf<slot, "before">, #exe.buf<slot, "x">] {n = 16 : i64, factor = 2.0 : f32}
    exe.layers attributes {first = 0, count = 3, weights = {}} {
      exe.phase "add" [#exe.buf<slot, "x">, #exe.buf<slot, "r">, #exe.buf<slot, "t">] {n = 16 : i64}
      exe.phase "scale" [#exe.buf<slot, "t">, #exe.buf<slot, "x">] {n = 16 : i64, factor = 2.0 : f32}
    }
    exe.phase "scale" [#exe.buf<slot, "x">, #exe.buf<slot, "after">] {n = 16 : i64, factor = 2.0 : f32}
  }
}
