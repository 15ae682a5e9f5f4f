// Executes a weight program: streams every packed tensor, in order of offset,
// into a sink, with bounded memory and in parallel. The bytes do not depend on
// the number of threads.
#ifndef LLMC_COMPILER_WEIGHTS_PACK_H
#define LLMC_COMPILER_WEIGHTS_PACK_H

#include "compiler/weights/WeightProgram.h"
#include "compiler/weights/WeightStore.h"

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace llmc {

struct PackOptions {
  unsigned Threads = 0;              ///< 0: as many as the machine has
  uint64_t MemoryBytes = 128u << 20; ///< buffers of all threads together
  /// Called now and then with bytes done and all bytes, by one thread at once.
  std::function<void(uint64_t, uint64_t)> Progress = {};
};

/// What rounding did to a tensor.
struct TensorQuality {
  float SnrDb = 0; ///< ExactSnrDb when nothing was lost
  float MaxError = 0;
  bool Exact = false;
};
inline constexpr float ExactSnrDb = 999.0f;

/// Receives the segment's bytes in order; called by one thread at once.
using WeightSink = std::function<Status(std::span<const uint8_t>)>;

/// Internal when the program contradicts itself, Malformed when a source does
/// not lie in its file.
Status checkProgram(const WeightProgram &P, const WeightStore &Store);

/// Packs all tensors; gives the quality of each, in the program's order.
/// Malformed with the words "not finite" when a weight is infinite or NaN.
Result<std::vector<TensorQuality>> packWeights(const WeightProgram &P,
                                               const WeightStore &Store,
                                               const PackOptions &Options,
                                               const WeightSink &Sink);

} // namespace llmc

#endif // LLMC_COMPILER_WEIGHTS_PACK_H
