// From rows of masked zeros to a rule: which keys a query sees (causal, a
// window, a chunk), what is added per position of distance (ALiBi slopes), and
// what the extra column of a softmax with sinks holds.
#ifndef LLMC_PASSES_RAISE_MASKFIT_H
#define LLMC_PASSES_RAISE_MASKFIT_H

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace llmc::raise {

/// A score at most this is that of a hidden key: old exporters write -10000,
/// and no real score reaches that.
constexpr double HiddenScore = -9000;

struct MaskRule {
  int64_t Window = 0, Chunk = 0;     ///< 0: none
  std::vector<double> Slopes, Sinks; ///< per head; empty: none
};

class MaskFit {
public:
  /// One row of what enters the softmax when all scores are 0: the keys from
  /// position 0 on, then the sink if there is one; with the head and the
  /// position of its query. Keys beyond `Total` are unused room of a cache.
  /// Why this is no decoder's mask, or empty.
  std::string add(std::span<const double> Row, bool HasSink, int64_t Head,
                  int64_t Position, int64_t Total);
  bool hasSlopes() const;
  /// The rule that all rows follow; why there is none, or empty.
  std::string fit(MaskRule &Out) const;

private:
  void addBias(std::span<const double> Row, int64_t Head, int64_t Position);

  /// Position of a query and the first key that it sees.
  std::vector<std::pair<int64_t, int64_t>> Firsts;
  std::vector<double> Slopes, Sinks;
  std::vector<int64_t> Distances; ///< that each slope was measured over
};

} // namespace llmc::raise

#endif // LLMC_PASSES_RAISE_MASKFIT_H
