// llm.quantized symbols; see QuantizedMaker.h. Everything is checked against
// the sizes that the encoding needs: files are not trusted.
#include "passes/raise/QuantizedMaker.h"

#include "compiler/eval/Convert.h"
#include "passes/raise/Heads.h"
#include "passes/raise/Match.h"
#include "passes/raise/QuantizedSlice.h"

#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;

namespace llmc::raise {

DType elementOf(Type T) { return eval::dtypeOf(T); }

QuantizedMaker::QuantizedMaker(ModuleOp M, const eval::WeightReader &TheReader)
    : Reader(TheReader), Symbols(M), Builder(M.getContext()) {
  Builder.setInsertionPointToEnd(M.getBody());
  for (Operation &Op : *M.getBody())
    if (isa<FunctionOpInterface>(Op)) {
      Builder.setInsertionPoint(&Op);
      break;
    }
}

static bool keepsOrder(Operation *Op) {
  if (isa<onnx::IdentityOp, onnx::ReshapeOp, onnx::UnsqueezeOp, onnx::SqueezeOp,
          onnx::FlattenOp>(Op))
    return true;
  onnx::CastOp Cast = dyn_cast<onnx::CastOp>(Op);
  return Cast && Cast.getTo().isF32() &&
         isa<FloatType>(getElementTypeOrSelf(Cast.getInput()));
}

std::optional<RawTensor> QuantizedMaker::raw(Value V) {
  if (!V || onnx::isNone(V))
    return std::nullopt;
  while (Operation *Op = V.getDefiningOp()) {
    RawTensor Out;
    RankedTensorType Type;
    if (onnx::WeightOp Weight = dyn_cast<onnx::WeightOp>(Op)) {
      Out.Data = Symbols.lookup(Weight.getDataAttr().getValue());
      Type = cast<RankedTensorType>(Weight.getType());
    } else if (onnx::ConstantOp Constant = dyn_cast<onnx::ConstantOp>(Op)) {
      Out.Data = Constant;
      Type = cast<RankedTensorType>(Constant.getType());
    } else if (keepsOrder(Op)) {
      V = Op->getOperand(0);
      continue;
    } else {
      return std::nullopt;
    }
    Out.Element = Type.getElementType();
    Out.Count = Type.getNumElements();
    return Out;
  }
  return std::nullopt;
}

std::optional<double> QuantizedMaker::scalarOf(Value V) {
  std::optional<RawTensor> T = raw(V);
  onnx::ConstantOp Constant =
      T ? dyn_cast<onnx::ConstantOp>(T->Data) : onnx::ConstantOp();
  if (!Constant || T->Count != 1)
    return std::nullopt;
  if (DType Type = elementOf(T->Element);
      bitsOf(Type) == 8 && isa<FloatType>(T->Element)) {
    // A zero point of 8-bit floats is zero.
    return 0.0;
  }
  eval::Budget Limit(4, 16);
  Result<eval::Tensor> Value = eval::fromAttribute(Limit, Constant.getValue());
  if (!Value)
    return std::nullopt;
  return eval::floatAt(*Value, 0);
}

std::optional<std::vector<double>> QuantizedMaker::numbersOf(Value V) {
  std::optional<RawTensor> T = raw(V);
  if (!T)
    return std::nullopt;
  std::vector<uint8_t> Bytes;
  eval::Budget Limit(T->Count + 1, 2 * T->Count + 1);
  Result<eval::Tensor> Values = unsupportedError("no reader");
  if (onnx::ConstantOp C = dyn_cast<onnx::ConstantOp>(T->Data))
    Values = eval::fromAttribute(Limit, C.getValue());
  else if (Reader && Reader(cast<onnx::WeightDataOp>(T->Data), Bytes).ok())
    Values = eval::fromFileBytes(
        Limit, RankedTensorType::get({T->Count}, T->Element), Bytes);
  if (!Values)
    return std::nullopt;
  std::vector<double> Out;
  for (int64_t I = 0; I < T->Count; ++I)
    Out.push_back(eval::isFloat(Values->Type)
                      ? eval::floatAt(*Values, I)
                      : static_cast<double>(eval::intAt(*Values, I)));
  return Out;
}

/// An llm.source of all elements as one row: the encoding knows their places.
FlatSymbolRefAttr QuantizedMaker::source(const RawTensor &T) {
  FlatSymbolRefAttr &Ref = Sources[T.Data];
  if (Ref)
    return Ref;
  RankedTensorType Flat = RankedTensorType::get({T.Count}, T.Element);
  llm::SourceOp Op;
  if (onnx::ConstantOp Constant = dyn_cast<onnx::ConstantOp>(T.Data)) {
    DenseElementsAttr Data = cast<DenseElementsAttr>(Constant.getValue());
    Op = llm::SourceOp::create(
        Builder, T.Data->getLoc(),
        Builder.getStringAttr("codes." + nodeName(Constant)),
        TypeAttr::get(Flat), IntegerAttr(), IntegerAttr(), IntegerAttr(),
        Data.reshape(Flat));
  } else {
    onnx::WeightDataOp Weight = cast<onnx::WeightDataOp>(T.Data);
    Op = llm::SourceOp::create(
        Builder, T.Data->getLoc(),
        Builder.getStringAttr("codes." + Weight.getSymName()),
        TypeAttr::get(Flat), Builder.getI64IntegerAttr(Weight.getFile()),
        Builder.getI64IntegerAttr(Weight.getOffset()),
        Builder.getI64IntegerAttr(Weight.getLength()), ElementsAttr());
  }
  Symbols.insert(Op); // renames on collision
  return Ref = FlatSymbolRefAttr::get(Op.getSymNameAttr());
}

/// A product of tensors of the file, at most one of which has more than one
/// element: that one and the factor of the others.
bool QuantizedMaker::factor(Value V, Value &Main, double &Times) {
  if (onnx::MulOp Mul = producer<onnx::MulOp>(V))
    return factor(Mul.getLhs(), Main, Times) &&
           factor(Mul.getRhs(), Main, Times);
  if (!isRaw(V))
    return false;
  std::optional<double> One = scalarOf(V), Before = scalarOf(Main);
  if (!Main) {
    Main = V;
  } else if (One) {
    Times *= *One;
  } else if (Before) {
    Times *= *Before;
    Main = V;
  } else {
    return false;
  }
  return true;
}

/// Scales may be quantised themselves, with one scale for all (NVFP4).
bool QuantizedMaker::setScale(const QuantizedOperands &Parts, Encoding &How,
                              QuantizedOperands &Taken) {
  if (llm::QuantizedValueOp Inner =
          producer<llm::QuantizedValueOp>(Parts.Scales)) {
    QuantizedOperands Of = Origins.lookup(Inner);
    std::optional<double> Scale = scalarOf(Of.Scales);
    if (!Scale ||
        (Of.Zeros && !onnx::isNone(Of.Zeros) && scalarOf(Of.Zeros) != 0.0))
      return false;
    Taken.Scales = Of.Codes;
    How.Times *= static_cast<float>(*Scale);
  }
  if (!isRaw(Taken.Scales)) {
    Value Main;
    double Times = 1;
    if (!factor(Taken.Scales, Main, Times))
      return false;
    Taken.Scales = Main;
    How.Times *= static_cast<float>(Times);
  }
  std::optional<RawTensor> T = raw(Taken.Scales);
  How.Scale =
      Parts.ScaleAs == DType::None ? elementOf(T->Element) : Parts.ScaleAs;
  return How.Scale != DType::None;
}

bool QuantizedMaker::setZero(const QuantizedOperands &Parts, Encoding &How,
                             QuantizedOperands &Taken) {
  if (!Parts.Zeros || onnx::isNone(Parts.Zeros)) {
    Taken.Zeros = {};
    return true;
  }
  if (How.Zero == DType::None)
    if (std::optional<double> One = scalarOf(Parts.Zeros)) {
      How.Zero = DType::None;
      How.ZeroValue = static_cast<float>(*One);
      Taken.Zeros = {};
      return true;
    }
  std::optional<RawTensor> T = raw(Parts.Zeros);
  if (!T)
    return false;
  if (How.Zero == DType::None)
    How.Zero = elementOf(T->Element);
  return How.Zero != DType::None;
}

/// The bytes of T that are of that part.
static uint64_t bytesIn(const RawTensor &T, int64_t Parts) {
  uint64_t Bits = static_cast<uint64_t>(T.Count) *
                  std::max(1u, T.Element.getIntOrFloatBitWidth());
  uint64_t Bytes = (Bits + 7) / 8;
  return T.Count == 1 ? Bytes : Bytes / static_cast<uint64_t>(Parts);
}

FlatSymbolRefAttr QuantizedMaker::partOf(const RawTensor &T,
                                         const QuantizedOperands &Of) {
  FlatSymbolRefAttr Whole = source(T);
  if (Of.Parts == 1 || T.Count == 1)
    return Whole;
  int64_t Bytes = static_cast<int64_t>(bytesIn(T, Of.Parts));
  llm::SourceOp Part = bytesOf(Symbols.lookup<llm::SourceOp>(Whole.getValue()),
                               Of.Part * Bytes, Bytes, Symbols, Builder);
  return Part ? FlatSymbolRefAttr::get(Part.getSymNameAttr())
              : FlatSymbolRefAttr();
}

Value QuantizedMaker::make(Operation *At, ArrayRef<int64_t> Shape,
                           const QuantizedOperands &Parts, Encoding How) {
  QuantizedOperands Taken = Parts;
  if (!isRaw(Parts.Codes) || !setScale(Parts, How, Taken) ||
      !setZero(Parts, How, Taken))
    return {};
  uint64_t Rows = static_cast<uint64_t>(Shape[0]);
  uint64_t Cols = Shape.size() > 1 ? static_cast<uint64_t>(Shape[1]) : 1;
  const auto Fits = [&](const char *What, Value V, uint64_t Want) {
    std::optional<RawTensor> T = raw(V);
    uint64_t Have = T ? bytesIn(*T, Parts.Parts) : 0;
    if (Have == Want)
      return true;
    At->emitError() << What << " have " << Have << " bytes, " << Rows << " x "
                    << Cols << " needs " << Want;
    return false;
  };
  // Packed codes end with a whole byte.
  if (!Fits("codes", Taken.Codes, codeBytes(How, Rows)) ||
      !Fits("scales", Taken.Scales, scaleBytes(How, Rows, Cols)) ||
      (Taken.Zeros && !Fits("zero points", Taken.Zeros, zeroBytes(How, Rows))))
    return {};
  Value Made = madeBefore(At, Shape, Taken, How);
  Origins[Made.getDefiningOp()] = Parts;
  return Made;
}

Value QuantizedMaker::madeBefore(Operation *At, ArrayRef<int64_t> Shape,
                                 const QuantizedOperands &Taken,
                                 const Encoding &How) {
  const auto Ref = [&](Value V) {
    std::optional<RawTensor> T = raw(V);
    return T ? partOf(*T, Taken) : FlatSymbolRefAttr();
  };
  RankedTensorType Type = RankedTensorType::get(Shape, Builder.getF32Type());
  StringAttr Text = Builder.getStringAttr(toText(How));
  FlatSymbolRefAttr Refs[] = {Ref(Taken.Codes), Ref(Taken.Scales),
                              Ref(Taken.Zeros), Ref(Taken.Groups)};
  SmallVector<Attribute> Key{TypeAttr::get(Type), Text};
  for (FlatSymbolRefAttr R : Refs)
    Key.push_back(R ? Attribute(R) : Builder.getUnitAttr());
  llm::QuantizedOp &Op = Known[Builder.getArrayAttr(Key)];
  if (!Op) {
    StringRef Name = Refs[0].getValue();
    Name.consume_front("codes.");
    Op = llm::QuantizedOp::create(Builder, raw(Taken.Codes)->Data->getLoc(),
                                  Builder.getStringAttr("src." + Name),
                                  TypeAttr::get(Type), Refs[0], Refs[1],
                                  Refs[2], Refs[3], Text);
    Symbols.insert(Op);
  }
  OpBuilder B(At);
  return llm::QuantizedValueOp::create(
      B, At->getLoc(), Type, FlatSymbolRefAttr::get(Op.getSymNameAttr()));
}

Value QuantizedMaker::byAxis(Operation *At, ArrayRef<int64_t> Shape,
                             const QuantizedOperands &Parts, BlockAxis Blocks,
                             double Times) {
  std::optional<RawTensor> Codes = raw(Parts.Codes);
  Value MainScale;
  double Ignored = 1;
  std::optional<RawTensor> Scales =
      factor(Parts.Scales, MainScale, Ignored) ? raw(MainScale) : std::nullopt;
  if (!Codes)
    return {};
  Encoding How;
  How.Code = elementOf(Codes->Element);
  if (How.Code == DType::None || How.Code == DType::F32)
    return {};
  uint64_t Rows = static_cast<uint64_t>(Shape[0]);
  uint64_t Cols = Shape.size() > 1 ? static_cast<uint64_t>(Shape[1]) : 1;
  How.Pitch = Cols;
  How.Times = static_cast<float>(Times);
  uint64_t Size = static_cast<uint64_t>(std::max<int64_t>(Blocks.Size, 1));
  if (Scales && Scales->Count == 1) {
    How.BlockRows = Rows;
    How.BlockCols = Cols;
    How.ScalePitch = 1;
  } else if (Blocks.Axis == 0) {
    How.BlockRows = Size;
    How.BlockCols = Blocks.Size > 0 ? 1 : Cols;
    How.ScalePitch = Blocks.Size > 0 ? Cols : 1;
  } else {
    How.BlockRows = Blocks.Size > 0 ? 1 : Rows;
    How.BlockCols = Size;
    How.ScalePitch = (Cols + Size - 1) / Size;
  }
  // One zero point for all is a number; others lie as the scales do.
  if (Parts.Zeros && !onnx::isNone(Parts.Zeros) && !scalarOf(Parts.Zeros))
    if (std::optional<RawTensor> Zeros = raw(Parts.Zeros)) {
      How.Zero = elementOf(Zeros->Element);
      How.ZeroPitch = How.ScalePitch;
    }
  return make(At, Shape, Parts, How);
}

/// Dims of 1 change no place; the others with the place of the axis among them.
static SmallVector<int64_t> withoutOnes(ArrayRef<int64_t> Shape,
                                        int64_t &Axis) {
  SmallVector<int64_t> Out;
  int64_t Before = 0;
  for (auto [I, Dim] : llvm::enumerate(Shape))
    if (Dim != 1) {
      Before += static_cast<int64_t>(I) < Axis;
      Out.push_back(Dim);
    }
  Axis = Before;
  return Out;
}

Value QuantizedMaker::byAxisOfMany(Operation *At, ArrayRef<int64_t> Shape,
                                   const QuantizedOperands &Parts,
                                   BlockAxis Blocks, double Times) {
  bool Whole = scalarOf(Parts.Scales).has_value();
  if (!Whole && Shape[static_cast<size_t>(Blocks.Axis)] == 1)
    return {};
  SmallVector<int64_t> Dims = withoutOnes(Shape, Blocks.Axis);
  if (Dims.empty())
    Dims.push_back(1);
  // A matrix of rows of the last dim.
  int64_t Last = Dims.size() > 1 ? Dims.back() : 1;
  int64_t Count = ShapedType::getNumElements(Dims), Rows = Count / Last;
  int64_t Outer = 1, Inner = 1, Axis = Blocks.Axis;
  for (auto [I, Dim] : llvm::enumerate(Dims))
    if (static_cast<int64_t>(I) != Axis)
      (static_cast<int64_t>(I) < Axis ? Outer : Inner) *= Dim;
  Value W;
  SmallVector<int64_t> Matrix{Rows, Last};
  if (Dims.size() == 1) {
    Matrix.pop_back();
    Blocks.Axis = 0;
    W = byAxis(At, Matrix, Parts, Blocks, Times);
  } else if (Whole || Inner == 1) {
    Blocks.Axis = 1;
    W = byAxis(At, Matrix, Parts, Blocks, Times);
  } else if (Blocks.Size > 0
                 ? Inner == Last &&
                       (Outer == 1 || Dims[size_t(Axis)] % Blocks.Size == 0)
                 : Outer == 1 && Inner == Last) {
    Blocks.Axis = 0;
    W = byAxis(At, Matrix, Parts, Blocks, Times);
  } else if (Blocks.Size == 0 && Outer == 1) {
    // One scale for several rows.
    std::optional<RawTensor> Codes = raw(Parts.Codes), Zeros = raw(Parts.Zeros);
    Encoding How;
    How.Code = Codes ? elementOf(Codes->Element) : DType::None;
    if (How.Code == DType::None || How.Code == DType::F32)
      return {};
    How.Pitch = How.BlockCols = static_cast<uint64_t>(Last);
    How.BlockRows = static_cast<uint64_t>(Inner / Last);
    How.Times = static_cast<float>(Times);
    if (Zeros && Zeros->Count > 1) {
      How.Zero = elementOf(Zeros->Element);
      How.ZeroPitch = 1;
    }
    W = make(At, Matrix, Parts, How);
  }
  if (!W || ArrayRef<int64_t>(Matrix) == Shape)
    return W;
  OpBuilder B(At);
  return reshapeTo(B, At->getLoc(), W, Shape);
}

} // namespace llmc::raise
