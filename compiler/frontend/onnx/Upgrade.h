// Older opsets: brings a node to the newest signature of its op.
#ifndef LLMC_COMPILER_FRONTEND_ONNX_UPGRADE_H
#define LLMC_COMPILER_FRONTEND_ONNX_UPGRADE_H

#include "mlir/IR/Builders.h"
#include "runtime/base/Status.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"

namespace onnx {
class AttributeProto;
} // namespace onnx

namespace llmc {

struct GraphNode;
struct OpSpec;

/// A node on its way into the graph.
struct PendingNode {
  const GraphNode &Source;
  const OpSpec &Spec;
  mlir::Location Loc;
  llvm::SmallVector<mlir::Value, 4> Operands; ///< null: absent
  llvm::SmallVector<const ::onnx::AttributeProto *, 4> Attrs;
  llvm::SmallVector<mlir::NamedAttribute, 4> Extra; ///< beside Attrs
  unsigned NumOutputs = 0;
};

/// Whether an older opset has this attribute where the newest has an operand.
bool isLegacyAttribute(llvm::StringRef Op, llvm::StringRef Attr);

/// Turns legacy attributes into operands and defaults that changed into
/// explicit values.
Status upgradeNode(PendingNode &Node, mlir::OpBuilder &B);

/// Softmax, LogSoftmax and Hardmax of opset <= 12 normalise over all dims from
/// axis on. Null if the node means the same as in the newest opset.
mlir::Value buildFlattenedSoftmax(PendingNode &Node, mlir::OpBuilder &B);

} // namespace llmc

#endif // LLMC_COMPILER_FRONTEND_ONNX_UPGRADE_H
