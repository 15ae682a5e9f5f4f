// From ops of the onnx dialect that are more than a primitive to evaluator
// operations: activations with parameters, attention, quantisation, rarer
// norms and rearrangements.
#include "compiler/eval/Attention.h"
#include "compiler/eval/Convert.h"
#include "compiler/eval/EvaluatorTable.h"

#include "llvm/ADT/StringSwitch.h"

using namespace mlir;

namespace llmc::eval {

static DType typeAttr(const OpCall &C, StringRef Name) {
  TypeAttr A = C.Op->getAttrOfType<TypeAttr>(Name);
  return A ? dtypeOf(A.getValue()) : DType::None;
}

static std::optional<int64_t> optionalAttr(const OpCall &C, StringRef Name) {
  IntegerAttr A = C.Op->getAttrOfType<IntegerAttr>(Name);
  return A ? std::optional<int64_t>(A.getInt()) : std::nullopt;
}

static Dims listAttr(const OpCall &C, StringRef Name) {
  DenseI64ArrayAttr A = C.Op->getAttrOfType<DenseI64ArrayAttr>(Name);
  return A ? Dims(A.asArrayRef().begin(), A.asArrayRef().end()) : Dims();
}

//===----------------------------------------------------------------------===//
// Activations and bits
//===----------------------------------------------------------------------===//

static void addUnary(OpTable &T, StringRef Name, Unary Kind, double Alpha = 1,
                     double Beta = 0, const char *BetaName = "beta",
                     const char *AlphaName = "alpha") {
  T.add(Name, [=](const OpCall &C) {
    return unary(C.Limit, Kind, C.in(0), C.floatAttr(AlphaName, Alpha),
                 C.floatAttr(BetaName, Beta));
  });
}

static void addLogical(OpTable &T, StringRef Name, Logical Kind) {
  T.add(Name, [Kind](const OpCall &C) {
    return logical(C.Limit, Kind, C.in(0), C.in(1));
  });
}

static Result<Tensor> bitShiftOp(const OpCall &C) {
  bool Left = C.text("direction", "LEFT") == "LEFT";
  return logical(C.Limit, Left ? Logical::ShiftLeft : Logical::ShiftRight,
                 C.in(0), C.in(1));
}

static Result<Tensor> bitCastOp(const OpCall &C) {
  DType To = typeAttr(C, "to");
  if (To == DType::None)
    return unsupportedError("evaluation: bit_cast to an unknown type");
  return bitCast(C.Limit, C.in(0), To);
}

static Result<Tensor> swiGluOp(const OpCall &C) {
  if (C.in(0).Shape != C.in(1).Shape)
    return malformedError("swi_glu of " + describe(C.in(0)) + " and " +
                          describe(C.in(1)));
  LLMC_ASSIGN_OR_RETURN(Tensor Gate, unary(C.Limit, Unary::Swish, C.in(0),
                                           C.floatAttr("alpha", 1)));
  return binary(C.Limit, Binary::Mul, Gate, C.in(1));
}

static void addActivations(OpTable &T) {
  addUnary(T, "acos", Unary::Acos);
  addUnary(T, "acosh", Unary::Acosh);
  addUnary(T, "asin", Unary::Asin);
  addUnary(T, "asinh", Unary::Asinh);
  addUnary(T, "atan", Unary::Atan);
  addUnary(T, "atanh", Unary::Atanh);
  addUnary(T, "cosh", Unary::Cosh);
  addUnary(T, "sinh", Unary::Sinh);
  addUnary(T, "tan", Unary::Tan);
  addUnary(T, "softsign", Unary::Softsign);
  addUnary(T, "mish", Unary::Mish);
  addUnary(T, "hard_swish", Unary::HardSwish);
  addUnary(T, "celu", Unary::Celu, 1);
  addUnary(T, "elu", Unary::Elu, 1);
  addUnary(T, "leaky_relu", Unary::LeakyRelu, 0.01f);
  addUnary(T, "thresholded_relu", Unary::ThresholdedRelu, 1);
  addUnary(T, "swish", Unary::Swish, 1);
  addUnary(T, "selu", Unary::Selu, 1.67326319217681884765625,
           1.05070102214813232421875, "gamma");
  addUnary(T, "hard_sigmoid", Unary::HardSigmoid, 0.2f, 0.5f);
  addUnary(T, "shrink", Unary::Shrink, 0.5f, 0, "bias", "lambd");
  addLogical(T, "bitwise_and", Logical::BitAnd);
  addLogical(T, "bitwise_or", Logical::BitOr);
  addLogical(T, "bitwise_xor", Logical::BitXor);
  T.add("bitwise_not",
        [](const OpCall &C) { return bitwiseNot(C.Limit, C.in(0)); });
  T.add("bit_shift", bitShiftOp);
  T.add("bit_cast", bitCastOp);
  T.add("p_relu", [](const OpCall &C) {
    return binary(C.Limit, Binary::PRelu, C.in(0), C.in(1));
  });
  T.add("swi_glu", swiGluOp);
  T.add("hardmax", [](const OpCall &C) {
    return hardmax(C.Limit, C.in(0), C.attr("axis", -1));
  });
}

//===----------------------------------------------------------------------===//
// Attention and recurrence
//===----------------------------------------------------------------------===//

/// The element type of a TensorProto::DataType that softmax may be taken in.
static DType softmaxType(int64_t Code) {
  return Code == 10   ? DType::F16
         : Code == 11 ? DType::F64
         : Code == 16 ? DType::BF16
                      : DType::F32;
}

static Outputs attentionOp(const OpCall &C) {
  AttentionOptions O;
  O.Causal = C.attr("is_causal", 0);
  O.QueryHeads = C.attr("q_num_heads", 0);
  O.KeyHeads = C.attr("kv_num_heads", 0);
  if (C.Op->hasAttr("scale"))
    O.Scale = C.floatAttr("scale", 1);
  O.Softcap = C.floatAttr("softcap", 0);
  std::optional<int64_t> Precision = optionalAttr(C, "softmax_precision");
  O.SoftmaxType = Precision ? softmaxType(*Precision) : C.in(0).Type;
  O.OutputMode = C.attr("qk_matmul_output_mode", 0);
  O.Left = C.attr("left_window_size", -1);
  O.Right = C.attr("right_window_size", -1);
  O.WantScores = !C.Op->getResult(3).use_empty();
  return attention(
      C.Limit, {C.in(0), C.in(1), C.in(2), C.in(3), C.in(4), C.in(5), C.in(6)},
      O);
}

static Outputs linearAttentionOp(const OpCall &C) {
  StringRef Rule = C.text("update_rule", "gated_delta");
  return linearAttention(C.Limit,
                         {C.in(0), C.in(1), C.in(2), C.in(3), C.in(4), C.in(5)},
                         C.attr("q_num_heads", 0), C.attr("kv_num_heads", 0),
                         Rule.starts_with("gated"), Rule.ends_with("delta"),
                         C.floatAttr("scale", 0));
}

static void addAttention(OpTable &T) {
  T.many("attention", attentionOp);
  T.add("rotary_embedding", [](const OpCall &C) {
    return rotaryEmbedding(
        C.Limit, C.in(0), C.in(1), C.in(2), C.in(3), C.attr("num_heads", 0),
        C.attr("rotary_embedding_dim", 0), C.attr("interleaved", 0));
  });
  T.add("tensor_scatter", [](const OpCall &C) {
    return tensorScatter(C.Limit, C.in(0), C.in(1), C.in(2), C.attr("axis", -2),
                         C.text("mode", "linear") == "circular");
  });
  T.many("linear_attention", linearAttentionOp);
  T.many("causal_conv_with_state", [](const OpCall &C) {
    return causalConv(C.Limit, C.in(0), C.in(1), C.in(2), C.in(3),
                      C.text("activation", "none") != "none");
  });
}

//===----------------------------------------------------------------------===//
// Quantisation and convolution
//===----------------------------------------------------------------------===//

static Result<Tensor> quantizeOp(const OpCall &C) {
  QuantizeOptions O;
  O.To = typeAttr(C, "output_dtype");
  if (O.To == DType::None)
    O.To = C.in(2).present() ? C.in(2).Type : DType::U8;
  O.Precision = typeAttr(C, "precision");
  O.Axis = C.attr("axis", 1);
  O.Block = C.attr("block_size", 0);
  O.Saturate = C.attr("saturate", 1);
  return quantizeLinear(C.Limit, C.in(0), C.in(1), C.in(2), O);
}

static Result<Tensor> dequantizeOp(const OpCall &C) {
  DType To = typeAttr(C, "output_dtype");
  return dequantizeLinear(C.Limit, C.in(0), C.in(1), C.in(2), C.attr("axis", 1),
                          C.attr("block_size", 0),
                          To == DType::None ? C.in(1).Type : To);
}

static ConvOptions convOptions(const OpCall &C) {
  ConvOptions O;
  O.Pad = llvm::StringSwitch<ConvPad>(C.text("auto_pad", "NOTSET"))
              .Case("SAME_UPPER", ConvPad::SameUpper)
              .Case("SAME_LOWER", ConvPad::SameLower)
              .Case("VALID", ConvPad::Valid)
              .Default(ConvPad::Explicit);
  O.Groups = C.attr("group", 1);
  O.Kernel = listAttr(C, "kernel_shape");
  O.Pads = listAttr(C, "pads");
  O.Strides = listAttr(C, "strides");
  O.Dilations = listAttr(C, "dilations");
  return O;
}

static void addQuantised(OpTable &T) {
  T.add("quantize_linear", quantizeOp);
  T.add("dequantize_linear", dequantizeOp);
  T.many("dynamic_quantize_linear", [](const OpCall &C) {
    return dynamicQuantizeLinear(C.Limit, C.in(0));
  });
  T.add("mat_mul_integer", [](const OpCall &C) {
    return matMulInteger(C.Limit, C.in(0), C.in(1), C.in(2), C.in(3));
  });
  T.add("q_linear_mat_mul", [](const OpCall &C) {
    return qLinearMatMul(C.Limit, {C.in(0), C.in(1), C.in(2), C.in(3), C.in(4),
                                   C.in(5), C.in(6), C.in(7)});
  });
  T.add("conv", [](const OpCall &C) {
    return conv(C.Limit, C.in(0), C.in(1), C.in(2), convOptions(C));
  });
  T.add("conv_integer", [](const OpCall &C) {
    return convInteger(C.Limit, C.in(0), C.in(1), C.in(2), C.in(3),
                       convOptions(C));
  });
}

//===----------------------------------------------------------------------===//
// Norms and rearrangements
//===----------------------------------------------------------------------===//

static Result<Tensor> meanVarianceOp(const OpCall &C) {
  bool Given = C.Op->hasAttr("axes");
  return meanVarianceNorm(C.Limit, C.in(0),
                          Given ? listAttr(C, "axes") : Dims{0, 2, 3});
}

static Result<Tensor> centerCropPadOp(const OpCall &C) {
  Dims Axes = listAttr(C, "axes");
  for (int64_t I = 0; I < C.in(0).rank() && !C.Op->hasAttr("axes"); ++I)
    Axes.push_back(I);
  return centerCropPad(C.Limit, C.in(0), C.ints(1), Axes);
}

static void addNorms(OpTable &T) {
  T.add("group_normalization", [](const OpCall &C) {
    return groupNorm(C.Limit, C.in(0), C.in(1), C.in(2),
                     C.attr("num_groups", 1), C.floatAttr("epsilon", 1e-5f));
  });
  T.add("instance_normalization", [](const OpCall &C) {
    int64_t Channels = C.in(0).rank() > 1 ? C.in(0).Shape[1] : 0;
    return groupNorm(C.Limit, C.in(0), C.in(1), C.in(2), Channels,
                     C.floatAttr("epsilon", 1e-5f));
  });
  T.add("batch_normalization", [](const OpCall &C) {
    return batchNorm(C.Limit, C.in(0), C.in(1), C.in(2), C.in(3), C.in(4),
                     C.floatAttr("epsilon", 1e-5f));
  });
  T.add("lp_normalization", [](const OpCall &C) {
    return lpNorm(C.Limit, C.in(0), C.attr("axis", -1), C.attr("p", 2));
  });
  T.add("mean_variance_normalization", meanVarianceOp);
}

static void addRearrangements(OpTable &T) {
  T.add("einsum", [](const OpCall &C) {
    return einsum(C.Limit, C.text("equation", ""), C.Inputs);
  });
  T.add("compress", [](const OpCall &C) {
    return compress(C.Limit, C.in(0), C.in(1), optionalAttr(C, "axis"));
  });
  T.add("reverse_sequence", [](const OpCall &C) {
    return reverseSequence(C.Limit, C.in(0), C.in(1), C.attr("batch_axis", 1),
                           C.attr("time_axis", 0));
  });
  T.many("unique", [](const OpCall &C) {
    return unique(C.Limit, C.in(0), optionalAttr(C, "axis"),
                  C.attr("sorted", 1));
  });
  T.add("center_crop_pad", centerCropPadOp);
  T.add("depth_to_space", [](const OpCall &C) {
    return depthToSpace(C.Limit, C.in(0), C.attr("blocksize", 1),
                        C.text("mode", "DCR") == "CRD");
  });
  T.add("space_to_depth", [](const OpCall &C) {
    return spaceToDepth(C.Limit, C.in(0), C.attr("blocksize", 1),
                        C.text("mode", "DCR") == "CRD");
  });
}

void addWholeOps(OpTable &T) {
  addActivations(T);
  addAttention(T);
  addQuantised(T);
  addNorms(T);
  addRearrangements(T);
}

} // namespace llmc::eval
