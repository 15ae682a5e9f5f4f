// Full check of an artifact's bytes against its hashes: what Reader::open
// leaves out because it would read all weights.
#ifndef LLMC_RUNTIME_ARTIFACT_VERIFY_H
#define LLMC_RUNTIME_ARTIFACT_VERIFY_H

#include "runtime/artifact/Reader.h"

#include <cstdint>
#include <functional>

namespace llmc {

struct VerifyOptions {
  unsigned Threads = 0; ///< 0: as many as the machine has
  bool Identity = true; ///< SHA-256, too; without it only xxh3 (faster)
  /// Called with bytes done and all bytes, by one thread at once.
  std::function<void(uint64_t, uint64_t)> Progress = {};
};

/// What was checked.
struct VerifyReport {
  uint32_t Sections = 0;
  uint64_t WeightBytes = 0;
  uint64_t Chunks = 0;
};

/// Verification when a section does not have its hash; a damaged weights chunk
/// is named with its byte range and the packed tensors in it. Reads weights
/// chunk by chunk and lets the mapping drop them, so memory stays small.
Result<VerifyReport> verifyHashes(const Reader &R,
                                  const VerifyOptions &Options = {});

} // namespace llmc

#endif // LLMC_RUNTIME_ARTIFACT_VERIFY_H
