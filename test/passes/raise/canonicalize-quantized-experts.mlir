// RUN: llmc-opt %s -llmc-canonicalize-quantized | FileCheck %s
// Codes of many matrices: one after the other, or each expert by itself where scales of experts are multiplied with those of blocks.

onnx.weight_data @cube file 0 offset 0 length 4096 : tensor<2x64x32xi8>
onnx.weight_data @last file 0 offset 4096 length 128 : tensor<32xf32>
onnx.weight_data @each file 0 offset 4224 length 8 : tensor<2xf32>
onnx.weight_data @blocks file 0 offset 4232 length 1024 : tensor<2x4x32xf32>
onnx.weight_data @fp4 file 0 offset 8192 length 4096 : tensor<2x32x64xui8>
onnx.weight_data @mx file 0 offset 12288 length 256 : tensor<2x32x4xf8E8M0FNU>
onnx.weight_data @fp4down file 0 offset 12544 length 4096 : tensor<2x128x16xui8>
onnx.weight_data @mxdown file 0 offset 16640 length 256 : tensor<2x128x1xf8E8M0FNU>

// CHECK-DAG: llm.quantized @{{.*}} : tensor<128x32xf32> codes(@codes.cube) scales(@codes.last) "i8 pitch 32 block 128x1 scale f32 32"
// CHECK-DAG: llm.quantized @{{.*}} : tensor<128x32xf32> codes(@codes.cube) scales(@codes.each) "i8 pitch 32 block 64x32 scale f32 1"
// CHECK-DAG: llm.quantized @{{.*}} : tensor<128x32xf32> codes(@codes.cube) scales(@codes.blocks) "i8 pitch 32 block 16x1 scale f32 32"
// CHECK-DAG: llm.quantized @src.fp4.0 : tensor<32x128xf32> codes(@codes.fp4.0) scales(@codes.mx.0) "f4e2m1 pitch 128 block 1x32 scale f8e8m0 4 times 0.5"
// CHECK-DAG: llm.quantized @src.fp4.2048 : tensor<32x128xf32> codes(@codes.fp4.2048) scales(@codes.mx.128) "f4e2m1 pitch 128 block 1x32 scale f8e8m0 4 times 2"

// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<?x128xf32>, %logits: tensor<?x2xf32>) -> (tensor<2x64x32xf32>, tensor<2x64x32xf32>, tensor<2x64x32xf32>, tensor<?x128xf32>) {
  %none = onnx.none
  %cube = onnx.weight @cube : tensor<2x64x32xi8>
  %last = onnx.weight @last : tensor<32xf32>
  %each = onnx.weight @each : tensor<2xf32>
  %blocks = onnx.weight @blocks : tensor<2x4x32xf32>
  // CHECK-COUNT-3: onnx.reshape %{{.*}} -> tensor<2x64x32xf32>
  %a = onnx.dequantize_linear %cube, %last, %none {axis = -1} : (tensor<2x64x32xi8>, tensor<32xf32>, none) -> tensor<2x64x32xf32>
  %b = onnx.dequantize_linear %cube, %each, %none {axis = 0} : (tensor<2x64x32xi8>, tensor<2xf32>, none) -> tensor<2x64x32xf32>
  %c = onnx.dequantize_linear %cube, %blocks, %none {axis = 1, block_size = 16} : (tensor<2x64x32xi8>, tensor<2x4x32xf32>, none) -> tensor<2x64x32xf32>

  %fp4 = onnx.weight @fp4 : tensor<2x32x64xui8>
  %mx = onnx.weight @mx : tensor<2x32x4xf8E8M0FNU>
  %fp4down = onnx.weight @fp4down : tensor<2x128x16xui8>
  %mxdown = onnx.weight @mxdown : tensor<2x128x1xf8E8M0FNU>
  %global = onnx.constant dense<[0.5, 2.0]> : tensor<2xf32>
  // CHECK: %[[ALL:.*]] = onnx.concat {{.*}} -> tensor<64x128xf32>
  // CHECK: %[[UP:.*]] = onnx.reshape %[[ALL]]{{.*}} -> tensor<2x32x128xf32>
  // CHECK: onnx.ms_q_moe %arg0, %arg1, %[[UP]]
  %m = "onnx.ms_q_moe"(%x, %logits, %fp4, %mx, %none, %fp4down, %mxdown, %none, %none, %none, %none, %none, %none, %none, %none, %global, %global, %none, %none, %none, %none) {quant_type = "fp4"} : (tensor<?x128xf32>, tensor<?x2xf32>, tensor<2x32x64xui8>, tensor<2x32x4xf8E8M0FNU>, none, tensor<2x128x16xui8>, tensor<2x128x1xf8E8M0FNU>, none, none, none, none, none, none, none, none, tensor<2xf32>, tensor<2xf32>, none, none, none, none) -> tensor<?x128xf32>
  return %a, %b, %c, %m : tensor<2x64x32xf32>, tensor<2x64x32xf32>, tensor<2x64x32xf32>, tensor<?x128xf32>
}
