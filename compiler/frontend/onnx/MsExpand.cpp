// Building blocks of the expansions and the lookup in their tables.
#include "compiler/frontend/onnx/MsExpand.h"

#include "compiler/frontend/onnx/Graph.h"
#include "compiler/frontend/onnx/onnx-ml.pb.h"
#include "dialects/onnx/Onnx.h"
#include "runtime/base/Quote.h"

using namespace llmc;
using namespace mlir;
using ::onnx::AttributeProto;

//===----------------------------------------------------------------------===//
// Expander
//===----------------------------------------------------------------------===//

static const AttributeProto *findAttr(const PendingNode &Node,
                                      llvm::StringRef Name) {
  for (const AttributeProto *A : Node.Attrs)
    if (A->name() == Name)
      return A;
  return nullptr;
}

bool Expander::uses(unsigned Output) const {
  const ::onnx::NodeProto &P = *Node.Source.Proto;
  return static_cast<int>(Output) < P.output_size() &&
         !P.output(static_cast<int>(Output)).empty();
}

Type Expander::elementOf(Value V) const {
  ShapedType T = V ? dyn_cast<ShapedType>(V.getType()) : ShapedType();
  return T ? T.getElementType() : Type(B.getF32Type());
}

float Expander::real(llvm::StringRef Attr, float Default) const {
  const AttributeProto *A = findAttr(Node, Attr);
  return A ? A->f() : Default;
}

int64_t Expander::integer(llvm::StringRef Attr, int64_t Default) const {
  const AttributeProto *A = findAttr(Node, Attr);
  return A ? A->i() : Default;
}

SmallVector<int64_t> Expander::integers(llvm::StringRef Attr) const {
  const AttributeProto *A = findAttr(Node, Attr);
  return A ? SmallVector<int64_t>(A->ints().begin(), A->ints().end())
           : SmallVector<int64_t>();
}

std::string Expander::text(llvm::StringRef Attr,
                           llvm::StringRef Default) const {
  const AttributeProto *A = findAttr(Node, Attr);
  return A ? A->s() : Default.str();
}

Value Expander::op(llvm::StringRef Mnemonic, ValueRange Operands,
                   ArrayRef<NamedAttribute> Attrs, Type Element) {
  OperationState State(Node.Loc, ("onnx." + Mnemonic).str());
  for (Value V : Operands)
    State.operands.push_back(
        V ? V : llmc::onnx::NoneOp::create(B, Node.Loc, B.getNoneType()));
  State.addAttributes(Attrs);
  State.addTypes(
      UnrankedTensorType::get(Element ? Element : elementOf(Operands[0])));
  return B.create(State)->getResult(0);
}

Value Expander::add(Value X, Value Y) { return Y ? op("add", {X, Y}) : X; }

Value Expander::scalar(Type Element, double Value) {
  Attribute A =
      isa<FloatType>(Element)
          ? Attribute(B.getFloatAttr(Element, Value))
          : Attribute(B.getIntegerAttr(Element, static_cast<int64_t>(Value)));
  return llmc::onnx::ConstantOp::create(
      B, Node.Loc,
      DenseElementsAttr::get(RankedTensorType::get({}, Element), A));
}

Value Expander::ints(ArrayRef<int64_t> Values) {
  RankedTensorType T = RankedTensorType::get(
      {static_cast<int64_t>(Values.size())}, B.getI64Type());
  return llmc::onnx::ConstantOp::create(B, Node.Loc,
                                        DenseElementsAttr::get(T, Values));
}

NamedAttribute Expander::attr(llvm::StringRef Name, int64_t Value) {
  return B.getNamedAttr(Name, B.getI64IntegerAttr(Value));
}
NamedAttribute Expander::attr(llvm::StringRef Name, float Value) {
  return B.getNamedAttr(Name, B.getF32FloatAttr(Value));
}
NamedAttribute Expander::attr(llvm::StringRef Name, llvm::StringRef Value) {
  return B.getNamedAttr(Name, B.getStringAttr(Value));
}

Status Expander::unsupported(const std::string &What) const {
  return unsupportedError("node " + quoted(Node.Source.Label) + " (" +
                          opTitle(*Node.Source.Proto) + ") " + What);
}

static const Expansion *findExpansion(llvm::StringRef Name) {
  for (llvm::ArrayRef<Expansion> Table : {fusedExpansions(), quantExpansions()})
    for (const Expansion &E : Table)
      if (E.Spec.Name == Name)
        return &E;
  return nullptr;
}

const OpSpec *llmc::findExpandedOp(llvm::StringRef Domain,
                                   llvm::StringRef Name) {
  const Expansion *E = findExpansion(Name);
  return E && E->Spec.Domain == Domain ? &E->Spec : nullptr;
}

Status llmc::expandNode(PendingNode &Node, OpBuilder &B,
                        SmallVectorImpl<Value> &Out) {
  const Expansion *E = findExpansion(Node.Spec.Name);
  if (!E)
    return internalError("no expansion of " + Node.Spec.Name.str());
  Out.assign(static_cast<size_t>(Node.Spec.Results), Value());
  Expander X(Node, B);
  return E->Build(X, Out);
}
