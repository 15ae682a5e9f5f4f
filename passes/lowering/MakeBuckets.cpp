// make-buckets: the step sizes that are planned for. Few, because each costs
// arena plans (and on CUDA graphs), enough that a small step does not pay for a
// large one.
#include "passes/lowering/Passes.h"
#include "passes/quant/TargetDesc.h"

#include "dialects/exe/ExeDialect.h"

using namespace mlir;

namespace llmc {
#define GEN_PASS_DEF_MAKEBUCKETS
#include "passes/lowering/Passes.h.inc"

namespace {
class MakeBuckets : public impl::MakeBucketsBase<MakeBuckets> {
public:
  void runOnOperation() override {
    for (exe::ProgramOp Program : getOperation().getOps<exe::ProgramOp>()) {
      std::optional<TargetDesc> Target = describeTarget(Program.getTarget());
      if (!Target) {
        Program.emitError("unknown target '") << Program.getTarget() << "'";
        return signalPassFailure();
      }
      int64_t Largest = Program.getBuckets().back();
      llvm::SmallVector<int64_t> Buckets;
      for (int64_t T : Target->Buckets)
        if (T < Largest)
          Buckets.push_back(T);
      Buckets.push_back(Largest);
      Program.setBuckets(Buckets);
    }
  }
};
} // namespace
} // namespace llmc
