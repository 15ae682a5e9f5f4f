// Placing intervals in an arena: plain data, no IR.
#ifndef LLMC_PASSES_MEMORY_ARENALAYOUT_H
#define LLMC_PASSES_MEMORY_ARENALAYOUT_H

#include <cstdint>
#include <span>
#include <vector>

namespace llmc {

/// A piece of memory that is needed from phase Begin to phase End, both
/// included.
struct ArenaRequest {
  uint64_t Bytes = 0;
  int64_t Begin = 0, End = 0;
};

struct ArenaLayout {
  std::vector<uint64_t> Offsets; ///< one per request
  uint64_t Bytes = 0;            ///< of the arena
};

/// Offsets, multiples of Align, such that no two requests that are needed at
/// the same time overlap. Deterministic: the largest first (of equal ones the
/// first), each at the lowest free offset.
ArenaLayout layoutArena(std::span<const ArenaRequest> Requests, uint64_t Align);

} // namespace llmc

#endif // LLMC_PASSES_MEMORY_ARENALAYOUT_H
