// The llm.weight symbols of a module while fusion recombines them. A weight is
// a list of row ranges of sources: fusing products means making new lists, and
// no weight data is touched.
#ifndef LLMC_PASSES_FUSION_WEIGHTTABLE_H
#define LLMC_PASSES_FUSION_WEIGHTTABLE_H

#include "dialects/llm/LlmDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/SymbolTable.h"

namespace llmc {

/// Row ranges of a weight that is being put together.
using Pieces = llvm::SmallVector<mlir::Attribute>;

class WeightTable {
public:
  explicit WeightTable(mlir::ModuleOp Module)
      : Module(Module), Symbols(Module) {}

  llm::WeightOp lookup(llvm::StringRef Name) const {
    return Symbols.lookup<llm::WeightOp>(Name);
  }
  llm::StateOp lookupState(llvm::StringRef Name) const {
    return Symbols.lookup<llm::StateOp>(Name);
  }

  /// Whether the file holds these matrices in one form (float type, or codes of
  /// the same kind), so that one packed tensor can hold them as they are.
  bool sameForm(llvm::ArrayRef<llvm::StringRef> Names) const;

  /// Appends rows [Begin, Begin + Count) of a weight; adjacent ranges of one
  /// source become one.
  static void append(Pieces &To, llm::WeightOp From, int64_t Begin,
                     int64_t Count);

  /// A new weight of these pieces, a matrix or vector as the Parts are. Its
  /// name is what the Parts' names have in common, or the names of the nodes of
  /// Users, and Role.
  llm::WeightOp create(const Pieces &List, llvm::ArrayRef<llm::WeightOp> Parts,
                       llvm::ArrayRef<mlir::Operation *> Users,
                       llvm::StringRef Role);

  /// Erases the weights, and then the sources, that nothing uses.
  void eraseUnused();

private:
  mlir::ModuleOp Module;
  mlir::SymbolTable Symbols;
};

} // namespace llmc

#endif // LLMC_PASSES_FUSION_WEIGHTTABLE_H
