// plan-arena: which slots are needed when, and where they lie. Liveness counts
// phases in order, a layer's body once; what enters the body from outside or
// from the layer before is needed throughout the loop.
#include "compiler/kernels/Catalogue.h"
#include "passes/memory/ArenaLayout.h"
#include "passes/memory/Passes.h"

#include "dialects/exe/ExeDialect.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"

using namespace mlir;

namespace llmc {
#define GEN_PASS_DEF_PLANARENA
#include "passes/memory/Passes.h.inc"

namespace {
constexpr uint64_t SlotAlign = 64;

struct Range {
  int64_t Begin = 0, End = -1; ///< phases, both included; empty: never used

  void include(int64_t At) {
    Begin = End < 0 ? At : std::min(Begin, At);
    End = std::max(End, At);
  }
};

/// Ranges of all slots of a step.
class Liveness {
public:
  explicit Liveness(exe::StepOp Step) {
    for (Operation &Op : Step.getBody().front()) {
      if (exe::PhaseOp Phase = dyn_cast<exe::PhaseOp>(Op))
        visit(Phase, nullptr);
      else
        visitLoop(cast<exe::LayersOp>(Op));
    }
  }

  Range rangeOf(StringAttr Slot) const { return Ranges.lookup(Slot); }

private:
  struct Loop {
    llvm::DenseSet<StringAttr> Written; ///< in the body so far
    llvm::SmallVector<StringAttr> Entering;
  };

  void visitLoop(exe::LayersOp Layers) {
    Loop L;
    int64_t First = Next;
    for (exe::PhaseOp Phase : Layers.getBody().getOps<exe::PhaseOp>())
      visit(Phase, &L);
    for (StringAttr Slot : L.Entering) {
      Ranges[Slot].include(First);
      Ranges[Slot].include(Next - 1);
    }
  }

  void visit(exe::PhaseOp Phase, Loop *L) {
    const kernels::KernelInfo *Info =
        kernels::findKernel(Phase.getKernel().str());
    llvm::SmallVector<StringAttr> Written;
    for (auto [I, Buffer] :
         llvm::enumerate(Phase.getBuffers().getAsRange<exe::BufferAttr>())) {
      if (Buffer.getKind() != exe::BufferKind::slot)
        continue;
      Ranges[Buffer.getSym()].include(Next);
      if (kernels::isWritten(Info->Buffers[I]))
        Written.push_back(Buffer.getSym());
      else if (L && !L->Written.contains(Buffer.getSym()))
        L->Entering.push_back(Buffer.getSym());
    }
    if (L)
      L->Written.insert_range(Written);
    ++Next;
  }

  llvm::DenseMap<StringAttr, Range> Ranges;
  int64_t Next = 0;
};

class PlanArena : public impl::PlanArenaBase<PlanArena> {
public:
  void runOnOperation() override {
    for (exe::ProgramOp Program : getOperation().getOps<exe::ProgramOp>())
      if (Program.getStep())
        plan(Program);
  }

private:
  void plan(exe::ProgramOp Program) {
    Liveness Live(Program.getStep());
    llvm::SmallVector<exe::SlotOp> Slots;
    for (exe::SlotOp Slot : Program.getBody().getOps<exe::SlotOp>())
      Slots.push_back(Slot);
    llvm::SmallVector<llvm::SmallVector<int64_t>> Offsets(Slots.size());
    llvm::SmallVector<int64_t> Arena;
    for (int64_t T : Program.getBuckets()) {
      std::vector<ArenaRequest> Requests;
      for (exe::SlotOp Slot : Slots) {
        Range R = Live.rangeOf(Slot.getSymNameAttr());
        uint64_t Bytes = R.End < 0
                             ? 0
                             : static_cast<uint64_t>(Slot.getFixed() +
                                                     Slot.getPerToken() * T);
        Requests.push_back({Bytes, R.Begin, R.End});
      }
      ArenaLayout Layout = layoutArena(Requests, SlotAlign);
      for (auto [I, Offset] : llvm::enumerate(Layout.Offsets))
        Offsets[I].push_back(static_cast<int64_t>(Offset));
      Arena.push_back(static_cast<int64_t>(Layout.Bytes));
    }
    for (auto [I, Slot] : llvm::enumerate(Slots))
      Slot.setOffsets(Offsets[I]);
    Program.setArenaBytes(Arena);
  }
};
} // namespace
} // namespace llmc
