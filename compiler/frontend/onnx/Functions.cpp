// Local functions: refuses recursion and inlines calls, node by node, with
// fresh names for what is inside.
#include "compiler/frontend/onnx/Graph.h"

#include "compiler/frontend/onnx/Signatures.h"
#include "compiler/frontend/onnx/onnx-ml.pb.h"
#include "runtime/base/Quote.h"

using namespace llmc;
using ::onnx::AttributeProto;
using ::onnx::FunctionProto;
using ::onnx::NodeProto;

namespace {
/// Small functions that call each other can unfold without end, in nodes and
/// in the bytes of their names and attributes. A small file may become less
/// than a large one: what it asks for is done before its use is known.
constexpr uint64_t MaxNodes = 1u << 18;
constexpr uint64_t FreeNodes = 1u << 12;
constexpr uint64_t MaxUnfolding = 1u << 10;
constexpr uint64_t MaxInlinedBytes = 128u << 20;
constexpr unsigned MaxCallDepth = 64;
/// Attributes are looked up one by one.
constexpr int MaxAttributes = 256;
constexpr size_t MaxLabel = 200;

std::string functionKey(llvm::StringRef Domain, llvm::StringRef Name,
                        llvm::StringRef Overload) {
  std::string Key = domainOf(Domain).str();
  Key += '\0';
  Key += Name;
  Key += '\0';
  Key += Overload;
  return Key;
}
} // namespace

/// With those of subgraphs, whose depth is bounded by the scan.
static uint64_t
countNodes(const google::protobuf::RepeatedPtrField<NodeProto> &Nodes) {
  uint64_t Count = static_cast<uint64_t>(Nodes.size());
  for (const NodeProto &Node : Nodes)
    for (const AttributeProto &A : Node.attribute())
      if (A.has_g())
        Count += countNodes(A.g().node());
  return Count;
}

Status FlatGraph::readFunctions(const ::onnx::ModelProto &Model) {
  for (const FunctionProto &F : Model.functions())
    if (!Functions
             .try_emplace(functionKey(F.domain(), F.name(), F.overload()), &F)
             .second)
      return malformedError("local function " + quoted(F.name()) +
                            " is defined twice");
  uint64_t InFile = countNodes(Graph->node());
  for (const FunctionProto &F : Model.functions())
    InFile += countNodes(F.node());
  NodeLimit = std::min(MaxNodes, FreeNodes + MaxUnfolding * InFile);
  return checkRecursion();
}

const FunctionProto *FlatGraph::functionOf(const NodeProto &Node) const {
  // A known op of the same name wins, as in ONNX Runtime.
  llvm::StringRef Domain = domainOf(Node.domain());
  if (Functions.empty() || findOp(Domain, Node.op_type()) ||
      (Domain.empty() && Node.op_type() == "Constant"))
    return nullptr;
  return Functions.lookup(
      functionKey(Node.domain(), Node.op_type(), Node.overload()));
}

/// Depth-first over calls, without recursion of our own.
Status FlatGraph::checkRecursion() const {
  struct Frame {
    const FunctionProto *F;
    int Next;
    uint64_t Size;
  };
  llvm::DenseMap<const FunctionProto *, uint64_t> Done; // unfolded nodes
  for (const llvm::StringMapEntry<const FunctionProto *> &Entry : Functions) {
    std::vector<Frame> Stack;
    llvm::DenseSet<const FunctionProto *> Open;
    if (!Done.contains(Entry.second)) {
      Stack.push_back({Entry.second, 0, 0});
      Open.insert(Entry.second);
    }
    while (!Stack.empty()) {
      Frame &Top = Stack.back();
      if (Top.Next == Top.F->node_size()) {
        uint64_t Size = Top.Size;
        Done[Top.F] = Size;
        Open.erase(Top.F);
        Stack.pop_back();
        if (!Stack.empty())
          Stack.back().Size += Size;
        if (Size > NodeLimit)
          return malformedError("local functions unfold to more than " +
                                std::to_string(NodeLimit) + " nodes");
        continue;
      }
      const FunctionProto *Callee = functionOf(Top.F->node(Top.Next++));
      if (!Callee || Done.contains(Callee)) {
        Top.Size += Callee ? Done[Callee] : 1;
        continue;
      }
      if (!Open.insert(Callee).second) {
        std::string Path;
        for (const Frame &F : Stack)
          Path += printable(F.F->name()) + " -> ";
        return malformedError("local function " + quoted(Callee->name()) +
                              " is recursive: " + Path +
                              printable(Callee->name()));
      }
      Stack.push_back({Callee, 0, 0});
    }
  }
  return Status::success();
}

Status FlatGraph::addNode(const NodeProto &Node, int64_t NodeOpset,
                          const std::string &Prefix, unsigned Depth,
                          const NameMap *Scope) {
  std::string Label = Node.name();
  if (Label.empty())
    Label = Node.op_type() + "_" + std::to_string(Nodes.size());
  Label = Prefix + Label;
  if (Label.size() > MaxLabel)
    Label = "..." + Label.substr(Label.size() - MaxLabel);
  if (Node.attribute_size() > MaxAttributes)
    return malformedError("node " + quoted(Label) + " has " +
                          std::to_string(Node.attribute_size()) +
                          " attributes, expected at most " +
                          std::to_string(MaxAttributes));
  if (const FunctionProto *F = functionOf(Node))
    return inlineCall(Node, *F, Label, Depth);
  if (Node.op_type() == "If" && domainOf(Node.domain()).empty())
    return spreadIf(Node, NodeOpset, Label, Depth, Scope);
  if (Nodes.size() >= NodeLimit)
    return malformedError("the graph has more than " +
                          std::to_string(NodeLimit) + " nodes");
  Nodes.push_back({&Node, NodeOpset, std::move(Label), false});
  return Status::success();
}

std::string NameMap::operator()(const std::string &Name) const {
  if (Name.empty())
    return Name;
  llvm::StringMap<std::string>::const_iterator It = Map.find(Name);
  if (It != Map.end())
    return It->second;
  return Outer ? (*Outer)(Name) : Prefix + Name;
}

namespace {
/// Names of a function's body in one call. Labels of calls need not be unique,
/// so values get the call's number.
NameMap callNames(const NodeProto &Call, const FunctionProto &F,
                  size_t Number) {
  NameMap Names;
  Names.Prefix = "//call" + std::to_string(Number) + "/";
  for (int I = 0; I < F.input_size(); ++I)
    Names.Map[F.input(I)] = I < Call.input_size() ? Call.input(I) : "";
  for (int I = 0; I < F.output_size(); ++I)
    if (I < Call.output_size() && !Call.output(I).empty())
      Names.Map.try_emplace(F.output(I), Call.output(I));
  return Names;
}

const AttributeProto *
findAttr(const google::protobuf::RepeatedPtrField<AttributeProto> &Attrs,
         const std::string &Name) {
  for (const AttributeProto &A : Attrs)
    if (A.name() == Name)
      return &A;
  return nullptr;
}

/// The attributes of a body node, references to the call's ones resolved, also
/// in subgraphs. The depth of subgraphs is bounded by the scan. Returns how
/// many names were compared.
uint64_t copyAttributes(const NodeProto &From, const NodeProto &Call,
                        const FunctionProto &F, NodeProto &To) {
  uint64_t Compared = 0;
  for (const AttributeProto &A : From.attribute()) {
    const AttributeProto *Source = &A;
    if (!A.ref_attr_name().empty()) {
      Compared += static_cast<uint64_t>(Call.attribute_size()) +
                  static_cast<uint64_t>(F.attribute_proto_size());
      Source = findAttr(Call.attribute(), A.ref_attr_name());
      if (!Source)
        Source = findAttr(F.attribute_proto(), A.ref_attr_name());
      if (!Source)
        continue;
    }
    AttributeProto *Copy = To.add_attribute();
    *Copy = *Source;
    Copy->set_name(A.name());
    if (Source != &A || !Copy->has_g())
      continue;
    for (NodeProto &Node : *Copy->mutable_g()->mutable_node()) {
      NodeProto Inner;
      Compared += copyAttributes(Node, Call, F, Inner);
      Node.mutable_attribute()->Swap(Inner.mutable_attribute());
    }
  }
  return Compared;
}

int64_t functionOpset(const FunctionProto &F, int64_t Default) {
  for (const ::onnx::OperatorSetIdProto &Import : F.opset_import())
    if (domainOf(Import.domain()).empty())
      return Import.version();
  return Default;
}
} // namespace

Status FlatGraph::inlineCall(const NodeProto &Call, const FunctionProto &F,
                             const std::string &Label, unsigned Depth) {
  if (Depth >= MaxCallDepth)
    return malformedError("local functions call each other deeper than " +
                          std::to_string(MaxCallDepth) + " in node " +
                          quoted(Label));
  if (Call.input_size() > F.input_size() ||
      Call.output_size() > F.output_size())
    return malformedError(
        "node " + quoted(Label) + " calls local function " + quoted(F.name()) +
        " with " + std::to_string(Call.input_size()) + " inputs and " +
        std::to_string(Call.output_size()) + " outputs, expected at most " +
        std::to_string(F.input_size()) + " and " +
        std::to_string(F.output_size()));
  // What this call costs besides its nodes.
  LLMC_RETURN_IF_ERROR(
      countInlined(32 * static_cast<uint64_t>(F.input_size() + F.output_size() +
                                              F.opset_import_size())));
  NameMap Names = callNames(Call, F, NumCalls++);
  int64_t BodyOpset = functionOpset(F, Opset);
  for (const NodeProto &Node : F.node()) {
    LLMC_RETURN_IF_ERROR(countInlined(Node.ByteSizeLong()));
    Inlined.push_back(std::make_unique<NodeProto>());
    NodeProto &Copy = *Inlined.back();
    Copy.set_name(Node.name());
    Copy.set_op_type(Node.op_type());
    Copy.set_domain(Node.domain());
    Copy.set_overload(Node.overload());
    for (const std::string &Name : Node.input())
      Copy.add_input(Names(Name));
    for (const std::string &Name : Node.output())
      Copy.add_output(Names(Name));
    uint64_t Compared = copyAttributes(Node, Call, F, Copy);
    LLMC_RETURN_IF_ERROR(countInlined(Copy.ByteSizeLong() + Compared));
    LLMC_RETURN_IF_ERROR(
        addNode(Copy, BodyOpset, Label + "/", Depth + 1, &Names));
  }
  // A function may hand an input on as an output.
  llvm::StringSet<> Inputs;
  for (const std::string &Input : F.input())
    Inputs.insert(Input);
  for (int I = 0; I < Call.output_size(); ++I) {
    if (!Inputs.contains(F.output(I)) || Call.output(I).empty())
      continue;
    Inlined.push_back(std::make_unique<NodeProto>());
    NodeProto &Copy = *Inlined.back();
    Copy.set_op_type("Identity");
    Copy.add_input(Names(F.output(I)));
    Copy.add_output(Call.output(I));
    LLMC_RETURN_IF_ERROR(
        addNode(Copy, BodyOpset, Label + "/", Depth + 1, nullptr));
  }
  return Status::success();
}

Status FlatGraph::countInlined(uint64_t Bytes) {
  InlinedBytes += Bytes;
  if (InlinedBytes <= MaxInlinedBytes)
    return Status::success();
  return malformedError("local functions unfold to more than " +
                        std::to_string(MaxInlinedBytes) + " bytes");
}
