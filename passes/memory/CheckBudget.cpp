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
      MemoryPlan Plan = memoryPlanOf(Program);
      uint64_t Limit = static_cast<uint64_t>(budget);
      if (Plan.totalBytes() <= Limit)
        continue;
      int64_t Context =
          std::min(Plan.largestContext(Limit), Program.getMaxContext());
      InFlightDiagnostic D = Program.emitError("needs ");
      D << Plan.totalBytes() << " bytes for " << Plan.MaxSequences << " x "
        << Plan.MaxContext << " tokens, the memory budget is " << Limit << "; ";
      if (Context)
        D << "the largest context that fits is " << Context;
      else
        D << "weights and arena alone need "
          << Plan.WeightBytes + Plan.arenaBytes();
      return signalPassFailure();
    }
  }
};
} // namespace
} // namespace llmc
