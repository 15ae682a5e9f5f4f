// See ExeSymbols.h.
#include "passes/lowering/ExeSymbols.h"

using namespace mlir;

namespace llmc {

ExeSymbols::ExeSymbols(ModuleOp Module, exe::ProgramOp Program)
    : Program(Program), Llm(Module), Exe(Program), B(Program.getStep()) {}

/// Inserts a slot or state behind the one before it.
StringAttr ExeSymbols::insertFront(Operation *Op) {
  Block &Body = Program.getBody().front();
  Op->remove();
  StringAttr Name =
      Exe.insert(Op, Front ? std::next(Front->getIterator()) : Body.begin());
  Front = Op;
  return Name;
}

exe::BufferAttr ExeSymbols::slot(Location Loc, StringRef Hint, int64_t PerToken,
                                 int64_t Fixed) {
  exe::SlotOp Op = exe::SlotOp::create(B, Loc, Hint, PerToken, Fixed,
                                       llvm::ArrayRef<int64_t>());
  return exe::BufferAttr::get(Op.getContext(), exe::BufferKind::slot,
                              insertFront(Op));
}

/// The whole of an llm.source.
static exe::SourceAttr wholeSource(llm::SourceOp Op, StringAttr Name) {
  bool Inline = Op.getData().has_value();
  return exe::SourceAttr::get(
      Op.getContext(), Name, cast<RankedTensorType>(Op.getType()),
      Inline ? -1 : int64_t(*Op.getFile()),
      Inline ? 0 : int64_t(*Op.getOffset()),
      Inline ? 0 : int64_t(*Op.getLength()), /*begin=*/0, /*count=*/0,
      /*transposed=*/false, Op.getDataAttr(), nullptr, nullptr);
}

exe::SourceAttr ExeSymbols::sourceOf(llm::PieceAttr Piece, bool Named) {
  MLIRContext *Context = Piece.getContext();
  StringRef Symbol = Piece.getSource().getValue();
  StringAttr Name = StringAttr::get(Context, Named ? Symbol : "");
  StringAttr NoName = StringAttr::get(Context, "");
  llm::QuantizedOp Quantized = Llm.lookup<llm::QuantizedOp>(Symbol);
  exe::SourceAttr Whole =
      Quantized
          ? wholeSource(Llm.lookup<llm::SourceOp>(Quantized.getCodes()), Name)
          : wholeSource(Llm.lookup<llm::SourceOp>(Symbol), Name);
  RankedTensorType Type = Whole.getType();
  StringAttr Encoding;
  ArrayAttr Parts;
  if (Quantized) {
    llvm::SmallVector<Attribute> List;
    for (FlatSymbolRefAttr Part :
         {Quantized.getScalesAttr(), Quantized.getZerosAttr(),
          Quantized.getGroupsAttr()})
      List.push_back(
          Part ? Attribute(wholeSource(
                     Llm.lookup<llm::SourceOp>(Part.getValue()), NoName))
               : UnitAttr::get(Context));
    Type = cast<RankedTensorType>(Quantized.getType());
    Encoding = Quantized.getEncodingAttr();
    Parts = ArrayAttr::get(Context, List);
  }
  return exe::SourceAttr::get(
      Context, Name, Type, Whole.getFile(), Whole.getOffset(),
      Whole.getLength(), Piece.getBegin(), Piece.getCount(),
      Piece.getTransposed(), Whole.getData(), Encoding, Parts);
}

exe::PackedWeightOp ExeSymbols::weight(StringRef Name) {
  llm::WeightOp Op = Llm.lookup<llm::WeightOp>(Name);
  if (exe::PackedWeightOp Known = ByName.lookup(Op.getSymNameAttr()))
    return Known;
  StringAttr Layout = Op->getAttrOfType<StringAttr>("llm.layout");
  if (!Layout) {
    Op.emitError("weight '") << Name << "' has no layout (choose-precision)";
    return nullptr;
  }
  llvm::SmallVector<Attribute> Steps, Content{Layout};
  for (llm::PieceAttr P : Op.getPieces().getAsRange<llm::PieceAttr>()) {
    exe::SourceAttr Source = sourceOf(P, /*Named=*/true);
    Type Element = Source.getType().getElementType();
    if (!isa<FloatType>(Element)) {
      Op.emitError("weight '")
          << Name << "' comes from '" << Source.getName().getValue()
          << "' of type " << Element << ", expected a float type";
      return nullptr;
    }
    Steps.push_back(Source);
    Content.push_back(sourceOf(P, /*Named=*/false));
  }
  exe::PackedWeightOp &Packed =
      ByContent[ArrayAttr::get(Op.getContext(), Content)];
  if (!Packed) {
    RankedTensorType Type = cast<RankedTensorType>(Op.getType());
    Packed = exe::PackedWeightOp::create(
        B, Op.getLoc(), Name, Type.getDimSize(0),
        Type.getRank() == 2 ? Type.getDimSize(1) : 1, Layout.getValue(),
        B.getArrayAttr(Steps), -1, -1);
    Packed->remove();
    Exe.insert(Packed, B.getInsertionPoint());
  }
  ByName[Op.getSymNameAttr()] = Packed;
  return Packed;
}

void ExeSymbols::makeStates(Type Cache) {
  llvm::SmallVector<llm::StateOp> Ops;
  for (llm::StateOp Op : Llm.getOp()->getRegion(0).getOps<llm::StateOp>())
    Ops.push_back(Op);
  llvm::stable_sort(Ops, [](llm::StateOp A, llm::StateOp B) {
    return A.getIndex() < B.getIndex();
  });
  for (llm::StateOp Op : Ops) {
    int64_t Heads = Op.getKvHeads(), Dim = Op.getHeadDim(),
            VDim = Op.getVHeadDim();
    // Only keys and values are kept as codes.
    Type Dtype = Cache.isInteger(8) && Op.getKind() != "paged_kv"
                     ? Type(B.getF16Type())
                     : Cache;
    if (Op.getKind() == "record") {
      // A page holds one matrix of f32 per head, in as many rows of keys and
      // values as that takes.
      int64_t Row = int64_t(Program.getPageTokens()) *
                    (Dtype.getIntOrFloatBitWidth() / 8);
      int64_t Rows = std::max<int64_t>((Dim * VDim * 4 + Row - 1) / Row, 2);
      Dim = Rows / 2;
      VDim = Rows - Dim;
    }
    exe::StateOp &State = ByGeometry[B.getDenseI64ArrayAttr(
        {Heads, Dim, VDim, Dtype.getIntOrFloatBitWidth()})];
    if (!State) {
      State = exe::StateOp::create(B, Op.getLoc(), "kv", 0, Heads, Dim, VDim,
                                   Dtype, /*page_bytes=*/0);
      insertFront(State);
    }
    Layers[Op.getSymNameAttr()] = State.getLayers();
    StateOf[Op.getSymNameAttr()] = State;
    State.setLayers(State.getLayers() + 1);
  }
}

exe::BufferAttr ExeSymbols::state(StringRef Name) const {
  exe::StateOp Op =
      StateOf.lookup(StringAttr::get(Llm.getOp()->getContext(), Name));
  return exe::BufferAttr::get(Op.getContext(), exe::BufferKind::state,
                              Op.getSymNameAttr());
}

int64_t ExeSymbols::blockBytes(StringRef Name) {
  exe::StateOp Op =
      StateOf.lookup(StringAttr::get(Llm.getOp()->getContext(), Name));
  return int64_t(Op.getHeadDim() + Op.getVHeadDim()) *
         int64_t(Program.getPageTokens()) *
         (Op.getDtype().getIntOrFloatBitWidth() / 8);
}

llm::StateOp ExeSymbols::stateOf(StringRef Name) const {
  return Llm.lookup<llm::StateOp>(Name);
}

int64_t ExeSymbols::layerOf(StringRef Name) const {
  return Layers.lookup(StringAttr::get(Llm.getOp()->getContext(), Name));
}

} // namespace llmc
