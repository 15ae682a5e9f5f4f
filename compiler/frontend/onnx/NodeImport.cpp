// One node: operands, attributes, result types.
#include "compiler/frontend/onnx/GraphImporter.h"

#include "compiler/frontend/onnx/MsExpand.h"
#include "compiler/frontend/onnx/Signatures.h"
#include "compiler/frontend/onnx/onnx-ml.pb.h"
#include "dialects/onnx/Onnx.h"
#include "runtime/base/Quote.h"

using namespace llmc;
using namespace mlir;
using ::onnx::AttributeProto;

namespace {
/// Old writers omit the type: take the field that is set.
AttributeProto::AttributeType typeOf(const AttributeProto &A) {
  if (A.type() != AttributeProto::UNDEFINED)
    return A.type();
  if (A.has_i())
    return AttributeProto::INT;
  if (A.has_f())
    return AttributeProto::FLOAT;
  if (A.has_s())
    return AttributeProto::STRING;
  if (A.has_t())
    return AttributeProto::TENSOR;
  if (A.floats_size() > 0)
    return AttributeProto::FLOATS;
  return AttributeProto::INTS;
}

AttributeProto::AttributeType typeFor(AttrKind Kind) {
  switch (Kind) {
  case AttrKind::Int:
  case AttrKind::Type:
    return AttributeProto::INT;
  case AttrKind::Ints:
    return AttributeProto::INTS;
  case AttrKind::Float:
    return AttributeProto::FLOAT;
  case AttrKind::String:
    return AttributeProto::STRING;
  case AttrKind::Tensor:
    return AttributeProto::TENSOR;
  }
  return AttributeProto::UNDEFINED;
}

const char *typeName(int Type) {
  static constexpr const char *Names[] = {
      "nothing", "a float",         "an int",         "a string", "a tensor",
      "a graph", "floats",          "ints",           "strings",  "tensors",
      "graphs",  "a sparse tensor", "sparse tensors", "a type",   "types"};
  return Type >= 0 && Type < static_cast<int>(std::size(Names)) ? Names[Type]
                                                                : "unknown";
}

std::string nodeText(const GraphNode &Node) {
  return "node " + quoted(Node.Label) + " (" + opTitle(*Node.Proto) + ")";
}
} // namespace

Status GraphImporter::setOperands(PendingNode &Node) {
  const ::onnx::NodeProto &P = *Node.Source.Proto;
  int Max = Node.Spec.MaxInputs, Count = P.input_size();
  // Trailing empty names say nothing.
  while (Count > 0 && P.input(Count - 1).empty())
    --Count;
  if (Max >= 0 && Count > Max)
    return malformedError(nodeText(Node.Source) + " has " +
                          std::to_string(Count) + " inputs, expected at most " +
                          std::to_string(Max));
  for (int I = 0; I < Count; ++I) {
    Value V;
    if (!P.input(I).empty()) {
      LLMC_ASSIGN_OR_RETURN(V, value(P.input(I)));
    }
    Node.Operands.push_back(V);
  }
  return Status::success();
}

/// After the upgrade: what must be there is, the rest is onnx.none.
static Status checkOperands(const PendingNode &Node) {
  for (int I = 0; I < Node.Spec.MinInputs; ++I)
    if (I >= static_cast<int>(Node.Operands.size()) || !Node.Operands[I])
      return malformedError(nodeText(Node.Source) + " lacks input " +
                            std::to_string(I) + ", expected at least " +
                            std::to_string(Node.Spec.MinInputs) + " inputs");
  if (Node.Spec.MaxInputs < 0 && llvm::is_contained(Node.Operands, Value()))
    return malformedError(nodeText(Node.Source) +
                          " has an empty name among its inputs");
  return Status::success();
}

Result<Attribute> GraphImporter::attribute(const PendingNode &Node,
                                           const AttributeProto &A) {
  std::string Name =
      "attribute " + quoted(A.name()) + " of " + nodeText(Node.Source);
  const AttrSpec *Spec = Node.Spec.attr(A.name());
  if (!Spec)
    return internalError(Name + " has no specification");
  if (typeOf(A) != typeFor(Spec->Kind))
    return malformedError(Name + " is " + typeName(typeOf(A)) + ", expected " +
                          typeName(typeFor(Spec->Kind)));
  switch (Spec->Kind) {
  case AttrKind::Int:
    return Attribute(B.getI64IntegerAttr(A.i()));
  case AttrKind::Ints:
    return Attribute(B.getDenseI64ArrayAttr(
        SmallVector<int64_t>(A.ints().begin(), A.ints().end())));
  case AttrKind::Float:
    return Attribute(B.getF32FloatAttr(A.f()));
  case AttrKind::String:
    return Attribute(B.getStringAttr(printable(A.s())));
  case AttrKind::Type: {
    Type T = A.i() >= 0 && A.i() < 1000
                 ? elementType(*B.getContext(), static_cast<int32_t>(A.i()))
                 : nullptr;
    if (!T)
      return unsupportedError(Name + " is element type " +
                              (A.i() >= 0 && A.i() < 1000
                                   ? dataTypeName(static_cast<int>(A.i()))
                                   : std::to_string(A.i())) +
                              ", which llmc does not have");
    return Attribute(TypeAttr::get(T));
  }
  case AttrKind::Tensor: {
    LLMC_ASSIGN_OR_RETURN(TensorRef Ref,
                          Tensors.resolve(A.t(), Node.Source.Label));
    if (Ref.Type.getNumElements() != 1)
      return malformedError(Name + " has " +
                            std::to_string(Ref.Type.getNumElements()) +
                            " elements, expected 1");
    LLMC_ASSIGN_OR_RETURN(DenseElementsAttr Elements,
                          Tensors.load(Ref, Node.Source.Label));
    return Attribute(Elements);
  }
  }
  return internalError(Name + " has an unknown kind");
}

/// Kinds of the attributes of a node that is expanded.
Status GraphImporter::checkAttributes(const PendingNode &Node) {
  OperationState Unused(Node.Loc, "onnx.none");
  return setAttributes(Node, Unused);
}

Status GraphImporter::setAttributes(const PendingNode &Node,
                                    OperationState &State) {
  for (const AttributeProto *A : Node.Attrs) {
    if (State.attributes.get(A->name()))
      return malformedError("attribute " + quoted(A->name()) + " of " +
                            nodeText(Node.Source) + " is there twice");
    // Data type 0 is how an optional one is left out.
    const AttrSpec *Spec = Node.Spec.attr(A->name());
    if (Spec && Spec->Kind == AttrKind::Type && !Spec->Required && A->has_i() &&
        A->i() == 0)
      continue;
    LLMC_ASSIGN_OR_RETURN(Attribute Value, attribute(Node, *A));
    State.addAttribute(A->name(), Value);
  }
  State.addAttributes(Node.Extra);
  for (const AttrSpec &Spec : Node.Spec.Attrs)
    if (Spec.Required && !State.attributes.get(Spec.Name))
      return malformedError(nodeText(Node.Source) + " lacks attribute '" +
                            Spec.Name.str() + "'");
  return Status::success();
}

/// Element types of the results that a node has; null where no operand has one.
static SmallVector<Type, 4> resultElements(const PendingNode &Node,
                                           const OperationState &State,
                                           Builder &B) {
  const auto Operand = [&](unsigned I) -> Type {
    if (I >= Node.Operands.size() || !Node.Operands[I])
      return nullptr;
    ShapedType T = dyn_cast<ShapedType>(Node.Operands[I].getType());
    return T ? T.getElementType() : nullptr;
  };
  const auto Attr = [&](llvm::StringRef Name) -> Type {
    TypeAttr A = dyn_cast_or_null<TypeAttr>(State.attributes.get(Name));
    return A ? A.getValue() : nullptr;
  };
  const auto Or = [](Type A, Type Else) { return A ? A : Else; };
  Type U8 = B.getIntegerType(8, /*isSigned=*/false);
  switch (Node.Spec.Rule) {
  case ElementRule::Operand0:
    return {Operand(0)};
  case ElementRule::Operand1:
    return {Operand(1)};
  case ElementRule::Operand2:
    return {Operand(2)};
  case ElementRule::Operand3:
    return {Operand(3)};
  case ElementRule::Operand7:
    return {Operand(7)};
  case ElementRule::Bool:
    return {B.getI1Type()};
  case ElementRule::Int32:
    return {B.getI32Type()};
  case ElementRule::Int64:
    return {B.getI64Type()};
  case ElementRule::To:
    return {Attr("to")};
  case ElementRule::Value: {
    ElementsAttr A =
        dyn_cast_or_null<ElementsAttr>(State.attributes.get("value"));
    return {A ? A.getElementType() : B.getF32Type()};
  }
  case ElementRule::DtypeOrOperand:
    return {Or(Attr("dtype"), Operand(0))};
  case ElementRule::Operand0ThenInt64:
    return {Operand(0), B.getI64Type()};
  case ElementRule::Operand0ThenBool:
    return {Operand(0), B.getI1Type()};
  case ElementRule::Operand0ThenCaches:
    return {Operand(0), Or(Operand(3), Operand(0)), Or(Operand(4), Operand(0)),
            Operand(0)};
  case ElementRule::Operand0ThenStash: {
    IntegerAttr Stash =
        dyn_cast_or_null<IntegerAttr>(State.attributes.get("stash_type"));
    bool F32 = !Stash || Stash.getInt() == 1;
    return {Operand(0), F32 ? B.getF32Type() : Operand(0)};
  }
  case ElementRule::Quantize:
    return {Or(Attr("output_dtype"), Or(Operand(2), U8))};
  case ElementRule::Dequantize:
    return {Or(Attr("output_dtype"), Operand(1))};
  case ElementRule::DynamicQuantize:
    return {U8, B.getF32Type(), U8};
  case ElementRule::Attention:
    return {Operand(0), Operand(1), Operand(2), Operand(0)};
  case ElementRule::State:
    return {Operand(0), Or(Operand(3), Operand(0))};
  }
  return {};
}

Status GraphImporter::setResultTypes(const PendingNode &Node,
                                     OperationState &State) {
  SmallVector<Type, 4> Elements = resultElements(Node, State, B);
  if (Elements.empty() || llvm::is_contained(Elements, Type()))
    return malformedError(nodeText(Node.Source) + " has no input with a type");
  size_t Count = Node.Spec.Results >= 0 ? static_cast<size_t>(Node.Spec.Results)
                                        : Node.NumOutputs;
  // Results beyond the rule are like its last one.
  for (size_t I = 0; I < Count; ++I)
    State.addTypes(
        UnrankedTensorType::get(Elements[std::min(I, Elements.size() - 1)]));
  return Status::success();
}

Status GraphImporter::addNode(const GraphNode &Source) {
  const ::onnx::NodeProto &P = *Source.Proto;
  const OpSpec *Spec = findOp(domainOf(P.domain()), P.op_type());
  if (!Spec)
    return internalError(nodeText(Source) + " has no specification");
  PendingNode Node{Source, *Spec, nameLoc(Source.Label), {}, {}, {}, 0};
  Node.NumOutputs = static_cast<unsigned>(P.output_size());
  LLMC_RETURN_IF_ERROR(setOperands(Node));
  for (const AttributeProto &A : P.attribute())
    Node.Attrs.push_back(&A);
  LLMC_RETURN_IF_ERROR(upgradeNode(Node, B));
  LLMC_RETURN_IF_ERROR(checkOperands(Node));
  SmallVector<Value, 4> Results;
  if (Value Flattened = buildFlattenedSoftmax(Node, B)) {
    Results.push_back(Flattened);
  } else if (Spec->Mnemonic.empty()) {
    LLMC_RETURN_IF_ERROR(checkAttributes(Node));
    LLMC_RETURN_IF_ERROR(expandNode(Node, B, Results));
  } else {
    OperationState State(Node.Loc, Spec->Mnemonic);
    LLMC_RETURN_IF_ERROR(setAttributes(Node, State));
    LLMC_RETURN_IF_ERROR(setResultTypes(Node, State));
    for (Value V : Node.Operands)
      State.operands.push_back(V ? V : none());
    while (static_cast<int>(State.operands.size()) < Spec->MaxInputs)
      State.operands.push_back(none());
    Operation *Op = B.create(State);
    Results.append(Op->result_begin(), Op->result_end());
  }
  for (int I = 0; I < P.output_size(); ++I)
    if (!P.output(I).empty() && I < static_cast<int>(Results.size()) &&
        Results[static_cast<size_t>(I)])
      Values[P.output(I)] = Results[static_cast<size_t>(I)];
  return Status::success();
}
