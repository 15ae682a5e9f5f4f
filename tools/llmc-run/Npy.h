// Writing float32 arrays as .npy files.
#ifndef LLMC_TOOLS_LLMCRUN_NPY_H
#define LLMC_TOOLS_LLMCRUN_NPY_H

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace llmcrun {

/// Throws when the file cannot be written. Shape's product is Data.size().
void writeNpy(const std::string &Path, std::span<const float> Data,
              const std::vector<size_t> &Shape);

} // namespace llmcrun

#endif // LLMC_TOOLS_LLMCRUN_NPY_H
