// Puts compiled targets, packed weights and the model's text files into one
// artifact.
#ifndef LLMC_COMPILER_DRIVER_WRITEARTIFACT_H
#define LLMC_COMPILER_DRIVER_WRITEARTIFACT_H

#include "compiler/driver/ModelFolder.h"
#include "compiler/weights/Pack.h"
#include "runtime/artifact/Manifest.h"
#include "runtime/base/Status.h"

#include <functional>
#include <string>
#include <vector>

namespace llmc {

/// One target, ready to be written.
struct CompiledTarget {
  std::string Name;             ///< "x86-64-avx512vnni", "sm_80", …
  std::string Family;           ///< of the packed weights: "x86", "cuda"
  std::vector<uint8_t> Program; ///< FlatBuffer llmc.fb.Program
  std::vector<uint8_t> Code;    ///< CPU image or cubin
  std::string Ptx;
  ManifestPlan Plan;
  WeightProgram Weights;
};

struct ArtifactContent {
  ManifestModel Model;
  std::vector<CompiledTarget> Targets;
  ModelFolder Folder;
  std::vector<uint8_t> Constraint; ///< compiled JSON Schema
  std::vector<uint8_t> TokenTrie;  ///< of the folder's tokenizer
  std::string Provenance;          ///< JSON
};

/// What was written, for the report.
struct ArtifactSummary {
  uint64_t Bytes = 0;
  std::string Identity; ///< SHA-256 of the section table, hexadecimal
};

/// Writes the artifact to Path; weights stream from Store through the packer.
/// Targets of one family whose weight programs are the same share a section.
/// Nothing is left at Path when it fails.
Result<ArtifactSummary> writeArtifact(const std::string &Path,
                                      ArtifactContent &Content,
                                      const WeightStore &Store,
                                      const PackOptions &Packing);

} // namespace llmc

#endif // LLMC_COMPILER_DRIVER_WRITEARTIFACT_H
