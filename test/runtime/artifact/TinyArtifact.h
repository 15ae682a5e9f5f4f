// Makes a small artifact with one CPU and one CUDA target for the tests of
// this folder: no model, but every kind of section.
#ifndef LLMC_TEST_RUNTIME_ARTIFACT_TINYARTIFACT_H
#define LLMC_TEST_RUNTIME_ARTIFACT_TINYARTIFACT_H

#include "runtime/artifact/Manifest.h"
#include "runtime/artifact/Writer.h"

#include <cstdint>
#include <string>
#include <vector>

namespace llmc::test {

/// What a test may change before the artifact is written.
struct TinyOptions {
  uint64_t X86Bytes = 1000;
  uint64_t CudaBytes = 300;
  uint32_t LaunchKernel = 0;
  uint64_t WeightOffset = 256;
  uint32_t LastBucket = 8;
  uint64_t PageBytes = 4096; ///< of a page of 16 tokens
  uint32_t X86PageTokens = 16;
  uint8_t ArgKind = 3;
  int32_t EosId = 2;
};

Manifest tinyManifest(const TinyOptions &O);
std::vector<uint8_t> tinyProgram(const TinyOptions &O, bool Cuda);
std::vector<uint8_t> tinyWeights(uint64_t Bytes);
/// Writes the artifact; the whole path must succeed.
Status writeTiny(const std::string &Path, const TinyOptions &O);

} // namespace llmc::test

#endif // LLMC_TEST_RUNTIME_ARTIFACT_TINYARTIFACT_H
