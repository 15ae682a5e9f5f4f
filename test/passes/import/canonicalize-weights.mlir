// RUN: llmc-opt %s --llmc-canonicalize-graph | FileCheck %s
// Tensors of the file in another shape are other tensors of the same bytes; dims of 1 are left to others.

// CHECK: onnx.weight_data @w.6.4 file 0 offset 64 length 96 : tensor<6x4xf32>
// CHECK: onnx.weight_data @w file 0 offset 64 length 96 : tensor<2x3x4xf32>
onnx.weight_data @w file 0 offset 64 length 96 : tensor<2x3x4xf32>
func.func @main(%x: tensor<5x6xf32>) -> (tensor<5x4xf32>, tensor<1x2x3x4xf32>) {
  // CHECK: %[[W:.*]] = onnx.weight @w.6.4
  // CHECK: onnx.mat_mul %arg0, %[[W]]
  // CHECK: onnx.reshape
  %w = onnx.weight @w : tensor<2x3x4xf32>
  %flat = onnx.constant dense<[6, 4]> : tensor<2xi64>
  %wide = onnx.constant dense<[1, 2, 3, 4]> : tensor<4xi64>
  %m = onnx.reshape %w, %flat : (tensor<2x3x4xf32>, tensor<2xi64>) -> tensor<6x4xf32>
  %y = onnx.mat_mul %x, %m : (tensor<5x6xf32>, tensor<6x4xf32>) -> tensor<5x4xf32>
  %o = onnx.reshape %w, %wide : (tensor<2x3x4xf32>, tensor<4xi64>) -> tensor<1x2x3x4xf32>
  return %y, %o : tensor<5x4xf32>, tensor<1x2x3x4xf32>
}
