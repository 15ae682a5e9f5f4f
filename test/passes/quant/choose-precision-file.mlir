// RUN: llmc-opt %s -llmc-choose-precision=precision=file | FileCheck %s --check-prefixes=CHECK,FILE
// By default every matrix stays what the file holds; --int4 and --int8 repack codes that are narrow enough.
// RUN: llmc-opt %s "-llmc-choose-precision=precision=file activations=f32" | FileCheck %s --check-prefixes=CHECK,EXACT
// RUN: llmc-opt %s -llmc-choose-precision=precision=int4 | FileCheck %s --check-prefixes=CHECK,INT4
// RUN: llmc-opt %s -llmc-choose-precision=precision=f32 | FileCheck %s --check-prefix=F32
// RUN: llmc-opt %s "-llmc-choose-precision=precision=file target=sm_80" | FileCheck %s --check-prefix=CUDA
// RUN: llmc-opt %s "-llmc-choose-precision=precision=file target=sm_80 activations=f32" | FileCheck %s --check-prefix=CUDAEXACT

// FILE: module attributes {llm.kv_cache = f16, llm.precision = "f16+int4+int8", llm.target
// EXACT: module attributes {llm.kv_cache = f32, llm.precision = "f16+int4+int8", llm.target
// INT4: module attributes {llm.kv_cache = f16, llm.precision = "int4"
// CUDA: module attributes {llm.kv_cache = f16, llm.precision = "f16+int4+int8", llm.target = "sm_80"}
llm.source @half : tensor<64x64xf16> {file = 0, offset = 0, length = 8192}
llm.source @codes : tensor<2048xui8> {file = 0, offset = 8192, length = 2048}
llm.source @scales : tensor<128xf16> {file = 0, offset = 16384, length = 256}
llm.source @bytes : tensor<4096xi8> {file = 0, offset = 32768, length = 4096}
llm.source @one : tensor<1xf32> {data = dense<0.5> : tensor<1xf32>}
llm.quantized @nibbles : tensor<64x64xf32> codes(@codes) scales(@scales) "u4 pitch 64 block 1x32 scale f16 2 zero 8"
llm.quantized @whole : tensor<64x64xf32> codes(@bytes) scales(@one) "i8 pitch 64 block 64x64 scale f32 1"

// FILE: llm.weight @emb {{.*}} {llm.layout = "p16.f16"}
// INT4: llm.weight @emb {{.*}} {llm.layout = "p16.w8b32"}
llm.weight @emb : tensor<64x64xf32> [#llm.piece<source = @half, begin = 0, count = 64>]
// CHECK: llm.weight @q4 {{.*}} {llm.layout = "p16.i4b32.f16.zm"}
// F32: llm.weight @q4 {{.*}} {llm.layout = "p16.f32"}
// CUDA: llm.weight @q4 {{.*}} {llm.layout = "m16.i4b32.f16.zm"}
llm.weight @q4 : tensor<64x64xf32> [#llm.piece<source = @nibbles, begin = 0, count = 64>]
// FILE: llm.weight @q8 {{.*}} {llm.layout = "p16.i8row.f32.zm"}
// CUDAEXACT: llm.weight @q8 {{.*}} {llm.layout = "n.i8row.f32.zm"}
// INT4: llm.weight @q8 {{.*}} {llm.layout = "p16.i4b32.f16.min"}
// CUDA: llm.weight @q8 {{.*}} {llm.layout = "m16.i8row.f32.zm"}
llm.weight @q8 : tensor<64x64xf32> [#llm.piece<source = @whole, begin = 0, count = 64, transposed = true>]
func.func @step(%ids: tensor<?xi32>, %pos: tensor<?xi32>) -> tensor<?x64xf32> {
  %x = llm.embed %ids, @emb : (tensor<?xi32>) -> tensor<?x64xf32>
  // FILE: llm.linear {{.*}} {llm.activations = "int8"
  // EXACT: llm.linear {{.*}} {llm.activations = "f32"
  %y = llm.linear %x, @q4 : (tensor<?x64xf32>) -> tensor<?x64xf32>
  %z = llm.linear %y, @q8 : (tensor<?x64xf32>) -> tensor<?x64xf32>
  // FILE: llm.logits {{.*}} {llm.activations = "f32"
  %l = llm.logits %z, @emb : (tensor<?x64xf32>) -> tensor<?x64xf32>
  return %l : tensor<?x64xf32>
}
