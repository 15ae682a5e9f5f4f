// What the runtime executes on CUDA: kernels and launches in order, as plain
// structs, and their FlatBuffer form (runtime/artifact/Program.fbs).
#ifndef LLMC_COMPILER_TARGET_CUDA_LAUNCHPROGRAM_H
#define LLMC_COMPILER_TARGET_CUDA_LAUNCHPROGRAM_H

#include "compiler/kernels/CudaScratch.h"
#include "compiler/target/cuda/KernelText.h"
#include "runtime/base/DType.h"

#include <cstdint>
#include <string>
#include <vector>

namespace llmc::cuda {

/// A kernel of the module. Resources are known after the compile.
struct LaunchKernel {
  std::string Entry;
  std::string Kernel; ///< catalogue name
  uint32_t Block = 1; ///< threads, one dimension
  uint32_t Registers = 0;
  uint32_t SharedBytes = 0;   ///< static
  uint32_t DynamicBytes = 0;  ///< of shared memory, given by the launch
  uint64_t BytesInFlight = 0; ///< of a block, for predictions; 0: not known
  bool Early = false;         ///< may begin before the launch before it ends
  uint32_t SpillBytes = 0;
  uint32_t LocalBytes = 0;
  std::vector<std::string> SourceNodes; ///< of all its launches, each once
};

/// How one kernel parameter is made; the numbers are those of ArgKind in
/// Program.fbs.
enum class LaunchArgKind : uint8_t {
  Null = 0,
  Step = 1,   ///< Index is an LlmcArg
  Arena = 2,  ///< Offsets has one per bucket
  Weight = 3, ///< Offsets has one
  Kv = 4,     ///< Offsets has one
  Integer = 5 ///< Offsets has its value
};
struct LaunchArg {
  LaunchArgKind Kind = LaunchArgKind::Null;
  uint32_t Index = 0;
  std::vector<uint64_t> Offsets;
};

/// What a launch moves and does, by which costs are counted.
struct LaunchWork {
  uint64_t WeightBytes = 0; ///< read once, or the share of it per row
  double WeightShare = 1;   ///< of WeightBytes that one row needs
  uint64_t BytesPerRow = 0; ///< of activations, in and out
  uint64_t BytesPerKey = 0; ///< of the cache, per key that a row looks at
  uint64_t MacsPerRow = 0;
  uint64_t MacsPerKey = 0;  ///< per row and key
  uint32_t Keys = 0;        ///< most keys that a row looks at; 0: no limit
  bool OfLogitRows = false; ///< rows are those that get logits
  /// Forms of a kernel of which a step of a prompt, or of generated tokens,
  /// gives all rows to one.
  bool OfPrompts = true, OfGenerated = true;
};
/// How a launch does its work in one bucket (runtime/base/GpuModel.h).
struct LaunchEffort {
  uint64_t Instructions = 0, CachedBytes = 0;
  uint32_t RoundTrips = 1;
};
/// In one bucket, with its prediction.
struct LaunchCost {
  uint64_t Bytes = 0, Macs = 0;
  double Microseconds = 0;
};

struct Launch {
  uint32_t Kernel = 0;     ///< index into LaunchProgram::Kernels
  std::vector<Grid> Grids; ///< one per bucket
  std::vector<LaunchArg> Args;
  int32_t Layer = -1; ///< -1: outside the layers
  LaunchWork Work;
  std::vector<LaunchEffort> Efforts; ///< one per bucket, or none
  std::vector<LaunchCost> Costs;     ///< one per bucket
  std::vector<std::string> SourceNodes;
};

/// Part of a KV page that belongs to one state.
struct LaunchState {
  std::string Name;
  uint32_t Layers = 0, KvHeads = 0, HeadDim = 0, VHeadDim = 0;
  DType Type = DType::F16;
  uint64_t PageOffset = 0;
  /// Bytes of one layer of it in a page.
  uint64_t layerBytes(uint32_t PageTokens) const {
    return uint64_t{KvHeads} *
           static_cast<uint64_t>(kernels::kvBlockBytes(
               HeadDim, VHeadDim, PageTokens, bitsOf(Type)));
  }
};

struct LaunchProgram {
  std::string Target;
  std::vector<uint32_t> Buckets;
  std::vector<uint64_t> ArenaBytes;
  uint32_t MaxSequences = 0, MaxContext = 0, Vocab = 0, Hidden = 0;
  uint32_t Outputs = 0; ///< floats of a row of results; 0: Vocab
  bool Records = false; ///< pages hold states that tokens replace
  uint64_t WeightBytes = 0;
  uint32_t PageTokens = 0;
  uint64_t PageBytes = 0;
  uint32_t Pages = 0;
  std::vector<LaunchState> States;
  std::vector<LaunchKernel> Kernels;
  std::vector<Launch> Launches;
  std::string Chip;         ///< that costs are predicted for
  uint32_t CostContext = 0; ///< tokens of context that they assume
};

/// The llmc.fb.Program of it.
std::vector<uint8_t> toFlatBuffer(const LaunchProgram &P);

} // namespace llmc::cuda

#endif // LLMC_COMPILER_TARGET_CUDA_LAUNCHPROGRAM_H
