// The nodes of a model as one flat list: local functions inlined, sorted so
// that producers come first, dead ones marked. Values are still names.
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
class ModelProto;
class NodeProto;
class FunctionProto;
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

class FlatGraph {
public:
  FlatGraph();
  ~FlatGraph();
  FlatGraph(const FlatGraph &) = delete;

  /// Lists the nodes of a model, which must outlive the graph.
  Status build(const ::onnx::ModelProto &Model, const std::string &File);

  std::vector<GraphNode> Nodes; ///< in topological order
  int64_t Opset = 0;
  unsigned DeadNodes = 0;

private:
  Status readOpset(const ::onnx::ModelProto &Model, const std::string &File);
  Status readFunctions(const ::onnx::ModelProto &Model);
  Status checkRecursion() const;
  const ::onnx::FunctionProto *functionOf(const ::onnx::NodeProto &Node) const;
  Status addNode(const ::onnx::NodeProto &Node, int64_t NodeOpset,
                 const std::string &Prefix, unsigned Depth);
  Status inlineCall(const ::onnx::NodeProto &Call,
                    const ::onnx::FunctionProto &Body, const std::string &Label,
                    unsigned Depth);
  Status countInlined(uint64_t Bytes);
  Status mapProducers(const ::onnx::ModelProto &Model);
  Status sort();
  void markLive(const ::onnx::ModelProto &Model);

  llvm::StringMap<const ::onnx::FunctionProto *> Functions;
  std::vector<std::unique_ptr<::onnx::NodeProto>> Inlined;
  uint64_t InlinedBytes = 0; ///< what inlining has copied so far
  size_t NumCalls = 0;
  llvm::StringMap<size_t> Producers; ///< value -> node
  llvm::StringSet<> Sources;         ///< graph inputs and initializers
};

} // namespace llmc

#endif // LLMC_COMPILER_FRONTEND_ONNX_GRAPH_H
