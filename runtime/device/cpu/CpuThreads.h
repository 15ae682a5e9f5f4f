// How many threads the machine grants to this process.
#ifndef LLMC_RUNTIME_DEVICE_CPU_CPUTHREADS_H
#define LLMC_RUNTIME_DEVICE_CPU_CPUTHREADS_H

#include <cstdint>
#include <string_view>

namespace llmc {

/// Cores (not hardware threads) in the affinity mask, at most the CPU quota of
/// the control group rounded up; at least 1.
uint32_t grantedThreads();

/// Quota of a cgroup-v2 `cpu.max` file ("200000 100000" -> 2), rounded up; 0
/// when it sets no limit or is not understood.
uint32_t quotaOf(std::string_view CpuMax);

} // namespace llmc

#endif // LLMC_RUNTIME_DEVICE_CPU_CPUTHREADS_H
