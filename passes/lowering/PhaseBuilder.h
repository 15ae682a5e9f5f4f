// Builds one exe.phase by the names of the kernel catalogue, so that no caller
// counts positions of buffers.
#ifndef LLMC_PASSES_LOWERING_PHASEBUILDER_H
#define LLMC_PASSES_LOWERING_PHASEBUILDER_H

#include "compiler/kernels/Catalogue.h"
#include "dialects/exe/ExeDialect.h"
#include "mlir/IR/Builders.h"

namespace llmc {

class PhaseBuilder {
public:
  /// Kernel must be in the catalogue. All buffers start as none.
  PhaseBuilder(mlir::MLIRContext *Context, llvm::StringRef Kernel);

  PhaseBuilder &buffer(llvm::StringRef Name, exe::BufferAttr Buffer);
  PhaseBuilder &integer(llvm::StringRef Name, int64_t Value);
  PhaseBuilder &real(llvm::StringRef Name, llvm::APFloat Value);

  /// The phase, with the ONNX nodes of Loc as its source nodes.
  exe::PhaseOp build(mlir::OpBuilder &B, mlir::Location Loc, int64_t Layer = 0);

private:
  const kernels::KernelInfo *Info;
  mlir::Builder Attrs;
  llvm::SmallVector<mlir::Attribute> Buffers;
  llvm::SmallVector<mlir::NamedAttribute> Consts;
};

} // namespace llmc

#endif // LLMC_PASSES_LOWERING_PHASEBUILDER_H
