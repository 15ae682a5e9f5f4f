// Merging a very long piece: megabytes without a break. A heap of all candidate
// merges would miss every cache at each step; here candidates lie in a list
// per rank, in the order of their positions, so that a rank is one pass over
// the text. The result is that of the heap: the lowest rank first, the leftmost
// among equals.
#include "runtime/text/Bpe.h"

#include <algorithm>
#include <queue>
#include <unordered_map>

namespace llmc {

namespace {

constexpr uint32_t NoSymbol = UINT32_MAX;

class Merger {
public:
  Merger(const TokenizerData &D, const std::vector<int32_t> &Ids)
      : D(D), Id(Ids), Next(Ids.size()), Previous(Ids.size()) {
    uint32_t N = static_cast<uint32_t>(Ids.size());
    for (uint32_t I = 0; I < N; ++I) {
      Previous[I] = I == 0 ? NoSymbol : I - 1;
      Next[I] = I + 1 == N ? NoSymbol : I + 1;
    }
    for (uint32_t I = 0; I < N; ++I)
      offer(I);
  }

  void run(std::vector<int32_t> &Out) {
    while (!Waiting.empty()) {
      uint32_t Rank = Waiting.top();
      Waiting.pop();
      Bucket &B = Buckets[Rank];
      B.IsWaiting = false;
      pass(Rank, B);
    }
    for (uint32_t I = 0; I != NoSymbol && !Id.empty(); I = Next[I])
      Out.push_back(Id[I]);
  }

private:
  using Least =
      std::priority_queue<uint32_t, std::vector<uint32_t>, std::greater<>>;
  /// Positions with a merge of one rank; those that have been merged otherwise
  /// since are found out when their turn comes.
  struct Bucket {
    std::vector<uint32_t> Positions; ///< sorted from the first pass on
    size_t Done = 0;                 ///< of them
    Least Late;                      ///< that came after the first pass began
    bool Begun = false;
    bool IsWaiting = false;

    bool empty() const { return Done == Positions.size() && Late.empty(); }
    uint32_t take() {
      if (Done == Positions.size() ||
          (!Late.empty() && Late.top() < Positions[Done])) {
        uint32_t At = Late.top();
        Late.pop();
        return At;
      }
      return Positions[Done++];
    }
  };

  const MergeSlot *mergeAt(uint32_t At) const {
    return Id[At] < 0 || Next[At] == NoSymbol
               ? nullptr
               : D.findMerge(Id[At], Id[Next[At]]);
  }
  void wait(uint32_t Rank, Bucket &B) {
    if (!B.IsWaiting)
      Waiting.push(Rank);
    B.IsWaiting = true;
  }
  /// The rank of the pair at a position, which is put into its list.
  uint32_t offer(uint32_t At) {
    const MergeSlot *M = mergeAt(At);
    if (M == nullptr)
      return UINT32_MAX;
    Bucket &B = Buckets[M->Rank]; // stays where it is when others are added
    if (B.Begun)
      B.Late.push(At);
    else
      B.Positions.push_back(At);
    wait(M->Rank, B);
    return M->Rank;
  }
  /// Takes the list from the left until a merge makes a candidate that comes
  /// before what is left of it.
  void pass(uint32_t Rank, Bucket &B) {
    if (!B.Begun && !std::is_sorted(B.Positions.begin(), B.Positions.end()))
      std::sort(B.Positions.begin(), B.Positions.end());
    B.Begun = true;
    while (!B.empty()) {
      uint32_t At = B.take();
      const MergeSlot *M = mergeAt(At);
      if (M == nullptr || M->Rank != Rank)
        continue;
      uint32_t Gone = Next[At];
      Id[At] = M->Result;
      Next[At] = Next[Gone];
      Id[Gone] = -1;
      if (Next[At] != NoSymbol)
        Previous[Next[At]] = At;
      uint32_t Lowest = offer(At);
      if (Previous[At] != NoSymbol)
        Lowest = std::min(Lowest, offer(Previous[At]));
      if (Lowest < Rank && !B.empty())
        return wait(Rank, B);
    }
    B.Positions.clear();
    B.Done = 0;
    B.Begun = false;
  }

  const TokenizerData &D;
  std::vector<int32_t> Id; ///< by position; -1: merged into the one before
  std::vector<uint32_t> Next, Previous;
  std::unordered_map<uint32_t, Bucket> Buckets; ///< by rank
  Least Waiting;                                ///< ranks
};

} // namespace

void Bpe::mergeVeryLong(const std::vector<int32_t> &Ids,
                        std::vector<int32_t> &Out) const {
  Merger(D, Ids).run(Out);
}

} // namespace llmc
