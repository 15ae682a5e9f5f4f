// Activations and the rarer elementwise ops: trigonometry, bits.
#ifndef LLMC_ONNX_ACTIVATION_OPS
#define LLMC_ONNX_ACTIVATION_OPS
include "dialects/onnx/OnnxBase.td"

def Onnx_AcosOp : Onnx_UnaryOp<"acos", "arc cosine">;
def Onnx_AcoshOp : Onnx_UnaryOp<"acosh", "inverse hyperbolic cosine">;
def Onnx_AsinOp : Onnx_UnaryOp<"asin", "arc sine">;
def Onnx_AsinhOp : Onnx_UnaryOp<"asinh", "inverse hyperbolic sine">;
def Onnx_AtanOp : Onnx_UnaryOp<"atan", "arc tangent">;
def Onnx_AtanhOp : Onnx_UnaryOp<"atanh", "inverse hyperbolic tangent">;
def Onnx_CoshOp : Onnx_UnaryOp<"cosh", "hyperbolic cosine">;
def Onnx_SinhOp : Onnx_UnaryOp<"sinh", "hyperbolic sine">;
def Onnx_TanOp : Onnx_UnaryOp<"tan", "tangent">;
def Onnx_SoftsignOp : Onnx_UnaryOp<"softsign", "x / (1 + |x|)">;
def Onnx_MishOp : Onnx_UnaryOp<"mish", "x * tanh(softplus(x))">;
def Onnx_HardSwishOp : Onnx_UnaryOp<"hard_swish", "x * max(0, min(1, x / 6 + 0.5))">;
def Onnx_BitwiseNotOp : Onnx_UnaryOp<"bitwise_not", "all bits inverted">;

def Onnx_BitwiseAndOp : Onnx_BinaryOp<"bitwise_and", "a & b">;
def Onnx_BitwiseOrOp : Onnx_BinaryOp<"bitwise_or", "a | b">;
def Onnx_BitwiseXorOp : Onnx_BinaryOp<"bitwise_xor", "a ^ b by bits">;
def Onnx_PReluOp : Onnx_BinaryOp<"p_relu", "x, or slope * x where x is negative">;

class Onnx_AlphaOp<string mnem, string alpha, string text> : Onnx_PureOp<mnem> {
  let summary = text;
  let arguments = (ins AnyType:$input, Onnx_Float<alpha>:$alpha);
  let results = (outs AnyType:$output);
}
def Onnx_CeluOp : Onnx_AlphaOp<"celu", "1.0f", "max(0, x) + min(0, alpha * (e^(x / alpha) - 1))">;
def Onnx_EluOp : Onnx_AlphaOp<"elu", "1.0f", "x, or alpha * (e^x - 1) where x is negative">;
def Onnx_LeakyReluOp : Onnx_AlphaOp<"leaky_relu", "0.01f", "x, or alpha * x where x is negative">;
def Onnx_ThresholdedReluOp : Onnx_AlphaOp<"thresholded_relu", "1.0f", "x where it is above alpha, else 0">;
def Onnx_SwishOp : Onnx_AlphaOp<"swish", "1.0f", "x * sigmoid(alpha * x)">;

def Onnx_SeluOp : Onnx_PureOp<"selu"> {
  let summary = "gamma * x, or gamma * alpha * (e^x - 1) where x is not positive";
  let arguments = (ins AnyType:$input, Onnx_Float<"1.67326319217681884765625f">:$alpha,
                       Onnx_Float<"1.05070102214813232421875f">:$gamma);
  let results = (outs AnyType:$output);
}
def Onnx_HardSigmoidOp : Onnx_PureOp<"hard_sigmoid"> {
  let summary = "alpha * x + beta within 0 and 1";
  let arguments = (ins AnyType:$input, Onnx_Float<"0.2f">:$alpha,
                       Onnx_Float<"0.5f">:$beta);
  let results = (outs AnyType:$output);
}
def Onnx_ShrinkOp : Onnx_PureOp<"shrink"> {
  let summary = "x moved by bias towards 0, and 0 where |x| is at most lambd";
  let arguments = (ins AnyType:$input, Onnx_Float<"0.0f">:$bias,
                       Onnx_Float<"0.5f">:$lambd);
  let results = (outs AnyType:$output);
}
def Onnx_SwiGLUOp : Onnx_PureOp<"swi_glu"> {
  let summary = "a * sigmoid(alpha * a) * b, both of one shape";
  let arguments = (ins AnyType:$a, AnyType:$b, Onnx_Float<"1.0f">:$alpha);
  let results = (outs AnyType:$output);
}
def Onnx_BitShiftOp : Onnx_PureOp<"bit_shift"> {
  let summary = "a shifted by b bits";
  let arguments = (ins AnyType:$lhs, AnyType:$rhs,
                       ConfinedAttr<StrAttr, [Onnx_OneOf<"\"LEFT\", \"RIGHT\"", "LEFT or RIGHT">]>:$direction);
  let results = (outs AnyType:$output);
}
def Onnx_BitCastOp : Onnx_PureOp<"bit_cast"> {
  let summary = "the same bits as another type of the same size";
  let arguments = (ins AnyType:$input, TypeAttr:$to);
  let results = (outs AnyType:$output);
}
#endif
