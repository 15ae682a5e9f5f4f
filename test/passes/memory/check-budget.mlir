// RUN: llmc-opt %s -llmc-check-budget | FileCheck %s
// RUN: llmc-opt %s -llmc-check-budget=budget=59192 | FileCheck %s
// RUN: not llmc-opt %s -llmc-check-budget=budget=59191 2>&1 | FileCheck %s --check-prefix=LESS
// RUN: not llmc-opt %s -llmc-check-budget=budget=10040 2>&1 | FileCheck %s --check-prefix=NONE
// A program that does not fit is refused with what it needs and the largest context that fits.

// Weights 1000, arena 9040 (8000 of it scratch of two segments), 6 pages of 8192.
// CHECK: exe.program @p
// LESS: error: target x86-64-v3 needs 59192 bytes for 2 x 150 tokens, the memory budget is 59191; the largest context that fits is 128
// NONE: error: target x86-64-v3 needs 59192 bytes for 2 x 150 tokens, the memory budget is 10040; weights, arena and workspace alone need 10040
exe.program @p attributes {target = "x86-64-v3", buckets = array<i64: 1, 8>, page_tokens = 64, max_context = 150, max_sequences = 2,
    weight_bytes = 1000, arena_bytes = array<i64: 8500, 9040>, kv_pages = 6} {
  exe.state @kv {layers = 1, kv_heads = 1, head_dim = 16, v_head_dim = 16, dtype = f32, page_bytes = 8192}
  exe.slot @partial {per_token = 0, fixed = 8000}
}
