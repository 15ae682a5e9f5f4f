// RUN: llmc-opt %s --llmc-raise-activation --remarks-filter=raise --remark-policy=all --remark-format=emitRemark 2>&1 | FileCheck %s
// Activations are known by their values, whatever their spelling; a product with another value becomes llm.glu.

// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<?x?x16xf32>, %u: tensor<?x?x16xf32>) -> (tensor<?x?x16xf32>, tensor<?x?x16xf32>, tensor<?x?x16xf32>, tensor<?x?x16xf32>, tensor<?x?x16xf32>, tensor<?x?x16xf32>, tensor<?x?x16xf32>, tensor<?x?x16xf32>) {
  %none = onnx.none
  // CHECK: %[[GLU:.*]] = llm.glu %arg0, %arg1 {kind = 1 : i64}
  %s = onnx.sigmoid %x : (tensor<?x?x16xf32>) -> tensor<?x?x16xf32>
  %silu = onnx.mul %x, %s : (tensor<?x?x16xf32>, tensor<?x?x16xf32>) -> tensor<?x?x16xf32>
  %glu = onnx.mul %u, %silu : (tensor<?x?x16xf32>, tensor<?x?x16xf32>) -> tensor<?x?x16xf32>

  // GELU by Erf, 0.5 in the middle.
  // CHECK: %[[ERF:.*]] = llm.activation %arg0 {kind = 2 : i64}
  %root = onnx.constant dense<1.41421354> : tensor<f32>
  %one = onnx.constant dense<1.0> : tensor<f32>
  %half = onnx.constant dense<0.5> : tensor<f32>
  %d = onnx.div %x, %root : (tensor<?x?x16xf32>, tensor<f32>) -> tensor<?x?x16xf32>
  %erf = onnx.erf %d : (tensor<?x?x16xf32>) -> tensor<?x?x16xf32>
  %e1 = onnx.add %erf, %one : (tensor<?x?x16xf32>, tensor<f32>) -> tensor<?x?x16xf32>
  %h = onnx.mul %x, %half : (tensor<?x?x16xf32>, tensor<f32>) -> tensor<?x?x16xf32>
  %gelu = onnx.mul %h, %e1 : (tensor<?x?x16xf32>, tensor<?x?x16xf32>) -> tensor<?x?x16xf32>

  // GELU by Tanh, the cube as two products.
  // CHECK: %[[TANH:.*]] = llm.activation %arg0 {kind = 3 : i64}
  %c1 = onnx.constant dense<0.044715> : tensor<f32>
  %c2 = onnx.constant dense<0.7978846> : tensor<f32>
  %x2 = onnx.mul %x, %x : (tensor<?x?x16xf32>, tensor<?x?x16xf32>) -> tensor<?x?x16xf32>
  %x3 = onnx.mul %x2, %x : (tensor<?x?x16xf32>, tensor<?x?x16xf32>) -> tensor<?x?x16xf32>
  %cx = onnx.mul %x3, %c1 : (tensor<?x?x16xf32>, tensor<f32>) -> tensor<?x?x16xf32>
  %in = onnx.add %x, %cx : (tensor<?x?x16xf32>, tensor<?x?x16xf32>) -> tensor<?x?x16xf32>
  %arg = onnx.mul %in, %c2 : (tensor<?x?x16xf32>, tensor<f32>) -> tensor<?x?x16xf32>
  %th = onnx.tanh %arg : (tensor<?x?x16xf32>) -> tensor<?x?x16xf32>
  %t1 = onnx.add %th, %one : (tensor<?x?x16xf32>, tensor<f32>) -> tensor<?x?x16xf32>
  %fast = onnx.mul %t1, %h : (tensor<?x?x16xf32>, tensor<?x?x16xf32>) -> tensor<?x?x16xf32>

  // CHECK: %[[OP:.*]] = llm.activation %arg0 {kind = 2 : i64}
  %op = onnx.gelu %x : (tensor<?x?x16xf32>) -> tensor<?x?x16xf32>
  // CHECK: %[[RELU:.*]] = llm.activation %arg0 {kind = 4 : i64}
  %relu = onnx.relu %x : (tensor<?x?x16xf32>) -> tensor<?x?x16xf32>

  // Must not fire: a sigmoid of a multiple is no silu, a product of two values
  // without an activation no glu, a step of scaling no activation.
  // CHECK: %[[QUICK:.*]] = onnx.mul %arg0
  %c3 = onnx.constant dense<1.5> : tensor<f32>
  %x15 = onnx.mul %x, %c3 : (tensor<?x?x16xf32>, tensor<f32>) -> tensor<?x?x16xf32>
  %s15 = onnx.sigmoid %x15 : (tensor<?x?x16xf32>) -> tensor<?x?x16xf32>
  %quick = onnx.mul %x, %s15 : (tensor<?x?x16xf32>, tensor<?x?x16xf32>) -> tensor<?x?x16xf32>
  // CHECK: onnx.mul %arg0, %arg1
  %two = onnx.mul %x, %u : (tensor<?x?x16xf32>, tensor<?x?x16xf32>) -> tensor<?x?x16xf32>
  // CHECK: return %[[GLU]], %[[ERF]], %[[TANH]], %[[OP]], %[[RELU]],
  return %glu, %gelu, %fast, %op, %relu, %quick, %two, %x15 : tensor<?x?x16xf32>, tensor<?x?x16xf32>, tensor<?x?x16xf32>, tensor<?x?x16xf32>, tensor<?x?x16xf32>, tensor<?x?x16xf32>, tensor<?x?x16xf32>, tensor<?x?x16xf32>
}
