// RUN: llmc-opt %s -split-input-file --llmc-raise-linear --remarks-filter=raise --remark-policy=all --remark-format=emitRemark 2>&1 | FileCheck %s
// Products with weights become llm.linear in either orientation, with their bias; cuts of fused products become row ranges.

onnx.weight_data @io file 0 offset 0 length 2048 : tensor<16x32xf32>
onnx.weight_data @oi file 0 offset 2048 length 2048 : tensor<32x16xf32>
onnx.weight_data @b file 0 offset 4096 length 128 : tensor<32xf32>
onnx.weight_data @b16 file 0 offset 4096 length 64 : tensor<16xf32>

// CHECK: remark: [Missed] raise-linear {{.*}} transA, alpha or beta is not the default
// CHECK: remark: [Missed] raise-linear {{.*}} rows are not kept apart
// CHECK: llm.weight @w.io : tensor<32x16xf32> [#llm.piece<source = @src.io, begin = 0, count = 32, transposed = true>]
// CHECK: llm.weight @w.oi : tensor<32x16xf32> [#llm.piece<source = @src.oi, begin = 0, count = 32>]
// CHECK: llm.weight @w.io.8 : tensor<24x16xf32> [#llm.piece<source = @src.io, begin = 8, count = 24, transposed = true>]

// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<?x?x16xf32>, %f: tensor<?x16xf32>, %y: tensor<?x?x32xf32>) -> (tensor<?x?x32xf32>, tensor<?x?x32xf32>, tensor<?x32xf32>, tensor<?x?x8xf32>, tensor<?x?x24xf32>, tensor<?x?x8xf32>, tensor<?x32xf32>, tensor<?x?x32xf32>, tensor<?x?x?xf32>) {
  %none = onnx.none
  %io = onnx.weight @io : tensor<16x32xf32>
  %oi = onnx.weight @oi : tensor<32x16xf32>
  %b = onnx.weight @b : tensor<32xf32>

  // [in, out], bias on the left.
  // CHECK: %[[A:.*]] = llm.linear %arg0, @w.io {bias = @w.b}
  %p = onnx.mat_mul %x, %io : (tensor<?x?x16xf32>, tensor<16x32xf32>) -> tensor<?x?x32xf32>
  %with = onnx.add %b, %p : (tensor<32xf32>, tensor<?x?x32xf32>) -> tensor<?x?x32xf32>

  // [out, in] through a transpose; the residual is no bias.
  // CHECK: %[[P:.*]] = llm.linear %arg0, @w.oi : (tensor<?x?x16xf32>)
  // CHECK: %[[B:.*]] = onnx.add %[[P]], %arg2
  %t = onnx.transpose %oi {perm = array<i64: 1, 0>} : (tensor<32x16xf32>) -> tensor<16x32xf32>
  %p2 = onnx.mat_mul %x, %t : (tensor<?x?x16xf32>, tensor<16x32xf32>) -> tensor<?x?x32xf32>
  %residual = onnx.add %p2, %y : (tensor<?x?x32xf32>, tensor<?x?x32xf32>) -> tensor<?x?x32xf32>

  // Gemm with its own bias.
  // CHECK: %[[C:.*]] = llm.linear %arg1, @w.oi {bias = @w.b} : (tensor<?x16xf32>) -> tensor<?x32xf32>
  %gemm = onnx.gemm %f, %oi, %b {transB = 1 : i64} : (tensor<?x16xf32>, tensor<32x16xf32>, tensor<32xf32>) -> tensor<?x32xf32>

  // A fused product that is split, and one that is sliced.
  // CHECK: %[[D:.*]] = llm.linear %arg0, @w.io.0 : {{.*}} -> tensor<?x?x8xf32>
  // CHECK: %[[E:.*]] = llm.linear %arg0, @w.io.8 : {{.*}} -> tensor<?x?x24xf32>
  // CHECK: %[[F:.*]] = llm.linear %arg0, @w.io.24 : {{.*}} -> tensor<?x?x8xf32>
  %fused = onnx.mat_mul %x, %io : (tensor<?x?x16xf32>, tensor<16x32xf32>) -> tensor<?x?x32xf32>
  %sizes = onnx.constant dense<[8, 24]> : tensor<2xi64>
  %q, %k = onnx.split %fused, %sizes {axis = -1 : i64} : (tensor<?x?x32xf32>, tensor<2xi64>) -> (tensor<?x?x8xf32>, tensor<?x?x24xf32>)
  %c24 = onnx.constant dense<24> : tensor<1xi64>
  %c32 = onnx.constant dense<32> : tensor<1xi64>
  %c2 = onnx.constant dense<2> : tensor<1xi64>
  %c1 = onnx.constant dense<1> : tensor<1xi64>
  %slice = onnx.slice %fused, %c24, %c32, %c2, %c1 : (tensor<?x?x32xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<?x?x8xf32>

  // Must not fire: a scaled Gemm, two activations, an unknown number of features.
  // CHECK: onnx.gemm
  %scaled = onnx.gemm %f, %io, %none {alpha = 2.0 : f32} : (tensor<?x16xf32>, tensor<16x32xf32>, none) -> tensor<?x32xf32>
  // CHECK: onnx.mat_mul
  %yt = onnx.transpose %y {perm = array<i64: 0, 2, 1>} : (tensor<?x?x32xf32>) -> tensor<?x32x?xf32>
  %both = onnx.mat_mul %y, %yt : (tensor<?x?x32xf32>, tensor<?x32x?xf32>) -> tensor<?x?x?xf32>

  // CHECK: return %[[A]], %[[B]], %[[C]], %[[D]], %[[E]], %[[F]]
  return %with, %residual, %gemm, %q, %k, %slice, %scaled, %y, %both : tensor<?x?x32xf32>, tensor<?x?x32xf32>, tensor<?x32xf32>, tensor<?x?x8xf32>, tensor<?x?x24xf32>, tensor<?x?x8xf32>, tensor<?x32xf32>, tensor<?x?x32xf32>, tensor<?x?x?xf32>
}

// -----
// Heads that hold their q, k and v of 4 side by side: q is the first of each,
// also behind a transpose. A choice that mixes rows is none.
// CHECK: llm.weight @w.qkv.0 : tensor<8x16xf32> [#llm.piece<source = @src.qkv, begin = 0, count = 4, transposed = true>, #llm.piece<source = @src.qkv, begin = 12, count = 4, transposed = true>]
// CHECK-LABEL: func.func @main
onnx.weight_data @qkv file 0 offset 0 length 1536 : tensor<16x24xf32>
func.func @main(%x: tensor<?x?x16xf32, #onnx.dims<["b", "s", "16"]>> {onnx.name = "x"}) -> (tensor<?x?x2x4xf32, #onnx.dims<["b", "s", "2", "4"]>>, tensor<?x24x4xf32, #onnx.dims<["b", "24", "4"]>>) {
  %w = onnx.weight @qkv : tensor<16x24xf32>
  %0 = onnx.constant dense<0> : tensor<1xi64>
  %1 = onnx.constant dense<1> : tensor<1xi64>
  %2 = onnx.constant dense<2> : tensor<1xi64>
  %3 = onnx.constant dense<3> : tensor<1xi64>
  %4 = onnx.constant dense<4> : tensor<1xi64>
  %heads = onnx.constant dense<[0, 0, 2, 12]> : tensor<4xi64>
  // CHECK: %[[Q:.*]] = llm.linear %arg0, @w.qkv.0 : {{.*}} -> tensor<?x?x8xf32
  // CHECK: %[[H:.*]] = onnx.reshape %[[Q]]
  %p = onnx.mat_mul %x, %w : (tensor<?x?x16xf32, #onnx.dims<["b", "s", "16"]>>, tensor<16x24xf32>) -> tensor<?x?x24xf32, #onnx.dims<["b", "s", "24"]>>
  %h = onnx.reshape %p, %heads : (tensor<?x?x24xf32, #onnx.dims<["b", "s", "24"]>>, tensor<4xi64>) -> tensor<?x?x2x12xf32, #onnx.dims<["b", "s", "2", "12"]>>
  %q = onnx.slice %h, %0, %4, %3, %1 : (tensor<?x?x2x12xf32, #onnx.dims<["b", "s", "2", "12"]>>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<?x?x2x4xf32, #onnx.dims<["b", "s", "2", "4"]>>
  // CHECK: onnx.slice
  %t = onnx.transpose %p {perm = array<i64: 0, 2, 1>} : (tensor<?x?x24xf32, #onnx.dims<["b", "s", "24"]>>) -> tensor<?x24x?xf32, #onnx.dims<["b", "24", "s"]>>
  %mixed = onnx.slice %t, %0, %4, %2, %1 : (tensor<?x24x?xf32, #onnx.dims<["b", "24", "s"]>>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<?x24x4xf32, #onnx.dims<["b", "24", "4"]>>
  // CHECK: return %[[H]]
  return %q, %mixed : tensor<?x?x2x4xf32, #onnx.dims<["b", "s", "2", "4"]>>, tensor<?x24x4xf32, #onnx.dims<["b", "24", "4"]>>
}

// -----
// Halves of heads that are put together again are a rotation at work: not taken apart.
// CHECK-LABEL: func.func @main
onnx.weight_data @q file 0 offset 0 length 1024 : tensor<16x16xf32>
func.func @main(%x: tensor<?x?x16xf32, #onnx.dims<["b", "s", "16"]>> {onnx.name = "x"}) -> tensor<?x?x2x8xf32, #onnx.dims<["b", "s", "2", "8"]>> {
  %w = onnx.weight @q : tensor<16x16xf32>
  %0 = onnx.constant dense<0> : tensor<1xi64>
  %1 = onnx.constant dense<1> : tensor<1xi64>
  %3 = onnx.constant dense<3> : tensor<1xi64>
  %4 = onnx.constant dense<4> : tensor<1xi64>
  %8 = onnx.constant dense<8> : tensor<1xi64>
  %heads = onnx.constant dense<[0, 0, 2, 8]> : tensor<4xi64>
  // CHECK: llm.linear
  // CHECK-NOT: llm.linear
  // CHECK: onnx.slice
  // CHECK: onnx.slice
  %p = onnx.mat_mul %x, %w : (tensor<?x?x16xf32, #onnx.dims<["b", "s", "16"]>>, tensor<16x16xf32>) -> tensor<?x?x16xf32, #onnx.dims<["b", "s", "16"]>>
  %h = onnx.reshape %p, %heads : (tensor<?x?x16xf32, #onnx.dims<["b", "s", "16"]>>, tensor<4xi64>) -> tensor<?x?x2x8xf32, #onnx.dims<["b", "s", "2", "8"]>>
  %lo = onnx.slice %h, %0, %4, %3, %1 : (tensor<?x?x2x8xf32, #onnx.dims<["b", "s", "2", "8"]>>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<?x?x2x4xf32, #onnx.dims<["b", "s", "2", "4"]>>
  %hi = onnx.slice %h, %4, %8, %3, %1 : (tensor<?x?x2x8xf32, #onnx.dims<["b", "s", "2", "8"]>>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<?x?x2x4xf32, #onnx.dims<["b", "s", "2", "4"]>>
  %n = onnx.neg %hi : (tensor<?x?x2x4xf32, #onnx.dims<["b", "s", "2", "4"]>>) -> tensor<?x?x2x4xf32, #onnx.dims<["b", "s", "2", "4"]>>
  %r = onnx.concat %n, %lo {axis = -1 : i64} : (tensor<?x?x2x4xf32, #onnx.dims<["b", "s", "2", "4"]>>, tensor<?x?x2x4xf32, #onnx.dims<["b", "s", "2", "4"]>>) -> tensor<?x?x2x8xf32, #onnx.dims<["b", "s", "2", "8"]>>
  return %r : tensor<?x?x2x8xf32, #onnx.dims<["b", "s", "2", "8"]>>
}
