// Beam search as a pure function of rows of log-probabilities: which beams go
// on with which token, and which hypotheses are best at the end. Knows neither
// the model nor the cache; the engine forks sequences as advance() says.
//
// The rules are those of the reference implementation (Hugging Face
// transformers 4.57, generate() with num_beams and without sampling), so that
// results can be compared token by token:
//  - a step looks at the best max(2, 1 + number of end ids) x Beams
//    candidates; one that ends is a finished hypothesis only when its rank is
//    below Beams; the best of the others go on;
//  - a finished hypothesis counts sum of log-probabilities / length^penalty,
//    its end id included; the best Beams of them are kept;
//  - at the length limit every candidate ends.
#ifndef LLMC_RUNTIME_ENGINE_BEAMSEARCH_H
#define LLMC_RUNTIME_ENGINE_BEAMSEARCH_H

#include "runtime/base/Status.h"

#include <cstdint>
#include <span>
#include <vector>

namespace llmc {

/// When the search ends before the length limit, once Beams hypotheses are
/// finished.
enum class EarlyStopping : uint8_t {
  Heuristic, ///< when no running beam could do better at its present length
  AtOnce,
  Never ///< like Heuristic, but with the largest length for penalties > 0
};

struct BeamParams {
  uint32_t Beams = 1;
  uint32_t Return = 1; ///< hypotheses wanted, at most Beams
  double LengthPenalty = 1;
  EarlyStopping Early = EarlyStopping::Heuristic;
  uint32_t MaxTokens = 0;
  std::vector<int32_t> EosIds = {};
};

/// Usage, naming the parameter, its value and its range.
Status checkBeams(const BeamParams &P);

/// State of one search. Used by one thread at a time.
class BeamSearch {
public:
  /// A beam of the next step: Parent is the index of the one it continues.
  struct Move {
    uint32_t Parent;
    int32_t Token;
    double Score; ///< sum of log-probabilities
  };
  struct Hypothesis {
    std::vector<int32_t> Tokens; ///< generated, end id included
    double Score = 0;            ///< with the length penalty
    bool Ended = false;          ///< by an end id
  };

  explicit BeamSearch(BeamParams P);

  /// Rows[B]: log-probabilities of the next token of beam B (natural
  /// logarithm, one per id of the vocabulary); in the first step the same row
  /// for every beam. Returns the beams that go on, best first, valid until the
  /// next call; none when the search is over.
  std::span<const Move> advance(std::span<const std::span<const double>> Rows);
  bool done() const { return Done; }
  /// The best hypotheses so far, best first, Return at most.
  std::vector<Hypothesis> best() const;
  /// Running beams: Beams, fewer with a tiny vocabulary.
  uint32_t running() const { return static_cast<uint32_t>(Running.size()); }
  /// Generated tokens of a running beam.
  std::span<const int32_t> tokens(uint32_t Beam) const {
    return Running[Beam].Tokens;
  }

private:
  struct Beam {
    std::vector<int32_t> Tokens;
    double Score;
  };
  void candidates(std::span<const std::span<const double>> Rows);
  void keep(const Move &M, bool Ended);
  bool improvable() const;

  BeamParams P;
  uint32_t Length = 0; ///< generated so far
  bool Done = false;
  std::vector<Beam> Running;
  std::vector<Hypothesis> Finished; ///< best first, Beams at most
  std::vector<Move> Candidates;     ///< best first
  std::vector<Move> Moves;
};

} // namespace llmc

#endif // LLMC_RUNTIME_ENGINE_BEAMSEARCH_H
