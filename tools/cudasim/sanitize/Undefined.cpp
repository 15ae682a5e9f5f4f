// Registers that nobody has written. A compiler may compute with them where it
// throws the result away: it moves cheap instructions in front of the branch
// that decides. So a value made of an undefined one is undefined, lane by lane,
// and a finding is its effect: an address or a value of memory, a branch or a
// guard, an operand of a warp-wide operation.
#include "tools/cudasim/sanitize/Sanitizer.h"

namespace llmc::cudasim {

/// Whether O only computes D of its operands.
static bool computes(Op O) {
  return O < Op::Nop || O == Op::Lop3 || O == Op::ToGeneric ||
         O == Op::FromGeneric || O == Op::IsSpace;
}

void Sanitizer::reportUndefined(Warp &W, const Inst &I, Undefined &U,
                                uint32_t Lanes) {
  found("uninitialized", W, I, static_cast<unsigned>(__builtin_ctz(Lanes)),
        "register " + W.Run->Prog->Unset[U.Name].second +
            " is read before it is written");
  U.Lanes &= ~Lanes; // once is enough
}

void Sanitizer::useUndefined(Warp &W, const Inst &I, WarpState &S, Value V) {
  auto It = V == NoValue ? S.Unset.end() : S.Unset.find(V);
  if (It != S.Unset.end() && (It->second.Lanes & W.Mask) != 0)
    reportUndefined(W, I, It->second, It->second.Lanes & W.Mask);
}

/// Lanes of a selection, a conjunction or a disjunction whose undefined operand
/// does not matter.
static uint32_t ignored(Warp &W, const Inst &I, Value Undefined) {
  uint32_t Out = 0;
  auto Lanes = [&](Value V, auto Matters) {
    const uint32_t *At = W.slot<uint32_t>(V);
    for (unsigned Lane = 0; Lane != LaneCount; ++Lane)
      Out |= static_cast<uint32_t>(!Matters(At[Lane])) << Lane;
  };
  Value Other = Undefined == I.A ? I.B : I.A;
  switch (I.Code) {
  case Op::SelB32:
  case Op::SelB64:
    if (I.A != I.B && Undefined != I.C)
      Lanes(I.C, [&](uint32_t C) { return (C != 0) == (Undefined == I.A); });
    break;
  case Op::AndB32:
    if (I.A != I.B)
      Lanes(Other, [](uint32_t V) { return V != 0; });
    break;
  case Op::OrB32:
    if (I.A != I.B)
      Lanes(Other, [](uint32_t V) { return V != ~uint32_t{0}; });
    break;
  default:
    break;
  }
  return Out;
}

/// What of I's result will be undefined, before I runs.
void Sanitizer::followUndefined(Warp &W, const Inst &I, WarpState &S) {
  S.Next = {};
  if (S.Unset.empty())
    return;
  bool Computes = computes(I.Code);
  auto Read = [&](Value V) {
    if (!Computes)
      return useUndefined(W, I, S, V);
    auto It = V == NoValue ? S.Unset.end() : S.Unset.find(V);
    uint32_t Lanes = It == S.Unset.end() ? 0 : It->second.Lanes & W.Mask;
    if (Lanes == 0)
      return;
    // The other operand decides only where it is defined itself.
    uint32_t Ignored = ignored(W, I, V);
    for (Value O : {I.A, I.B, I.C})
      if (auto Other = S.Unset.find(O); O != V && Other != S.Unset.end())
        Ignored &= ~Other->second.Lanes;
    S.Next.Lanes |= Lanes & ~Ignored;
    S.Next.Name = It->second.Name;
  };
  for (Value V : {I.A, I.B, I.C})
    Read(V);
  for (unsigned N = 0; N != I.Uses; ++N)
    Read(W.Lists[I.List + I.Defs + N]);
}

/// I has run: its results are defined, or as undefined as its operands were.
void Sanitizer::defineResults(Warp &W, const Inst &I, WarpState &S) {
  if (S.Unset.empty())
    return;
  auto Wrote = [&](Value V) {
    if (V == NoValue)
      return;
    auto It = S.Unset.find(V);
    if (It == S.Unset.end() && S.Next.Lanes == 0)
      return;
    if (It == S.Unset.end())
      It = S.Unset.emplace(V, Undefined{0, S.Next.Name}).first;
    Undefined &U = It->second;
    U.Lanes = (U.Lanes & ~W.Mask) | S.Next.Lanes;
    if (S.Next.Lanes != 0)
      U.Name = S.Next.Name;
    if (U.Lanes == 0)
      S.Unset.erase(It);
  };
  Wrote(I.D);
  for (unsigned N = 0; N != I.Defs; ++N)
    Wrote(W.Lists[I.List + N]);
}

void Sanitizer::decide(Warp &W, const Inst &I, Value Predicate,
                       uint32_t Lanes) {
  WarpState &S = stateOf(*W.Block).Warps[W.Index];
  auto It = S.Unset.empty() ? S.Unset.end() : S.Unset.find(Predicate);
  if (It != S.Unset.end() && (It->second.Lanes & Lanes) != 0)
    reportUndefined(W, I, It->second, It->second.Lanes & Lanes);
}

} // namespace llmc::cudasim
