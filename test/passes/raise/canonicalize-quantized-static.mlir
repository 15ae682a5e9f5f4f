// RUN: llmc-opt %s -split-input-file -llmc-canonicalize-quantized | FileCheck %s
// Roundings of activations with constant scales are kept beside products, and noted for scores and probabilities.

onnx.weight_data @w file 0 offset 0 length 64 : tensor<8x8xi8>

// A linear: in and out are rounded; codes 0 to 255 with zero point 3 are -3 to 252 steps.
// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<?x?x8xf32>) -> tensor<?x?x8xf32> {
  %n = onnx.none
  %s = onnx.constant dense<0.5> : tensor<f32>
  %z = onnx.constant dense<3> : tensor<ui8>
  %ws = onnx.constant dense<0.25> : tensor<f32>
  %wz = onnx.constant dense<0> : tensor<i8>
  %w = onnx.weight @w : tensor<8x8xi8>
  // CHECK: %[[STEP:.*]] = onnx.constant dense<5.000000e-01>
  // CHECK: %[[D:.*]] = onnx.div %arg0, %[[STEP]]
  // CHECK: %[[R:.*]] = onnx.round %[[D]]
  // CHECK-DAG: %[[LOW:.*]] = onnx.constant dense<-3.000000e+00>
  // CHECK-DAG: %[[HIGH:.*]] = onnx.constant dense<2.520000e+02>
  // CHECK: %[[C:.*]] = onnx.clip %[[R]], %[[LOW]], %[[HIGH]]
  // CHECK: %[[X:.*]] = onnx.mul %[[C]], %[[STEP]] {llmc.rounded}
  %q = onnx.quantize_linear %x, %s, %z : (tensor<?x?x8xf32>, tensor<f32>, tensor<ui8>) -> tensor<?x?x8xui8>
  %d = onnx.dequantize_linear %q, %s, %z : (tensor<?x?x8xui8>, tensor<f32>, tensor<ui8>) -> tensor<?x?x8xf32>
  %wd = onnx.dequantize_linear %w, %ws, %wz : (tensor<8x8xi8>, tensor<f32>, tensor<i8>) -> tensor<8x8xf32>
  // CHECK: %[[Y:.*]] = onnx.mat_mul %[[X]], %{{.*}}
  %y = onnx.mat_mul %d, %wd : (tensor<?x?x8xf32>, tensor<8x8xf32>) -> tensor<?x?x8xf32>
  // CHECK: onnx.round
  %yq = onnx.quantize_linear %y, %s, %z : (tensor<?x?x8xf32>, tensor<f32>, tensor<ui8>) -> tensor<?x?x8xui8>
  %yd = onnx.dequantize_linear %yq, %s, %z : (tensor<?x?x8xui8>, tensor<f32>, tensor<ui8>) -> tensor<?x?x8xf32>
  %o = onnx.sigmoid %yd : (tensor<?x?x8xf32>) -> tensor<?x?x8xf32>
  return %o : tensor<?x?x8xf32>
}

// -----
// Away from products they are dropped, and what a graph ends with is as it was.
// CHECK-LABEL: func.func @main
// CHECK-NOT: onnx.round
func.func @main(%x: tensor<?x?x8xf32>) -> tensor<?x?x8xf32> {
  %s = onnx.constant dense<0.5> : tensor<f32>
  %z = onnx.constant dense<3> : tensor<ui8>
  %e = onnx.sigmoid %x : (tensor<?x?x8xf32>) -> tensor<?x?x8xf32>
  %q = onnx.quantize_linear %e, %s, %z : (tensor<?x?x8xf32>, tensor<f32>, tensor<ui8>) -> tensor<?x?x8xui8>
  %d = onnx.dequantize_linear %q, %s, %z : (tensor<?x?x8xui8>, tensor<f32>, tensor<ui8>) -> tensor<?x?x8xf32>
  %o = onnx.tanh %d : (tensor<?x?x8xf32>) -> tensor<?x?x8xf32>
  return %o : tensor<?x?x8xf32>
}

// -----
// Attention: keys are rounded before the cache, scores and probabilities on the softmax (in units of the raw product), the result after its heads are merged.
// CHECK-LABEL: func.func @main
func.func @main(%q: tensor<1x2x?x8xf32>, %k: tensor<1x2x?x8xf32>, %past: tensor<1x2x?x8xf32>, %v: tensor<1x2x?x8xf32>) -> (tensor<1x?x16xf32>, tensor<1x2x?x8xf32>) {
  %s = onnx.constant dense<0.5> : tensor<f32>
  %p = onnx.constant dense<0.00390625> : tensor<f32>
  %z = onnx.constant dense<0> : tensor<i8>
  %zu = onnx.constant dense<0> : tensor<ui8>
  %four = onnx.constant dense<4.0> : tensor<f32>
  %flat = onnx.constant dense<[0, 0, 16]> : tensor<3xi64>
  // CHECK: %[[D:.*]] = onnx.div %arg1
  // CHECK: onnx.round %[[D]]
  // CHECK: %[[K:.*]] = onnx.mul %{{.*}} {llmc.rounded}
  // CHECK: onnx.concat %arg2, %[[K]]
  %all = onnx.concat %past, %k {axis = 2 : i64} : (tensor<1x2x?x8xf32>, tensor<1x2x?x8xf32>) -> tensor<1x2x?x8xf32>
  %t = onnx.transpose %all {perm = array<i64: 0, 1, 3, 2>} : (tensor<1x2x?x8xf32>) -> tensor<1x2x8x?xf32>
  %kq = onnx.quantize_linear %t, %s, %z : (tensor<1x2x8x?xf32>, tensor<f32>, tensor<i8>) -> tensor<1x2x8x?xi8>
  %kd = onnx.dequantize_linear %kq, %s, %z : (tensor<1x2x8x?xi8>, tensor<f32>, tensor<i8>) -> tensor<1x2x8x?xf32>
  %a = onnx.mat_mul %q, %kd : (tensor<1x2x?x8xf32>, tensor<1x2x8x?xf32>) -> tensor<1x2x?x?xf32>
  %b = onnx.div %a, %four : (tensor<1x2x?x?xf32>, tensor<f32>) -> tensor<1x2x?x?xf32>
  %bq = onnx.quantize_linear %b, %s, %z : (tensor<1x2x?x?xf32>, tensor<f32>, tensor<i8>) -> tensor<1x2x?x?xi8>
  %bd = onnx.dequantize_linear %bq, %s, %z : (tensor<1x2x?x?xi8>, tensor<f32>, tensor<i8>) -> tensor<1x2x?x?xf32>
  // CHECK: onnx.softmax
  // CHECK-SAME: llmc.prob_rounding = array<f64: 3.906250e-03, 0.000000e+00, 2.550000e+02>
  // CHECK-SAME: llmc.score_rounding = array<f64: 2.000000e+00, -1.280000e+02, 1.270000e+02>
  %c = onnx.softmax %bd : (tensor<1x2x?x?xf32>) -> tensor<1x2x?x?xf32>
  %cq = onnx.quantize_linear %c, %p, %zu : (tensor<1x2x?x?xf32>, tensor<f32>, tensor<ui8>) -> tensor<1x2x?x?xui8>
  %cd = onnx.dequantize_linear %cq, %p, %zu : (tensor<1x2x?x?xui8>, tensor<f32>, tensor<ui8>) -> tensor<1x2x?x?xf32>
  // CHECK: %[[H:.*]] = onnx.mat_mul
  %h = onnx.mat_mul %cd, %v : (tensor<1x2x?x?xf32>, tensor<1x2x?x8xf32>) -> tensor<1x2x?x8xf32>
  %hq = onnx.quantize_linear %h, %s, %z : (tensor<1x2x?x8xf32>, tensor<f32>, tensor<i8>) -> tensor<1x2x?x8xi8>
  %hd = onnx.dequantize_linear %hq, %s, %z : (tensor<1x2x?x8xi8>, tensor<f32>, tensor<i8>) -> tensor<1x2x?x8xf32>
  // CHECK: %[[T:.*]] = onnx.transpose %[[H]]
  // CHECK: %[[M:.*]] = onnx.reshape %[[T]]
  // CHECK: onnx.div %[[M]]
  // CHECK: onnx.round
  %ht = onnx.transpose %hd {perm = array<i64: 0, 2, 1, 3>} : (tensor<1x2x?x8xf32>) -> tensor<1x?x2x8xf32>
  %hm = onnx.reshape %ht, %flat : (tensor<1x?x2x8xf32>, tensor<3xi64>) -> tensor<1x?x16xf32>
  %o = onnx.sigmoid %hm : (tensor<1x?x16xf32>) -> tensor<1x?x16xf32>
  return %o, %all : tensor<1x?x16xf32>, tensor<1x2x?x8xf32>
}

// -----
// Logits behind a scale are as they were, and a cache that is quantised again was rounded before: one Relu too many would stand for its range.
// CHECK-LABEL: func.func @main
// CHECK-NOT: onnx.round
// CHECK-NOT: onnx.relu
// CHECK: onnx.concat %arg2, %arg1
func.func @main(%x: tensor<1x?x8xf32>, %k: tensor<1x2x?x8xf32>, %past: tensor<1x2x?x8xf32>, %w: tensor<8x4xf32>) -> (tensor<1x?x4xf32>, tensor<1x2x?x8xf32>) {
  %s = onnx.constant dense<0.5> : tensor<f32>
  %z = onnx.constant dense<0> : tensor<ui8>
  %zy = onnx.constant dense<3> : tensor<ui8>
  %three = onnx.constant dense<3.0> : tensor<f32>
  %pq = onnx.quantize_linear %past, %s, %z : (tensor<1x2x?x8xf32>, tensor<f32>, tensor<ui8>) -> tensor<1x2x?x8xui8>
  %pd = onnx.dequantize_linear %pq, %s, %z : (tensor<1x2x?x8xui8>, tensor<f32>, tensor<ui8>) -> tensor<1x2x?x8xf32>
  %all = onnx.concat %pd, %k {axis = 2 : i64} : (tensor<1x2x?x8xf32>, tensor<1x2x?x8xf32>) -> tensor<1x2x?x8xf32>
  %y = onnx.mat_mul %x, %w : (tensor<1x?x8xf32>, tensor<8x4xf32>) -> tensor<1x?x4xf32>
  %yq = onnx.quantize_linear %y, %s, %zy : (tensor<1x?x4xf32>, tensor<f32>, tensor<ui8>) -> tensor<1x?x4xui8>
  %yd = onnx.dequantize_linear %yq, %s, %zy : (tensor<1x?x4xui8>, tensor<f32>, tensor<ui8>) -> tensor<1x?x4xf32>
  %o = onnx.div %yd, %three : (tensor<1x?x4xf32>, tensor<f32>) -> tensor<1x?x4xf32>
  return %o, %all : tensor<1x?x4xf32>, tensor<1x2x?x8xf32>
}
