// What lies beside a model: tokenizer, chat template, generation defaults.
#ifndef LLMC_COMPILER_DRIVER_MODELFOLDER_H
#define LLMC_COMPILER_DRIVER_MODELFOLDER_H

#include "runtime/base/Status.h"

#include <cstdint>
#include <string>
#include <vector>

namespace llmc {

/// Empty members: the folder does not have it.
struct ModelFolder {
  std::vector<uint8_t> Tokenizer; ///< compiled form of runtime/text
  std::string ChatTemplate;       ///< Jinja source
  std::string Generation;         ///< JSON: generation_config.json, normalised
  std::vector<int32_t> EosIds;
  int32_t BosId = -1;
  int32_t PadId = -1;
  int64_t MaxPositions = 0; ///< config.json max_position_embeddings; 0 unknown
  /// Why tokenizer.json could not be used; the artifact then takes token ids
  /// only, and the user is told.
  std::string TokenizerProblem;
};

/// Reads the folder. Missing files are fine; a file that is there but cannot be
/// parsed as JSON is an error (Malformed) naming it.
Result<ModelFolder> readModelFolder(const std::string &Folder);

/// max_position_embeddings of config.json; 0 when there is none.
int64_t readMaxPositions(const std::string &Folder);

} // namespace llmc

#endif // LLMC_COMPILER_DRIVER_MODELFOLDER_H
