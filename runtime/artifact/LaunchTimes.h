// Predicted times of the launches of a GPU target, on the chip that the
// compiler took or on another one: a model's numbers, not measurements.
#ifndef LLMC_RUNTIME_ARTIFACT_LAUNCHTIMES_H
#define LLMC_RUNTIME_ARTIFACT_LAUNCHTIMES_H

#include "runtime/artifact/Reader.h"
#include "runtime/base/GpuModel.h"

#include <vector>

namespace llmc {

struct LaunchTimes {
  const GpuChip *Chip = nullptr; ///< null: nothing is known
  /// [launch][bucket]; no blocks there: 0 microseconds.
  std::vector<std::vector<LaunchPrediction>> Of;
  double stepMicroseconds(size_t Bucket) const;
};

/// Of T's launches; Key names the chip, empty: the compiler's. Usage when there
/// is no such chip. Without recorded costs all is empty.
Result<LaunchTimes> launchTimes(const TargetView &T, std::string_view Key);

/// Launches in a layer and outside the layers, by the launches' own numbers:
/// runs of layers with equally many, in order.
struct LayerLaunches {
  int32_t First = 0, Last = 0; ///< -1, -1: outside the layers
  uint32_t Launches = 0;       ///< of each of them, in the first bucket
  double Microseconds = 0;     ///< of the first of them, in the first bucket
};
std::vector<LayerLaunches> launchesByLayer(const TargetView &T,
                                           const LaunchTimes &Times);

} // namespace llmc

#endif // LLMC_RUNTIME_ARTIFACT_LAUNCHTIMES_H
