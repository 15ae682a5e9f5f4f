// RUN: llmc-opt %s --llmc-fold-constants --split-input-file | FileCheck %s
// Ops on small constants, and elements known from shapes, become onnx.constant.

// CHECK-LABEL: func.func @evaluated
// CHECK-NEXT: %[[C:.*]] = onnx.constant dense<[5.000000e-01, 2.500000e-01]> : tensor<2xf32>
// CHECK-NEXT: return %[[C]]
func.func @evaluated() -> tensor<*xf32> {
  %a = onnx.constant dense<[4.0, 16.0]> : tensor<2xf32>
  %one = onnx.constant dense<1.0> : tensor<f32>
  %s = onnx.sqrt %a : (tensor<2xf32>) -> tensor<*xf32>
  %r = onnx.div %one, %s : (tensor<f32>, tensor<*xf32>) -> tensor<*xf32>
  return %r : tensor<*xf32>
}

// -----

// A static dim, halved: the bound of a rotary slice.
// CHECK-LABEL: func.func @known_from_shapes
// CHECK-NEXT: %[[C:.*]] = onnx.constant dense<32> : tensor<1xi64>
// CHECK-NEXT: return %[[C]]
func.func @known_from_shapes(%x: tensor<?x9x?x64xf32, #onnx.dims<["b", "9", "s", "64"]>>) -> tensor<*xi64> {
  %i = onnx.constant dense<3> : tensor<i64>
  %two = onnx.constant dense<2> : tensor<i64>
  %axis = onnx.constant dense<0> : tensor<1xi64>
  %dims = onnx.shape %x : (tensor<?x9x?x64xf32, #onnx.dims<["b", "9", "s", "64"]>>) -> tensor<*xi64>
  %d = onnx.gather %dims, %i : (tensor<*xi64>, tensor<i64>) -> tensor<*xi64>
  %h = onnx.div %d, %two : (tensor<*xi64>, tensor<i64>) -> tensor<*xi64>
  %v = onnx.unsqueeze %h, %axis : (tensor<*xi64>, tensor<1xi64>) -> tensor<*xi64>
  return %v : tensor<*xi64>
}

// -----

// A dim that is a symbol is no constant, and the rest of the vector stays with it.
// CHECK-LABEL: func.func @symbol
// CHECK: onnx.gather
// CHECK: onnx.concat
func.func @symbol(%x: tensor<?x4xf32, #onnx.dims<["a", "4"]>>) -> tensor<*xi64> {
  %i = onnx.constant dense<0> : tensor<1xi64>
  %c = onnx.constant dense<7> : tensor<1xi64>
  %dims = onnx.shape %x : (tensor<?x4xf32, #onnx.dims<["a", "4"]>>) -> tensor<*xi64>
  %d = onnx.gather %dims, %i : (tensor<*xi64>, tensor<1xi64>) -> tensor<*xi64>
  %v = onnx.concat %d, %c {axis = 0 : i64} : (tensor<*xi64>, tensor<1xi64>) -> tensor<*xi64>
  return %v : tensor<*xi64>
}

// -----

// 64 elements fold, 65 do not.
// CHECK-LABEL: func.func @size
// CHECK: onnx.constant dense<1.000000e+00> : tensor<64xf32>
// CHECK: onnx.constant_of_shape {{.*}} -> tensor<65xf32>
func.func @size() -> (tensor<64xf32>, tensor<65xf32>) {
  %a = onnx.constant dense<64> : tensor<1xi64>
  %b = onnx.constant dense<65> : tensor<1xi64>
  %x = onnx.constant_of_shape %a {value = dense<1.0> : tensor<1xf32>} : (tensor<1xi64>) -> tensor<64xf32>
  %y = onnx.constant_of_shape %b {value = dense<1.0> : tensor<1xf32>} : (tensor<1xi64>) -> tensor<65xf32>
  return %x, %y : tensor<64xf32>, tensor<65xf32>
}

// -----

// Weights are not read, and what would need too much is left alone.
// CHECK-LABEL: func.func @left_alone
// CHECK: onnx.neg
// CHECK: onnx.constant_of_shape
// CHECK: onnx.gather
module {
  onnx.weight_data @w file 0 offset 0 length 16 : tensor<4xf32>
  func.func @left_alone() -> (tensor<*xf32>, tensor<*xf32>, tensor<*xi64>) {
    %w = onnx.weight @w : tensor<4xf32>
    %n = onnx.neg %w : (tensor<4xf32>) -> tensor<*xf32>
    %huge = onnx.constant dense<[1048576, 1048576, 1048576]> : tensor<3xi64>
    %z = onnx.constant_of_shape %huge : (tensor<3xi64>) -> tensor<*xf32>
    %c = onnx.constant dense<[1, 2]> : tensor<2xi64>
    %i = onnx.constant dense<2> : tensor<i64>
    // Out of range: an error of the program, not of the compiler.
    %g = onnx.gather %c, %i : (tensor<2xi64>, tensor<i64>) -> tensor<*xi64>
    return %n, %z, %g : tensor<*xf32>, tensor<*xf32>, tensor<*xi64>
  }
}
