// Subgraphs: spreads the branches of If nodes among the nodes around them, and
// takes the decoder out of a generation loop.
#include "compiler/frontend/onnx/Graph.h"

#include "compiler/frontend/onnx/onnx-ml.pb.h"
#include "runtime/base/Quote.h"

using namespace llmc;
using ::onnx::AttributeProto;
using ::onnx::GraphProto;
using ::onnx::NodeProto;
using ::onnx::TensorProto;

namespace {
constexpr unsigned MaxBranchDepth = 64;

const GraphProto *findGraph(const NodeProto &Node, llvm::StringRef Name) {
  for (const AttributeProto &A : Node.attribute())
    if (A.name() == Name && A.has_g())
      return &A.g();
  return nullptr;
}

bool isGenerationLoop(const NodeProto &Node) {
  return Node.domain() == "com.microsoft" &&
         (Node.op_type() == "GreedySearch" || Node.op_type() == "BeamSearch" ||
          Node.op_type() == "Sampling");
}
} // namespace

Status FlatGraph::spreadIf(const NodeProto &If, int64_t NodeOpset,
                           const std::string &Label, unsigned Depth,
                           const NameMap *Scope) {
  if (Depth >= MaxBranchDepth)
    return malformedError("branches are nested deeper than " +
                          std::to_string(MaxBranchDepth) + " in node " +
                          quoted(Label));
  if (If.input_size() != 1)
    return malformedError("node " + quoted(Label) + " (If) has " +
                          std::to_string(If.input_size()) +
                          " inputs, expected 1");
  Inlined.push_back(std::make_unique<NodeProto>());
  NodeProto &Choice = *Inlined.back();
  Choice.set_name(If.name());
  Choice.set_op_type("If");
  Choice.add_input(If.input(0));
  for (const std::string &Output : If.output())
    Choice.add_output(Output);
  for (const char *Name : {"then_branch", "else_branch"}) {
    const GraphProto *Branch = findGraph(If, Name);
    if (!Branch)
      return malformedError("node " + quoted(Label) +
                            " (If) lacks attribute '" + Name + "'");
    if (Branch->output_size() != If.output_size())
      return malformedError(std::string(Name) + " of node " + quoted(Label) +
                            " has " + std::to_string(Branch->output_size()) +
                            " outputs, the node " +
                            std::to_string(If.output_size()));
    NameMap Names;
    Names.Outer = Scope;
    LLMC_RETURN_IF_ERROR(spreadBranch(*Branch, NodeOpset,
                                      Label + "/" + Name + "/", Depth, Names));
    for (const ::onnx::ValueInfoProto &Output : Branch->output())
      Choice.add_input(Names(Output.name()));
  }
  Nodes.push_back({&Choice, NodeOpset, Label, false});
  return Status::success();
}

Status FlatGraph::spreadBranch(const GraphProto &Branch, int64_t NodeOpset,
                               const std::string &Label, unsigned Depth,
                               NameMap &Names) {
  std::string Prefix = "//branch" + std::to_string(NumCalls++) + "/";
  // A name may be an initializer of the branch, a value of it, or of outside.
  for (const TensorProto &T : Branch.initializer()) {
    Names.Map[T.name()] = Prefix + T.name();
    Initializers.push_back({Prefix + T.name(), &T});
  }
  for (const NodeProto &Node : Branch.node())
    for (const std::string &Output : Node.output())
      if (!Output.empty())
        Names.Map[Output] = Prefix + Output;
  for (const NodeProto &Node : Branch.node()) {
    LLMC_RETURN_IF_ERROR(countInlined(2 * Node.ByteSizeLong()));
    Inlined.push_back(std::make_unique<NodeProto>(Node));
    NodeProto &Copy = *Inlined.back();
    for (std::string &Input : *Copy.mutable_input())
      Input = Names(Input);
    for (std::string &Output : *Copy.mutable_output())
      Output = Names(Output);
    LLMC_RETURN_IF_ERROR(countInlined(
        static_cast<uint64_t>(Prefix.size()) *
        static_cast<uint64_t>(Copy.input_size() + Copy.output_size())));
    LLMC_RETURN_IF_ERROR(addNode(Copy, NodeOpset, Label, Depth + 1, &Names));
  }
  return Status::success();
}

Status FlatGraph::chooseGraph(const ::onnx::ModelProto &Model) {
  Graph = &Model.graph();
  for (const NodeProto &Node : Model.graph().node()) {
    if (!isGenerationLoop(Node))
      continue;
    std::string Title =
        "node " + quoted(Node.name()) + " (" + opTitle(Node) + ")";
    const GraphProto *Decoder = findGraph(Node, "decoder");
    if (!Decoder)
      return malformedError(Title + " lacks attribute 'decoder'");
    if (findGraph(Node, "encoder"))
      return unsupportedError(Title + " is a loop around an encoder and a "
                                      "decoder; llmc takes decoders alone");
    Warnings.push_back("takes the decoder out of " + Title +
                       "; its way of generating is not kept");
    Graph = Decoder;
    break;
  }
  for (const TensorProto &T : Graph->initializer())
    Initializers.push_back({T.name(), &T});
  if (Graph == &Model.graph())
    return Status::success();
  // The decoder reads what lies around it unless it has the name itself.
  llvm::StringSet<> Own;
  for (const TensorProto &T : Graph->initializer())
    Own.insert(T.name());
  for (const ::onnx::ValueInfoProto &Input : Graph->input())
    Own.insert(Input.name());
  for (const NodeProto &Node : Graph->node())
    for (const std::string &Output : Node.output())
      Own.insert(Output);
  for (const TensorProto &T : Model.graph().initializer())
    if (Own.insert(T.name()).second)
      Initializers.push_back({T.name(), &T});
  return Status::success();
}
