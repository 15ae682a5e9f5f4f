// RUN: llmc-opt %s --llmc-canonicalize-graph --split-input-file | FileCheck %s
// One spelling of equal things; only rewrites that keep every bit.

// CHECK-LABEL: func.func @neutral(
// CHECK-SAME: %[[X:[^:]*]]: tensor<4xf32>, %[[M:[^:]*]]: tensor<4xi1>
// CHECK-NEXT: return %[[X]], %[[X]], %[[X]], %[[M]]
func.func @neutral(%x: tensor<4xf32>, %m: tensor<4xi1>) -> (tensor<*xf32>, tensor<*xf32>, tensor<*xf32>, tensor<*xi1>) {
  %one = onnx.constant dense<1.0> : tensor<f32>
  %zero = onnx.constant dense<0.0> : tensor<f32>
  %true = onnx.constant dense<true> : tensor<i1>
  %a = onnx.mul %one, %x : (tensor<f32>, tensor<4xf32>) -> tensor<*xf32>
  %b = onnx.div %x, %one : (tensor<4xf32>, tensor<f32>) -> tensor<*xf32>
  %c = onnx.sub %x, %zero : (tensor<4xf32>, tensor<f32>) -> tensor<*xf32>
  %d = onnx.and %true, %m : (tensor<i1>, tensor<4xi1>) -> tensor<*xi1>
  return %a, %b, %c, %d : tensor<*xf32>, tensor<*xf32>, tensor<*xf32>, tensor<*xi1>
}

// -----

// Not neutral: -0 + 0 is 0; the ones make x longer; 1 / x is another thing; x - (-0) changes -0.
// CHECK-LABEL: func.func @not_neutral
// CHECK: onnx.add
// CHECK: onnx.mul
// CHECK: onnx.div
// CHECK: onnx.sub
func.func @not_neutral(%x: tensor<1xf32>) -> (tensor<*xf32>, tensor<*xf32>, tensor<*xf32>, tensor<*xf32>) {
  %one = onnx.constant dense<1.0> : tensor<f32>
  %ones = onnx.constant dense<1.0> : tensor<3xf32>
  %zero = onnx.constant dense<0.0> : tensor<f32>
  %minus = onnx.constant dense<-0.0> : tensor<f32>
  %a = onnx.add %x, %zero : (tensor<1xf32>, tensor<f32>) -> tensor<*xf32>
  %b = onnx.mul %x, %ones : (tensor<1xf32>, tensor<3xf32>) -> tensor<*xf32>
  %c = onnx.div %one, %x : (tensor<f32>, tensor<1xf32>) -> tensor<*xf32>
  %d = onnx.sub %x, %minus : (tensor<1xf32>, tensor<f32>) -> tensor<*xf32>
  return %a, %b, %c, %d : tensor<*xf32>, tensor<*xf32>, tensor<*xf32>, tensor<*xf32>
}

// -----

// Division by 8 is exact as a product, by 10 it is not.
// CHECK-LABEL: func.func @division
// CHECK: %[[E:.*]] = onnx.constant dense<1.250000e-01> : tensor<f32>
// CHECK: onnx.mul %{{.*}}, %[[E]]
// CHECK: onnx.div
func.func @division(%x: tensor<4xf32>) -> (tensor<*xf32>, tensor<*xf32>) {
  %eight = onnx.constant dense<8.0> : tensor<f32>
  %ten = onnx.constant dense<10.0> : tensor<f32>
  %a = onnx.div %x, %eight : (tensor<4xf32>, tensor<f32>) -> tensor<*xf32>
  %b = onnx.div %x, %ten : (tensor<4xf32>, tensor<f32>) -> tensor<*xf32>
  return %a, %b : tensor<*xf32>, tensor<*xf32>
}

// -----

// Constants and weights stand on the right; equal ops are one; unused ones go.
// CHECK-LABEL: func.func @order
// CHECK: %[[W:.*]] = onnx.weight @w
// CHECK: %[[P:.*]] = onnx.mul %arg0, %[[W]]
// CHECK-NOT: onnx.mul
// CHECK-NOT: onnx.exp
// CHECK: return %[[P]], %[[P]]
module {
  onnx.weight_data @w file 0 offset 0 length 16 : tensor<4xf32>
  func.func @order(%x: tensor<4xf32>) -> (tensor<*xf32>, tensor<*xf32>) {
    %w = onnx.weight @w : tensor<4xf32>
    %v = onnx.weight @w : tensor<4xf32>
    %a = onnx.mul %w, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<*xf32>
    %b = onnx.mul %x, %v : (tensor<4xf32>, tensor<4xf32>) -> tensor<*xf32>
    %dead = onnx.exp %b : (tensor<*xf32>) -> tensor<*xf32>
    return %a, %b : tensor<*xf32>, tensor<*xf32>
  }
}

// -----

// Two Transposes are one, or none; a Where with a known condition takes a side.
// CHECK-LABEL: func.func @doubled(
// CHECK-SAME: %[[X:[^:]*]]: tensor<2x3x4xf32>
// CHECK: %[[T:.*]] = onnx.transpose %[[X]] {perm = array<i64: 2, 1, 0>}
// CHECK: return %[[T]], %[[X]], %[[X]]
func.func @doubled(%x: tensor<2x3x4xf32>, %y: tensor<2x3x4xf32>) -> (tensor<*xf32>, tensor<*xf32>, tensor<*xf32>) {
  %yes = onnx.constant dense<true> : tensor<1xi1>
  %a = onnx.transpose %x {perm = array<i64: 0, 2, 1>} : (tensor<2x3x4xf32>) -> tensor<*xf32>
  %b = onnx.transpose %a {perm = array<i64: 1, 2, 0>} : (tensor<*xf32>) -> tensor<*xf32>
  %c = onnx.transpose %a {perm = array<i64: 0, 2, 1>} : (tensor<*xf32>) -> tensor<*xf32>
  %d = onnx.where %yes, %x, %y : (tensor<1xi1>, tensor<2x3x4xf32>, tensor<2x3x4xf32>) -> tensor<*xf32>
  return %b, %c, %d : tensor<*xf32>, tensor<*xf32>, tensor<*xf32>
}

// -----

// A part of no elements is none; one that may have some stays.
// CHECK-LABEL: func.func @empty_part(
// CHECK: onnx.concat %arg0, %arg2
// CHECK: return %arg0
func.func @empty_part(%x: tensor<2x3xf32>, %none: tensor<2x0xf32>, %some: tensor<2x?xf32>) -> (tensor<*xf32>, tensor<*xf32>) {
  %a = onnx.concat %x, %none {axis = -1 : i64} : (tensor<2x3xf32>, tensor<2x0xf32>) -> tensor<*xf32>
  %b = onnx.concat %x, %none, %some {axis = 1 : i64} : (tensor<2x3xf32>, tensor<2x0xf32>, tensor<2x?xf32>) -> tensor<*xf32>
  return %a, %b : tensor<*xf32>, tensor<*xf32>
}

// -----

// Assignments to all slices of an axis are a Concat, also behind Transposes; a
// row that keeps its old value, or order, is none.
// CHECK-LABEL: func.func @written(
// CHECK: %[[C:.*]] = onnx.concat %arg0, %arg1 {axis = 1 : i64}
// CHECK: %[[S:.*]] = onnx.scatter_nd
// CHECK: return %[[C]], %[[S]]
func.func @written(%x: tensor<2x1xf32>, %y: tensor<2x2xf32>, %old: tensor<3x2xf32>) -> (tensor<2x3xf32>, tensor<*xf32>) {
  %i = onnx.constant dense<[[0]]> : tensor<1x1xi64>
  %j = onnx.constant dense<[[1], [2]]> : tensor<2x1xi64>
  %xt = onnx.transpose %x {perm = array<i64: 1, 0>} : (tensor<2x1xf32>) -> tensor<1x2xf32>
  %yt = onnx.transpose %y {perm = array<i64: 1, 0>} : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %a = onnx.scatter_nd %old, %j, %yt {reduction = "none"} : (tensor<3x2xf32>, tensor<2x1xi64>, tensor<2x2xf32>) -> tensor<3x2xf32>
  %b = onnx.scatter_nd %a, %i, %xt {reduction = "none"} : (tensor<3x2xf32>, tensor<1x1xi64>, tensor<1x2xf32>) -> tensor<3x2xf32>
  %c = onnx.transpose %b {perm = array<i64: 1, 0>} : (tensor<3x2xf32>) -> tensor<2x3xf32>
  %e = onnx.scatter_nd %old, %j, %yt {reduction = "none"} : (tensor<3x2xf32>, tensor<2x1xi64>, tensor<2x2xf32>) -> tensor<*xf32>
  return %c, %e : tensor<2x3xf32>, tensor<*xf32>
}

// -----

// Rows taken by a list of indices are a Gather in front of the Transpose; pairs
// of indices are none.
// CHECK-LABEL: func.func @gathered(
// CHECK: %[[I:.*]] = onnx.constant dense<-1> : tensor<1xi64>
// CHECK: %[[G:.*]] = onnx.gather %arg0, %[[I]] {axis = 1 : i64}
// CHECK: %[[P:.*]] = onnx.gather_nd
// CHECK: return %[[G]], %[[P]]
func.func @gathered(%x: tensor<2x3x4xf32>) -> (tensor<2x1x4xf32>, tensor<1x4xf32>) {
  %i = onnx.constant dense<[[-1]]> : tensor<1x1xi64>
  %two = onnx.constant dense<[[1, 2]]> : tensor<1x2xi64>
  %t = onnx.transpose %x {perm = array<i64: 1, 0, 2>} : (tensor<2x3x4xf32>) -> tensor<3x2x4xf32>
  %g = onnx.gather_nd %t, %i : (tensor<3x2x4xf32>, tensor<1x1xi64>) -> tensor<1x2x4xf32>
  %y = onnx.transpose %g {perm = array<i64: 1, 0, 2>} : (tensor<1x2x4xf32>) -> tensor<2x1x4xf32>
  %p = onnx.gather_nd %x, %two : (tensor<2x3x4xf32>, tensor<1x2xi64>) -> tensor<1x4xf32>
  return %y, %p : tensor<2x1x4xf32>, tensor<1x4xf32>
}

// -----

// Nothing is written into nothing.
// CHECK-LABEL: func.func @written_nothing(
// CHECK: onnx.scatter_nd
func.func @written_nothing(%old: tensor<0x4xf32>, %rows: tensor<0x4xf32>, %at: tensor<0x1xi64>) -> tensor<0x4xf32> {
  %r = onnx.scatter_nd %old, %at, %rows {reduction = "none"} : (tensor<0x4xf32>, tensor<0x1xi64>, tensor<0x4xf32>) -> tensor<0x4xf32>
  return %r : tensor<0x4xf32>
}
