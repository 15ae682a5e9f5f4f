// RUN: llmc-opt %s --llmc-raise-kv-cache | FileCheck %s
// An output of the new rows alone, which the caller puts behind the others, becomes the whole cache.

// CHECK: func.func @main(%arg0: tensor<?x2x?x8xf32> {llm.cache = 0 : i64, onnx.name = "k"},
// CHECK-SAME: -> (tensor<?x2x?x8xf32> {llm.cache = 0 : i64}, tensor<?x2x?x8xf32>)
// CHECK: %[[NEW:.*]] = onnx.relu
// CHECK: %[[ALL:.*]] = onnx.concat %arg0, %[[NEW]]
// CHECK: return %[[ALL]]
func.func @main(%k: tensor<?x2x?x8xf32> {onnx.name = "k"}, %n: tensor<?x2x?x8xf32> {onnx.name = "new"}) -> (tensor<?x2x?x8xf32>, tensor<?x2x?x8xf32>) {
  %x = onnx.relu %n : (tensor<?x2x?x8xf32>) -> tensor<?x2x?x8xf32>
  %all = onnx.concat %k, %x {axis = 2 : i64} : (tensor<?x2x?x8xf32>, tensor<?x2x?x8xf32>) -> tensor<?x2x?x8xf32>
  %used = onnx.neg %all : (tensor<?x2x?x8xf32>) -> tensor<?x2x?x8xf32>
  return %x, %used : tensor<?x2x?x8xf32>, tensor<?x2x?x8xf32>
}
