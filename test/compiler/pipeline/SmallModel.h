// A small Llama-like model in the llm dialect, as raising would leave it.
#ifndef LLMC_TEST_COMPILER_PIPELINE_SMALLMODEL_H
#define LLMC_TEST_COMPILER_PIPELINE_SMALLMODEL_H

#include <cstdint>
#include <string>

namespace llmc {

struct SmallModel {
  std::string Text;      ///< of the module
  int64_t FileBytes = 0; ///< of file 1, which holds the weights as f32
};

/// Hidden 32, 2 heads, 1 KV head of 16, 32 features in the feed-forward part,
/// vocabulary 48, tied head. Every second layer sees Window positions (0: all).
SmallModel smallModel(int Layers, int Window = 0);

} // namespace llmc

#endif // LLMC_TEST_COMPILER_PIPELINE_SMALLMODEL_H
