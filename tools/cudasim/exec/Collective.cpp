// Operations between lanes: shfl, vote, match, redux, elect, activemask. The
// scheduler has seen to it that the lanes of the mask are here.
#include "tools/cudasim/exec/Handlers.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace llmc::cudasim {
namespace {

template <class F> void eachLane(const Warp &W, F On) {
  for (uint32_t Rest = W.Mask; Rest != 0; Rest &= Rest - 1)
    On(static_cast<unsigned>(__builtin_ctz(Rest)));
}

uint32_t *results(Warp &W, Value V) {
  return V == NoValue ? nullptr : W.slot<uint32_t>(V);
}

/// The lane that Lane reads in shfl, and whether it is inside its segment:
/// PTX ISA "shfl.sync".
unsigned sourceLane(ShuffleKind Kind, unsigned Lane, uint32_t B, uint32_t C,
                    bool &Inside) {
  unsigned Segment = C >> 8 & 31, Clamp = C & 31, By = B & 31;
  unsigned Lowest = Lane & Segment;
  unsigned Highest = Lowest | (Clamp & ~Segment & 31);
  unsigned From = Lane;
  switch (Kind) {
  case ShuffleKind::Up:
    From = Lane - By;
    Inside = static_cast<int>(Lane) - static_cast<int>(By) >=
             static_cast<int>(Highest);
    break;
  case ShuffleKind::Down:
    From = Lane + By;
    Inside = From <= Highest;
    break;
  case ShuffleKind::Butterfly:
    From = Lane ^ By;
    Inside = From <= Highest;
    break;
  case ShuffleKind::Index:
    From = Lowest | (By & ~Segment & 31);
    Inside = From <= Highest;
    break;
  }
  return Inside ? From & 31 : Lane;
}

} // namespace

unsigned shuffleSource(Warp &W, const Inst &I, unsigned Lane) {
  bool Inside = false;
  return sourceLane(static_cast<ShuffleKind>(I.Sub), Lane,
                    W.slot<uint32_t>(I.B)[Lane], W.slot<uint32_t>(I.C)[Lane],
                    Inside);
}

void shuffleAny(Warp &W, const Inst &I) {
  const uint32_t *A = W.slot<uint32_t>(I.A), *B = W.slot<uint32_t>(I.B),
                 *C = W.slot<uint32_t>(I.C);
  uint32_t *D = W.slot<uint32_t>(I.D), *P = results(W, W.Lists[I.List]);
  ShuffleKind Kind = static_cast<ShuffleKind>(I.Sub);
  uint32_t In[LaneCount];
  std::memcpy(In, A, sizeof(In));
  eachLane(W, [&](unsigned Lane) {
    bool Inside = false;
    unsigned From = sourceLane(Kind, Lane, B[Lane], C[Lane], Inside);
    D[Lane] = In[From];
    if (P)
      P[Lane] = Inside ? AllLanes : 0;
  });
}

namespace {

void vote(Warp &W, const Inst &I) {
  uint32_t Members = W.Mask;
  uint32_t True = executor().MaskOf(W.slot<uint32_t>(I.A)) & Members;
  uint32_t V = 0;
  switch (static_cast<VoteKind>(I.Sub)) {
  case VoteKind::All:
    V = True == Members ? AllLanes : 0;
    break;
  case VoteKind::Any:
    V = True ? AllLanes : 0;
    break;
  case VoteKind::Uniform:
    V = True == Members || True == 0 ? AllLanes : 0;
    break;
  case VoteKind::Ballot:
    V = True;
    break;
  }
  uint32_t *D = W.slot<uint32_t>(I.D);
  eachLane(W, [&](unsigned Lane) { D[Lane] = V; });
}

void match(Warp &W, const Inst &I) {
  uint32_t *P = results(W, W.Lists[I.List]);
  uint64_t In[LaneCount];
  for (unsigned Lane = 0; Lane != LaneCount; ++Lane)
    In[Lane] = I.Bytes == 8 ? W.slot<uint64_t>(I.A)[Lane]
                            : W.slot<uint32_t>(I.A)[Lane];
  uint32_t *D = W.slot<uint32_t>(I.D);
  eachLane(W, [&](unsigned Lane) {
    uint32_t Same = 0;
    eachLane(W, [&](unsigned Other) {
      Same |= static_cast<uint32_t>(In[Other] == In[Lane]) << Other;
    });
    bool All = Same == W.Mask;
    D[Lane] = I.Sub ? (All ? Same : 0) : Same;
    if (P)
      P[Lane] = All ? AllLanes : 0;
  });
}

void reduce(Warp &W, const Inst &I) {
  const uint32_t *A = W.slot<uint32_t>(I.A);
  ReduceKind Kind = static_cast<ReduceKind>(I.Sub);
  uint32_t V = A[__builtin_ctz(W.Mask)];
  bool First = true;
  eachLane(W, [&](unsigned Lane) {
    if (std::exchange(First, false))
      return;
    uint32_t X = A[Lane];
    bool Less = I.Of.isSigned()
                    ? static_cast<int32_t>(X) < static_cast<int32_t>(V)
                    : X < V;
    switch (Kind) {
    case ReduceKind::Add:
      V += X;
      break;
    case ReduceKind::Min:
      V = Less ? X : V;
      break;
    case ReduceKind::Max:
      V = Less ? V : X;
      break;
    case ReduceKind::And:
      V &= X;
      break;
    case ReduceKind::Or:
      V |= X;
      break;
    case ReduceKind::Xor:
      V ^= X;
      break;
    }
  });
  uint32_t *D = W.slot<uint32_t>(I.D);
  eachLane(W, [&](unsigned Lane) { D[Lane] = V; });
}

void elect(Warp &W, const Inst &I) {
  unsigned Leader = static_cast<unsigned>(__builtin_ctz(W.Mask));
  uint32_t *D = W.slot<uint32_t>(I.D), *P = results(W, W.Lists[I.List]);
  eachLane(W, [&](unsigned Lane) {
    D[Lane] = Leader;
    if (P)
      P[Lane] = Lane == Leader ? AllLanes : 0;
  });
}

void activeMask(Warp &W, const Inst &I) {
  uint32_t *D = W.slot<uint32_t>(I.D);
  eachLane(W, [&](unsigned Lane) { D[Lane] = W.Mask; });
}
} // namespace

void fillCollective(Executor &E) {
  auto Set = [&](Op O, Handler H) { E.Handlers[static_cast<size_t>(O)] = H; };
  Set(Op::Vote, vote);
  Set(Op::Match, match);
  Set(Op::Reduce, reduce);
  Set(Op::Elect, elect);
  Set(Op::ActiveMask, activeMask);
}

} // namespace llmc::cudasim
