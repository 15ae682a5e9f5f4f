// Elementwise ops, all with numpy broadcasting.
#ifndef LLMC_ONNX_MATH_OPS
#define LLMC_ONNX_MATH_OPS
include "dialects/onnx/OnnxBase.td"

def Onnx_NegOp : Onnx_UnaryOp<"neg", "-x">;
def Onnx_AbsOp : Onnx_UnaryOp<"abs", "|x|">;
def Onnx_SqrtOp : Onnx_UnaryOp<"sqrt", "square root">;
def Onnx_ReciprocalOp : Onnx_UnaryOp<"reciprocal", "1 / x">;
def Onnx_ExpOp : Onnx_UnaryOp<"exp", "e^x">;
def Onnx_LogOp : Onnx_UnaryOp<"log", "natural logarithm">;
def Onnx_ErfOp : Onnx_UnaryOp<"erf", "error function">;
def Onnx_SinOp : Onnx_UnaryOp<"sin", "sine">;
def Onnx_CosOp : Onnx_UnaryOp<"cos", "cosine">;
def Onnx_TanhOp : Onnx_UnaryOp<"tanh", "hyperbolic tangent">;
def Onnx_SigmoidOp : Onnx_UnaryOp<"sigmoid", "1 / (1 + e^-x)">;
def Onnx_ReluOp : Onnx_UnaryOp<"relu", "max(x, 0)">;
def Onnx_SoftplusOp : Onnx_UnaryOp<"softplus", "log(1 + e^x)">;
def Onnx_FloorOp : Onnx_UnaryOp<"floor", "round down">;
def Onnx_CeilOp : Onnx_UnaryOp<"ceil", "round up">;
def Onnx_RoundOp : Onnx_UnaryOp<"round", "round to nearest, ties to even">;
def Onnx_SignOp : Onnx_UnaryOp<"sign", "-1, 0 or 1">;
def Onnx_NotOp : Onnx_UnaryOp<"not", "logical not">;
def Onnx_IsNaNOp : Onnx_UnaryOp<"is_nan", "whether an element is NaN">;
def Onnx_IdentityOp : Onnx_UnaryOp<"identity", "its input">;

def Onnx_AddOp : Onnx_BinaryOp<"add", "a + b">;
def Onnx_SubOp : Onnx_BinaryOp<"sub", "a - b">;
def Onnx_MulOp : Onnx_BinaryOp<"mul", "a * b">;
def Onnx_DivOp : Onnx_BinaryOp<"div", "a / b; of integers, towards zero">;
def Onnx_PowOp : Onnx_BinaryOp<"pow", "a ^ b; the result has the type of a">;
def Onnx_AndOp : Onnx_BinaryOp<"and", "logical and">;
def Onnx_OrOp : Onnx_BinaryOp<"or", "logical or">;
def Onnx_XorOp : Onnx_BinaryOp<"xor", "logical exclusive or">;
def Onnx_EqualOp : Onnx_BinaryOp<"equal", "a == b">;
def Onnx_LessOp : Onnx_BinaryOp<"less", "a < b">;
def Onnx_LessOrEqualOp : Onnx_BinaryOp<"less_or_equal", "a <= b">;
def Onnx_GreaterOp : Onnx_BinaryOp<"greater", "a > b">;
def Onnx_GreaterOrEqualOp : Onnx_BinaryOp<"greater_or_equal", "a >= b">;

def Onnx_MaxOp : Onnx_VariadicOp<"max", "largest of its inputs">;
def Onnx_MinOp : Onnx_VariadicOp<"min", "smallest of its inputs">;
def Onnx_SumOp : Onnx_VariadicOp<"sum", "sum of its inputs">;
def Onnx_MeanOp : Onnx_VariadicOp<"mean", "mean of its inputs">;

def Onnx_ModOp : Onnx_PureOp<"mod"> {
  let summary = "remainder with the sign of b, or as C fmod";
  let arguments = (ins AnyType:$lhs, AnyType:$rhs, Onnx_Flag<"0">:$fmod);
  let results = (outs AnyType:$output);
}
def Onnx_WhereOp : Onnx_PureOp<"where"> {
  let summary = "x where the condition holds, else y";
  let arguments = (ins AnyType:$condition, AnyType:$x, AnyType:$y);
  let results = (outs AnyType:$output);
}
def Onnx_ClipOp : Onnx_PureOp<"clip"> {
  let summary = "limits to min and max, either may be none";
  let arguments = (ins AnyType:$input, AnyType:$min, AnyType:$max);
  let results = (outs AnyType:$output);
}
def Onnx_GeluOp : Onnx_PureOp<"gelu"> {
  let summary = "Gaussian error linear unit";
  let arguments = (ins AnyType:$input,
                       Onnx_Choice<"none", "\"none\", \"tanh\"", "none or tanh">:$approximate);
  let results = (outs AnyType:$output);
}
def Onnx_IsInfOp : Onnx_PureOp<"is_inf"> {
  let summary = "whether an element is an infinity";
  let arguments = (ins AnyType:$input, Onnx_Flag<"1">:$detect_negative,
                       Onnx_Flag<"1">:$detect_positive);
  let results = (outs AnyType:$output);
}
// How a float becomes a power of two (f8E8M0).
def Onnx_RoundMode : Onnx_Choice<"up", "\"up\", \"down\", \"nearest\"", "up, down or nearest">;
def Onnx_CastOp : Onnx_PureOp<"cast"> {
  let summary = "converts elements";
  let arguments = (ins AnyType:$input, TypeAttr:$to, Onnx_Flag<"1">:$saturate,
                       Onnx_RoundMode:$round_mode);
  let results = (outs AnyType:$output);
}
def Onnx_CastLikeOp : Onnx_PureOp<"cast_like"> {
  let summary = "converts to the element type of the second operand";
  let arguments = (ins AnyType:$input, AnyType:$target_type,
                       Onnx_Flag<"1">:$saturate, Onnx_RoundMode:$round_mode);
  let results = (outs AnyType:$output);
}
def Onnx_DropoutOp : Onnx_PureOp<"dropout"> {
  let summary = "its input (training is not supported), and a mask";
  let arguments = (ins AnyType:$data, AnyType:$ratio, AnyType:$training_mode,
                       OptionalAttr<I64Attr>:$seed);
  let results = (outs AnyType:$output, AnyType:$mask);
}
#endif
