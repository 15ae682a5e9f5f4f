// What GPUs can do, and how long a launch should take there: the arithmetic of
// predicted times, for the compiler (which chooses by it and records it),
// reports and the simulator. It ranks and names bounds; it measures nothing.
#ifndef LLMC_RUNTIME_BASE_GPUMODEL_H
#define LLMC_RUNTIME_BASE_GPUMODEL_H

#include <cstdint>
#include <functional>
#include <set>
#include <span>
#include <string>
#include <string_view>

namespace llmc {

/// A chip by its data sheet: capacities and dense peak rates.
struct GpuChip {
  const char *Key;   ///< "a100"
  const char *Title; ///< "A100 80 GB SXM"
  int Major, Minor;
  unsigned Multiprocessors;
  unsigned SharedPerSm, SharedOptIn; ///< bytes
  unsigned WarpsPerSm, BlocksPerSm;
  uint64_t MemoryBytes, L2Bytes;
  double GHz;
  double MemoryTBs; ///< terabytes per second
  double Tensor16;  ///< tera operations per second, f16 and bf16 with f32 sums
  double Tensor8;   ///< of int8
  double Fp32;      ///< of fma on the plain cores
};

/// Latency of memory under load, which bytes in flight have to cover.
constexpr double GpuLatencyNs = 700;

std::span<const GpuChip> gpuChips();
/// Whether the chip runs the machine code of a target: "sm_90", "sm_90a".
bool isChipOf(const GpuChip &C, std::string_view Target);
/// The chip of that key, or null.
const GpuChip *findGpuChip(std::string_view Key);
/// The chip that stands for a target when nobody says which: "sm_90" is an
/// h100. Null for what is no GPU target.
const GpuChip *gpuChipOfTarget(std::string_view Target);

/// Blocks that one multiprocessor holds at a time; 0: not even one.
unsigned residentBlocks(const GpuChip &C, unsigned Threads, unsigned Registers,
                        unsigned SharedBytes);

/// What a launch is and does.
struct LaunchFacts {
  uint64_t Blocks = 0;
  unsigned Threads = 1, Registers = 32, SharedBytes = 0;
  uint64_t Bytes = 0;  ///< of memory
  uint64_t Macs = 0;   ///< multiplications with addition
  bool Tensor = false; ///< by the tensor cores
  bool AsyncCopies = false;
  uint64_t BlockBytesInFlight = 0; ///< that a block keeps; 0: by its threads
  uint64_t Instructions = 0;       ///< of all warps; 0: not known
  uint64_t CachedBytes = 0;        ///< that blocks read again, from L2
  uint32_t RoundTrips = 1;         ///< to memory that a block makes one by one
  bool Early = false;              ///< begins while its predecessor runs
};

/// Microseconds, and what they are spent on.
struct LaunchPrediction {
  /// Latency: too few bytes on their way, or round trips one after another.
  enum Bound : uint8_t { Memory, Latency, Compute, Launch, Issue, Cache };
  double Microseconds = 0;
  Bound By = Launch;
};
const char *boundName(LaunchPrediction::Bound B);
LaunchPrediction predictLaunch(const GpuChip &C, const LaunchFacts &L);

/// Names of the entries of a PTX text in which Opcode occurs: which kernels use
/// the tensor cores ("mma.sync") or copies in the background ("cp.async").
using PtxEntries = std::set<std::string, std::less<>>;
PtxEntries ptxEntriesWith(std::string_view Ptx, std::string_view Opcode);

} // namespace llmc

#endif // LLMC_RUNTIME_BASE_GPUMODEL_H
