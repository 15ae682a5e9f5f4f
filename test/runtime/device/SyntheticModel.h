// A Llama-like model with random weights as an exe program, its packed weights,
// its CPU image and its program section: what a driver would make of a model,
// for tests of the emitter and the CPU device together.
#ifndef LLMC_TEST_RUNTIME_DEVICE_SYNTHETICMODEL_H
#define LLMC_TEST_RUNTIME_DEVICE_SYNTHETICMODEL_H

#include "runtime/device/Device.h"

#include <string>
#include <vector>

namespace llmc::test {

struct SyntheticShape {
  int64_t Layers = 3, Hidden = 96, Heads = 4, KvHeads = 2, HeadDim = 32;
  int64_t Inner = 160, Vocab = 131;
  bool Int8 = true;
  bool HalfCache = true;
  int64_t MaxTokens = 80, MaxContext = 1024, MaxSequences = 10;
  std::vector<int64_t> SmallBuckets = {1, 8}; ///< MaxTokens is the last one
  int64_t Pages = 64;
  std::string Target = "x86-64-avx512vnni";
};

class SyntheticModel {
public:
  explicit SyntheticModel(const SyntheticShape &S) : Shape(S) {}
  /// Packs weights, emits the image, writes the program section.
  Status build();
  ProgramView view() const;
  /// Plans again for steps of this bucket and smaller ones only.
  void planFor(size_t Bucket);
  const std::string &text() const { return Text; } ///< the exe module
  const std::vector<int64_t> &arenaBytes() const { return Arena; }
  size_t weightBytes() const { return Weights.size(); }
  const std::vector<uint8_t> &image() const { return Image; }

private:
  struct Slot {
    std::string Name;
    int64_t PerToken, Fixed;
  };
  std::string weight(const std::string &Name, int64_t Rows, int64_t Cols,
                     bool Vector);
  std::string slots();
  std::string step();
  void program(size_t LastBucket);
  std::vector<int64_t> buckets() const;

  SyntheticShape Shape;
  std::string Text, Target;
  std::vector<int64_t> Arena;
  std::vector<uint8_t> Weights, Image, Program;
  size_t WeightBytes = 0;
  size_t Aligned = 0; ///< start of the weights in their vector
};

} // namespace llmc::test

#endif // LLMC_TEST_RUNTIME_DEVICE_SYNTHETICMODEL_H
