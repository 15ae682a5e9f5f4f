// RUN: llmc-opt %s -llmc-widen-floats | FileCheck %s
// Activations and constants become f32; weights stay what the file holds.

onnx.weight_data @w file 0 offset 0 length 32 : tensor<4x4xf16>
onnx.weight_data @b file 0 offset 32 length 32 : tensor<4x4xbf16>
onnx.weight_data @wide file 0 offset 64 length 64 : tensor<4x4xf32>

// CHECK: func.func @main(%[[X:.*]]: tensor<?x4xf32, #onnx.dims<["seq", "4"]>>, %{{.*}}: tensor<1xi64>) -> tensor<?x4xf32>
func.func @main(%x: tensor<?x4xf16, #onnx.dims<["seq", "4"]>>, %n: tensor<1xi64>) -> tensor<?x4xf16> {
  // CHECK: %[[W:.*]] = onnx.weight @w : tensor<4x4xf16>
  // CHECK: %[[C:.*]] = onnx.cast %[[W]] {to = f32} : (tensor<4x4xf16>) -> tensor<4x4xf32>
  %w = onnx.weight @w : tensor<4x4xf16>
  // CHECK: %[[WB:.*]] = onnx.weight @b : tensor<4x4xbf16>
  // CHECK: onnx.cast %[[WB]] {to = f32}
  %b = onnx.weight @b : tensor<4x4xbf16>
  // CHECK: onnx.mat_mul %[[X]], %[[C]] : {{.*}} -> tensor<?x4xf32>
  %y = onnx.mat_mul %x, %w : (tensor<?x4xf16, #onnx.dims<["seq", "4"]>>, tensor<4x4xf16>) -> tensor<?x4xf16>
  // CHECK: onnx.constant dense<-6.550400e+04> : tensor<1xf32>
  %c = onnx.constant dense<-6.550400e+04> : tensor<1xf16>
  %z = onnx.add %y, %c : (tensor<?x4xf16>, tensor<1xf16>) -> tensor<?x4xf16>
  // CHECK: onnx.cast {{.*}} {to = f32} : (tensor<?x4xf32>) -> tensor<*xf32>
  %f = onnx.cast %z {to = f16} : (tensor<?x4xf16>) -> tensor<*xf16>
  %u = onnx.mat_mul %f, %b : (tensor<*xf16>, tensor<4x4xbf16>) -> tensor<*xf16>
  // Integers and what is f32 already are not touched.
  // CHECK: %[[F:.*]] = onnx.weight @wide : tensor<4x4xf32>
  // CHECK-NEXT: onnx.identity %[[F]] : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %v = onnx.weight @wide : tensor<4x4xf32>
  %k = onnx.identity %v : (tensor<4x4xf32>) -> tensor<4x4xf32>
  // CHECK: onnx.cast %{{.*}} {to = i64}
  %i = onnx.cast %z {to = i64} : (tensor<?x4xf16>) -> tensor<?x4xi64>
  // CHECK: return %{{.*}} : tensor<?x4xf32>
  return %z : tensor<?x4xf16>
}
