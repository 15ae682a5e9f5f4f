// Matrix products, norms and softmax.
#ifndef LLMC_ONNX_NEURAL_OPS
#define LLMC_ONNX_NEURAL_OPS
include "dialects/onnx/OnnxBase.td"

def Onnx_MatMulOp : Onnx_PureOp<"mat_mul"> {
  let summary = "matrix product over the last two dims, numpy rules";
  let arguments = (ins AnyType:$a, AnyType:$b);
  let results = (outs AnyType:$output);
}
def Onnx_GemmOp : Onnx_PureOp<"gemm"> {
  let summary = "alpha * A B + beta * C of matrices, C may be none";
  let arguments = (ins AnyType:$a, AnyType:$b, AnyType:$c,
                       Onnx_Float<"1.0f">:$alpha, Onnx_Float<"1.0f">:$beta,
                       Onnx_Flag<"0">:$transA, Onnx_Flag<"0">:$transB);
  let results = (outs AnyType:$output);
}
def Onnx_SoftmaxOp : Onnx_AxisOp<"softmax"> {
  let summary = "softmax along one axis";
  let arguments = (ins AnyType:$input, Onnx_Int<"-1">:$axis);
  let results = (outs AnyType:$output);
}
def Onnx_LogSoftmaxOp : Onnx_AxisOp<"log_softmax"> {
  let summary = "logarithm of the softmax along one axis";
  let arguments = (ins AnyType:$input, Onnx_Int<"-1">:$axis);
  let results = (outs AnyType:$output);
}
def Onnx_LayerNormalizationOp : Onnx_AxisOp<"layer_normalization"> {
  let summary = "(x - mean) / sqrt(variance + epsilon) * scale + bias over the dims from axis on; bias may be none";
  let description = [{
    The other results are the mean and 1 / sqrt(variance + epsilon), with dims
    of 1 from axis on, in f32 (the type of x with stash_type other than 1).
  }];
  let arguments = (ins AnyType:$x, AnyType:$scale, AnyType:$b,
                       Onnx_Int<"-1">:$axis, Onnx_Float<"1e-5f">:$epsilon,
                       Onnx_Int<"1">:$stash_type);
  let results = (outs AnyType:$output, AnyType:$mean, AnyType:$inv_std_dev);
}
def Onnx_RMSNormalizationOp : Onnx_AxisOp<"rms_normalization"> {
  let summary = "x / sqrt(mean(x^2) + epsilon) * scale over the dims from axis on";
  let arguments = (ins AnyType:$x, AnyType:$scale, Onnx_Int<"-1">:$axis,
                       Onnx_Float<"1e-5f">:$epsilon, Onnx_Int<"1">:$stash_type);
  let results = (outs AnyType:$output);
}
def Onnx_GroupNormalizationOp : Onnx_PureOp<"group_normalization"> {
  let summary = "layer normalisation of groups of channels, scale and bias per channel";
  let arguments = (ins AnyType:$x, AnyType:$scale, AnyType:$bias,
                       Onnx_Float<"1e-5f">:$epsilon, I64Attr:$num_groups,
                       Onnx_Int<"1">:$stash_type);
  let results = (outs AnyType:$output);
}
def Onnx_InstanceNormalizationOp : Onnx_PureOp<"instance_normalization"> {
  let summary = "layer normalisation of each channel, scale and bias per channel";
  let arguments = (ins AnyType:$input, AnyType:$scale, AnyType:$b,
                       Onnx_Float<"1e-5f">:$epsilon);
  let results = (outs AnyType:$output);
}
def Onnx_BatchNormalizationOp : Onnx_PureOp<"batch_normalization"> {
  let summary = "(x - mean) / sqrt(variance + epsilon) * scale + bias per channel; training is not supported";
  let arguments = (ins AnyType:$x, AnyType:$scale, AnyType:$b,
                       AnyType:$input_mean, AnyType:$input_var,
                       Onnx_Float<"1e-5f">:$epsilon,
                       Onnx_Float<"0.9f">:$momentum,
                       DefaultValuedAttr<ConfinedAttr<I64Attr, [IntMinValue<0>, IntMaxValue<0>]>, "0">:$training_mode);
  let results = (outs AnyType:$output);
}
def Onnx_LpNormalizationOp : Onnx_AxisOp<"lp_normalization"> {
  let summary = "x / its L1 or L2 norm along axis, 0 where that is 0";
  let arguments = (ins AnyType:$input, Onnx_Int<"-1">:$axis,
                       DefaultValuedAttr<ConfinedAttr<I64Attr, [IntMinValue<1>, IntMaxValue<2>]>, "2">:$p);
  let results = (outs AnyType:$output);
}
def Onnx_MeanVarianceNormalizationOp : Onnx_PureOp<"mean_variance_normalization"> {
  let summary = "(x - mean) / (standard deviation + 1e-9) over axes (none: 0, 2, 3)";
  let arguments = (ins AnyType:$x, OptionalAttr<DenseI64ArrayAttr>:$axes);
  let results = (outs AnyType:$output);
}
def Onnx_HardmaxOp : Onnx_AxisOp<"hardmax"> {
  let summary = "1 at the first largest element along axis, else 0";
  let arguments = (ins AnyType:$input, Onnx_Int<"-1">:$axis);
  let results = (outs AnyType:$output);
}
def Onnx_EinsumOp : Onnx_VariadicOp<"einsum", "products summed over the labels that the output lacks"> {
  let arguments = (ins Variadic<AnyType>:$inputs, StrAttr:$equation);
}
#endif
