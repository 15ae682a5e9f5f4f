// RUN: llmc-opt %s -split-input-file --llmc-raise-kv-cache --llmc-raise-embedding --llmc-raise-rope --remarks-filter=raise --remark-policy=all --remark-format=emitRemark 2>&1 | FileCheck %s
// Rotations by positions become llm.rope on flat rows, whatever their spelling; what is no rotation says so.

// CHECK: remark: [Missed] raise-rope {{.*}} it does not compute a rotation of halves or of pairs

// Halves, angles from frequencies, partly rotated heads, scaled tables. B19: width and pairing are part of the op; B20: so are the file's frequencies.
// CHECK: llm.weight @w.rope.freq : tensor<2xf32>
// CHECK-LABEL: func.func @main
onnx.weight_data @table file 0 offset 0 length 2048 : tensor<32x16xf32>
func.func @main(%ids: tensor<?x?xi64, #onnx.dims<["b", "s"]>> {onnx.name = "input_ids"}, %pos: tensor<?x?xi64, #onnx.dims<["b", "s"]>> {onnx.name = "position_ids"}) -> tensor<?x2x?x8xf32, #onnx.dims<["b", "2", "s", "8"]>> {
  // CHECK: %[[T:.*]] = llm.rope_table %arg1 {freq = @w.rope.freq, scaling = 2.000000e+00 : f32} : {{.*}} -> tensor<?x?x4xf32>
  %e = onnx.weight @table : tensor<32x16xf32>
  // CHECK: %[[X:.*]] = llm.embed
  %x = onnx.gather %e, %ids : (tensor<32x16xf32>, tensor<?x?xi64, #onnx.dims<["b", "s"]>>) -> tensor<?x?x16xf32, #onnx.dims<["b", "s", "16"]>>
  %heads = onnx.constant dense<[0, 0, 2, 8]> : tensor<4xi64>
  %0 = onnx.constant dense<0> : tensor<1xi64>
  %1 = onnx.constant dense<1> : tensor<1xi64>
  %2 = onnx.constant dense<2> : tensor<1xi64>
  %3 = onnx.constant dense<3> : tensor<1xi64>
  %4 = onnx.constant dense<4> : tensor<1xi64>
  %8 = onnx.constant dense<8> : tensor<1xi64>
  %freq = onnx.constant dense<[[[1.0], [0.1]]]> : tensor<1x2x1xf32>
  %scale = onnx.constant dense<2.0> : tensor<f32>
  %p1 = onnx.unsqueeze %pos, %1 : (tensor<?x?xi64, #onnx.dims<["b", "s"]>>, tensor<1xi64>) -> tensor<?x1x?xi64, #onnx.dims<["b", "1", "s"]>>
  %pf = onnx.cast %p1 {to = f32} : (tensor<?x1x?xi64, #onnx.dims<["b", "1", "s"]>>) -> tensor<?x1x?xf32, #onnx.dims<["b", "1", "s"]>>
  %a = onnx.mat_mul %freq, %pf : (tensor<1x2x1xf32>, tensor<?x1x?xf32, #onnx.dims<["b", "1", "s"]>>) -> tensor<?x2x?xf32, #onnx.dims<["b", "2", "s"]>>
  %at = onnx.transpose %a {perm = array<i64: 0, 2, 1>} : (tensor<?x2x?xf32, #onnx.dims<["b", "2", "s"]>>) -> tensor<?x?x2xf32, #onnx.dims<["b", "s", "2"]>>
  %aa = onnx.concat %at, %at {axis = -1 : i64} : (tensor<?x?x2xf32, #onnx.dims<["b", "s", "2"]>>, tensor<?x?x2xf32, #onnx.dims<["b", "s", "2"]>>) -> tensor<?x?x4xf32, #onnx.dims<["b", "s", "4"]>>
  %cos = onnx.cos %aa : (tensor<?x?x4xf32, #onnx.dims<["b", "s", "4"]>>) -> tensor<?x?x4xf32, #onnx.dims<["b", "s", "4"]>>
  %sin = onnx.sin %aa : (tensor<?x?x4xf32, #onnx.dims<["b", "s", "4"]>>) -> tensor<?x?x4xf32, #onnx.dims<["b", "s", "4"]>>
  %cs = onnx.mul %cos, %scale : (tensor<?x?x4xf32, #onnx.dims<["b", "s", "4"]>>, tensor<f32>) -> tensor<?x?x4xf32, #onnx.dims<["b", "s", "4"]>>
  %ss = onnx.mul %sin, %scale : (tensor<?x?x4xf32, #onnx.dims<["b", "s", "4"]>>, tensor<f32>) -> tensor<?x?x4xf32, #onnx.dims<["b", "s", "4"]>>
  %c4 = onnx.unsqueeze %cs, %1 : (tensor<?x?x4xf32, #onnx.dims<["b", "s", "4"]>>, tensor<1xi64>) -> tensor<?x1x?x4xf32, #onnx.dims<["b", "1", "s", "4"]>>
  %s4 = onnx.unsqueeze %ss, %1 : (tensor<?x?x4xf32, #onnx.dims<["b", "s", "4"]>>, tensor<1xi64>) -> tensor<?x1x?x4xf32, #onnx.dims<["b", "1", "s", "4"]>>
  // CHECK: %[[R:.*]] = llm.rope %[[X]], %[[T]] {head_dim = 8 : i64, heads = 2 : i64, rotary_half = 2 : i64}
  // CHECK: %[[S:.*]] = onnx.reshape %[[R]]
  // CHECK: %[[Y:.*]] = onnx.transpose %[[S]] {perm = array<i64: 0, 2, 1, 3>}
  %h = onnx.reshape %x, %heads : (tensor<?x?x16xf32, #onnx.dims<["b", "s", "16"]>>, tensor<4xi64>) -> tensor<?x?x2x8xf32, #onnx.dims<["b", "s", "2", "8"]>>
  %q = onnx.transpose %h {perm = array<i64: 0, 2, 1, 3>} : (tensor<?x?x2x8xf32, #onnx.dims<["b", "s", "2", "8"]>>) -> tensor<?x2x?x8xf32, #onnx.dims<["b", "2", "s", "8"]>>
  %rot = onnx.slice %q, %0, %4, %3, %1 : (tensor<?x2x?x8xf32, #onnx.dims<["b", "2", "s", "8"]>>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<?x2x?x4xf32, #onnx.dims<["b", "2", "s", "4"]>>
  %pass = onnx.slice %q, %4, %8, %3, %1 : (tensor<?x2x?x8xf32, #onnx.dims<["b", "2", "s", "8"]>>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<?x2x?x4xf32, #onnx.dims<["b", "2", "s", "4"]>>
  %lo = onnx.slice %rot, %0, %2, %3, %1 : (tensor<?x2x?x4xf32, #onnx.dims<["b", "2", "s", "4"]>>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<?x2x?x2xf32, #onnx.dims<["b", "2", "s", "2"]>>
  %hi = onnx.slice %rot, %2, %4, %3, %1 : (tensor<?x2x?x4xf32, #onnx.dims<["b", "2", "s", "4"]>>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<?x2x?x2xf32, #onnx.dims<["b", "2", "s", "2"]>>
  %n = onnx.neg %hi : (tensor<?x2x?x2xf32, #onnx.dims<["b", "2", "s", "2"]>>) -> tensor<?x2x?x2xf32, #onnx.dims<["b", "2", "s", "2"]>>
  %half = onnx.concat %n, %lo {axis = -1 : i64} : (tensor<?x2x?x2xf32, #onnx.dims<["b", "2", "s", "2"]>>, tensor<?x2x?x2xf32, #onnx.dims<["b", "2", "s", "2"]>>) -> tensor<?x2x?x4xf32, #onnx.dims<["b", "2", "s", "4"]>>
  %m1 = onnx.mul %rot, %c4 : (tensor<?x2x?x4xf32, #onnx.dims<["b", "2", "s", "4"]>>, tensor<?x1x?x4xf32, #onnx.dims<["b", "1", "s", "4"]>>) -> tensor<?x2x?x4xf32, #onnx.dims<["b", "2", "s", "4"]>>
  %m2 = onnx.mul %half, %s4 : (tensor<?x2x?x4xf32, #onnx.dims<["b", "2", "s", "4"]>>, tensor<?x1x?x4xf32, #onnx.dims<["b", "1", "s", "4"]>>) -> tensor<?x2x?x4xf32, #onnx.dims<["b", "2", "s", "4"]>>
  %r = onnx.add %m1, %m2 : (tensor<?x2x?x4xf32, #onnx.dims<["b", "2", "s", "4"]>>, tensor<?x2x?x4xf32, #onnx.dims<["b", "2", "s", "4"]>>) -> tensor<?x2x?x4xf32, #onnx.dims<["b", "2", "s", "4"]>>
  %y = onnx.concat %r, %pass {axis = -1 : i64} : (tensor<?x2x?x4xf32, #onnx.dims<["b", "2", "s", "4"]>>, tensor<?x2x?x4xf32, #onnx.dims<["b", "2", "s", "4"]>>) -> tensor<?x2x?x8xf32, #onnx.dims<["b", "2", "s", "8"]>>
  // CHECK: return %[[Y]]
  return %y : tensor<?x2x?x8xf32, #onnx.dims<["b", "2", "s", "8"]>>
}

// -----
// Tables of the graph gathered by positions, pairs of neighbours, no input for
// positions; and the same with one sign wrong, which is no rotation.
// CHECK-LABEL: func.func @main
onnx.weight_data @table file 0 offset 0 length 2048 : tensor<32x16xf32>
func.func @main(%ids: tensor<?x?xi64, #onnx.dims<["b", "s"]>> {onnx.name = "input_ids"}) -> (tensor<?x?x4x4xf32, #onnx.dims<["b", "s", "4", "4"]>>, tensor<?x?x4x4xf32, #onnx.dims<["b", "s", "4", "4"]>>) {
  // CHECK: %[[P:.*]] = llm.padded_positions %arg0
  // CHECK: %[[T:.*]] = llm.rope_table %[[P]] {freq = @w.rope.freq}
  %e = onnx.weight @table : tensor<32x16xf32>
  %x = onnx.gather %e, %ids : (tensor<32x16xf32>, tensor<?x?xi64, #onnx.dims<["b", "s"]>>) -> tensor<?x?x16xf32, #onnx.dims<["b", "s", "16"]>>
  %heads = onnx.constant dense<[0, 0, 4, 2, 2]> : tensor<5xi64>
  %back = onnx.constant dense<[0, 0, 4, 4]> : tensor<4xi64>
  %i0 = onnx.constant dense<0> : tensor<i64>
  %i1 = onnx.constant dense<1> : tensor<i64>
  %1 = onnx.constant dense<1> : tensor<1xi64>
  %m1 = onnx.constant dense<-1> : tensor<1xi64>
  %12 = onnx.constant dense<[1, 2]> : tensor<2xi64>
  %freq = onnx.constant dense<[1.0, 0.1]> : tensor<2xf32>
  %shape = onnx.shape %ids : (tensor<?x?xi64, #onnx.dims<["b", "s"]>>) -> tensor<2xi64>
  %len = onnx.gather %shape, %i1 : (tensor<2xi64>, tensor<i64>) -> tensor<i64>
  %pos = onnx.range %i0, %len, %i1 : (tensor<i64>, tensor<i64>, tensor<i64>) -> tensor<?xi64, #onnx.dims<["s"]>>
  %pf = onnx.cast %pos {to = f32} : (tensor<?xi64, #onnx.dims<["s"]>>) -> tensor<?xf32, #onnx.dims<["s"]>>
  %pc = onnx.unsqueeze %pf, %12 : (tensor<?xf32, #onnx.dims<["s"]>>, tensor<2xi64>) -> tensor<?x1x1xf32, #onnx.dims<["s", "1", "1"]>>
  %a = onnx.mul %pc, %freq : (tensor<?x1x1xf32, #onnx.dims<["s", "1", "1"]>>, tensor<2xf32>) -> tensor<?x1x2xf32, #onnx.dims<["s", "1", "2"]>>
  %cos = onnx.cos %a : (tensor<?x1x2xf32, #onnx.dims<["s", "1", "2"]>>) -> tensor<?x1x2xf32, #onnx.dims<["s", "1", "2"]>>
  %sin = onnx.sin %a : (tensor<?x1x2xf32, #onnx.dims<["s", "1", "2"]>>) -> tensor<?x1x2xf32, #onnx.dims<["s", "1", "2"]>>
  %h = onnx.reshape %x, %heads : (tensor<?x?x16xf32, #onnx.dims<["b", "s", "16"]>>, tensor<5xi64>) -> tensor<?x?x4x2x2xf32, #onnx.dims<["b", "s", "4", "2", "2"]>>
  %re = onnx.gather %h, %i0 {axis = 4 : i64} : (tensor<?x?x4x2x2xf32, #onnx.dims<["b", "s", "4", "2", "2"]>>, tensor<i64>) -> tensor<?x?x4x2xf32, #onnx.dims<["b", "s", "4", "2"]>>
  %im = onnx.gather %h, %i1 {axis = 4 : i64} : (tensor<?x?x4x2x2xf32, #onnx.dims<["b", "s", "4", "2", "2"]>>, tensor<i64>) -> tensor<?x?x4x2xf32, #onnx.dims<["b", "s", "4", "2"]>>
  %rc = onnx.mul %re, %cos : (tensor<?x?x4x2xf32, #onnx.dims<["b", "s", "4", "2"]>>, tensor<?x1x2xf32, #onnx.dims<["s", "1", "2"]>>) -> tensor<?x?x4x2xf32, #onnx.dims<["b", "s", "4", "2"]>>
  %is = onnx.mul %im, %sin : (tensor<?x?x4x2xf32, #onnx.dims<["b", "s", "4", "2"]>>, tensor<?x1x2xf32, #onnx.dims<["s", "1", "2"]>>) -> tensor<?x?x4x2xf32, #onnx.dims<["b", "s", "4", "2"]>>
  %rs = onnx.mul %re, %sin : (tensor<?x?x4x2xf32, #onnx.dims<["b", "s", "4", "2"]>>, tensor<?x1x2xf32, #onnx.dims<["s", "1", "2"]>>) -> tensor<?x?x4x2xf32, #onnx.dims<["b", "s", "4", "2"]>>
  %ic = onnx.mul %im, %cos : (tensor<?x?x4x2xf32, #onnx.dims<["b", "s", "4", "2"]>>, tensor<?x1x2xf32, #onnx.dims<["s", "1", "2"]>>) -> tensor<?x?x4x2xf32, #onnx.dims<["b", "s", "4", "2"]>>
  %yr = onnx.sub %rc, %is : (tensor<?x?x4x2xf32, #onnx.dims<["b", "s", "4", "2"]>>, tensor<?x?x4x2xf32, #onnx.dims<["b", "s", "4", "2"]>>) -> tensor<?x?x4x2xf32, #onnx.dims<["b", "s", "4", "2"]>>
  %yi = onnx.add %rs, %ic : (tensor<?x?x4x2xf32, #onnx.dims<["b", "s", "4", "2"]>>, tensor<?x?x4x2xf32, #onnx.dims<["b", "s", "4", "2"]>>) -> tensor<?x?x4x2xf32, #onnx.dims<["b", "s", "4", "2"]>>
  %ur = onnx.unsqueeze %yr, %m1 : (tensor<?x?x4x2xf32, #onnx.dims<["b", "s", "4", "2"]>>, tensor<1xi64>) -> tensor<?x?x4x2x1xf32, #onnx.dims<["b", "s", "4", "2", "1"]>>
  %ui = onnx.unsqueeze %yi, %m1 : (tensor<?x?x4x2xf32, #onnx.dims<["b", "s", "4", "2"]>>, tensor<1xi64>) -> tensor<?x?x4x2x1xf32, #onnx.dims<["b", "s", "4", "2", "1"]>>
  %both = onnx.concat %ur, %ui {axis = -1 : i64} : (tensor<?x?x4x2x1xf32, #onnx.dims<["b", "s", "4", "2", "1"]>>, tensor<?x?x4x2x1xf32, #onnx.dims<["b", "s", "4", "2", "1"]>>) -> tensor<?x?x4x2x2xf32, #onnx.dims<["b", "s", "4", "2", "2"]>>
  // CHECK: %[[R:.*]] = llm.rope %{{.*}}, %[[T]] {head_dim = 4 : i64, heads = 4 : i64, interleaved = true, rotary_half = 2 : i64}
  // CHECK: %[[Y:.*]] = onnx.reshape %[[R]]
  %y = onnx.reshape %both, %back : (tensor<?x?x4x2x2xf32, #onnx.dims<["b", "s", "4", "2", "2"]>>, tensor<4xi64>) -> tensor<?x?x4x4xf32, #onnx.dims<["b", "s", "4", "4"]>>
  %xs = onnx.reshape %x, %back : (tensor<?x?x16xf32, #onnx.dims<["b", "s", "16"]>>, tensor<4xi64>) -> tensor<?x?x4x4xf32, #onnx.dims<["b", "s", "4", "4"]>>
  %cc = onnx.concat %cos, %cos {axis = -1 : i64} : (tensor<?x1x2xf32, #onnx.dims<["s", "1", "2"]>>, tensor<?x1x2xf32, #onnx.dims<["s", "1", "2"]>>) -> tensor<?x1x4xf32, #onnx.dims<["s", "1", "4"]>>
  %sc = onnx.concat %sin, %sin {axis = -1 : i64} : (tensor<?x1x2xf32, #onnx.dims<["s", "1", "2"]>>, tensor<?x1x2xf32, #onnx.dims<["s", "1", "2"]>>) -> tensor<?x1x4xf32, #onnx.dims<["s", "1", "4"]>>
  %w1 = onnx.mul %xs, %cc : (tensor<?x?x4x4xf32, #onnx.dims<["b", "s", "4", "4"]>>, tensor<?x1x4xf32, #onnx.dims<["s", "1", "4"]>>) -> tensor<?x?x4x4xf32, #onnx.dims<["b", "s", "4", "4"]>>
  %w2 = onnx.mul %xs, %sc : (tensor<?x?x4x4xf32, #onnx.dims<["b", "s", "4", "4"]>>, tensor<?x1x4xf32, #onnx.dims<["s", "1", "4"]>>) -> tensor<?x?x4x4xf32, #onnx.dims<["b", "s", "4", "4"]>>
  // CHECK: %[[W:.*]] = onnx.add
  %wrong = onnx.add %w1, %w2 : (tensor<?x?x4x4xf32, #onnx.dims<["b", "s", "4", "4"]>>, tensor<?x?x4x4xf32, #onnx.dims<["b", "s", "4", "4"]>>) -> tensor<?x?x4x4xf32, #onnx.dims<["b", "s", "4", "4"]>>
  // CHECK: return %[[Y]], %[[W]]
  return %y, %wrong : tensor<?x?x4x4xf32, #onnx.dims<["b", "s", "4", "4"]>>, tensor<?x?x4x4xf32, #onnx.dims<["b", "s", "4", "4"]>>
}
