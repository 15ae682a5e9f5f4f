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
  std::string Generation;         ///< JSON, as runtime/text compiles it
  std::vector<int32_t> EosIds;
  int32_t BosId = -1;
  int32_t PadId = -1;
  int64_t MaxPositions = 0; ///< config.json max_position_embeddings; 0 unknown
  /// What was left out and why, one line each.
  std::vector<std::string> Warnings;
};

/// Reads the folder. Missing files are fine; a file that is there but cannot be
/// used is left out with a warning; a folder that is not there is Malformed.
Result<ModelFolder> readModelFolder(const std::string &Folder);

/// max_position_embeddings of config.json; 0 when there is none.
int64_t readMaxPositions(const std::string &Folder);

/// Number of tokens that the tokenizer knows; 0 without one.
int64_t tokenizerSize(const ModelFolder &F);

} // namespace llmc

#endif // LLMC_COMPILER_DRIVER_MODELFOLDER_H
