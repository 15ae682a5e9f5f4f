// Steps of an artifact on a device without an engine: prompts and decoding of
// several sequences, with tokens from a generator.
#ifndef LLMC_TOOLS_BENCH_GPU_STEPS_H
#define LLMC_TOOLS_BENCH_GPU_STEPS_H

#include "runtime/device/Device.h"

#include <random>

namespace llmc::bench {

class Steps {
public:
  /// Sequences, each with room for Context tokens; E outlives it. DoesNotFit
  /// when E has too few pages.
  static Result<Steps> make(Executable &E, uint32_t Sequences,
                            uint32_t Context);

  /// Begins all sequences anew, with the tokens of Seed.
  void restart(uint32_t Seed);
  /// Tokens of prompt for every sequence, in steps as large as they may be;
  /// logits of the last token of each.
  Status prompt(uint32_t Tokens);
  /// One generated token per sequence.
  Status decode();
  Result<std::vector<KernelTime>> timeDecode(unsigned Repeats);
  /// Of the last step: [sequence][vocab].
  const std::vector<float> &logits() const { return Logits; }

private:
  Steps(Executable &E, uint32_t Sequences, uint32_t Context);
  Status promptOf(uint32_t Sequence, uint32_t Tokens);
  StepInput decodeInput();
  int32_t token() { return static_cast<int32_t>(Random() % Exe->info().Vocab); }

  Executable *Exe;
  uint32_t Sequences, PagesPerSequence;
  std::mt19937 Random;
  std::vector<int32_t> Length; ///< tokens of each sequence so far
  std::vector<int32_t> Ids, Positions, Rows, LogitRows;
  std::vector<uint32_t> Table;
  std::vector<float> Logits;
};

} // namespace llmc::bench

#endif // LLMC_TOOLS_BENCH_GPU_STEPS_H
