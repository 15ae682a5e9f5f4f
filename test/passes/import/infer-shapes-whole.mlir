// RUN: llmc-opt %s --llmc-infer-shapes --split-input-file | FileCheck %s
// Shapes of ops that are more than a primitive: attention with its caches, quantised tensors, convolution, einsum.

// Packed heads: the caches are split and as long as past and new tokens together.
// CHECK-LABEL: func.func @attention
// CHECK-SAME: -> (tensor<?x?x48xf32, #onnx.dims<["b", "s", "48"]>>, tensor<?x2x?x8xf32, #onnx.dims<["b", "2", "past + s", "8"]>>, tensor<?x2x?x12xf32, #onnx.dims<["b", "2", "past + s", "12"]>>, tensor<?x4x?x?xf32, #onnx.dims<["b", "4", "s", "past + s"]>>)
func.func @attention(%q: tensor<?x?x32xf32, #onnx.dims<["b", "s", "32"]>>, %k: tensor<?x?x16xf32, #onnx.dims<["b", "s", "16"]>>,
                     %v: tensor<?x?x24xf32, #onnx.dims<["b", "s", "24"]>>, %pk: tensor<?x2x?x8xf32, #onnx.dims<["b", "2", "past", "8"]>>,
                     %pv: tensor<?x2x?x12xf32, #onnx.dims<["b", "2", "past", "12"]>>) -> (tensor<*xf32>, tensor<*xf32>, tensor<*xf32>, tensor<*xf32>) {
  %n = onnx.none
  %r:4 = onnx.attention %q, %k, %v, %n, %pk, %pv, %n {q_num_heads = 4, kv_num_heads = 2} : (tensor<?x?x32xf32, #onnx.dims<["b", "s", "32"]>>, tensor<?x?x16xf32, #onnx.dims<["b", "s", "16"]>>, tensor<?x?x24xf32, #onnx.dims<["b", "s", "24"]>>, none, tensor<?x2x?x8xf32, #onnx.dims<["b", "2", "past", "8"]>>, tensor<?x2x?x12xf32, #onnx.dims<["b", "2", "past", "12"]>>, none) -> (tensor<*xf32>, tensor<*xf32>, tensor<*xf32>, tensor<*xf32>)
  return %r#0, %r#1, %r#2, %r#3 : tensor<*xf32>, tensor<*xf32>, tensor<*xf32>, tensor<*xf32>
}

// -----

// CHECK-LABEL: func.func @quantised
// CHECK-SAME: -> (tensor<?x8xui8, #onnx.dims<["n", "8"]>>, tensor<f32>, tensor<ui8>, tensor<?x6xi32, #onnx.dims<["n", "6"]>>, tensor<8x6xf16>)
func.func @quantised(%x: tensor<?x8xf32, #onnx.dims<["n", "8"]>>, %w: tensor<8x6xi8>, %s: tensor<6xf16>) -> (tensor<*xui8>, tensor<*xf32>, tensor<*xui8>, tensor<*xi32>, tensor<*xf16>) {
  %n = onnx.none
  %q:3 = onnx.dynamic_quantize_linear %x : (tensor<?x8xf32, #onnx.dims<["n", "8"]>>) -> (tensor<*xui8>, tensor<*xf32>, tensor<*xui8>)
  %y = onnx.mat_mul_integer %q#0, %w, %q#2, %n : (tensor<*xui8>, tensor<8x6xi8>, tensor<*xui8>, none) -> tensor<*xi32>
  %d = onnx.dequantize_linear %w, %s, %n : (tensor<8x6xi8>, tensor<6xf16>, none) -> tensor<*xf16>
  return %q#0, %q#1, %q#2, %y, %d : tensor<*xui8>, tensor<*xf32>, tensor<*xui8>, tensor<*xi32>, tensor<*xf16>
}

// -----

// A causal convolution gives more positions than it is given; the state is cut off elsewhere.
// CHECK-LABEL: func.func @conv
// CHECK-SAME: -> (tensor<?x8x?xf32, #onnx.dims<["b", "8", "s + 3"]>>, tensor<?x8x?xf32, #onnx.dims<["b", "8", "s"]>>, tensor<?x8x3xf32, #onnx.dims<["b", "8", "3"]>>)
func.func @conv(%x: tensor<?x8x?xf32, #onnx.dims<["b", "8", "s"]>>, %w: tensor<8x1x4xf32>) -> (tensor<*xf32>, tensor<*xf32>, tensor<*xf32>) {
  %n = onnx.none
  %c = onnx.conv %x, %w, %n {group = 8, pads = array<i64: 3, 3>} : (tensor<?x8x?xf32, #onnx.dims<["b", "8", "s"]>>, tensor<8x1x4xf32>, none) -> tensor<*xf32>
  %y:2 = onnx.causal_conv_with_state %x, %w, %n, %n : (tensor<?x8x?xf32, #onnx.dims<["b", "8", "s"]>>, tensor<8x1x4xf32>, none, none) -> (tensor<*xf32>, tensor<*xf32>)
  return %c, %y#0, %y#1 : tensor<*xf32>, tensor<*xf32>, tensor<*xf32>
}

// -----

// CHECK-LABEL: func.func @einsum
// CHECK-SAME: -> (tensor<?x4x?x?xf32, #onnx.dims<["b", "4", "s", "t"]>>, tensor<*xf32>)
func.func @einsum(%q: tensor<?x4x?x16xf32, #onnx.dims<["b", "4", "s", "16"]>>, %k: tensor<?x4x?x16xf32, #onnx.dims<["b", "4", "t", "16"]>>) -> (tensor<*xf32>, tensor<*xf32>) {
  %y = onnx.einsum %q, %k {equation = "...sd,...td->...st"} : (tensor<?x4x?x16xf32, #onnx.dims<["b", "4", "s", "16"]>>, tensor<?x4x?x16xf32, #onnx.dims<["b", "4", "t", "16"]>>) -> tensor<*xf32>
  // An equation that does not fit its operands says nothing.
  %z = onnx.einsum %q, %k {equation = "ab,bc->ac"} : (tensor<?x4x?x16xf32, #onnx.dims<["b", "4", "s", "16"]>>, tensor<?x4x?x16xf32, #onnx.dims<["b", "4", "t", "16"]>>) -> tensor<*xf32>
  return %y, %z : tensor<*xf32>, tensor<*xf32>
}

// -----

// CHECK-LABEL: func.func @statistics
// CHECK-SAME: -> (tensor<?x16xf16, #onnx.dims<["n", "16"]>>, tensor<?x1xf32, #onnx.dims<["n", "1"]>>)
func.func @statistics(%x: tensor<?x16xf16, #onnx.dims<["n", "16"]>>, %g: tensor<16xf16>) -> (tensor<*xf16>, tensor<*xf32>) {
  %n = onnx.none
  %y, %mean, %inv = onnx.layer_normalization %x, %g, %n : (tensor<?x16xf16, #onnx.dims<["n", "16"]>>, tensor<16xf16>, none) -> (tensor<*xf16>, tensor<*xf32>, tensor<*xf32>)
  return %y, %mean : tensor<*xf16>, tensor<*xf32>
}
