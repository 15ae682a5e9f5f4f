// RUN: llmc-opt %s -llmc-choose-precision | FileCheck %s --check-prefixes=CHECK,F32
// Weights get layouts, products get numerics, the module gets target and cache type; the last choice holds.
// RUN: llmc-opt %s -llmc-choose-precision=precision=int8 | FileCheck %s --check-prefixes=CHECK,INT8
// RUN: llmc-opt %s "-llmc-choose-precision=precision=int8 activations=f32 kv-cache=f32" | FileCheck %s --check-prefix=EXACT
// RUN: llmc-opt %s "-llmc-choose-precision=precision=int8 target=sm_80" | FileCheck %s --check-prefixes=CHECK,CUDA
// RUN: llmc-opt %s "-llmc-choose-precision=precision=int8 target=sm_80 activations=f32" | FileCheck %s --check-prefix=PLAIN
// RUN: llmc-opt %s "-llmc-choose-precision=precision=int4 target=sm_80" | FileCheck %s --check-prefix=CUDA4
// RUN: llmc-opt %s "-llmc-choose-precision=precision=f16 target=sm_90" | FileCheck %s --check-prefix=HALF
// RUN: llmc-opt %s -llmc-choose-precision=precision=int8 -llmc-choose-precision | FileCheck %s --check-prefix=F32
// RUN: llmc-opt %s "-llmc-choose-precision=target=sm_80" | FileCheck %s --check-prefix=CUDAF32
// RUN: llmc-opt %s "-llmc-choose-precision=precision=f16 target=sm_80 kv-cache=int8" | FileCheck %s --check-prefix=CODES
// RUN: not llmc-opt %s "-llmc-choose-precision=kv-cache=int8" 2>&1 | FileCheck %s --check-prefix=NOCODES
// RUN: not llmc-opt %s "-llmc-choose-precision=precision=f8 target=sm_80" 2>&1 | FileCheck %s --check-prefix=NOF8
// RUN: not llmc-opt %s "-llmc-choose-precision=activations=int8" 2>&1 | FileCheck %s --check-prefix=NOINT8
// RUN: not llmc-opt %s "-llmc-choose-precision=target=pdp11" 2>&1 | FileCheck %s --check-prefix=NOTARGET

// F32: module attributes {llm.kv_cache = f32, llm.precision = "f32", llm.target = "x86-64-avx512vnni"}
// INT8: module attributes {llm.kv_cache = f16, llm.precision = "int8", llm.target = "x86-64-avx512vnni"}
// EXACT: module attributes {llm.kv_cache = f32, llm.precision = "int8"
// CUDA: module attributes {llm.kv_cache = f16, llm.precision = "int8", llm.target = "sm_80"}
// HALF: module attributes {llm.kv_cache = f16, llm.precision = "f16", llm.target = "sm_90"}
// CODES: module attributes {llm.kv_cache = i8,
// NOCODES: error: an int8 cache needs a CUDA target, found x86-64-avx512vnni: its caches are f16 or f32
// NOF8: error: target sm_80 has no precision 'f8', expected file, f32, f16, bf16, int8 or int4
// NOINT8: error: int8 activations need int8 weights on a CPU target, found f32 weights on x86-64-avx512vnni
// NOTARGET: error: unknown target 'pdp11'
llm.source @s : tensor<64x32xf32> {file = 1, offset = 0, length = 8192}
llm.source @t : tensor<32xf32> {file = 1, offset = 8192, length = 128}
// F32: llm.weight @emb {{.*}} {llm.layout = "p16.f32"}
// INT8: llm.weight @emb {{.*}} {llm.layout = "p16.w8b32"}
// CUDA: llm.weight @emb {{.*}} {llm.layout = "m16.i8b32.f16.zm"}
// PLAIN: llm.weight @emb {{.*}} {llm.layout = "n.w8b32"}
// CUDA4: llm.weight @emb {{.*}} {llm.layout = "m16.i8b32.f16.zm"}
// CUDAF32: llm.weight @emb {{.*}} {llm.layout = "n.f32"}
// HALF: llm.weight @emb {{.*}} {llm.layout = "m16.f16"}
llm.weight @emb : tensor<64x32xf32> [#llm.piece<source = @s, begin = 0, count = 64>]
// CHECK: llm.weight @gain {{.*}} {llm.layout = "vec.f32"}
llm.weight @gain : tensor<32xf32> [#llm.piece<source = @t, begin = 0, count = 32>]
func.func @step(%ids: tensor<?xi32>, %pos: tensor<?xi32>) -> tensor<?x64xf32> {
  %x = llm.embed %ids, @emb : (tensor<?xi32>) -> tensor<?x32xf32>
  // F32: llm.logits {{.*}} llm.activations = "f32"
  // INT8: llm.logits {{.*}} llm.activations = "int8"
  // EXACT: llm.logits {{.*}} llm.activations = "f32"
  // CUDA: llm.logits {{.*}} llm.activations = "f16"
  // PLAIN: llm.logits {{.*}} llm.activations = "f32"
  %l = llm.logits %x, @emb {norm = 1 : i64, gain = @gain, eps = 1.0e-5 : f32} : (tensor<?x32xf32>) -> tensor<?x64xf32>
  return %l : tensor<?x64xf32>
}
