// RUN: llmc-opt %s -split-input-file --llmc-raise-latent | FileCheck %s
// Products and norms of cached rows get a cache of their results; a sum of two products of scores becomes one; others stay.

llm.source @s : tensor<6x4xf32> {file = 0, offset = 0, length = 96}
llm.weight @w.kv : tensor<6x4xf32> [#llm.piece<source = @s, begin = 0, count = 6>]
// CHECK-LABEL: func.func @main
// CHECK-SAME: %[[LATENT:arg[0-9]+]]: tensor<?x?x4xf32
// CHECK-SAME: %[[PAST:arg[0-9]+]]: tensor<?x?x6xf32, #onnx.dims<["b", "past", "6"]>> {llm.cache = 1 : i64, onnx.name = "past.heads1"}
// CHECK: %[[X:.*]] = onnx.relu
// CHECK: %[[Y:.*]] = llm.linear %[[X]], @w.kv {{.*}} -> tensor<?x?x6xf32, #onnx.dims<["b", "s", "6"]>>
// CHECK: %[[ALL:.*]] = onnx.concat %[[PAST]], %[[Y]] {axis = 1 : i64} {{.*}} -> tensor<?x?x6xf32, #onnx.dims<["b", "past + s", "6"]>>
// CHECK: return %[[ALL]], %{{.*}}, %[[ALL]]
func.func @main(%p: tensor<?x?x4xf32, #onnx.dims<["b", "past", "4"]>> {onnx.name = "past", llm.cache = 0 : i64}, %n: tensor<?x?x4xf32, #onnx.dims<["b", "s", "4"]>> {onnx.name = "rows"}) -> (tensor<?x?x6xf32, #onnx.dims<["b", "past + s", "6"]>>, tensor<?x?x4xf32, #onnx.dims<["b", "past + s", "4"]>> {llm.cache = 0 : i64}) {
  %x = onnx.relu %n : (tensor<?x?x4xf32, #onnx.dims<["b", "s", "4"]>>) -> tensor<?x?x4xf32, #onnx.dims<["b", "s", "4"]>>
  %all = onnx.concat %p, %x {axis = 1 : i64} : (tensor<?x?x4xf32, #onnx.dims<["b", "past", "4"]>>, tensor<?x?x4xf32, #onnx.dims<["b", "s", "4"]>>) -> tensor<?x?x4xf32, #onnx.dims<["b", "past + s", "4"]>>
  %y = llm.linear %all, @w.kv : (tensor<?x?x4xf32, #onnx.dims<["b", "past + s", "4"]>>) -> tensor<?x?x6xf32, #onnx.dims<["b", "past + s", "6"]>>
  return %y, %all : tensor<?x?x6xf32, #onnx.dims<["b", "past + s", "6"]>>, tensor<?x?x4xf32, #onnx.dims<["b", "past + s", "4"]>>
}

// -----
// Heads that all queries share are given to each before they join the others.
// CHECK-LABEL: func.func @main
// CHECK: %[[Q:.*]] = onnx.concat %arg0, %arg2 {axis = 3 : i64} {{.*}} -> tensor<?x2x?x12xf32
// CHECK: %[[E:.*]] = onnx.expand {{.*}} -> tensor<?x2x?x4xf32
// CHECK: %[[K:.*]] = onnx.concat %{{.*}}, %[[E]] {axis = 3 : i64} {{.*}} -> tensor<?x2x?x12xf32
// CHECK: %[[T:.*]] = onnx.transpose %[[K]] {perm = array<i64: 0, 1, 3, 2>}
// CHECK: %[[S:.*]] = onnx.mat_mul %[[Q]], %[[T]]
// CHECK: return %[[S]]
func.func @main(%q: tensor<?x2x?x8xf32, #onnx.dims<["b", "2", "s", "8"]>> {onnx.name = "q"}, %k: tensor<?x2x8x?xf32, #onnx.dims<["b", "2", "8", "t"]>> {onnx.name = "k"}, %r: tensor<?x2x?x4xf32, #onnx.dims<["b", "2", "s", "4"]>> {onnx.name = "r"}, %t: tensor<?x1x4x?xf32, #onnx.dims<["b", "1", "4", "t"]>> {onnx.name = "t"}) -> tensor<?x2x?x?xf32, #onnx.dims<["b", "2", "s", "t"]>> {
  %x = onnx.mat_mul %q, %k : (tensor<?x2x?x8xf32, #onnx.dims<["b", "2", "s", "8"]>>, tensor<?x2x8x?xf32, #onnx.dims<["b", "2", "8", "t"]>>) -> tensor<?x2x?x?xf32, #onnx.dims<["b", "2", "s", "t"]>>
  %y = onnx.mat_mul %r, %t : (tensor<?x2x?x4xf32, #onnx.dims<["b", "2", "s", "4"]>>, tensor<?x1x4x?xf32, #onnx.dims<["b", "1", "4", "t"]>>) -> tensor<?x2x?x?xf32, #onnx.dims<["b", "2", "s", "t"]>>
  %z = onnx.add %x, %y : (tensor<?x2x?x?xf32, #onnx.dims<["b", "2", "s", "t"]>>, tensor<?x2x?x?xf32, #onnx.dims<["b", "2", "s", "t"]>>) -> tensor<?x2x?x?xf32, #onnx.dims<["b", "2", "s", "t"]>>
  return %z : tensor<?x2x?x?xf32, #onnx.dims<["b", "2", "s", "t"]>>
}

// -----
// A product along the rows of a cache is no product of each row.
llm.source @s : tensor<6x4xf32> {file = 0, offset = 0, length = 96}
llm.weight @w.kv : tensor<6x4xf32> [#llm.piece<source = @s, begin = 0, count = 6>]
// CHECK-LABEL: func.func @main
// CHECK: %[[ALL:.*]] = onnx.concat
// CHECK: llm.linear %[[ALL]]
func.func @main(%p: tensor<?x?x2xf32, #onnx.dims<["b", "s", "2"]>> {onnx.name = "past", llm.cache = 0 : i64}, %n: tensor<?x?x2xf32, #onnx.dims<["b", "s", "2"]>> {onnx.name = "rows"}) -> tensor<?x?x6xf32, #onnx.dims<["b", "s", "6"]>> {
  %all = onnx.concat %p, %n {axis = 2 : i64} : (tensor<?x?x2xf32, #onnx.dims<["b", "s", "2"]>>, tensor<?x?x2xf32, #onnx.dims<["b", "s", "2"]>>) -> tensor<?x?x4xf32, #onnx.dims<["b", "s", "4"]>>
  %y = llm.linear %all, @w.kv : (tensor<?x?x4xf32, #onnx.dims<["b", "s", "4"]>>) -> tensor<?x?x6xf32, #onnx.dims<["b", "s", "6"]>>
  return %y : tensor<?x?x6xf32, #onnx.dims<["b", "s", "6"]>>
}
