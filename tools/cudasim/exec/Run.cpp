// How a warp runs. The lanes of a warp are in groups, one per place
// in the program; the group with the lowest block runs until it meets another
// one, waits, or another group is lower: with the order of Order.cpp that is
// reconvergence at immediate post-dominators. Warp-wide operations wait for the
// lanes of their mask, barriers for the threads of the block.
#include "tools/cudasim/exec/Machine.h"

#include <algorithm>

namespace llmc::cudasim {
namespace {

/// Steps from block to block before another group gets a turn.
constexpr uint32_t GroupTurn = 4096;

void setMask(Warp &W, uint32_t Mask) {
  W.Mask = Mask;
  if (Mask != AllLanes)
    executor().Expand(Mask, W.MaskLanes);
}

struct Runner {
  Warp &W;
  Cta &B;
  const Program &P;
  const Executor &E;
  uint32_t Left = 0;  ///< steps
  bool Alone = false; ///< the group at a barrier need not wait for its warp

  explicit Runner(Warp &Of)
      : W(Of), B(*Of.Block), P(*Of.Run->Prog), E(executor()) {}

  void run();

private:
  int pick();
  bool runGroup(size_t At);
  template <bool Watched> void code(const Block &Bl, uint32_t Mask);
  bool step(size_t At, const Block &Bl);
  void go(size_t At, uint32_t To);
  void split(size_t At, uint32_t To, uint32_t Mask);
  void leave(size_t At);
  bool synchronise(size_t At, const Block &Bl);
  bool dependency(size_t At, const Block &Bl, const Inst &I);
  bool warpBarrier(size_t At, const Block &Bl, uint32_t Members);
  bool barrier(size_t At, const Block &Bl, const Inst &I);
  void noteVisit(size_t At, uint32_t From, uint32_t To);
};

/// The ready group to run: the lowest, or any in random order; -1 for none.
int Runner::pick() {
  int Lowest = -1, Count = 0;
  for (size_t I = 0; I != W.Groups.size(); ++I)
    if (W.Groups[I].Now == Group::Ready) {
      ++Count;
      if (Lowest < 0 ||
          W.Groups[I].Block < W.Groups[static_cast<size_t>(Lowest)].Block)
        Lowest = static_cast<int>(I);
    }
  // Lanes at an aligned barrier have waited for others that do not come.
  for (size_t I = 0; Lowest < 0 && I != W.Groups.size(); ++I) {
    const Block &Bl = P.Blocks[W.Groups[I].Block];
    if (W.Groups[I].Now == Group::AtSync &&
        P.Code[Bl.Begin].Code == Op::Barrier) {
      W.Groups[I].Now = Group::Ready;
      Alone = true;
      return static_cast<int>(I);
    }
  }
  // Somebody may be waiting in a loop for a group that is further on.
  bool Other = settings().RandomOrder || W.Spins >= GroupTurn;
  if (Count > 1 && Other) {
    W.Spins = 0;
    uint64_t Skip = W.random() % static_cast<uint64_t>(Count);
    for (size_t I = 0; I != W.Groups.size(); ++I)
      if (W.Groups[I].Now == Group::Ready && Skip-- == 0)
        return static_cast<int>(I);
  }
  return Lowest;
}

void Runner::run() {
  while (Left != 0) {
    int At = pick();
    if (At < 0)
      return;
    while (runGroup(static_cast<size_t>(At)))
      ;
  }
}

template <bool Watched> void Runner::code(const Block &Bl, uint32_t Mask) {
  const Inst *I = P.Code.data() + Bl.Begin, *End = I + Bl.Count;
  for (; I != End; ++I) {
    if (I->Guard != NoValue) {
      if constexpr (Watched)
        W.Run->Watch->decide(W, *I, I->Guard, Mask);
      uint32_t Some = E.MaskOf(W.slot<uint32_t>(I->Guard));
      Some = (I->Flags & GuardNot ? ~Some : Some) & Mask;
      if (Some == 0)
        continue;
      setMask(W, Some);
    }
    if constexpr (Watched)
      W.Run->Watch->before(W, *I);
    I->Run(W, *I);
    if constexpr (Watched)
      W.Run->Watch->after(W, *I);
    if (I->Guard != NoValue)
      setMask(W, Mask);
  }
}

/// Runs the group's block; true if the same group goes on.
bool Runner::runGroup(size_t At) {
  Group &G = W.Groups[At];
  const Block &Bl = P.Blocks[G.Block];
  --Left;
  if (W.Mask != G.Mask)
    setMask(W, G.Mask);
  W.Executed += Bl.Counted;
  W.LaneExecuted +=
      uint64_t{Bl.Counted} * static_cast<unsigned>(__builtin_popcount(G.Mask));
  if (Bl.How == End::Sync)
    return synchronise(At, Bl);
  if (W.Run->Watch)
    code<true>(Bl, G.Mask);
  else
    code<false>(Bl, G.Mask);
  return step(At, Bl);
}

bool Runner::step(size_t At, const Block &Bl) {
  Group &G = W.Groups[At];
  if (W.Run->Watch && Bl.Predicate != NoValue) {
    Inst Here;
    Here.Line = Bl.Line;
    Here.SourceLine = Bl.SourceLine;
    W.Run->Watch->decide(W, Here, Bl.Predicate, G.Mask);
  }
  switch (Bl.How) {
  case End::Next:
  case End::Sync:
    go(At, Bl.Next);
    break;
  case End::Jump:
    go(At, Bl.Target);
    break;
  case End::Branch: {
    uint32_t Taken = E.MaskOf(W.slot<uint32_t>(Bl.Predicate));
    Taken = (Bl.BranchNot ? ~Taken : Taken) & G.Mask;
    if (Taken == 0) {
      go(At, Bl.Next);
    } else if (Taken == G.Mask) {
      go(At, Bl.Target);
    } else {
      ++W.Divergent;
      G.Mask &= ~Taken;
      split(At, Bl.Target, Taken);
      go(At, Bl.Next);
      return false;
    }
    break;
  }
  case End::Table: {
    const uint32_t *Index = W.slot<uint32_t>(Bl.Predicate);
    uint32_t Rest = G.Mask;
    uint32_t First = Index[__builtin_ctz(Rest)];
    auto LanesAt = [&](uint32_t To) {
      uint32_t M = 0;
      for (unsigned Lane = 0; Lane != LaneCount; ++Lane)
        M |= static_cast<uint32_t>((Rest >> Lane & 1) && Index[Lane] == To)
             << Lane;
      return M;
    };
    for (unsigned Lane = 0; Lane != LaneCount; ++Lane)
      if ((Rest >> Lane & 1) && Index[Lane] >= Bl.Targets.size())
        throw Fault{IllegalInstruction, "a jump table has no entry " +
                                            std::to_string(Index[Lane]) +
                                            ": kernel " + P.Name};
    uint32_t Own = LanesAt(First);
    for (Rest &= ~Own; Rest != 0;) {
      uint32_t To = Index[__builtin_ctz(Rest)], M = LanesAt(To);
      split(At, Bl.Targets[To], M);
      Rest &= ~M;
    }
    bool Alone = W.Groups[At].Mask == Own;
    W.Groups[At].Mask = Own;
    go(At, Bl.Targets[First]);
    if (!Alone)
      return false;
    break;
  }
  case End::Exit:
    leave(At);
    return false;
  }
  if (Left == 0)
    return false;
  // Having joined another group, this one may be gone.
  if (W.Groups.size() == 1)
    return At == 0 && W.Groups[0].Now == Group::Ready;
  // Another group may be lower or have been met.
  if (settings().RandomOrder)
    return W.random() % 8 != 0 && At < W.Groups.size() &&
           W.Groups[At].Now == Group::Ready;
  return false;
}

/// Moves a group to the start of block To, where it joins one that is there.
void Runner::go(size_t At, uint32_t To) {
  Group &G = W.Groups[At];
  if (W.Groups.size() == 1) {
    G.Block = To;
    return;
  }
  W.Spins += To <= G.Block;
  G.Block = To;
  for (size_t I = 0; I != W.Groups.size(); ++I) {
    Group &O = W.Groups[I];
    if (I == At || O.Block != To || O.Now == Group::AtBarrier ||
        O.Now == Group::AtGridWait)
      continue;
    O.Mask |= G.Mask;
    O.Now = Group::Ready;
    W.Groups.erase(W.Groups.begin() + static_cast<ptrdiff_t>(At));
    return;
  }
}

void Runner::split(size_t At, uint32_t To, uint32_t Mask) {
  // Its own place is the one it is about to leave: a loop may lead back there.
  for (Group &O : W.Groups)
    if (&O != &W.Groups[At] && O.Block == To && O.Now != Group::AtBarrier &&
        O.Now != Group::AtGridWait) {
      O.Mask |= Mask;
      O.Now = Group::Ready;
      return;
    }
  Group New;
  New.Block = To;
  New.Mask = Mask;
  W.Groups.push_back(New);
}

bool complete(const Cta &B, const NamedBarrier &Bar) {
  uint32_t Threads = 0, Needed = 0;
  for (const Warp &O : B.Warps) {
    uint32_t Here = Bar.Arrived[O.Index];
    if (O.Live != 0)
      Needed += LaneCount;
    if (O.Live != 0 && (Here & O.Live) == O.Live)
      Threads += LaneCount;
    else if (O.Live == 0 && Here != 0)
      Threads += LaneCount; // arrived and left
  }
  return Threads >= (Bar.Expected ? Bar.Expected : Needed);
}

void release(Cta &B, unsigned Number) {
  NamedBarrier &Bar = B.Barriers[Number];
  if (Watcher *Watch = B.Run->Watch)
    Watch->release(B, Number);
  for (Warp &O : B.Warps)
    for (Group &G : O.Groups)
      if (G.Now == Group::AtBarrier && G.Barrier == Number) {
        G.Now = Group::Ready;
        const Inst &I = *G.Waiting;
        BarrierKind Kind = static_cast<BarrierKind>(I.Sub);
        if (Kind == BarrierKind::Sync || Kind == BarrierKind::Arrive)
          continue;
        bool Truth = Kind == BarrierKind::And ? Bar.All != 0 : Bar.Any != 0;
        uint32_t V =
            Kind == BarrierKind::Popc ? Bar.Count : (Truth ? AllLanes : 0);
        for (unsigned Lane = 0; Lane != LaneCount; ++Lane)
          if (G.Mask >> Lane & 1)
            O.slot<uint32_t>(I.D)[Lane] = V;
      }
  std::fill(Bar.Arrived.begin(), Bar.Arrived.end(), 0);
  Bar.Active = false;
  Bar.Expected = Bar.Count = Bar.Any = 0;
  Bar.All = 1;
  // Groups of a warp that waited at the same place are one again.
  for (Warp &O : B.Warps)
    for (size_t I = 0; I < O.Groups.size(); ++I)
      for (size_t J = O.Groups.size(); J-- > I + 1;)
        if (O.Groups[I].Block == O.Groups[J].Block &&
            O.Groups[I].Now == Group::Ready &&
            O.Groups[J].Now == Group::Ready) {
          O.Groups[I].Mask |= O.Groups[J].Mask;
          O.Groups.erase(O.Groups.begin() + static_cast<ptrdiff_t>(J));
        }
}

/// Exited threads no longer count.
void Runner::leave(size_t At) {
  if (!W.Async.empty())
    finishCopies(W, W.Groups[At].Mask, 0);
  W.Live &= ~W.Groups[At].Mask;
  W.Groups.erase(W.Groups.begin() + static_cast<ptrdiff_t>(At));
  for (Group &G : W.Groups)
    if (G.Now == Group::AtSync)
      G.Now = Group::Ready;
  for (unsigned N = 0; N != B.Barriers.size(); ++N)
    if (B.Barriers[N].Active && complete(B, B.Barriers[N]))
      release(B, N);
}

/// The instruction of a Sync block, once its lanes are here.
bool Runner::synchronise(size_t At, const Block &Bl) {
  const Inst &I = P.Code[Bl.Begin];
  Group &G = W.Groups[At];
  if (I.Code == Op::Barrier)
    return barrier(At, Bl, I);
  if (I.Code == Op::Sleep) {
    Left = 0;
    go(At, Bl.Next);
    W.Spins = GroupTurn;
    return false;
  }
  if (I.Code == Op::GridWait || I.Code == Op::GridTrigger)
    return dependency(At, Bl, I);
  bool Matrix = I.Code == Op::Mma || I.Code == Op::LoadMatrix ||
                I.Code == Op::StoreMatrix || I.Code == Op::MoveMatrix;
  uint32_t Members = AllLanes;
  if (!Matrix) {
    Value Mask = W.Lists[I.List + 1];
    Members = W.slot<uint32_t>(Mask)[__builtin_ctz(G.Mask)];
  }
  uint32_t Wanted = Members & W.Live;
  if (Matrix && W.Live != AllLanes)
    throwFault(W, I, LaunchFailed,
               "a matrix operation in a warp with exited threads");
  if ((G.Mask & Wanted) != Wanted) {
    if (I.Code == Op::WarpBarrier)
      return warpBarrier(At, Bl, Members);
    G.Now = Group::AtSync;
    return false;
  }
  if (Watcher *Watch = W.Run->Watch) {
    Watch->warpSync(W, I, Members);
    Watch->before(W, I);
  }
  if (I.Code != Op::WarpBarrier)
    I.Run(W, I);
  if (W.Run->Watch)
    W.Run->Watch->after(W, I);
  return step(At, Bl);
}

/// griddepcontrol: waits for the launch before this one, or lets the next one
/// begin. Without such launches around, both are nothing.
bool Runner::dependency(size_t At, const Block &Bl, const Inst &I) {
  if (I.Code == Op::GridTrigger) {
    B.Triggered = true;
    if (B.Run->HoldAtTrigger)
      Left = 0;
    go(At, Bl.Next);
    return Left != 0 && W.Groups.size() == 1;
  }
  if (!B.Run->PredecessorDone) {
    W.Groups[At].Now = Group::AtGridWait;
    return false;
  }
  if (Watcher *Watch = W.Run->Watch)
    Watch->gridWait(W, I);
  go(At, Bl.Next);
  return W.Groups.size() == 1;
}

/// bar.warp.sync may be met at different places.
bool Runner::warpBarrier(size_t At, const Block &, uint32_t Members) {
  W.Groups[At].Now = Group::AtSync;
  auto Waits = [&](const Group &G) {
    const Block &Bl = P.Blocks[G.Block];
    return G.Now == Group::AtSync && Bl.How == End::Sync &&
           P.Code[Bl.Begin].Code == Op::WarpBarrier;
  };
  uint32_t Here = 0;
  for (const Group &G : W.Groups)
    if (Waits(G))
      Here |= G.Mask;
  uint32_t Wanted = Members & W.Live;
  if ((Here & Wanted) != Wanted)
    return false;
  if (Watcher *Watch = W.Run->Watch)
    Watch->warpSync(W, P.Code[P.Blocks[W.Groups[At].Block].Begin], Members);
  for (size_t I = 0; I < W.Groups.size();) {
    size_t Before = W.Groups.size();
    if (Waits(W.Groups[I])) {
      W.Groups[I].Now = Group::Ready;
      go(I, P.Blocks[W.Groups[I].Block].Next);
    }
    I += W.Groups.size() == Before;
  }
  return false;
}

bool Runner::barrier(size_t At, const Block &Bl, const Inst &I) {
  Group &G = W.Groups[At];
  unsigned First = static_cast<unsigned>(__builtin_ctz(G.Mask));
  uint32_t Number = W.slot<uint32_t>(I.A)[First];
  uint32_t Expected = I.B == NoValue ? 0 : W.slot<uint32_t>(I.B)[First];
  if (Number >= B.Barriers.size())
    throwFault(W, I, IllegalInstruction,
               "barrier " + std::to_string(Number) + " of 16");
  if (Expected % LaneCount != 0)
    throwFault(W, I, IllegalInstruction,
               "a barrier for " + std::to_string(Expected) +
                   " threads, expected a multiple of 32");
  // The lanes of a warp come to an aligned barrier together if they can.
  if (I.Imm != 0 && G.Mask != W.Live && !Alone)
    for (const Group &O : W.Groups)
      if (O.Now == Group::Ready && &O != &G) {
        G.Now = Group::AtSync;
        return false;
      }
  Alone = false;
  NamedBarrier &Bar = B.Barriers[Number];
  if (Bar.Active && Bar.Expected != Expected)
    throwFault(W, I, IllegalInstruction,
               "barrier " + std::to_string(Number) + " is used with " +
                   std::to_string(Bar.Expected) + " and with " +
                   std::to_string(Expected) + " threads");
  Bar.Active = true;
  Bar.Expected = Expected;
  Bar.Arrived.resize(B.Warps.size(), 0);
  BarrierKind Kind = static_cast<BarrierKind>(I.Sub);
  if (Watcher *Watch = W.Run->Watch)
    Watch->arrive(W, I, G.Mask);
  Bar.Arrived[W.Index] |= G.Mask;
  if (I.C != NoValue) {
    uint32_t True = E.MaskOf(W.slot<uint32_t>(I.C)) & G.Mask;
    Bar.Count += static_cast<uint32_t>(__builtin_popcount(True));
    Bar.All &= True == G.Mask;
    Bar.Any |= True != 0;
  }
  if (Kind == BarrierKind::Arrive) {
    go(At, Bl.Next);
  } else {
    G.Block = Bl.Next;
    G.Now = Group::AtBarrier;
    G.Barrier = static_cast<uint8_t>(Number);
    G.Waiting = &I;
  }
  if (complete(B, Bar))
    release(B, Number);
  return false;
}

} // namespace

uint32_t runWarp(Warp &W, uint32_t Steps) {
  Runner R(W);
  R.Left = Steps;
  R.run();
  return R.Left;
}

} // namespace llmc::cudasim
