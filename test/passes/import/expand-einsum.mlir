// RUN: llmc-opt %s -split-input-file --llmc-expand-fused | FileCheck %s
// An Einsum of two operands becomes a product of matrices; others stay.

// Scores of [batch, tokens, heads, dim] in one transpose each.
// CHECK-LABEL: func.func @main
// CHECK-DAG: %[[Q:.*]] = onnx.transpose %arg0 {perm = array<i64: 0, 2, 1, 3>}
// CHECK-DAG: %[[K:.*]] = onnx.transpose %arg1 {perm = array<i64: 0, 2, 3, 1>}
// CHECK: %[[S:.*]] = onnx.mat_mul %[[Q]], %[[K]]
// CHECK: return %[[S]]
func.func @main(%q: tensor<1x5x4x8xf32>, %k: tensor<1x7x4x8xf32>) -> tensor<1x4x5x7xf32> {
  %s = onnx.einsum %q, %k {equation = "bqhd,bkhd->bhqk"} : (tensor<1x5x4x8xf32>, tensor<1x7x4x8xf32>) -> tensor<1x4x5x7xf32>
  return %s : tensor<1x4x5x7xf32>
}

// -----
// Grouped heads broadcast.
// CHECK-LABEL: func.func @main
// CHECK: onnx.unsqueeze
// CHECK: onnx.mat_mul {{.*}} -> tensor<1x2x3x5x7xf32
func.func @main(%q: tensor<1x2x3x5x8xf32>, %k: tensor<1x2x7x8xf32>) -> tensor<1x2x3x5x7xf32> {
  %s = onnx.einsum %q, %k {equation = "bkgqd,bktd->bkgqt"} : (tensor<1x2x3x5x8xf32>, tensor<1x2x7x8xf32>) -> tensor<1x2x3x5x7xf32>
  return %s : tensor<1x2x3x5x7xf32>
}

// -----
// A layer over heads is one matrix, as the file holds it.
// CHECK-LABEL: func.func @main
// CHECK: %[[W:.*]] = onnx.reshape %arg1, {{.*}} -> tensor<16x12xf32
// CHECK: %[[T:.*]] = onnx.transpose %[[W]] {perm = array<i64: 1, 0>}
// CHECK: %[[Y:.*]] = onnx.mat_mul %arg0, %[[T]]
// CHECK: onnx.reshape %[[Y]], {{.*}} -> tensor<1x5x2x8xf32
func.func @main(%x: tensor<1x5x12xf32>, %w: tensor<2x8x12xf32>) -> tensor<1x5x2x8xf32> {
  %y = onnx.einsum %x, %w {equation = "bsd,hkd->bshk"} : (tensor<1x5x12xf32>, tensor<2x8x12xf32>) -> tensor<1x5x2x8xf32>
  return %y : tensor<1x5x2x8xf32>
}

// -----
// A diagonal, and a sum over what only one side has.
// CHECK-LABEL: func.func @main
// CHECK-COUNT-2: onnx.einsum
func.func @main(%x: tensor<5x5xf32>, %y: tensor<5x7xf32>) -> (tensor<5x7xf32>, tensor<5xf32>) {
  %a = onnx.einsum %x, %y {equation = "ii,ij->ij"} : (tensor<5x5xf32>, tensor<5x7xf32>) -> tensor<5x7xf32>
  %b = onnx.einsum %x, %y {equation = "ij,ik->j"} : (tensor<5x5xf32>, tensor<5x7xf32>) -> tensor<5xf32>
  return %a, %b : tensor<5x7xf32>, tensor<5xf32>
}
