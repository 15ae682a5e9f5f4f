// RUN: llmc-opt %s -split-input-file --llmc-raise-model | FileCheck %s
// RUN: llmc-opt %s -split-input-file --llmc-raise-model -o /dev/null 2>&1 | FileCheck %s --check-prefix=WARN --implicit-check-not=warning:
// The way from ids to logits becomes the step function; padding, caches and what is not on the way disappear.

llm.source @src.e : tensor<32x8xf32> {file = 0, offset = 0, length = 1024}
llm.weight @w.e : tensor<32x8xf32> [#llm.piece<source = @src.e, begin = 0, count = 32>]
llm.source @src.g : tensor<4xf32> {data = dense<1.0> : tensor<4xf32>}
llm.weight @w.g : tensor<4xf32> [#llm.piece<source = @src.g, begin = 0, count = 4>]
llm.source @src.f : tensor<2xf32> {data = dense<1.0> : tensor<2xf32>}
llm.weight @w.f : tensor<2xf32> [#llm.piece<source = @src.f, begin = 0, count = 2>]
llm.weight @w.unused : tensor<2xf32> [#llm.piece<source = @src.f, begin = 0, count = 2>]
llm.state @l0.kv {kind = "paged_kv", index = 0, kv_heads = 2, head_dim = 4, v_head_dim = 4}

// CHECK: module attributes {llm.model = {hidden = 8 : i64, layers = 1 : i64, vocab = 32 : i64}}
// CHECK: llm.weight @e :
// CHECK-NOT: unused
// CHECK: func.func @step(%[[IDS:.*]]: tensor<?xi32>, %[[POS:.*]]: tensor<?xi32>) -> tensor<?x32xf32>
// CHECK-NOT: @main
func.func @main(%ids: tensor<?x?xi64> {onnx.name = "input_ids"}, %mask: tensor<?x?xi64> {onnx.name = "attention_mask"}, %past: tensor<?x2x?x4xf32> {llm.cache = 0}) -> (tensor<?x1x32xf32> {onnx.name = "logits"}, tensor<?x2x?x4xf32> {llm.cache = 0}) {
  %heads = onnx.constant dense<[0, 0, 2, 4]> : tensor<4xi64>
  %flat = onnx.constant dense<[0, 0, 8]> : tensor<3xi64>
  %two = onnx.constant dense<2.0> : tensor<f32>
  %last = onnx.constant dense<[-1]> : tensor<1xi64>
  %p = llm.padded_positions %ids : (tensor<?x?xi64>) -> tensor<?x?xi64>
  // CHECK: %[[T:.*]] = llm.rope_table %[[POS]] {freq = @f} : (tensor<?xi32>) -> tensor<?x4xf32>
  %t = llm.rope_table %p {freq = @w.f} : (tensor<?x?xi64>) -> tensor<?x?x4xf32>
  // CHECK: %[[X:.*]] = llm.embed %[[IDS]], @e : (tensor<?xi32>) -> tensor<?x8xf32>
  %x = llm.embed %ids, @w.e : (tensor<?x?xi64>) -> tensor<?x?x8xf32>
  // A norm of heads keeps the flat row.
  // CHECK: %[[N:.*]] = llm.norm %[[X]] {eps = {{.*}}, gain = @g, heads = 2 : i64, kind = 1 : i64} : (tensor<?x8xf32>) -> tensor<?x8xf32>
  %h = onnx.reshape %x, %heads : (tensor<?x?x8xf32>, tensor<4xi64>) -> tensor<?x?x2x4xf32>
  %n = llm.norm %h {kind = 1, gain = @w.g, eps = 1.0e-5 : f32} : (tensor<?x?x2x4xf32>) -> tensor<?x?x2x4xf32>
  %f = onnx.reshape %n, %flat : (tensor<?x?x2x4xf32>, tensor<3xi64>) -> tensor<?x?x8xf32>
  // CHECK: %[[Q:.*]] = llm.rope %[[N]], %[[T]]
  %q = llm.rope %f, %t {heads = 2, head_dim = 4, rotary_half = 2} : (tensor<?x?x8xf32>, tensor<?x?x4xf32>) -> tensor<?x?x8xf32>
  // CHECK: llm.kv_write %[[Q]], %[[X]], @l0.kv : tensor<?x8xf32>, tensor<?x8xf32>
  // CHECK: %[[A:.*]] = llm.attention %[[Q]], @l0.kv {heads = 2 : i64, scale = 5.000000e-01 : f32}
  %a = llm.padded_attention %q, %q, %x, @l0.kv {heads = 2, scale = 0.5 : f32} : (tensor<?x?x8xf32>, tensor<?x?x8xf32>, tensor<?x?x8xf32>) -> tensor<?x?x8xf32>
  // CHECK: %[[S:.*]] = llm.scale %[[A]] {factor = 2.000000e+00 : f32}
  %s = onnx.mul %a, %two : (tensor<?x?x8xf32>, tensor<f32>) -> tensor<?x?x8xf32>
  // CHECK: %[[R:.*]] = llm.add %[[X]], %[[S]] : (tensor<?x8xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
  %r = onnx.add %x, %s : (tensor<?x?x8xf32>, tensor<?x?x8xf32>) -> tensor<?x?x8xf32>
  // The last row only, times 2, capped: all of it is llm.logits.
  // CHECK: %[[L:.*]] = llm.logits %[[R]], @e {multiplier = 2.000000e+00 : f32, softcap = 3.000000e+01 : f32}
  // CHECK: return %[[L]]
  %o = onnx.gather %r, %last {axis = 1 : i64} : (tensor<?x?x8xf32>, tensor<1xi64>) -> tensor<?x1x8xf32>
  %l = llm.linear %o, @w.e : (tensor<?x1x8xf32>) -> tensor<?x1x32xf32>
  %cap = onnx.constant dense<30.0> : tensor<f32>
  %l2 = onnx.mul %l, %two : (tensor<?x1x32xf32>, tensor<f32>) -> tensor<?x1x32xf32>
  %d = onnx.div %l2, %cap : (tensor<?x1x32xf32>, tensor<f32>) -> tensor<?x1x32xf32>
  %th = onnx.tanh %d : (tensor<?x1x32xf32>) -> tensor<?x1x32xf32>
  %y = onnx.mul %th, %cap : (tensor<?x1x32xf32>, tensor<f32>) -> tensor<?x1x32xf32>
  return %y, %past : tensor<?x1x32xf32>, tensor<?x2x?x4xf32>
}

// -----
// A slice of everything changes nothing: attention may follow. The last three rows and of them the last are the step's to choose.
llm.source @src.e : tensor<32x8xf32> {file = 0, offset = 0, length = 1024}
llm.weight @w.e : tensor<32x8xf32> [#llm.piece<source = @src.e, begin = 0, count = 32>]
llm.state @l0.kv {kind = "paged_kv", index = 0, kv_heads = 2, head_dim = 4, v_head_dim = 4}

// CHECK: func.func @step(%[[IDS:[a-z0-9]+]]: tensor<?xi32>,
// CHECK-NEXT: %[[X:.*]] = llm.embed %[[IDS]]
// CHECK-NEXT: llm.kv_write %[[X]], %[[X]], @l0.kv
// CHECK-NEXT: %[[A:.*]] = llm.attention %[[X]], @l0.kv
// CHECK-NEXT: llm.logits %[[A]], @e
func.func @main(%ids: tensor<?x?xi64> {onnx.name = "input_ids"}) -> (tensor<?x32xf32> {onnx.name = "logits"}) {
  %none = onnx.none
  %axis = onnx.constant dense<[1]> : tensor<1xi64>
  %minus2 = onnx.constant dense<[-2]> : tensor<1xi64>
  %zero = onnx.constant dense<[0]> : tensor<1xi64>
  %one = onnx.constant dense<[1]> : tensor<1xi64>
  %three = onnx.constant dense<[-3]> : tensor<1xi64>
  %last = onnx.constant dense<-1> : tensor<i64>
  %open32 = onnx.constant dense<[2147483647]> : tensor<1xi64>
  %open = onnx.constant dense<[9223372036854775807]> : tensor<1xi64>
  %x = llm.embed %ids, @w.e : (tensor<?x?xi64>) -> tensor<?x?x8xf32>
  %all = onnx.slice %x, %zero, %open, %axis, %one : (tensor<?x?x8xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<?x?x8xf32>
  %a = llm.padded_attention %all, %all, %all, @l0.kv {heads = 2, scale = 0.5 : f32} : (tensor<?x?x8xf32>, tensor<?x?x8xf32>, tensor<?x?x8xf32>) -> tensor<?x?x8xf32>
  %s = onnx.slice %a, %three, %open32, %minus2, %none : (tensor<?x?x8xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>, none) -> tensor<?x?x8xf32>
  %o = onnx.gather %s, %last {axis = 1 : i64} : (tensor<?x?x8xf32>, tensor<i64>) -> tensor<?x8xf32>
  %y = llm.linear %o, @w.e : (tensor<?x8xf32>) -> tensor<?x32xf32>
  return %y : tensor<?x32xf32>
}

// -----
// Outputs besides logits and caches are left out.
llm.source @src.e : tensor<32x8xf32> {file = 0, offset = 0, length = 1024}
llm.weight @w.e : tensor<32x8xf32> [#llm.piece<source = @src.e, begin = 0, count = 32>]
llm.state @l0.kv {kind = "paged_kv", index = 0, kv_heads = 2, head_dim = 4, v_head_dim = 4}

// CHECK: func.func @step({{.*}}) -> tensor<?x32xf32> {
// WARN: warning: 2 of 4 outputs are neither logits nor caches and are left out: 'hidden', '3'
func.func @main(%ids: tensor<?x?xi64> {onnx.name = "input_ids"}, %past: tensor<?x2x?x4xf32> {llm.cache = 0}) -> (tensor<?x?x8xf32> {onnx.name = "hidden"}, tensor<?x?x32xf32> {onnx.name = "logits"}, tensor<?x2x?x4xf32> {onnx.name = "present", llm.cache = 0}, tensor<?x?x8xf32>) {
  %x = llm.embed %ids, @w.e : (tensor<?x?xi64>) -> tensor<?x?x8xf32>
  %a = llm.padded_attention %x, %x, %x, @l0.kv {heads = 2, scale = 0.5 : f32} : (tensor<?x?x8xf32>, tensor<?x?x8xf32>, tensor<?x?x8xf32>) -> tensor<?x?x8xf32>
  %y = llm.linear %a, @w.e : (tensor<?x?x8xf32>) -> tensor<?x?x32xf32>
  return %a, %y, %past, %x : tensor<?x?x8xf32>, tensor<?x?x32xf32>, tensor<?x2x?x4xf32>, tensor<?x?x8xf32>
}
