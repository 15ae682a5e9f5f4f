// Flattening, sorting and liveness. All walks are iterative: a chain of nodes
// may be as long as the file.
#include "compiler/frontend/onnx/Graph.h"

#include "compiler/frontend/onnx/Signatures.h"
#include "compiler/frontend/onnx/onnx-ml.pb.h"
#include "runtime/base/Quote.h"

using namespace llmc;
using ::onnx::NodeProto;

llvm::StringRef llmc::domainOf(llvm::StringRef Domain) {
  return Domain == "ai.onnx" ? "" : Domain;
}

std::string llmc::opTitle(const NodeProto &Node) {
  llvm::StringRef Domain = domainOf(Node.domain());
  return printable(Domain.empty() ? Node.op_type()
                                  : Domain.str() + "." + Node.op_type());
}

FlatGraph::FlatGraph() = default;
FlatGraph::~FlatGraph() = default;

Status FlatGraph::readOpset(const ::onnx::ModelProto &Model,
                            const std::string &File) {
  if (Model.opset_import_size() == 0)
    return malformedError(
        quoted(File) + " imports no opset, expected ai.onnx " +
        std::to_string(OldestOpset) + " to " + std::to_string(NewestOpset));
  for (const ::onnx::OperatorSetIdProto &Import : Model.opset_import()) {
    if (!domainOf(Import.domain()).empty())
      continue;
    if (Opset != 0 && Opset != Import.version())
      return malformedError(quoted(File) + " imports opset ai.onnx twice: " +
                            std::to_string(Opset) + " and " +
                            std::to_string(Import.version()));
    Opset = Import.version();
    if (Opset <= 0)
      return malformedError(quoted(File) + " imports opset ai.onnx " +
                            std::to_string(Opset) + ", expected " +
                            std::to_string(OldestOpset) + " to " +
                            std::to_string(NewestOpset));
  }
  return Status::success();
}

Status FlatGraph::build(const ::onnx::ModelProto &Model,
                        const std::string &File) {
  LLMC_RETURN_IF_ERROR(readOpset(Model, File));
  LLMC_RETURN_IF_ERROR(chooseGraph(Model));
  LLMC_RETURN_IF_ERROR(readFunctions(Model));
  for (const NodeProto &Node : Graph->node())
    LLMC_RETURN_IF_ERROR(addNode(Node, Opset, "", 0, nullptr));
  LLMC_RETURN_IF_ERROR(mapProducers());
  LLMC_RETURN_IF_ERROR(sort());
  markLive();
  return Status::success();
}

Status FlatGraph::mapProducers() {
  if (Graph->output_size() == 0)
    return malformedError("the graph has no outputs");
  for (const ::onnx::ValueInfoProto &Input : Graph->input())
    if (!Sources.insert(Input.name()).second)
      return malformedError("graph input " + quoted(Input.name()) +
                            " is there twice");
  llvm::StringSet<> Seen;
  for (const Initializer &I : Initializers) {
    if (!Seen.insert(I.first).second)
      return malformedError("initializer " + quoted(I.first) +
                            " is there twice");
    Sources.insert(I.first);
  }
  for (const ::onnx::SparseTensorProto &T : Graph->sparse_initializer())
    Sources.insert(T.values().name());
  for (size_t I = 0; I < Nodes.size(); ++I)
    for (const std::string &Name : Nodes[I].Proto->output()) {
      if (Name.empty())
        continue;
      if (Sources.contains(Name))
        return malformedError("value " + quoted(Name) + " of node " +
                              quoted(Nodes[I].Label) +
                              " is already a graph input or initializer");
      if (!Producers.try_emplace(Name, I).second)
        return malformedError("value " + quoted(Name) +
                              " is written twice: by node " +
                              quoted(Nodes[Producers[Name]].Label) +
                              " and by node " + quoted(Nodes[I].Label));
    }
  for (const ::onnx::ValueInfoProto &Output : Graph->output())
    if (!Producers.contains(Output.name()) && !Sources.contains(Output.name()))
      return malformedError("graph output " + quoted(Output.name()) +
                            " is written by no node");
  return Status::success();
}

/// Depth-first in file order: a sorted file keeps its order.
Status FlatGraph::sort() {
  enum : uint8_t { New, Open, Done };
  std::vector<uint8_t> State(Nodes.size(), New);
  std::vector<size_t> Order;
  Order.reserve(Nodes.size());
  struct Frame {
    size_t Node;
    int Next;
  };
  std::vector<Frame> Stack;
  const auto CycleError = [&](size_t Start) {
    std::string Path;
    bool Inside = false;
    unsigned Shown = 0;
    for (const Frame &F : Stack) {
      Inside |= F.Node == Start;
      if (Inside && Shown++ < 8)
        Path += printable(Nodes[F.Node].Label) + " -> ";
      else if (Inside && Shown == 9)
        Path += "... -> ";
    }
    return malformedError("the graph has a cycle: " + Path +
                          printable(Nodes[Start].Label));
  };
  for (size_t Root = 0; Root < Nodes.size(); ++Root) {
    if (State[Root] != New)
      continue;
    Stack.push_back({Root, 0});
    State[Root] = Open;
    while (!Stack.empty()) {
      Frame &Top = Stack.back();
      const NodeProto &Node = *Nodes[Top.Node].Proto;
      if (Top.Next == Node.input_size()) {
        State[Top.Node] = Done;
        Order.push_back(Top.Node);
        Stack.pop_back();
        continue;
      }
      const std::string &Name = Node.input(Top.Next++);
      if (Name.empty() || Sources.contains(Name))
        continue;
      llvm::StringMap<size_t>::const_iterator It = Producers.find(Name);
      if (It == Producers.end())
        return malformedError("node " + quoted(Nodes[Top.Node].Label) +
                              " reads " + quoted(Name) +
                              ", which nothing writes");
      size_t Producer = It->second;
      if (State[Producer] == Open)
        return CycleError(Producer);
      if (State[Producer] == New) {
        State[Producer] = Open;
        Stack.push_back({Producer, 0});
      }
    }
  }
  std::vector<GraphNode> Sorted;
  Sorted.reserve(Nodes.size());
  std::vector<size_t> NewIndex(Nodes.size());
  for (size_t Old : Order) {
    NewIndex[Old] = Sorted.size();
    Sorted.push_back(std::move(Nodes[Old]));
  }
  Nodes = std::move(Sorted);
  for (llvm::StringMapEntry<size_t> &Entry : Producers)
    Entry.second = NewIndex[Entry.second];
  return Status::success();
}

void FlatGraph::markLive() {
  const auto Mark = [&](llvm::StringRef Name) {
    llvm::StringMap<size_t>::const_iterator It = Producers.find(Name);
    if (It != Producers.end())
      Nodes[It->second].Live = true;
  };
  for (const ::onnx::ValueInfoProto &Output : Graph->output())
    Mark(Output.name());
  DeadNodes = 0;
  for (size_t I = Nodes.size(); I-- > 0;) {
    if (!Nodes[I].Live) {
      ++DeadNodes;
      continue;
    }
    for (const std::string &Name : Nodes[I].Proto->input())
      Mark(Name);
  }
}
