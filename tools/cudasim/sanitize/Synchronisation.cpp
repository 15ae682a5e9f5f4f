// Order between threads: barriers, warp-wide operations, asynchronous copies;
// and what single instructions did: lines, NaNs.
#include "tools/cudasim/sanitize/Sanitizer.h"

#include <cmath>

namespace llmc::cudasim {

void Sanitizer::arrive(Warp &W, const Inst &I, uint32_t Mask) {
  (*Executed)[I.Line] = 1;
  BlockState &B = stateOf(*W.Block);
  WarpState &Mine = B.Warps[W.Index];
  unsigned Lane = static_cast<unsigned>(__builtin_ctz(Mask));
  uint32_t Number = W.slot<uint32_t>(I.A)[Lane] & 15;
  if (I.Imm != 0 && Mask != W.Live)
    found("divergent-barrier", W, I, Lane,
          "an aligned barrier is reached by " +
              std::to_string(__builtin_popcount(Mask)) + " of " +
              std::to_string(__builtin_popcount(W.Live)) +
              " threads of the warp");
  B.Arrivals[Number].join(Mine.Knows);
  B.ArrivedWarps[Number] |= 1u << W.Index;
  // Lanes of one warp at one barrier are ordered by it.
  ++Mine.Ticket;
  if (Mask == W.Live)
    Mine.AllSync = Mine.Ticket;
  if (static_cast<BarrierKind>(I.Sub) == BarrierKind::Arrive)
    ++Mine.Knows.Own[W.Index];
}

void Sanitizer::release(Cta &Block, unsigned Number) {
  BlockState &B = stateOf(Block);
  bool AnyOne = false; // has waited for the launches before
  for (unsigned N = 0; N != B.Warps.size(); ++N)
    AnyOne |= (B.ArrivedWarps[Number] >> N & 1) && B.Warps[N].Waited;
  for (Warp &W : Block.Warps) {
    if (!(B.ArrivedWarps[Number] >> W.Index & 1))
      continue;
    bool Waits = false;
    for (const Group &G : W.Groups)
      Waits |= G.Now == Group::AtBarrier && G.Barrier == Number;
    WarpState &S = B.Warps[W.Index];
    if (Waits) {
      S.Knows.join(B.Arrivals[Number]);
      S.Waited |= AnyOne;
      ++S.Knows.Own[W.Index];
      S.AllSync = ++S.Ticket;
    }
  }
  B.Arrivals[Number] = Clock();
  B.ArrivedWarps[Number] = 0;
}

void Sanitizer::warpSync(Warp &W, const Inst &I, uint32_t Members) {
  WarpState &S = stateOf(*W.Block).Warps[W.Index];
  unsigned First = static_cast<unsigned>(__builtin_ctz(W.Mask));
  bool Matrix = I.Code == Op::Mma || I.Code == Op::LoadMatrix ||
                I.Code == Op::StoreMatrix || I.Code == Op::MoveMatrix;
  if (!Matrix) {
    const uint32_t *Masks = W.slot<uint32_t>(W.Lists[I.List + 1]);
    for (uint32_t Rest = W.Mask; Rest != 0; Rest &= Rest - 1) {
      unsigned Lane = static_cast<unsigned>(__builtin_ctz(Rest));
      if (Masks[Lane] != Members) {
        found("warp-mask", W, I, Lane,
              "lanes of one warp-wide operation have different masks");
        break;
      }
      if (!(Members >> Lane & 1)) {
        found("warp-mask", W, I, Lane,
              "lane " + std::to_string(Lane) + " is not in its own mask");
        break;
      }
    }
    // Naming exited lanes is an error only where fewer than all are named.
    if ((Members & ~W.Live) != 0 && Members != AllLanes)
      found("warp-mask", W, I, First, "the mask names lanes that have exited");
    if (I.Code == Op::Shuffle)
      checkShuffle(W, I);
  }
  uint32_t All = Matrix ? W.Live : Members & W.Live;
  ++S.Ticket;
  if (All == W.Live) {
    S.AllSync = S.Ticket;
    return;
  }
  for (unsigned A = 0; A != LaneCount; ++A)
    for (unsigned B = 0; B != LaneCount; ++B)
      if ((All >> A & 1) && (All >> B & 1))
        S.PairSync[A][B] = S.Ticket;
}

/// A lane that reads one which does not take part gets no value.
void Sanitizer::checkShuffle(Warp &W, const Inst &I) {
  for (uint32_t Rest = W.Mask; Rest != 0; Rest &= Rest - 1) {
    unsigned Lane = static_cast<unsigned>(__builtin_ctz(Rest));
    unsigned From = shuffleSource(W, I, Lane);
    if (W.Mask >> From & 1)
      continue;
    return found("warp-mask", W, I, Lane,
                 "lane " + std::to_string(Lane) + " reads lane " +
                     std::to_string(From) + ", which does not take part");
  }
}

void Sanitizer::copyCommit(Warp &W) {
  WarpState &S = stateOf(*W.Block).Warps[W.Index];
  for (uint32_t Rest = W.Mask; Rest != 0; Rest &= Rest - 1) {
    LaneCopies &C = S.Copies[static_cast<unsigned>(__builtin_ctz(Rest))];
    C.Groups.push_back(std::move(C.Open));
    C.Open.clear();
  }
}

/// The copies become writes of the lane that issued them.
void Sanitizer::copyWait(Warp &W, const Inst &I) {
  BlockState &B = stateOf(*W.Block);
  WarpState &S = B.Warps[W.Index];
  for (uint32_t Rest = W.Mask; Rest != 0; Rest &= Rest - 1) {
    LaneCopies &C = S.Copies[static_cast<unsigned>(__builtin_ctz(Rest))];
    for (; C.Groups.size() > static_cast<size_t>(I.Imm); C.Groups.pop_front())
      for (uint32_t Word : C.Groups.front()) {
        Touch &T = B.Shared[Word].Write;
        T.Pending = false;
        T.Time = S.Knows.Own[W.Index];
        T.Ticket = S.Ticket;
      }
  }
}

void Sanitizer::before(Warp &W, const Inst &I) {
  (*Executed)[I.Line] = 1;
  if (!W.Run->Prog->Unset.empty())
    followUndefined(W, I, stateOf(*W.Block).Warps[W.Index]);
}

/// Whether the result of O is an f32.
static bool givesFloat(Op O) {
  switch (O) {
  case Op::AddF32:
  case Op::SubF32:
  case Op::MulF32:
  case Op::FmaF32:
  case Op::DivF32:
  case Op::SqrtF32:
  case Op::RcpF32:
  case Op::DivApprox:
  case Op::Ex2Approx:
  case Op::Lg2Approx:
  case Op::RsqrtApprox:
  case Op::RcpApprox:
  case Op::SqrtApprox:
  case Op::SinApprox:
  case Op::CosApprox:
  case Op::TanhApprox:
    return true;
  default:
    return false;
  }
}

void Sanitizer::after(Warp &W, const Inst &I) {
  bool Tracks = !W.Run->Prog->Unset.empty();
  if (!Tracks && !Nan)
    return;
  WarpState &S = stateOf(*W.Block).Warps[W.Index];
  if (Tracks)
    defineResults(W, I, S);
  if (!Nan || S.HadNan || !givesFloat(I.Code))
    return;
  const float *D = W.slot<float>(I.D);
  for (uint32_t Rest = W.Mask; Rest != 0; Rest &= Rest - 1) {
    unsigned Lane = static_cast<unsigned>(__builtin_ctz(Rest));
    if (!std::isnan(D[Lane]))
      continue;
    // The result may have taken an operand's slot: those cannot be asked.
    bool Clean = true;
    for (Value V : {I.A, I.B, I.C})
      if (V != NoValue && V != I.D)
        Clean &= !std::isnan(W.slot<float>(V)[Lane]);
    if (!Clean)
      continue;
    S.HadNan = true;
    return found("nan", W, I, Lane, "the first NaN of the warp");
  }
}

} // namespace llmc::cudasim
