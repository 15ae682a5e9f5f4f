// RUN: llmc-opt %s -split-input-file --llmc-raise-kv-cache --llmc-raise-state | FileCheck %s
// Short convolutions and linear attention keep their state in the sequence; a convolution over something else stays.

llm.source @src.w : tensor<8x8xf32> {file = 0, offset = 0, length = 256}
llm.weight @w.w : tensor<8x8xf32> [#llm.piece<source = @src.w, begin = 0, count = 8>]
// CHECK: llm.state @conv0 {head_dim = 4 : i64, index = 0 : i64, kind = "paged_rows", kv_heads = 1 : i64, v_head_dim = 4 : i64}
// CHECK-LABEL: func.func @main
// CHECK-SAME: %[[PAST:.*]]: tensor<?x8x1xf32> {llm.cache = 0 : i64}
func.func @main(%ids: tensor<?x?xi64> {onnx.name = "input_ids"}, %past: tensor<?x8x1xf32>) -> (tensor<?x?x8xf32>, tensor<?x8x1xf32>) {
  %none = onnx.none
  %w = onnx.constant dense<0.5> : tensor<8x1x2xf32>
  %x = llm.embed %ids, @w.w : (tensor<?x?xi64>) -> tensor<?x?x8xf32>
  %t = onnx.transpose %x {perm = array<i64: 0, 2, 1>} : (tensor<?x?x8xf32>) -> tensor<?x8x?xf32>
  // CHECK: %[[ROWS:.*]] = onnx.transpose %{{.*}} {perm = array<i64: 0, 2, 1>} : (tensor<?x8x?xf32>) -> tensor<?x?x8xf32>
  // CHECK: llm.causal_conv %[[ROWS]], @conv0 {activation = 1 : i64, taps = 2 : i64, weight = @{{.*}}} : (tensor<?x?x8xf32>) -> tensor<?x?x8xf32>
  %y, %present = onnx.causal_conv_with_state %t, %w, %none, %past {activation = "silu"} : (tensor<?x8x?xf32>, tensor<8x1x2xf32>, none, tensor<?x8x1xf32>) -> (tensor<?x8x?xf32>, tensor<?x8x1xf32>)
  %b = onnx.transpose %y {perm = array<i64: 0, 2, 1>} : (tensor<?x8x?xf32>) -> tensor<?x?x8xf32>
  return %b, %present : tensor<?x?x8xf32>, tensor<?x8x1xf32>
}

// -----
llm.source @src.w : tensor<8x8xf32> {file = 0, offset = 0, length = 256}
llm.weight @w.w : tensor<8x8xf32> [#llm.piece<source = @src.w, begin = 0, count = 8>]
// CHECK: llm.state @record0 {head_dim = 4 : i64, index = 0 : i64, kind = "record", kv_heads = 2 : i64, v_head_dim = 4 : i64}
// CHECK-LABEL: func.func @main
func.func @main(%ids: tensor<?x?xi64> {onnx.name = "input_ids"}, %past: tensor<?x2x4x4xf32>) -> (tensor<?x?x8xf32>, tensor<?x2x4x4xf32>) {
  %none = onnx.none
  %x = llm.embed %ids, @w.w : (tensor<?x?xi64>) -> tensor<?x?x8xf32>
  // Without gates the scale is 1 / sqrt of the keys' size.
  // CHECK: llm.linear_attention %{{.*}}, %{{.*}}, %{{.*}}, @record0 {heads = 2 : i64, scale = 5.000000e-01 : f32}
  %y, %present = onnx.linear_attention %x, %x, %x, %past, %none, %none {q_num_heads = 2 : i64, kv_num_heads = 2 : i64, update_rule = "linear"} : (tensor<?x?x8xf32>, tensor<?x?x8xf32>, tensor<?x?x8xf32>, tensor<?x2x4x4xf32>, none, none) -> (tensor<?x?x8xf32>, tensor<?x2x4x4xf32>)
  return %y, %present : tensor<?x?x8xf32>, tensor<?x2x4x4xf32>
}
