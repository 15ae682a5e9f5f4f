// RUN: llmc-opt %s --llmc-raise-kv-cache --remarks-filter=raise --remark-policy=all --remark-format=emitRemark 2>&1 | FileCheck %s
// Outputs that continue a cache input are paired with it by structure, in any layout and order.

// CHECK: remark: [Missed] raise-kv-cache {{.*}} input 'twice' is continued by two outputs
// CHECK: func.func @main(%arg0: tensor<?x2x?x8xf32> {llm.cache = 1 : i64, onnx.name = "k"},
// CHECK-SAME: %arg1: tensor<?x?x16xf32> {llm.cache = 0 : i64, onnx.name = "v"},
// CHECK-SAME: %arg2: tensor<?x?x16xf32> {llm.cache = 2 : i64, onnx.name = "twice"},
// CHECK-SAME: %arg3: tensor<?x?x16xf32> {onnx.name = "new"}
// CHECK-SAME: -> (tensor<?x2x?x8xf32> {llm.cache = 0 : i64}, tensor<?x2x?x8xf32> {llm.cache = 1 : i64}, tensor<?x?x16xf32> {llm.cache = 2 : i64}, tensor<?x?x16xf32>, tensor<?x?x16xf32>, tensor<?x?x16xf32>)
func.func @main(%k: tensor<?x2x?x8xf32> {onnx.name = "k"}, %v: tensor<?x?x16xf32> {onnx.name = "v"}, %t: tensor<?x?x16xf32> {onnx.name = "twice"}, %n: tensor<?x?x16xf32> {onnx.name = "new"}) -> (tensor<?x2x?x8xf32>, tensor<?x2x?x8xf32>, tensor<?x?x16xf32>, tensor<?x?x16xf32>, tensor<?x?x16xf32>, tensor<?x?x16xf32>) {
  %shape = onnx.constant dense<[0, 0, 2, 8]> : tensor<4xi64>
  %x = onnx.relu %n : (tensor<?x?x16xf32>) -> tensor<?x?x16xf32>
  %s = onnx.reshape %x, %shape : (tensor<?x?x16xf32>, tensor<4xi64>) -> tensor<?x?x2x8xf32>
  %h = onnx.transpose %s {perm = array<i64: 0, 2, 1, 3>} : (tensor<?x?x2x8xf32>) -> tensor<?x2x?x8xf32>
  %k1 = onnx.concat %k, %h {axis = -2 : i64} : (tensor<?x2x?x8xf32>, tensor<?x2x?x8xf32>) -> tensor<?x2x?x8xf32>
  %vf = onnx.concat %v, %x {axis = 1 : i64} : (tensor<?x?x16xf32>, tensor<?x?x16xf32>) -> tensor<?x?x16xf32>
  %vs = onnx.reshape %vf, %shape : (tensor<?x?x16xf32>, tensor<4xi64>) -> tensor<?x?x2x8xf32>
  %v1 = onnx.transpose %vs {perm = array<i64: 0, 2, 1, 3>} : (tensor<?x?x2x8xf32>) -> tensor<?x2x?x8xf32>
  %t1 = onnx.concat %t, %x {axis = 1 : i64} : (tensor<?x?x16xf32>, tensor<?x?x16xf32>) -> tensor<?x?x16xf32>
  // Not grown, or computed from: no cache.
  %copy = onnx.identity %n : (tensor<?x?x16xf32>) -> tensor<?x?x16xf32>
  return %v1, %k1, %t1, %t1, %copy, %x : tensor<?x2x?x8xf32>, tensor<?x2x?x8xf32>, tensor<?x?x16xf32>, tensor<?x?x16xf32>, tensor<?x?x16xf32>, tensor<?x?x16xf32>
}
