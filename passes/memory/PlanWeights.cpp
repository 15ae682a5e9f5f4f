// plan-weights: the packed segment in the order in which a step reads it. A
// decode step is one pass over all weights; front to back is what prefetchers,
// page cache and disk like best.
#include "compiler/weights/Layout.h"
#include "passes/memory/Passes.h"
#include "passes/quant/TargetDesc.h"

#include "dialects/exe/ExeDialect.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace llmc {
#define GEN_PASS_DEF_PLANWEIGHTS
#include "passes/memory/Passes.h.inc"

namespace {
using Order = llvm::SetVector<Operation *>;

uint64_t roundUp(uint64_t N, uint64_t To) { return (N + To - 1) / To * To; }

/// Adds the weights of a phase, those of the loop in layer Layer of it.
void visit(exe::PhaseOp Phase, exe::LayersOp Loop, size_t Layer,
           SymbolTable &Symbols, Order &To) {
  for (exe::BufferAttr Buffer :
       Phase.getBuffers().getAsRange<exe::BufferAttr>()) {
    if (Buffer.getKind() == exe::BufferKind::weight)
      To.insert(Symbols.lookup(Buffer.getSym().getValue()));
    if (Buffer.getKind() != exe::BufferKind::layer)
      continue;
    ArrayAttr Column = cast<ArrayAttr>(Loop.getWeights().get(Buffer.getSym()));
    To.insert(
        Symbols.lookup(cast<FlatSymbolRefAttr>(Column[Layer]).getValue()));
  }
}

Order executionOrder(exe::ProgramOp Program) {
  SymbolTable Symbols(Program);
  Order Weights;
  for (Operation &Op : Program.getStep().getBody().front()) {
    if (exe::PhaseOp Phase = dyn_cast<exe::PhaseOp>(Op)) {
      visit(Phase, nullptr, 0, Symbols, Weights);
      continue;
    }
    exe::LayersOp Loop = cast<exe::LayersOp>(Op);
    for (int64_t L = 0; L != Loop.getCount(); ++L)
      for (exe::PhaseOp Phase : Loop.getBody().getOps<exe::PhaseOp>())
        visit(Phase, Loop, static_cast<size_t>(L), Symbols, Weights);
  }
  // What no phase reads comes last.
  for (exe::PackedWeightOp Op : Program.getBody().getOps<exe::PackedWeightOp>())
    Weights.insert(Op);
  return Weights;
}

class PlanWeights : public impl::PlanWeightsBase<PlanWeights> {
public:
  void runOnOperation() override {
    for (exe::ProgramOp Program : getOperation().getOps<exe::ProgramOp>())
      if (Program.getStep() && failed(plan(Program)))
        return signalPassFailure();
  }

private:
  LogicalResult plan(exe::ProgramOp Program) {
    std::optional<TargetDesc> Target = describeTarget(Program.getTarget());
    if (!Target)
      return Program.emitError("unknown target '")
             << Program.getTarget() << "'";
    uint64_t Align = static_cast<uint64_t>(Target->WeightAlign), End = 0;
    for (Operation *Op : executionOrder(Program)) {
      exe::PackedWeightOp Weight = cast<exe::PackedWeightOp>(Op);
      std::optional<uint64_t> Bytes = packedBytes(
          Weight.getLayout().str(), Weight.getRows(), Weight.getCols());
      if (!Bytes)
        return Weight.emitError("weight '")
               << Weight.getSymName() << "' has the unknown layout '"
               << Weight.getLayout() << "'";
      if (*Bytes > uint64_t(INT64_MAX) - End - Align)
        return Weight.emitError("weight '")
               << Weight.getSymName() << "' of " << Weight.getRows() << " x "
               << Weight.getCols() << " is too large";
      Weight.setOffset(static_cast<int64_t>(End));
      Weight.setBytes(static_cast<int64_t>(*Bytes));
      End = roundUp(End + *Bytes, Align);
    }
    Program.setWeightBytes(static_cast<int64_t>(End));
    return success();
  }
};
} // namespace
} // namespace llmc
