// RUN: llmc-opt %s -llmc-resolve-control-flow -split-input-file | FileCheck %s
// Decides an onnx.if by a known condition, a flag that chooses between the same decoder with and without past, or equal values.

// CHECK-LABEL: @known(
// CHECK-NEXT: return %arg0
func.func @known(%x: tensor<3x1xf32>, %y: tensor<3x1xf32>) -> tensor<3x1xf32> {
  %s = onnx.shape %x {start = 1 : i64} : (tensor<3x1xf32>) -> tensor<1xi64>
  %one = onnx.constant dense<1> : tensor<1xi64>
  %c = onnx.equal %s, %one : (tensor<1xi64>, tensor<1xi64>) -> tensor<1xi1>
  %r = onnx.if %c {
    onnx.yield %x : tensor<3x1xf32>
  } else {
    onnx.yield %y : tensor<3x1xf32>
  } : (tensor<1xi1>) -> tensor<3x1xf32>
  return %r : tensor<3x1xf32>
}

// -----

// The branch that reads the cache is taken and the flag is no input any more, negated or not.
// CHECK-LABEL: @merged(
// CHECK-SAME: %[[IDS:.*]]: tensor<?xf32>, %[[PAST:.*]]: tensor<?xf32>)
// CHECK-NOT: onnx.if
// CHECK: %[[WITH:.*]] = onnx.add %[[IDS]], %[[PAST]]
// CHECK: return %[[WITH]]
func.func @merged(%x: tensor<?xf32>, %flag: tensor<1xi1>, %past: tensor<?xf32>) -> tensor<?xf32> {
  %with = onnx.add %x, %past : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
  %without = onnx.neg %x : (tensor<?xf32>) -> tensor<?xf32>
  %not = onnx.not %flag : (tensor<1xi1>) -> tensor<1xi1>
  %r = onnx.if %not {
    onnx.yield %without : tensor<?xf32>
  } else {
    onnx.yield %with : tensor<?xf32>
  } : (tensor<1xi1>) -> tensor<?xf32>
  return %r : tensor<?xf32>
}

// -----

// CHECK-LABEL: @equal(
// CHECK-NEXT: return %arg0
func.func @equal(%x: tensor<?xf32>, %flag: tensor<1xi64>) -> tensor<?xf32> {
  %c = onnx.cast %flag {to = i1} : (tensor<1xi64>) -> tensor<1xi1>
  %r = onnx.if %c {
    onnx.yield %x : tensor<?xf32>
  } else {
    onnx.yield %x : tensor<?xf32>
  } : (tensor<1xi1>) -> tensor<?xf32>
  return %r : tensor<?xf32>
}

// -----

// Must stay: which of two tables is read depends on the number of tokens.
// CHECK-LABEL: @tables(
// CHECK: onnx.if
func.func @tables(%mask: tensor<1x?xi64, #onnx.dims<["1", "total"]>>, %short: tensor<8x4xf32>, %long: tensor<32x4xf32>) -> tensor<?x4xf32> {
  %s = onnx.shape %mask {start = 1 : i64} : (tensor<1x?xi64, #onnx.dims<["1", "total"]>>) -> tensor<1xi64>
  %limit = onnx.constant dense<8> : tensor<1xi64>
  %c = onnx.greater %s, %limit : (tensor<1xi64>, tensor<1xi64>) -> tensor<1xi1>
  %r = onnx.if %c {
    onnx.yield %long : tensor<32x4xf32>
  } else {
    onnx.yield %short : tensor<8x4xf32>
  } : (tensor<1xi1>) -> tensor<?x4xf32>
  return %r : tensor<?x4xf32>
}
