// llm.source and llm.weight symbols from onnx weights; see Weights.h. While
// both dialects are in the module, sources are named "src.NAME" and weights
// "w.NAME" after the initializer; raise-model drops the "w.".
#include "passes/raise/Weights.h"

#include "passes/raise/Match.h"
#include "passes/raise/QuantizedSlice.h"

#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;

namespace llmc::raise {

WeightMaker::WeightMaker(ModuleOp M)
    : Module(M), Symbols(M), Builder(M.getContext()) {
  Builder.setInsertionPointToEnd(M.getBody());
  for (Operation &Op : *M.getBody()) {
    if (auto Func = dyn_cast<FunctionOpInterface>(Op)) {
      Builder.setInsertionPoint(Func);
      break;
    }
    if (auto Source = dyn_cast<llm::SourceOp>(Op); Source && Source.getData())
      Inline[*Source.getData()] =
          FlatSymbolRefAttr::get(Source.getSymNameAttr());
    if (auto Weight = dyn_cast<llm::WeightOp>(Op))
      Weights[{Weight.getPieces(), Weight.getType()}] =
          FlatSymbolRefAttr::get(Weight.getSymNameAttr());
  }
}

static SmallVector<int64_t> withoutOnes(ArrayRef<int64_t> Shape) {
  SmallVector<int64_t> Out;
  for (int64_t D : Shape)
    if (D != 1)
      Out.push_back(D);
  return Out;
}

/// The operand that Op passes on unchanged but for dims of 1; null otherwise.
static Value renamed(Operation *Op) {
  if (!isa<onnx::ReshapeOp, onnx::UnsqueezeOp, onnx::SqueezeOp, onnx::FlattenOp,
           onnx::CastOp, onnx::ExpandOp>(Op))
    return {};
  auto From = dyn_cast<RankedTensorType>(Op->getOperand(0).getType());
  auto To = dyn_cast<RankedTensorType>(Op->getResult(0).getType());
  if (!From || !To || !From.hasStaticShape() || !To.hasStaticShape() ||
      withoutOnes(From.getShape()) != withoutOnes(To.getShape()))
    return {};
  if (isa<onnx::CastOp>(Op) &&
      (!To.getElementType().isF32() || !isa<FloatType>(From.getElementType())))
    return {};
  return Op->getOperand(0);
}

/// Whether a transposition of a matrix (and dims of 1) swaps its two dims;
/// nothing when it is of something else.
static std::optional<bool> swapsMatrix(onnx::TransposeOp Op) {
  auto From = dyn_cast<RankedTensorType>(Op.getData().getType());
  if (!From || !From.hasStaticShape() ||
      withoutOnes(From.getShape()).size() != 2)
    return std::nullopt;
  SmallVector<int64_t> Kept;
  for (int64_t I = 0; I < From.getRank(); ++I) {
    int64_t Dim =
        Op.getPerm() ? (*Op.getPerm())[size_t(I)] : From.getRank() - 1 - I;
    if (From.getDimSize(Dim) != 1)
      Kept.push_back(Dim);
  }
  return Kept[0] > Kept[1];
}

std::optional<WeightView> WeightMaker::view(Value V) {
  auto Type = dyn_cast<RankedTensorType>(V.getType());
  if (!Type || !Type.hasStaticShape() || !isa<FloatType>(Type.getElementType()))
    return std::nullopt;
  WeightView Out;
  Out.Shape = withoutOnes(Type.getShape());
  while (Operation *Op = V.getDefiningOp()) {
    if (Value Next = skip(V); Next != V) {
      V = Next;
    } else if (auto Weight = dyn_cast<onnx::WeightOp>(Op)) {
      Out.Data = Symbols.lookup(Weight.getDataAttr().getValue());
      break;
    } else if (auto Codes = dyn_cast<llm::QuantizedValueOp>(Op)) {
      Out.Data = Symbols.lookup(Codes.getSource());
      break;
    } else if (isa<onnx::ConstantOp>(Op)) {
      Out.Data = Op;
      break;
    } else if (Value From = renamed(Op)) {
      V = From;
    } else if (auto Transpose = dyn_cast<onnx::TransposeOp>(Op)) {
      std::optional<bool> Swaps = swapsMatrix(Transpose);
      if (!Swaps)
        return std::nullopt;
      Out.Transposed ^= *Swaps;
      V = Transpose.getData();
    } else {
      return std::nullopt;
    }
  }
  if (!Out.Data || Out.Shape.size() > 2)
    return std::nullopt;
  return Out;
}

FlatSymbolRefAttr WeightMaker::data(StringRef Name, DenseElementsAttr Data,
                                    Location Loc) {
  FlatSymbolRefAttr &Ref = Inline[Data];
  if (Ref)
    return Ref;
  auto Op =
      llm::SourceOp::create(Builder, Loc, Builder.getStringAttr("src." + Name),
                            TypeAttr::get(Data.getType()), IntegerAttr(),
                            IntegerAttr(), IntegerAttr(), Data);
  Symbols.insert(Op); // renames on collision
  return Ref = FlatSymbolRefAttr::get(Op.getSymNameAttr());
}

FlatSymbolRefAttr WeightMaker::source(Operation *Data) {
  auto Shaped = [](ArrayRef<int64_t> Full, Type Element) {
    SmallVector<int64_t> Shape = withoutOnes(Full);
    if (Shape.empty())
      Shape.push_back(1);
    return RankedTensorType::get(Shape, Element);
  };
  if (auto Constant = dyn_cast<onnx::ConstantOp>(Data)) {
    auto Value = cast<DenseElementsAttr>(Constant.getValue());
    RankedTensorType Type =
        Shaped(Value.getType().getShape(), Value.getElementType());
    return data(nodeName(Constant), Value.reshape(Type), Data->getLoc());
  }
  if (auto Codes = dyn_cast<llm::QuantizedOp>(Data))
    return FlatSymbolRefAttr::get(Codes.getSymNameAttr());
  auto Weight = cast<onnx::WeightDataOp>(Data);
  std::string Name = ("src." + Weight.getSymName()).str();
  if (Symbols.lookup(Name))
    return FlatSymbolRefAttr::get(Module.getContext(), Name);
  auto Full = cast<RankedTensorType>(Weight.getType());
  auto Op = llm::SourceOp::create(
      Builder, Data->getLoc(), Builder.getStringAttr(Name),
      TypeAttr::get(Shaped(Full.getShape(), Full.getElementType())),
      Builder.getI64IntegerAttr(Weight.getFile()),
      Builder.getI64IntegerAttr(Weight.getOffset()),
      Builder.getI64IntegerAttr(Weight.getLength()), ElementsAttr());
  Symbols.insert(Op);
  return FlatSymbolRefAttr::get(Op.getSymNameAttr());
}

FlatSymbolRefAttr WeightMaker::make(StringRef Name, ArrayRef<int64_t> Shape,
                                    ArrayRef<llm::PieceAttr> Pieces) {
  SmallVector<Attribute> Attrs(Pieces.begin(), Pieces.end());
  ArrayAttr List = Builder.getArrayAttr(Attrs);
  auto Type = RankedTensorType::get(Shape, Builder.getF32Type());
  FlatSymbolRefAttr &Ref = Weights[{List, Type}];
  if (Ref)
    return Ref;
  Name.consume_front("src.");
  auto Op = llm::WeightOp::create(Builder, Module.getLoc(),
                                  Builder.getStringAttr("w." + Name),
                                  TypeAttr::get(Type), List);
  Symbols.insert(Op);
  return Ref = FlatSymbolRefAttr::get(Op.getSymNameAttr());
}

FlatSymbolRefAttr WeightMaker::matrix(const WeightView &View, bool InOut) {
  FlatSymbolRefAttr Source = source(View.Data);
  int64_t Out = View.Shape[InOut ? 1 : 0], In = View.Shape[InOut ? 0 : 1];
  auto Piece = llm::PieceAttr::get(Module.getContext(), Source, 0, Out,
                                   View.Transposed != InOut);
  return make(Source.getValue(), {Out, In}, Piece);
}

FlatSymbolRefAttr WeightMaker::vector(const WeightView &View) {
  FlatSymbolRefAttr Source = source(View.Data);
  int64_t Size = View.Shape.empty() ? 1 : View.Shape[0];
  auto Piece = llm::PieceAttr::get(Module.getContext(), Source, 0, Size, false);
  return make(Source.getValue(), {Size}, Piece);
}

FlatSymbolRefAttr WeightMaker::rows(FlatSymbolRefAttr Weight,
                                    ArrayRef<int64_t> Rows) {
  auto Whole = Symbols.lookup<llm::WeightOp>(Weight.getValue());
  SmallVector<int64_t> Shape(
      cast<RankedTensorType>(Whole.getType()).getShape());
  SmallVector<llm::PieceAttr> All(
      Whole.getPieces().getAsRange<llm::PieceAttr>()),
      Pieces;
  for (size_t I = 0; I < Rows.size();) {
    // The piece of row I, and how far the rows run on inside of it.
    int64_t Row = Rows[I];
    size_t P = 0;
    while (Row >= All[P].getCount())
      Row -= All[P++].getCount();
    size_t Run = 1;
    while (I + Run < Rows.size() && Rows[I + Run] == Rows[I] + int64_t(Run) &&
           Row + int64_t(Run) < All[P].getCount())
      ++Run;
    Pieces.push_back(llm::PieceAttr::get(
        Module.getContext(), All[P].getSource(), All[P].getBegin() + Row,
        int64_t(Run), All[P].getTransposed()));
    I += Run;
  }
  Shape[0] = int64_t(Rows.size());
  StringRef Name = Weight.getValue();
  Name.consume_front("w.");
  return make((Name + "." + Twine(Rows.front())).str(), Shape, Pieces);
}

FlatSymbolRefAttr WeightMaker::joined(ArrayRef<FlatSymbolRefAttr> All) {
  SmallVector<llm::PieceAttr> Pieces;
  SmallVector<int64_t> Shape;
  for (FlatSymbolRefAttr Ref : All) {
    auto W = Symbols.lookup<llm::WeightOp>(Ref.getValue());
    ArrayRef<int64_t> Mine = cast<RankedTensorType>(W.getType()).getShape();
    if (Shape.empty())
      Shape.assign(Mine.begin(), Mine.end());
    else
      Shape[0] += Mine[0];
    llvm::append_range(Pieces, W.getPieces().getAsRange<llm::PieceAttr>());
  }
  StringRef Name = All.front().getValue();
  Name.consume_front("w.");
  return make((Name + ".experts").str(), Shape, Pieces);
}

/// The quantised matrix of all rows of a cube, if Op makes one of it.
static llm::QuantizedOp stackedCodes(const SymbolTable &Symbols,
                                     Operation *Op) {
  auto Reshape = dyn_cast<onnx::ReshapeOp>(Op);
  auto Value = Reshape
                   ? Reshape.getData().getDefiningOp<llm::QuantizedValueOp>()
                   : llm::QuantizedValueOp();
  auto To = Reshape ? dyn_cast<RankedTensorType>(Reshape.getType())
                    : RankedTensorType();
  auto From =
      Value ? dyn_cast<RankedTensorType>(Value.getType()) : RankedTensorType();
  if (!From || !To || !To.hasStaticShape() || To.getRank() != 3 ||
      From.getRank() != 2 || From.getDimSize(1) != To.getDimSize(2))
    return {};
  return Symbols.lookup<llm::QuantizedOp>(Value.getSource());
}

std::optional<WeightView> WeightMaker::cube(Value V) {
  auto Type = dyn_cast<RankedTensorType>(V.getType());
  if (!Type || !Type.hasStaticShape() || Type.getRank() != 3 ||
      !isa<FloatType>(Type.getElementType()))
    return std::nullopt;
  WeightView Out;
  Out.Shape.assign(Type.getShape().begin(), Type.getShape().end());
  while (Operation *Op = V.getDefiningOp()) {
    if (Value Next = skip(V); Next != V) {
      V = Next;
    } else if (auto Weight = dyn_cast<onnx::WeightOp>(Op)) {
      Out.Data = Symbols.lookup(Weight.getDataAttr().getValue());
      break;
    } else if (isa<onnx::ConstantOp>(Op)) {
      Out.Data = Op;
      break;
    } else if (llm::QuantizedOp Codes = stackedCodes(Symbols, Op)) {
      Out.Data = Codes;
      break;
    } else if (auto Cast = dyn_cast<onnx::CastOp>(Op);
               Cast && Type.getElementType().isF32()) {
      V = Cast.getInput();
    } else if (auto Transpose = dyn_cast<onnx::TransposeOp>(Op);
               Transpose && Transpose.getPerm() &&
               *Transpose.getPerm() == ArrayRef<int64_t>{0, 2, 1}) {
      Out.Transposed = !Out.Transposed;
      V = Transpose.getData();
    } else {
      return std::nullopt;
    }
  }
  if (!Out.Data)
    return std::nullopt;
  return Out;
}

FlatSymbolRefAttr WeightMaker::part(Operation *Data, StringRef Suffix,
                                    int64_t Begin, ArrayRef<int64_t> Shape) {
  int64_t Count = ShapedType::getNumElements(Shape);
  if (auto Constant = dyn_cast<onnx::ConstantOp>(Data)) {
    auto All = cast<DenseElementsAttr>(Constant.getValue());
    SmallVector<Attribute> Values(All.getValues<Attribute>());
    auto Type = RankedTensorType::get(Shape, All.getElementType());
    return data((nodeName(Constant) + Suffix).str(),
                DenseElementsAttr::get(
                    Type, ArrayRef(Values).slice(size_t(Begin), size_t(Count))),
                Data->getLoc());
  }
  if (auto Codes = dyn_cast<llm::QuantizedOp>(Data)) {
    int64_t Cols = cast<RankedTensorType>(Codes.getType()).getDimSize(1);
    llm::QuantizedOp Rows =
        rowsOf(Codes, Begin / Cols, Shape[0], Symbols, Builder);
    return Rows ? FlatSymbolRefAttr::get(Rows.getSymNameAttr())
                : FlatSymbolRefAttr();
  }
  auto Weight = cast<onnx::WeightDataOp>(Data);
  std::string Name = ("src." + Weight.getSymName() + Suffix).str();
  if (Symbols.lookup(Name))
    return FlatSymbolRefAttr::get(Module.getContext(), Name);
  Type Element = cast<RankedTensorType>(Weight.getType()).getElementType();
  int64_t Bytes = int64_t(Element.getIntOrFloatBitWidth()) / 8;
  auto Op = llm::SourceOp::create(
      Builder, Data->getLoc(), Builder.getStringAttr(Name),
      TypeAttr::get(RankedTensorType::get(Shape, Element)),
      Builder.getI64IntegerAttr(Weight.getFile()),
      Builder.getI64IntegerAttr(int64_t(Weight.getOffset()) + Begin * Bytes),
      Builder.getI64IntegerAttr(Count * Bytes), ElementsAttr());
  Symbols.insert(Op);
  return FlatSymbolRefAttr::get(Op.getSymNameAttr());
}

FlatSymbolRefAttr WeightMaker::experts(const WeightView &View, bool InOut) {
  int64_t Experts = View.Shape[0], Out = View.Shape[InOut ? 2 : 1],
          In = View.Shape[InOut ? 1 : 2];
  // As it lies in the file.
  bool Turned = View.Transposed != InOut;
  SmallVector<int64_t> Stored{Turned ? In : Out, Turned ? Out : In};
  SmallVector<llm::PieceAttr> Pieces;
  if (isa<llm::QuantizedOp>(View.Data) && !Turned) {
    FlatSymbolRefAttr All = source(View.Data);
    return make(
        (All.getValue() + ".experts").str(), {Experts * Out, In},
        llm::PieceAttr::get(Module.getContext(), All, 0, Experts * Out, false));
  }
  FlatSymbolRefAttr First;
  for (int64_t E = 0; E < Experts; ++E) {
    FlatSymbolRefAttr Source =
        part(View.Data, ("." + Twine(E)).str(), E * Out * In, Stored);
    if (!Source)
      return {};
    if (E == 0)
      First = Source;
    Pieces.push_back(
        llm::PieceAttr::get(Module.getContext(), Source, 0, Out, Turned));
  }
  return make((First.getValue() + ".experts").str(), {Experts * Out, In},
              Pieces);
}

FlatSymbolRefAttr WeightMaker::block(Operation *Data, int64_t Begin,
                                     int64_t Out, int64_t In, bool InOut) {
  SmallVector<int64_t> Stored{InOut ? In : Out, InOut ? Out : In};
  FlatSymbolRefAttr Source =
      part(Data, ("." + Twine(Begin)).str(), Begin, Stored);
  return make(Source.getValue(), {Out, In},
              llm::PieceAttr::get(Module.getContext(), Source, 0, Out, InOut));
}

FlatSymbolRefAttr WeightMaker::flat(const WeightView &View) {
  int64_t Count = ShapedType::getNumElements(View.Shape);
  auto Codes = dyn_cast<llm::QuantizedOp>(View.Data);
  if (Codes && cast<RankedTensorType>(Codes.getType()).getRank() != 1)
    return {};
  FlatSymbolRefAttr Source =
      Codes ? source(Codes) : part(View.Data, ".flat", 0, {Count});
  auto Piece =
      llm::PieceAttr::get(Module.getContext(), Source, 0, Count, false);
  return make(Source.getValue(), {Count}, Piece);
}

FlatSymbolRefAttr WeightMaker::inlined(StringRef Name, ArrayRef<int64_t> Shape,
                                       ArrayRef<float> Data) {
  auto Type = RankedTensorType::get(Shape, Builder.getF32Type());
  FlatSymbolRefAttr Source =
      data(Name, DenseElementsAttr::get(Type, Data), Module.getLoc());
  auto Piece =
      llm::PieceAttr::get(Module.getContext(), Source, 0, Shape[0], false);
  return make(Source.getValue(), Shape, Piece);
}
} // namespace llmc::raise
