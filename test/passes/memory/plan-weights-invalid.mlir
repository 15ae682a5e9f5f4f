// RUN: llmc-opt %s -split-input-file -llmc-plan-weights -verify-diagnostics
// Unknown layouts and sizes beyond 64 bits are refused by name.

exe.program @cpu attributes {target = "x86-64-v3", buckets = array<i64: 8>, page_tokens = 64, max_context = 64, max_sequences = 1} {
  // expected-error @+1 {{weight 'w' has the unknown layout 'p17.f32'}}
  exe.packed_weight @w {rows = 1, cols = 1, layout = "p17.f32", program = [#exe.source<name = "s", type = tensor<1xf32>, file = 1, offset = 0, length = 4, begin = 0, count = 1, transposed = false>]}
  exe.step {
  ^bb0:
  }
}

// -----
exe.program @huge attributes {target = "x86-64-v3", buckets = array<i64: 8>, page_tokens = 64, max_context = 64, max_sequences = 1} {
  // expected-error @+1 {{weight 'w' of 4611686018427387904 x 4611686018427387904 is too large}}
  exe.packed_weight @w {rows = 4611686018427387904, cols = 4611686018427387904, layout = "p16.f32", program = [#exe.source<name = "s", type = tensor<1xf32>, file = 1, offset = 0, length = 4, begin = 0, count = 4611686018427387904, transposed = false>]}
  exe.step {
  ^bb0:
  }
}
