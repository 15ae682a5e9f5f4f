// See TargetDesc.h.
#include "passes/quant/TargetDesc.h"

#include "runtime/device/StepAbi.h"

namespace llmc {

std::optional<TargetDesc> describeTarget(llvm::StringRef Name) {
  if (Name == "x86-64-v3" || Name == "x86-64-avx512vnni")
    return TargetDesc{Name.str(), TargetKind::Cpu, "x86", LLMC_CPU_PAGE_TOKENS,
                      64,         {1, 8, 64, 512}};
  for (llvm::StringRef Known :
       {"sm_80", "sm_86", "sm_89", "sm_90", "sm_100", "sm_120"})
    if (Name == Known)
      return TargetDesc{Name.str(), TargetKind::Cuda,
                        "cuda",     LLMC_CUDA_PAGE_TOKENS,
                        256,        {1, 8, 32, 128, 512}};
  return std::nullopt;
}

} // namespace llmc
