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
  let arguments = (ins AnyType:$x, AnyType:$scale, AnyType:$b,
                       Onnx_Int<"-1">:$axis, Onnx_Float<"1e-5f">:$epsilon,
                       Onnx_Int<"1">:$stash_type);
  let results = (outs AnyType:$output);
}
def Onnx_RMSNormalizationOp : Onnx_AxisOp<"rms_normalization"> {
  let summary = "x / sqrt(mean(x^2) + epsilon) * scale over the dims from axis on";
  let arguments = (ins AnyType:$x, AnyType:$scale, Onnx_Int<"-1">:$axis,
                       Onnx_Float<"1e-5f">:$epsilon, Onnx_Int<"1">:$stash_type);
  let results = (outs AnyType:$output);
}
#endif
