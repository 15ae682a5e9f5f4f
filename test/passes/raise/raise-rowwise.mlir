// RUN: llmc-opt %s -split-input-file --llmc-raise-rowwise | FileCheck %s
// RUN: llmc-opt %s -split-input-file --llmc-raise-rowwise --remarks-filter=raise --remark-policy=all --remark-format=emitRemark -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK
// Functions of single rows that no recogniser knows become one llm.rowwise; what mixes tokens stays.

llm.source @src.w : tensor<16x16xf32> {file = 0, offset = 0, length = 1024}
llm.weight @w.w : tensor<16x16xf32> [#llm.piece<source = @src.w, begin = 0, count = 16>]
// All between the products is one program of three inputs: a sum, too, where one side of it has no token rows yet.
// REMARK: 'llm.rowwise': llm.rowwise of 6 steps
// CHECK-LABEL: func.func @main
func.func @main(%ids: tensor<?x?xi64> {onnx.name = "input_ids"}) -> tensor<?x?x16xf32> {
  %c = onnx.constant dense<2.0> : tensor<f32>
  %last = onnx.constant dense<-1> : tensor<1xi64>
  %x = llm.embed %ids, @w.w : (tensor<?x?xi64>) -> tensor<?x?x16xf32>
  // CHECK: %[[X:.*]] = llm.embed
  // CHECK: %[[H:.*]] = llm.linear %[[X]], @w.w :
  // CHECK: %[[G:.*]] = llm.linear %[[X]], @w.w {activation = 1 : i64}
  %h = llm.linear %x, @w.w : (tensor<?x?x16xf32>) -> tensor<?x?x16xf32>
  %g = llm.linear %x, @w.w {activation = 1 : i64} : (tensor<?x?x16xf32>) -> tensor<?x?x16xf32>
  %a = onnx.abs %h : (tensor<?x?x16xf32>) -> tensor<?x?x16xf32>
  %m = onnx.reduce_max %a, %last : (tensor<?x?x16xf32>, tensor<1xi64>) -> tensor<?x?x1xf32>
  %d = onnx.div %h, %m : (tensor<?x?x16xf32>, tensor<?x?x1xf32>) -> tensor<?x?x16xf32>
  %e = onnx.exp %g : (tensor<?x?x16xf32>) -> tensor<?x?x16xf32>
  %y = onnx.mul %d, %e : (tensor<?x?x16xf32>, tensor<?x?x16xf32>) -> tensor<?x?x16xf32>
  // CHECK-NEXT: %[[S:.*]] = llm.rowwise %[[H]], %[[G]], %[[X]] {count = 6 : i64, program = @w.rowwise, scratch = {{.*}}} : (tensor<?x?x16xf32>, tensor<?x?x16xf32>, tensor<?x?x16xf32>) -> tensor<?x?x16xf32>
  %s = onnx.add %y, %x : (tensor<?x?x16xf32>, tensor<?x?x16xf32>) -> tensor<?x?x16xf32>
  // CHECK-NEXT: llm.linear %[[S]]
  %o = llm.linear %s, @w.w : (tensor<?x?x16xf32>) -> tensor<?x?x16xf32>
  return %o : tensor<?x?x16xf32>
}

// -----
// Rows turned into heads and back: moves along the features are part of it.
// REMARK: 'llm.rowwise': llm.rowwise of {{[0-9]+}} steps
llm.source @src.w : tensor<16x16xf32> {file = 0, offset = 0, length = 1024}
llm.weight @w.w : tensor<16x16xf32> [#llm.piece<source = @src.w, begin = 0, count = 16>]
// CHECK-LABEL: func.func @main
func.func @main(%ids: tensor<?x?xi64, #onnx.dims<["batch", "sequence"]>> {onnx.name = "input_ids"}) -> tensor<?x?x16xf32> {
  %heads = onnx.constant dense<[0, 0, 4, 4]> : tensor<4xi64>
  %flat = onnx.constant dense<[0, 0, 16]> : tensor<3xi64>
  %x = llm.embed %ids, @w.w : (tensor<?x?xi64, #onnx.dims<["batch", "sequence"]>>) -> tensor<?x?x16xf32>
  %h = onnx.reshape %x, %heads : (tensor<?x?x16xf32>, tensor<4xi64>) -> tensor<?x?x4x4xf32, #onnx.dims<["batch", "sequence", "4", "4"]>>
  %t = onnx.transpose %h {perm = array<i64: 0, 1, 3, 2>} : (tensor<?x?x4x4xf32, #onnx.dims<["batch", "sequence", "4", "4"]>>) -> tensor<?x?x4x4xf32, #onnx.dims<["batch", "sequence", "4", "4"]>>
  %f = onnx.reshape %t, %flat : (tensor<?x?x4x4xf32, #onnx.dims<["batch", "sequence", "4", "4"]>>, tensor<3xi64>) -> tensor<?x?x16xf32>
  %y = onnx.softmax %f {axis = -1} : (tensor<?x?x16xf32>) -> tensor<?x?x16xf32>
  // CHECK-NOT: onnx.transpose
  // CHECK-NOT: onnx.softmax
  // CHECK: llm.rowwise
  // CHECK-NEXT: llm.linear
  %o = llm.linear %y, @w.w : (tensor<?x?x16xf32>) -> tensor<?x?x16xf32>
  return %o : tensor<?x?x16xf32>
}

// -----
// A sum over the tokens is no function of single rows.
llm.source @src.w : tensor<16x16xf32> {file = 0, offset = 0, length = 1024}
llm.weight @w.w : tensor<16x16xf32> [#llm.piece<source = @src.w, begin = 0, count = 16>]
// REMARK: 'onnx.mul': it is no function of single rows
// CHECK-LABEL: func.func @main
func.func @main(%ids: tensor<?x?xi64> {onnx.name = "input_ids"}) -> tensor<?x?x16xf32> {
  %axis = onnx.constant dense<1> : tensor<1xi64>
  %x = llm.embed %ids, @w.w : (tensor<?x?xi64>) -> tensor<?x?x16xf32>
  %m = onnx.reduce_mean %x, %axis : (tensor<?x?x16xf32>, tensor<1xi64>) -> tensor<?x1x16xf32>
  // CHECK-NOT: llm.rowwise
  // CHECK: onnx.mul
  %y = onnx.mul %x, %m : (tensor<?x?x16xf32>, tensor<?x1x16xf32>) -> tensor<?x?x16xf32>
  // CHECK-NOT: llm.rowwise
  %o = llm.linear %y, @w.w : (tensor<?x?x16xf32>) -> tensor<?x?x16xf32>
  return %o : tensor<?x?x16xf32>
}
