// What an artifact was made from and with, as JSON: enough to make the same
// bytes again (same inputs, flags, llmc, LLVM and NVRTC), and nothing that
// differs between two such builds (no paths, times, host names, thread counts).
#ifndef LLMC_COMPILER_DRIVER_PROVENANCE_H
#define LLMC_COMPILER_DRIVER_PROVENANCE_H

#include "compiler/driver/Options.h"
#include "compiler/weights/WeightStore.h"

#include <string>
#include <vector>

namespace llmc {

struct ProvenanceFacts {
  std::vector<std::string> Targets;     ///< resolved, "native" spelled out
  std::vector<std::string> CpuFeatures; ///< of the CPU targets
  std::string NvrtcVersion;             ///< empty: no CUDA target
};

std::string provenanceJson(const CompileOptions &O, const WeightStore &Files,
                           const ProvenanceFacts &F);

} // namespace llmc

#endif // LLMC_COMPILER_DRIVER_PROVENANCE_H
