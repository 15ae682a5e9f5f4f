// From logits to a token. The order of operations is fixed (serving docs):
// repetition, frequency and presence penalties, bias, bans, temperature, top-k,
// top-p, min-p, typical-p, draw. Random numbers depend only on the seed and on
// the number of the token in its request, so a request gives the same tokens
// whatever runs beside it.
#ifndef LLMC_RUNTIME_ENGINE_SAMPLER_H
#define LLMC_RUNTIME_ENGINE_SAMPLER_H

#include "runtime/base/Status.h"

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace llmc {

struct SamplingParams {
  float Temperature = 0; ///< 0: the most likely token
  int32_t TopK = 0;      ///< 0: off; ties with the k-th stay
  float TopP = 1;
  float MinP = 0;
  float RepetitionPenalty = 1;                      ///< over prompt and output
  float FrequencyPenalty = 0;                       ///< over output
  float PresencePenalty = 0;                        ///< over output
  float TypicalP = 1;                               ///< 1: off
  std::vector<std::pair<int32_t, float>> LogitBias; ///< added
  std::vector<int32_t> AllowedIds;                  ///< empty: all
  /// Sequences of tokens whose last one is banned after the others.
  std::vector<std::vector<int32_t>> BadWords;
  uint32_t NoRepeatNgram = 0; ///< over prompt and output; 0: off
  uint32_t MinTokens = 0;     ///< EosIds are banned before
  std::vector<int32_t> EosIds;
  uint64_t Seed = 0;
};

/// Usage, naming the parameter, its value and its range.
Status checkSampling(const SamplingParams &P);

/// Uniform in [0, 1): the Index-th number of a seed.
double randomUniform(uint64_t Seed, uint64_t Index);

/// The state of one request.
class Sampler {
public:
  /// Vocab: number of logits of a row.
  Sampler(const SamplingParams &P, uint32_t Vocab,
          std::span<const int32_t> Prompt);

  /// Picks the next token and counts it as output. Allowed: a bit per id
  /// (TokenFilter.h), empty for all; ids that are not are as banned. -1: the
  /// bans leave no token.
  int32_t sample(std::span<const float> Logits,
                 std::span<const uint64_t> Allowed = {});

  /// Probabilities that sample() would draw from; sums to 1. False, and all
  /// are 0, when the bans leave no token.
  bool distribution(std::span<const float> Logits, std::vector<double> &Out,
                    std::span<const uint64_t> Allowed = {}) const;
  /// The steps before temperature, in place: penalties, bias, bans (minus
  /// infinity). Beam search applies them to log-probabilities.
  void prepare(std::vector<double> &Logits,
               std::span<const uint64_t> Allowed = {}) const;
  /// Lowest index whose cumulative probability exceeds U.
  static int32_t draw(std::span<const double> Probabilities, double U);
  /// Counts a token as output without sampling it.
  void accept(int32_t Token);

private:
  bool plainGreedy() const;
  double adjusted(double Logit, size_t I) const;
  void ban(std::vector<double> &L) const;
  void banNgrams(std::vector<double> &L) const;
  int32_t bestOfBroken(std::span<const float> Logits,
                       std::span<const uint64_t> Allowed) const;

  SamplingParams P;
  std::vector<uint8_t> Seen;      ///< in prompt or output; empty: not needed
  std::vector<uint32_t> Produced; ///< times in output; empty: not needed
  std::vector<int32_t> History;   ///< prompt and output, when bans need it
  uint64_t Drawn = 0;             ///< output tokens
  std::vector<double> Work;       ///< kept to spare allocations
};

} // namespace llmc

#endif // LLMC_RUNTIME_ENGINE_SAMPLER_H
