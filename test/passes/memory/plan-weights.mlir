// RUN: llmc-opt %s -split-input-file -llmc-plan-weights | FileCheck %s
// RUN: llmc-opt %s -split-input-file -llmc-plan-weights -llmc-plan-weights | FileCheck %s
// Weights lie in the order in which a step reads them, layer by layer, aligned; idempotent.

// In the file: @last @l1 @l0 @first @unused; read: first, l0, l1, last.
// CHECK-LABEL: exe.program @cpu
// CHECK-SAME: weight_bytes = 2368 : i64
exe.program @cpu attributes {target = "x86-64-v3", buckets = array<i64: 8>, page_tokens = 64, max_context = 64, max_sequences = 1} {
  exe.slot @x {per_token = 64}
  // CHECK: exe.packed_weight @last {bytes = 1088 : i64, {{.*}} offset = 192 : i64
  exe.packed_weight @last {rows = 16, cols = 32, layout = "p16.w8b32", program = [#exe.source<name = "s", type = tensor<16x32xf32>, file = 1, offset = 0, length = 2048, begin = 0, count = 16, transposed = false>]}
  // CHECK: exe.packed_weight @l1 {bytes = 4 : i64, {{.*}} offset = 128 : i64
  exe.packed_weight @l1 {rows = 1, cols = 1, layout = "vec.f32", program = [#exe.source<name = "s", type = tensor<1xf32>, file = 1, offset = 0, length = 4, begin = 0, count = 1, transposed = false>]}
  // CHECK: exe.packed_weight @l0 {bytes = 64 : i64, {{.*}} offset = 64 : i64
  exe.packed_weight @l0 {rows = 16, cols = 1, layout = "vec.f32", program = [#exe.source<name = "s", type = tensor<16xf32>, file = 1, offset = 0, length = 64, begin = 0, count = 16, transposed = false>]}
  // CHECK: exe.packed_weight @first {bytes = 40 : i64, {{.*}} offset = 0 : i64
  exe.packed_weight @first {rows = 10, cols = 1, layout = "vec.f32", program = [#exe.source<name = "s", type = tensor<10xf32>, file = 1, offset = 0, length = 40, begin = 0, count = 10, transposed = false>]}
  // CHECK: exe.packed_weight @unused {bytes = 1088 : i64, {{.*}} offset = 1280 : i64
  exe.packed_weight @unused {rows = 16, cols = 17, layout = "p16.f32", program = [#exe.source<name = "s", type = tensor<16x17xf32>, file = 1, offset = 0, length = 1088, begin = 0, count = 16, transposed = false>]}
  exe.step {
    exe.phase "norm" [#exe.buf<slot, "x">, #exe.buf<weight, "first">, #exe.buf<none>, #exe.buf<slot, "x">] {n = 16 : i64, norm = 1 : i64, heads = 1 : i64, eps = 0.0 : f32}
    exe.layers attributes {first = 0, count = 3, weights = {g = [@l0, @l1, @l0]}} {
      exe.phase "norm" [#exe.buf<slot, "x">, #exe.buf<layer, "g">, #exe.buf<none>, #exe.buf<slot, "x">] {n = 16 : i64, norm = 1 : i64, heads = 1 : i64, eps = 0.0 : f32}
    }
    exe.phase "norm" [#exe.buf<slot, "x">, #exe.buf<weight, "last">, #exe.buf<weight, "first">, #exe.buf<slot, "x">] {n = 16 : i64, norm = 1 : i64, heads = 1 : i64, eps = 0.0 : f32}
  }
}

// -----
// On CUDA offsets are multiples of 256.
// CHECK-LABEL: exe.program @cuda
// CHECK-SAME: weight_bytes = 512 : i64
exe.program @cuda attributes {target = "sm_80", buckets = array<i64: 8>, page_tokens = 32, max_context = 64, max_sequences = 1} {
  exe.slot @x {per_token = 64}
  exe.packed_weight @a {rows = 16, cols = 1, layout = "vec.f32", program = [#exe.source<name = "s", type = tensor<16xf32>, file = 1, offset = 0, length = 64, begin = 0, count = 16, transposed = false>]}
  // CHECK: exe.packed_weight @b {bytes = 64 : i64, {{.*}} offset = 256 : i64
  exe.packed_weight @b {rows = 16, cols = 1, layout = "vec.f32", program = [#exe.source<name = "s", type = tensor<16xf32>, file = 1, offset = 0, length = 64, begin = 0, count = 16, transposed = false>]}
  exe.step {
    exe.phase "norm" [#exe.buf<slot, "x">, #exe.buf<weight, "a">, #exe.buf<weight, "b">, #exe.buf<slot, "x">] {n = 16 : i64, norm = 2 : i64, heads = 1 : i64, eps = 0.0 : f32}
  }
}
