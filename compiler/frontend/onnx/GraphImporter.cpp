// Inputs, outputs and constants of the graph; one node is in NodeImport.cpp.
#include "compiler/frontend/onnx/GraphImporter.h"

#include "compiler/frontend/onnx/DimNames.h"
#include "compiler/frontend/onnx/Signatures.h"
#include "compiler/frontend/onnx/onnx-ml.pb.h"
#include "dialects/onnx/Onnx.h"
#include "runtime/base/Quote.h"

using namespace llmc;
using namespace mlir;
using ::onnx::AttributeProto;
using ::onnx::GraphProto;
using ::onnx::TensorProto;
using ::onnx::ValueInfoProto;

GraphImporter::GraphImporter(ModuleOp Module, TensorReader &Tensors)
    : Module(Module), Tensors(Tensors), B(Module.getContext()) {}

Location GraphImporter::nameLoc(llvm::StringRef Name) {
  return NameLoc::get(B.getStringAttr(printable(Name)));
}

Status GraphImporter::run(const FlatGraph &Flat) {
  const GraphProto &Graph = Flat.graph();
  B.setInsertionPointToEnd(Module.getBody());
  Main = func::FuncOp::create(B, Module.getLoc(), "main",
                              B.getFunctionType({}, {}));
  B.setInsertionPointToStart(Main.addEntryBlock());
  for (const FlatGraph::Initializer &I : Flat.Initializers)
    Initializers[I.first] = I.second;
  LLMC_RETURN_IF_ERROR(addInputs(Graph));
  for (const GraphNode &Node : Flat.Nodes) {
    if (!Node.Live)
      continue;
    if (Node.Proto->op_type() == "Constant" &&
        domainOf(Node.Proto->domain()).empty()) {
      if (Node.Proto->output_size() > 0)
        Constants[Node.Proto->output(0)] = &Node;
      continue;
    }
    bool IsIf =
        Node.Proto->op_type() == "If" && domainOf(Node.Proto->domain()).empty();
    LLMC_RETURN_IF_ERROR(IsIf ? addIf(Node) : addNode(Node));
  }
  return addOutputs(Graph);
}

/// Inputs are the condition, then the results of either branch.
Status GraphImporter::addIf(const GraphNode &Node) {
  const ::onnx::NodeProto &P = *Node.Proto;
  LLMC_ASSIGN_OR_RETURN(Value Condition, value(P.input(0)));
  SmallVector<Value> Branches[2];
  for (int I = 1; I < P.input_size(); ++I) {
    LLMC_ASSIGN_OR_RETURN(Value V, value(P.input(I)));
    Branches[I > P.output_size() ? 1 : 0].push_back(V);
  }
  SmallVector<Type> Types;
  for (auto [I, Pair] : llvm::enumerate(llvm::zip(Branches[0], Branches[1]))) {
    Type Then = cast<ShapedType>(std::get<0>(Pair).getType()).getElementType();
    Type Else = cast<ShapedType>(std::get<1>(Pair).getType()).getElementType();
    if (Then != Else)
      return malformedError("the branches of node " + quoted(Node.Label) +
                            " give output " + std::to_string(I) +
                            " different element types");
    Types.push_back(UnrankedTensorType::get(Then));
  }
  OpBuilder::InsertionGuard Guard(B);
  OperationState State(nameLoc(Node.Label), "onnx.if", Condition, Types);
  for (const SmallVector<Value> &Values : Branches) {
    Block *Body = new Block();
    State.addRegion()->push_back(Body);
    B.setInsertionPointToStart(Body);
    llmc::onnx::YieldOp::create(B, State.location, Values);
  }
  B.setInsertionPointToEnd(&Main.front());
  Operation *If = B.create(State);
  for (int I = 0; I < P.output_size(); ++I)
    if (!P.output(I).empty())
      this->Values[P.output(I)] = If->getResult(static_cast<unsigned>(I));
  return Status::success();
}

// --- inputs and outputs ------------------------------------------------------

Result<Type> GraphImporter::inputType(const ValueInfoProto &Info) {
  std::string Name = quoted(Info.name());
  if (!Info.type().has_tensor_type())
    return unsupportedError("graph input " + Name +
                            " is not a tensor (sequences, maps and optionals "
                            "are not supported)");
  const ::onnx::TypeProto_Tensor &T = Info.type().tensor_type();
  Type Element = elementType(*B.getContext(), T.elem_type());
  if (!Element)
    return unsupportedError("graph input " + Name + " has element type " +
                            dataTypeName(T.elem_type()) +
                            ", which llmc does not have");
  if (!T.has_shape())
    return Type(UnrankedTensorType::get(Element));
  constexpr int MaxRank = 32;
  if (T.shape().dim_size() > MaxRank)
    return malformedError("graph input " + Name + " has " +
                          std::to_string(T.shape().dim_size()) +
                          " dims, expected at most " + std::to_string(MaxRank));
  SmallVector<int64_t> Dims;
  SmallVector<StringAttr> Exprs;
  bool AnySymbol = false;
  for (const ::onnx::TensorShapeProto_Dimension &D : T.shape().dim()) {
    // Negative values are written for "unknown" by some tools.
    bool Static = D.has_dim_value() && D.dim_value() >= 0;
    std::string Symbol = dimExpression(D.dim_param());
    AnySymbol |= !Static && Symbol != "?";
    Dims.push_back(Static ? D.dim_value() : ShapedType::kDynamic);
    Exprs.push_back(
        B.getStringAttr(Static ? std::to_string(D.dim_value()) : Symbol));
  }
  Attribute Encoding;
  if (AnySymbol)
    Encoding = llmc::onnx::DimsAttr::get(B.getContext(), Exprs);
  return Type(RankedTensorType::get(Dims, Element, Encoding));
}

Status GraphImporter::addInputs(const GraphProto &Graph) {
  unsigned Index = 0;
  for (const ValueInfoProto &Info : Graph.input()) {
    // An input with an initializer is a default that nobody overrides.
    if (Initializers.contains(Info.name()))
      continue;
    LLMC_ASSIGN_OR_RETURN(Type T, inputType(Info));
    DictionaryAttr Attrs = B.getDictionaryAttr(B.getNamedAttr(
        llmc::onnx::NameAttr, B.getStringAttr(printable(Info.name()))));
    if (failed(Main.insertArgument(Index, T, Attrs, nameLoc(Info.name()))))
      return internalError("cannot add graph input " + quoted(Info.name()));
    Values[Info.name()] = Main.getArgument(Index++);
  }
  return Status::success();
}

Status GraphImporter::addOutputs(const GraphProto &Graph) {
  SmallVector<Value> Results;
  SmallVector<Type> Types;
  for (const ValueInfoProto &Info : Graph.output()) {
    LLMC_ASSIGN_OR_RETURN(Value V, value(Info.name()));
    Results.push_back(V);
    Types.push_back(V.getType());
  }
  func::ReturnOp::create(B, Module.getLoc(), Results);
  Main.setFunctionType(B.getFunctionType(Main.getArgumentTypes(), Types));
  for (int I = 0; I < Graph.output_size(); ++I)
    Main.setResultAttr(static_cast<unsigned>(I), llmc::onnx::NameAttr,
                       B.getStringAttr(printable(Graph.output(I).name())));
  return Status::success();
}

// --- constants ---------------------------------------------------------------

Value GraphImporter::none() {
  if (!None) {
    OpBuilder::InsertionGuard Guard(B);
    B.setInsertionPointToStart(&Main.front());
    None = llmc::onnx::NoneOp::create(B, Module.getLoc(), B.getNoneType());
  }
  return None;
}

Value GraphImporter::weight(const std::string &Name, const TensorRef &T) {
  std::string &Symbol =
      Weights[{T.File, T.Offset, T.Type.getAsOpaquePointer()}];
  if (Symbol.empty()) {
    Symbol = Name;
    for (unsigned I = 1; Symbol == "main" || !Symbols.insert(Symbol).second;
         ++I)
      Symbol = Name + "_" + std::to_string(I);
    OpBuilder::InsertionGuard Guard(B);
    B.setInsertionPoint(Main);
    llmc::onnx::WeightDataOp::create(B, nameLoc(Name), Symbol,
                                     static_cast<uint64_t>(T.File), T.Offset,
                                     T.Length, T.Type);
  }
  return llmc::onnx::WeightOp::create(B, nameLoc(Name), T.Type, Symbol);
}

Result<Value> GraphImporter::constantOf(const std::string &Name,
                                        const TensorProto &T) {
  LLMC_ASSIGN_OR_RETURN(TensorRef Ref, Tensors.resolve(T, Name));
  if (!Tensors.isSmall(Ref))
    return weight(Name, Ref);
  LLMC_ASSIGN_OR_RETURN(DenseElementsAttr Elements, Tensors.load(Ref, Name));
  return Value(llmc::onnx::ConstantOp::create(B, nameLoc(Name), Elements));
}

Result<Value> GraphImporter::constantOf(const GraphNode &Node) {
  if (Node.Proto->attribute_size() != 1)
    return malformedError("constant " + quoted(Node.Label) + " has " +
                          std::to_string(Node.Proto->attribute_size()) +
                          " attributes, expected 1");
  const AttributeProto &A = Node.Proto->attribute(0);
  if (A.name() == "value" && A.has_t())
    return constantOf(Node.Proto->output(0), A.t());
  RankedTensorType F32 = RankedTensorType::get({}, B.getF32Type());
  RankedTensorType I64 = RankedTensorType::get({}, B.getI64Type());
  float Float = A.f();
  int64_t Int = A.i();
  if (A.name() == "value_float" && A.has_f())
    return inlineConstant(Node, F32, &Float, sizeof(Float));
  if (A.name() == "value_int" && A.has_i())
    return inlineConstant(Node, I64, &Int, sizeof(Int));
  if (A.name() == "value_floats")
    return inlineConstant(Node, F32.clone({A.floats_size()}), A.floats().data(),
                          sizeof(float));
  if (A.name() == "value_ints")
    return inlineConstant(Node, I64.clone({A.ints_size()}), A.ints().data(),
                          sizeof(int64_t));
  return malformedError("constant " + quoted(Node.Label) +
                        " has no value in attribute " + quoted(A.name()));
}

/// A constant spelled in attributes: no bytes in the file are like it.
Result<Value> GraphImporter::inlineConstant(const GraphNode &Node,
                                            RankedTensorType T,
                                            const void *Data,
                                            size_t ElementBytes) {
  const uint8_t *Begin = static_cast<const uint8_t *>(Data);
  size_t Bytes = static_cast<size_t>(T.getNumElements()) * ElementBytes;
  TensorRef Ref = Tensors.keep(T, std::vector<uint8_t>(Begin, Begin + Bytes));
  if (!Tensors.isSmall(Ref))
    return weight(Node.Proto->output(0), Ref);
  LLMC_ASSIGN_OR_RETURN(DenseElementsAttr Elements,
                        Tensors.load(Ref, Node.Label));
  return Value(
      llmc::onnx::ConstantOp::create(B, nameLoc(Node.Label), Elements));
}

Result<Value> GraphImporter::value(const std::string &Name) {
  llvm::StringMap<Value>::iterator Known = Values.find(Name);
  if (Known != Values.end())
    return Known->second;
  llvm::StringMap<const TensorProto *>::iterator T = Initializers.find(Name);
  llvm::StringMap<const GraphNode *>::iterator C = Constants.find(Name);
  if (T == Initializers.end() && C == Constants.end())
    return unsupportedError("value " + quoted(Name) +
                            " is a sparse tensor, which is not supported");
  Result<Value> V = T != Initializers.end() ? constantOf(Name, *T->second)
                                            : constantOf(*C->second);
  if (V.ok())
    Values[Name] = *V;
  return V;
}
