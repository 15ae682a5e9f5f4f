// RUN: llmc-opt %s -split-input-file --llmc-raise-kv-cache --llmc-raise-embedding --llmc-raise-mask 2>%t | FileCheck %s
// RUN: FileCheck %s --check-prefix=WARN < %t
// Files with a cache and without any mask are right for single tokens, and are taken so with a warning: a caller who gives it whole prompts gets what no later token may see.

// WARN: warning: the tokens of a step all see each other at '{{.*}}': taken as a file for steps of one token, prompts too
// CHECK-LABEL: func.func @main
// CHECK: onnx.softmax %{{.*}} {llm.step_tokens = 1 : i64, llm.window = 0 : i64}
onnx.weight_data @table file 0 offset 0 length 1024 : tensor<32x8xf32>
func.func @main(%ids: tensor<?x?xi64, #onnx.dims<["b", "s"]>> {onnx.name = "input_ids"}, %mask: tensor<?x?xi64, #onnx.dims<["b", "t"]>> {onnx.name = "attention_mask"}, %pk: tensor<?x2x?x4xf32, #onnx.dims<["b", "2", "p", "4"]>>, %pv: tensor<?x2x?x4xf32, #onnx.dims<["b", "2", "p", "4"]>>) -> (tensor<?x?x8xf32, #onnx.dims<["b", "s", "8"]>>, tensor<?x2x?x4xf32, #onnx.dims<["b", "2", "p + s", "4"]>>, tensor<?x2x?x4xf32, #onnx.dims<["b", "2", "p + s", "4"]>>) {
  %w = onnx.weight @table : tensor<32x8xf32>
  %x = onnx.gather %w, %ids : (tensor<32x8xf32>, tensor<?x?xi64, #onnx.dims<["b", "s"]>>) -> tensor<?x?x8xf32, #onnx.dims<["b", "s", "8"]>>
  %heads = onnx.constant dense<[0, 0, 2, 4]> : tensor<4xi64>
  %flat = onnx.constant dense<[0, 0, 8]> : tensor<3xi64>
  %half = onnx.constant dense<0.5> : tensor<f32>
  %h = onnx.reshape %x, %heads : (tensor<?x?x8xf32, #onnx.dims<["b", "s", "8"]>>, tensor<4xi64>) -> tensor<?x?x2x4xf32, #onnx.dims<["b", "s", "2", "4"]>>
  %q = onnx.transpose %h {perm = array<i64: 0, 2, 1, 3>} : (tensor<?x?x2x4xf32, #onnx.dims<["b", "s", "2", "4"]>>) -> tensor<?x2x?x4xf32, #onnx.dims<["b", "2", "s", "4"]>>
  %k = onnx.concat %pk, %q {axis = 2 : i64} : (tensor<?x2x?x4xf32, #onnx.dims<["b", "2", "p", "4"]>>, tensor<?x2x?x4xf32, #onnx.dims<["b", "2", "s", "4"]>>) -> tensor<?x2x?x4xf32, #onnx.dims<["b", "2", "p + s", "4"]>>
  %v = onnx.concat %pv, %q {axis = 2 : i64} : (tensor<?x2x?x4xf32, #onnx.dims<["b", "2", "p", "4"]>>, tensor<?x2x?x4xf32, #onnx.dims<["b", "2", "s", "4"]>>) -> tensor<?x2x?x4xf32, #onnx.dims<["b", "2", "p + s", "4"]>>
  %kt = onnx.transpose %k {perm = array<i64: 0, 1, 3, 2>} : (tensor<?x2x?x4xf32, #onnx.dims<["b", "2", "p + s", "4"]>>) -> tensor<?x2x4x?xf32, #onnx.dims<["b", "2", "4", "p + s"]>>
  %qk = onnx.mat_mul %q, %kt : (tensor<?x2x?x4xf32, #onnx.dims<["b", "2", "s", "4"]>>, tensor<?x2x4x?xf32, #onnx.dims<["b", "2", "4", "p + s"]>>) -> tensor<?x2x?x?xf32, #onnx.dims<["b", "2", "s", "p + s"]>>
  %sc = onnx.mul %qk, %half : (tensor<?x2x?x?xf32, #onnx.dims<["b", "2", "s", "p + s"]>>, tensor<f32>) -> tensor<?x2x?x?xf32, #onnx.dims<["b", "2", "s", "p + s"]>>
  %p = onnx.softmax %sc : (tensor<?x2x?x?xf32, #onnx.dims<["b", "2", "s", "p + s"]>>) -> tensor<?x2x?x?xf32, #onnx.dims<["b", "2", "s", "p + s"]>>
  %o = onnx.mat_mul %p, %v : (tensor<?x2x?x?xf32, #onnx.dims<["b", "2", "s", "p + s"]>>, tensor<?x2x?x4xf32, #onnx.dims<["b", "2", "p + s", "4"]>>) -> tensor<?x2x?x4xf32, #onnx.dims<["b", "2", "s", "4"]>>
  %ot = onnx.transpose %o {perm = array<i64: 0, 2, 1, 3>} : (tensor<?x2x?x4xf32, #onnx.dims<["b", "2", "s", "4"]>>) -> tensor<?x?x2x4xf32, #onnx.dims<["b", "s", "2", "4"]>>
  %y = onnx.reshape %ot, %flat : (tensor<?x?x2x4xf32, #onnx.dims<["b", "s", "2", "4"]>>, tensor<3xi64>) -> tensor<?x?x8xf32, #onnx.dims<["b", "s", "8"]>>
  return %y, %k, %v : tensor<?x?x8xf32, #onnx.dims<["b", "s", "8"]>>, tensor<?x2x?x4xf32, #onnx.dims<["b", "2", "p + s", "4"]>>, tensor<?x2x?x4xf32, #onnx.dims<["b", "2", "p + s", "4"]>>
}

// -----
// The same with ALiBi, which hides nothing.
// CHECK-LABEL: func.func @main
// CHECK: onnx.softmax %{{.*}} {llm.slopes = array<f64: 5.000000e-01, 2.500000e-01>, llm.step_tokens = 1 : i64, llm.window = 0 : i64}
onnx.weight_data @table file 0 offset 0 length 1024 : tensor<32x8xf32>
func.func @main(%ids: tensor<?x?xi64, #onnx.dims<["b", "s"]>> {onnx.name = "input_ids"}, %mask: tensor<?x?xi64, #onnx.dims<["b", "t"]>> {onnx.name = "attention_mask"}, %pk: tensor<?x2x?x4xf32, #onnx.dims<["b", "2", "p", "4"]>>, %pv: tensor<?x2x?x4xf32, #onnx.dims<["b", "2", "p", "4"]>>) -> (tensor<?x?x8xf32, #onnx.dims<["b", "s", "8"]>>, tensor<?x2x?x4xf32, #onnx.dims<["b", "2", "p + s", "4"]>>, tensor<?x2x?x4xf32, #onnx.dims<["b", "2", "p + s", "4"]>>) {
  %w = onnx.weight @table : tensor<32x8xf32>
  %x = onnx.gather %w, %ids : (tensor<32x8xf32>, tensor<?x?xi64, #onnx.dims<["b", "s"]>>) -> tensor<?x?x8xf32, #onnx.dims<["b", "s", "8"]>>
  %heads = onnx.constant dense<[0, 0, 2, 4]> : tensor<4xi64>
  %flat = onnx.constant dense<[0, 0, 8]> : tensor<3xi64>
  %i0 = onnx.constant dense<0> : tensor<i64>
  %i1 = onnx.constant dense<1> : tensor<i64>
  %i2 = onnx.constant dense<2> : tensor<i64>
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
  %last = onnx.sub %total, %i1 : (tensor<i64>, tensor<i64>) -> tensor<i64>
  %from = onnx.sub %keys, %last : (tensor<?xi64, #onnx.dims<["p + s"]>>, tensor<i64>) -> tensor<?xi64, #onnx.dims<["p + s"]>>
  %steps = onnx.cast %from {to = f32} : (tensor<?xi64, #onnx.dims<["p + s"]>>) -> tensor<?xf32, #onnx.dims<["p + s"]>>
  %slopes = onnx.constant dense<[[[0.5]], [[0.25]]]> : tensor<2x1x1xf32>
  %add = onnx.mul %slopes, %steps : (tensor<2x1x1xf32>, tensor<?xf32, #onnx.dims<["p + s"]>>) -> tensor<2x1x?xf32, #onnx.dims<["2", "1", "p + s"]>>
  %sc = onnx.mul %qk, %half : (tensor<?x2x?x?xf32, #onnx.dims<["b", "2", "s", "p + s"]>>, tensor<f32>) -> tensor<?x2x?x?xf32, #onnx.dims<["b", "2", "s", "p + s"]>>
  %masked = onnx.add %sc, %add : (tensor<?x2x?x?xf32, #onnx.dims<["b", "2", "s", "p + s"]>>, tensor<2x1x?xf32, #onnx.dims<["2", "1", "p + s"]>>) -> tensor<?x2x?x?xf32, #onnx.dims<["b", "2", "s", "p + s"]>>
  %p = onnx.softmax %masked : (tensor<?x2x?x?xf32, #onnx.dims<["b", "2", "s", "p + s"]>>) -> tensor<?x2x?x?xf32, #onnx.dims<["b", "2", "s", "p + s"]>>
  %o = onnx.mat_mul %p, %v : (tensor<?x2x?x?xf32, #onnx.dims<["b", "2", "s", "p + s"]>>, tensor<?x2x?x4xf32, #onnx.dims<["b", "2", "p + s", "4"]>>) -> tensor<?x2x?x4xf32, #onnx.dims<["b", "2", "s", "4"]>>
  %ot = onnx.transpose %o {perm = array<i64: 0, 2, 1, 3>} : (tensor<?x2x?x4xf32, #onnx.dims<["b", "2", "s", "4"]>>) -> tensor<?x?x2x4xf32, #onnx.dims<["b", "s", "2", "4"]>>
  %y = onnx.reshape %ot, %flat : (tensor<?x?x2x4xf32, #onnx.dims<["b", "s", "2", "4"]>>, tensor<3xi64>) -> tensor<?x?x8xf32, #onnx.dims<["b", "s", "8"]>>
  return %y, %k, %v : tensor<?x?x8xf32, #onnx.dims<["b", "s", "8"]>>, tensor<?x2x?x4xf32, #onnx.dims<["b", "2", "p + s", "4"]>>, tensor<?x2x?x4xf32, #onnx.dims<["b", "2", "p + s", "4"]>>
}
