// See WeightTable.h.
#include "passes/fusion/WeightTable.h"

#include "mlir/IR/Builders.h"
#include "llvm/ADT/DenseSet.h"

using namespace mlir;

namespace llmc {
namespace {
void appendPiece(Pieces &To, llm::PieceAttr P) {
  if (!To.empty()) {
    llm::PieceAttr Last = cast<llm::PieceAttr>(To.back());
    if (Last.getSource() == P.getSource() &&
        Last.getTransposed() == P.getTransposed() &&
        Last.getBegin() + Last.getCount() == P.getBegin()) {
      To.back() = llm::PieceAttr::get(
          P.getContext(), P.getSource(), Last.getBegin(),
          Last.getCount() + P.getCount(), P.getTransposed());
      return;
    }
  }
  To.push_back(P);
}

/// The names' common prefix up to and with its last separator, then Role.
std::string nameOf(ArrayRef<llm::WeightOp> Parts, StringRef Role) {
  llm::WeightOp First = Parts.front();
  StringRef Prefix = First.getSymName();
  for (llm::WeightOp W : Parts) {
    StringRef Name = W.getSymName();
    size_t N = 0;
    while (N < Prefix.size() && N < Name.size() && Prefix[N] == Name[N])
      ++N;
    Prefix = Prefix.take_front(N);
  }
  size_t End = Prefix.find_last_of("./");
  Prefix = End == StringRef::npos ? StringRef() : Prefix.take_front(End + 1);
  return (Prefix + Role).str();
}
} // namespace

void WeightTable::append(Pieces &To, llm::WeightOp From, int64_t Begin,
                         int64_t Count) {
  int64_t Row = 0, End = Begin + Count;
  for (llm::PieceAttr P : From.getPieces().getAsRange<llm::PieceAttr>()) {
    int64_t From0 = std::max(Begin, Row);
    int64_t To0 = std::min(End, Row + P.getCount());
    if (From0 < To0)
      appendPiece(To, llm::PieceAttr::get(P.getContext(), P.getSource(),
                                          P.getBegin() + From0 - Row,
                                          To0 - From0, P.getTransposed()));
    Row += P.getCount();
  }
}

llm::WeightOp WeightTable::create(const Pieces &List,
                                  ArrayRef<llm::WeightOp> Parts,
                                  StringRef Role) {
  llm::WeightOp First = Parts.front();
  int64_t Rows = 0;
  for (Attribute P : List)
    Rows += cast<llm::PieceAttr>(P).getCount();
  RankedTensorType Like = cast<RankedTensorType>(First.getType());
  llvm::SmallVector<int64_t> Shape(Like.getShape());
  Shape[0] = Rows;
  OpBuilder B(First);
  llm::WeightOp W =
      llm::WeightOp::create(B, First.getLoc(), nameOf(Parts, Role),
                            RankedTensorType::get(Shape, Like.getElementType()),
                            B.getArrayAttr(List));
  W->remove();
  Symbols.insert(W, First->getIterator());
  return W;
}

void WeightTable::eraseUnused() {
  llvm::DenseSet<StringRef> Used;
  Module.walk([&](Operation *Op) {
    Op->getAttrDictionary().walk(
        [&](FlatSymbolRefAttr Ref) { Used.insert(Ref.getValue()); });
  });
  for (llm::WeightOp W :
       llvm::make_early_inc_range(Module.getOps<llm::WeightOp>()))
    if (!Used.contains(W.getSymName()))
      Symbols.erase(W);
  Used.clear();
  for (llm::WeightOp W : Module.getOps<llm::WeightOp>())
    for (llm::PieceAttr P : W.getPieces().getAsRange<llm::PieceAttr>())
      Used.insert(P.getSource().getValue());
  for (llm::SourceOp S :
       llvm::make_early_inc_range(Module.getOps<llm::SourceOp>()))
    if (!Used.contains(S.getSymName()))
      Symbols.erase(S);
}
} // namespace llmc
