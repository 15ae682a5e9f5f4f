// RUN: llmc-opt %s -split-input-file -llmc-plan-kv | FileCheck %s
// Bytes of a page of all layers, and pages for all promised contexts.

// 3 layers * 2 heads * (16 + 8) * 64 tokens * 2 bytes; ceil(100 / 64) pages for each of 4 sequences.
// CHECK: exe.program @half attributes {{.*}} kv_pages = 8 : i64
exe.program @half attributes {target = "x86-64-v3", buckets = array<i64: 1>, page_tokens = 64, max_context = 100, max_sequences = 4} {
  // CHECK: exe.state @kv {{.*}} page_bytes = 18432 : i64
  exe.state @kv {layers = 3, kv_heads = 2, head_dim = 16, v_head_dim = 8, dtype = f16}
}
// -----
// CHECK: exe.program @exact attributes {{.*}} kv_pages = 1 : i64
exe.program @exact attributes {target = "x86-64-v3", buckets = array<i64: 1>, page_tokens = 64, max_context = 64, max_sequences = 1} {
  // CHECK: exe.state @kv {{.*}} page_bytes = 8192 : i64
  exe.state @kv {layers = 1, kv_heads = 1, head_dim = 16, v_head_dim = 16, dtype = f32}
}
// -----
// CHECK: exe.program @none
// CHECK-NOT: kv_pages
exe.program @none attributes {target = "x86-64-v3", buckets = array<i64: 1>, page_tokens = 64, max_context = 64, max_sequences = 1} {
}
