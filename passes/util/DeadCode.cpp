// Removal of ops without users, and of the traces that replacing values leaves.
#include "passes/util/DeadCode.h"

#include "mlir/IR/Operation.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace llmc {

int64_t eraseDeadOps(mlir::Region &R) {
  int64_t Erased = 0;
  for (mlir::Block &Block : R)
    for (auto It = Block.rbegin(); It != Block.rend();) {
      mlir::Operation &Op = *It++;
      if (mlir::isOpTriviallyDead(&Op)) {
        Op.erase();
        ++Erased;
        continue;
      }
      for (mlir::Region &Inner : Op.getRegions())
        Erased += eraseDeadOps(Inner);
    }
  return Erased;
}

void updateResultTypes(mlir::func::FuncOp F) {
  mlir::Operation *Return = F.getBody().back().getTerminator();
  F.setType(mlir::FunctionType::get(F.getContext(),
                                    F.getBody().getArgumentTypes(),
                                    Return->getOperandTypes()));
}

} // namespace llmc
