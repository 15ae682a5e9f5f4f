// RUN: llmc-opt %s -llmc-fuse-epilogue --remarks-filter=fusion --remark-policy=all --remark-format=emitRemark 2>%t | FileCheck %s
// RUN: FileCheck %s --check-prefix=REMARK < %t
// RUN: llmc-opt %s -llmc-fuse-epilogue -llmc-fuse-epilogue | FileCheck %s
// Activation and residual addition move into the product before them, if nothing else reads it.

llm.source @a : tensor<32x32xf32> {file = 1, offset = 0, length = 4096}
llm.weight @w : tensor<32x32xf32> [#llm.piece<source = @a, begin = 0, count = 32>]
llm.weight @w2 : tensor<32x32xf32> [#llm.piece<source = @a, begin = 0, count = 32>]

// CHECK-LABEL: func.func @residual
// CHECK-NEXT: llm.linear %arg0 residual %arg1, @w :
// CHECK-NEXT: return
// REMARK: [Passed] fuse-epilogue
// REMARK-SAME: Nodes="/o/MatMul, /Add"
func.func @residual(%a: tensor<?x32xf32>, %x: tensor<?x32xf32>) -> tensor<?x32xf32> {
  %y = llm.linear %a, @w : (tensor<?x32xf32>) -> tensor<?x32xf32> loc("/o/MatMul")
  %z = llm.add %x, %y : (tensor<?x32xf32>, tensor<?x32xf32>) -> tensor<?x32xf32> loc("/Add")
  return %z : tensor<?x32xf32>
}

// The residual may come after the product.
// CHECK-LABEL: func.func @later_residual
// CHECK-NEXT: %[[R:.*]] = llm.scale
// CHECK-NEXT: llm.linear %arg0 residual %[[R]], @w
func.func @later_residual(%a: tensor<?x32xf32>) -> tensor<?x32xf32> {
  %y = llm.linear %a, @w : (tensor<?x32xf32>) -> tensor<?x32xf32>
  %r = llm.scale %a {factor = 2.0 : f32} : (tensor<?x32xf32>) -> tensor<?x32xf32>
  %z = llm.add %y, %r : (tensor<?x32xf32>, tensor<?x32xf32>) -> tensor<?x32xf32>
  return %z : tensor<?x32xf32>
}

// Attention and feed-forward in parallel: both additions find a product.
// CHECK-LABEL: func.func @parallel
// CHECK-NEXT: %[[A:.*]] = llm.linear %arg0 residual %arg2, @w :
// CHECK-NEXT: %[[B:.*]] = llm.linear %arg1 residual %[[A]], @w2 :
// CHECK-NEXT: return %[[B]]
func.func @parallel(%a: tensor<?x32xf32>, %h: tensor<?x32xf32>, %x: tensor<?x32xf32>) -> tensor<?x32xf32> {
  %o = llm.linear %a, @w : (tensor<?x32xf32>) -> tensor<?x32xf32>
  %t = llm.add %o, %x : (tensor<?x32xf32>, tensor<?x32xf32>) -> tensor<?x32xf32>
  %d = llm.linear %h, @w2 : (tensor<?x32xf32>) -> tensor<?x32xf32>
  %y = llm.add %t, %d : (tensor<?x32xf32>, tensor<?x32xf32>) -> tensor<?x32xf32>
  return %y : tensor<?x32xf32>
}

// CHECK-LABEL: func.func @activation
// CHECK-NEXT: llm.linear %arg0 residual %arg0, @w {activation = 2 : i64}
// CHECK-NEXT: return
func.func @activation(%a: tensor<?x32xf32>) -> tensor<?x32xf32> {
  %y = llm.linear %a, @w : (tensor<?x32xf32>) -> tensor<?x32xf32>
  %z = llm.activation %y {kind = 2 : i64} : (tensor<?x32xf32>) -> tensor<?x32xf32>
  %s = llm.add %z, %a : (tensor<?x32xf32>, tensor<?x32xf32>) -> tensor<?x32xf32>
  return %s : tensor<?x32xf32>
}

// Must not fire: the residual comes first, and the product has another user.
// CHECK-LABEL: func.func @must_not
// CHECK-NEXT: llm.linear %arg0 residual %arg0, @w :
// CHECK-NEXT: llm.activation
// CHECK-NEXT: %[[O:.*]] = llm.linear %{{.*}}, @w2 :
// CHECK-NEXT: llm.add
// REMARK: [Missed] fuse-epilogue
// REMARK-SAME: Nodes=/Act, Reason="the product has an epilogue"
// REMARK: [Missed] fuse-epilogue
// REMARK-SAME: Nodes=/Add2, Reason="the product has other users"
func.func @must_not(%a: tensor<?x32xf32>) -> (tensor<?x32xf32>, tensor<?x32xf32>) {
  %y = llm.linear %a, @w : (tensor<?x32xf32>) -> tensor<?x32xf32>
  %s = llm.add %y, %a : (tensor<?x32xf32>, tensor<?x32xf32>) -> tensor<?x32xf32>
  %z = llm.activation %s {kind = 2 : i64} : (tensor<?x32xf32>) -> tensor<?x32xf32> loc("/Act")
  %o = llm.linear %z, @w2 : (tensor<?x32xf32>) -> tensor<?x32xf32>
  %p = llm.add %o, %a : (tensor<?x32xf32>, tensor<?x32xf32>) -> tensor<?x32xf32> loc("/Add2")
  return %p, %o : tensor<?x32xf32>, tensor<?x32xf32>
}

// Both sides of an addition are the same product: it has two uses.
// CHECK-LABEL: func.func @twice
// CHECK: llm.add
func.func @twice(%a: tensor<?x32xf32>) -> tensor<?x32xf32> {
  %y = llm.linear %a, @w : (tensor<?x32xf32>) -> tensor<?x32xf32>
  %s = llm.add %y, %y : (tensor<?x32xf32>, tensor<?x32xf32>) -> tensor<?x32xf32>
  return %s : tensor<?x32xf32>
}
