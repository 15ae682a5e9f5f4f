// RUN: llmc-opt %s | llmc-opt | FileCheck %s
// Every op of the exe dialect prints what it parsed.

// CHECK-LABEL: exe.program @cpu
// CHECK-SAME: buckets = array<i64: 1, 8>
exe.program @cpu attributes {target = "x86-64-avx512vnni", buckets = array<i64: 1, 8>,
    page_tokens = 64, max_context = 2048, max_sequences = 1, arena_bytes = array<i64: 512, 4096>} {
  // CHECK: exe.slot @x {offsets = array<i64: 0, 0>, per_token = 256 : i64}
  exe.slot @x {per_token = 256, offsets = array<i64: 0, 0>}
  exe.slot @y {per_token = 0, fixed = 64}
  // CHECK: exe.state @kv
  // CHECK-SAME: dtype = f16
  exe.state @kv {layers = 2, kv_heads = 1, head_dim = 64, v_head_dim = 64, dtype = f16}
  // CHECK: exe.packed_weight @w0
  // CHECK-SAME: #exe.source<name = "w", type = tensor<64x64xf32>, file = 1, offset = 0, length = 16384, begin = 0, count = 64, transposed = false>
  exe.packed_weight @w0 {rows = 64, cols = 64, layout = "p16.f32", program = [
    #exe.source<name = "w", type = tensor<64x64xf32>, file = 1, offset = 0, length = 16384,
                begin = 0, count = 64, transposed = false>]}
  exe.packed_weight @w1 {rows = 2, cols = 1, layout = "vec.f32", program = [
    #exe.source<name = "f", type = tensor<2xf32>, file = -1, offset = 0, length = 0,
                begin = 0, count = 2, transposed = false, data = dense<[1.0, 2.0]> : tensor<2xf32>>]}
  // CHECK: exe.step
  exe.step {
    // CHECK-NEXT: exe.phase "rope_table" [#exe.buf<arg, "positions">, #exe.buf<weight, "w1">, #exe.buf<none>
    exe.phase "rope_table" [#exe.buf<arg, "positions">, #exe.buf<weight, "w1">, #exe.buf<none>,
      #exe.buf<none>, #exe.buf<slot, "y">] {half = 2 : i64, table_rows = 0 : i64, scaling = 1.0 : f32}
    // CHECK: exe.layers attributes {count = 2 : i64, first = 0 : i64
    exe.layers attributes {first = 0, count = 2, weights = {w = [@w0, @w0]}, names = ["a", "b"]} {
      // CHECK-NEXT: exe.phase "linear"
      exe.phase "linear" [#exe.buf<slot, "x">, #exe.buf<none>, #exe.buf<none>, #exe.buf<layer, "w">,
        #exe.buf<none>, #exe.buf<none>, #exe.buf<slot, "x">, #exe.buf<none>]
        {k = 64 : i64, n = 64 : i64, wtype = 0 : i64, xpolicy = 0 : i64, norm = 0 : i64, glu = 0 : i64,
         activation = 0 : i64, rows = 0 : i64, eps = 0.0 : f32} {source_nodes = ["/MatMul"]}
    }
  }
}
