// See WeightTable.h.
#include "passes/fusion/WeightTable.h"

#include "passes/util/NodeNames.h"
#include "passes/util/WeightForm.h"

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

/// The names' common prefix up to and with its last separator; empty without.
std::string commonPrefix(ArrayRef<StringRef> Names) {
  if (Names.empty())
    return {};
  StringRef Prefix = Names.front();
  for (StringRef Name : Names) {
    size_t N = 0;
    while (N < Prefix.size() && N < Name.size() && Prefix[N] == Name[N])
      ++N;
    Prefix = Prefix.take_front(N);
  }
  size_t End = Prefix.find_last_of("./");
  return End == StringRef::npos ? "" : Prefix.take_front(End + 1).str();
}

/// The common prefix of the weights' names or, where exporters have numbered
/// them, of the ONNX nodes that use them; then Role.
std::string nameOf(ArrayRef<llm::WeightOp> Parts, ArrayRef<Operation *> Users,
                   StringRef Role) {
  llvm::SmallVector<StringRef> Names;
  for (llm::WeightOp W : Parts)
    Names.push_back(W.getSymName());
  std::string Prefix = commonPrefix(Names);
  if (Prefix.empty()) {
    llvm::SmallSetVector<StringRef, 8> Nodes;
    for (Operation *Op : Users)
      collectNodeNames(Op->getLoc(), Nodes);
    Prefix = commonPrefix(Nodes.getArrayRef());
    std::replace(Prefix.begin(), Prefix.end(), '/', '.');
    Prefix.erase(0, Prefix.find_first_not_of('.'));
  }
  return Prefix + Role.str();
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

bool WeightTable::sameForm(ArrayRef<StringRef> Names) const {
  return llvm::all_equal(llvm::map_range(Names, [&](StringRef Name) {
    return fileLayoutOf(lookup(Name), Symbols);
  }));
}

llm::WeightOp WeightTable::create(const Pieces &List,
                                  ArrayRef<llm::WeightOp> Parts,
                                  ArrayRef<Operation *> Users, StringRef Role) {
  llm::WeightOp First = Parts.front();
  int64_t Rows = 0;
  for (Attribute P : List)
    Rows += cast<llm::PieceAttr>(P).getCount();
  RankedTensorType Like = cast<RankedTensorType>(First.getType());
  llvm::SmallVector<int64_t> Shape(Like.getShape());
  Shape[0] = Rows;
  OpBuilder B(First);
  llm::WeightOp W =
      llm::WeightOp::create(B, First.getLoc(), nameOf(Parts, Users, Role),
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
  for (llm::QuantizedOp Q :
       llvm::make_early_inc_range(Module.getOps<llm::QuantizedOp>())) {
    if (!Used.contains(Q.getSymName())) {
      Symbols.erase(Q);
      continue;
    }
    for (FlatSymbolRefAttr Part : {Q.getCodesAttr(), Q.getScalesAttr(),
                                   Q.getZerosAttr(), Q.getGroupsAttr()})
      if (Part)
        Used.insert(Part.getValue());
  }
  for (llm::SourceOp S :
       llvm::make_early_inc_range(Module.getOps<llm::SourceOp>()))
    if (!Used.contains(S.getSymName()))
      Symbols.erase(S);
}
} // namespace llmc
