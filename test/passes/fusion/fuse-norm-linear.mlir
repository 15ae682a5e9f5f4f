// RUN: llmc-opt %s -llmc-fuse-norm-linear --remarks-filter=fusion --remark-policy=all --remark-format=emitRemark 2>%t | FileCheck %s
// RUN: FileCheck %s --check-prefix=REMARK < %t
// RUN: llmc-opt %s -llmc-fuse-norm-linear -llmc-fuse-norm-linear | FileCheck %s
// Moves a norm into the prologue of its users when all of them are products that take it.

llm.source @a : tensor<32x32xf32> {file = 1, offset = 0, length = 4096}
llm.source @b : tensor<32xf32> {file = 1, offset = 4096, length = 128}
llm.weight @w : tensor<32x32xf32> [#llm.piece<source = @a, begin = 0, count = 32>]
llm.weight @g : tensor<32xf32> [#llm.piece<source = @b, begin = 0, count = 32>]
llm.weight @g2 : tensor<2xf32> [#llm.piece<source = @b, begin = 0, count = 2>]

// CHECK-LABEL: func.func @all_users
// CHECK-NEXT: llm.linear %arg0, @w {eps = {{.*}} : f32, gain = @g, norm = 1 : i64}
// CHECK-NEXT: llm.logits %arg0, @w {eps = {{.*}} : f32, gain = @g, norm = 1 : i64}
// REMARK: [Passed] fuse-norm-linear
// REMARK-SAME: Nodes="/norm, /a"
// REMARK: [Passed] fuse-norm-linear
// REMARK-SAME: Nodes="/norm, /b"
func.func @all_users(%x: tensor<?x32xf32>) -> (tensor<?x32xf32>, tensor<?x32xf32>) {
  %n = llm.norm %x {kind = 1 : i64, gain = @g, eps = 1.0e-5 : f32} : (tensor<?x32xf32>) -> tensor<?x32xf32> loc("/norm")
  %y = llm.linear %n, @w : (tensor<?x32xf32>) -> tensor<?x32xf32> loc("/a")
  %z = llm.logits %n, @w : (tensor<?x32xf32>) -> tensor<?x32xf32> loc("/b")
  return %y, %z : tensor<?x32xf32>, tensor<?x32xf32>
}

// CHECK-LABEL: func.func @layer_norm
// CHECK-NEXT: llm.linear %arg0, @w {eps = {{.*}} : f32, gain = @g, norm = 2 : i64, norm_bias = @g}
func.func @layer_norm(%x: tensor<?x32xf32>) -> tensor<?x32xf32> {
  %n = llm.norm %x {kind = 2 : i64, gain = @g, bias = @g, eps = 1.0e-5 : f32} : (tensor<?x32xf32>) -> tensor<?x32xf32>
  %y = llm.linear %n, @w : (tensor<?x32xf32>) -> tensor<?x32xf32>
  return %y : tensor<?x32xf32>
}

// One user that is no product keeps the norm where it is.
// CHECK-LABEL: func.func @other_user
// CHECK-NEXT: %[[N:.*]] = llm.norm
// CHECK-NEXT: llm.linear %[[N]], @w :
// REMARK: [Missed] fuse-norm-linear
// REMARK-SAME: Nodes=/norm3, Reason="a user cannot take it: /Add"
func.func @other_user(%x: tensor<?x32xf32>) -> tensor<?x32xf32> {
  %n = llm.norm %x {kind = 1 : i64, gain = @g, eps = 1.0e-5 : f32} : (tensor<?x32xf32>) -> tensor<?x32xf32> loc("/norm3")
  %y = llm.linear %n, @w : (tensor<?x32xf32>) -> tensor<?x32xf32>
  %z = llm.add %n, %y : (tensor<?x32xf32>, tensor<?x32xf32>) -> tensor<?x32xf32> loc("/Add")
  return %z : tensor<?x32xf32>
}

// A norm that is the residual, too, or that norms each head, must stay.
// CHECK-LABEL: func.func @residual_user
// CHECK-NEXT: llm.norm
// CHECK-LABEL: func.func @per_head
// CHECK-NEXT: llm.norm
// REMARK: [Missed] fuse-norm-linear
// REMARK: [Missed] fuse-norm-linear
// REMARK-SAME: Reason="it norms each head"
func.func @residual_user(%x: tensor<?x32xf32>) -> tensor<?x32xf32> {
  %n = llm.norm %x {kind = 1 : i64, eps = 1.0e-5 : f32} : (tensor<?x32xf32>) -> tensor<?x32xf32>
  %y = llm.linear %n residual %n, @w : (tensor<?x32xf32>, tensor<?x32xf32>) -> tensor<?x32xf32>
  return %y : tensor<?x32xf32>
}
func.func @per_head(%x: tensor<?x32xf32>) -> tensor<?x32xf32> {
  %n = llm.norm %x {kind = 1 : i64, gain = @g2, eps = 1.0e-5 : f32, heads = 16 : i64} : (tensor<?x32xf32>) -> tensor<?x32xf32>
  %y = llm.linear %n, @w : (tensor<?x32xf32>) -> tensor<?x32xf32>
  return %y : tensor<?x32xf32>
}
