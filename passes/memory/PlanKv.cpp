// plan-kv: the cache is pages of a fixed number of tokens; this pass says how
// large one is and how many the promised contexts need.
#include "passes/memory/Passes.h"

#include "compiler/kernels/CudaScratch.h"
#include "dialects/exe/ExeDialect.h"

using namespace mlir;

namespace llmc {
#define GEN_PASS_DEF_PLANKV
#include "passes/memory/Passes.h.inc"

namespace {
class PlanKv : public impl::PlanKvBase<PlanKv> {
public:
  void runOnOperation() override {
    for (exe::ProgramOp Program : getOperation().getOps<exe::ProgramOp>()) {
      bool Any = false;
      for (exe::StateOp State : Program.getBody().getOps<exe::StateOp>()) {
        int64_t Bits = State.getDtype().getIntOrFloatBitWidth();
        State.setPageBytes(
            State.getLayers() * State.getKvHeads() *
            kernels::kvBlockBytes(State.getHeadDim(), State.getVHeadDim(),
                                  Program.getPageTokens(), Bits));
        Any = true;
      }
      int64_t PerSequence =
          (Program.getMaxContext() + Program.getPageTokens() - 1) /
          Program.getPageTokens();
      Program.setKvPages(Any ? PerSequence * Program.getMaxSequences() : 0);
    }
  }
};
} // namespace
} // namespace llmc
