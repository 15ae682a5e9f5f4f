// llm.source and llm.weight symbols from onnx weights; see Weights.h. While
// both dialects are in the module, sources are named "src.NAME" and weights
// "w.NAME" after the initializer; raise-model drops the "w.".
#include "passes/raise/Weights.h"

#include "passes/raise/Match.h"

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
      auto From = dyn_cast<RankedTensorType>(Transpose.getData().getType());
      if (!From || withoutOnes(From.getShape()).size() != 2 ||
          From.getRank() != 2)
        return std::nullopt;
      if (!Transpose.getPerm() || (*Transpose.getPerm())[0] == 1)
        Out.Transposed = !Out.Transposed;
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
