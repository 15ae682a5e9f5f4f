// RUN: llmc-opt %s --llmc-raise-activation | FileCheck %s
// Heads that are counted with the tokens are no rows: functions of them are left to raise-rowwise, which takes them with what puts the rows together again.

// CHECK-LABEL: func.func @main
// CHECK-NOT: llm.
// CHECK: return
func.func @main(%z: tensor<?x?x32xf32>, %y: tensor<?x8xf32>) -> (tensor<?x8xf32>, tensor<?x?x8xf32>) {
  %apart = onnx.constant dense<[-1, 8]> : tensor<2xi64>
  %h = onnx.reshape %z, %apart : (tensor<?x?x32xf32>, tensor<2xi64>) -> tensor<?x8xf32>
  %s = onnx.sigmoid %h : (tensor<?x8xf32>) -> tensor<?x8xf32>
  %silu = onnx.mul %h, %s : (tensor<?x8xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
  %gate = onnx.mul %y, %silu : (tensor<?x8xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
  %counted = onnx.constant dense<[0, -1, 8]> : tensor<3xi64>
  %g = onnx.reshape %z, %counted : (tensor<?x?x32xf32>, tensor<3xi64>) -> tensor<?x?x8xf32>
  %relu = onnx.relu %g : (tensor<?x?x8xf32>) -> tensor<?x?x8xf32>
  return %gate, %relu : tensor<?x8xf32>, tensor<?x?x8xf32>
}
