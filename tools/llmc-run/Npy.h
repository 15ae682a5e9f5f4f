// Writing float32 arrays as .npy files.
#ifndef LLMC_TOOLS_LLMCRUN_NPY_H
#define LLMC_TOOLS_LLMCRUN_NPY_H

#include "runtime/base/File.h"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace llmcrun {

/// A file that is written as its values come and appears when all are there,
/// so that nothing of it is kept in memory.
class NpyWriter {
public:
  NpyWriter() = default;
  NpyWriter(std::string Path, const std::vector<size_t> &Shape);

  /// Appends values, with the last ones closes the file. For callbacks: a
  /// failure is kept for finish().
  void add(std::span<const float> Values);
  /// Throws when the file could not be written or values are missing.
  void finish();

private:
  llmc::Status write(std::span<const float> Values);

  std::string Path, Header;
  uint64_t Missing = 0; ///< values
  uint64_t At = 0;      ///< bytes written
  llmc::AtomicFile File;
  llmc::Status Failure;
};

} // namespace llmcrun

#endif // LLMC_TOOLS_LLMCRUN_NPY_H
