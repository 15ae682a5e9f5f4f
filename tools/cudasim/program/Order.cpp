// Execution rank of blocks. A warp whose lanes have gone different ways runs
// the lanes with the lowest block; they meet again at the immediate
// post-dominator if every block comes behind its predecessors and a loop's
// blocks are together. That is a weak topological order: the strongly connected
// components in topological order, each with its entry first and the rest of
// it ordered in the same way (Bourdoncle, "Efficient chaotic iteration
// strategies with widenings", 1993). It covers irreducible loops, too.
#include "tools/cudasim/program/Lowering.h"

#include <algorithm>

namespace llmc::cudasim {
namespace {

std::vector<uint32_t> successors(const Block &B) {
  switch (B.How) {
  case End::Next:
  case End::Sync:
    return {B.Next};
  case End::Jump:
    return {B.Target};
  case End::Branch:
    return {B.Next, B.Target};
  case End::Table:
    return B.Targets;
  case End::Exit:
    break;
  }
  return {};
}

/// Tarjan's algorithm without recursion, on the blocks of one region.
class Region {
public:
  Region(const std::vector<std::vector<uint32_t>> &Edges,
         std::vector<uint32_t> &Result)
      : Successors(Edges), Order(Result), Member(Edges.size(), 0) {}

  /// Appends the blocks of Nodes in rank; Entry comes first. Edges to Entry
  /// are left out when it heads a loop.
  void rank(std::vector<uint32_t> Nodes, uint32_t Entry) {
    struct Work {
      std::vector<uint32_t> Nodes;
      uint32_t Entry;
      bool Loop;
    };
    std::vector<Work> Stack;
    Stack.push_back({std::move(Nodes), Entry, false});
    while (!Stack.empty()) {
      Work W = std::move(Stack.back());
      Stack.pop_back();
      if (W.Nodes.size() == 1 && W.Loop) {
        Order.push_back(W.Nodes[0]);
        continue;
      }
      std::vector<std::vector<uint32_t>> Parts =
          components(W.Nodes, W.Entry, W.Loop);
      // Parts are in reverse topological order: push the first part last.
      for (std::vector<uint32_t> &Part : Parts) {
        uint32_t Head = Part[0];
        Stack.push_back({std::move(Part), Head, true});
      }
    }
  }

private:
  /// Strongly connected components, each with the block first reached in
  /// front, in reverse topological order. In a loop the edges to its head do
  /// not count.
  std::vector<std::vector<uint32_t>>
  components(const std::vector<uint32_t> &Nodes, uint32_t Entry, bool Loop) {
    ++Mark;
    for (uint32_t N : Nodes)
      Member[N] = Mark;
    Index.assign(Successors.size(), 0);
    Low.assign(Successors.size(), 0);
    OnStack.assign(Successors.size(), false);
    Next = 1;
    Parts.clear();
    walk(Entry, Loop ? Entry : ~0u);
    for (uint32_t N : Nodes)
      if (Index[N] == 0)
        walk(N, Loop ? Entry : ~0u);
    return std::move(Parts);
  }

  void walk(uint32_t Root, uint32_t Head) {
    struct Frame {
      uint32_t Node;
      size_t Edge;
    };
    std::vector<Frame> Frames{{Root, 0}};
    enter(Root);
    while (!Frames.empty()) {
      Frame &F = Frames.back();
      uint32_t N = F.Node;
      if (F.Edge < Successors[N].size()) {
        uint32_t To = Successors[N][F.Edge++];
        if (Member[To] != Mark || To == Head)
          continue;
        if (Index[To] == 0) {
          enter(To);
          Frames.push_back({To, 0});
        } else if (OnStack[To]) {
          Low[N] = std::min(Low[N], Index[To]);
        }
        continue;
      }
      Frames.pop_back();
      if (!Frames.empty())
        Low[Frames.back().Node] = std::min(Low[Frames.back().Node], Low[N]);
      if (Low[N] == Index[N]) {
        size_t At = Pending.size();
        while (Pending[--At] != N)
          ;
        Parts.emplace_back(Pending.begin() + static_cast<ptrdiff_t>(At),
                           Pending.end());
        for (uint32_t P : Parts.back())
          OnStack[P] = false;
        Pending.resize(At);
      }
    }
  }
  void enter(uint32_t N) {
    Index[N] = Low[N] = Next++;
    OnStack[N] = true;
    Pending.push_back(N);
  }

  const std::vector<std::vector<uint32_t>> &Successors;
  std::vector<uint32_t> &Order;
  std::vector<uint32_t> Member, Index, Low, Pending;
  std::vector<bool> OnStack;
  std::vector<std::vector<uint32_t>> Parts;
  uint32_t Mark = 0, Next = 1;
};

std::vector<uint32_t>
reachable(const std::vector<std::vector<uint32_t>> &Edges) {
  std::vector<bool> Seen(Edges.size(), false);
  std::vector<uint32_t> All{0};
  Seen[0] = true;
  for (size_t I = 0; I != All.size(); ++I)
    for (uint32_t To : Edges[All[I]])
      if (!Seen[To]) {
        Seen[To] = true;
        All.push_back(To);
      }
  return All;
}

/// Joins a block with the one behind it where nothing else leads there.
void mergeChains(Program &P, std::vector<std::vector<Inst>> &Bodies) {
  std::vector<uint32_t> Incoming(P.Blocks.size(), 0);
  for (const Block &B : P.Blocks)
    for (uint32_t To : successors(B))
      ++Incoming[To];
  ++Incoming[0];
  for (uint32_t N = 0; N != P.Blocks.size(); ++N)
    while (true) {
      Block &B = P.Blocks[N];
      uint32_t To = B.How == End::Jump ? B.Target : B.Next;
      if ((B.How != End::Next && B.How != End::Jump) || Incoming[To] != 1 ||
          To == N || P.Blocks[To].How == End::Sync)
        break;
      Bodies[N].insert(Bodies[N].end(), Bodies[To].begin(), Bodies[To].end());
      Bodies[To].clear();
      B = P.Blocks[To];
      P.Blocks[To] = Block();
      P.Blocks[To].How = End::Exit;
    }
}
} // namespace

void orderBlocks(Program &P, std::vector<std::vector<Inst>> &Bodies) {
  mergeChains(P, Bodies);
  std::vector<std::vector<uint32_t>> Edges;
  for (const Block &B : P.Blocks)
    Edges.push_back(successors(B));
  std::vector<uint32_t> Order;
  Region(Edges, Order).rank(reachable(Edges), 0);
  std::vector<uint32_t> Number(P.Blocks.size(), 0);
  for (uint32_t I = 0; I != Order.size(); ++I)
    Number[Order[I]] = I;
  std::vector<Block> Blocks;
  for (uint32_t Old : Order) {
    Block B = std::move(P.Blocks[Old]);
    B.Begin = static_cast<uint32_t>(P.Code.size());
    B.Count = static_cast<uint32_t>(Bodies[Old].size());
    for (const Inst &I : Bodies[Old]) {
      B.Counted += (I.Flags & Continued) == 0;
      P.Code.push_back(I);
    }
    B.Counted += B.How == End::Branch || B.How == End::Jump ||
                 B.How == End::Exit || B.How == End::Table;
    B.Target = Number[B.Target];
    B.Next = Number[B.Next];
    for (uint32_t &T : B.Targets)
      T = Number[T];
    Blocks.push_back(std::move(B));
  }
  P.Blocks = std::move(Blocks);
  Bodies.clear();
}

} // namespace llmc::cudasim
