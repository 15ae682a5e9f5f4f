// What an artifact was made from and with, as JSON: enough to make the same
// bytes again (same inputs, flags, llmc, LLVM and NVRTC), and nothing that
// differs between two such builds (no paths, times, host names, thread counts).
#ifndef LLMC_COMPILER_DRIVER_PROVENANCE_H
#define LLMC_COMPILER_DRIVER_PROVENANCE_H

#include "compiler/driver/Options.h"
#include "compiler/weights/WeightStore.h"

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace llmc {

/// A file whose bytes decide bytes of the artifact.
struct InputFile {
  std::string Name; ///< without its folder, or as the model names it
  uint64_t Bytes = 0;
  std::string Sha256; ///< empty: too large to be hashed here
};

struct ProvenanceFacts {
  std::vector<std::string> Targets; ///< resolved, "native" spelled out
  /// Of each CPU target: what the machine must have.
  std::map<std::string, std::vector<std::string>> CpuFeatures;
  /// Of each target: the precision of its weights.
  std::map<std::string, std::string> Precision;
  std::string NvrtcVersion; ///< empty: no CUDA target
  std::vector<InputFile> Inputs;
  std::string Architecture; ///< JSON, of Architecture.h

  /// "int8", or "f32, f16" where targets differ (in their order).
  std::string precisions() const;
};

/// The model, its data files and what is beside it (configuration, tokenizer,
/// chat template), with the SHA-256 of those of at most 64 MiB. TextFolder is
/// where the tokenizer is: empty, or another folder than the model's.
Result<std::vector<InputFile>> readInputs(const WeightStore &Files,
                                          const std::string &TextFolder);

std::string provenanceJson(const CompileOptions &O, const ProvenanceFacts &F);

} // namespace llmc

#endif // LLMC_COMPILER_DRIVER_PROVENANCE_H
