// RUN: llmc-opt %s -llmc-canonicalize-quantized | FileCheck %s
// Every form of quantised weights becomes one; activations are computed exactly.

onnx.weight_data @codes file 0 offset 0 length 1024 : tensor<32x2x16xui8>
onnx.weight_data @scales file 0 offset 1024 length 256 : tensor<32x2xf32>
onnx.weight_data @zeros file 0 offset 1280 length 32 : tensor<32x1xui8>
onnx.weight_data @zerofloats file 0 offset 1312 length 256 : tensor<32x2xf32>
onnx.weight_data @bnb file 0 offset 2048 length 1024 : tensor<1024xui8>
onnx.weight_data @absmax file 0 offset 3072 length 128 : tensor<32xf32>
onnx.weight_data @int4 file 0 offset 4096 length 1024 : tensor<64x32xi4>
onnx.weight_data @int4scales file 0 offset 5120 length 256 : tensor<2x32xf32>
onnx.weight_data @int8 file 0 offset 6144 length 2048 : tensor<64x32xi8>
onnx.weight_data @perchannel file 0 offset 8192 length 128 : tensor<32xf32>
onnx.weight_data @table file 0 offset 9216 length 3200 : tensor<100x32xui8>
onnx.weight_data @tablescales file 0 offset 16384 length 800 : tensor<100x2xf32>

// Two users of the same tensors share one symbol.
// CHECK-DAG: llm.quantized @src.codes : tensor<32x64xf32> codes(@codes.codes) scales(@codes.scales) "u4 pitch 64 block 1x32 scale f32 2 zero 8"
// CHECK-DAG: llm.quantized @{{.*}} : tensor<32x64xf32> codes(@codes.codes) scales(@codes.scales) zeros(@codes.zeros) "u4 pitch 64 block 1x32 scale f32 2 zero u4 2"
// CHECK-DAG: llm.quantized @{{.*}} : tensor<32x64xf32> codes(@codes.codes) scales(@codes.scales) zeros(@codes.zerofloats) "u4 pitch 64 block 1x32 scale f32 2 zero f32 2"
// CHECK-DAG: llm.quantized @src.bnb : tensor<32x64xf32> codes(@codes.bnb) scales(@codes.absmax) "u4 nf4 high pitch 64 flat 64 scale f32 1"
// CHECK-DAG: llm.quantized @src.int4 : tensor<64x32xf32> codes(@codes.int4) scales(@codes.int4scales) "i4 pitch 32 block 32x1 scale f32 32"
// CHECK-DAG: llm.quantized @src.int8 : tensor<64x32xf32> codes(@codes.int8) scales(@codes.perchannel) "i8 pitch 32 block 64x1 scale f32 32"
// CHECK-DAG: llm.quantized @src.table : tensor<100x64xf32> codes(@codes.table) scales(@codes.tablescales) "u4 pitch 64 block 1x32 scale f32 2 zero 8"

// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<?x64xf32>, %ids: tensor<?xi64>) -> (tensor<?x32xf32>, tensor<?x32xf32>, tensor<?x32xf32>, tensor<?x32xf32>, tensor<?x32xf32>, tensor<?x32xf32>, tensor<?x64xf32>, tensor<?x64xf32>, tensor<?x32xf32>) {
  %none = onnx.none
  %codes = onnx.weight @codes : tensor<32x2x16xui8>
  %scales = onnx.weight @scales : tensor<32x2xf32>
  %zeros = onnx.weight @zeros : tensor<32x1xui8>
  %zf = onnx.weight @zerofloats : tensor<32x2xf32>

  // CHECK: %[[W:.*]] = llm.quantized_value @src.codes : tensor<32x64xf32>
  // CHECK: %[[T:.*]] = onnx.transpose %[[W]] {perm = array<i64: 1, 0>} : (tensor<32x64xf32>) -> tensor<64x32xf32>
  // CHECK: onnx.mat_mul %arg0, %[[T]]
  %a = onnx.ms_mat_mul_n_bits %x, %codes, %scales, %none, %none, %none {K = 64, N = 32, bits = 4, block_size = 32} : (tensor<?x64xf32>, tensor<32x2x16xui8>, tensor<32x2xf32>, none, none, none) -> tensor<?x32xf32>
  %b = onnx.ms_mat_mul_n_bits %x, %codes, %scales, %zeros, %none, %none {K = 64, N = 32, bits = 4, block_size = 32} : (tensor<?x64xf32>, tensor<32x2x16xui8>, tensor<32x2xf32>, tensor<32x1xui8>, none, none) -> tensor<?x32xf32>
  %c = onnx.ms_mat_mul_n_bits %x, %codes, %scales, %zf, %none, %none {K = 64, N = 32, bits = 4, block_size = 32} : (tensor<?x64xf32>, tensor<32x2x16xui8>, tensor<32x2xf32>, tensor<32x2xf32>, none, none) -> tensor<?x32xf32>

  %q = onnx.weight @bnb : tensor<1024xui8>
  %m = onnx.weight @absmax : tensor<32xf32>
  // CHECK: llm.quantized_value @src.bnb
  %d = onnx.ms_mat_mul_bnb4 %x, %q, %m {K = 64, N = 32, block_size = 64, quant_type = 1} : (tensor<?x64xf32>, tensor<1024xui8>, tensor<32xf32>) -> tensor<?x32xf32>

  // Weight-only DequantizeLinear.
  %i4 = onnx.weight @int4 : tensor<64x32xi4>
  %i4s = onnx.weight @int4scales : tensor<2x32xf32>
  // CHECK: %[[I4:.*]] = llm.quantized_value @src.int4
  // CHECK: onnx.mat_mul %arg0, %[[I4]]
  %w4 = onnx.dequantize_linear %i4, %i4s, %none {axis = 0, block_size = 32} : (tensor<64x32xi4>, tensor<2x32xf32>, none) -> tensor<64x32xf32>
  %e = onnx.mat_mul %x, %w4 : (tensor<?x64xf32>, tensor<64x32xf32>) -> tensor<?x32xf32>

  // A dynamic integer product; its scale is taken out of the factors.
  %i8 = onnx.weight @int8 : tensor<64x32xi8>
  %i8s = onnx.weight @perchannel : tensor<32xf32>
  // CHECK: %[[I8:.*]] = llm.quantized_value @src.int8
  // CHECK: onnx.mat_mul %arg0, %[[I8]]
  %xq, %xs, %xz = onnx.dynamic_quantize_linear %x : (tensor<?x64xf32>) -> (tensor<?x64xui8>, tensor<f32>, tensor<ui8>)
  %p = onnx.mat_mul_integer %xq, %i8, %xz, %none : (tensor<?x64xui8>, tensor<64x32xi8>, tensor<ui8>, none) -> tensor<?x32xi32>
  %pf = onnx.cast %p {to = f32} : (tensor<?x32xi32>) -> tensor<?x32xf32>
  %s = onnx.mul %xs, %i8s : (tensor<f32>, tensor<32xf32>) -> tensor<32xf32>
  %f = onnx.mul %pf, %s : (tensor<?x32xf32>, tensor<32xf32>) -> tensor<?x32xf32>

  // CHECK: %[[TABLE:.*]] = llm.quantized_value @src.table
  // CHECK: onnx.gather %[[TABLE]], %arg1
  %t = onnx.weight @table : tensor<100x32xui8>
  %ts = onnx.weight @tablescales : tensor<100x2xf32>
  %g = onnx.ms_gather_block_quantized %t, %ids, %ts, %none {bits = 4, block_size = 32, gather_axis = 0, quantize_axis = 1} : (tensor<100x32xui8>, tensor<?xi64>, tensor<100x2xf32>, none) -> tensor<?x64xf32>

  // A pair around a move; its zero point is not the lowest number.
  // CHECK-NOT: quantize_linear
  %one = onnx.constant dense<0.5> : tensor<f32>
  %z = onnx.constant dense<128> : tensor<ui8>
  %q1 = onnx.quantize_linear %x, %one, %z : (tensor<?x64xf32>, tensor<f32>, tensor<ui8>) -> tensor<?x64xui8>
  %q2 = onnx.identity %q1 : (tensor<?x64xui8>) -> tensor<?x64xui8>
  %h = onnx.dequantize_linear %q2, %one, %z : (tensor<?x64xui8>, tensor<f32>, tensor<ui8>) -> tensor<?x64xf32>

  // Saturation at zero was an activation once.
  // CHECK: onnx.relu
  // CHECK-NOT: quantize_linear
  %zero = onnx.constant dense<0> : tensor<ui8>
  %q3 = onnx.quantize_linear %f, %one, %zero : (tensor<?x32xf32>, tensor<f32>, tensor<ui8>) -> tensor<?x32xui8>
  %j = onnx.dequantize_linear %q3, %one, %zero : (tensor<?x32xui8>, tensor<f32>, tensor<ui8>) -> tensor<?x32xf32>
  return %a, %b, %c, %d, %e, %f, %g, %h, %j : tensor<?x32xf32>, tensor<?x32xf32>, tensor<?x32xf32>, tensor<?x32xf32>, tensor<?x32xf32>, tensor<?x32xf32>, tensor<?x64xf32>, tensor<?x64xf32>, tensor<?x32xf32>
}
