// RUN: llmc-opt %s -split-input-file --llmc-bind-inputs | FileCheck %s
// Counts of logits, sequences of caches and types of tokens become constants; offsets from the front and positions do not.

// CHECK-LABEL: func.func @main
// CHECK-SAME: %[[X:arg[0-9]+]]: tensor<?x?x8xf32>
func.func @main(%x: tensor<?x?x8xf32> {onnx.name = "x"}, %n: tensor<i64> {onnx.name = "n"}, %from: tensor<1xi64> {onnx.name = "from"}) -> (tensor<?x?x8xf32>, tensor<?x?x8xf32>) {
  // CHECK: %[[ONE:.*]] = onnx.constant dense<1> : tensor<i64>
  // CHECK: onnx.neg %[[ONE]]
  // CHECK: onnx.slice %{{.*}}, %arg2
  %0 = onnx.constant dense<0> : tensor<1xi64>
  %1 = onnx.constant dense<1> : tensor<1xi64>
  %end = onnx.constant dense<9223372036854775807> : tensor<1xi64>
  %none = onnx.none
  %neg = onnx.neg %n : (tensor<i64>) -> tensor<i64>
  %start = onnx.unsqueeze %neg, %0 : (tensor<i64>, tensor<1xi64>) -> tensor<1xi64>
  %y = onnx.slice %x, %start, %end, %1, %none : (tensor<?x?x8xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>, none) -> tensor<?x?x8xf32>
  %z = onnx.slice %x, %from, %end, %1, %none : (tensor<?x?x8xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>, none) -> tensor<?x?x8xf32>
  return %y, %z : tensor<?x?x8xf32>, tensor<?x?x8xf32>
}

// -----

// CHECK-LABEL: func.func @main
func.func @main(%past: tensor<?x2x?x8xf32> {onnx.name = "past"}, %beams: tensor<?xi32> {onnx.name = "b"}) -> tensor<?x2x?x8xf32> {
  // CHECK-NOT: onnx.gather
  // CHECK: onnx.relu %arg0
  %p = onnx.gather %past, %beams : (tensor<?x2x?x8xf32>, tensor<?xi32>) -> tensor<?x2x?x8xf32>
  %y = onnx.relu %p : (tensor<?x2x?x8xf32>) -> tensor<?x2x?x8xf32>
  return %y : tensor<?x2x?x8xf32>
}

// -----

// CHECK-LABEL: func.func @main
onnx.weight_data @types file 0 offset 0 length 64 : tensor<2x8xf32>
onnx.weight_data @places file 0 offset 64 length 2048 : tensor<64x8xf32>
func.func @main(%x: tensor<?x?x8xf32> {onnx.name = "x"}, %t: tensor<?x?xi64> {onnx.name = "t"}, %p: tensor<?x?xi64> {onnx.name = "p"}) -> tensor<?x?x8xf32> {
  // CHECK: %[[ZERO:.*]] = onnx.constant dense<0> : tensor<i64>
  // CHECK: onnx.gather %{{.*}}, %[[ZERO]] : {{.*}} -> tensor<8xf32>
  // CHECK: onnx.gather %{{.*}}, %arg2
  %types = onnx.weight @types : tensor<2x8xf32>
  %places = onnx.weight @places : tensor<64x8xf32>
  %a = onnx.gather %types, %t : (tensor<2x8xf32>, tensor<?x?xi64>) -> tensor<?x?x8xf32>
  %b = onnx.gather %places, %p : (tensor<64x8xf32>, tensor<?x?xi64>) -> tensor<?x?x8xf32>
  %c = onnx.add %x, %a : (tensor<?x?x8xf32>, tensor<?x?x8xf32>) -> tensor<?x?x8xf32>
  %d = onnx.add %c, %b : (tensor<?x?x8xf32>, tensor<?x?x8xf32>) -> tensor<?x?x8xf32>
  return %d : tensor<?x?x8xf32>
}
