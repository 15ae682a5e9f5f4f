// See QuantizedSlice.h. Symbols are named after the whole and where they begin,
// so that equal parts are one symbol.
#include "passes/raise/QuantizedSlice.h"

#include "compiler/weights/Encoding.h"

#include "mlir/IR/BuiltinAttributes.h"

using namespace mlir;

namespace llmc::raise {
namespace {

/// Elements [Begin, Begin + Count) of data in the IR.
DenseElementsAttr elementsOf(DenseElementsAttr Data, int64_t Begin,
                             int64_t Count) {
  SmallVector<Attribute> All(Data.getValues<Attribute>());
  return DenseElementsAttr::get(
      RankedTensorType::get({Count}, Data.getElementType()),
      ArrayRef(All).slice(static_cast<size_t>(Begin),
                          static_cast<size_t>(Count)));
}

/// The part of one tensor that belongs to those rows: RowBits from one row (of
/// blocks) to the next.
FlatSymbolRefAttr partOf(FlatSymbolRefAttr Ref, uint64_t RowBits,
                         uint64_t Begin, uint64_t Count, SymbolTable &Symbols,
                         OpBuilder &B) {
  llm::SourceOp Whole = Symbols.lookup<llm::SourceOp>(Ref.getValue());
  if (!Whole || Begin * RowBits % 8 != 0 || Count * RowBits % 8 != 0)
    return {};
  llm::SourceOp Part =
      bytesOf(Whole, static_cast<int64_t>(Begin * RowBits / 8),
              static_cast<int64_t>(Count * RowBits / 8), Symbols, B);
  return Part ? FlatSymbolRefAttr::get(Part.getSymNameAttr())
              : FlatSymbolRefAttr();
}
} // namespace

llm::SourceOp bytesOf(llm::SourceOp Whole, int64_t Begin, int64_t Count,
                      SymbolTable &Symbols, OpBuilder &B) {
  RankedTensorType Type = cast<RankedTensorType>(Whole.getType());
  int64_t Width = Type.getElementTypeBitWidth();
  int64_t Bits = Type.getNumElements() * Width;
  if (Begin < 0 || Count < 1 || Begin * 8 % Width != 0 ||
      Count * 8 % Width != 0 || (Begin + Count) * 8 > (Bits + 7) / 8 * 8)
    return {};
  if (Begin == 0 && Count == (Bits + 7) / 8)
    return Whole;
  std::string Name = (Whole.getSymName() + "." + Twine(Begin)).str();
  int64_t Elements = std::min(Count * 8 / Width, (Bits - Begin * 8) / Width);
  TypeAttr Part =
      TypeAttr::get(RankedTensorType::get({Elements}, Type.getElementType()));
  if (llm::SourceOp Known = Symbols.lookup<llm::SourceOp>(Name);
      Known && Known.getTypeAttr() == Part)
    return Known;
  llm::SourceOp Op;
  if (Whole.getData()) {
    DenseElementsAttr Data = dyn_cast<DenseElementsAttr>(*Whole.getData());
    if (!Data)
      return {};
    Op = llm::SourceOp::create(B, Whole.getLoc(), B.getStringAttr(Name), Part,
                               IntegerAttr(), IntegerAttr(), IntegerAttr(),
                               elementsOf(Data, Begin * 8 / Width, Elements));
  } else {
    Op = llm::SourceOp::create(
        B, Whole.getLoc(), B.getStringAttr(Name), Part,
        B.getI64IntegerAttr(int64_t(*Whole.getFile())),
        B.getI64IntegerAttr(int64_t(*Whole.getOffset()) + Begin),
        B.getI64IntegerAttr(Count), ElementsAttr());
  }
  Symbols.insert(Op); // renames on collision
  return Op;
}

llm::QuantizedOp rowsOf(llm::QuantizedOp Whole, int64_t Begin, int64_t Count,
                        SymbolTable &Symbols, OpBuilder &B) {
  RankedTensorType Type = cast<RankedTensorType>(Whole.getType());
  Result<Encoding> How = encodingOf(Whole.getEncoding().str());
  if (!How || How->Flat || How->Turned || Type.getRank() != 2)
    return {};
  std::string Name = (Whole.getSymName() + "." + Twine(Begin)).str();
  TypeAttr Part = TypeAttr::get(RankedTensorType::get(
      {Count, Type.getDimSize(1)}, Type.getElementType()));
  if (llm::QuantizedOp Known = Symbols.lookup<llm::QuantizedOp>(Name);
      Known && Known.getTypeAttr() == Part)
    return Known;
  uint64_t Row = static_cast<uint64_t>(Begin),
           Rows = static_cast<uint64_t>(Count);
  FlatSymbolRefAttr Codes =
      partOf(Whole.getCodesAttr(), codeRowBits(*How), Row, Rows, Symbols, B);
  FlatSymbolRefAttr Scales = Whole.getScalesAttr(),
                    Zeros = Whole.getZerosAttr();
  // Scales of all rows stay; others must not be cut.
  if (How->BlockRows < static_cast<uint64_t>(Type.getDimSize(0))) {
    uint64_t Size = How->BlockRows;
    bool Inside = Row / Size == (Row + Rows - 1) / Size;
    if (!Inside && (Row % Size != 0 || Rows % Size != 0))
      return {};
    uint64_t Blocks = Inside ? 1 : Rows / Size;
    Scales = partOf(Scales, How->ScalePitch * bitsOf(How->Scale), Row / Size,
                    Blocks, Symbols, B);
    if (Zeros)
      Zeros = partOf(Zeros, zeroRowBits(*How), Row / Size, Blocks, Symbols, B);
    if (Inside)
      How->BlockRows = Rows;
  } else {
    How->BlockRows = Rows;
  }
  if (!Codes || !Scales || (Whole.getZerosAttr() && !Zeros))
    return {};
  llm::QuantizedOp Op = llm::QuantizedOp::create(
      B, Whole.getLoc(), B.getStringAttr(Name), Part, Codes, Scales, Zeros,
      Whole.getGroupsAttr(), B.getStringAttr(toText(*How)));
  Symbols.insert(Op);
  return Op;
}

} // namespace llmc::raise
