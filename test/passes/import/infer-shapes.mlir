// RUN: llmc-opt %s --llmc-infer-shapes --split-input-file | FileCheck %s
// Ranks and symbolic dims of every value, with shape arithmetic followed through small integer tensors.

// Heads are split by a computed shape [batch, seq, -1, 64].
// CHECK-LABEL: func.func @split_heads
// CHECK-SAME: -> tensor<?x?x9x64xf32, #onnx.dims<["batch", "seq", "9", "64"]>>
func.func @split_heads(%x: tensor<?x?x576xf32, #onnx.dims<["batch", "seq", "576"]>>) -> tensor<*xf32> {
  %zero = onnx.constant dense<0> : tensor<i64>
  %one = onnx.constant dense<1> : tensor<i64>
  %axis = onnx.constant dense<0> : tensor<1xi64>
  %rest = onnx.constant dense<-1> : tensor<1xi64>
  %head = onnx.constant dense<64> : tensor<1xi64>
  %dims = onnx.shape %x : (tensor<?x?x576xf32, #onnx.dims<["batch", "seq", "576"]>>) -> tensor<*xi64>
  %b = onnx.gather %dims, %zero : (tensor<*xi64>, tensor<i64>) -> tensor<*xi64>
  %s = onnx.gather %dims, %one : (tensor<*xi64>, tensor<i64>) -> tensor<*xi64>
  %b1 = onnx.unsqueeze %b, %axis : (tensor<*xi64>, tensor<1xi64>) -> tensor<*xi64>
  %s1 = onnx.unsqueeze %s, %axis : (tensor<*xi64>, tensor<1xi64>) -> tensor<*xi64>
  %shape = onnx.concat %b1, %s1, %rest, %head {axis = 0 : i64} : (tensor<*xi64>, tensor<*xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<*xi64>
  %y = onnx.reshape %x, %shape : (tensor<?x?x576xf32, #onnx.dims<["batch", "seq", "576"]>>, tensor<*xi64>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}

// -----

// The cache grows by the new tokens; its total length equals the mask's.
// CHECK-LABEL: func.func @cache
// CHECK: onnx.concat {{.*}} -> tensor<?x3x?x64xf32, #onnx.dims<["b", "3", "past + seq", "64"]>>
// CHECK: onnx.range {{.*}} -> tensor<?xi64, #onnx.dims<["past + seq"]>>
// CHECK: onnx.range {{.*}} -> tensor<?xi64, #onnx.dims<["seq"]>>
// CHECK: onnx.slice {{.*}} -> tensor<?x?xi64, #onnx.dims<["b", "past + seq"]>>
func.func @cache(%past: tensor<?x3x?x64xf32, #onnx.dims<["b", "3", "past", "64"]>>,
                 %new: tensor<?x3x?x64xf32, #onnx.dims<["b", "3", "seq", "64"]>>,
                 %mask: tensor<?x?xi64, #onnx.dims<["b", "past + seq"]>>)
    -> (tensor<*xf32>, tensor<*xi64>, tensor<*xi64>, tensor<*xi64>) {
  %zero = onnx.constant dense<0> : tensor<i64>
  %one = onnx.constant dense<1> : tensor<i64>
  %two = onnx.constant dense<2> : tensor<i64>
  %v0 = onnx.constant dense<0> : tensor<1xi64>
  %v1 = onnx.constant dense<1> : tensor<1xi64>
  %none = onnx.none
  %all = onnx.concat %past, %new {axis = -2 : i64} : (tensor<?x3x?x64xf32, #onnx.dims<["b", "3", "past", "64"]>>, tensor<?x3x?x64xf32, #onnx.dims<["b", "3", "seq", "64"]>>) -> tensor<*xf32>
  %dims = onnx.shape %all : (tensor<*xf32>) -> tensor<*xi64>
  %total = onnx.gather %dims, %two : (tensor<*xi64>, tensor<i64>) -> tensor<*xi64>
  %keys = onnx.range %zero, %total, %one : (tensor<i64>, tensor<*xi64>, tensor<i64>) -> tensor<*xi64>
  %before = onnx.shape %past {start = 2 : i64, end = 3 : i64} : (tensor<?x3x?x64xf32, #onnx.dims<["b", "3", "past", "64"]>>) -> tensor<*xi64>
  %first = onnx.squeeze %before, %v0 : (tensor<*xi64>, tensor<1xi64>) -> tensor<*xi64>
  %queries = onnx.range %first, %total, %one : (tensor<*xi64>, tensor<*xi64>, tensor<i64>) -> tensor<*xi64>
  %end = onnx.unsqueeze %total, %v0 : (tensor<*xi64>, tensor<1xi64>) -> tensor<*xi64>
  %cut = onnx.slice %mask, %v0, %end, %v1, %none : (tensor<?x?xi64, #onnx.dims<["b", "past + seq"]>>, tensor<1xi64>, tensor<*xi64>, tensor<1xi64>, none) -> tensor<*xi64>
  return %all, %keys, %queries, %cut : tensor<*xf32>, tensor<*xi64>, tensor<*xi64>, tensor<*xi64>
}

// -----

// Where(Equal(shape, -1), 1, shape), the guard of exported Expand ops.
// CHECK-LABEL: func.func @guarded_expand
// CHECK-SAME: -> tensor<?x32x1xf32, #onnx.dims<["b", "32", "1"]>>
func.func @guarded_expand(%ids: tensor<?x?xi64, #onnx.dims<["b", "s"]>>, %f: tensor<1x32x1xf32>) -> tensor<*xf32> {
  %zero = onnx.constant dense<0> : tensor<1xi64>
  %minus = onnx.constant dense<-1> : tensor<i64>
  %tail = onnx.constant dense<[-1, 1]> : tensor<2xi64>
  %three = onnx.constant dense<3> : tensor<1xi64>
  %dims = onnx.shape %ids : (tensor<?x?xi64, #onnx.dims<["b", "s"]>>) -> tensor<*xi64>
  %b = onnx.gather %dims, %zero : (tensor<*xi64>, tensor<1xi64>) -> tensor<*xi64>
  %shape = onnx.concat %b, %tail {axis = 0 : i64} : (tensor<*xi64>, tensor<2xi64>) -> tensor<*xi64>
  %ones = onnx.constant_of_shape %three {value = dense<1> : tensor<1xi64>} : (tensor<1xi64>) -> tensor<*xi64>
  %negative = onnx.mul %ones, %minus : (tensor<*xi64>, tensor<i64>) -> tensor<*xi64>
  %open = onnx.equal %shape, %negative : (tensor<*xi64>, tensor<*xi64>) -> tensor<*xi1>
  %target = onnx.where %open, %ones, %shape : (tensor<*xi1>, tensor<*xi64>, tensor<*xi64>) -> tensor<*xi64>
  %y = onnx.expand %f, %target : (tensor<1x32x1xf32>, tensor<*xi64>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}

// -----

// What cannot be proved stays "?": two unrelated symbols may be equal or 1. A number other than 1 is certain.
// CHECK-LABEL: func.func @unproven
// CHECK: onnx.add {{.*}} -> tensor<?xf32>
// CHECK: onnx.mul {{.*}} -> tensor<8xf32>
// CHECK: onnx.sub {{.*}} -> tensor<?xf32, #onnx.dims<["a"]>>
func.func @unproven(%a: tensor<?xf32, #onnx.dims<["a"]>>, %b: tensor<?xf32, #onnx.dims<["b"]>>, %c: tensor<8xf32>, %d: tensor<1xf32>) {
  %x = onnx.add %a, %b : (tensor<?xf32, #onnx.dims<["a"]>>, tensor<?xf32, #onnx.dims<["b"]>>) -> tensor<*xf32>
  %y = onnx.mul %x, %c : (tensor<*xf32>, tensor<8xf32>) -> tensor<*xf32>
  %z = onnx.sub %a, %d : (tensor<?xf32, #onnx.dims<["a"]>>, tensor<1xf32>) -> tensor<*xf32>
  return
}

// -----

// Declared types of inner values are not believed, and dims of arguments without a name get one.
// CHECK-LABEL: func.func @misleading
// CHECK-SAME: %{{.*}}: tensor<?x4xf32, #onnx.dims<["x.d0", "4"]>>
// CHECK: onnx.relu {{.*}} -> tensor<?x4xf32, #onnx.dims<["x.d0", "4"]>>
func.func @misleading(%x: tensor<?x4xf32> {onnx.name = "x"}) {
  %y = onnx.relu %x : (tensor<?x4xf32>) -> tensor<7x7xf32>
  return
}

// -----

// Products batch their leading dims, reductions and flattening multiply.
// CHECK-LABEL: func.func @products
// CHECK: onnx.mat_mul {{.*}} -> tensor<?x9x?x?xf32, #onnx.dims<["b", "9", "s", "t"]>>
// CHECK: onnx.reduce_mean {{.*}} -> tensor<?x9x?x1xf32, #onnx.dims<["b", "9", "s", "1"]>>
// CHECK: onnx.flatten {{.*}} -> tensor<?x?xf32, #onnx.dims<["9*b", "s*t"]>>
func.func @products(%q: tensor<?x9x?x64xf32, #onnx.dims<["b", "9", "s", "64"]>>, %k: tensor<?x9x64x?xf32, #onnx.dims<["b", "9", "64", "t"]>>) {
  %axis = onnx.constant dense<-1> : tensor<1xi64>
  %p = onnx.mat_mul %q, %k : (tensor<?x9x?x64xf32, #onnx.dims<["b", "9", "s", "64"]>>, tensor<?x9x64x?xf32, #onnx.dims<["b", "9", "64", "t"]>>) -> tensor<*xf32>
  %m = onnx.reduce_mean %p, %axis : (tensor<*xf32>, tensor<1xi64>) -> tensor<*xf32>
  %f = onnx.flatten %p {axis = 2 : i64} : (tensor<*xf32>) -> tensor<*xf32>
  return
}

// -----

// Rows cut from a table of positions broadcast with what they mask.
// CHECK-LABEL: func.func @table
// CHECK: onnx.where {{.*}} -> tensor<1x1x?x?xf32, #onnx.dims<["1", "1", "s", "p + s"]>>
func.func @table(%scores: tensor<1x1x?x?xf32, #onnx.dims<["1", "1", "s", "p + s"]>>, %table: tensor<1x1x64x64xi1>, %low: tensor<f32>) {
  %none = onnx.none
  %v0 = onnx.constant dense<0> : tensor<1xi64>
  %v2 = onnx.constant dense<2> : tensor<1xi64>
  %v3 = onnx.constant dense<3> : tensor<1xi64>
  %dims = onnx.shape %scores : (tensor<1x1x?x?xf32, #onnx.dims<["1", "1", "s", "p + s"]>>) -> tensor<*xi64>
  %s = onnx.gather %dims, %v2 : (tensor<*xi64>, tensor<1xi64>) -> tensor<*xi64>
  %t = onnx.gather %dims, %v3 : (tensor<*xi64>, tensor<1xi64>) -> tensor<*xi64>
  %p = onnx.sub %t, %s : (tensor<*xi64>, tensor<*xi64>) -> tensor<*xi64>
  %rows = onnx.slice %table, %p, %t, %v2, %none : (tensor<1x1x64x64xi1>, tensor<*xi64>, tensor<*xi64>, tensor<1xi64>, none) -> tensor<*xi1>
  %cut = onnx.slice %rows, %v0, %t, %v3, %none : (tensor<*xi1>, tensor<1xi64>, tensor<*xi64>, tensor<1xi64>, none) -> tensor<*xi1>
  %y = onnx.where %cut, %scores, %low : (tensor<*xi1>, tensor<1x1x?x?xf32, #onnx.dims<["1", "1", "s", "p + s"]>>, tensor<f32>) -> tensor<*xf32>
  return
}

// -----

// Both branches of an If must agree for a dim to be known.
// CHECK-LABEL: func.func @branches
// CHECK: -> (tensor<?x4xf32>, tensor<?xf32, #onnx.dims<["a"]>>)
func.func @branches(%c: tensor<i1>, %x: tensor<?x4xf32, #onnx.dims<["a", "4"]>>, %y: tensor<?x4xf32, #onnx.dims<["b", "4"]>>, %z: tensor<?xf32, #onnx.dims<["a"]>>) {
  %r:2 = onnx.if %c {
    onnx.yield %x, %z : tensor<?x4xf32, #onnx.dims<["a", "4"]>>, tensor<?xf32, #onnx.dims<["a"]>>
  } else {
    %n = onnx.neg %z : (tensor<?xf32, #onnx.dims<["a"]>>) -> tensor<*xf32>
    onnx.yield %y, %n : tensor<?x4xf32, #onnx.dims<["b", "4"]>>, tensor<*xf32>
  } : (tensor<i1>) -> (tensor<*xf32>, tensor<*xf32>)
  return
}

// -----

// Data that contradicts its shape is dropped: a vector of 2 cannot be reshaped to 3.
// CHECK-LABEL: func.func @contradiction
// CHECK: onnx.expand {{.*}} -> tensor<?x?x?xf32>
func.func @contradiction(%x: tensor<1xf32>) {
  %two = onnx.constant dense<[4, 5]> : tensor<2xi64>
  %three = onnx.constant dense<3> : tensor<1xi64>
  %s = onnx.reshape %two, %three : (tensor<2xi64>, tensor<1xi64>) -> tensor<*xi64>
  %y = onnx.expand %x, %s : (tensor<1xf32>, tensor<*xi64>) -> tensor<*xf32>
  return
}

// -----

// A cache input whose first dim is misnamed: what is computed is believed.
// CHECK-LABEL: func.func @misnamed_cache
// CHECK: onnx.concat {{.*}} -> tensor<?x8x?xf32, #onnx.dims<["4*b", "8", "past + s"]>>
func.func @misnamed_cache(%past: tensor<?x8x?xf32, #onnx.dims<["b", "8", "past"]>>, %x: tensor<?x4x8x?xf32, #onnx.dims<["b", "4", "8", "s"]>>) {
  %dims = onnx.shape %x : (tensor<?x4x8x?xf32, #onnx.dims<["b", "4", "8", "s"]>>) -> tensor<*xi64>
  %v3 = onnx.constant dense<3> : tensor<1xi64>
  %head = onnx.constant dense<[-1, 8]> : tensor<2xi64>
  %s = onnx.gather %dims, %v3 : (tensor<*xi64>, tensor<1xi64>) -> tensor<*xi64>
  %to = onnx.concat %head, %s {axis = 0 : i64} : (tensor<2xi64>, tensor<*xi64>) -> tensor<*xi64>
  %new = onnx.reshape %x, %to : (tensor<?x4x8x?xf32, #onnx.dims<["b", "4", "8", "s"]>>, tensor<*xi64>) -> tensor<*xf32>
  %all = onnx.concat %past, %new {axis = 2 : i64} : (tensor<?x8x?xf32, #onnx.dims<["b", "8", "past"]>>, tensor<*xf32>) -> tensor<*xf32>
  return
}

// -----

// What a mask of a length of its own holds behind the past is as long as the tokens that it meets.
// CHECK-LABEL: func.func @rest_of_mask
// CHECK: onnx.add {{.*}} -> tensor<?x?xf32, #onnx.dims<["b", "s"]>>
func.func @rest_of_mask(%x: tensor<?x?xf32, #onnx.dims<["b", "s"]>>, %mask: tensor<?x?xf32, #onnx.dims<["b", "m"]>>, %past: tensor<?xf32, #onnx.dims<["p"]>>) {
  %start = onnx.shape %past : (tensor<?xf32, #onnx.dims<["p"]>>) -> tensor<1xi64>
  %end = onnx.constant dense<9223372036854775807> : tensor<1xi64>
  %one = onnx.constant dense<1> : tensor<1xi64>
  %none = onnx.none
  %rest = onnx.slice %mask, %start, %end, %one, %none : (tensor<?x?xf32, #onnx.dims<["b", "m"]>>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>, none) -> tensor<*xf32>
  %y = onnx.add %x, %rest : (tensor<?x?xf32, #onnx.dims<["b", "s"]>>, tensor<*xf32>) -> tensor<*xf32>
  return
}

// -----
// A dim that is not known is 1 or that of the symbol it meets; two of them stay unknown.
// CHECK-LABEL: func.func @unknown_meets_symbol
func.func @unknown_meets_symbol(%x: tensor<?x4xf32, #onnx.dims<["seq", "4"]>>, %y: tensor<?x4xf32, #onnx.dims<["n", "4"]>>, %end: tensor<1xi64>) -> (tensor<*xf32>, tensor<*xf32>) {
  %zero = onnx.constant dense<0> : tensor<1xi64>
  %n = onnx.none
  %cut = onnx.slice %y, %zero, %end, %zero, %n : (tensor<?x4xf32, #onnx.dims<["n", "4"]>>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>, none) -> tensor<*xf32>
  // CHECK: onnx.add %{{.*}} -> tensor<?x4xf32, #onnx.dims<["seq", "4"]>>
  %a = onnx.add %x, %cut : (tensor<?x4xf32, #onnx.dims<["seq", "4"]>>, tensor<*xf32>) -> tensor<*xf32>
  // CHECK: onnx.add %{{.*}} -> tensor<?x4xf32>
  %b = onnx.add %cut, %cut : (tensor<*xf32>, tensor<*xf32>) -> tensor<*xf32>
  return %a, %b : tensor<*xf32>, tensor<*xf32>
}
