// RUN: llmc-opt %s --llmc-simplify-shapes --split-input-file | FileCheck %s
// Ops that change nothing go, shape operands become constants, dims are read from the arguments.

// CHECK-LABEL: func.func @copies(
// CHECK-SAME: %[[X:[^:]*]]: tensor<?x4
// CHECK-NEXT: return %[[X]], %[[X]], %[[X]], %[[X]], %[[X]]
func.func @copies(%x: tensor<?x4xf32, #onnx.dims<["a", "4"]>>) -> (tensor<*xf32>, tensor<*xf32>, tensor<*xf32>, tensor<*xf32>, tensor<*xf32>) {
  %none = onnx.none
  %v0 = onnx.constant dense<0> : tensor<1xi64>
  %end = onnx.constant dense<9223372036854775807> : tensor<1xi64>
  %a = onnx.identity %x : (tensor<?x4xf32, #onnx.dims<["a", "4"]>>) -> tensor<*xf32>
  %b = onnx.cast %a {to = f32} : (tensor<*xf32>) -> tensor<*xf32>
  %c = onnx.transpose %b {perm = array<i64: 0, 1>} : (tensor<*xf32>) -> tensor<*xf32>
  %d = onnx.slice %c, %v0, %end, %v0, %none : (tensor<*xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>, none) -> tensor<*xf32>
  %e = onnx.concat %d {axis = 0 : i64} : (tensor<*xf32>) -> tensor<*xf32>
  return %a, %b, %c, %d, %e : tensor<*xf32>, tensor<*xf32>, tensor<*xf32>, tensor<*xf32>, tensor<*xf32>
}

// -----

// A chain that returns to its first shape, and Expand to the same shape.
// CHECK-LABEL: func.func @chain(
// CHECK-SAME: %[[X:[^:]*]]: tensor<?x4
// CHECK-NEXT: return %[[X]]
func.func @chain(%x: tensor<?x4xf32, #onnx.dims<["a", "4"]>>) -> tensor<*xf32> {
  %flat = onnx.constant dense<-1> : tensor<1xi64>
  %v0 = onnx.constant dense<0> : tensor<1xi64>
  %dims = onnx.shape %x : (tensor<?x4xf32, #onnx.dims<["a", "4"]>>) -> tensor<*xi64>
  %a = onnx.reshape %x, %flat : (tensor<?x4xf32, #onnx.dims<["a", "4"]>>, tensor<1xi64>) -> tensor<*xf32>
  %b = onnx.unsqueeze %a, %v0 : (tensor<*xf32>, tensor<1xi64>) -> tensor<*xf32>
  %c = onnx.reshape %b, %dims : (tensor<*xf32>, tensor<*xi64>) -> tensor<*xf32>
  %d = onnx.expand %c, %dims : (tensor<*xf32>, tensor<*xi64>) -> tensor<*xf32>
  return %d : tensor<*xf32>
}

// -----

// These do something: a reversal, a Transpose of equal dims, another element type, a shape that is not proved equal.
// CHECK-LABEL: func.func @not_copies
// CHECK: onnx.slice
// CHECK: onnx.transpose
// CHECK: onnx.cast
// CHECK: onnx.expand
func.func @not_copies(%x: tensor<?x?xf32, #onnx.dims<["a", "a"]>>, %s: tensor<2xi64>) -> (tensor<*xf32>, tensor<*xf32>, tensor<*xf16>, tensor<*xf32>) {
  %last = onnx.constant dense<-1> : tensor<1xi64>
  %first = onnx.constant dense<-9223372036854775807> : tensor<1xi64>
  %v0 = onnx.constant dense<0> : tensor<1xi64>
  %a = onnx.slice %x, %last, %first, %v0, %last : (tensor<?x?xf32, #onnx.dims<["a", "a"]>>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<*xf32>
  %b = onnx.transpose %x {perm = array<i64: 1, 0>} : (tensor<?x?xf32, #onnx.dims<["a", "a"]>>) -> tensor<*xf32>
  %c = onnx.cast %x {to = f16} : (tensor<?x?xf32, #onnx.dims<["a", "a"]>>) -> tensor<*xf16>
  %d = onnx.expand %x, %s : (tensor<?x?xf32, #onnx.dims<["a", "a"]>>, tensor<2xi64>) -> tensor<*xf32>
  return %a, %b, %c, %d : tensor<*xf32>, tensor<*xf32>, tensor<*xf16>, tensor<*xf32>
}

// -----

// CHECK-LABEL: func.func @shape_operands
// CHECK: %[[S:.*]] = onnx.constant dense<[0, 0, 9, 64]> : tensor<4xi64>
// CHECK: onnx.reshape %{{.*}}, %[[S]]
// CHECK: %[[E:.*]] = onnx.constant dense<[3, 1, 1, 1, 1]> : tensor<5xi64>
// CHECK: onnx.expand %{{.*}}, %[[E]]
func.func @shape_operands(%x: tensor<?x?x576xf32, #onnx.dims<["b", "s", "576"]>>) -> (tensor<*xf32>, tensor<*xf32>) {
  %tail = onnx.constant dense<[-1, 64]> : tensor<2xi64>
  %three = onnx.constant dense<3> : tensor<1xi64>
  %lead = onnx.shape %x {end = 2 : i64} : (tensor<?x?x576xf32, #onnx.dims<["b", "s", "576"]>>) -> tensor<*xi64>
  %shape = onnx.concat %lead, %tail {axis = 0 : i64} : (tensor<*xi64>, tensor<2xi64>) -> tensor<*xi64>
  %y = onnx.reshape %x, %shape : (tensor<?x?x576xf32, #onnx.dims<["b", "s", "576"]>>, tensor<*xi64>) -> tensor<*xf32>
  %all = onnx.shape %y : (tensor<*xf32>) -> tensor<*xi64>
  %wide = onnx.concat %three, %all {axis = 0 : i64} : (tensor<1xi64>, tensor<*xi64>) -> tensor<*xi64>
  %z = onnx.expand %y, %wide : (tensor<*xf32>, tensor<*xi64>) -> tensor<*xf32>
  return %y, %z : tensor<*xf32>, tensor<*xf32>
}

// -----

// Two symbols at other places than before cannot be spelled by a constant.
// CHECK-LABEL: func.func @must_stay
// CHECK: %[[S:.*]] = onnx.concat
// CHECK: onnx.reshape %{{.*}}, %[[S]]
func.func @must_stay(%x: tensor<?x?xf32, #onnx.dims<["b", "s"]>>) -> tensor<*xf32> {
  %v0 = onnx.constant dense<0> : tensor<1xi64>
  %v1 = onnx.constant dense<1> : tensor<1xi64>
  %dims = onnx.shape %x : (tensor<?x?xf32, #onnx.dims<["b", "s"]>>) -> tensor<*xi64>
  %b = onnx.gather %dims, %v0 : (tensor<*xi64>, tensor<1xi64>) -> tensor<*xi64>
  %s = onnx.gather %dims, %v1 : (tensor<*xi64>, tensor<1xi64>) -> tensor<*xi64>
  %shape = onnx.concat %s, %b {axis = 0 : i64} : (tensor<*xi64>, tensor<*xi64>) -> tensor<*xi64>
  %y = onnx.reshape %x, %shape : (tensor<?x?xf32, #onnx.dims<["b", "s"]>>, tensor<*xi64>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}

// -----

// past + seq, computed from inner values, is a dim of the mask.
// CHECK-LABEL: func.func @named(
// CHECK: %[[D:.*]] = onnx.shape %arg1
// CHECK: %[[I:.*]] = onnx.constant dense<1> : tensor<i64>
// CHECK: %[[T:.*]] = onnx.gather %[[D]], %[[I]]
// CHECK-NOT: onnx.add
// CHECK: return %[[T]]
func.func @named(%ids: tensor<?x?xi64, #onnx.dims<["b", "seq"]>>, %mask: tensor<?x?xi64, #onnx.dims<["b", "past + seq"]>>, %past: tensor<?x?xf32, #onnx.dims<["b", "past"]>>, %table: tensor<9x8xf32>) -> tensor<*xi64> {
  %one = onnx.constant dense<1> : tensor<i64>
  %x = onnx.gather %table, %ids : (tensor<9x8xf32>, tensor<?x?xi64, #onnx.dims<["b", "seq"]>>) -> tensor<*xf32>
  %a = onnx.shape %x : (tensor<*xf32>) -> tensor<*xi64>
  %b = onnx.shape %past : (tensor<?x?xf32, #onnx.dims<["b", "past"]>>) -> tensor<*xi64>
  %s = onnx.gather %a, %one : (tensor<*xi64>, tensor<i64>) -> tensor<*xi64>
  %p = onnx.gather %b, %one : (tensor<*xi64>, tensor<i64>) -> tensor<*xi64>
  %t = onnx.add %s, %p : (tensor<*xi64>, tensor<*xi64>) -> tensor<*xi64>
  return %t : tensor<*xi64>
}
