// check-budget: a program that does not fit is refused while compiling, with
// the context that would fit, and not on the machine that runs it.
#include "passes/memory/MemoryPlan.h"
#include "passes/memory/Passes.h"

using namespace mlir;

namespace llmc {
#define GEN_PASS_DEF_CHECKBUDGET
#include "passes/memory/Passes.h.inc"

namespace {
class CheckBudget : public impl::CheckBudgetBase<CheckBudget> {
public:
  using CheckBudgetBase::CheckBudgetBase;

  void runOnOperation() override {
    if (budget == 0)
      return;
    if (budget < 0) {
      getOperation().emitError("memory budget ") << budget << " is negative";
      return signalPassFailure();
    }
    for (exe::ProgramOp Program : getOperation().getOps<exe::ProgramOp>()) {
      Status Fits = memoryPlanOf(Program).check(static_cast<uint64_t>(budget));
      if (Fits.ok())
        continue;
      Program.emitError(Fits.message());
      return signalPassFailure();
    }
  }
};
} // namespace
} // namespace llmc
