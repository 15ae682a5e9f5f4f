// From ops of the onnx dialect to evaluator operations: the primitives, and the
// lookup in the table of all.
#include "compiler/eval/Convert.h"
#include "compiler/eval/EvaluatorTable.h"
#include "compiler/eval/Microsoft.h"

#include "llvm/ADT/StringSwitch.h"

using namespace mlir;

namespace llmc::eval {

namespace {
struct Table : OpTable {
  void addUnary(StringRef Name, Unary Kind) {
    add(Name,
        [Kind](const OpCall &C) { return unary(C.Limit, Kind, C.in(0)); });
  }
  void addBinary(StringRef Name, Binary Kind) {
    add(Name, [Kind](const OpCall &C) {
      return binary(C.Limit, Kind, C.in(0), C.in(1));
    });
  }
  void addCompare(StringRef Name, Compare Kind) {
    add(Name, [Kind](const OpCall &C) {
      return compare(C.Limit, Kind, C.in(0), C.in(1));
    });
  }
  void addLogical(StringRef Name, Logical Kind) {
    add(Name, [Kind](const OpCall &C) {
      return logical(C.Limit, Kind, C.in(0), C.in(1));
    });
  }
  void addReduce(StringRef Name, Reduce Kind) {
    add(Name, [Kind](const OpCall &C) {
      return reduce(C.Limit, Kind, C.in(0), C.ints(1), C.attr("keepdims", 1),
                    C.attr("noop_with_empty_axes", 0));
    });
  }
};
} // namespace

//===----------------------------------------------------------------------===//
// Elementwise
//===----------------------------------------------------------------------===//

static Result<Tensor> fold(const OpCall &C, Binary Kind) {
  Tensor Sum = C.in(0);
  for (unsigned I = 1; I < C.Inputs.size(); ++I) {
    LLMC_ASSIGN_OR_RETURN(Sum, binary(C.Limit, Kind, Sum, C.in(I)));
  }
  return Sum;
}

static Result<Tensor> mean(const OpCall &C) {
  LLMC_ASSIGN_OR_RETURN(Tensor Sum, fold(C, Binary::Add));
  Tensor Count =
      Tensor::ofFloats(Sum.Type, {}, {static_cast<double>(C.Inputs.size())});
  return binary(C.Limit, Binary::Div, Sum, Count);
}

static PowerRounding powerRounding(const OpCall &C) {
  return llvm::StringSwitch<PowerRounding>(C.text("round_mode", "up"))
      .Case("down", PowerRounding::Down)
      .Case("nearest", PowerRounding::Nearest)
      .Default(PowerRounding::Up);
}

static Result<Tensor> castOp(const OpCall &C) {
  TypeAttr To = C.Op->getAttrOfType<TypeAttr>("to");
  DType T = To ? dtypeOf(To.getValue()) : DType::None;
  if (T == DType::None)
    return unsupportedError("evaluation: cast to an unknown type");
  return cast(C.Limit, C.in(0), T, C.attr("saturate", 1), powerRounding(C));
}

static Outputs dropout(const OpCall &C) {
  bool Training = C.in(2).present() && C.in(2).count() == 1 && C.in(2).Bytes[0];
  bool Nothing =
      C.in(1).present() && C.in(1).count() == 1 && floatAt(C.in(1), 0) == 0;
  if (Training && !Nothing)
    return unsupportedError("dropout in training mode is not supported");
  std::vector<Tensor> Out{C.in(0)};
  LLMC_ASSIGN_OR_RETURN(Tensor Mask,
                        C.Limit.allocate(DType::Bool, C.in(0).Shape));
  std::fill(Mask.Bytes.begin(), Mask.Bytes.end(), 1);
  Out.push_back(std::move(Mask));
  return Out;
}

static void addElementwise(Table &T) {
  static const std::pair<const char *, Unary> Unaries[] = {
      {"neg", Unary::Neg},           {"abs", Unary::Abs},
      {"sqrt", Unary::Sqrt},         {"reciprocal", Unary::Reciprocal},
      {"exp", Unary::Exp},           {"log", Unary::Log},
      {"erf", Unary::Erf},           {"sin", Unary::Sin},
      {"cos", Unary::Cos},           {"tanh", Unary::Tanh},
      {"sigmoid", Unary::Sigmoid},   {"relu", Unary::Relu},
      {"softplus", Unary::Softplus}, {"floor", Unary::Floor},
      {"ceil", Unary::Ceil},         {"round", Unary::Round},
      {"sign", Unary::Sign}};
  for (const auto &[Name, Kind] : Unaries)
    T.addUnary(Name, Kind);
  static const std::pair<const char *, Binary> Binaries[] = {
      {"add", Binary::Add},
      {"sub", Binary::Sub},
      {"mul", Binary::Mul},
      {"div", Binary::Div},
      {"pow", Binary::Pow}};
  for (const auto &[Name, Kind] : Binaries)
    T.addBinary(Name, Kind);
  T.addCompare("equal", Compare::Equal);
  T.addCompare("less", Compare::Less);
  T.addCompare("less_or_equal", Compare::LessOrEqual);
  T.addCompare("greater", Compare::Greater);
  T.addCompare("greater_or_equal", Compare::GreaterOrEqual);
  T.addLogical("and", Logical::And);
  T.addLogical("or", Logical::Or);
  T.addLogical("xor", Logical::Xor);
  T.add("max", [](const OpCall &C) { return fold(C, Binary::Max); });
  T.add("min", [](const OpCall &C) { return fold(C, Binary::Min); });
  T.add("sum", [](const OpCall &C) { return fold(C, Binary::Add); });
  T.add("mean", mean);
  T.add("identity", [](const OpCall &C) { return Result<Tensor>(C.in(0)); });
  T.add("not", [](const OpCall &C) { return logicalNot(C.Limit, C.in(0)); });
  T.add("is_nan", [](const OpCall &C) { return isNan(C.Limit, C.in(0)); });
  T.add("is_inf", [](const OpCall &C) {
    return isInf(C.Limit, C.in(0), C.attr("detect_positive", 1),
                 C.attr("detect_negative", 1));
  });
  T.add("mod", [](const OpCall &C) {
    return binary(C.Limit, C.attr("fmod", 0) ? Binary::FMod : Binary::Mod,
                  C.in(0), C.in(1));
  });
  T.add("where", [](const OpCall &C) {
    return where(C.Limit, C.in(0), C.in(1), C.in(2));
  });
  T.add("clip", [](const OpCall &C) {
    return clip(C.Limit, C.in(0), C.in(1), C.in(2));
  });
  T.add("gelu", [](const OpCall &C) {
    bool Tanh = C.text("approximate", "none") == "tanh";
    return unary(C.Limit, Tanh ? Unary::GeluTanh : Unary::Gelu, C.in(0));
  });
  T.add("cast", castOp);
  T.add("cast_like", [](const OpCall &C) {
    return cast(C.Limit, C.in(0), C.in(1).Type, C.attr("saturate", 1),
                powerRounding(C));
  });
  T.many("dropout", dropout);
}

//===----------------------------------------------------------------------===//
// Shapes and layout
//===----------------------------------------------------------------------===//

static Result<Tensor> shapeOf(const OpCall &C) {
  int64_t Rank = C.in(0).rank();
  SliceRange R = sliceRange(Rank, C.attr("start", 0), C.attr("end", Rank), 1);
  LLMC_ASSIGN_OR_RETURN(Tensor Out, C.Limit.allocate(DType::I64, {R.Count}));
  for (int64_t I = 0; I < R.Count; ++I)
    Out.data<int64_t>()[I] = C.in(0).Shape[static_cast<size_t>(R.Begin + I)];
  return Out;
}

static Result<Tensor> transposeOp(const OpCall &C) {
  DenseI64ArrayAttr Perm = C.Op->getAttrOfType<DenseI64ArrayAttr>("perm");
  Dims P;
  if (Perm)
    P.assign(Perm.asArrayRef().begin(), Perm.asArrayRef().end());
  return transpose(C.Limit, C.in(0), P);
}

static Outputs splitOp(const OpCall &C) {
  int64_t Axis = C.attr("axis", 0);
  LLMC_ASSIGN_OR_RETURN(int64_t A, normaliseAxis(Axis, C.in(0).rank()));
  Dims Sizes = C.ints(1);
  int64_t Dim = C.in(0).Shape[static_cast<size_t>(A)];
  int64_t Parts = C.attr("num_outputs", C.Op->getNumResults());
  if (!C.in(1).present() && Parts > 0 && Parts <= (1 << 20)) {
    int64_t Each = (Dim + Parts - 1) / Parts;
    for (int64_t I = 0; I < Parts; ++I)
      Sizes.push_back(std::clamp<int64_t>(Dim - I * Each, 0, Each));
  }
  if (Sizes.size() != C.Op->getNumResults())
    return malformedError("split into " + std::to_string(Sizes.size()) +
                          " parts, expected " +
                          std::to_string(C.Op->getNumResults()));
  return split(C.Limit, C.in(0), A, Sizes);
}

static Result<Tensor> padOp(const OpCall &C) {
  Dims Pads = C.ints(1), Axes = C.ints(3);
  size_t Rank = C.in(0).Shape.size();
  if (!C.in(3).present())
    for (size_t I = 0; I < Rank; ++I)
      Axes.push_back(static_cast<int64_t>(I));
  if (Pads.size() != 2 * Axes.size())
    return malformedError("pad: " + std::to_string(Pads.size()) + " pads for " +
                          std::to_string(Axes.size()) + " axes");
  Dims Begin(Rank, 0), End(Rank, 0);
  for (size_t I = 0; I < Axes.size(); ++I) {
    LLMC_ASSIGN_OR_RETURN(int64_t A, normaliseAxis(Axes[I], C.in(0).rank()));
    Begin[static_cast<size_t>(A)] = Pads[I];
    End[static_cast<size_t>(A)] = Pads[I + Axes.size()];
  }
  PadMode Mode = llvm::StringSwitch<PadMode>(C.text("mode", "constant"))
                     .Case("reflect", PadMode::Reflect)
                     .Case("edge", PadMode::Edge)
                     .Case("wrap", PadMode::Wrap)
                     .Default(PadMode::Constant);
  return pad(C.Limit, C.in(0), Begin, End, Mode, C.in(2));
}

static Result<Tensor> constantOfShapeOp(const OpCall &C) {
  Tensor Value = Tensor::ofFloats(DType::F32, {}, {0});
  if (ElementsAttr A = C.Op->getAttrOfType<ElementsAttr>("value")) {
    LLMC_ASSIGN_OR_RETURN(Value, fromAttribute(C.Limit, A));
  }
  return constantOfShape(C.Limit, C.ints(0), Value);
}

static Result<Tensor> triluOp(const OpCall &C) {
  LLMC_ASSIGN_OR_RETURN(int64_t K, C.scalar(1, 0));
  return trilu(C.Limit, C.in(0), K, C.attr("upper", 1));
}

static Result<Tensor> eyeLikeOp(const OpCall &C) {
  TypeAttr T = C.Op->getAttrOfType<TypeAttr>("dtype");
  DType Type = T ? dtypeOf(T.getValue()) : C.in(0).Type;
  if (Type == DType::None)
    return unsupportedError("evaluation: eye_like of an unknown type");
  return eyeLike(C.Limit, C.in(0), Type, C.attr("k", 0));
}

static void addShapes(Table &T) {
  T.add("shape", shapeOf);
  T.add("size", [](const OpCall &C) {
    return Result<Tensor>(Tensor::ofInts(DType::I64, {}, {C.in(0).count()}));
  });
  T.add("reshape", [](const OpCall &C) {
    return reshape(C.Limit, C.in(0), C.ints(1), C.attr("allowzero", 0));
  });
  T.add("flatten", [](const OpCall &C) {
    return flatten(C.Limit, C.in(0), C.attr("axis", 1));
  });
  T.add("squeeze", [](const OpCall &C) {
    return squeeze(C.Limit, C.in(0), C.ints(1), !C.in(1).present());
  });
  T.add("unsqueeze",
        [](const OpCall &C) { return unsqueeze(C.Limit, C.in(0), C.ints(1)); });
  T.add("transpose", transposeOp);
  T.add("expand",
        [](const OpCall &C) { return expand(C.Limit, C.in(0), C.ints(1)); });
  T.add("tile",
        [](const OpCall &C) { return tile(C.Limit, C.in(0), C.ints(1)); });
  T.add("concat", [](const OpCall &C) {
    return concat(C.Limit, C.Inputs, C.attr("axis", 0));
  });
  T.many("split", splitOp);
  T.add("slice", [](const OpCall &C) {
    return slice(C.Limit, C.in(0), C.ints(1), C.ints(2), C.ints(3), C.ints(4));
  });
  T.add("pad", padOp);
  T.add("range", [](const OpCall &C) {
    return range(C.Limit, C.in(0), C.in(1), C.in(2));
  });
  T.add("constant_of_shape", constantOfShapeOp);
  T.add("trilu", triluOp);
  T.add("eye_like", eyeLikeOp);
}

//===----------------------------------------------------------------------===//
// Indices, axes, products
//===----------------------------------------------------------------------===//

static ScatterMode scatterMode(const OpCall &C) {
  return llvm::StringSwitch<ScatterMode>(C.text("reduction", "none"))
      .Case("add", ScatterMode::Add)
      .Case("mul", ScatterMode::Mul)
      .Case("min", ScatterMode::Min)
      .Case("max", ScatterMode::Max)
      .Default(ScatterMode::None);
}

static Outputs topKOp(const OpCall &C) {
  LLMC_ASSIGN_OR_RETURN(int64_t K, C.scalar(1, 0));
  return topK(C.Limit, C.in(0), K, C.attr("axis", -1), C.attr("largest", 1));
}

static Result<Tensor> oneHotOp(const OpCall &C) {
  if (C.in(1).count() != 1)
    return malformedError("one_hot: depth is " + describe(C.in(1)));
  return oneHot(C.Limit, C.in(0), load<int64_t>(C.in(1))[0], C.in(2),
                C.attr("axis", -1));
}

static void addIndexing(Table &T) {
  T.add("gather", [](const OpCall &C) {
    return gather(C.Limit, C.in(0), C.in(1), C.attr("axis", 0));
  });
  T.add("gather_elements", [](const OpCall &C) {
    return gatherElements(C.Limit, C.in(0), C.in(1), C.attr("axis", 0));
  });
  T.add("gather_nd", [](const OpCall &C) {
    return gatherNd(C.Limit, C.in(0), C.in(1), C.attr("batch_dims", 0));
  });
  T.add("scatter_elements", [](const OpCall &C) {
    return scatterElements(C.Limit, C.in(0), C.in(1), C.in(2),
                           C.attr("axis", 0), scatterMode(C));
  });
  T.add("scatter_nd", [](const OpCall &C) {
    return scatterNd(C.Limit, C.in(0), C.in(1), C.in(2), scatterMode(C));
  });
  for (bool Products : {false, true})
    T.add(Products ? "cum_prod" : "cum_sum",
          [Products](const OpCall &C) -> Result<Tensor> {
            LLMC_ASSIGN_OR_RETURN(int64_t Axis, C.scalar(1, 0));
            return cumulate(C.Limit, C.in(0), Axis, C.attr("exclusive", 0),
                            C.attr("reverse", 0), Products);
          });
  T.many("top_k", topKOp);
  for (bool Max : {true, false})
    T.add(Max ? "arg_max" : "arg_min", [Max](const OpCall &C) {
      return argReduce(C.Limit, C.in(0), C.attr("axis", 0),
                       C.attr("keepdims", 1), Max,
                       C.attr("select_last_index", 0));
    });
  T.add("non_zero", [](const OpCall &C) { return nonZero(C.Limit, C.in(0)); });
  T.add("one_hot", oneHotOp);
  T.addReduce("reduce_mean", Reduce::Mean);
  T.addReduce("reduce_sum", Reduce::Sum);
  T.addReduce("reduce_max", Reduce::Max);
  T.addReduce("reduce_min", Reduce::Min);
  T.addReduce("reduce_prod", Reduce::Prod);
  T.addReduce("reduce_sum_square", Reduce::SumSquare);
  T.addReduce("reduce_l1", Reduce::L1);
  T.addReduce("reduce_l2", Reduce::L2);
  T.addReduce("reduce_log_sum", Reduce::LogSum);
  T.addReduce("reduce_log_sum_exp", Reduce::LogSumExp);
}

static void addNeural(Table &T) {
  T.add("mat_mul",
        [](const OpCall &C) { return matMul(C.Limit, C.in(0), C.in(1)); });
  T.add("gemm", [](const OpCall &C) {
    return gemm(C.Limit, C.in(0), C.in(1), C.in(2), C.floatAttr("alpha", 1),
                C.floatAttr("beta", 1), C.attr("transA", 0),
                C.attr("transB", 0));
  });
  for (bool Log : {false, true})
    T.add(Log ? "log_softmax" : "softmax", [Log](const OpCall &C) {
      return softmax(C.Limit, C.in(0), C.attr("axis", -1), Log);
    });
  T.many("layer_normalization", [](const OpCall &C) {
    return layerNorm(C.Limit, C.in(0), C.in(1), C.in(2), C.attr("axis", -1),
                     C.floatAttr("epsilon", 1e-5f),
                     C.attr("stash_type", 1) == 1);
  });
  T.add("rms_normalization", [](const OpCall &C) {
    return rmsNorm(C.Limit, C.in(0), C.in(1), C.attr("axis", -1),
                   C.floatAttr("epsilon", 1e-5f));
  });
}

const OpHandler *handlerOf(StringRef OpName) {
  static const Table Handlers = [] {
    Table T;
    addElementwise(T);
    addShapes(T);
    addIndexing(T);
    addNeural(T);
    addWholeOps(T);
    addMicrosoftHandlers(T.Map);
    return T;
  }();
  auto It = Handlers.Map.find(OpName);
  return It == Handlers.Map.end() ? nullptr : &It->second;
}

} // namespace llmc::eval
