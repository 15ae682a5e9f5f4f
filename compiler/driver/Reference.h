// What `llmc verify --against` compares an artifact with: the numbers that the
// graph itself gives, computed by the scalar evaluator. The two halves of llmc
// meet in the file that this writes.
#ifndef LLMC_COMPILER_DRIVER_REFERENCE_H
#define LLMC_COMPILER_DRIVER_REFERENCE_H

#include "runtime/base/Status.h"

#include <cstdint>
#include <string>
#include <vector>

namespace llmc {

struct ReferenceOptions {
  std::string Model;
  bool AllowSymlinks = false;
  std::vector<int64_t> Tokens; ///< one sequence, nothing cached
  int64_t Features = 0;        ///< of the output that counts, as the artifact
  std::string Output;
};

/// Evaluates the imported graph, not raised, and writes its logits (or hidden
/// states) as an .npy file: float32, one row per token or, of a graph that
/// gives fewer, for the last ones.
Status writeReference(const ReferenceOptions &O);

} // namespace llmc

#endif // LLMC_COMPILER_DRIVER_REFERENCE_H
