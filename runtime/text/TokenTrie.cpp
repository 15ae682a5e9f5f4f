// The nodes are placed level by level over the sorted entries: the children of
// a node are the distinct next bytes of its range of entries, and its base is
// the first place where all of them are free.
#include "runtime/text/TokenTrie.h"

#include <algorithm>
#include <deque>

namespace llmc {

namespace {

struct Pending {
  uint32_t Node;
  size_t First, Last, Depth; ///< range of entries, length of their prefix
};

class Builder {
public:
  uint32_t place(const std::vector<uint8_t> &Bytes);
  std::vector<TrieNode> Nodes = {{0, 1, -1}};

private:
  bool isFree(size_t At) const {
    return At >= Nodes.size() || Nodes[At].Check == 0;
  }
  size_t FirstFree = 1;
};

/// First base that gives each byte a free node. Node 0 is never free, so no
/// child is 0.
uint32_t Builder::place(const std::vector<uint8_t> &Bytes) {
  while (!isFree(FirstFree))
    ++FirstFree;
  size_t Tries = 0;
  for (size_t At = std::max<size_t>(FirstFree, Bytes[0] + 1u);; ++At) {
    // A crowded region is left behind for good: filling its last holes costs
    // more time than they are worth.
    if (++Tries == 4096)
      FirstFree = At;
    if (!isFree(At))
      continue;
    size_t Base = At - Bytes[0];
    bool Fits = true;
    for (uint8_t B : Bytes)
      Fits = Fits && isFree(Base + B);
    if (Fits)
      return static_cast<uint32_t>(Base);
  }
}

} // namespace

std::vector<TrieNode>
buildTrie(std::vector<std::pair<std::string_view, int32_t>> Entries) {
  std::sort(Entries.begin(), Entries.end());
  Builder B;
  std::deque<Pending> Queue = {{0, 0, Entries.size(), 0}};
  std::vector<uint8_t> Bytes;
  std::vector<size_t> Begins;
  for (; !Queue.empty(); Queue.pop_front()) {
    Pending P = Queue.front();
    if (P.First < P.Last && Entries[P.First].first.size() == P.Depth)
      B.Nodes[P.Node].Token = Entries[P.First++].second;
    Bytes.clear(), Begins.clear();
    for (size_t I = P.First; I < P.Last; ++I) {
      uint8_t Byte = static_cast<uint8_t>(Entries[I].first[P.Depth]);
      if (!Bytes.empty() && Bytes.back() == Byte)
        continue;
      Bytes.push_back(Byte), Begins.push_back(I);
    }
    if (Bytes.empty())
      continue;
    Begins.push_back(P.Last);
    uint32_t Base = B.place(Bytes);
    B.Nodes[P.Node].Base = Base;
    if (B.Nodes.size() <= Base + Bytes.back())
      B.Nodes.resize(Base + Bytes.back() + 1, {0, 0, -1});
    for (size_t I = 0; I < Bytes.size(); ++I) {
      B.Nodes[Base + Bytes[I]].Check = P.Node + 1;
      Queue.push_back({Base + Bytes[I], Begins[I], Begins[I + 1], P.Depth + 1});
    }
  }
  return std::move(B.Nodes);
}

} // namespace llmc
