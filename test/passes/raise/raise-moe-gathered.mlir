// RUN: llmc-opt %s -split-input-file --llmc-raise-moe | FileCheck %s
// Products with matrices that a choice gathers become llm.experts of the chosen
// ones; gathers of another choice do not.

llm.source @src.r : tensor<4x8xf32> {file = 0, offset = 0, length = 128}
llm.weight @w.r : tensor<4x8xf32> [#llm.piece<source = @src.r, begin = 0, count = 4>]
// CHECK-LABEL: func.func @main
func.func @main(%ids: tensor<?x?xi64, #onnx.dims<["batch", "sequence"]>> {onnx.name = "input_ids"}) -> tensor<?x8xf32> {
  %two = onnx.constant dense<2> : tensor<1xi64>
  %last = onnx.constant dense<-1> : tensor<1xi64>
  %one = onnx.constant dense<1> : tensor<1xi64>
  %rows = onnx.constant dense<[-1, 8]> : tensor<2xi64>
  %twice = onnx.constant dense<[1, 2, 1]> : tensor<3xi64>
  %pairs = onnx.constant dense<[-1, 2, 8]> : tensor<3xi64>
  %wu = onnx.constant dense<0.5> : tensor<4x6x8xf32>
  %wd = onnx.constant dense<0.25> : tensor<4x6x8xf32>
  // CHECK: %[[X:.*]] = llm.embed
  %x = llm.embed %ids, @w.r : (tensor<?x?xi64, #onnx.dims<["batch", "sequence"]>>) -> tensor<?x?x8xf32>
  %r = llm.linear %x, @w.r : (tensor<?x?x8xf32>) -> tensor<?x?x4xf32>
  %four = onnx.constant dense<[-1, 4]> : tensor<2xi64>
  %rf = onnx.reshape %r, %four : (tensor<?x?x4xf32>, tensor<2xi64>) -> tensor<?x4xf32>
  %v, %i = onnx.top_k %rf, %two : (tensor<?x4xf32>, tensor<1xi64>) -> (tensor<?x2xf32>, tensor<?x2xi64>)
  %i1 = onnx.reshape %i, %last : (tensor<?x2xi64>, tensor<1xi64>) -> tensor<?xi64>
  %flat = onnx.reshape %x, %rows : (tensor<?x?x8xf32>, tensor<2xi64>) -> tensor<?x8xf32>
  %tall = onnx.unsqueeze %flat, %one : (tensor<?x8xf32>, tensor<1xi64>) -> tensor<?x1x8xf32>
  %wide = onnx.expand %tall, %twice : (tensor<?x1x8xf32>, tensor<3xi64>) -> tensor<?x2x8xf32>
  %copies = onnx.reshape %wide, %rows : (tensor<?x2x8xf32>, tensor<2xi64>) -> tensor<?x8xf32>
  %column = onnx.unsqueeze %copies, %last : (tensor<?x8xf32>, tensor<1xi64>) -> tensor<?x8x1xf32>
  %mu = onnx.gather %wu, %i1 : (tensor<4x6x8xf32>, tensor<?xi64>) -> tensor<?x6x8xf32>
  %u = onnx.mat_mul %mu, %column : (tensor<?x6x8xf32>, tensor<?x8x1xf32>) -> tensor<?x6x1xf32, #onnx.dims<["2*batch*sequence", "6", "1"]>>
  %us = onnx.squeeze %u, %last : (tensor<?x6x1xf32, #onnx.dims<["2*batch*sequence", "6", "1"]>>, tensor<1xi64>) -> tensor<?x6xf32, #onnx.dims<["2*batch*sequence", "6"]>>
  %a = onnx.sigmoid %us : (tensor<?x6xf32, #onnx.dims<["2*batch*sequence", "6"]>>) -> tensor<?x6xf32>
  %row = onnx.unsqueeze %a, %one : (tensor<?x6xf32>, tensor<1xi64>) -> tensor<?x1x6xf32>
  %md = onnx.gather %wd, %i1 : (tensor<4x6x8xf32>, tensor<?xi64>) -> tensor<?x6x8xf32>
  %d = onnx.mat_mul %row, %md : (tensor<?x1x6xf32>, tensor<?x6x8xf32>) -> tensor<?x1x8xf32, #onnx.dims<["2*batch*sequence", "1", "8"]>>
  %ds = onnx.squeeze %d, %one : (tensor<?x1x8xf32, #onnx.dims<["2*batch*sequence", "1", "8"]>>, tensor<1xi64>) -> tensor<?x8xf32>
  %v1 = onnx.reshape %v, %last : (tensor<?x2xf32>, tensor<1xi64>) -> tensor<?xf32>
  %vu = onnx.unsqueeze %v1, %last : (tensor<?xf32>, tensor<1xi64>) -> tensor<?x1xf32>
  %y = onnx.mul %ds, %vu : (tensor<?x8xf32>, tensor<?x1xf32>) -> tensor<?x8xf32>
  %yp = onnx.reshape %y, %pairs : (tensor<?x8xf32>, tensor<3xi64>) -> tensor<?x2x8xf32>
  // CHECK: %[[R:.*]] = onnx.reduce_sum
  // CHECK: %[[U:.*]] = llm.experts %[[X]], %[[R]], @{{.*}} {slots = 2 : i64}
  // CHECK: %[[A:.*]] = onnx.sigmoid %[[U]]
  // CHECK: llm.experts %[[A]], %[[R]], @{{.*}} {combine, slots = 2 : i64}
  // CHECK-NOT: onnx.mat_mul
  %sum = onnx.reduce_sum %yp, %one {keepdims = 0 : i64} : (tensor<?x2x8xf32>, tensor<1xi64>) -> tensor<?x8xf32>
  return %sum : tensor<?x8xf32>
}

// -----
// The last matrices are those of the worst experts.
llm.source @src.r : tensor<4x8xf32> {file = 0, offset = 0, length = 128}
llm.weight @w.r : tensor<4x8xf32> [#llm.piece<source = @src.r, begin = 0, count = 4>]
// CHECK-LABEL: func.func @main
// CHECK-NOT: llm.experts
func.func @main(%ids: tensor<?x?xi64> {onnx.name = "input_ids"}) -> tensor<?x8xf32> {
  %one = onnx.constant dense<1> : tensor<1xi64>
  %last = onnx.constant dense<-1> : tensor<1xi64>
  %rows = onnx.constant dense<[-1, 8]> : tensor<2xi64>
  %four = onnx.constant dense<[-1, 4]> : tensor<2xi64>
  %wu = onnx.constant dense<0.5> : tensor<4x6x8xf32>
  %wd = onnx.constant dense<0.25> : tensor<4x6x8xf32>
  %x = llm.embed %ids, @w.r : (tensor<?x?xi64>) -> tensor<?x?x8xf32>
  %r = llm.linear %x, @w.r : (tensor<?x?x8xf32>) -> tensor<?x?x4xf32>
  %rf = onnx.reshape %r, %four : (tensor<?x?x4xf32>, tensor<2xi64>) -> tensor<?x4xf32>
  %v, %i = onnx.top_k %rf, %one : (tensor<?x4xf32>, tensor<1xi64>) -> (tensor<?x1xf32>, tensor<?x1xi64>)
  %w, %j = onnx.top_k %rf, %one {largest = 0 : i64} : (tensor<?x4xf32>, tensor<1xi64>) -> (tensor<?x1xf32>, tensor<?x1xi64>)
  %i1 = onnx.reshape %i, %last : (tensor<?x1xi64>, tensor<1xi64>) -> tensor<?xi64>
  %j1 = onnx.reshape %j, %last : (tensor<?x1xi64>, tensor<1xi64>) -> tensor<?xi64>
  %flat = onnx.reshape %x, %rows : (tensor<?x?x8xf32>, tensor<2xi64>) -> tensor<?x8xf32>
  %column = onnx.unsqueeze %flat, %last : (tensor<?x8xf32>, tensor<1xi64>) -> tensor<?x8x1xf32>
  %mu = onnx.gather %wu, %i1 : (tensor<4x6x8xf32>, tensor<?xi64>) -> tensor<?x6x8xf32>
  %u = onnx.mat_mul %mu, %column : (tensor<?x6x8xf32>, tensor<?x8x1xf32>) -> tensor<?x6x1xf32>
  %us = onnx.squeeze %u, %last : (tensor<?x6x1xf32>, tensor<1xi64>) -> tensor<?x6xf32>
  %row = onnx.unsqueeze %us, %one : (tensor<?x6xf32>, tensor<1xi64>) -> tensor<?x1x6xf32>
  %md = onnx.gather %wd, %j1 : (tensor<4x6x8xf32>, tensor<?xi64>) -> tensor<?x6x8xf32>
  %d = onnx.mat_mul %row, %md : (tensor<?x1x6xf32>, tensor<?x6x8xf32>) -> tensor<?x1x8xf32>
  %vu = onnx.unsqueeze %v, %last : (tensor<?x1xf32>, tensor<1xi64>) -> tensor<?x1x1xf32>
  %y = onnx.mul %d, %vu : (tensor<?x1x8xf32>, tensor<?x1x1xf32>) -> tensor<?x1x8xf32>
  %sum = onnx.reduce_sum %y, %one {keepdims = 0 : i64} : (tensor<?x1x8xf32>, tensor<1xi64>) -> tensor<?x8xf32>
  return %sum : tensor<?x8xf32>
}
