// The nodes of a model as one flat list: local functions inlined, branches of
// If nodes spread out in front of them, sorted so that producers come first,
// dead ones marked. Values are still names.
//
// Branches have no effects and see the values around them, so their nodes can
// stand beside these: an If in the list only chooses among finished values
// (inputs: the condition, the results of one branch, those of the other). What
// both branches compute is then merged like any duplicate, and a branch that
// is never taken is dead code.
#ifndef LLMC_COMPILER_FRONTEND_ONNX_GRAPH_H
#define LLMC_COMPILER_FRONTEND_ONNX_GRAPH_H

#include "runtime/base/Status.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

#include <memory>
#include <string>
#include <vector>

namespace onnx {
class FunctionProto;
class GraphProto;
class ModelProto;
class NodeProto;
class TensorProto;
} // namespace onnx

namespace llmc {

struct GraphNode {
  const ::onnx::NodeProto *Proto = nullptr;
  int64_t Opset = 0; ///< of the default domain where the node stands
  std::string Label; ///< its name, or <op_type>_<index>
  bool Live = false;
};

/// "" for the default domain in either spelling.
llvm::StringRef domainOf(llvm::StringRef Domain);
/// "Gemm", "com.microsoft.MoE".
std::string opTitle(const ::onnx::NodeProto &Node);

/// What the names inside a body (of a function or a branch) are outside.
struct NameMap {
  llvm::StringMap<std::string> Map;
  std::string Prefix;             ///< of names that are neither in the map
  const NameMap *Outer = nullptr; ///< nor the business of the body around it

  std::string operator()(const std::string &Name) const;
};

class FlatGraph {
public:
  using Initializer = std::pair<std::string, const ::onnx::TensorProto *>;

  FlatGraph();
  ~FlatGraph();
  FlatGraph(const FlatGraph &) = delete;

  /// Lists the nodes of a model, which must outlive the graph.
  Status build(const ::onnx::ModelProto &Model, const std::string &File);

  /// The graph whose inputs and outputs are the model's. Where the file wraps
  /// its decoder into a generation loop, the decoder.
  const ::onnx::GraphProto &graph() const { return *Graph; }

  std::vector<GraphNode> Nodes;          ///< in topological order
  std::vector<Initializer> Initializers; ///< with those of branches
  std::vector<std::string> Warnings;
  int64_t Opset = 0;
  unsigned DeadNodes = 0;

private:
  Status readOpset(const ::onnx::ModelProto &Model, const std::string &File);
  Status readFunctions(const ::onnx::ModelProto &Model);
  Status chooseGraph(const ::onnx::ModelProto &Model);
  Status checkRecursion() const;
  const ::onnx::FunctionProto *functionOf(const ::onnx::NodeProto &Node) const;
  Status addNode(const ::onnx::NodeProto &Node, int64_t NodeOpset,
                 const std::string &Prefix, unsigned Depth,
                 const NameMap *Scope);
  Status spreadIf(const ::onnx::NodeProto &If, int64_t NodeOpset,
                  const std::string &Label, unsigned Depth,
                  const NameMap *Scope);
  Status spreadBranch(const ::onnx::GraphProto &Branch, int64_t NodeOpset,
                      const std::string &Label, unsigned Depth, NameMap &Names);
  Status inlineCall(const ::onnx::NodeProto &Call,
                    const ::onnx::FunctionProto &Body, const std::string &Label,
                    unsigned Depth);
  Status countInlined(uint64_t Bytes);
  Status mapProducers();
  Status sort();
  void markLive();

  const ::onnx::GraphProto *Graph = nullptr;

  llvm::StringMap<const ::onnx::FunctionProto *> Functions;
  std::vector<std::unique_ptr<::onnx::NodeProto>> Inlined;
  uint64_t NodeLimit = 0;            ///< by what the file holds
  uint64_t InlinedBytes = 0;         ///< what inlining has copied so far
  size_t NumCalls = 0;               ///< and branches
  llvm::StringMap<size_t> Producers; ///< value -> node
  llvm::StringSet<> Sources;         ///< graph inputs and initializers
};

} // namespace llmc

#endif // LLMC_COMPILER_FRONTEND_ONNX_GRAPH_H
