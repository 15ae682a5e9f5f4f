// RUN: llmc-opt %s -split-input-file --llmc-raise-kv-cache --llmc-raise-embedding --llmc-raise-mask | FileCheck %s
// Masks are evaluated: causal ones, with and without a window, are told from others, additive and by selection.

// Causal, added.
// CHECK-LABEL: func.func @main
// CHECK: onnx.softmax %{{.*}} {llm.window = 0 : i64}
onnx.weight_data @table file 0 offset 0 length 1024 : tensor<32x8xf32>
func.func @main(%ids: tensor<?x?xi64, #onnx.dims<["b", "s"]>> {onnx.name = "input_ids"}, %mask: tensor<?x?xi64, #onnx.dims<["b", "t"]>> {onnx.name = "attention_mask"}, %pk: tensor<?x2x?x4xf32, #onnx.dims<["b", "2", "p", "4"]>>, %pv: tensor<?x2x?x4xf32, #onnx.dims<["b", "2", "p", "4"]>>) -> (tensor<?x?x8xf32, #onnx.dims<["b", "s", "8"]>>, tensor<?x2x?x4xf32, #onnx.dims<["b", "2", "p + s", "4"]>>, tensor<?x2x?x4xf32, #onnx.dims<["b", "2", "p + s", "4"]>>) {
  %w = onnx.weight @table : tensor<32x8xf32>
  %x = onnx.gather %w, %ids : (tensor<32x8xf32>, tensor<?x?xi64, #onnx.dims<["b", "s"]>>) -> tensor<?x?x8xf32, #onnx.dims<["b", "s", "8"]>>
  %heads = onnx.constant dense<[0, 0, 2, 4]> : tensor<4xi64>
  %flat = onnx.constant dense<[0, 0, 8]> : tensor<3xi64>
  %i0 = onnx.constant dense<0> : tensor<i64>
  %i1 = onnx.constant dense<1> : tensor<i64>
  %i2 = onnx.constant dense<2> : tensor<i64>
  %m1 = onnx.constant dense<[-1, 1]> : tensor<2xi64>
  %zero = onnx.constant dense<0.0> : tensor<f32>
  %low = onnx.constant dense<-3.40282347E+38> : tensor<f32>
  %half = onnx.constant dense<0.5> : tensor<f32>
  %h = onnx.reshape %x, %heads : (tensor<?x?x8xf32, #onnx.dims<["b", "s", "8"]>>, tensor<4xi64>) -> tensor<?x?x2x4xf32, #onnx.dims<["b", "s", "2", "4"]>>
  %q = onnx.transpose %h {perm = array<i64: 0, 2, 1, 3>} : (tensor<?x?x2x4xf32, #onnx.dims<["b", "s", "2", "4"]>>) -> tensor<?x2x?x4xf32, #onnx.dims<["b", "2", "s", "4"]>>
  %k = onnx.concat %pk, %q {axis = 2 : i64} : (tensor<?x2x?x4xf32, #onnx.dims<["b", "2", "p", "4"]>>, tensor<?x2x?x4xf32, #onnx.dims<["b", "2", "s", "4"]>>) -> tensor<?x2x?x4xf32, #onnx.dims<["b", "2", "p + s", "4"]>>
  %v = onnx.concat %pv, %q {axis = 2 : i64} : (tensor<?x2x?x4xf32, #onnx.dims<["b", "2", "p", "4"]>>, tensor<?x2x?x4xf32, #onnx.dims<["b", "2", "s", "4"]>>) -> tensor<?x2x?x4xf32, #onnx.dims<["b", "2", "p + s", "4"]>>
  %kt = onnx.transpose %k {perm = array<i64: 0, 1, 3, 2>} : (tensor<?x2x?x4xf32, #onnx.dims<["b", "2", "p + s", "4"]>>) -> tensor<?x2x4x?xf32, #onnx.dims<["b", "2", "4", "p + s"]>>
  %qk = onnx.mat_mul %q, %kt : (tensor<?x2x?x4xf32, #onnx.dims<["b", "2", "s", "4"]>>, tensor<?x2x4x?xf32, #onnx.dims<["b", "2", "4", "p + s"]>>) -> tensor<?x2x?x?xf32, #onnx.dims<["b", "2", "s", "p + s"]>>
  %sh = onnx.shape %ids : (tensor<?x?xi64, #onnx.dims<["b", "s"]>>) -> tensor<2xi64>
  %len = onnx.gather %sh, %i1 : (tensor<2xi64>, tensor<i64>) -> tensor<i64>
  %psh = onnx.shape %pk : (tensor<?x2x?x4xf32, #onnx.dims<["b", "2", "p", "4"]>>) -> tensor<4xi64>
  %past = onnx.gather %psh, %i2 : (tensor<4xi64>, tensor<i64>) -> tensor<i64>
  %total = onnx.add %past, %len : (tensor<i64>, tensor<i64>) -> tensor<i64>
  %keys = onnx.range %i0, %total, %i1 : (tensor<i64>, tensor<i64>, tensor<i64>) -> tensor<?xi64, #onnx.dims<["p + s"]>>
  %qpos = onnx.range %past, %total, %i1 : (tensor<i64>, tensor<i64>, tensor<i64>) -> tensor<?xi64, #onnx.dims<["s"]>>
  %rows = onnx.reshape %qpos, %m1 : (tensor<?xi64, #onnx.dims<["s"]>>, tensor<2xi64>) -> tensor<?x1xi64, #onnx.dims<["s", "1"]>>
  %causal = onnx.less_or_equal %keys, %rows : (tensor<?xi64, #onnx.dims<["p + s"]>>, tensor<?x1xi64, #onnx.dims<["s", "1"]>>) -> tensor<?x?xi1, #onnx.dims<["s", "p + s"]>>
  %see = onnx.identity %causal : (tensor<?x?xi1, #onnx.dims<["s", "p + s"]>>) -> tensor<?x?xi1, #onnx.dims<["s", "p + s"]>>
  %add = onnx.where %see, %zero, %low : (tensor<?x?xi1, #onnx.dims<["s", "p + s"]>>, tensor<f32>, tensor<f32>) -> tensor<?x?xf32, #onnx.dims<["s", "p + s"]>>
  %sc = onnx.mul %qk, %half : (tensor<?x2x?x?xf32, #onnx.dims<["b", "2", "s", "p + s"]>>, tensor<f32>) -> tensor<?x2x?x?xf32, #onnx.dims<["b", "2", "s", "p + s"]>>
  %masked = onnx.add %sc, %add : (tensor<?x2x?x?xf32, #onnx.dims<["b", "2", "s", "p + s"]>>, tensor<?x?xf32, #onnx.dims<["s", "p + s"]>>) -> tensor<?x2x?x?xf32, #onnx.dims<["b", "2", "s", "p + s"]>>
  %p = onnx.softmax %masked : (tensor<?x2x?x?xf32, #onnx.dims<["b", "2", "s", "p + s"]>>) -> tensor<?x2x?x?xf32, #onnx.dims<["b", "2", "s", "p + s"]>>
  %o = onnx.mat_mul %p, %v : (tensor<?x2x?x?xf32, #onnx.dims<["b", "2", "s", "p + s"]>>, tensor<?x2x?x4xf32, #onnx.dims<["b", "2", "p + s", "4"]>>) -> tensor<?x2x?x4xf32, #onnx.dims<["b", "2", "s", "4"]>>
  %ot = onnx.transpose %o {perm = array<i64: 0, 2, 1, 3>} : (tensor<?x2x?x4xf32, #onnx.dims<["b", "2", "s", "4"]>>) -> tensor<?x?x2x4xf32, #onnx.dims<["b", "s", "2", "4"]>>
  %y = onnx.reshape %ot, %flat : (tensor<?x?x2x4xf32, #onnx.dims<["b", "s", "2", "4"]>>, tensor<3xi64>) -> tensor<?x?x8xf32, #onnx.dims<["b", "s", "8"]>>
  return %y, %k, %v : tensor<?x?x8xf32, #onnx.dims<["b", "s", "8"]>>, tensor<?x2x?x4xf32, #onnx.dims<["b", "2", "p + s", "4"]>>, tensor<?x2x?x4xf32, #onnx.dims<["b", "2", "p + s", "4"]>>
}

// -----
// Causal, by the length of transposed keys, which no type tells.
// CHECK-LABEL: func.func @main
// CHECK: onnx.softmax %{{.*}} {llm.window = 0 : i64}
onnx.weight_data @table file 0 offset 0 length 1024 : tensor<32x8xf32>
func.func @main(%ids: tensor<?x?xi64, #onnx.dims<["b", "s"]>> {onnx.name = "input_ids"}, %mask: tensor<?x?xi64, #onnx.dims<["b", "t"]>> {onnx.name = "attention_mask"}, %pk: tensor<?x2x?x4xf32, #onnx.dims<["b", "2", "p", "4"]>>, %pv: tensor<?x2x?x4xf32, #onnx.dims<["b", "2", "p", "4"]>>) -> (tensor<?x?x8xf32, #onnx.dims<["b", "?", "8"]>>, tensor<?x2x?x4xf32, #onnx.dims<["b", "2", "?", "4"]>>, tensor<?x2x?x4xf32, #onnx.dims<["b", "2", "?", "4"]>>) {
  %w = onnx.weight @table : tensor<32x8xf32>
  %x = onnx.gather %w, %ids : (tensor<32x8xf32>, tensor<?x?xi64, #onnx.dims<["b", "s"]>>) -> tensor<?x?x8xf32, #onnx.dims<["b", "?", "8"]>>
  %heads = onnx.constant dense<[0, 0, 2, 4]> : tensor<4xi64>
  %flat = onnx.constant dense<[0, 0, 8]> : tensor<3xi64>
  %i0 = onnx.constant dense<0> : tensor<i64>
  %i1 = onnx.constant dense<1> : tensor<i64>
  %i2 = onnx.constant dense<2> : tensor<i64>
  %m1 = onnx.constant dense<[-1, 1]> : tensor<2xi64>
  %zero = onnx.constant dense<0.0> : tensor<f32>
  %low = onnx.constant dense<-3.40282347E+38> : tensor<f32>
  %half = onnx.constant dense<0.5> : tensor<f32>
  %h = onnx.reshape %x, %heads : (tensor<?x?x8xf32, #onnx.dims<["b", "?", "8"]>>, tensor<4xi64>) -> tensor<?x?x2x4xf32, #onnx.dims<["b", "?", "2", "4"]>>
  %q = onnx.transpose %h {perm = array<i64: 0, 2, 1, 3>} : (tensor<?x?x2x4xf32, #onnx.dims<["b", "?", "2", "4"]>>) -> tensor<?x2x?x4xf32, #onnx.dims<["b", "2", "?", "4"]>>
  %k = onnx.concat %pk, %q {axis = 2 : i64} : (tensor<?x2x?x4xf32, #onnx.dims<["b", "2", "p", "4"]>>, tensor<?x2x?x4xf32, #onnx.dims<["b", "2", "?", "4"]>>) -> tensor<?x2x?x4xf32, #onnx.dims<["b", "2", "?", "4"]>>
  %v = onnx.concat %pv, %q {axis = 2 : i64} : (tensor<?x2x?x4xf32, #onnx.dims<["b", "2", "p", "4"]>>, tensor<?x2x?x4xf32, #onnx.dims<["b", "2", "?", "4"]>>) -> tensor<?x2x?x4xf32, #onnx.dims<["b", "2", "?", "4"]>>
  %kt = onnx.transpose %k {perm = array<i64: 0, 1, 3, 2>} : (tensor<?x2x?x4xf32, #onnx.dims<["b", "2", "?", "4"]>>) -> tensor<?x2x4x?xf32, #onnx.dims<["b", "2", "4", "?"]>>
  %qk = onnx.mat_mul %q, %kt : (tensor<?x2x?x4xf32, #onnx.dims<["b", "2", "?", "4"]>>, tensor<?x2x4x?xf32, #onnx.dims<["b", "2", "4", "?"]>>) -> tensor<?x2x?x?xf32, #onnx.dims<["b", "2", "?", "?"]>>
  %sh = onnx.shape %ids : (tensor<?x?xi64, #onnx.dims<["b", "s"]>>) -> tensor<2xi64>
  %len = onnx.gather %sh, %i1 : (tensor<2xi64>, tensor<i64>) -> tensor<i64>
  %psh = onnx.shape %pk : (tensor<?x2x?x4xf32, #onnx.dims<["b", "2", "p", "4"]>>) -> tensor<4xi64>
  %past = onnx.gather %psh, %i2 : (tensor<4xi64>, tensor<i64>) -> tensor<i64>
  %ksh = onnx.shape %kt : (tensor<?x2x4x?xf32, #onnx.dims<["b", "2", "4", "?"]>>) -> tensor<4xi64>
  %i3 = onnx.constant dense<3> : tensor<i64>
  %total = onnx.gather %ksh, %i3 : (tensor<4xi64>, tensor<i64>) -> tensor<i64>
  %keys = onnx.range %i0, %total, %i1 : (tensor<i64>, tensor<i64>, tensor<i64>) -> tensor<?xi64, #onnx.dims<["p + s"]>>
  %qpos = onnx.range %past, %total, %i1 : (tensor<i64>, tensor<i64>, tensor<i64>) -> tensor<?xi64, #onnx.dims<["s"]>>
  %rows = onnx.reshape %qpos, %m1 : (tensor<?xi64, #onnx.dims<["s"]>>, tensor<2xi64>) -> tensor<?x1xi64, #onnx.dims<["s", "1"]>>
  %causal = onnx.less_or_equal %keys, %rows : (tensor<?xi64, #onnx.dims<["p + s"]>>, tensor<?x1xi64, #onnx.dims<["s", "1"]>>) -> tensor<?x?xi1, #onnx.dims<["s", "p + s"]>>
  %see = onnx.identity %causal : (tensor<?x?xi1, #onnx.dims<["s", "p + s"]>>) -> tensor<?x?xi1, #onnx.dims<["s", "p + s"]>>
  %add = onnx.where %see, %zero, %low : (tensor<?x?xi1, #onnx.dims<["s", "p + s"]>>, tensor<f32>, tensor<f32>) -> tensor<?x?xf32, #onnx.dims<["s", "p + s"]>>
  %sc = onnx.mul %qk, %half : (tensor<?x2x?x?xf32, #onnx.dims<["b", "2", "?", "?"]>>, tensor<f32>) -> tensor<?x2x?x?xf32, #onnx.dims<["b", "2", "?", "?"]>>
  %masked = onnx.add %sc, %add : (tensor<?x2x?x?xf32, #onnx.dims<["b", "2", "?", "?"]>>, tensor<?x?xf32, #onnx.dims<["s", "p + s"]>>) -> tensor<?x2x?x?xf32, #onnx.dims<["b", "2", "?", "?"]>>
  %p = onnx.softmax %masked : (tensor<?x2x?x?xf32, #onnx.dims<["b", "2", "?", "?"]>>) -> tensor<?x2x?x?xf32, #onnx.dims<["b", "2", "?", "?"]>>
  %o = onnx.mat_mul %p, %v : (tensor<?x2x?x?xf32, #onnx.dims<["b", "2", "?", "?"]>>, tensor<?x2x?x4xf32, #onnx.dims<["b", "2", "?", "4"]>>) -> tensor<?x2x?x4xf32, #onnx.dims<["b", "2", "?", "4"]>>
  %ot = onnx.transpose %o {perm = array<i64: 0, 2, 1, 3>} : (tensor<?x2x?x4xf32, #onnx.dims<["b", "2", "?", "4"]>>) -> tensor<?x?x2x4xf32, #onnx.dims<["b", "?", "2", "4"]>>
  %y = onnx.reshape %ot, %flat : (tensor<?x?x2x4xf32, #onnx.dims<["b", "?", "2", "4"]>>, tensor<3xi64>) -> tensor<?x?x8xf32, #onnx.dims<["b", "?", "8"]>>
  return %y, %k, %v : tensor<?x?x8xf32, #onnx.dims<["b", "?", "8"]>>, tensor<?x2x?x4xf32, #onnx.dims<["b", "2", "?", "4"]>>, tensor<?x2x?x4xf32, #onnx.dims<["b", "2", "?", "4"]>>
}

// -----
// Causal, by selection, with a window of 6: the query is one of them (B21).
// CHECK-LABEL: func.func @main
// CHECK: onnx.softmax %{{.*}} {llm.window = 6 : i64}
onnx.weight_data @table file 0 offset 0 length 1024 : tensor<32x8xf32>
func.func @main(%ids: tensor<?x?xi64, #onnx.dims<["b", "s"]>> {onnx.name = "input_ids"}, %mask: tensor<?x?xi64, #onnx.dims<["b", "t"]>> {onnx.name = "attention_mask"}, %pk: tensor<?x2x?x4xf32, #onnx.dims<["b", "2", "p", "4"]>>, %pv: tensor<?x2x?x4xf32, #onnx.dims<["b", "2", "p", "4"]>>) -> (tensor<?x?x8xf32, #onnx.dims<["b", "s", "8"]>>, tensor<?x2x?x4xf32, #onnx.dims<["b", "2", "p + s", "4"]>>, tensor<?x2x?x4xf32, #onnx.dims<["b", "2", "p + s", "4"]>>) {
  %w = onnx.weight @table : tensor<32x8xf32>
  %x = onnx.gather %w, %ids : (tensor<32x8xf32>, tensor<?x?xi64, #onnx.dims<["b", "s"]>>) -> tensor<?x?x8xf32, #onnx.dims<["b", "s", "8"]>>
  %heads = onnx.constant dense<[0, 0, 2, 4]> : tensor<4xi64>
  %flat = onnx.constant dense<[0, 0, 8]> : tensor<3xi64>
  %i0 = onnx.constant dense<0> : tensor<i64>
  %i1 = onnx.constant dense<1> : tensor<i64>
  %i2 = onnx.constant dense<2> : tensor<i64>
  %m1 = onnx.constant dense<[-1, 1]> : tensor<2xi64>
  %zero = onnx.constant dense<0.0> : tensor<f32>
  %low = onnx.constant dense<-3.40282347E+38> : tensor<f32>
  %half = onnx.constant dense<0.5> : tensor<f32>
  %h = onnx.reshape %x, %heads : (tensor<?x?x8xf32, #onnx.dims<["b", "s", "8"]>>, tensor<4xi64>) -> tensor<?x?x2x4xf32, #onnx.dims<["b", "s", "2", "4"]>>
  %q = onnx.transpose %h {perm = array<i64: 0, 2, 1, 3>} : (tensor<?x?x2x4xf32, #onnx.dims<["b", "s", "2", "4"]>>) -> tensor<?x2x?x4xf32, #onnx.dims<["b", "2", "s", "4"]>>
  %k = onnx.concat %pk, %q {axis = 2 : i64} : (tensor<?x2x?x4xf32, #onnx.dims<["b", "2", "p", "4"]>>, tensor<?x2x?x4xf32, #onnx.dims<["b", "2", "s", "4"]>>) -> tensor<?x2x?x4xf32, #onnx.dims<["b", "2", "p + s", "4"]>>
  %v = onnx.concat %pv, %q {axis = 2 : i64} : (tensor<?x2x?x4xf32, #onnx.dims<["b", "2", "p", "4"]>>, tensor<?x2x?x4xf32, #onnx.dims<["b", "2", "s", "4"]>>) -> tensor<?x2x?x4xf32, #onnx.dims<["b", "2", "p + s", "4"]>>
  %kt = onnx.transpose %k {perm = array<i64: 0, 1, 3, 2>} : (tensor<?x2x?x4xf32, #onnx.dims<["b", "2", "p + s", "4"]>>) -> tensor<?x2x4x?xf32, #onnx.dims<["b", "2", "4", "p + s"]>>
  %qk = onnx.mat_mul %q, %kt : (tensor<?x2x?x4xf32, #onnx.dims<["b", "2", "s", "4"]>>, tensor<?x2x4x?xf32, #onnx.dims<["b", "2", "4", "p + s"]>>) -> tensor<?x2x?x?xf32, #onnx.dims<["b", "2", "s", "p + s"]>>
  %sh = onnx.shape %ids : (tensor<?x?xi64, #onnx.dims<["b", "s"]>>) -> tensor<2xi64>
  %len = onnx.gather %sh, %i1 : (tensor<2xi64>, tensor<i64>) -> tensor<i64>
  %psh = onnx.shape %pk : (tensor<?x2x?x4xf32, #onnx.dims<["b", "2", "p", "4"]>>) -> tensor<4xi64>
  %past = onnx.gather %psh, %i2 : (tensor<4xi64>, tensor<i64>) -> tensor<i64>
  %total = onnx.add %past, %len : (tensor<i64>, tensor<i64>) -> tensor<i64>
  %keys = onnx.range %i0, %total, %i1 : (tensor<i64>, tensor<i64>, tensor<i64>) -> tensor<?xi64, #onnx.dims<["p + s"]>>
  %qpos = onnx.range %past, %total, %i1 : (tensor<i64>, tensor<i64>, tensor<i64>) -> tensor<?xi64, #onnx.dims<["s"]>>
  %rows = onnx.reshape %qpos, %m1 : (tensor<?xi64, #onnx.dims<["s"]>>, tensor<2xi64>) -> tensor<?x1xi64, #onnx.dims<["s", "1"]>>
  %causal = onnx.less_or_equal %keys, %rows : (tensor<?xi64, #onnx.dims<["p + s"]>>, tensor<?x1xi64, #onnx.dims<["s", "1"]>>) -> tensor<?x?xi1, #onnx.dims<["s", "p + s"]>>
  %w6 = onnx.constant dense<6> : tensor<i64>
  %far = onnx.sub %rows, %w6 : (tensor<?x1xi64, #onnx.dims<["s", "1"]>>, tensor<i64>) -> tensor<?x1xi64, #onnx.dims<["s", "1"]>>
  %near = onnx.greater %keys, %far : (tensor<?xi64, #onnx.dims<["p + s"]>>, tensor<?x1xi64, #onnx.dims<["s", "1"]>>) -> tensor<?x?xi1, #onnx.dims<["s", "p + s"]>>
  %see = onnx.and %causal, %near : (tensor<?x?xi1, #onnx.dims<["s", "p + s"]>>, tensor<?x?xi1, #onnx.dims<["s", "p + s"]>>) -> tensor<?x?xi1, #onnx.dims<["s", "p + s"]>>
  %masked = onnx.where %see, %qk, %low : (tensor<?x?xi1, #onnx.dims<["s", "p + s"]>>, tensor<?x2x?x?xf32, #onnx.dims<["b", "2", "s", "p + s"]>>, tensor<f32>) -> tensor<?x2x?x?xf32, #onnx.dims<["b", "2", "s", "p + s"]>>
  %p = onnx.softmax %masked : (tensor<?x2x?x?xf32, #onnx.dims<["b", "2", "s", "p + s"]>>) -> tensor<?x2x?x?xf32, #onnx.dims<["b", "2", "s", "p + s"]>>
  %o = onnx.mat_mul %p, %v : (tensor<?x2x?x?xf32, #onnx.dims<["b", "2", "s", "p + s"]>>, tensor<?x2x?x4xf32, #onnx.dims<["b", "2", "p + s", "4"]>>) -> tensor<?x2x?x4xf32, #onnx.dims<["b", "2", "s", "4"]>>
  %ot = onnx.transpose %o {perm = array<i64: 0, 2, 1, 3>} : (tensor<?x2x?x4xf32, #onnx.dims<["b", "2", "s", "4"]>>) -> tensor<?x?x2x4xf32, #onnx.dims<["b", "s", "2", "4"]>>
  %y = onnx.reshape %ot, %flat : (tensor<?x?x2x4xf32, #onnx.dims<["b", "s", "2", "4"]>>, tensor<3xi64>) -> tensor<?x?x8xf32, #onnx.dims<["b", "s", "8"]>>
  return %y, %k, %v : tensor<?x?x8xf32, #onnx.dims<["b", "s", "8"]>>, tensor<?x2x?x4xf32, #onnx.dims<["b", "2", "p + s", "4"]>>, tensor<?x2x?x4xf32, #onnx.dims<["b", "2", "p + s", "4"]>>
}

// -----
// Chunks of 6.
// CHECK-LABEL: func.func @main
// CHECK: onnx.softmax %{{.*}} {llm.chunk = 6 : i64, llm.window = 0 : i64}
onnx.weight_data @table file 0 offset 0 length 1024 : tensor<32x8xf32>
func.func @main(%ids: tensor<?x?xi64, #onnx.dims<["b", "s"]>> {onnx.name = "input_ids"}, %mask: tensor<?x?xi64, #onnx.dims<["b", "t"]>> {onnx.name = "attention_mask"}, %pk: tensor<?x2x?x4xf32, #onnx.dims<["b", "2", "p", "4"]>>, %pv: tensor<?x2x?x4xf32, #onnx.dims<["b", "2", "p", "4"]>>) -> (tensor<?x?x8xf32, #onnx.dims<["b", "s", "8"]>>, tensor<?x2x?x4xf32, #onnx.dims<["b", "2", "p + s", "4"]>>, tensor<?x2x?x4xf32, #onnx.dims<["b", "2", "p + s", "4"]>>) {
  %w = onnx.weight @table : tensor<32x8xf32>
  %x = onnx.gather %w, %ids : (tensor<32x8xf32>, tensor<?x?xi64, #onnx.dims<["b", "s"]>>) -> tensor<?x?x8xf32, #onnx.dims<["b", "s", "8"]>>
  %heads = onnx.constant dense<[0, 0, 2, 4]> : tensor<4xi64>
  %flat = onnx.constant dense<[0, 0, 8]> : tensor<3xi64>
  %i0 = onnx.constant dense<0> : tensor<i64>
  %i1 = onnx.constant dense<1> : tensor<i64>
  %i2 = onnx.constant dense<2> : tensor<i64>
  %m1 = onnx.constant dense<[-1, 1]> : tensor<2xi64>
  %zero = onnx.constant dense<0.0> : tensor<f32>
  %low = onnx.constant dense<-3.40282347E+38> : tensor<f32>
  %half = onnx.constant dense<0.5> : tensor<f32>
  %h = onnx.reshape %x, %heads : (tensor<?x?x8xf32, #onnx.dims<["b", "s", "8"]>>, tensor<4xi64>) -> tensor<?x?x2x4xf32, #onnx.dims<["b", "s", "2", "4"]>>
  %q = onnx.transpose %h {perm = array<i64: 0, 2, 1, 3>} : (tensor<?x?x2x4xf32, #onnx.dims<["b", "s", "2", "4"]>>) -> tensor<?x2x?x4xf32, #onnx.dims<["b", "2", "s", "4"]>>
  %k = onnx.concat %pk, %q {axis = 2 : i64} : (tensor<?x2x?x4xf32, #onnx.dims<["b", "2", "p", "4"]>>, tensor<?x2x?x4xf32, #onnx.dims<["b", "2", "s", "4"]>>) -> tensor<?x2x?x4xf32, #onnx.dims<["b", "2", "p + s", "4"]>>
  %v = onnx.concat %pv, %q {axis = 2 : i64} : (tensor<?x2x?x4xf32, #onnx.dims<["b", "2", "p", "4"]>>, tensor<?x2x?x4xf32, #onnx.dims<["b", "2", "s", "4"]>>) -> tensor<?x2x?x4xf32, #onnx.dims<["b", "2", "p + s", "4"]>>
  %kt = onnx.transpose %k {perm = array<i64: 0, 1, 3, 2>} : (tensor<?x2x?x4xf32, #onnx.dims<["b", "2", "p + s", "4"]>>) -> tensor<?x2x4x?xf32, #onnx.dims<["b", "2", "4", "p + s"]>>
  %qk = onnx.mat_mul %q, %kt : (tensor<?x2x?x4xf32, #onnx.dims<["b", "2", "s", "4"]>>, tensor<?x2x4x?xf32, #onnx.dims<["b", "2", "4", "p + s"]>>) -> tensor<?x2x?x?xf32, #onnx.dims<["b", "2", "s", "p + s"]>>
  %sh = onnx.shape %ids : (tensor<?x?xi64, #onnx.dims<["b", "s"]>>) -> tensor<2xi64>
  %len = onnx.gather %sh, %i1 : (tensor<2xi64>, tensor<i64>) -> tensor<i64>
  %psh = onnx.shape %pk : (tensor<?x2x?x4xf32, #onnx.dims<["b", "2", "p", "4"]>>) -> tensor<4xi64>
  %past = onnx.gather %psh, %i2 : (tensor<4xi64>, tensor<i64>) -> tensor<i64>
  %total = onnx.add %past, %len : (tensor<i64>, tensor<i64>) -> tensor<i64>
  %keys = onnx.range %i0, %total, %i1 : (tensor<i64>, tensor<i64>, tensor<i64>) -> tensor<?xi64, #onnx.dims<["p + s"]>>
  %qpos = onnx.range %past, %total, %i1 : (tensor<i64>, tensor<i64>, tensor<i64>) -> tensor<?xi64, #onnx.dims<["s"]>>
  %rows = onnx.reshape %qpos, %m1 : (tensor<?xi64, #onnx.dims<["s"]>>, tensor<2xi64>) -> tensor<?x1xi64, #onnx.dims<["s", "1"]>>
  %causal = onnx.less_or_equal %keys, %rows : (tensor<?xi64, #onnx.dims<["p + s"]>>, tensor<?x1xi64, #onnx.dims<["s", "1"]>>) -> tensor<?x?xi1, #onnx.dims<["s", "p + s"]>>
  %w6 = onnx.constant dense<6> : tensor<i64>
  %kc = onnx.div %keys, %w6 : (tensor<?xi64, #onnx.dims<["p + s"]>>, tensor<i64>) -> tensor<?xi64, #onnx.dims<["p + s"]>>
  %qc = onnx.div %rows, %w6 : (tensor<?x1xi64, #onnx.dims<["s", "1"]>>, tensor<i64>) -> tensor<?x1xi64, #onnx.dims<["s", "1"]>>
  %near = onnx.equal %kc, %qc : (tensor<?xi64, #onnx.dims<["p + s"]>>, tensor<?x1xi64, #onnx.dims<["s", "1"]>>) -> tensor<?x?xi1, #onnx.dims<["s", "p + s"]>>
  %see = onnx.and %causal, %near : (tensor<?x?xi1, #onnx.dims<["s", "p + s"]>>, tensor<?x?xi1, #onnx.dims<["s", "p + s"]>>) -> tensor<?x?xi1, #onnx.dims<["s", "p + s"]>>
  %masked = onnx.where %see, %qk, %low : (tensor<?x?xi1, #onnx.dims<["s", "p + s"]>>, tensor<?x2x?x?xf32, #onnx.dims<["b", "2", "s", "p + s"]>>, tensor<f32>) -> tensor<?x2x?x?xf32, #onnx.dims<["b", "2", "s", "p + s"]>>
  %p = onnx.softmax %masked : (tensor<?x2x?x?xf32, #onnx.dims<["b", "2", "s", "p + s"]>>) -> tensor<?x2x?x?xf32, #onnx.dims<["b", "2", "s", "p + s"]>>
  %o = onnx.mat_mul %p, %v : (tensor<?x2x?x?xf32, #onnx.dims<["b", "2", "s", "p + s"]>>, tensor<?x2x?x4xf32, #onnx.dims<["b", "2", "p + s", "4"]>>) -> tensor<?x2x?x4xf32, #onnx.dims<["b", "2", "s", "4"]>>
  %ot = onnx.transpose %o {perm = array<i64: 0, 2, 1, 3>} : (tensor<?x2x?x4xf32, #onnx.dims<["b", "2", "s", "4"]>>) -> tensor<?x?x2x4xf32, #onnx.dims<["b", "s", "2", "4"]>>
  %y = onnx.reshape %ot, %flat : (tensor<?x?x2x4xf32, #onnx.dims<["b", "s", "2", "4"]>>, tensor<3xi64>) -> tensor<?x?x8xf32, #onnx.dims<["b", "s", "8"]>>
  return %y, %k, %v : tensor<?x?x8xf32, #onnx.dims<["b", "s", "8"]>>, tensor<?x2x?x4xf32, #onnx.dims<["b", "2", "p + s", "4"]>>, tensor<?x2x?x4xf32, #onnx.dims<["b", "2", "p + s", "4"]>>
}

// -----
// A window that only long samples show.
// CHECK-LABEL: func.func @main
// CHECK: onnx.softmax %{{.*}} {llm.window = 4096 : i64}
onnx.weight_data @table file 0 offset 0 length 1024 : tensor<32x8xf32>
func.func @main(%ids: tensor<?x?xi64, #onnx.dims<["b", "s"]>> {onnx.name = "input_ids"}, %mask: tensor<?x?xi64, #onnx.dims<["b", "t"]>> {onnx.name = "attention_mask"}, %pk: tensor<?x2x?x4xf32, #onnx.dims<["b", "2", "p", "4"]>>, %pv: tensor<?x2x?x4xf32, #onnx.dims<["b", "2", "p", "4"]>>) -> (tensor<?x?x8xf32, #onnx.dims<["b", "s", "8"]>>, tensor<?x2x?x4xf32, #onnx.dims<["b", "2", "p + s", "4"]>>, tensor<?x2x?x4xf32, #onnx.dims<["b", "2", "p + s", "4"]>>) {
  %w = onnx.weight @table : tensor<32x8xf32>
  %x = onnx.gather %w, %ids : (tensor<32x8xf32>, tensor<?x?xi64, #onnx.dims<["b", "s"]>>) -> tensor<?x?x8xf32, #onnx.dims<["b", "s", "8"]>>
  %heads = onnx.constant dense<[0, 0, 2, 4]> : tensor<4xi64>
  %flat = onnx.constant dense<[0, 0, 8]> : tensor<3xi64>
  %i0 = onnx.constant dense<0> : tensor<i64>
  %i1 = onnx.constant dense<1> : tensor<i64>
  %i2 = onnx.constant dense<2> : tensor<i64>
  %m1 = onnx.constant dense<[-1, 1]> : tensor<2xi64>
  %zero = onnx.constant dense<0.0> : tensor<f32>
  %low = onnx.constant dense<-3.40282347E+38> : tensor<f32>
  %half = onnx.constant dense<0.5> : tensor<f32>
  %h = onnx.reshape %x, %heads : (tensor<?x?x8xf32, #onnx.dims<["b", "s", "8"]>>, tensor<4xi64>) -> tensor<?x?x2x4xf32, #onnx.dims<["b", "s", "2", "4"]>>
  %q = onnx.transpose %h {perm = array<i64: 0, 2, 1, 3>} : (tensor<?x?x2x4xf32, #onnx.dims<["b", "s", "2", "4"]>>) -> tensor<?x2x?x4xf32, #onnx.dims<["b", "2", "s", "4"]>>
  %k = onnx.concat %pk, %q {axis = 2 : i64} : (tensor<?x2x?x4xf32, #onnx.dims<["b", "2", "p", "4"]>>, tensor<?x2x?x4xf32, #onnx.dims<["b", "2", "s", "4"]>>) -> tensor<?x2x?x4xf32, #onnx.dims<["b", "2", "p + s", "4"]>>
  %v = onnx.concat %pv, %q {axis = 2 : i64} : (tensor<?x2x?x4xf32, #onnx.dims<["b", "2", "p", "4"]>>, tensor<?x2x?x4xf32, #onnx.dims<["b", "2", "s", "4"]>>) -> tensor<?x2x?x4xf32, #onnx.dims<["b", "2", "p + s", "4"]>>
  %kt = onnx.transpose %k {perm = array<i64: 0, 1, 3, 2>} : (tensor<?x2x?x4xf32, #onnx.dims<["b", "2", "p + s", "4"]>>) -> tensor<?x2x4x?xf32, #onnx.dims<["b", "2", "4", "p + s"]>>
  %qk = onnx.mat_mul %q, %kt : (tensor<?x2x?x4xf32, #onnx.dims<["b", "2", "s", "4"]>>, tensor<?x2x4x?xf32, #onnx.dims<["b", "2", "4", "p + s"]>>) -> tensor<?x2x?x?xf32, #onnx.dims<["b", "2", "s", "p + s"]>>
  %sh = onnx.shape %ids : (tensor<?x?xi64, #onnx.dims<["b", "s"]>>) -> tensor<2xi64>
  %len = onnx.gather %sh, %i1 : (tensor<2xi64>, tensor<i64>) -> tensor<i64>
  %psh = onnx.shape %pk : (tensor<?x2x?x4xf32, #onnx.dims<["b", "2", "p", "4"]>>) -> tensor<4xi64>
  %past = onnx.gather %psh, %i2 : (tensor<4xi64>, tensor<i64>) -> tensor<i64>
  %total = onnx.add %past, %len : (tensor<i64>, tensor<i64>) -> tensor<i64>
  %keys = onnx.range %i0, %total, %i1 : (tensor<i64>, tensor<i64>, tensor<i64>) -> tensor<?xi64, #onnx.dims<["p + s"]>>
  %qpos = onnx.range %past, %total, %i1 : (tensor<i64>, tensor<i64>, tensor<i64>) -> tensor<?xi64, #onnx.dims<["s"]>>
  %rows = onnx.reshape %qpos, %m1 : (tensor<?xi64, #onnx.dims<["s"]>>, tensor<2xi64>) -> tensor<?x1xi64, #onnx.dims<["s", "1"]>>
  %causal = onnx.less_or_equal %keys, %rows : (tensor<?xi64, #onnx.dims<["p + s"]>>, tensor<?x1xi64, #onnx.dims<["s", "1"]>>) -> tensor<?x?xi1, #onnx.dims<["s", "p + s"]>>
  %w4k = onnx.constant dense<4096> : tensor<i64>
  %far = onnx.sub %rows, %w4k : (tensor<?x1xi64, #onnx.dims<["s", "1"]>>, tensor<i64>) -> tensor<?x1xi64, #onnx.dims<["s", "1"]>>
  %near = onnx.greater %keys, %far : (tensor<?xi64, #onnx.dims<["p + s"]>>, tensor<?x1xi64, #onnx.dims<["s", "1"]>>) -> tensor<?x?xi1, #onnx.dims<["s", "p + s"]>>
  %see = onnx.and %causal, %near : (tensor<?x?xi1, #onnx.dims<["s", "p + s"]>>, tensor<?x?xi1, #onnx.dims<["s", "p + s"]>>) -> tensor<?x?xi1, #onnx.dims<["s", "p + s"]>>
  %add = onnx.where %see, %zero, %low : (tensor<?x?xi1, #onnx.dims<["s", "p + s"]>>, tensor<f32>, tensor<f32>) -> tensor<?x?xf32, #onnx.dims<["s", "p + s"]>>
  %sc = onnx.mul %qk, %half : (tensor<?x2x?x?xf32, #onnx.dims<["b", "2", "s", "p + s"]>>, tensor<f32>) -> tensor<?x2x?x?xf32, #onnx.dims<["b", "2", "s", "p + s"]>>
  %masked = onnx.add %sc, %add : (tensor<?x2x?x?xf32, #onnx.dims<["b", "2", "s", "p + s"]>>, tensor<?x?xf32, #onnx.dims<["s", "p + s"]>>) -> tensor<?x2x?x?xf32, #onnx.dims<["b", "2", "s", "p + s"]>>
  %p = onnx.softmax %masked : (tensor<?x2x?x?xf32, #onnx.dims<["b", "2", "s", "p + s"]>>) -> tensor<?x2x?x?xf32, #onnx.dims<["b", "2", "s", "p + s"]>>
  %o = onnx.mat_mul %p, %v : (tensor<?x2x?x?xf32, #onnx.dims<["b", "2", "s", "p + s"]>>, tensor<?x2x?x4xf32, #onnx.dims<["b", "2", "p + s", "4"]>>) -> tensor<?x2x?x4xf32, #onnx.dims<["b", "2", "s", "4"]>>
  %ot = onnx.transpose %o {perm = array<i64: 0, 2, 1, 3>} : (tensor<?x2x?x4xf32, #onnx.dims<["b", "2", "s", "4"]>>) -> tensor<?x?x2x4xf32, #onnx.dims<["b", "s", "2", "4"]>>
  %y = onnx.reshape %ot, %flat : (tensor<?x?x2x4xf32, #onnx.dims<["b", "s", "2", "4"]>>, tensor<3xi64>) -> tensor<?x?x8xf32, #onnx.dims<["b", "s", "8"]>>
  return %y, %k, %v : tensor<?x?x8xf32, #onnx.dims<["b", "s", "8"]>>, tensor<?x2x?x4xf32, #onnx.dims<["b", "2", "p + s", "4"]>>, tensor<?x2x?x4xf32, #onnx.dims<["b", "2", "p + s", "4"]>>
}

// -----
// All keys are visible: an encoder.
// CHECK-LABEL: func.func @main
// CHECK: onnx.softmax %{{.*}} {llm.mask_failure = "keys after the query are visible: not a causal decoder"}
onnx.weight_data @table file 0 offset 0 length 1024 : tensor<32x8xf32>
func.func @main(%ids: tensor<?x?xi64, #onnx.dims<["b", "s"]>> {onnx.name = "input_ids"}, %mask: tensor<?x?xi64, #onnx.dims<["b", "t"]>> {onnx.name = "attention_mask"}, %pk: tensor<?x2x?x4xf32, #onnx.dims<["b", "2", "p", "4"]>>, %pv: tensor<?x2x?x4xf32, #onnx.dims<["b", "2", "p", "4"]>>) -> (tensor<?x?x8xf32, #onnx.dims<["b", "s", "8"]>>, tensor<?x2x?x4xf32, #onnx.dims<["b", "2", "p + s", "4"]>>, tensor<?x2x?x4xf32, #onnx.dims<["b", "2", "p + s", "4"]>>) {
  %w = onnx.weight @table : tensor<32x8xf32>
  %x = onnx.gather %w, %ids : (tensor<32x8xf32>, tensor<?x?xi64, #onnx.dims<["b", "s"]>>) -> tensor<?x?x8xf32, #onnx.dims<["b", "s", "8"]>>
  %heads = onnx.constant dense<[0, 0, 2, 4]> : tensor<4xi64>
  %flat = onnx.constant dense<[0, 0, 8]> : tensor<3xi64>
  %i0 = onnx.constant dense<0> : tensor<i64>
  %i1 = onnx.constant dense<1> : tensor<i64>
  %i2 = onnx.constant dense<2> : tensor<i64>
  %m1 = onnx.constant dense<[-1, 1]> : tensor<2xi64>
  %zero = onnx.constant dense<0.0> : tensor<f32>
  %low = onnx.constant dense<-3.40282347E+38> : tensor<f32>
  %half = onnx.constant dense<0.5> : tensor<f32>
  %h = onnx.reshape %x, %heads : (tensor<?x?x8xf32, #onnx.dims<["b", "s", "8"]>>, tensor<4xi64>) -> tensor<?x?x2x4xf32, #onnx.dims<["b", "s", "2", "4"]>>
  %q = onnx.transpose %h {perm = array<i64: 0, 2, 1, 3>} : (tensor<?x?x2x4xf32, #onnx.dims<["b", "s", "2", "4"]>>) -> tensor<?x2x?x4xf32, #onnx.dims<["b", "2", "s", "4"]>>
  %k = onnx.identity %q : (tensor<?x2x?x4xf32, #onnx.dims<["b", "2", "s", "4"]>>) -> tensor<?x2x?x4xf32, #onnx.dims<["b", "2", "p + s", "4"]>>
  %v = onnx.identity %q : (tensor<?x2x?x4xf32, #onnx.dims<["b", "2", "s", "4"]>>) -> tensor<?x2x?x4xf32, #onnx.dims<["b", "2", "p + s", "4"]>>
  %kt = onnx.transpose %k {perm = array<i64: 0, 1, 3, 2>} : (tensor<?x2x?x4xf32, #onnx.dims<["b", "2", "p + s", "4"]>>) -> tensor<?x2x4x?xf32, #onnx.dims<["b", "2", "4", "p + s"]>>
  %qk = onnx.mat_mul %q, %kt : (tensor<?x2x?x4xf32, #onnx.dims<["b", "2", "s", "4"]>>, tensor<?x2x4x?xf32, #onnx.dims<["b", "2", "4", "p + s"]>>) -> tensor<?x2x?x?xf32, #onnx.dims<["b", "2", "s", "p + s"]>>
  %sh = onnx.shape %ids : (tensor<?x?xi64, #onnx.dims<["b", "s"]>>) -> tensor<2xi64>
  %len = onnx.gather %sh, %i1 : (tensor<2xi64>, tensor<i64>) -> tensor<i64>
  %psh = onnx.shape %pk : (tensor<?x2x?x4xf32, #onnx.dims<["b", "2", "p", "4"]>>) -> tensor<4xi64>
  %past = onnx.gather %psh, %i2 : (tensor<4xi64>, tensor<i64>) -> tensor<i64>
  %total = onnx.add %past, %len : (tensor<i64>, tensor<i64>) -> tensor<i64>
  %keys = onnx.range %i0, %total, %i1 : (tensor<i64>, tensor<i64>, tensor<i64>) -> tensor<?xi64, #onnx.dims<["p + s"]>>
  %qpos = onnx.range %past, %total, %i1 : (tensor<i64>, tensor<i64>, tensor<i64>) -> tensor<?xi64, #onnx.dims<["s"]>>
  %rows = onnx.reshape %qpos, %m1 : (tensor<?xi64, #onnx.dims<["s"]>>, tensor<2xi64>) -> tensor<?x1xi64, #onnx.dims<["s", "1"]>>
  %causal = onnx.less_or_equal %keys, %rows : (tensor<?xi64, #onnx.dims<["p + s"]>>, tensor<?x1xi64, #onnx.dims<["s", "1"]>>) -> tensor<?x?xi1, #onnx.dims<["s", "p + s"]>>
  %see = onnx.less_or_equal %i0, %rows : (tensor<i64>, tensor<?x1xi64, #onnx.dims<["s", "1"]>>) -> tensor<?x?xi1, #onnx.dims<["s", "p + s"]>>
  %add = onnx.where %see, %zero, %low : (tensor<?x?xi1, #onnx.dims<["s", "p + s"]>>, tensor<f32>, tensor<f32>) -> tensor<?x?xf32, #onnx.dims<["s", "p + s"]>>
  %sc = onnx.mul %qk, %half : (tensor<?x2x?x?xf32, #onnx.dims<["b", "2", "s", "p + s"]>>, tensor<f32>) -> tensor<?x2x?x?xf32, #onnx.dims<["b", "2", "s", "p + s"]>>
  %masked = onnx.add %sc, %add : (tensor<?x2x?x?xf32, #onnx.dims<["b", "2", "s", "p + s"]>>, tensor<?x?xf32, #onnx.dims<["s", "p + s"]>>) -> tensor<?x2x?x?xf32, #onnx.dims<["b", "2", "s", "p + s"]>>
  %p = onnx.softmax %masked : (tensor<?x2x?x?xf32, #onnx.dims<["b", "2", "s", "p + s"]>>) -> tensor<?x2x?x?xf32, #onnx.dims<["b", "2", "s", "p + s"]>>
  %o = onnx.mat_mul %p, %v : (tensor<?x2x?x?xf32, #onnx.dims<["b", "2", "s", "p + s"]>>, tensor<?x2x?x4xf32, #onnx.dims<["b", "2", "p + s", "4"]>>) -> tensor<?x2x?x4xf32, #onnx.dims<["b", "2", "s", "4"]>>
  %ot = onnx.transpose %o {perm = array<i64: 0, 2, 1, 3>} : (tensor<?x2x?x4xf32, #onnx.dims<["b", "2", "s", "4"]>>) -> tensor<?x?x2x4xf32, #onnx.dims<["b", "s", "2", "4"]>>
  %y = onnx.reshape %ot, %flat : (tensor<?x?x2x4xf32, #onnx.dims<["b", "s", "2", "4"]>>, tensor<3xi64>) -> tensor<?x?x8xf32, #onnx.dims<["b", "s", "8"]>>
  return %y, %k, %v : tensor<?x?x8xf32, #onnx.dims<["b", "s", "8"]>>, tensor<?x2x?x4xf32, #onnx.dims<["b", "2", "p + s", "4"]>>, tensor<?x2x?x4xf32, #onnx.dims<["b", "2", "p + s", "4"]>>
}

// -----
// What grows with the key is ALiBi.
// CHECK-LABEL: func.func @main
// CHECK: onnx.softmax %{{.*}} {llm.slopes = array<f64: 1.000000e+00, 1.000000e+00>, llm.window = 0 : i64}
onnx.weight_data @table file 0 offset 0 length 1024 : tensor<32x8xf32>
func.func @main(%ids: tensor<?x?xi64, #onnx.dims<["b", "s"]>> {onnx.name = "input_ids"}, %mask: tensor<?x?xi64, #onnx.dims<["b", "t"]>> {onnx.name = "attention_mask"}, %pk: tensor<?x2x?x4xf32, #onnx.dims<["b", "2", "p", "4"]>>, %pv: tensor<?x2x?x4xf32, #onnx.dims<["b", "2", "p", "4"]>>) -> (tensor<?x?x8xf32, #onnx.dims<["b", "s", "8"]>>, tensor<?x2x?x4xf32, #onnx.dims<["b", "2", "p + s", "4"]>>, tensor<?x2x?x4xf32, #onnx.dims<["b", "2", "p + s", "4"]>>) {
  %w = onnx.weight @table : tensor<32x8xf32>
  %x = onnx.gather %w, %ids : (tensor<32x8xf32>, tensor<?x?xi64, #onnx.dims<["b", "s"]>>) -> tensor<?x?x8xf32, #onnx.dims<["b", "s", "8"]>>
  %heads = onnx.constant dense<[0, 0, 2, 4]> : tensor<4xi64>
  %flat = onnx.constant dense<[0, 0, 8]> : tensor<3xi64>
  %i0 = onnx.constant dense<0> : tensor<i64>
  %i1 = onnx.constant dense<1> : tensor<i64>
  %i2 = onnx.constant dense<2> : tensor<i64>
  %m1 = onnx.constant dense<[-1, 1]> : tensor<2xi64>
  %zero = onnx.constant dense<0.0> : tensor<f32>
  %low = onnx.constant dense<-3.40282347E+38> : tensor<f32>
  %half = onnx.constant dense<0.5> : tensor<f32>
  %h = onnx.reshape %x, %heads : (tensor<?x?x8xf32, #onnx.dims<["b", "s", "8"]>>, tensor<4xi64>) -> tensor<?x?x2x4xf32, #onnx.dims<["b", "s", "2", "4"]>>
  %q = onnx.transpose %h {perm = array<i64: 0, 2, 1, 3>} : (tensor<?x?x2x4xf32, #onnx.dims<["b", "s", "2", "4"]>>) -> tensor<?x2x?x4xf32, #onnx.dims<["b", "2", "s", "4"]>>
  %k = onnx.concat %pk, %q {axis = 2 : i64} : (tensor<?x2x?x4xf32, #onnx.dims<["b", "2", "p", "4"]>>, tensor<?x2x?x4xf32, #onnx.dims<["b", "2", "s", "4"]>>) -> tensor<?x2x?x4xf32, #onnx.dims<["b", "2", "p + s", "4"]>>
  %v = onnx.concat %pv, %q {axis = 2 : i64} : (tensor<?x2x?x4xf32, #onnx.dims<["b", "2", "p", "4"]>>, tensor<?x2x?x4xf32, #onnx.dims<["b", "2", "s", "4"]>>) -> tensor<?x2x?x4xf32, #onnx.dims<["b", "2", "p + s", "4"]>>
  %kt = onnx.transpose %k {perm = array<i64: 0, 1, 3, 2>} : (tensor<?x2x?x4xf32, #onnx.dims<["b", "2", "p + s", "4"]>>) -> tensor<?x2x4x?xf32, #onnx.dims<["b", "2", "4", "p + s"]>>
  %qk = onnx.mat_mul %q, %kt : (tensor<?x2x?x4xf32, #onnx.dims<["b", "2", "s", "4"]>>, tensor<?x2x4x?xf32, #onnx.dims<["b", "2", "4", "p + s"]>>) -> tensor<?x2x?x?xf32, #onnx.dims<["b", "2", "s", "p + s"]>>
  %sh = onnx.shape %ids : (tensor<?x?xi64, #onnx.dims<["b", "s"]>>) -> tensor<2xi64>
  %len = onnx.gather %sh, %i1 : (tensor<2xi64>, tensor<i64>) -> tensor<i64>
  %psh = onnx.shape %pk : (tensor<?x2x?x4xf32, #onnx.dims<["b", "2", "p", "4"]>>) -> tensor<4xi64>
  %past = onnx.gather %psh, %i2 : (tensor<4xi64>, tensor<i64>) -> tensor<i64>
  %total = onnx.add %past, %len : (tensor<i64>, tensor<i64>) -> tensor<i64>
  %keys = onnx.range %i0, %total, %i1 : (tensor<i64>, tensor<i64>, tensor<i64>) -> tensor<?xi64, #onnx.dims<["p + s"]>>
  %qpos = onnx.range %past, %total, %i1 : (tensor<i64>, tensor<i64>, tensor<i64>) -> tensor<?xi64, #onnx.dims<["s"]>>
  %rows = onnx.reshape %qpos, %m1 : (tensor<?xi64, #onnx.dims<["s"]>>, tensor<2xi64>) -> tensor<?x1xi64, #onnx.dims<["s", "1"]>>
  %causal = onnx.less_or_equal %keys, %rows : (tensor<?xi64, #onnx.dims<["p + s"]>>, tensor<?x1xi64, #onnx.dims<["s", "1"]>>) -> tensor<?x?xi1, #onnx.dims<["s", "p + s"]>>
  %kf = onnx.cast %keys {to = f32} : (tensor<?xi64, #onnx.dims<["p + s"]>>) -> tensor<?xf32, #onnx.dims<["p + s"]>>
  %add = onnx.where %causal, %kf, %low : (tensor<?x?xi1, #onnx.dims<["s", "p + s"]>>, tensor<?xf32, #onnx.dims<["p + s"]>>, tensor<f32>) -> tensor<?x?xf32, #onnx.dims<["s", "p + s"]>>
  %masked = onnx.add %qk, %add : (tensor<?x2x?x?xf32, #onnx.dims<["b", "2", "s", "p + s"]>>, tensor<?x?xf32, #onnx.dims<["s", "p + s"]>>) -> tensor<?x2x?x?xf32, #onnx.dims<["b", "2", "s", "p + s"]>>
  %p = onnx.softmax %masked : (tensor<?x2x?x?xf32, #onnx.dims<["b", "2", "s", "p + s"]>>) -> tensor<?x2x?x?xf32, #onnx.dims<["b", "2", "s", "p + s"]>>
  %o = onnx.mat_mul %p, %v : (tensor<?x2x?x?xf32, #onnx.dims<["b", "2", "s", "p + s"]>>, tensor<?x2x?x4xf32, #onnx.dims<["b", "2", "p + s", "4"]>>) -> tensor<?x2x?x4xf32, #onnx.dims<["b", "2", "s", "4"]>>
  %ot = onnx.transpose %o {perm = array<i64: 0, 2, 1, 3>} : (tensor<?x2x?x4xf32, #onnx.dims<["b", "2", "s", "4"]>>) -> tensor<?x?x2x4xf32, #onnx.dims<["b", "s", "2", "4"]>>
  %y = onnx.reshape %ot, %flat : (tensor<?x?x2x4xf32, #onnx.dims<["b", "s", "2", "4"]>>, tensor<3xi64>) -> tensor<?x?x8xf32, #onnx.dims<["b", "s", "8"]>>
  return %y, %k, %v : tensor<?x?x8xf32, #onnx.dims<["b", "s", "8"]>>, tensor<?x2x?x4xf32, #onnx.dims<["b", "2", "p + s", "4"]>>, tensor<?x2x?x4xf32, #onnx.dims<["b", "2", "p + s", "4"]>>
}

// -----
// Another bias.
// CHECK-LABEL: func.func @main
// CHECK: onnx.softmax %{{.*}} {llm.mask_failure = "a bias is added to the scores (-4.000000 at distance 2)"}
onnx.weight_data @table file 0 offset 0 length 1024 : tensor<32x8xf32>
func.func @main(%ids: tensor<?x?xi64, #onnx.dims<["b", "s"]>> {onnx.name = "input_ids"}, %mask: tensor<?x?xi64, #onnx.dims<["b", "t"]>> {onnx.name = "attention_mask"}, %pk: tensor<?x2x?x4xf32, #onnx.dims<["b", "2", "p", "4"]>>, %pv: tensor<?x2x?x4xf32, #onnx.dims<["b", "2", "p", "4"]>>) -> (tensor<?x?x8xf32, #onnx.dims<["b", "s", "8"]>>, tensor<?x2x?x4xf32, #onnx.dims<["b", "2", "p + s", "4"]>>, tensor<?x2x?x4xf32, #onnx.dims<["b", "2", "p + s", "4"]>>) {
  %w = onnx.weight @table : tensor<32x8xf32>
  %x = onnx.gather %w, %ids : (tensor<32x8xf32>, tensor<?x?xi64, #onnx.dims<["b", "s"]>>) -> tensor<?x?x8xf32, #onnx.dims<["b", "s", "8"]>>
  %heads = onnx.constant dense<[0, 0, 2, 4]> : tensor<4xi64>
  %flat = onnx.constant dense<[0, 0, 8]> : tensor<3xi64>
  %i0 = onnx.constant dense<0> : tensor<i64>
  %i1 = onnx.constant dense<1> : tensor<i64>
  %i2 = onnx.constant dense<2> : tensor<i64>
  %m1 = onnx.constant dense<[-1, 1]> : tensor<2xi64>
  %zero = onnx.constant dense<0.0> : tensor<f32>
  %low = onnx.constant dense<-3.40282347E+38> : tensor<f32>
  %half = onnx.constant dense<0.5> : tensor<f32>
  %h = onnx.reshape %x, %heads : (tensor<?x?x8xf32, #onnx.dims<["b", "s", "8"]>>, tensor<4xi64>) -> tensor<?x?x2x4xf32, #onnx.dims<["b", "s", "2", "4"]>>
  %q = onnx.transpose %h {perm = array<i64: 0, 2, 1, 3>} : (tensor<?x?x2x4xf32, #onnx.dims<["b", "s", "2", "4"]>>) -> tensor<?x2x?x4xf32, #onnx.dims<["b", "2", "s", "4"]>>
  %k = onnx.concat %pk, %q {axis = 2 : i64} : (tensor<?x2x?x4xf32, #onnx.dims<["b", "2", "p", "4"]>>, tensor<?x2x?x4xf32, #onnx.dims<["b", "2", "s", "4"]>>) -> tensor<?x2x?x4xf32, #onnx.dims<["b", "2", "p + s", "4"]>>
  %v = onnx.concat %pv, %q {axis = 2 : i64} : (tensor<?x2x?x4xf32, #onnx.dims<["b", "2", "p", "4"]>>, tensor<?x2x?x4xf32, #onnx.dims<["b", "2", "s", "4"]>>) -> tensor<?x2x?x4xf32, #onnx.dims<["b", "2", "p + s", "4"]>>
  %kt = onnx.transpose %k {perm = array<i64: 0, 1, 3, 2>} : (tensor<?x2x?x4xf32, #onnx.dims<["b", "2", "p + s", "4"]>>) -> tensor<?x2x4x?xf32, #onnx.dims<["b", "2", "4", "p + s"]>>
  %qk = onnx.mat_mul %q, %kt : (tensor<?x2x?x4xf32, #onnx.dims<["b", "2", "s", "4"]>>, tensor<?x2x4x?xf32, #onnx.dims<["b", "2", "4", "p + s"]>>) -> tensor<?x2x?x?xf32, #onnx.dims<["b", "2", "s", "p + s"]>>
  %sh = onnx.shape %ids : (tensor<?x?xi64, #onnx.dims<["b", "s"]>>) -> tensor<2xi64>
  %len = onnx.gather %sh, %i1 : (tensor<2xi64>, tensor<i64>) -> tensor<i64>
  %psh = onnx.shape %pk : (tensor<?x2x?x4xf32, #onnx.dims<["b", "2", "p", "4"]>>) -> tensor<4xi64>
  %past = onnx.gather %psh, %i2 : (tensor<4xi64>, tensor<i64>) -> tensor<i64>
  %total = onnx.add %past, %len : (tensor<i64>, tensor<i64>) -> tensor<i64>
  %keys = onnx.range %i0, %total, %i1 : (tensor<i64>, tensor<i64>, tensor<i64>) -> tensor<?xi64, #onnx.dims<["p + s"]>>
  %qpos = onnx.range %past, %total, %i1 : (tensor<i64>, tensor<i64>, tensor<i64>) -> tensor<?xi64, #onnx.dims<["s"]>>
  %rows = onnx.reshape %qpos, %m1 : (tensor<?xi64, #onnx.dims<["s"]>>, tensor<2xi64>) -> tensor<?x1xi64, #onnx.dims<["s", "1"]>>
  %causal = onnx.less_or_equal %keys, %rows : (tensor<?xi64, #onnx.dims<["p + s"]>>, tensor<?x1xi64, #onnx.dims<["s", "1"]>>) -> tensor<?x?xi1, #onnx.dims<["s", "p + s"]>>
  %kf = onnx.cast %keys {to = f32} : (tensor<?xi64, #onnx.dims<["p + s"]>>) -> tensor<?xf32, #onnx.dims<["p + s"]>>
  %kk = onnx.mul %kf, %kf : (tensor<?xf32, #onnx.dims<["p + s"]>>, tensor<?xf32, #onnx.dims<["p + s"]>>) -> tensor<?xf32, #onnx.dims<["p + s"]>>
  %add = onnx.where %causal, %kk, %low : (tensor<?x?xi1, #onnx.dims<["s", "p + s"]>>, tensor<?xf32, #onnx.dims<["p + s"]>>, tensor<f32>) -> tensor<?x?xf32, #onnx.dims<["s", "p + s"]>>
  %masked = onnx.add %qk, %add : (tensor<?x2x?x?xf32, #onnx.dims<["b", "2", "s", "p + s"]>>, tensor<?x?xf32, #onnx.dims<["s", "p + s"]>>) -> tensor<?x2x?x?xf32, #onnx.dims<["b", "2", "s", "p + s"]>>
  %p = onnx.softmax %masked : (tensor<?x2x?x?xf32, #onnx.dims<["b", "2", "s", "p + s"]>>) -> tensor<?x2x?x?xf32, #onnx.dims<["b", "2", "s", "p + s"]>>
  %o = onnx.mat_mul %p, %v : (tensor<?x2x?x?xf32, #onnx.dims<["b", "2", "s", "p + s"]>>, tensor<?x2x?x4xf32, #onnx.dims<["b", "2", "p + s", "4"]>>) -> tensor<?x2x?x4xf32, #onnx.dims<["b", "2", "s", "4"]>>
  %ot = onnx.transpose %o {perm = array<i64: 0, 2, 1, 3>} : (tensor<?x2x?x4xf32, #onnx.dims<["b", "2", "s", "4"]>>) -> tensor<?x?x2x4xf32, #onnx.dims<["b", "s", "2", "4"]>>
  %y = onnx.reshape %ot, %flat : (tensor<?x?x2x4xf32, #onnx.dims<["b", "s", "2", "4"]>>, tensor<3xi64>) -> tensor<?x?x8xf32, #onnx.dims<["b", "s", "8"]>>
  return %y, %k, %v : tensor<?x?x8xf32, #onnx.dims<["b", "s", "8"]>>, tensor<?x2x?x4xf32, #onnx.dims<["b", "2", "p + s", "4"]>>, tensor<?x2x?x4xf32, #onnx.dims<["b", "2", "p + s", "4"]>>
}

// -----
// One key is hidden.
// CHECK-LABEL: func.func @main
// CHECK: onnx.softmax %{{.*}} {llm.mask_failure = "a query does not see its own key"}
onnx.weight_data @table file 0 offset 0 length 1024 : tensor<32x8xf32>
func.func @main(%ids: tensor<?x?xi64, #onnx.dims<["b", "s"]>> {onnx.name = "input_ids"}, %mask: tensor<?x?xi64, #onnx.dims<["b", "t"]>> {onnx.name = "attention_mask"}, %pk: tensor<?x2x?x4xf32, #onnx.dims<["b", "2", "p", "4"]>>, %pv: tensor<?x2x?x4xf32, #onnx.dims<["b", "2", "p", "4"]>>) -> (tensor<?x?x8xf32, #onnx.dims<["b", "s", "8"]>>, tensor<?x2x?x4xf32, #onnx.dims<["b", "2", "p + s", "4"]>>, tensor<?x2x?x4xf32, #onnx.dims<["b", "2", "p + s", "4"]>>) {
  %w = onnx.weight @table : tensor<32x8xf32>
  %x = onnx.gather %w, %ids : (tensor<32x8xf32>, tensor<?x?xi64, #onnx.dims<["b", "s"]>>) -> tensor<?x?x8xf32, #onnx.dims<["b", "s", "8"]>>
  %heads = onnx.constant dense<[0, 0, 2, 4]> : tensor<4xi64>
  %flat = onnx.constant dense<[0, 0, 8]> : tensor<3xi64>
  %i0 = onnx.constant dense<0> : tensor<i64>
  %i1 = onnx.constant dense<1> : tensor<i64>
  %i2 = onnx.constant dense<2> : tensor<i64>
  %m1 = onnx.constant dense<[-1, 1]> : tensor<2xi64>
  %zero = onnx.constant dense<0.0> : tensor<f32>
  %low = onnx.constant dense<-3.40282347E+38> : tensor<f32>
  %half = onnx.constant dense<0.5> : tensor<f32>
  %h = onnx.reshape %x, %heads : (tensor<?x?x8xf32, #onnx.dims<["b", "s", "8"]>>, tensor<4xi64>) -> tensor<?x?x2x4xf32, #onnx.dims<["b", "s", "2", "4"]>>
  %q = onnx.transpose %h {perm = array<i64: 0, 2, 1, 3>} : (tensor<?x?x2x4xf32, #onnx.dims<["b", "s", "2", "4"]>>) -> tensor<?x2x?x4xf32, #onnx.dims<["b", "2", "s", "4"]>>
  %k = onnx.concat %pk, %q {axis = 2 : i64} : (tensor<?x2x?x4xf32, #onnx.dims<["b", "2", "p", "4"]>>, tensor<?x2x?x4xf32, #onnx.dims<["b", "2", "s", "4"]>>) -> tensor<?x2x?x4xf32, #onnx.dims<["b", "2", "p + s", "4"]>>
  %v = onnx.concat %pv, %q {axis = 2 : i64} : (tensor<?x2x?x4xf32, #onnx.dims<["b", "2", "p", "4"]>>, tensor<?x2x?x4xf32, #onnx.dims<["b", "2", "s", "4"]>>) -> tensor<?x2x?x4xf32, #onnx.dims<["b", "2", "p + s", "4"]>>
  %kt = onnx.transpose %k {perm = array<i64: 0, 1, 3, 2>} : (tensor<?x2x?x4xf32, #onnx.dims<["b", "2", "p + s", "4"]>>) -> tensor<?x2x4x?xf32, #onnx.dims<["b", "2", "4", "p + s"]>>
  %qk = onnx.mat_mul %q, %kt : (tensor<?x2x?x4xf32, #onnx.dims<["b", "2", "s", "4"]>>, tensor<?x2x4x?xf32, #onnx.dims<["b", "2", "4", "p + s"]>>) -> tensor<?x2x?x?xf32, #onnx.dims<["b", "2", "s", "p + s"]>>
  %sh = onnx.shape %ids : (tensor<?x?xi64, #onnx.dims<["b", "s"]>>) -> tensor<2xi64>
  %len = onnx.gather %sh, %i1 : (tensor<2xi64>, tensor<i64>) -> tensor<i64>
  %psh = onnx.shape %pk : (tensor<?x2x?x4xf32, #onnx.dims<["b", "2", "p", "4"]>>) -> tensor<4xi64>
  %past = onnx.gather %psh, %i2 : (tensor<4xi64>, tensor<i64>) -> tensor<i64>
  %total = onnx.add %past, %len : (tensor<i64>, tensor<i64>) -> tensor<i64>
  %keys = onnx.range %i0, %total, %i1 : (tensor<i64>, tensor<i64>, tensor<i64>) -> tensor<?xi64, #onnx.dims<["p + s"]>>
  %qpos = onnx.range %past, %total, %i1 : (tensor<i64>, tensor<i64>, tensor<i64>) -> tensor<?xi64, #onnx.dims<["s"]>>
  %rows = onnx.reshape %qpos, %m1 : (tensor<?xi64, #onnx.dims<["s"]>>, tensor<2xi64>) -> tensor<?x1xi64, #onnx.dims<["s", "1"]>>
  %causal = onnx.less_or_equal %keys, %rows : (tensor<?xi64, #onnx.dims<["p + s"]>>, tensor<?x1xi64, #onnx.dims<["s", "1"]>>) -> tensor<?x?xi1, #onnx.dims<["s", "p + s"]>>
  %w3 = onnx.constant dense<3> : tensor<i64>
  %not3 = onnx.equal %keys, %w3 : (tensor<?xi64, #onnx.dims<["p + s"]>>, tensor<i64>) -> tensor<?xi1, #onnx.dims<["p + s"]>>
  %yes = onnx.not %not3 : (tensor<?xi1, #onnx.dims<["p + s"]>>) -> tensor<?xi1, #onnx.dims<["p + s"]>>
  %see = onnx.and %causal, %yes : (tensor<?x?xi1, #onnx.dims<["s", "p + s"]>>, tensor<?xi1, #onnx.dims<["p + s"]>>) -> tensor<?x?xi1, #onnx.dims<["s", "p + s"]>>
  %add = onnx.where %see, %zero, %low : (tensor<?x?xi1, #onnx.dims<["s", "p + s"]>>, tensor<f32>, tensor<f32>) -> tensor<?x?xf32, #onnx.dims<["s", "p + s"]>>
  %sc = onnx.mul %qk, %half : (tensor<?x2x?x?xf32, #onnx.dims<["b", "2", "s", "p + s"]>>, tensor<f32>) -> tensor<?x2x?x?xf32, #onnx.dims<["b", "2", "s", "p + s"]>>
  %masked = onnx.add %sc, %add : (tensor<?x2x?x?xf32, #onnx.dims<["b", "2", "s", "p + s"]>>, tensor<?x?xf32, #onnx.dims<["s", "p + s"]>>) -> tensor<?x2x?x?xf32, #onnx.dims<["b", "2", "s", "p + s"]>>
  %p = onnx.softmax %masked : (tensor<?x2x?x?xf32, #onnx.dims<["b", "2", "s", "p + s"]>>) -> tensor<?x2x?x?xf32, #onnx.dims<["b", "2", "s", "p + s"]>>
  %o = onnx.mat_mul %p, %v : (tensor<?x2x?x?xf32, #onnx.dims<["b", "2", "s", "p + s"]>>, tensor<?x2x?x4xf32, #onnx.dims<["b", "2", "p + s", "4"]>>) -> tensor<?x2x?x4xf32, #onnx.dims<["b", "2", "s", "4"]>>
  %ot = onnx.transpose %o {perm = array<i64: 0, 2, 1, 3>} : (tensor<?x2x?x4xf32, #onnx.dims<["b", "2", "s", "4"]>>) -> tensor<?x?x2x4xf32, #onnx.dims<["b", "s", "2", "4"]>>
  %y = onnx.reshape %ot, %flat : (tensor<?x?x2x4xf32, #onnx.dims<["b", "s", "2", "4"]>>, tensor<3xi64>) -> tensor<?x?x8xf32, #onnx.dims<["b", "s", "8"]>>
  return %y, %k, %v : tensor<?x?x8xf32, #onnx.dims<["b", "s", "8"]>>, tensor<?x2x?x4xf32, #onnx.dims<["b", "2", "p + s", "4"]>>, tensor<?x2x?x4xf32, #onnx.dims<["b", "2", "p + s", "4"]>>
}
