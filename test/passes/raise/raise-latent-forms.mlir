// RUN: llmc-opt %s -split-input-file --llmc-raise-latent | FileCheck %s
// Other orders of the ops of an attention become the usual one; heads with matrices of their own become linears.

// A softmax by hand, over keys; over features it is a router's and stays.
// CHECK-LABEL: func.func @main
// CHECK: %[[P:.*]] = onnx.softmax %arg0
// CHECK: return %[[P]]
func.func @main(%x: tensor<?x2x?x?xf32, #onnx.dims<["b", "2", "s", "t"]>> {onnx.name = "x"}) -> tensor<?x2x?x?xf32, #onnx.dims<["b", "2", "s", "t"]>> {
  %last = onnx.constant dense<-1> : tensor<1xi64>
  %m = onnx.reduce_max %x, %last : (tensor<?x2x?x?xf32, #onnx.dims<["b", "2", "s", "t"]>>, tensor<1xi64>) -> tensor<?x2x?x1xf32, #onnx.dims<["b", "2", "s", "1"]>>
  %d = onnx.sub %x, %m : (tensor<?x2x?x?xf32, #onnx.dims<["b", "2", "s", "t"]>>, tensor<?x2x?x1xf32, #onnx.dims<["b", "2", "s", "1"]>>) -> tensor<?x2x?x?xf32, #onnx.dims<["b", "2", "s", "t"]>>
  %e = onnx.exp %d : (tensor<?x2x?x?xf32, #onnx.dims<["b", "2", "s", "t"]>>) -> tensor<?x2x?x?xf32, #onnx.dims<["b", "2", "s", "t"]>>
  %s = onnx.reduce_sum %e, %last : (tensor<?x2x?x?xf32, #onnx.dims<["b", "2", "s", "t"]>>, tensor<1xi64>) -> tensor<?x2x?x1xf32, #onnx.dims<["b", "2", "s", "1"]>>
  %p = onnx.div %e, %s : (tensor<?x2x?x?xf32, #onnx.dims<["b", "2", "s", "t"]>>, tensor<?x2x?x1xf32, #onnx.dims<["b", "2", "s", "1"]>>) -> tensor<?x2x?x?xf32, #onnx.dims<["b", "2", "s", "t"]>>
  return %p : tensor<?x2x?x?xf32, #onnx.dims<["b", "2", "s", "t"]>>
}

// -----
// CHECK-LABEL: func.func @main
// CHECK-NOT: onnx.softmax
func.func @main(%x: tensor<?x?x8xf32, #onnx.dims<["b", "s", "8"]>> {onnx.name = "x"}) -> tensor<?x?x8xf32, #onnx.dims<["b", "s", "8"]>> {
  %last = onnx.constant dense<-1> : tensor<1xi64>
  %e = onnx.exp %x : (tensor<?x?x8xf32, #onnx.dims<["b", "s", "8"]>>) -> tensor<?x?x8xf32, #onnx.dims<["b", "s", "8"]>>
  %s = onnx.reduce_sum %e, %last : (tensor<?x?x8xf32, #onnx.dims<["b", "s", "8"]>>, tensor<1xi64>) -> tensor<?x?x1xf32, #onnx.dims<["b", "s", "1"]>>
  %p = onnx.div %e, %s : (tensor<?x?x8xf32, #onnx.dims<["b", "s", "8"]>>, tensor<?x?x1xf32, #onnx.dims<["b", "s", "1"]>>) -> tensor<?x?x8xf32, #onnx.dims<["b", "s", "8"]>>
  return %p : tensor<?x?x8xf32, #onnx.dims<["b", "s", "8"]>>
}

// -----
// The transpose of k q^T is q k^T.
// CHECK-LABEL: func.func @main
// CHECK: %[[T:.*]] = onnx.transpose %arg1 {perm = array<i64: 0, 1, 3, 2>}
// CHECK: %[[S:.*]] = onnx.mat_mul %arg0, %[[T]]
// CHECK: return %[[S]]
func.func @main(%q: tensor<?x2x?x8xf32, #onnx.dims<["b", "2", "s", "8"]>> {onnx.name = "q"}, %k: tensor<?x2x?x8xf32, #onnx.dims<["b", "2", "t", "8"]>> {onnx.name = "k"}) -> tensor<?x2x?x?xf32, #onnx.dims<["b", "2", "s", "t"]>> {
  %t = onnx.transpose %q {perm = array<i64: 0, 1, 3, 2>} : (tensor<?x2x?x8xf32, #onnx.dims<["b", "2", "s", "8"]>>) -> tensor<?x2x8x?xf32, #onnx.dims<["b", "2", "8", "s"]>>
  %s = onnx.mat_mul %k, %t : (tensor<?x2x?x8xf32, #onnx.dims<["b", "2", "t", "8"]>>, tensor<?x2x8x?xf32, #onnx.dims<["b", "2", "8", "s"]>>) -> tensor<?x2x?x?xf32, #onnx.dims<["b", "2", "t", "s"]>>
  %r = onnx.transpose %s {perm = array<i64: 0, 1, 3, 2>} : (tensor<?x2x?x?xf32, #onnx.dims<["b", "2", "t", "s"]>>) -> tensor<?x2x?x?xf32, #onnx.dims<["b", "2", "s", "t"]>>
  return %r : tensor<?x2x?x?xf32, #onnx.dims<["b", "2", "s", "t"]>>
}

// -----
// A factor of scores by head is one of the queries.
// CHECK-LABEL: func.func @main
// CHECK: %[[Q:.*]] = onnx.mul %arg0, %{{.*}} -> tensor<?x2x?x8xf32
// CHECK: %[[S:.*]] = onnx.mat_mul %[[Q]], %arg1
// CHECK: return %[[S]]
func.func @main(%q: tensor<?x2x?x8xf32, #onnx.dims<["b", "2", "s", "8"]>> {onnx.name = "q"}, %k: tensor<?x2x8x?xf32, #onnx.dims<["b", "2", "8", "t"]>> {onnx.name = "k"}) -> tensor<?x2x?x?xf32, #onnx.dims<["b", "2", "s", "t"]>> {
  %f = onnx.constant dense<[[[[0.5]], [[2.0]]]]> : tensor<1x2x1x1xf32>
  %s = onnx.mat_mul %q, %k : (tensor<?x2x?x8xf32, #onnx.dims<["b", "2", "s", "8"]>>, tensor<?x2x8x?xf32, #onnx.dims<["b", "2", "8", "t"]>>) -> tensor<?x2x?x?xf32, #onnx.dims<["b", "2", "s", "t"]>>
  %r = onnx.mul %s, %f : (tensor<?x2x?x?xf32, #onnx.dims<["b", "2", "s", "t"]>>, tensor<1x2x1x1xf32>) -> tensor<?x2x?x?xf32, #onnx.dims<["b", "2", "s", "t"]>>
  return %r : tensor<?x2x?x?xf32, #onnx.dims<["b", "2", "s", "t"]>>
}

// -----
// Heads times a matrix each: rows of one up-projection, as the file holds it.
onnx.weight_data @w file 0 offset 0 length 192 : tensor<2x4x6xf32>
// CHECK: llm.source @src.w.0 : tensor<4x6xf32>
// CHECK: llm.source @src.w.24 : tensor<4x6xf32>
// CHECK-LABEL: func.func @main
// CHECK: llm.linear %{{.*}}, @w.w.0 {{.*}} -> tensor<?x?x6xf32
// CHECK: llm.linear %{{.*}}, @w.w.24 {{.*}} -> tensor<?x?x6xf32
// CHECK: onnx.concat {{.*}} -> tensor<?x?x12xf32
func.func @main(%q: tensor<?x2x?x4xf32, #onnx.dims<["b", "2", "s", "4"]>> {onnx.name = "q"}) -> tensor<?x2x?x6xf32, #onnx.dims<["b", "2", "s", "6"]>> {
  %w = onnx.weight @w : tensor<2x4x6xf32>
  %y = onnx.mat_mul %q, %w : (tensor<?x2x?x4xf32, #onnx.dims<["b", "2", "s", "4"]>>, tensor<2x4x6xf32>) -> tensor<?x2x?x6xf32, #onnx.dims<["b", "2", "s", "6"]>>
  return %y : tensor<?x2x?x6xf32, #onnx.dims<["b", "2", "s", "6"]>>
}
