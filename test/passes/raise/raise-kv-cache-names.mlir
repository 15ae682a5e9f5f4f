// RUN: llmc-opt %s --llmc-raise-kv-cache -split-input-file 2>&1 | FileCheck %s
// Pairs are made by structure; names that contradict it are told, names that fit or say nothing are not.

// CHECK: warning: cache input 'past_key_values.0.key' is continued by output 'present.1.key', whatever their names say
// CHECK-NOT: warning
func.func @main(%a: tensor<1x?x4xf32> {onnx.name = "past_key_values.0.key"}, %n: tensor<1x1x4xf32> {onnx.name = "new"}) -> (tensor<1x?x4xf32> {onnx.name = "present.1.key"}) {
  %new = onnx.relu %n : (tensor<1x1x4xf32>) -> tensor<1x1x4xf32>
  %0 = onnx.concat %a, %new {axis = 1 : i64} : (tensor<1x?x4xf32>, tensor<1x1x4xf32>) -> tensor<1x?x4xf32>
  return %0 : tensor<1x?x4xf32>
}

// -----

// CHECK: warning: cache input 'past_k_2' is continued by output 'present_v_2', whatever their names say
// CHECK-NOT: warning
func.func @main(%a: tensor<1x?x4xf32> {onnx.name = "past_k_2"}, %n: tensor<1x1x4xf32> {onnx.name = "new"}) -> (tensor<1x?x4xf32> {onnx.name = "present_v_2"}) {
  %new = onnx.relu %n : (tensor<1x1x4xf32>) -> tensor<1x1x4xf32>
  %0 = onnx.concat %a, %new {axis = 1 : i64} : (tensor<1x?x4xf32>, tensor<1x1x4xf32>) -> tensor<1x?x4xf32>
  return %0 : tensor<1x?x4xf32>
}

// -----

func.func @main(%a: tensor<1x?x4xf32> {onnx.name = "past_key_values_value_cache_3"}, %b: tensor<1x?x4xf32> {onnx.name = "cache"}, %n: tensor<1x1x4xf32> {onnx.name = "new"}) -> (tensor<1x?x4xf32> {onnx.name = "present.3.value"}, tensor<1x?x4xf32> {onnx.name = "present.7.value"}) {
  %new = onnx.relu %n : (tensor<1x1x4xf32>) -> tensor<1x1x4xf32>
  %0 = onnx.concat %a, %new {axis = 1 : i64} : (tensor<1x?x4xf32>, tensor<1x1x4xf32>) -> tensor<1x?x4xf32>
  %1 = onnx.concat %b, %new {axis = 1 : i64} : (tensor<1x?x4xf32>, tensor<1x1x4xf32>) -> tensor<1x?x4xf32>
  return %0, %1 : tensor<1x?x4xf32>, tensor<1x?x4xf32>
}
