// See WeightForm.h.
#include "passes/util/WeightForm.h"

#include "compiler/weights/PackedFormat.h"

using namespace mlir;

namespace llmc {
namespace {
Layout layoutOfPiece(llm::PieceAttr Piece, const SymbolTable &Symbols,
                     const float *&Book) {
  StringRef Name = Piece.getSource().getValue();
  if (llm::QuantizedOp Q = Symbols.lookup<llm::QuantizedOp>(Name)) {
    RankedTensorType Type = cast<RankedTensorType>(Q.getType());
    Result<Encoding> E = encodingOf(Q.getEncoding().str());
    std::optional<kernels::WeightFormat> F;
    if (E && Type.getRank() == 2) {
      Book = codebookOf(*E);
      F = packedFormatOf(*E, static_cast<uint64_t>(Type.getDimSize(0)),
                         static_cast<uint64_t>(Type.getDimSize(1)),
                         Piece.getTransposed());
    }
    return F ? layoutOf(*F) : Layout::P16F32;
  }
  llm::SourceOp Source = Symbols.lookup<llm::SourceOp>(Name);
  Type Element = cast<RankedTensorType>(Source.getType()).getElementType();
  if (Element.isF16())
    return Layout::P16F16;
  return Element.isBF16() ? Layout::P16BF16 : Layout::P16F32;
}
} // namespace

Layout fileLayoutOf(llm::WeightOp Weight, const SymbolTable &Symbols) {
  std::optional<Layout> All;
  const float *AllBooks = nullptr;
  for (llm::PieceAttr P : Weight.getPieces().getAsRange<llm::PieceAttr>()) {
    const float *Book = nullptr;
    Layout Mine = layoutOfPiece(P, Symbols, Book);
    if (All && (*All != Mine || Book != AllBooks))
      return Layout::P16F32;
    All = Mine;
    AllBooks = Book;
  }
  return All.value_or(Layout::P16F32);
}

bool isQuantized(llm::WeightOp Weight, const SymbolTable &Symbols) {
  return llvm::any_of(
      Weight.getPieces().getAsRange<llm::PieceAttr>(), [&](llm::PieceAttr P) {
        return Symbols.lookup<llm::QuantizedOp>(P.getSource().getValue());
      });
}

} // namespace llmc
