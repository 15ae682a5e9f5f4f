// Slots of values. A kernel has thousands of virtual registers of 128 or 256
// bytes for a warp; by their live ranges they fit in a few KiB, which stay in
// the cache. Lanes are independent, so liveness along paths of one lane is
// enough even where lanes go different ways. Two pools, 4 and 8 bytes per lane,
// so that slots never overlap in part.
#include "tools/cudasim/program/Lowering.h"

#include <algorithm>

namespace llmc::cudasim {
namespace {

constexpr uint32_t Lanes = 32;

class BitSet {
public:
  explicit BitSet(size_t Bits = 0) : Words((Bits + 63) / 64, 0) {}
  void set(Value V) { Words[V / 64] |= uint64_t{1} << V % 64; }
  void clear(Value V) { Words[V / 64] &= ~(uint64_t{1} << V % 64); }
  bool has(Value V) const { return Words[V / 64] >> V % 64 & 1; }
  /// *this = Gen | (Out & ~Kill); true if it changed.
  bool transfer(const BitSet &Gen, const BitSet &Out, const BitSet &Kill) {
    bool Changed = false;
    for (size_t I = 0; I != Words.size(); ++I) {
      uint64_t New = Gen.Words[I] | (Out.Words[I] & ~Kill.Words[I]);
      Changed |= New != Words[I];
      Words[I] = New;
    }
    return Changed;
  }
  void add(const BitSet &Other) {
    for (size_t I = 0; I != Words.size(); ++I)
      Words[I] |= Other.Words[I];
  }
  template <class Function> void each(Function On) const {
    for (size_t I = 0; I != Words.size(); ++I)
      for (uint64_t W = Words[I]; W != 0; W &= W - 1)
        On(static_cast<Value>(I * 64 +
                              static_cast<size_t>(__builtin_ctzll(W))));
  }

private:
  std::vector<uint64_t> Words;
};

struct Range {
  uint32_t First = ~0u, Last = 0;
  void cover(uint32_t At) {
    First = std::min(First, At);
    Last = std::max(Last, At);
  }
};

class Slots {
public:
  Slots(Program &Prog, std::vector<ValueInfo> &Infos)
      : P(Prog), Values(Infos), Ranges(Infos.size()) {}

  void run() {
    solveLiveness();
    findRanges();
    keepUnset();
    placeFills();
    scan();
    rewrite();
  }

private:
  bool isFixed(Value V) const { return Values[V].Fixed; }

  void solveLiveness() {
    size_t N = P.Blocks.size();
    Gen.assign(N, BitSet(Values.size()));
    Kill = In = Out = Gen;
    for (size_t B = 0; B != N; ++B) {
      const Block &Bl = P.Blocks[B];
      if (Bl.Predicate != NoValue && !isFixed(Bl.Predicate))
        Gen[B].set(Bl.Predicate);
      for (uint32_t I = Bl.Begin + Bl.Count; I-- != Bl.Begin;) {
        Inst &In = P.Code[I];
        forOperands(In, P.Lists, [&](Value &V, bool Result) {
          if (Result && In.Guard == NoValue) {
            Gen[B].clear(V);
            Kill[B].set(V);
          }
        });
        forOperands(In, P.Lists, [&](Value &V, bool Result) {
          if (!Result && !isFixed(V))
            Gen[B].set(V);
        });
      }
    }
    for (bool Changed = true; Changed;) {
      Changed = false;
      for (size_t B = N; B-- != 0;) {
        forSuccessors(P.Blocks[B], [&](uint32_t S) { Out[B].add(In[S]); });
        Changed |= In[B].transfer(Gen[B], Out[B], Kill[B]);
      }
    }
    In[0].each([&](Value V) {
      if (Values[V].Declared.Bits != 0)
        P.Unset.emplace_back(V, Values[V].Name);
    });
  }

  template <class Function> void forSuccessors(const Block &B, Function On) {
    if (B.How == End::Next || B.How == End::Sync || B.How == End::Branch)
      On(B.Next);
    if (B.How == End::Jump || B.How == End::Branch)
      On(B.Target);
    for (uint32_t T : B.Targets)
      On(T);
  }

  void findRanges() {
    for (size_t B = 0; B != P.Blocks.size(); ++B) {
      const Block &Bl = P.Blocks[B];
      // Two numbers per instruction, and one of a block's own at its end.
      uint32_t Begin = position(Bl.Begin, B);
      uint32_t End = position(Bl.Begin + Bl.Count, B) + 1;
      In[B].each([&](Value V) { Ranges[V].cover(Begin); });
      Out[B].each([&](Value V) { Ranges[V].cover(End); });
      if (Bl.Predicate != NoValue)
        Ranges[Bl.Predicate].cover(End);
      for (uint32_t I = Bl.Begin; I != Bl.Begin + Bl.Count; ++I) {
        Inst &In = P.Code[I];
        // Results of hand-written operations do not share with operands.
        bool Simple = In.Code < Op::Nop;
        uint32_t At = position(I, B);
        forOperands(In, P.Lists, [&](Value &V, bool Result) {
          Ranges[V].cover(Result && Simple ? At + 1 : At);
          if (Result)
            Ranges[V].cover(At + 1);
          else if (!Simple)
            Ranges[V].cover(At + 1);
          if (Result && In.Guard != NoValue)
            Ranges[V].cover(At);
        });
      }
    }
  }
  /// Registers that may be read before they are written keep a slot of their
  /// own, so that the sanitizer can follow them.
  void keepUnset() {
    for (const auto &[V, Name] : P.Unset) {
      Ranges[V].cover(0);
      Ranges[V].cover(
          position(static_cast<uint32_t>(P.Code.size()), P.Blocks.size()));
    }
  }
  static uint32_t position(uint32_t Index, size_t B) {
    return (Index + static_cast<uint32_t>(B)) * 2;
  }

  void placeFills() {
    for (size_t V = 0; V != Values.size(); ++V) {
      ValueInfo &I = Values[V];
      if (!I.Fixed || Ranges[V].First == ~0u)
        continue;
      I.How.Wide = I.Wide;
      I.How.Slot = take(I.Wide);
      Offsets[V] = I.How.Slot;
      P.Fills.push_back(I.How);
    }
  }

  uint32_t take(bool Wide) {
    uint32_t At = P.RegisterBytes;
    P.RegisterBytes += Lanes * (Wide ? 8 : 4);
    return At;
  }

  void scan() {
    std::vector<Value> Order;
    for (size_t V = 0; V != Values.size(); ++V)
      if (!isFixed(static_cast<Value>(V)) && Ranges[V].First != ~0u)
        Order.push_back(static_cast<Value>(V));
    std::sort(Order.begin(), Order.end(), [&](Value A, Value B) {
      return std::pair(Ranges[A].First, A) < std::pair(Ranges[B].First, B);
    });
    auto Later = [&](Value A, Value B) {
      return Ranges[A].Last > Ranges[B].Last;
    };
    std::vector<Value> Active; // a heap, the first to end on top
    std::vector<uint32_t> Free[2];
    uint32_t Live = 0;
    for (Value V : Order) {
      while (!Active.empty() && Ranges[Active[0]].Last < Ranges[V].First) {
        Value Done = Active[0];
        std::pop_heap(Active.begin(), Active.end(), Later);
        Active.pop_back();
        Free[Values[Done].Wide].push_back(Offsets[Done]);
        Live -= Values[Done].Wide ? 2 : 1;
      }
      bool Wide = Values[V].Wide;
      if (Free[Wide].empty()) {
        Offsets[V] = take(Wide);
      } else {
        Offsets[V] = Free[Wide].back();
        Free[Wide].pop_back();
      }
      Live += Wide ? 2 : 1;
      P.LiveRegisters = std::max(P.LiveRegisters, Live);
      Active.push_back(V);
      std::push_heap(Active.begin(), Active.end(), Later);
    }
  }

  void rewrite() {
    for (Inst &I : P.Code)
      forOperands(I, P.Lists, [&](Value &V, bool) { V = Offsets[V]; });
    for (Block &B : P.Blocks)
      if (B.Predicate != NoValue)
        B.Predicate = Offsets[B.Predicate];
    for (auto &[V, Name] : P.Unset)
      V = Offsets[V];
  }

  Program &P;
  std::vector<ValueInfo> &Values;
  std::vector<Range> Ranges;
  std::vector<BitSet> Gen, Kill, In, Out;
  std::unordered_map<Value, uint32_t> Offsets;
};
} // namespace

void assignSlots(Program &P, std::vector<ValueInfo> &Values) {
  Slots(P, Values).run();
}

} // namespace llmc::cudasim
