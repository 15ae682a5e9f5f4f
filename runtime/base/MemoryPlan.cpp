// See MemoryPlan.h.
#include "runtime/base/MemoryPlan.h"

#include "runtime/base/Json.h"
#include "runtime/base/Size.h"

#include <algorithm>
#include <cstdarg>
#include <cstdio>

namespace llmc {
namespace {

constexpr uint32_t LongestContext = 1 << 24; // of --max-context

/// What would fit, within what the plan promises.
int64_t contextWithin(const MemoryPlan &P, uint64_t Budget) {
  return Budget == 0 ? P.MaxContext
                     : std::min(P.MaxContext, P.largestContext(Budget));
}

__attribute__((format(printf, 2, 3))) void line(std::string &Out,
                                                const char *Format, ...) {
  char Buffer[512];
  va_list Args;
  va_start(Args, Format);
  std::vsnprintf(Buffer, sizeof Buffer, Format, Args);
  va_end(Args);
  Out += Buffer;
  Out += '\n';
}

void writeText(std::string &Out, const MemoryPlan &P, uint64_t Budget) {
  using Long = long long;
  line(Out, "target %s", P.Target.c_str());
  line(Out, "  weights            %s", sizeText(P.WeightBytes).c_str());
  for (size_t I = 0; I != P.Buckets.size() && I != P.ArenaBytes.size(); ++I)
    line(Out, "  arena, %5lld tokens %s", Long{P.Buckets[I]},
         sizeText(P.ArenaBytes[I]).c_str());
  line(Out, "  workspace          %s", sizeText(P.WorkspaceBytes).c_str());
  line(Out, "  cache per token    %s", sizeText(P.kvBytesPerToken()).c_str());
  line(Out, "  cache              %s (%lld x %lld tokens, %lld pages of %lld)",
       sizeText(P.kvBytes()).c_str(), Long{P.MaxSequences}, Long{P.MaxContext},
       Long{P.Pages}, Long{P.PageTokens});
  line(Out, "  total              %s", sizeText(P.totalBytes()).c_str());
  if (Budget != 0)
    line(Out, "  budget             %s%s", sizeText(Budget).c_str(),
         P.totalBytes() > Budget ? ": does not fit" : "");
  line(Out, "  largest context    %lld tokens", Long{contextWithin(P, Budget)});
}

void writeJson(JsonWriter &W, const MemoryPlan &P, uint64_t Budget) {
  W.beginObject().member("target", P.Target);
  W.member("weight_bytes", P.WeightBytes);
  W.key("arena").beginArray();
  for (size_t I = 0; I != P.Buckets.size() && I != P.ArenaBytes.size(); ++I)
    W.beginObject()
        .member("tokens", P.Buckets[I])
        .member("bytes", P.ArenaBytes[I])
        .endObject();
  W.endArray().member("arena_bytes", P.arenaBytes());
  W.member("workspace_bytes", P.WorkspaceBytes);
  W.member("kv_page_tokens", P.PageTokens);
  W.member("kv_page_bytes", P.PageBytes).member("kv_pages", P.Pages);
  W.member("kv_bytes_per_token", P.kvBytesPerToken());
  W.member("kv_bytes", P.kvBytes()).member("max_context", P.MaxContext);
  W.member("max_batch", P.MaxSequences);
  W.member("total_bytes", P.totalBytes());
  if (Budget != 0)
    W.member("memory_budget", Budget).member("fits", P.totalBytes() <= Budget);
  W.member("largest_context", contextWithin(P, Budget)).endObject();
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
  uint64_t Fixed = fixedBytes();
  if (Fixed > Budget || PageTokens < 1 || MaxSequences < 1)
    return 0;
  auto SegmentsOf = [&](int64_t Context) {
    return SegmentTokens < 1 ? 0 : (Context - 1) / SegmentTokens + 1;
  };
  uint64_t Row =
      std::max<uint64_t>(1, PageBytes * static_cast<uint64_t>(MaxSequences));
  // The pages alone bound the answer; scratch of longer contexts takes from it.
  uint64_t Most = uint64_t{LongestContext} / static_cast<uint64_t>(PageTokens);
  uint64_t Pages = std::min<uint64_t>((Budget - Fixed) / Row, Most);
  while (Pages > 0) {
    int64_t Context = static_cast<int64_t>(Pages) * PageTokens;
    int64_t More =
        std::max<int64_t>(0, SegmentsOf(Context) - SegmentsOf(MaxContext));
    uint64_t Scratch = static_cast<uint64_t>(More) * SegmentBytes;
    if (Scratch + Pages * Row <= Budget - Fixed)
      return Context;
    // Too much by this; give back at least one page.
    uint64_t Over = Scratch + Pages * Row - (Budget - Fixed);
    Pages -= std::min(Pages, std::max<uint64_t>(1, Over / (2 * Row)));
  }
  return 0;
}

Status MemoryPlan::check(uint64_t Budget) const {
  if (Budget == 0 || totalBytes() <= Budget)
    return Status::success();
  int64_t Context = contextWithin(*this, Budget);
  return doesNotFitError(
      "target " + Target + " needs " + std::to_string(totalBytes()) +
      " bytes for " + std::to_string(MaxSequences) + " x " +
      std::to_string(MaxContext) + " tokens, the memory budget is " +
      std::to_string(Budget) + "; " +
      (Context != 0
           ? "the largest context that fits is " + std::to_string(Context)
           : "weights, arena and workspace alone need " +
                 std::to_string(fixedBytes())));
}

std::string plansText(std::span<const MemoryPlan> Plans, uint64_t Budget) {
  std::string Out;
  for (const MemoryPlan &P : Plans)
    writeText(Out, P, Budget);
  return Out;
}

std::string plansJson(std::span<const MemoryPlan> Plans, uint64_t Budget) {
  JsonWriter W;
  W.beginObject().key("targets").beginArray();
  for (const MemoryPlan &P : Plans)
    writeJson(W, P, Budget);
  W.endArray().endObject();
  return W.text() + "\n";
}

Status checkPlans(std::span<const MemoryPlan> Plans, uint64_t Budget) {
  for (const MemoryPlan &P : Plans)
    LLMC_RETURN_IF_ERROR(P.check(Budget));
  return Status::success();
}

} // namespace llmc
