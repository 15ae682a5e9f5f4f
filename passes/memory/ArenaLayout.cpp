// See ArenaLayout.h. Greedy by size: within a few percent of the optimum for
// networks, and simple enough to be checked by eye.
#include "passes/memory/ArenaLayout.h"

#include <algorithm>
#include <numeric>

namespace llmc {
namespace {
uint64_t roundUp(uint64_t N, uint64_t To) { return (N + To - 1) / To * To; }
} // namespace

ArenaLayout layoutArena(std::span<const ArenaRequest> Requests,
                        uint64_t Align) {
  std::vector<size_t> Order(Requests.size());
  std::iota(Order.begin(), Order.end(), size_t(0));
  std::stable_sort(Order.begin(), Order.end(), [&](size_t A, size_t B) {
    return Requests[A].Bytes > Requests[B].Bytes;
  });

  ArenaLayout Layout;
  Layout.Offsets.assign(Requests.size(), 0);
  std::vector<size_t> Placed; // ascending offset
  for (size_t I : Order) {
    const ArenaRequest &R = Requests[I];
    uint64_t Bytes = roundUp(R.Bytes, Align), At = 0;
    for (size_t P : Placed) {
      const ArenaRequest &Other = Requests[P];
      if (Other.End < R.Begin || R.End < Other.Begin)
        continue;
      if (Layout.Offsets[P] >= At + Bytes)
        break; // the gap before P is large enough, and P's are no lower
      At = std::max(At, Layout.Offsets[P] + roundUp(Other.Bytes, Align));
    }
    Layout.Offsets[I] = At;
    Layout.Bytes = std::max(Layout.Bytes, At + Bytes);
    auto Where = std::upper_bound(
        Placed.begin(), Placed.end(), At,
        [&](uint64_t Offset, size_t P) { return Offset < Layout.Offsets[P]; });
    Placed.insert(Where, I);
  }
  return Layout;
}

} // namespace llmc
