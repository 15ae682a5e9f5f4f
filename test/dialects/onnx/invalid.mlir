// RUN: llmc-opt %s -split-input-file -verify-diagnostics
// Verifiers of the onnx dialect; each message carries the tag of its constraint.

// expected-error @+1 {{C1: dims has 1 expressions, the tensor 2 dims}}
func.func private @dims_c1(tensor<?x?xf32, #onnx.dims<["a"]>>)
// -----
// expected-error @+1 {{C2: static dim 4 has expression 'a'}}
func.func private @dims_c2(tensor<4xf32, #onnx.dims<["a"]>>)
// -----
// expected-error @+1 {{C1: type has dynamic dims}}
onnx.weight_data @weight_data_c1 file 0 offset 0 length 4 : tensor<?xf32>
// -----
// expected-error @+1 {{C2: offset 0, length 4, expected length 8}}
onnx.weight_data @weight_data_c2 file 0 offset 0 length 4 : tensor<2xf32>
// -----
// expected-error @+1 {{C3: file -1 is negative}}
onnx.weight_data @weight_data_c3 file -1 offset 0 length 2 : tensor<3xi4>
// -----
func.func @weight_c1() {
  // expected-error @+1 {{C1: no onnx.weight_data @w}}
  %0 = onnx.weight @w : tensor<2xf32>
  return
}
// -----
onnx.weight_data @w file 0 offset 0 length 8 : tensor<2xf32>
func.func @weight_c2() {
  // expected-error @+1 {{C2: is 'tensor<3xf32>', its data 'tensor<2xf32>'}}
  %0 = onnx.weight @w : tensor<3xf32>
  return
}
// -----
func.func @constant_c1() {
  // expected-error @+1 {{C1: is 'tensor<3xi64>', its value 'tensor<2xi64>'}}
  %0 = onnx.constant dense<1> : tensor<2xi64> -> tensor<3xi64>
  return
}
// -----
func.func @if_c1(%c: tensor<i1>, %x: tensor<f32>) {
  // expected-error @+1 {{C1: branch 1 yields 0 values, expected 1}}
  %0 = onnx.if %c {
    onnx.yield %x : tensor<f32>
  } else {
    onnx.yield
  } : (tensor<i1>) -> tensor<f32>
  return
}
// -----
func.func @axis(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{axis 2 is outside [-2, 2) for rank 2}}
  %0 = onnx.softmax %x {axis = 2} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}
// -----
func.func @axis_may_be_rank(%x: tensor<2x3xf32>) {
  %0 = onnx.flatten %x {axis = 2} : (tensor<2x3xf32>) -> tensor<6x1xf32>
  return
}
// -----
func.func @perm(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{perm is not a permutation: 0}}
  %0 = onnx.transpose %x {perm = array<i64: 0, 0>} : (tensor<2x3xf32>) -> tensor<*xf32>
  return
}
// -----
func.func @perm_size(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{perm has 3 entries, expected 2}}
  %0 = onnx.transpose %x {perm = array<i64: 0, 1, 2>} : (tensor<2x3xf32>) -> tensor<*xf32>
  return
}
// -----
func.func @choice(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{none or tanh}}
  %0 = onnx.gelu %x {approximate = "erf"} : (tensor<2x3xf32>) -> tensor<*xf32>
  return
}
// -----
func.func @flag(%x: tensor<2x3xf32>, %n: none) {
  // expected-error @+1 {{keepdims}}
  %0 = onnx.reduce_sum %x, %n {keepdims = 2} : (tensor<2x3xf32>, none) -> tensor<*xf32>
  return
}
// -----
func.func @concat_of_nothing() {
  // expected-error @+1 {{has 0 inputs, expected at least 1}}
  %0 = onnx.concat {axis = 0} : () -> tensor<*xf32>
  return
}
// -----
func.func @attention_c1(%x: tensor<1x2x3x4xf32>, %n: none) {
  // expected-error @+1 {{C1: one of past_key and past_value is absent}}
  %0:4 = onnx.attention %x, %x, %x, %n, %x, %n, %n : (tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>, none, tensor<1x2x3x4xf32>, none, none) -> (tensor<*xf32>, tensor<*xf32>, tensor<*xf32>, tensor<*xf32>)
  return
}
// -----
func.func @attention_c2(%x: tensor<1x2x3x4xf32>, %n: none, %len: tensor<1xi64>) {
  // expected-error @+1 {{C2: both past_key and nonpad_kv_seqlen are given}}
  %0:4 = onnx.attention %x, %x, %x, %n, %x, %x, %len : (tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>, none, tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>, tensor<1xi64>) -> (tensor<*xf32>, tensor<*xf32>, tensor<*xf32>, tensor<*xf32>)
  return
}
// -----
func.func @attention_c3(%x: tensor<1x3x12xf32>, %n: none) {
  // expected-error @+1 {{C3: q_num_heads 3 is no positive multiple of kv_num_heads 2}}
  %0:4 = onnx.attention %x, %x, %x, %n, %n, %n, %n {q_num_heads = 3, kv_num_heads = 2} : (tensor<1x3x12xf32>, tensor<1x3x12xf32>, tensor<1x3x12xf32>, none, none, none, none) -> (tensor<*xf32>, tensor<*xf32>, tensor<*xf32>, tensor<*xf32>)
  return
}
// -----
func.func @attention_window(%x: tensor<1x2x3x4xf32>, %n: none) {
  // expected-error @+1 {{left_window_size}}
  %0:4 = onnx.attention %x, %x, %x, %n, %n, %n, %n {left_window_size = -2} : (tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>, none, none, none, none) -> (tensor<*xf32>, tensor<*xf32>, tensor<*xf32>, tensor<*xf32>)
  return
}
// -----
func.func @linear_attention_c1(%x: tensor<1x3x12xf32>, %n: none) {
  // expected-error @+1 {{C1: q_num_heads 4 is no positive multiple of kv_num_heads 0}}
  %0:2 = onnx.linear_attention %x, %x, %x, %n, %n, %n {q_num_heads = 4, kv_num_heads = 0, update_rule = "linear"} : (tensor<1x3x12xf32>, tensor<1x3x12xf32>, tensor<1x3x12xf32>, none, none, none) -> (tensor<*xf32>, tensor<*xf32>)
  return
}
