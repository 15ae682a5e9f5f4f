// See MemoryPlan.h.
#include "passes/memory/MemoryPlan.h"

#include "compiler/kernels/cpu/Scratch.h"
#include "passes/quant/TargetDesc.h"
#include "runtime/base/Workspace.h"

#include <algorithm>

namespace llmc {
namespace {

/// Columns of the logits; 0: the program has no such phase.
uint32_t vocabOf(exe::ProgramOp Program) {
  int64_t Vocab = 0;
  Program.walk([&](exe::PhaseOp Phase) {
    if (Phase.getKernel() == "logits" || Phase.getKernel() == "take_rows")
      Vocab = Phase.getInt("n");
  });
  return static_cast<uint32_t>(Vocab);
}

uint64_t workspaceOf(exe::ProgramOp Program) {
  uint32_t Vocab = vocabOf(Program);
  if (Vocab == 0 || Program.getBuckets().empty())
    return 0;
  uint32_t Tokens = static_cast<uint32_t>(Program.getBuckets().back());
  uint32_t Sequences = static_cast<uint32_t>(Program.getMaxSequences());
  std::optional<TargetDesc> Target = describeTarget(Program.getTarget());
  if (Target && Target->Kind == TargetKind::Cuda)
    return cudaWorkspaceBytes(Tokens, Sequences, Vocab,
                              static_cast<uint32_t>(Program.getMaxContext()),
                              static_cast<uint32_t>(Program.getPageTokens()));
  return cpuWorkspaceBytes(Tokens, Sequences, Vocab);
}
} // namespace

MemoryPlan memoryPlanOf(exe::ProgramOp Program) {
  MemoryPlan Plan;
  Plan.Target = Program.getTarget().str();
  Plan.WeightBytes = static_cast<uint64_t>(Program.getWeightBytes());
  Plan.Buckets.assign(Program.getBuckets().begin(), Program.getBuckets().end());
  for (int64_t Bytes : Program.getArenaBytes())
    Plan.ArenaBytes.push_back(static_cast<uint64_t>(Bytes));
  Plan.WorkspaceBytes = workspaceOf(Program);
  Plan.PageTokens = Program.getPageTokens();
  for (exe::StateOp State : Program.getBody().getOps<exe::StateOp>())
    Plan.PageBytes += static_cast<uint64_t>(State.getPageBytes());
  Plan.Pages = Program.getKvPages();
  Plan.MaxContext = Program.getMaxContext();
  Plan.MaxSequences = Program.getMaxSequences();
  // Slots of fixed size are the attentions' scratch, sized by the context.
  uint64_t Scratch = 0;
  for (exe::SlotOp Slot : Program.getBody().getOps<exe::SlotOp>())
    Scratch = std::max(Scratch, static_cast<uint64_t>(Slot.getFixed()));
  Plan.SegmentTokens = kernels::SegmentTokens;
  int64_t Segments = kernels::roundUp(Plan.MaxContext, kernels::SegmentTokens) /
                     kernels::SegmentTokens;
  Plan.SegmentBytes = Scratch / static_cast<uint64_t>(Segments);
  return Plan;
}

} // namespace llmc
