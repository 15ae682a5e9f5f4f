// RUN: llmc-opt %s -split-input-file --llmc-raise-moe | FileCheck %s
// Sums of experts of one form become llm.experts of the chosen ones; others stay.

llm.source @src.r : tensor<2x8xf32> {file = 0, offset = 0, length = 64}
llm.weight @w.r : tensor<2x8xf32> [#llm.piece<source = @src.r, begin = 0, count = 2>]
llm.source @src.u0 : tensor<16x8xf32> {file = 0, offset = 64, length = 512}
llm.weight @w.u0 : tensor<16x8xf32> [#llm.piece<source = @src.u0, begin = 0, count = 16>]
llm.source @src.u1 : tensor<16x8xf32> {file = 0, offset = 576, length = 512}
llm.weight @w.u1 : tensor<16x8xf32> [#llm.piece<source = @src.u1, begin = 0, count = 16>]
llm.source @src.d0 : tensor<8x16xf32> {file = 0, offset = 1088, length = 512}
llm.weight @w.d0 : tensor<8x16xf32> [#llm.piece<source = @src.d0, begin = 0, count = 8>]
llm.source @src.d1 : tensor<8x16xf32> {file = 0, offset = 1600, length = 512}
llm.weight @w.d1 : tensor<8x16xf32> [#llm.piece<source = @src.d1, begin = 0, count = 8>]
// CHECK-DAG: llm.weight @[[UP:.*]] : tensor<32x8xf32> [#llm.piece<source = @src.u0, begin = 0, count = 16>, #llm.piece<source = @src.u1, begin = 0, count = 16>]
// CHECK-DAG: llm.weight @[[DOWN:.*]] : tensor<16x16xf32> [#llm.piece<source = @src.d0, begin = 0, count = 8>, #llm.piece<source = @src.d1, begin = 0, count = 8>]
// CHECK-LABEL: func.func @main
func.func @main(%ids: tensor<?x?xi64> {onnx.name = "input_ids"}) -> tensor<?x?x8xf32> {
  %one = onnx.constant dense<1> : tensor<1xi64>
  %last = onnx.constant dense<-1> : tensor<1xi64>
  %e0 = onnx.constant dense<0> : tensor<i64>
  %e1 = onnx.constant dense<1> : tensor<i64>
  // CHECK: %[[X:.*]] = llm.embed
  %x = llm.embed %ids, @w.u0 : (tensor<?x?xi64>) -> tensor<?x?x8xf32>
  %r = llm.linear %x, @w.r : (tensor<?x?x8xf32>) -> tensor<?x?x2xf32>
  %v, %i = onnx.top_k %r, %one : (tensor<?x?x2xf32>, tensor<1xi64>) -> (tensor<?x?x1xf32>, tensor<?x?x1xi64>)
  %s = onnx.sigmoid %v : (tensor<?x?x1xf32>) -> tensor<?x?x1xf32>
  %q0 = onnx.equal %i, %e0 : (tensor<?x?x1xi64>, tensor<i64>) -> tensor<?x?x1xi1>
  %f0 = onnx.cast %q0 {to = f32} : (tensor<?x?x1xi1>) -> tensor<?x?x1xf32>
  %w0 = onnx.mul %s, %f0 : (tensor<?x?x1xf32>, tensor<?x?x1xf32>) -> tensor<?x?x1xf32>
  %q1 = onnx.equal %i, %e1 : (tensor<?x?x1xi64>, tensor<i64>) -> tensor<?x?x1xi1>
  %f1 = onnx.cast %q1 {to = f32} : (tensor<?x?x1xi1>) -> tensor<?x?x1xf32>
  %w1 = onnx.mul %s, %f1 : (tensor<?x?x1xf32>, tensor<?x?x1xf32>) -> tensor<?x?x1xf32>
  %u0 = llm.linear %x, @w.u0 : (tensor<?x?x8xf32>) -> tensor<?x?x16xf32>
  %a0 = llm.activation %u0 {kind = 1 : i64} : (tensor<?x?x16xf32>) -> tensor<?x?x16xf32>
  %d0 = llm.linear %a0, @w.d0 : (tensor<?x?x16xf32>) -> tensor<?x?x8xf32>
  %y0 = onnx.mul %d0, %w0 : (tensor<?x?x8xf32>, tensor<?x?x1xf32>) -> tensor<?x?x8xf32>
  %u1 = llm.linear %x, @w.u1 : (tensor<?x?x8xf32>) -> tensor<?x?x16xf32>
  %a1 = llm.activation %u1 {kind = 1 : i64} : (tensor<?x?x16xf32>) -> tensor<?x?x16xf32>
  %d1 = llm.linear %a1, @w.d1 : (tensor<?x?x16xf32>) -> tensor<?x?x8xf32>
  %y1 = onnx.mul %w1, %d1 : (tensor<?x?x1xf32>, tensor<?x?x8xf32>) -> tensor<?x?x8xf32>
  // CHECK: %[[R:.*]] = onnx.concat %{{.*}}, %{{.*}} {axis = 2 : i64}
  // CHECK: %[[U:.*]] = llm.experts %[[X]], %[[R]], @[[UP]] {slots = 1 : i64}
  // CHECK: %[[A:.*]] = llm.activation %[[U]]
  // CHECK: %[[Y:.*]] = llm.experts %[[A]], %[[R]], @[[DOWN]] {combine, slots = 1 : i64}
  // The residual is added to the whole.
  // CHECK: onnx.add %[[X]], %[[Y]]
  %sum = onnx.add %y0, %y1 : (tensor<?x?x8xf32>, tensor<?x?x8xf32>) -> tensor<?x?x8xf32>
  %out = onnx.add %x, %sum : (tensor<?x?x8xf32>, tensor<?x?x8xf32>) -> tensor<?x?x8xf32>
  return %out : tensor<?x?x8xf32>
}

// -----
// Two experts of different form are no layer of experts.
llm.source @src.u0 : tensor<8x8xf32> {file = 0, offset = 64, length = 256}
llm.weight @w.u0 : tensor<8x8xf32> [#llm.piece<source = @src.u0, begin = 0, count = 8>]
llm.source @src.r : tensor<1x8xf32> {file = 0, offset = 0, length = 32}
llm.weight @w.r : tensor<1x8xf32> [#llm.piece<source = @src.r, begin = 0, count = 1>]
// CHECK-LABEL: func.func @main
// CHECK-NOT: llm.experts
func.func @main(%ids: tensor<?x?xi64> {onnx.name = "input_ids"}) -> tensor<?x?x8xf32> {
  %x = llm.embed %ids, @w.u0 : (tensor<?x?xi64>) -> tensor<?x?x8xf32>
  %w = llm.linear %x, @w.r : (tensor<?x?x8xf32>) -> tensor<?x?x1xf32>
  %u0 = llm.linear %x, @w.u0 : (tensor<?x?x8xf32>) -> tensor<?x?x8xf32>
  %a0 = llm.activation %u0 {kind = 1 : i64} : (tensor<?x?x8xf32>) -> tensor<?x?x8xf32>
  %d0 = llm.linear %a0, @w.u0 : (tensor<?x?x8xf32>) -> tensor<?x?x8xf32>
  %y0 = onnx.mul %d0, %w : (tensor<?x?x8xf32>, tensor<?x?x1xf32>) -> tensor<?x?x8xf32>
  %a1 = llm.activation %u0 {kind = 4 : i64} : (tensor<?x?x8xf32>) -> tensor<?x?x8xf32>
  %d1 = llm.linear %a1, @w.u0 : (tensor<?x?x8xf32>) -> tensor<?x?x8xf32>
  %y1 = onnx.mul %d1, %w : (tensor<?x?x8xf32>, tensor<?x?x1xf32>) -> tensor<?x?x8xf32>
  %sum = onnx.add %y0, %y1 : (tensor<?x?x8xf32>, tensor<?x?x8xf32>) -> tensor<?x?x8xf32>
  return %sum : tensor<?x?x8xf32>
}
