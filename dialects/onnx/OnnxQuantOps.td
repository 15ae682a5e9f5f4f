// Quantisation, and products of quantised tensors.
#ifndef LLMC_ONNX_QUANT_OPS
#define LLMC_ONNX_QUANT_OPS
include "dialects/onnx/OnnxBase.td"

def Onnx_QuantizeLinearOp : Onnx_PureOp<"quantize_linear"> {
  let summary = "saturate(round(x / scale) + zero point)";
  let description = [{
    The scale is a scalar (or one element), a vector along axis, or has the rank
    of x with one element per `block_size` elements of axis. The zero point has
    its shape; none is 0. `precision` is a DataType of ONNX for the division,
    0 the type of the scale.
  }];
  let arguments = (ins AnyType:$x, AnyType:$y_scale, AnyType:$y_zero_point,
                       Onnx_Int<"1">:$axis, Onnx_Int<"0">:$block_size,
                       Onnx_Flag<"1">:$saturate,
                       OptionalAttr<TypeAttr>:$output_dtype,
                       OptionalAttr<TypeAttr>:$precision);
  let results = (outs AnyType:$output);
}
def Onnx_DequantizeLinearOp : Onnx_PureOp<"dequantize_linear"> {
  let summary = "(x - zero point) * scale, shapes as in quantize_linear";
  let arguments = (ins AnyType:$x, AnyType:$x_scale, AnyType:$x_zero_point,
                       Onnx_Int<"1">:$axis, Onnx_Int<"0">:$block_size,
                       OptionalAttr<TypeAttr>:$output_dtype);
  let results = (outs AnyType:$output);
}
def Onnx_DynamicQuantizeLinearOp : Onnx_PureOp<"dynamic_quantize_linear"> {
  let summary = "x as unsigned bytes with a scale and zero point of its range";
  let arguments = (ins AnyType:$x);
  let results = (outs AnyType:$y, AnyType:$y_scale, AnyType:$y_zero_point);
}
def Onnx_MatMulIntegerOp : Onnx_PureOp<"mat_mul_integer"> {
  let summary = "(A - zero point) (B - zero point) in 32-bit integers";
  let arguments = (ins AnyType:$a, AnyType:$b, AnyType:$a_zero_point,
                       AnyType:$b_zero_point);
  let results = (outs AnyType:$output);
}
def Onnx_QLinearMatMulOp : Onnx_PureOp<"q_linear_mat_mul"> {
  let summary = "product of two quantised tensors, quantised again";
  let arguments = (ins AnyType:$a, AnyType:$a_scale, AnyType:$a_zero_point,
                       AnyType:$b, AnyType:$b_scale, AnyType:$b_zero_point,
                       AnyType:$y_scale, AnyType:$y_zero_point);
  let results = (outs AnyType:$output);
}

// Geometry of a convolution, as in ONNX; absent lists are ones (pads: zeros).
def Onnx_ConvGeometry {
  dag attributes = (ins
      Onnx_Choice<"NOTSET", "\"NOTSET\", \"SAME_UPPER\", \"SAME_LOWER\", \"VALID\"", "NOTSET, SAME_UPPER, SAME_LOWER or VALID">:$auto_pad,
      OptionalAttr<DenseI64ArrayAttr>:$dilations, Onnx_Int<"1">:$group,
      OptionalAttr<DenseI64ArrayAttr>:$kernel_shape,
      OptionalAttr<DenseI64ArrayAttr>:$pads,
      OptionalAttr<DenseI64ArrayAttr>:$strides);
}
def Onnx_ConvOp : Onnx_PureOp<"conv"> {
  let summary = "convolution of [batch, channels, ...] with [out, channels / group, ...]";
  let arguments = !con((ins AnyType:$x, AnyType:$w, AnyType:$b),
                       Onnx_ConvGeometry.attributes);
  let results = (outs AnyType:$output);
}
def Onnx_ConvIntegerOp : Onnx_PureOp<"conv_integer"> {
  let summary = "convolution of quantised tensors in 32-bit integers";
  let arguments = !con((ins AnyType:$x, AnyType:$w, AnyType:$x_zero_point,
                            AnyType:$w_zero_point),
                       Onnx_ConvGeometry.attributes);
  let results = (outs AnyType:$output);
}
#endif
