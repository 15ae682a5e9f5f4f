// Log-probabilities of tokens by the model's own logits: before penalties,
// bans, temperature and constraints.
#ifndef LLMC_RUNTIME_ENGINE_LOGPROBS_H
#define LLMC_RUNTIME_ENGINE_LOGPROBS_H

#include <cstdint>
#include <span>
#include <vector>

namespace llmc {

struct TokenLogprob {
  int32_t Token = 0;
  float Logprob = 0; ///< natural logarithm; minus infinity for a NaN logit
};

/// One place of a text: the token there, and the best that could have been.
struct PositionLogprobs : TokenLogprob {
  uint32_t Rank = 0;             ///< of Token, from 0; equal logits rank by id
  std::vector<TokenLogprob> Top; ///< best first
};

/// Logits of all ids, Token in range, at most Count in Top.
PositionLogprobs logprobsOf(std::span<const float> Logits, int32_t Token,
                            uint32_t Count);

/// Log-probabilities of all ids.
void logSoftmax(std::span<const float> Logits, std::vector<double> &Out);

} // namespace llmc

#endif // LLMC_RUNTIME_ENGINE_LOGPROBS_H
