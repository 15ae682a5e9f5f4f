// RUN: split-file %s %t
// What the CPU kernels cannot do, and plans that do not fit them, are errors of one line.
// RUN: not llmc-image %t/glu.mlir -o %t/out 2>&1 | FileCheck %s --check-prefix=GLU
// RUN: not llmc-image %t/wtype.mlir -o %t/out 2>&1 | FileCheck %s --check-prefix=WTYPE
// RUN: not llmc-image %t/policy.mlir -o %t/out 2>&1 | FileCheck %s --check-prefix=POLICY
// RUN: not llmc-image %t/xq.mlir -o %t/out 2>&1 | FileCheck %s --check-prefix=XQ
// RUN: not llmc-image %t/head.mlir -o %t/out 2>&1 | FileCheck %s --check-prefix=HEAD
// RUN: not llmc-image %t/heads.mlir -o %t/out 2>&1 | FileCheck %s --check-prefix=HEADS
// RUN: not llmc-image %t/page.mlir -o %t/out 2>&1 | FileCheck %s --check-prefix=PAGE
// RUN: not llmc-image %t/slot.mlir -o %t/out 2>&1 | FileCheck %s --check-prefix=SLOT
// RUN: not llmc-image %t/layer.mlir -o %t/out 2>&1 | FileCheck %s --check-prefix=LAYER
// GLU: error: kernel 'linear' on the cpu: expected for a glu n to be a multiple of 32, found 48
// WTYPE: error: kernel 'linear' on the cpu: expected wtype at most 3, found 4
// POLICY: error: kernel 'linear' on the cpu: expected for its wtype xpolicy 0, found 1
// XQ: error: kernel 'linear' on the cpu: expected xq bytes per token 256, found 64
// HEAD: error: kernel 'attention' on the cpu: expected head_dim at most 640, found 1024
// HEADS: error: kernel 'attention' on the cpu: expected heads to be a multiple of 2, found 5
// PAGE: error: program @cpu: expected page_tokens 64, found 32
// SLOT: error: slot @y: expected 1 planned offsets, found 0
// LAYER: error: state @kv: expected a layer below 1, found 1

//--- glu.mlir
exe.program @cpu attributes {target = "x86-64-v3", buckets = array<i64: 1>, page_tokens = 64,
    max_context = 512, max_sequences = 1, arena_bytes = array<i64: 4096>} {
  exe.slot @x {per_token = 256, offsets = array<i64: 0>}
  exe.packed_weight @w {rows = 48, cols = 64, layout = "p16.f32", offset = 0, bytes = 12288, program = [
    #exe.source<name = "w", type = tensor<48x64xf32>, file = 0, offset = 0, length = 12288, begin = 0, count = 48, transposed = false>]}
  exe.state @kv {layers = 1, kv_heads = 2, head_dim = 1024, v_head_dim = 64, dtype = f16}
  exe.step {
    exe.phase "linear" [#exe.buf<slot, "x">, #exe.buf<none>, #exe.buf<none>, #exe.buf<weight, "w">,
      #exe.buf<none>, #exe.buf<none>, #exe.buf<slot, "x">, #exe.buf<none>]
      {k = 64 : i64, n = 48 : i64, wtype = 0 : i64, xpolicy = 0 : i64, norm = 0 : i64, glu = 1 : i64,
       activation = 0 : i64, rows = 0 : i64, eps = 0.0 : f32}
  }
}

//--- wtype.mlir
exe.program @cpu attributes {target = "x86-64-v3", buckets = array<i64: 1>, page_tokens = 64,
    max_context = 512, max_sequences = 1, arena_bytes = array<i64: 4096>} {
  exe.slot @x {per_token = 256, offsets = array<i64: 0>}
  exe.packed_weight @w {rows = 48, cols = 64, layout = "p16.f32", offset = 0, bytes = 12288, program = [
    #exe.source<name = "w", type = tensor<48x64xf32>, file = 0, offset = 0, length = 12288, begin = 0, count = 48, transposed = false>]}
  exe.state @kv {layers = 1, kv_heads = 2, head_dim = 1024, v_head_dim = 64, dtype = f16}
  exe.step {
    exe.phase "linear" [#exe.buf<slot, "x">, #exe.buf<none>, #exe.buf<none>, #exe.buf<weight, "w">,
      #exe.buf<none>, #exe.buf<none>, #exe.buf<slot, "x">, #exe.buf<none>]
      {k = 64 : i64, n = 48 : i64, wtype = 4 : i64, xpolicy = 0 : i64, norm = 0 : i64, glu = 0 : i64,
       activation = 0 : i64, rows = 0 : i64, eps = 0.0 : f32}
  }
}

//--- policy.mlir
exe.program @cpu attributes {target = "x86-64-v3", buckets = array<i64: 1>, page_tokens = 64,
    max_context = 512, max_sequences = 1, arena_bytes = array<i64: 4096>} {
  exe.slot @x {per_token = 256, offsets = array<i64: 0>}
  exe.packed_weight @w {rows = 48, cols = 64, layout = "p16.f32", offset = 0, bytes = 12288, program = [
    #exe.source<name = "w", type = tensor<48x64xf32>, file = 0, offset = 0, length = 12288, begin = 0, count = 48, transposed = false>]}
  exe.state @kv {layers = 1, kv_heads = 2, head_dim = 1024, v_head_dim = 64, dtype = f16}
  exe.step {
    exe.phase "linear" [#exe.buf<slot, "x">, #exe.buf<none>, #exe.buf<none>, #exe.buf<weight, "w">,
      #exe.buf<none>, #exe.buf<none>, #exe.buf<slot, "x">, #exe.buf<none>]
      {k = 64 : i64, n = 48 : i64, wtype = 2 : i64, xpolicy = 1 : i64, norm = 0 : i64, glu = 0 : i64,
       activation = 0 : i64, rows = 0 : i64, eps = 0.0 : f32}
  }
}

//--- xq.mlir
exe.program @cpu attributes {target = "x86-64-v3", buckets = array<i64: 1>, page_tokens = 64,
    max_context = 512, max_sequences = 1, arena_bytes = array<i64: 4096>} {
  exe.slot @x {per_token = 256, offsets = array<i64: 0>}
  exe.slot @xq {per_token = 64, offsets = array<i64: 256>}
  exe.packed_weight @w {rows = 48, cols = 64, layout = "p16.f32", offset = 0, bytes = 12288, program = [
    #exe.source<name = "w", type = tensor<48x64xf32>, file = 0, offset = 0, length = 12288, begin = 0, count = 48, transposed = false>]}
  exe.state @kv {layers = 1, kv_heads = 2, head_dim = 1024, v_head_dim = 64, dtype = f16}
  exe.step {
    exe.phase "linear" [#exe.buf<slot, "x">, #exe.buf<none>, #exe.buf<none>, #exe.buf<weight, "w">,
      #exe.buf<none>, #exe.buf<none>, #exe.buf<slot, "x">, #exe.buf<slot, "xq">]
      {k = 64 : i64, n = 48 : i64, wtype = 0 : i64, xpolicy = 0 : i64, norm = 0 : i64, glu = 0 : i64,
       activation = 0 : i64, rows = 0 : i64, eps = 0.0 : f32}
  }
}

//--- head.mlir
exe.program @cpu attributes {target = "x86-64-v3", buckets = array<i64: 1>, page_tokens = 64,
    max_context = 512, max_sequences = 1, arena_bytes = array<i64: 4096>} {
  exe.slot @x {per_token = 256, offsets = array<i64: 0>}
  exe.packed_weight @w {rows = 48, cols = 64, layout = "p16.f32", offset = 0, bytes = 12288, program = [
    #exe.source<name = "w", type = tensor<48x64xf32>, file = 0, offset = 0, length = 12288, begin = 0, count = 48, transposed = false>]}
  exe.state @kv {layers = 1, kv_heads = 2, head_dim = 1024, v_head_dim = 64, dtype = f16}
  exe.step {
    exe.phase "attention" [#exe.buf<slot, "x">, #exe.buf<state, "kv">, #exe.buf<slot, "x">, #exe.buf<none>, #exe.buf<none>, #exe.buf<none>]
      {heads = 4 : i64, kv_heads = 2 : i64, head_dim = 1024 : i64, v_head_dim = 64 : i64, window = 0 : i64, chunk = 0 : i64,
       kvtype = 1 : i64, scale = 1.0 : f32, softcap = 0.0 : f32}
  }
}

//--- heads.mlir
exe.program @cpu attributes {target = "x86-64-v3", buckets = array<i64: 1>, page_tokens = 64,
    max_context = 512, max_sequences = 1, arena_bytes = array<i64: 4096>} {
  exe.slot @x {per_token = 256, offsets = array<i64: 0>}
  exe.packed_weight @w {rows = 48, cols = 64, layout = "p16.f32", offset = 0, bytes = 12288, program = [
    #exe.source<name = "w", type = tensor<48x64xf32>, file = 0, offset = 0, length = 12288, begin = 0, count = 48, transposed = false>]}
  exe.state @kv {layers = 1, kv_heads = 2, head_dim = 1024, v_head_dim = 64, dtype = f16}
  exe.step {
    exe.phase "attention" [#exe.buf<slot, "x">, #exe.buf<state, "kv">, #exe.buf<slot, "x">, #exe.buf<none>, #exe.buf<none>, #exe.buf<none>]
      {heads = 5 : i64, kv_heads = 2 : i64, head_dim = 64 : i64, v_head_dim = 64 : i64, window = 0 : i64, chunk = 0 : i64,
       kvtype = 1 : i64, scale = 1.0 : f32, softcap = 0.0 : f32}
  }
}

//--- page.mlir
exe.program @cpu attributes {target = "x86-64-v3", buckets = array<i64: 1>, page_tokens = 32,
    max_context = 512, max_sequences = 1, arena_bytes = array<i64: 4096>} {
  exe.slot @x {per_token = 256, offsets = array<i64: 0>}
  exe.packed_weight @w {rows = 48, cols = 64, layout = "p16.f32", offset = 0, bytes = 12288, program = [
    #exe.source<name = "w", type = tensor<48x64xf32>, file = 0, offset = 0, length = 12288, begin = 0, count = 48, transposed = false>]}
  exe.state @kv {layers = 1, kv_heads = 2, head_dim = 1024, v_head_dim = 64, dtype = f16}
  exe.step {
  }
}

//--- slot.mlir
exe.program @cpu attributes {target = "x86-64-v3", buckets = array<i64: 1>, page_tokens = 64,
    max_context = 512, max_sequences = 1, arena_bytes = array<i64: 4096>} {
  exe.slot @x {per_token = 256, offsets = array<i64: 0>}
  exe.slot @y {per_token = 16}
  exe.packed_weight @w {rows = 48, cols = 64, layout = "p16.f32", offset = 0, bytes = 12288, program = [
    #exe.source<name = "w", type = tensor<48x64xf32>, file = 0, offset = 0, length = 12288, begin = 0, count = 48, transposed = false>]}
  exe.state @kv {layers = 1, kv_heads = 2, head_dim = 1024, v_head_dim = 64, dtype = f16}
  exe.step {
    exe.phase "scale" [#exe.buf<slot, "y">, #exe.buf<slot, "y">] {n = 4 : i64, factor = 1.0 : f32}
  }
}

//--- layer.mlir
exe.program @cpu attributes {target = "x86-64-v3", buckets = array<i64: 1>, page_tokens = 64,
    max_context = 512, max_sequences = 1, arena_bytes = array<i64: 4096>} {
  exe.slot @x {per_token = 256, offsets = array<i64: 0>}
  exe.packed_weight @w {rows = 48, cols = 64, layout = "p16.f32", offset = 0, bytes = 12288, program = [
    #exe.source<name = "w", type = tensor<48x64xf32>, file = 0, offset = 0, length = 12288, begin = 0, count = 48, transposed = false>]}
  exe.state @kv {layers = 1, kv_heads = 2, head_dim = 1024, v_head_dim = 64, dtype = f16}
  exe.step {
    exe.phase "attention" [#exe.buf<slot, "x">, #exe.buf<state, "kv">, #exe.buf<slot, "x">, #exe.buf<none>, #exe.buf<none>, #exe.buf<none>]
      {heads = 4 : i64, kv_heads = 2 : i64, head_dim = 64 : i64, v_head_dim = 64 : i64, window = 0 : i64, chunk = 0 : i64,
       kvtype = 1 : i64, scale = 1.0 : f32, softcap = 0.0 : f32} {layer = 1 : i64}
  }
}
