// RUN: llmc-opt %s | llmc-opt | FileCheck %s
// The onnx dialect prints and reads back: dims, weights, constants, none, If.

module attributes {onnx.files = ["model.onnx", "model.onnx_data"], onnx.opset = 18 : i64} {
  // CHECK: onnx.weight_data @layers.0.w file 1 offset 4096 length 64 : tensor<4x4xf32>
  onnx.weight_data @"layers.0.w" file 1 offset 4096 length 64 : tensor<4x4xf32>
  // CHECK-LABEL: func.func @main
  // CHECK-SAME: tensor<?x?xi64, #onnx.dims<["batch", "past + seq"]>> {onnx.name = "input_ids"}
  func.func @main(%ids: tensor<?x?xi64, #onnx.dims<["batch", "past + seq"]>> {onnx.name = "input_ids"},
                  %c: tensor<i1>, %x: tensor<?x4xf32>) -> (tensor<*xf32> {onnx.name = "logits"}) {
    // CHECK: onnx.none
    %none = onnx.none
    // CHECK: onnx.constant dense<[0, -1]> : tensor<2xi64>
    %axes = onnx.constant dense<[0, -1]> : tensor<2xi64>
    // CHECK: onnx.constant dense<1> : tensor<2xi64> -> tensor<2xi64, #onnx.dims<["2"]>>
    %one = onnx.constant dense<1> : tensor<2xi64> -> tensor<2xi64, #onnx.dims<["2"]>>
    // CHECK: onnx.weight @layers.0.w : tensor<4x4xf32>
    %w = onnx.weight @"layers.0.w" : tensor<4x4xf32>
    // CHECK: onnx.gather %{{.*}}, %{{.*}} {axis = -1 : i64} : (tensor<4x4xf32>,
    %g = onnx.gather %w, %ids {axis = -1} : (tensor<4x4xf32>, tensor<?x?xi64, #onnx.dims<["batch", "past + seq"]>>) -> tensor<*xf32>
    // CHECK: onnx.slice
    %s = onnx.slice %g, %axes, %one, %none, %none : (tensor<*xf32>, tensor<2xi64>, tensor<2xi64, #onnx.dims<["2"]>>, none, none) -> tensor<*xf32>
    // CHECK: onnx.split %{{.*}} {num_outputs = 2 : i64} : (tensor<*xf32>, none) -> (tensor<*xf32>, tensor<*xf32>)
    %p:2 = onnx.split %s, %none {num_outputs = 2 : i64} : (tensor<*xf32>, none) -> (tensor<*xf32>, tensor<*xf32>)
    // CHECK: onnx.cast %{{.*}} {to = f16}
    %h = onnx.cast %p#0 {to = f16} : (tensor<*xf32>) -> tensor<*xf16>
    // CHECK: onnx.if %{{.*}} {
    // CHECK: onnx.yield %{{.*}} : tensor<*xf32>
    // CHECK: } else {
    %i = onnx.if %c {
      onnx.yield %p#1 : tensor<*xf32>
    } else {
      onnx.yield %s : tensor<*xf32>
    } : (tensor<i1>) -> tensor<*xf32>
    return %i : tensor<*xf32>
  }
}
