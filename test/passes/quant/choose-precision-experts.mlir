// RUN: llmc-opt %s "-llmc-choose-precision=precision=int8 target=sm_80" | FileCheck %s
// Experts whose matrices are whole tiles of 16 rows have mma products, others do not.
llm.source @s : tensor<64x32xf32> {file = 1, offset = 0, length = 8192}
// CHECK: llm.weight @whole {{.*}} {llm.layout = "m16.i8b32.f16.zm"}
llm.weight @whole : tensor<64x32xf32> [#llm.piece<source = @s, begin = 0, count = 64>]
// CHECK: llm.weight @odd {{.*}} {llm.layout = "n.w8b32"}
llm.weight @odd : tensor<32x32xf32> [#llm.piece<source = @s, begin = 0, count = 32>]
func.func @step(%x: tensor<?x32xf32>, %r: tensor<?x4xf32>) -> (tensor<?x32xf32>, tensor<?x8xf32>) {
  // CHECK: llm.experts {{.*}} @whole {{.*}}llm.activations = "f16"
  %a = llm.experts %x, %r, @whole {slots = 2 : i64} : (tensor<?x32xf32>, tensor<?x4xf32>) -> tensor<?x32xf32>
  // CHECK: llm.experts {{.*}} @odd {{.*}}llm.activations = "f32"
  %b = llm.experts %x, %r, @odd {slots = 1 : i64} : (tensor<?x32xf32>, tensor<?x4xf32>) -> tensor<?x8xf32>
  return %a, %b : tensor<?x32xf32>, tensor<?x8xf32>
}
