// Rules of masks from sampled rows; see MaskFit.h.
#include "passes/raise/MaskFit.h"

#include <algorithm>
#include <cmath>

namespace llmc::raise {

static std::string text(double X) { return std::to_string(X); }

/// Slope of the head from the farthest key that is seen. The row is relative
/// to the query's own key.
void MaskFit::addBias(std::span<const double> Row, int64_t Head,
                      int64_t Position) {
  if (size_t(Head) >= Slopes.size()) {
    Slopes.resize(size_t(Head) + 1, 0);
    Distances.resize(size_t(Head) + 1, 0);
  }
  double Near = Position > 0 ? -Row[size_t(Position) - 1] : 0;
  if (Position == 0 || !(std::abs(Near) < 8)) // hidden, or no ALiBi
    return;
  int64_t Far = Position;
  while (Far > 0 &&
         std::abs(Row[size_t(Far) - 1] + Near * double(Position - Far + 1)) <
             1e-3 * double(Position - Far + 1) + 1e-4)
    --Far;
  int64_t Distance = Position - Far;
  double Slope = Distance > 0 ? -Row[size_t(Far)] / double(Distance) : 0;
  double &Known = Slopes[size_t(Head)];
  if (Distance <= Distances[size_t(Head)])
    return;
  // A longer row makes it more exact, nothing else.
  if (Distances[size_t(Head)] == 0 ||
      std::abs(Slope - Known) <= 1e-3 * std::abs(Known)) {
    Distances[size_t(Head)] = Distance;
    Known = Slope;
  }
}

std::string MaskFit::add(std::span<const double> Row, bool HasSink,
                         int64_t Head, int64_t Position, int64_t Total) {
  std::vector<double> Relative(Row.begin(), Row.end());
  double Own = Row[size_t(Position)];
  if (!(Own > HiddenScore))
    return "a query does not see its own key";
  for (double &X : Relative)
    X -= Own;
  for (int64_t K = Position + 1; K < int64_t(Row.size()) - HasSink; ++K)
    if (!(Relative[size_t(K)] < HiddenScore))
      return K < Total
                 ? "keys after the query are visible: not a causal decoder"
                 : "unused room of the cache is visible";
  if (HasSink) {
    if (size_t(Head) >= Sinks.size())
      Sinks.resize(size_t(Head) + 1, NAN);
    double &Sink = Sinks[size_t(Head)];
    if (std::isnan(Sink))
      Sink = Relative.back();
    if (!(std::abs(Sink - Relative.back()) <= 1e-4))
      return "the sink of a head changes from " + text(Sink) + " to " +
             text(Relative.back());
  }
  addBias(Relative, Head, Position);
  double Slope = Slopes[size_t(Head)];
  int64_t First = -1;
  for (int64_t K = 0; K <= Position; ++K) {
    double Want = Slope * double(K - Position), Have = Relative[size_t(K)];
    bool Seen = Have - Want > HiddenScore;
    if (Seen && !(std::abs(Have - Want) <= 1e-3 + 1e-4 * std::abs(Want)))
      return "a bias is added to the scores (" + text(Have) + " at distance " +
             std::to_string(Position - K) + ")";
    if (Seen && First < 0)
      First = K;
    if (!Seen && First >= 0)
      return "visible keys are no range that ends at the query";
  }
  Firsts.push_back({Position, First});
  return {};
}

/// Whether every query's first key is that of the rule.
static bool follows(const std::vector<std::pair<int64_t, int64_t>> &Firsts,
                    int64_t Window, int64_t Chunk) {
  return std::all_of(Firsts.begin(), Firsts.end(), [&](auto Entry) {
    auto [Position, First] = Entry;
    int64_t Want = Window > 0 ? std::max<int64_t>(0, Position - Window + 1) : 0;
    if (Chunk > 0)
      Want = std::max(Want, Position / Chunk * Chunk);
    return First == Want;
  });
}

bool MaskFit::hasSlopes() const {
  return std::any_of(Slopes.begin(), Slopes.end(),
                     [](double S) { return S != 0; });
}

std::string MaskFit::fit(MaskRule &Out) const {
  Out = {};
  Out.Sinks = Sinks;
  if (hasSlopes())
    Out.Slopes = Slopes;
  if (follows(Firsts, 0, 0))
    return {};
  for (auto [Position, First] : Firsts) {
    if (First == 0)
      continue;
    int64_t Window = Position - First + 1;
    if (follows(Firsts, Window, 0)) {
      Out.Window = Window;
      return {};
    }
    // The start of a chunk is a multiple of its length.
    for (int64_t Parts = 1; Parts <= 64; ++Parts)
      if (First % Parts == 0 && follows(Firsts, 0, First / Parts)) {
        Out.Chunk = First / Parts;
        return {};
      }
    return "query " + std::to_string(Position) + " sees keys from " +
           std::to_string(First) +
           " on, which no window or chunk explains for all queries";
  }
  return {};
}
} // namespace llmc::raise
