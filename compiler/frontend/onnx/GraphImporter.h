// Builds func.func @main from a flat graph.
#ifndef LLMC_COMPILER_FRONTEND_ONNX_GRAPHIMPORTER_H
#define LLMC_COMPILER_FRONTEND_ONNX_GRAPHIMPORTER_H

#include "compiler/frontend/onnx/Graph.h"
#include "compiler/frontend/onnx/TensorData.h"
#include "compiler/frontend/onnx/Upgrade.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/DenseMap.h"

#include <map>
#include <tuple>

namespace onnx {
class GraphProto;
class ValueInfoProto;
} // namespace onnx

namespace llmc {

class GraphImporter {
public:
  GraphImporter(mlir::ModuleOp Module, TensorReader &Tensors);

  /// The nodes must be free of issues (collectIssues).
  Status run(const FlatGraph &Flat);

private:
  Result<mlir::Type> inputType(const ::onnx::ValueInfoProto &Info);
  Status addInputs(const ::onnx::GraphProto &Graph);
  Status addOutputs(const ::onnx::GraphProto &Graph);
  Status addNode(const GraphNode &Node);
  Status addIf(const GraphNode &Node);
  Status setOperands(PendingNode &Node);
  Status checkAttributes(const PendingNode &Node);
  Status setAttributes(const PendingNode &Node, mlir::OperationState &State);
  Result<mlir::Attribute> attribute(const PendingNode &Node,
                                    const ::onnx::AttributeProto &A);
  Status setResultTypes(const PendingNode &Node, mlir::OperationState &State);

  /// The value of a name; constants are created where they are first used.
  Result<mlir::Value> value(const std::string &Name);
  Result<mlir::Value> constantOf(const std::string &Name,
                                 const ::onnx::TensorProto &T);
  Result<mlir::Value> constantOf(const GraphNode &Node);
  Result<mlir::Value> inlineConstant(const GraphNode &Node,
                                     mlir::RankedTensorType T, const void *Data,
                                     size_t ElementBytes);
  mlir::Value weight(const std::string &Name, const TensorRef &T);
  mlir::Value none();
  mlir::Location nameLoc(llvm::StringRef Name);

  mlir::ModuleOp Module;
  TensorReader &Tensors;
  mlir::OpBuilder B;
  mlir::func::FuncOp Main;
  mlir::Value None;
  llvm::StringMap<mlir::Value> Values;
  llvm::StringMap<const ::onnx::TensorProto *> Initializers;
  llvm::StringMap<const GraphNode *> Constants; ///< Constant nodes
  /// Tied tensors are one weight: (file, offset, type) -> symbol.
  std::map<std::tuple<uint32_t, uint64_t, const void *>, std::string> Weights;
  llvm::StringSet<> Symbols;
};

} // namespace llmc

#endif // LLMC_COMPILER_FRONTEND_ONNX_GRAPHIMPORTER_H
