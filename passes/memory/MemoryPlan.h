// The memory plan of a program as numbers: what it takes and what would fit.
// `llmc plan` prints it, the manifest keeps it, check-budget compares it.
#ifndef LLMC_PASSES_MEMORY_MEMORYPLAN_H
#define LLMC_PASSES_MEMORY_MEMORYPLAN_H

#include "dialects/exe/ExeDialect.h"

#include <cstdint>
#include <string>
#include <vector>

namespace llmc {

struct MemoryPlan {
  std::string Target;
  uint64_t WeightBytes = 0;
  std::vector<int64_t> Buckets;     ///< tokens of a step, ascending
  std::vector<uint64_t> ArenaBytes; ///< per bucket
  int64_t PageTokens = 0;
  uint64_t PageBytes = 0; ///< all layers
  int64_t Pages = 0;
  int64_t MaxContext = 0;
  int64_t MaxSequences = 0;
  /// What the arena takes more for every further SegmentTokens of context.
  uint64_t SegmentBytes = 0;

  uint64_t arenaBytes() const; ///< of the largest bucket
  uint64_t kvBytes() const { return PageBytes * static_cast<uint64_t>(Pages); }
  uint64_t kvBytesPerToken() const;
  uint64_t totalBytes() const { return WeightBytes + arenaBytes() + kvBytes(); }
  /// Tokens of context (whole pages, in each of MaxSequences sequences) that
  /// fit into Budget bytes; 0: none.
  int64_t largestContext(uint64_t Budget) const;

  /// Lines for people. Budget 0: none was given.
  std::string toText(uint64_t Budget) const;
  /// The same as one JSON object.
  std::string toJson(uint64_t Budget) const;
};

/// The plan of a program that the memory passes have seen.
MemoryPlan memoryPlanOf(exe::ProgramOp Program);

} // namespace llmc

#endif // LLMC_PASSES_MEMORY_MEMORYPLAN_H
