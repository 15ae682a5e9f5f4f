// Atomics of global and shared memory, on the host's atomic instructions, since
// blocks run on several threads. Packed halves are two values in one word.
#include "tools/cudasim/exec/Special.h"

#include "tools/cudasim/exec/Numeric.h"

namespace llmc::cudasim {
namespace {

/// Replaces *P by On(old) atomically; the old value.
template <class T, class F> T exchangeBy(uint8_t *Host, F On) {
  T *P = reinterpret_cast<T *>(Host);
  T Old = __atomic_load_n(P, __ATOMIC_RELAXED);
  T New = On(Old);
  while (!__atomic_compare_exchange_n(P, &Old, New, false, __ATOMIC_SEQ_CST,
                                      __ATOMIC_RELAXED))
    New = On(Old);
  return Old;
}

template <class U, class S>
U integer(AtomicKind Kind, bool Signed, U Old, U A, U B) {
  switch (Kind) {
  case AtomicKind::And:
    return Old & A;
  case AtomicKind::Or:
    return Old | A;
  case AtomicKind::Xor:
    return Old ^ A;
  case AtomicKind::Exchange:
    return A;
  case AtomicKind::CompareSwap:
    return Old == A ? B : Old;
  case AtomicKind::Add:
    return static_cast<U>(Old + A);
  case AtomicKind::Inc:
    return Old >= A ? U(0) : static_cast<U>(Old + 1);
  case AtomicKind::Dec:
    return Old == 0 || Old > A ? A : static_cast<U>(Old - 1);
  case AtomicKind::Min:
    return (Signed ? static_cast<S>(A) < static_cast<S>(Old) : A < Old) ? A
                                                                        : Old;
  case AtomicKind::Max:
    return (Signed ? static_cast<S>(A) > static_cast<S>(Old) : A > Old) ? A
                                                                        : Old;
  }
  return Old;
}

float combine(AtomicKind Kind, float Old, float A) {
  return Kind == AtomicKind::Add   ? Old + A
         : Kind == AtomicKind::Min ? minimum(Old, A)
                                   : maximum(Old, A);
}

uint16_t half(AtomicKind Kind, bool Bf, uint16_t Old, uint16_t A) {
  float X = Bf ? bfloatToFloat(Old) : halfToFloat(Old);
  float R = combine(Kind, X, Bf ? bfloatToFloat(A) : halfToFloat(A));
  return Bf ? floatToBfloat(R) : floatToHalf(R);
}

uint64_t one(const Inst &I, uint8_t *Host, uint64_t A, uint64_t B) {
  AtomicKind Kind = static_cast<AtomicKind>(I.Sub);
  const Type &T = I.Of;
  if (T.isFloat() && T.Bits == 64)
    return exchangeBy<uint64_t>(Host, [&](uint64_t Old) {
      return std::bit_cast<uint64_t>(std::bit_cast<double>(Old) +
                                     std::bit_cast<double>(A));
    });
  if (T.isFloat() && T.Bits == 32)
    return exchangeBy<uint32_t>(Host, [&](uint32_t Old) {
      return std::bit_cast<uint32_t>(
          combine(Kind, std::bit_cast<float>(Old),
                  std::bit_cast<float>(static_cast<uint32_t>(A))));
    });
  bool Bf = T.Kind == Meaning::BFloat;
  if (T.isFloat() && T.Count == 2)
    return exchangeBy<uint32_t>(Host, [&](uint32_t Old) {
      uint32_t Low =
          half(Kind, Bf, static_cast<uint16_t>(Old), static_cast<uint16_t>(A));
      uint32_t High = half(Kind, Bf, static_cast<uint16_t>(Old >> 16),
                           static_cast<uint16_t>(A >> 16));
      return High << 16 | Low;
    });
  if (T.isFloat())
    return exchangeBy<uint16_t>(Host, [&](uint16_t Old) {
      return half(Kind, Bf, Old, static_cast<uint16_t>(A));
    });
  if (T.Bits == 64)
    return exchangeBy<uint64_t>(Host, [&](uint64_t Old) {
      return integer<uint64_t, int64_t>(Kind, T.isSigned(), Old, A, B);
    });
  if (T.Bits == 16)
    return exchangeBy<uint16_t>(Host, [&](uint16_t Old) {
      return integer<uint16_t, int16_t>(Kind, T.isSigned(), Old,
                                        static_cast<uint16_t>(A),
                                        static_cast<uint16_t>(B));
    });
  return exchangeBy<uint32_t>(Host, [&](uint32_t Old) {
    return integer<uint32_t, int32_t>(Kind, T.isSigned(), Old,
                                      static_cast<uint32_t>(A),
                                      static_cast<uint32_t>(B));
  });
}
} // namespace

void atomic(Warp &W, const Inst &I) {
  uint64_t Addresses[LaneCount];
  uint8_t *Host[LaneCount];
  laneAddresses(W, I, Addresses);
  resolveLanes(W, I, I.Where, Addresses, I.Bytes * I.Elements,
               AccessEvent::ReadWrite, Host);
  const uint32_t *List = W.Lists + I.List;
  bool Swap = static_cast<AtomicKind>(I.Sub) == AtomicKind::CompareSwap;
  auto Source = [&](unsigned N, unsigned Lane) -> uint64_t {
    Value V = List[I.Defs + N];
    return I.Bytes == 8 ? W.slot<uint64_t>(V)[Lane] : W.slot<uint32_t>(V)[Lane];
  };
  // Lanes one after another: any order is right, this one repeats.
  for (uint32_t Rest = W.Mask; Rest != 0; Rest &= Rest - 1) {
    unsigned Lane = static_cast<unsigned>(__builtin_ctz(Rest));
    for (unsigned E = 0; E != I.Elements; ++E) {
      uint64_t Old = one(I, Host[Lane] + E * I.Bytes, Source(E, Lane),
                         Swap ? Source(I.Elements, Lane) : 0);
      if (I.Defs == 0)
        continue;
      if (I.Bytes == 8)
        W.slot<uint64_t>(List[E])[Lane] = Old;
      else
        W.slot<uint32_t>(List[E])[Lane] = static_cast<uint32_t>(Old);
    }
  }
}

} // namespace llmc::cudasim
