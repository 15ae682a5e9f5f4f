// RUN: llmc-opt %s -split-input-file --llmc-expand-fused -verify-diagnostics | FileCheck %s
// Fused attention and rotary ops become products, softmax, slices and masks; caches of fixed size or of codes grow.

// A rotation by given rows.
// CHECK-LABEL: func.func @main
// CHECK-NOT: rotary
// CHECK: onnx.gather %arg1
// CHECK: onnx.concat {{.*}} {axis = -1 : i64} : {{.*}} -> tensor<1x2x3x8xf32
func.func @main(%x: tensor<1x2x3x8xf32>, %c: tensor<9x4xf32>, %s: tensor<9x4xf32>, %p: tensor<1x3xi64>) -> tensor<*xf32> {
  %y = onnx.rotary_embedding %x, %c, %s, %p : (tensor<1x2x3x8xf32>, tensor<9x4xf32>, tensor<9x4xf32>, tensor<1x3xi64>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}

// -----
// A quantised buffer of 16 rows becomes a cache of floats that grows, whose new rows are rounded as its codes are; lengths are noted.
// CHECK-LABEL: func.func @main
// CHECK-SAME: %arg1: tensor<1x2x?x16xf32, #onnx.dims<["1", "2", "past_sequence_length", "16"]>>
// CHECK-SAME: %arg3: tensor<1xi32> {llm.length = "last"}
// CHECK: onnx.div %{{.*}}, %arg5
// CHECK: onnx.round
// CHECK: onnx.clip
// CHECK: onnx.mul %{{.*}}, %arg5
// CHECK: onnx.concat %arg1
// CHECK: onnx.softmax
// CHECK-NOT: group_query
func.func @main(%x: tensor<1x3x128xf32>, %pk: tensor<1x2x16x16xi8>, %pv: tensor<1x2x16x16xi8>, %l: tensor<1xi32>, %t: tensor<i32>, %k: tensor<1xf32>) -> (tensor<*xf32>, tensor<*xi8>) {
  %n = onnx.none
  %y:4 = onnx.ms_group_query_attention %x, %n, %n, %pk, %pv, %l, %t, %n, %n, %n, %n, %n, %k, %k, %n, %n, %n {num_heads = 4 : i64, kv_num_heads = 2 : i64, k_quant_type = "PER_TENSOR", v_quant_type = "PER_TENSOR"} : (tensor<1x3x128xf32>, none, none, tensor<1x2x16x16xi8>, tensor<1x2x16x16xi8>, tensor<1xi32>, tensor<i32>, none, none, none, none, none, tensor<1xf32>, tensor<1xf32>, none, none, none) -> (tensor<*xf32>, tensor<*xi8>, tensor<*xi8>, tensor<*xf32>)
  return %y#0, %y#1 : tensor<*xf32>, tensor<*xi8>
}

// -----
// Other ops stay, and so does a graph without fused ones.
// CHECK-LABEL: func.func @main
// CHECK-NEXT: onnx.softmax
func.func @main(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %y = onnx.softmax %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return %y : tensor<2x3xf32>
}

// -----
// What cannot be expressed is an error at the op.
func.func @main(%x: tensor<1x3x16xf32>, %w: tensor<16x48xf32>, %m: tensor<5xi32>) -> tensor<*xf32> {
  %n = onnx.none
  // expected-error @+1 {{a mask of 5 numbers is not supported}}
  %y:2 = onnx.ms_attention %x, %w, %n, %m, %n, %n, %n {num_heads = 2 : i64} : (tensor<1x3x16xf32>, tensor<16x48xf32>, none, tensor<5xi32>, none, none, none) -> (tensor<*xf32>, tensor<*xf32>)
  return %y#0 : tensor<*xf32>
}

// -----
// A fused product is transposes, a product and a factor.
// CHECK-LABEL: func.func @main
// CHECK: %[[A:.*]] = onnx.transpose %arg0 {perm = array<i64: 1, 0, 2>}
// CHECK: %[[B:.*]] = onnx.transpose %arg1 {perm = array<i64: 0, 2, 1>}
// CHECK: %[[P:.*]] = onnx.mat_mul %[[A]], %[[B]]
// CHECK: onnx.mul %[[P]], %{{.*}} -> tensor<2x3x5xf32>
func.func @main(%a: tensor<3x2x4xf32>, %b: tensor<2x5x4xf32>) -> tensor<*xf32> {
  %y = onnx.ms_fused_mat_mul %a, %b {alpha = 2.5e-01 : f32, transB = 1 : i64, transBatchA = 1 : i64} : (tensor<3x2x4xf32>, tensor<2x5x4xf32>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}

// -----
// Sections of positions: each frequency takes the column of its own; interleaved ones while their section lasts.
// CHECK-LABEL: func.func @main
// CHECK-NOT: rotary
// CHECK: onnx.constant dense<[0, 5, 10, 3]> : tensor<4xi64>
func.func @main(%x: tensor<1x2x3x8xf32>, %c: tensor<9x4xf32>, %s: tensor<9x4xf32>, %p: tensor<3x1x3xi64>) -> tensor<*xf32> {
  %y = onnx.ms_m_rotary_embedding %x, %p, %c, %s {mrope_section = array<i64: 2, 1, 1>, mrope_layout = 1 : i64} : (tensor<1x2x3x8xf32>, tensor<3x1x3xi64>, tensor<9x4xf32>, tensor<9x4xf32>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}

// -----
// Angles that come as a value.
// CHECK-LABEL: func.func @main
// CHECK-DAG: onnx.cos %arg0
// CHECK-DAG: onnx.sin %arg0
// CHECK-NOT: rotary
func.func @main(%e: tensor<1x3x8xf32>, %q: tensor<1x2x3x8xf32>, %k: tensor<1x1x3x8xf32>) -> (tensor<*xf32>, tensor<*xf32>) {
  %y:2 = onnx.ms_gemma_rotary_embedding %e, %q, %q, %k, %k : (tensor<1x3x8xf32>, tensor<1x2x3x8xf32>, tensor<1x2x3x8xf32>, tensor<1x1x3x8xf32>, tensor<1x1x3x8xf32>) -> (tensor<*xf32>, tensor<*xf32>)
  return %y#0, %y#1 : tensor<*xf32>, tensor<*xf32>
}

// -----
func.func @main(%x: tensor<1x2x3x8xf32>, %c: tensor<9x4xf32>, %s: tensor<9x4xf32>, %p: tensor<3x1x3xi64>) -> tensor<*xf32> {
  // expected-error @+1 {{mrope_section covers 3 of 4 frequencies}}
  %y = onnx.ms_m_rotary_embedding %x, %p, %c, %s {mrope_section = array<i64: 1, 1, 1>} : (tensor<1x2x3x8xf32>, tensor<3x1x3xi64>, tensor<9x4xf32>, tensor<9x4xf32>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}

// -----

// A caller's blocks say nothing about the sequence.
func.func @main(%x: tensor<?x16xf32>, %past: tensor<?x?x2x4xf32>, %first: tensor<?xi32>, %seen: tensor<?xi32>, %blocks: tensor<?x?xi32>) -> (tensor<?x8xf32>, tensor<2xi64>) {
  %none = onnx.none
  %dims = onnx.shape %blocks : (tensor<?x?xi32>) -> tensor<2xi64>
  // expected-error @+1 {{the graph uses the dims of block_table, which are the caller's and not the sequence's}}
  %y, %k, %v = onnx.ms_paged_attention %x, %none, %none, %past, %past, %first, %seen, %blocks, %none, %none, %none, %none, %none, %none, %none, %none, %none {kv_num_heads = 1 : i64, num_heads = 2 : i64} : (tensor<?x16xf32>, none, none, tensor<?x?x2x4xf32>, tensor<?x?x2x4xf32>, tensor<?xi32>, tensor<?xi32>, tensor<?x?xi32>, none, none, none, none, none, none, none, none, none) -> (tensor<?x8xf32>, tensor<?x?x2x4xf32>, tensor<?x?x2x4xf32>)
  return %y, %dims : tensor<?x8xf32>, tensor<2xi64>
}

// -----

// Values without keys are no cache of another layer.
func.func @main(%x: tensor<1x3x64xf32>, %k: tensor<1x0x32xf32>, %v: tensor<1x3x32xf32>, %past: tensor<1x2x5x16xf32>, %l: tensor<1xi32>, %t: tensor<i32>) -> tensor<*xf32> {
  %n = onnx.none
  // expected-error @+1 {{keys or values have no rows, expected both or none}}
  %y:4 = onnx.ms_group_query_attention %x, %k, %v, %past, %past, %l, %t, %n, %n, %n, %n, %n, %n, %n, %n, %n, %n {num_heads = 4 : i64, kv_num_heads = 2 : i64} : (tensor<1x3x64xf32>, tensor<1x0x32xf32>, tensor<1x3x32xf32>, tensor<1x2x5x16xf32>, tensor<1x2x5x16xf32>, tensor<1xi32>, tensor<i32>, none, none, none, none, none, none, none, none, none, none) -> (tensor<*xf32>, tensor<*xf32>, tensor<*xf32>, tensor<*xf32>)
  return %y#0 : tensor<*xf32>
}
