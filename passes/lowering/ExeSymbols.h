// The symbols of an exe.program while llm-to-exe makes it: slots, packed
// weights, states. Every distinct thing becomes one symbol, in order of first
// use.
#ifndef LLMC_PASSES_LOWERING_EXESYMBOLS_H
#define LLMC_PASSES_LOWERING_EXESYMBOLS_H

#include "dialects/exe/ExeDialect.h"
#include "dialects/llm/LlmDialect.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"

namespace llmc {

class ExeSymbols {
public:
  ExeSymbols(mlir::ModuleOp Module, exe::ProgramOp Program);

  /// A new slot; Hint becomes its name.
  exe::BufferAttr slot(mlir::Location Loc, llvm::StringRef Hint,
                       int64_t PerToken, int64_t Fixed = 0);

  /// The packed form of an llm.weight; one for all weights of the same rows in
  /// the same layout. Null with a diagnostic when the weight has no layout or a
  /// source that cannot be packed.
  exe::PackedWeightOp weight(llvm::StringRef Name);

  /// Makes one exe.state for all llm.states of one geometry and numbers the
  /// layers in each.
  void makeStates(mlir::Type Cache);
  exe::BufferAttr state(llvm::StringRef State) const;
  llm::StateOp stateOf(llvm::StringRef Name) const;
  int64_t layerOf(llvm::StringRef State) const;
  /// Bytes of one head of a state in a page.
  int64_t blockBytes(llvm::StringRef State);

private:
  mlir::StringAttr insertFront(mlir::Operation *Op);
  exe::SourceAttr sourceOf(llm::PieceAttr Piece, bool Named);

  exe::ProgramOp Program;
  mlir::SymbolTable Llm;
  mlir::SymbolTable Exe;
  mlir::OpBuilder B;                ///< before the step
  mlir::Operation *Front = nullptr; ///< the last slot or state
  llvm::DenseMap<mlir::Attribute, exe::PackedWeightOp> ByContent;
  llvm::DenseMap<mlir::Attribute, exe::PackedWeightOp> ByName;
  llvm::DenseMap<mlir::Attribute, int64_t> Layers;
  llvm::DenseMap<mlir::Attribute, exe::StateOp> ByGeometry;
  llvm::DenseMap<mlir::Attribute, exe::StateOp> StateOf;
};

} // namespace llmc

#endif // LLMC_PASSES_LOWERING_EXESYMBOLS_H
