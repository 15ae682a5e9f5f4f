// See MemoryPlan.h.
#include "passes/memory/MemoryPlan.h"

#include "compiler/kernels/cpu/Scratch.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>

namespace llmc {
namespace {
int64_t segmentsOf(int64_t Context) {
  return kernels::roundUp(Context, kernels::SegmentTokens) /
         kernels::SegmentTokens;
}

/// Bytes with a unit that people read.
std::string human(uint64_t Bytes) {
  const char *Units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  double Value = static_cast<double>(Bytes);
  size_t Unit = 0;
  while (Value >= 1024 && Unit != 4) {
    Value /= 1024;
    ++Unit;
  }
  std::string Text;
  llvm::raw_string_ostream OS(Text);
  OS << llvm::format(Unit ? "%.1f %s" : "%.0f %s", Value, Units[Unit]);
  return Text;
}
} // namespace

uint64_t MemoryPlan::arenaBytes() const {
  return ArenaBytes.empty()
             ? 0
             : *std::max_element(ArenaBytes.begin(), ArenaBytes.end());
}

uint64_t MemoryPlan::kvBytesPerToken() const {
  return PageTokens ? PageBytes / static_cast<uint64_t>(PageTokens) : 0;
}

int64_t MemoryPlan::largestContext(uint64_t Budget) const {
  uint64_t Fixed = WeightBytes + arenaBytes();
  if (Fixed > Budget || PageTokens < 1 || MaxSequences < 1)
    return 0;
  uint64_t Row =
      std::max<uint64_t>(1, PageBytes * static_cast<uint64_t>(MaxSequences));
  // The pages alone bound the answer; scratch of longer contexts takes from it.
  uint64_t Pages = std::min<uint64_t>((Budget - Fixed) / Row, 1u << 30);
  while (Pages > 0) {
    int64_t Context = static_cast<int64_t>(Pages) * PageTokens;
    int64_t More =
        std::max<int64_t>(0, segmentsOf(Context) - segmentsOf(MaxContext));
    uint64_t Scratch = static_cast<uint64_t>(More) * SegmentBytes;
    if (Scratch + Pages * Row <= Budget - Fixed)
      return Context;
    // Too much by this; give back at least one page.
    uint64_t Over = Scratch + Pages * Row - (Budget - Fixed);
    Pages -= std::min(Pages, std::max<uint64_t>(1, Over / (2 * Row)));
  }
  return 0;
}

std::string MemoryPlan::toText(uint64_t Budget) const {
  std::string Text;
  llvm::raw_string_ostream OS(Text);
  OS << "target " << Target << "\n";
  OS << "  weights            " << human(WeightBytes) << "\n";
  for (size_t I = 0; I != Buckets.size(); ++I)
    OS << "  arena, " << llvm::format("%5lld", (long long)Buckets[I])
       << " tokens " << human(I < ArenaBytes.size() ? ArenaBytes[I] : 0)
       << "\n";
  OS << "  cache per token    " << human(kvBytesPerToken()) << "\n";
  OS << "  cache              " << human(kvBytes()) << " (" << MaxSequences
     << " x " << MaxContext << " tokens, " << Pages << " pages of "
     << PageTokens << ")\n";
  OS << "  total              " << human(totalBytes()) << "\n";
  if (Budget)
    OS << "  budget             " << human(Budget)
       << ": the largest context is " << largestContext(Budget) << " tokens\n";
  return Text;
}

std::string MemoryPlan::toJson(uint64_t Budget) const {
  llvm::json::Array Arena;
  for (size_t I = 0; I != Buckets.size(); ++I)
    Arena.push_back(llvm::json::Object{
        {"tokens", Buckets[I]},
        {"bytes", I < ArenaBytes.size() ? ArenaBytes[I] : 0}});
  llvm::json::Object Plan{{"target", Target},
                          {"weight_bytes", WeightBytes},
                          {"arena", std::move(Arena)},
                          {"arena_bytes", arenaBytes()},
                          {"kv_page_tokens", PageTokens},
                          {"kv_page_bytes", PageBytes},
                          {"kv_pages", Pages},
                          {"kv_bytes_per_token", kvBytesPerToken()},
                          {"kv_bytes", kvBytes()},
                          {"max_context", MaxContext},
                          {"max_batch", MaxSequences},
                          {"total_bytes", totalBytes()}};
  if (Budget) {
    Plan["memory_budget"] = Budget;
    Plan["largest_context"] = largestContext(Budget);
  }
  std::string Text;
  llvm::raw_string_ostream OS(Text);
  OS << llvm::json::Value(std::move(Plan));
  return Text;
}

MemoryPlan memoryPlanOf(exe::ProgramOp Program) {
  MemoryPlan Plan;
  Plan.Target = Program.getTarget().str();
  Plan.WeightBytes = static_cast<uint64_t>(Program.getWeightBytes());
  Plan.Buckets.assign(Program.getBuckets().begin(), Program.getBuckets().end());
  for (int64_t Bytes : Program.getArenaBytes())
    Plan.ArenaBytes.push_back(static_cast<uint64_t>(Bytes));
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
  Plan.SegmentBytes =
      Scratch / static_cast<uint64_t>(segmentsOf(Plan.MaxContext));
  return Plan;
}

} // namespace llmc
