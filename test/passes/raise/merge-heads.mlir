// RUN: llmc-opt %s -split-input-file --llmc-raise-kv-cache --llmc-raise-embedding --llmc-raise-rowwise=heads | FileCheck %s
// Blocks of attention end in rows: heads that a gate works on get rows in between; heads that are merged right away stay.

// CHECK-LABEL: func.func @main
onnx.weight_data @table file 0 offset 0 length 2048 : tensor<32x16xf32>
onnx.weight_data @gate file 0 offset 2048 length 8 : tensor<2x1x1xf32>
func.func @main(%ids: tensor<?x?xi64, #onnx.dims<["b", "s"]>> {onnx.name = "input_ids"}) -> tensor<?x?x16xf32, #onnx.dims<["b", "s", "16"]>> {
  %e = onnx.weight @table : tensor<32x16xf32>
  %x = onnx.gather %e, %ids : (tensor<32x16xf32>, tensor<?x?xi64, #onnx.dims<["b", "s"]>>) -> tensor<?x?x16xf32, #onnx.dims<["b", "s", "16"]>>
  %heads = onnx.constant dense<[0, 0, 2, 8]> : tensor<4xi64>
  %flat = onnx.constant dense<[0, 0, 16]> : tensor<3xi64>
  %h = onnx.reshape %x, %heads : (tensor<?x?x16xf32, #onnx.dims<["b", "s", "16"]>>, tensor<4xi64>) -> tensor<?x?x2x8xf32, #onnx.dims<["b", "s", "2", "8"]>>
  %q = onnx.transpose %h {perm = array<i64: 0, 2, 1, 3>} : (tensor<?x?x2x8xf32, #onnx.dims<["b", "s", "2", "8"]>>) -> tensor<?x2x?x8xf32, #onnx.dims<["b", "2", "s", "8"]>>
  %k = onnx.transpose %h {perm = array<i64: 0, 2, 3, 1>} : (tensor<?x?x2x8xf32, #onnx.dims<["b", "s", "2", "8"]>>) -> tensor<?x2x8x?xf32, #onnx.dims<["b", "2", "8", "s"]>>
  %s = onnx.mat_mul %q, %k : (tensor<?x2x?x8xf32, #onnx.dims<["b", "2", "s", "8"]>>, tensor<?x2x8x?xf32, #onnx.dims<["b", "2", "8", "s"]>>) -> tensor<?x2x?x?xf32, #onnx.dims<["b", "2", "s", "s"]>>
  %p = onnx.softmax %s {axis = -1 : i64} : (tensor<?x2x?x?xf32, #onnx.dims<["b", "2", "s", "s"]>>) -> tensor<?x2x?x?xf32, #onnx.dims<["b", "2", "s", "s"]>>
  // CHECK: %[[Y:.*]] = onnx.mat_mul {{.*}} -> tensor<?x2x?x8xf32
  %y = onnx.mat_mul %p, %q : (tensor<?x2x?x?xf32, #onnx.dims<["b", "2", "s", "s"]>>, tensor<?x2x?x8xf32, #onnx.dims<["b", "2", "s", "8"]>>) -> tensor<?x2x?x8xf32, #onnx.dims<["b", "2", "s", "8"]>>
  // CHECK: %[[T:.*]] = onnx.transpose %[[Y]]
  // CHECK: %[[R:.*]] = onnx.reshape %[[T]]{{.*}} -> tensor<?x?x16xf32
  // CHECK: %[[S:.*]] = onnx.reshape %[[R]]
  // CHECK: %[[H:.*]] = onnx.transpose %[[S]]
  // CHECK: onnx.mul %[[H]]
  %g = onnx.weight @gate : tensor<2x1x1xf32>
  %z = onnx.mul %y, %g : (tensor<?x2x?x8xf32, #onnx.dims<["b", "2", "s", "8"]>>, tensor<2x1x1xf32>) -> tensor<?x2x?x8xf32, #onnx.dims<["b", "2", "s", "8"]>>
  %t = onnx.transpose %z {perm = array<i64: 0, 2, 1, 3>} : (tensor<?x2x?x8xf32, #onnx.dims<["b", "2", "s", "8"]>>) -> tensor<?x?x2x8xf32, #onnx.dims<["b", "s", "2", "8"]>>
  %o = onnx.reshape %t, %flat : (tensor<?x?x2x8xf32, #onnx.dims<["b", "s", "2", "8"]>>, tensor<3xi64>) -> tensor<?x?x16xf32, #onnx.dims<["b", "s", "16"]>>
  return %o : tensor<?x?x16xf32, #onnx.dims<["b", "s", "16"]>>
}

// -----

// CHECK-LABEL: func.func @main
onnx.weight_data @table file 0 offset 0 length 2048 : tensor<32x16xf32>
func.func @main(%ids: tensor<?x?xi64, #onnx.dims<["b", "s"]>> {onnx.name = "input_ids"}) -> tensor<?x?x16xf32, #onnx.dims<["b", "s", "16"]>> {
  %e = onnx.weight @table : tensor<32x16xf32>
  %x = onnx.gather %e, %ids : (tensor<32x16xf32>, tensor<?x?xi64, #onnx.dims<["b", "s"]>>) -> tensor<?x?x16xf32, #onnx.dims<["b", "s", "16"]>>
  %heads = onnx.constant dense<[0, 0, 2, 8]> : tensor<4xi64>
  %flat = onnx.constant dense<[0, 0, 16]> : tensor<3xi64>
  %h = onnx.reshape %x, %heads : (tensor<?x?x16xf32, #onnx.dims<["b", "s", "16"]>>, tensor<4xi64>) -> tensor<?x?x2x8xf32, #onnx.dims<["b", "s", "2", "8"]>>
  %q = onnx.transpose %h {perm = array<i64: 0, 2, 1, 3>} : (tensor<?x?x2x8xf32, #onnx.dims<["b", "s", "2", "8"]>>) -> tensor<?x2x?x8xf32, #onnx.dims<["b", "2", "s", "8"]>>
  %k = onnx.transpose %h {perm = array<i64: 0, 2, 3, 1>} : (tensor<?x?x2x8xf32, #onnx.dims<["b", "s", "2", "8"]>>) -> tensor<?x2x8x?xf32, #onnx.dims<["b", "2", "8", "s"]>>
  %s = onnx.mat_mul %q, %k : (tensor<?x2x?x8xf32, #onnx.dims<["b", "2", "s", "8"]>>, tensor<?x2x8x?xf32, #onnx.dims<["b", "2", "8", "s"]>>) -> tensor<?x2x?x?xf32, #onnx.dims<["b", "2", "s", "s"]>>
  %p = onnx.softmax %s {axis = -1 : i64} : (tensor<?x2x?x?xf32, #onnx.dims<["b", "2", "s", "s"]>>) -> tensor<?x2x?x?xf32, #onnx.dims<["b", "2", "s", "s"]>>
  // CHECK: %[[Y:.*]] = onnx.mat_mul {{.*}} -> tensor<?x2x?x8xf32
  %y = onnx.mat_mul %p, %q : (tensor<?x2x?x?xf32, #onnx.dims<["b", "2", "s", "s"]>>, tensor<?x2x?x8xf32, #onnx.dims<["b", "2", "s", "8"]>>) -> tensor<?x2x?x8xf32, #onnx.dims<["b", "2", "s", "8"]>>
  // CHECK: %[[T:.*]] = onnx.transpose %[[Y]]
  // CHECK-NEXT: onnx.reshape %[[T]]
  // CHECK-NEXT: return
  %t = onnx.transpose %y {perm = array<i64: 0, 2, 1, 3>} : (tensor<?x2x?x8xf32, #onnx.dims<["b", "2", "s", "8"]>>) -> tensor<?x?x2x8xf32, #onnx.dims<["b", "s", "2", "8"]>>
  %o = onnx.reshape %t, %flat : (tensor<?x?x2x8xf32, #onnx.dims<["b", "s", "2", "8"]>>, tensor<3xi64>) -> tensor<?x?x16xf32, #onnx.dims<["b", "s", "16"]>>
  return %o : tensor<?x?x16xf32, #onnx.dims<["b", "s", "16"]>>
}
