// The remarks of the fusions, in one form: the ONNX nodes, and for a missed one
// the reason. Shown by `--remarks-filter=fusion`.
#ifndef LLMC_PASSES_FUSION_FUSIONREMARKS_H
#define LLMC_PASSES_FUSION_FUSIONREMARKS_H

#include "passes/util/NodeNames.h"

#include "mlir/IR/Remarks.h"

namespace llmc {

inline void remarkFused(llvm::StringRef Pass,
                        llvm::ArrayRef<mlir::Operation *> Ops) {
  mlir::remark::passed(Ops.back()->getLoc(),
                       mlir::remark::RemarkOpts::name(Pass).category("fusion"))
      << mlir::remark::metric("Nodes", nodeList(Ops));
}

inline void remarkMissed(llvm::StringRef Pass, mlir::Operation *Op,
                         llvm::StringRef Why) {
  mlir::remark::missed(Op->getLoc(),
                       mlir::remark::RemarkOpts::name(Pass).category("fusion"))
      << mlir::remark::metric("Nodes", nodeList({Op}))
      << mlir::remark::metric("Reason", Why);
}

} // namespace llmc

#endif // LLMC_PASSES_FUSION_FUSIONREMARKS_H
