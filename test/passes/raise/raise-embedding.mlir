// RUN: llmc-opt %s -split-input-file --llmc-raise-embedding --remarks-filter=raise --remark-policy=all --remark-format=emitRemark 2>&1 | FileCheck %s
// The Gather of a table by the token ids becomes llm.embed, with the scale that follows; one by positions does not.

onnx.weight_data @table file 0 offset 0 length 2048 : tensor<32x16xf32>
onnx.weight_data @places file 0 offset 2048 length 4096 : tensor<64x16xf32>

// CHECK: remark: [Missed] raise-embedding {{.*}} indices are not the token input
// CHECK: remark: [Missed] raise-embedding {{.*}} indices are not the positions
// CHECK-LABEL: func.func @main
func.func @main(%pos: tensor<?x?xi64> {onnx.name = "position_ids"}, %ids: tensor<?x?xi32> {onnx.name = "input_ids"}) -> (tensor<?x?x16xf32>, tensor<?x?x16xf32>) {
  %scale = onnx.constant dense<4.0> : tensor<f32>
  %t = onnx.weight @table : tensor<32x16xf32>
  %p = onnx.weight @places : tensor<64x16xf32>
  %c = onnx.cast %ids {to = i64} : (tensor<?x?xi32>) -> tensor<?x?xi64>
  // CHECK: %[[X:.*]] = llm.embed %{{.*}}, @w.table {scale = 4.000000e+00 : f32}
  %g = onnx.gather %t, %c : (tensor<32x16xf32>, tensor<?x?xi64>) -> tensor<?x?x16xf32>
  %x = onnx.mul %scale, %g : (tensor<f32>, tensor<?x?x16xf32>) -> tensor<?x?x16xf32>
  // CHECK: %[[Y:.*]] = onnx.gather
  %y = onnx.gather %p, %pos : (tensor<64x16xf32>, tensor<?x?xi64>) -> tensor<?x?x16xf32>
  // CHECK: return %[[X]], %[[Y]]
  return %x, %y : tensor<?x?x16xf32>, tensor<?x?x16xf32>
}

// -----
// A table of positions, two rows further on, that is added to token rows; one whose indices are something else is left.
// CHECK: llm.weight @w.places.2 : tensor<62x16xf32> [#llm.piece<source = @src.places, begin = 2, count = 62>]
// CHECK-LABEL: func.func @main
onnx.weight_data @table file 0 offset 0 length 2048 : tensor<32x16xf32>
onnx.weight_data @places file 0 offset 2048 length 4096 : tensor<64x16xf32>
func.func @main(%pos: tensor<?x?xi64, #onnx.dims<["b", "s"]>> {onnx.name = "position_ids"}, %ids: tensor<?x?xi64, #onnx.dims<["b", "s"]>> {onnx.name = "input_ids"}) -> (tensor<?x?x16xf32>, tensor<?x?x16xf32>) {
  %two = onnx.constant dense<2> : tensor<i64>
  %t = onnx.weight @table : tensor<32x16xf32>
  %p = onnx.weight @places : tensor<64x16xf32>
  // CHECK: %[[X:.*]] = llm.embed %arg1, @w.table
  %x = onnx.gather %t, %ids : (tensor<32x16xf32>, tensor<?x?xi64, #onnx.dims<["b", "s"]>>) -> tensor<?x?x16xf32>
  // CHECK: %[[P:.*]] = llm.padded_positions %arg1
  // CHECK: %[[E:.*]] = llm.embed %[[P]], @w.places.2
  %next = onnx.add %pos, %two : (tensor<?x?xi64, #onnx.dims<["b", "s"]>>, tensor<i64>) -> tensor<?x?xi64, #onnx.dims<["b", "s"]>>
  %e = onnx.gather %p, %next : (tensor<64x16xf32>, tensor<?x?xi64, #onnx.dims<["b", "s"]>>) -> tensor<?x?x16xf32>
  // CHECK: %[[Y:.*]] = onnx.add %[[X]], %[[E]]
  %y = onnx.add %x, %e : (tensor<?x?x16xf32>, tensor<?x?x16xf32>) -> tensor<?x?x16xf32>
  // CHECK: onnx.gather
  %twice = onnx.mul %pos, %two : (tensor<?x?xi64, #onnx.dims<["b", "s"]>>, tensor<i64>) -> tensor<?x?xi64, #onnx.dims<["b", "s"]>>
  %f = onnx.gather %p, %twice : (tensor<64x16xf32>, tensor<?x?xi64, #onnx.dims<["b", "s"]>>) -> tensor<?x?x16xf32>
  %z = onnx.add %x, %f : (tensor<?x?x16xf32>, tensor<?x?x16xf32>) -> tensor<?x?x16xf32>
  // CHECK: return %[[Y]]
  return %y, %z : tensor<?x?x16xf32>, tensor<?x?x16xf32>
}
