// RUN: llmc-opt %s -llmc-choose-precision | FileCheck %s
// Weights that are matrices here and vectors there are packed in both layouts; those that are the same everywhere once.
// RUN: llmc-opt %s -llmc-choose-precision=target=sm_80 -llmc-choose-precision | FileCheck %s --check-prefix=TWICE

llm.source @s : tensor<64x4xf32> {file = 1, offset = 0, length = 1024}
llm.source @w : tensor<64x4xf32> {file = 1, offset = 1024, length = 1024}
// CHECK-DAG: llm.weight @cos {{.*}} {llm.layout = "p16.f32"}
// CHECK-DAG: llm.weight @cos.vec.f32 {{.*}}[#llm.piece<source = @s, begin = 0, count = 64>] {llm.layout = "vec.f32"}
// CHECK-DAG: llm.weight @emb {{.*}} {llm.layout = "p16.f32"}
// CHECK-NOT: llm.weight
// TWICE-COUNT-3: llm.weight
// TWICE-NOT: llm.weight
llm.weight @cos : tensor<64x4xf32> [#llm.piece<source = @s, begin = 0, count = 64>]
llm.weight @emb : tensor<64x4xf32> [#llm.piece<source = @w, begin = 0, count = 64>]
func.func @step(%ids: tensor<?xi32>, %pos: tensor<?xi32>) -> tensor<?x64xf32> {
  %x = llm.embed %ids, @emb : (tensor<?xi32>) -> tensor<?x4xf32>
  // CHECK: llm.embed %arg1, @cos :
  %p = llm.embed %pos, @cos : (tensor<?xi32>) -> tensor<?x4xf32>
  // CHECK: llm.rope_table %arg1 {cos = @cos.vec.f32, sin = @cos.vec.f32}
  %t = llm.rope_table %pos {cos = @cos, sin = @cos} : (tensor<?xi32>) -> tensor<?x8xf32>
  %y = llm.add %x, %p : (tensor<?x4xf32>, tensor<?x4xf32>) -> tensor<?x4xf32>
  %l = llm.logits %y, @emb : (tensor<?x4xf32>) -> tensor<?x64xf32>
  return %l : tensor<?x64xf32>
}
