// Resources of kernels as ptxas reports them (-v) in NVRTC's program log.
#ifndef LLMC_COMPILER_TARGET_CUDA_PTXASLOG_H
#define LLMC_COMPILER_TARGET_CUDA_PTXASLOG_H

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace llmc::cuda {

struct KernelFacts {
  std::string Name; ///< entry name
  uint32_t Registers = 0;
  uint32_t SharedBytes = 0; ///< static
  uint32_t SpillBytes = 0;  ///< stores + loads
  uint32_t LocalBytes = 0;  ///< stack frame and lmem
};

/// The entry functions that the log describes, in its order. Lines of unknown
/// form are skipped.
std::vector<KernelFacts> parsePtxasLog(std::string_view Log);

} // namespace llmc::cuda

#endif // LLMC_COMPILER_TARGET_CUDA_PTXASLOG_H
