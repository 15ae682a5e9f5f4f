// Ops of com.microsoft that a few standard ops say exactly: they become these
// while reading, so that nothing behind the importer knows them.
#ifndef LLMC_COMPILER_FRONTEND_ONNX_MSEXPAND_H
#define LLMC_COMPILER_FRONTEND_ONNX_MSEXPAND_H

#include "compiler/frontend/onnx/Signatures.h"
#include "compiler/frontend/onnx/Upgrade.h"

namespace llmc {

/// The specification of such an op, without a mnemonic; null for another. The
/// domain of ai.onnx is empty.
const OpSpec *findExpandedOp(llvm::StringRef Domain, llvm::StringRef Name);

/// Builds the ops of a node whose specification is of findExpandedOp. Results
/// are in the order of its outputs, null where the node does not use one.
Status expandNode(PendingNode &Node, mlir::OpBuilder &B,
                  llvm::SmallVectorImpl<mlir::Value> &Results);

/// Builds ops for one node: what the expansions share.
class Expander {
public:
  Expander(PendingNode &Node, mlir::OpBuilder &B) : Node(Node), B(B) {}

  /// An operand; null when absent.
  mlir::Value in(unsigned I) const {
    return I < Node.Operands.size() ? Node.Operands[I] : mlir::Value();
  }
  bool uses(unsigned Output) const;
  mlir::Type elementOf(mlir::Value V) const;
  float real(llvm::StringRef Attr, float Default) const;
  int64_t integer(llvm::StringRef Attr, int64_t Default) const;
  llvm::SmallVector<int64_t> integers(llvm::StringRef Attr) const;
  std::string text(llvm::StringRef Attr, llvm::StringRef Default) const;

  /// `onnx.<Mnemonic>`; null operands are absent. The result has the element
  /// type of `Like`, of the first operand without.
  mlir::Value op(llvm::StringRef Mnemonic, mlir::ValueRange Operands,
                 llvm::ArrayRef<mlir::NamedAttribute> Attrs = {},
                 mlir::Type Element = {});
  mlir::Value add(mlir::Value X, mlir::Value Y); ///< X where Y is absent
  mlir::Value mul(mlir::Value X, mlir::Value Y) { return op("mul", {X, Y}); }
  mlir::Value sigmoid(mlir::Value X) { return op("sigmoid", {X}); }
  mlir::Value scalar(mlir::Type Element, double Value);
  mlir::Value ints(llvm::ArrayRef<int64_t> Values); ///< 1-D i64
  mlir::NamedAttribute attr(llvm::StringRef Name, int64_t Value);
  mlir::NamedAttribute attr(llvm::StringRef Name, float Value);
  mlir::NamedAttribute attr(llvm::StringRef Name, llvm::StringRef Value);
  Status unsupported(const std::string &What) const;

  PendingNode &Node;
  mlir::OpBuilder &B;
};

/// How one op is expanded.
struct Expansion {
  OpSpec Spec; ///< without a mnemonic
  Status (*Build)(Expander &, llvm::SmallVectorImpl<mlir::Value> &Results);
};
llvm::ArrayRef<Expansion> fusedExpansions(); ///< MsExpandFused.cpp
llvm::ArrayRef<Expansion> quantExpansions(); ///< MsExpandQuant.cpp

} // namespace llmc

#endif // LLMC_COMPILER_FRONTEND_ONNX_MSEXPAND_H
