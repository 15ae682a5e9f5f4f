// RUN: llmc-image %s --emit asm -o - | FileCheck %s --check-prefix=ASM
// Program of two layers: kernels are inlined and specialised, the inner loop of
// int8 products is vpdpbusd with a broadcast, the image imports nothing and its
// bytes are the same from everywhere.
// RUN: llmc-image %s --emit llvm -o - | FileCheck %s --check-prefix=LLVM
// RUN: llmc-image %s --isa avx2 --emit asm -o - | FileCheck %s --check-prefix=AVX2
// RUN: llmc-image %s -o %t.so && llvm-readelf --dyn-syms --relocs --dynamic %t.so | FileCheck %s --check-prefix=ELF
// RUN: rm -rf %t.d && mkdir %t.d && cd %t.d && llmc-image %s -o %t.2.so && cmp %t.so %t.2.so

// ASM-NOT: call{{.*}}k_
// ASM: llmc_cpu_image:
// ASM-NOT: call{{.*}}k_
// ASM: vpdpbusd {{.*}}{1to16}
// ASM-NOT: call{{.*}}k_

// LLVM-DAG: @layers.w_qkv = private unnamed_addr constant [2 x i64] [i64 8768, i64 60032]
// LLVM-DAG: @slot.x1{{[.0-9]*}} = private unnamed_addr constant [2 x i64] [i64 256, i64 2048]
// LLVM-NOT: call {{.*}}@k_
// LLVM: define {{.*}}@llmc_cpu_image

// AVX2-NOT: zmm
// AVX2: vpmaddubsw
// AVX2-NOT: zmm

// ELF-NOT: NEEDED
// ELF-NOT: UND {{[a-z]}}
// ELF: FUNC GLOBAL DEFAULT {{.*}} llmc_cpu_image
// ELF-NOT: FUNC

exe.program @cpu attributes {target = "x86-64-avx512vnni", buckets = array<i64: 1, 8>,
    page_tokens = 64, max_context = 512, max_sequences = 2, arena_bytes = array<i64: 16384, 65536>} {
  exe.slot @x {per_token = 256, offsets = array<i64: 0, 0>}
  exe.slot @x1 {per_token = 256, offsets = array<i64: 256, 2048>}
  exe.slot @rope {per_token = 128, offsets = array<i64: 512, 4096>}
  exe.slot @q {per_token = 256, offsets = array<i64: 1024, 8192>}
  exe.slot @a {per_token = 256, offsets = array<i64: 2048, 16384>}
  exe.slot @h {per_token = 512, offsets = array<i64: 3072, 24576>}
  exe.slot @xq {per_token = 512, offsets = array<i64: 4096, 32768>}
  exe.state @kv {layers = 2, kv_heads = 1, head_dim = 32, v_head_dim = 32, dtype = f16}
  exe.packed_weight @emb {rows = 16, cols = 64, layout = "p16.w8b32", offset = 0, bytes = 1088, program = [
    #exe.source<name = "emb", type = tensor<16x64xf32>, file = 1, offset = 0, length = 4096, begin = 0, count = 16, transposed = false>]}
  exe.packed_weight @freq {rows = 16, cols = 1, layout = "vec.f32", offset = 1088, bytes = 64, program = [
    #exe.source<name = "freq", type = tensor<16xf32>, file = 1, offset = 0, length = 64, begin = 0, count = 16, transposed = false>]}
  exe.packed_weight @g {rows = 64, cols = 1, layout = "vec.f32", offset = 1152, bytes = 256, program = [
    #exe.source<name = "g", type = tensor<64xf32>, file = 1, offset = 0, length = 256, begin = 0, count = 64, transposed = false>]}
  exe.packed_weight @l0.qkv {rows = 128, cols = 64, layout = "p16.w8b32", offset = 8768, bytes = 8704, program = [
    #exe.source<name = "qkv", type = tensor<128x64xf32>, file = 1, offset = 0, length = 32768, begin = 0, count = 128, transposed = false>]}
  exe.packed_weight @l1.qkv {rows = 128, cols = 64, layout = "p16.w8b32", offset = 60032, bytes = 8704, program = [
    #exe.source<name = "qkv", type = tensor<128x64xf32>, file = 1, offset = 0, length = 32768, begin = 0, count = 128, transposed = false>]}
  exe.packed_weight @l0.o {rows = 64, cols = 64, layout = "p16.w8b32", offset = 17472, bytes = 4352, program = [
    #exe.source<name = "o", type = tensor<64x64xf32>, file = 1, offset = 0, length = 16384, begin = 0, count = 64, transposed = false>]}
  exe.packed_weight @l1.o {rows = 64, cols = 64, layout = "p16.w8b32", offset = 68736, bytes = 4352, program = [
    #exe.source<name = "o", type = tensor<64x64xf32>, file = 1, offset = 0, length = 16384, begin = 0, count = 64, transposed = false>]}
  exe.packed_weight @l0.gu {rows = 256, cols = 64, layout = "p16.w8b32", offset = 21824, bytes = 17408, program = [
    #exe.source<name = "gu", type = tensor<256x64xf32>, file = 1, offset = 0, length = 65536, begin = 0, count = 256, transposed = false>]}
  exe.packed_weight @l1.gu {rows = 256, cols = 64, layout = "p16.w8b32", offset = 73088, bytes = 17408, program = [
    #exe.source<name = "gu", type = tensor<256x64xf32>, file = 1, offset = 0, length = 65536, begin = 0, count = 256, transposed = false>]}
  exe.packed_weight @l0.down {rows = 64, cols = 128, layout = "p16.w8b32", offset = 39232, bytes = 8704, program = [
    #exe.source<name = "down", type = tensor<64x128xf32>, file = 1, offset = 0, length = 32768, begin = 0, count = 64, transposed = false>]}
  exe.packed_weight @l1.down {rows = 64, cols = 128, layout = "p16.w8b32", offset = 90496, bytes = 8704, program = [
    #exe.source<name = "down", type = tensor<64x128xf32>, file = 1, offset = 0, length = 32768, begin = 0, count = 64, transposed = false>]}
  exe.step {
    exe.phase "embed" [#exe.buf<arg, "ids">, #exe.buf<weight, "emb">, #exe.buf<slot, "x">]
      {vocab = 16 : i64, hidden = 64 : i64, wtype = 1 : i64, scale = 1.0 : f32}
    exe.phase "rope_table" [#exe.buf<arg, "positions">, #exe.buf<weight, "freq">, #exe.buf<none>, #exe.buf<none>,
      #exe.buf<slot, "rope">] {half = 16 : i64, table_rows = 0 : i64, scaling = 1.0 : f32}
    exe.layers attributes {first = 0, count = 2, weights = {w_qkv = [@l0.qkv, @l1.qkv], w_o = [@l0.o, @l1.o],
        w_gu = [@l0.gu, @l1.gu], w_down = [@l0.down, @l1.down], g = [@g, @g]}} {
      exe.phase "qkv" [#exe.buf<slot, "x">, #exe.buf<layer, "g">, #exe.buf<none>, #exe.buf<layer, "w_qkv">,
        #exe.buf<none>, #exe.buf<slot, "rope">, #exe.buf<state, "kv">, #exe.buf<slot, "q">, #exe.buf<slot, "xq">]
        {k = 64 : i64, heads = 2 : i64, kv_heads = 1 : i64, head_dim = 32 : i64, v_head_dim = 32 : i64,
         rotary_half = 16 : i64, interleaved = 0 : i64, wtype = 1 : i64, xpolicy = 1 : i64, norm = 1 : i64,
         kvtype = 1 : i64, eps = 1.0e-5 : f32}
      exe.phase "attention" [#exe.buf<slot, "q">, #exe.buf<state, "kv">, #exe.buf<slot, "a">, #exe.buf<none>, #exe.buf<none>, #exe.buf<none>]
        {heads = 2 : i64, kv_heads = 1 : i64, head_dim = 32 : i64, v_head_dim = 32 : i64, window = 0 : i64, chunk = 0 : i64,
         kvtype = 1 : i64, scale = 0.176776695 : f32, softcap = 0.0 : f32}
      exe.phase "linear" [#exe.buf<slot, "a">, #exe.buf<none>, #exe.buf<none>, #exe.buf<layer, "w_o">,
        #exe.buf<none>, #exe.buf<slot, "x">, #exe.buf<slot, "x1">, #exe.buf<slot, "xq">]
        {k = 64 : i64, n = 64 : i64, wtype = 1 : i64, xpolicy = 1 : i64, norm = 0 : i64, glu = 0 : i64,
         activation = 0 : i64, rows = 0 : i64, eps = 0.0 : f32}
      exe.phase "linear" [#exe.buf<slot, "x1">, #exe.buf<layer, "g">, #exe.buf<none>, #exe.buf<layer, "w_gu">,
        #exe.buf<none>, #exe.buf<none>, #exe.buf<slot, "h">, #exe.buf<slot, "xq">]
        {k = 64 : i64, n = 256 : i64, wtype = 1 : i64, xpolicy = 1 : i64, norm = 1 : i64, glu = 1 : i64,
         activation = 0 : i64, rows = 0 : i64, eps = 1.0e-5 : f32}
      exe.phase "linear" [#exe.buf<slot, "h">, #exe.buf<none>, #exe.buf<none>, #exe.buf<layer, "w_down">,
        #exe.buf<none>, #exe.buf<slot, "x1">, #exe.buf<slot, "x">, #exe.buf<slot, "xq">]
        {k = 128 : i64, n = 64 : i64, wtype = 1 : i64, xpolicy = 1 : i64, norm = 0 : i64, glu = 0 : i64,
         activation = 0 : i64, rows = 0 : i64, eps = 0.0 : f32}
    }
    exe.phase "logits" [#exe.buf<slot, "x">, #exe.buf<weight, "g">, #exe.buf<none>, #exe.buf<weight, "emb">,
      #exe.buf<none>, #exe.buf<arg, "logit_rows">, #exe.buf<arg, "logits">, #exe.buf<slot, "xq">]
      {k = 64 : i64, n = 16 : i64, wtype = 1 : i64, xpolicy = 1 : i64, norm = 1 : i64, eps = 1.0e-5 : f32,
       multiplier = 1.0 : f32, softcap = 0.0 : f32}
  }
}
