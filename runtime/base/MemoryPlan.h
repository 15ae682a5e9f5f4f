// The memory plan of a target as numbers: what it takes and what would fit.
// The compiler makes one from a program, the runtime from an artifact's
// manifest; both print and judge it here, so `llmc plan` says the same of both.
#ifndef LLMC_RUNTIME_BASE_MEMORYPLAN_H
#define LLMC_RUNTIME_BASE_MEMORYPLAN_H

#include "runtime/base/Status.h"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace llmc {

struct MemoryPlan {
  std::string Target;
  uint64_t WeightBytes = 0;
  std::vector<int64_t> Buckets;     ///< tokens of a step, ascending
  std::vector<uint64_t> ArenaBytes; ///< per bucket
  uint64_t WorkspaceBytes = 0;      ///< logits and the step's descriptor
  int64_t PageTokens = 0;
  uint64_t PageBytes = 0; ///< all layers
  int64_t Pages = 0;
  int64_t MaxContext = 0;
  int64_t MaxSequences = 0;
  /// What the arena takes more for every further SegmentTokens of context;
  /// 0 tokens: nothing.
  int64_t SegmentTokens = 0;
  uint64_t SegmentBytes = 0;

  uint64_t arenaBytes() const; ///< of the largest bucket
  uint64_t kvBytes() const { return PageBytes * static_cast<uint64_t>(Pages); }
  uint64_t kvBytesPerToken() const;
  /// All but the cache.
  uint64_t fixedBytes() const {
    return WeightBytes + arenaBytes() + WorkspaceBytes;
  }
  uint64_t totalBytes() const { return fixedBytes() + kvBytes(); }
  /// Tokens of context (whole pages, in each of MaxSequences sequences) that
  /// fit into Budget bytes; 0: none. May be more than MaxContext.
  int64_t largestContext(uint64_t Budget) const;

  /// DoesNotFit with both numbers and the context that would fit, at most
  /// MaxContext. Budget 0: none was given.
  Status check(uint64_t Budget) const;
};

/// Lines for people. Budget 0: none was given.
std::string plansText(std::span<const MemoryPlan> Plans, uint64_t Budget);
/// The same as one JSON object with a final newline.
std::string plansJson(std::span<const MemoryPlan> Plans, uint64_t Budget);
/// The first failure of check(); which target it is of is in the message.
Status checkPlans(std::span<const MemoryPlan> Plans, uint64_t Budget);

} // namespace llmc

#endif // LLMC_RUNTIME_BASE_MEMORYPLAN_H
