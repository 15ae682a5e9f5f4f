// What the memory of a GPU gives a kernel that only reads: the bar of the
// decode kernels.
#ifndef LLMC_TOOLS_BENCH_GPU_BANDWIDTHPROBE_H
#define LLMC_TOOLS_BENCH_GPU_BANDWIDTHPROBE_H

#include "runtime/device/cuda/DriverApi.h"

namespace llmc::bench {

struct Bandwidth {
  double ReadGBs = 0, CopyGBs = 0, LaunchUs = 0;
  int Architecture = 0; ///< 80 for sm_80
  std::string Chip;
};

/// Best of several runs over Bytes of device memory, and the time of an empty
/// launch within many. Library is that of the driver; its device 0.
Result<Bandwidth> probeBandwidth(const std::string &Library, size_t Bytes);

} // namespace llmc::bench

#endif // LLMC_TOOLS_BENCH_GPU_BANDWIDTHPROBE_H
