// Speculative decoding without loss: tokens guessed cheaply are checked by one
// step of the model, and what comes out has the distribution (and, for greedy
// requests, the tokens) that it would have without guesses.
//
// Three parts: the acceptance rule for drafts that come with probabilities
// (Leviathan et al. 2023, algorithm 1), a drafter that looks the last tokens
// up in what is already written, and a meter that decides how many guesses
// pay. A guess of the drafter has no probabilities of its own: the engine
// samples as always, and the guess is right when it equals the sample. That is
// the same rule for a one-hot draft, and gives the very tokens that a request
// with the same seed gives without guesses.
#ifndef LLMC_RUNTIME_ENGINE_SPECULATION_H
#define LLMC_RUNTIME_ENGINE_SPECULATION_H

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace llmc {

struct AcceptedDraft {
  uint32_t Accepted = 0; ///< leading draft tokens that stay
  int32_t Next = 0;      ///< the token behind them
  /// What Next was drawn from after a rejection: the normalised positive part
  /// of target minus draft. Empty when all were accepted.
  std::vector<double> Residual;
};

/// Token J stays when Uniforms[J] < min(1, target/draft). Draft and Uniforms
/// have one entry per token, Target one more; a row is a distribution over
/// the vocabulary. Final draws the token behind the accepted ones.
AcceptedDraft acceptDraft(std::span<const std::vector<double>> Draft,
                          std::span<const std::vector<double>> Target,
                          std::span<const int32_t> Tokens,
                          std::span<const double> Uniforms, double Final);

/// Guesses what follows from the last place where the last tokens stood
/// before (prompt lookup). Linear memory, constant time per token but for the
/// chain of places with one hash.
class NgramDrafter {
public:
  void append(int32_t Token);
  /// At most Count tokens; none when the last MinMatch tokens are new.
  void draft(uint32_t Count, std::vector<int32_t> &Out) const;

private:
  static constexpr uint32_t MinMatch = 2, MaxMatch = 8, MaxTries = 16;
  static constexpr size_t Buckets = 1u << 12;
  size_t bucketAt(size_t End) const;

  std::vector<int32_t> History;
  /// For a hash of the last MinMatch tokens: the place behind them, 0 = none;
  /// Before links each place to the previous one of its bucket.
  std::vector<uint32_t> Latest, Before;
};

/// Decides how many tokens to guess: the number that gives the most tokens
/// per second by the costs and the acceptance seen so far, 0 when guessing
/// does not pay. Now and then it tries again. Influences speed only, never
/// tokens.
class DraftMeter {
public:
  static constexpr uint32_t Most = 8;
  /// Guesses for the next step.
  uint32_t count();
  /// A step with Guessed guesses took Seconds; Right of them were right.
  void add(uint32_t Guessed, uint32_t Right, double Seconds);

private:
  double costOf(uint32_t Guesses) const;

  double Alone = 0;            ///< seconds of a step without guesses
  double PerGuess = 0;         ///< seconds that each guess adds
  double Chance = 0.7;         ///< that a guess is right when those before are
  uint32_t Idle = 0, Wait = 8; ///< steps since the last try, until the next
};

} // namespace llmc

#endif // LLMC_RUNTIME_ENGINE_SPECULATION_H
