// RUN: llmc-opt %s -split-input-file -llmc-fuse-gate-up --remarks-filter=fusion --remark-policy=all --remark-format=emitRemark 2>%t | FileCheck %s
// RUN: FileCheck %s --check-prefix=REMARK < %t
// RUN: llmc-opt %s -split-input-file -llmc-fuse-gate-up -llmc-fuse-gate-up | FileCheck %s
// Gate and up product with GLU become one llm.linear with rows interleaved per 16.

llm.source @a : tensor<32x32xf32> {file = 1, offset = 0, length = 4096}
llm.source @b : tensor<32x32xf32> {file = 1, offset = 4096, length = 4096}
llm.weight @mlp.gate : tensor<32x32xf32> [#llm.piece<source = @a, begin = 0, count = 32, transposed = true>]
llm.weight @mlp.up : tensor<32x32xf32> [#llm.piece<source = @b, begin = 0, count = 32, transposed = true>]
// CHECK-NOT: @mlp.gate
// CHECK: llm.weight @mlp.gate_up : tensor<64x32xf32>
// CHECK-SAME: [#llm.piece<source = @a, begin = 0, count = 16, transposed = true>, #llm.piece<source = @b, begin = 0, count = 16, transposed = true>,
// CHECK-SAME:  #llm.piece<source = @a, begin = 16, count = 16, transposed = true>, #llm.piece<source = @b, begin = 16, count = 16, transposed = true>]
// CHECK-LABEL: func.func @fires
// CHECK-NEXT: llm.linear %arg0, @mlp.gate_up {glu = 1 : i64} : (tensor<?x32xf32>) -> tensor<?x32xf32>
// CHECK-NEXT: return
// REMARK: [Passed] fuse-gate-up
// REMARK-SAME: Nodes="/gate, /up, /Mul"
func.func @fires(%x: tensor<?x32xf32>) -> tensor<?x32xf32> {
  %g = llm.linear %x, @mlp.gate : (tensor<?x32xf32>) -> tensor<?x32xf32> loc("/gate")
  %u = llm.linear %x, @mlp.up : (tensor<?x32xf32>) -> tensor<?x32xf32> loc("/up")
  %h = llm.glu %g, %u {kind = 1 : i64} : (tensor<?x32xf32>, tensor<?x32xf32>) -> tensor<?x32xf32> loc("/Mul")
  return %h : tensor<?x32xf32>
}

// -----
// Slices of one fused source matrix are such products, too; biases interleave as well.
llm.source @a : tensor<32x32xf32> {file = 1, offset = 0, length = 4096}
llm.source @c : tensor<32xf32> {file = 1, offset = 4096, length = 128}
llm.weight @gate : tensor<16x32xf32> [#llm.piece<source = @a, begin = 0, count = 16>]
llm.weight @up : tensor<16x32xf32> [#llm.piece<source = @a, begin = 16, count = 16>]
llm.weight @gate.b : tensor<16xf32> [#llm.piece<source = @c, begin = 0, count = 16>]
llm.weight @up.b : tensor<16xf32> [#llm.piece<source = @c, begin = 16, count = 16>]
// CHECK: llm.weight @gate_up : tensor<32x32xf32> [#llm.piece<source = @a, begin = 0, count = 32>]
// CHECK: llm.weight @gate_up_bias : tensor<32xf32> [#llm.piece<source = @c, begin = 0, count = 32>]
// CHECK-LABEL: func.func @slices
// CHECK-NEXT: llm.linear %arg0, @gate_up {bias = @gate_up_bias, glu = 3 : i64}
func.func @slices(%x: tensor<?x32xf32>) -> tensor<?x16xf32> {
  %g = llm.linear %x, @gate {bias = @gate.b} : (tensor<?x32xf32>) -> tensor<?x16xf32>
  %u = llm.linear %x, @up {bias = @up.b} : (tensor<?x32xf32>) -> tensor<?x16xf32>
  %h = llm.glu %g, %u {kind = 3 : i64} : (tensor<?x16xf32>, tensor<?x16xf32>) -> tensor<?x16xf32>
  return %h : tensor<?x16xf32>
}

// -----
// An n that is no multiple of 16 must not be interleaved.
llm.source @a : tensor<24x32xf32> {file = 1, offset = 0, length = 3072}
llm.weight @gate : tensor<24x32xf32> [#llm.piece<source = @a, begin = 0, count = 24>]
// CHECK-LABEL: func.func @odd
// CHECK: llm.glu
// REMARK: [Missed] fuse-gate-up
// REMARK-SAME: Reason="n is 24, not a multiple of 16"
func.func @odd(%x: tensor<?x32xf32>) -> tensor<?x24xf32> {
  %g = llm.linear %x, @gate : (tensor<?x32xf32>) -> tensor<?x24xf32>
  %u = llm.linear %x, @gate : (tensor<?x32xf32>) -> tensor<?x24xf32>
  %h = llm.glu %g, %u {kind = 1 : i64} : (tensor<?x24xf32>, tensor<?x24xf32>) -> tensor<?x24xf32>
  return %h : tensor<?x24xf32>
}

// -----
// Products of different rows, or with other users, must not be joined.
llm.source @a : tensor<16x32xf32> {file = 1, offset = 0, length = 2048}
llm.weight @gate : tensor<16x32xf32> [#llm.piece<source = @a, begin = 0, count = 16>]
// CHECK-LABEL: func.func @other_rows
// CHECK-COUNT-2: llm.glu
// REMARK: [Missed] fuse-gate-up
// REMARK-SAME: Reason="gate and up are products of different rows"
// REMARK: [Missed] fuse-gate-up
// REMARK-SAME: Reason="the product of up has other users"
func.func @other_rows(%x: tensor<?x32xf32>, %y: tensor<?x32xf32>) -> (tensor<?x16xf32>, tensor<?x16xf32>, tensor<?x16xf32>) {
  %g = llm.linear %x, @gate : (tensor<?x32xf32>) -> tensor<?x16xf32>
  %u = llm.linear %y, @gate : (tensor<?x32xf32>) -> tensor<?x16xf32>
  %h = llm.glu %g, %u {kind = 1 : i64} : (tensor<?x16xf32>, tensor<?x16xf32>) -> tensor<?x16xf32>
  %g2 = llm.linear %x, @gate : (tensor<?x32xf32>) -> tensor<?x16xf32>
  %u2 = llm.linear %x, @gate : (tensor<?x32xf32>) -> tensor<?x16xf32>
  %h2 = llm.glu %g2, %u2 {kind = 1 : i64} : (tensor<?x16xf32>, tensor<?x16xf32>) -> tensor<?x16xf32>
  return %h, %h2, %u2 : tensor<?x16xf32>, tensor<?x16xf32>, tensor<?x16xf32>
}

// -----
// Where exporters have numbered the weights, the nodes give the new name.
llm.source @a : tensor<16x32xf32> {file = 1, offset = 0, length = 2048}
llm.weight @MatMul_1 : tensor<16x32xf32> [#llm.piece<source = @a, begin = 0, count = 16>]
llm.weight @MatMul_2 : tensor<16x32xf32> [#llm.piece<source = @a, begin = 0, count = 16>]
// CHECK: llm.weight @layers.3.mlp.gate_up :
func.func @named(%x: tensor<?x32xf32>) -> tensor<?x16xf32> {
  %g = llm.linear %x, @MatMul_1 : (tensor<?x32xf32>) -> tensor<?x16xf32> loc("/layers.3/mlp/gate_proj/MatMul")
  %u = llm.linear %x, @MatMul_2 : (tensor<?x32xf32>) -> tensor<?x16xf32> loc("/layers.3/mlp/up_proj/MatMul")
  %h = llm.glu %g, %u {kind = 1 : i64} : (tensor<?x16xf32>, tensor<?x16xf32>) -> tensor<?x16xf32>
  return %h : tensor<?x16xf32>
}
