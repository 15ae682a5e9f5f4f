// A tiny two-layer decoder for tests of back ends and devices: its planned exe
// program as MLIR text for each kind of target, and its packed weights. All
// kinds hold the same weights exactly, so their results can be compared.
#ifndef LLMC_TEST_SUPPORT_TINYMODEL_H
#define LLMC_TEST_SUPPORT_TINYMODEL_H

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace llmc::test {

enum class TinyKind { CpuF32, CudaF16, CudaI8 };

/// Geometry and target of a tiny model; the defaults are what most tests use.
struct TinyOptions {
  TinyKind Kind = TinyKind::CudaF16;
  std::string Target = "sm_80";
  int64_t Hidden = 64, Heads = 4, KvHeads = 2, HeadDim = 16, Ff = 96;
  int64_t Vocab = 96, Layers = 2, Window = 0;
  int64_t MaxContext = 640, MaxSequences = 4, Pages = 0; ///< 0: enough
  bool KvF32 = true;
  std::vector<int64_t> Buckets = {1, 8, 64};
};

class TinyModel {
public:
  explicit TinyModel(const TinyOptions &O);
  /// A module with one exe.program.
  const std::string &mlir() const { return Text; }
  const std::vector<uint8_t> &weights() const { return Segment; }
  /// Logits of every token of one sequence, in double precision.
  std::vector<std::vector<double>>
  reference(const std::vector<int32_t> &Tokens) const;
  const TinyOptions &options() const { return O; }
  int64_t pageTokens() const;
  int64_t pages() const;

private:
  void addWeights();
  void addWeight(const std::string &Name, int64_t Rows, int64_t Cols,
                 uint32_t Seed);
  void addVector(const std::string &Name, const std::vector<float> &Floats);
  void place(const std::string &Name, int64_t Rows, int64_t Cols,
             const std::string &Layout, const std::vector<uint8_t> &Bytes);
  void addSlot(const std::string &Name, int64_t PerToken, int64_t Fixed);
  std::string phases() const;

  TinyOptions O;
  std::string Text, Symbols;
  std::vector<uint8_t> Segment;
  /// The values of weights and vectors by name, for the reference.
  std::map<std::string, std::vector<double>> Values;
  std::vector<int64_t> Arena; ///< bytes so far, per bucket
};

} // namespace llmc::test

#endif // LLMC_TEST_SUPPORT_TINYMODEL_H
