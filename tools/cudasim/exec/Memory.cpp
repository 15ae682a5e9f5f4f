// Loads and stores. Three shapes of addresses have a short way: neighbouring
// lanes at neighbouring addresses, all lanes at one address, and any others
// that lie in one allocation (or in the block's shared memory). The rest, and
// everything when somebody watches, goes through resolveLanes.
// Compiled once per instruction set of the host, like Alu.cpp.
#include "tools/cudasim/exec/Handlers.h"
#include "tools/cudasim/exec/Numeric.h"

namespace llmc::cudasim::SIM_ISA {
namespace {

#define SIM_LANES                                                              \
  unsigned Lane = 0;                                                           \
  Lane != LaneCount;                                                           \
  ++Lane

/// Addresses of all lanes, those of inactive ones that of the first active;
/// and what they have in common.
struct Addresses {
  alignas(64) u64 At[LaneCount];
  u64 Low, High, Bits; ///< smallest, largest, all set bits

  SIM_INLINE void compute(Addresses &S, Warp &W, const Inst &I) {
    if (I.Flags & Narrow) {
      const u32 *A = W.slot<u32>(I.A);
      for (SIM_LANES) {
        S.At[Lane] = static_cast<u32>(A[Lane] + static_cast<u32>(I.Imm));
      }
    } else {
      const u64 *A = W.slot<u64>(I.A);
      for (SIM_LANES) {
        S.At[Lane] = A[Lane] + static_cast<u64>(I.Imm);
      }
    }
    if (W.Mask != AllLanes) {
      u64 First = S.At[__builtin_ctz(W.Mask)];
      for (SIM_LANES) {
        S.At[Lane] = W.MaskLanes[Lane] ? S.At[Lane] : First;
      }
    }
    u64 Low = S.At[0], High = S.At[0], Bits = 0;
    for (SIM_LANES) {
      Low = S.At[Lane] < Low ? S.At[Lane] : Low;
      High = S.At[Lane] > High ? S.At[Lane] : High;
      Bits |= S.At[Lane];
    }
    S.Low = Low;
    S.High = High;
    S.Bits = Bits;
  }
  bool areNeighbours(unsigned Bytes) const {
    u64 Wrong = 0;
    for (SIM_LANES) {
      Wrong |= At[Lane] ^ (At[0] + u64{Bytes} * Lane);
    }
    return Wrong == 0;
  }
};

template <unsigned Bytes> struct UnsignedOf;
template <> struct UnsignedOf<1> {
  using Type = u8;
};
template <> struct UnsignedOf<2> {
  using Type = u16;
};
template <> struct UnsignedOf<4> {
  using Type = u32;
};
template <> struct UnsignedOf<8> {
  using Type = u64;
};

template <class T> SIM_INLINE T readFrom(const u8 *P) {
  T V;
  __builtin_memcpy(&V, P, sizeof(T));
  return V;
}

template <class Slot>
SIM_INLINE void blend(Warp &W, Value To, const Slot *Loaded) {
  Slot *D = W.slot<Slot>(To);
  if (W.Mask == AllLanes) {
    for (SIM_LANES) {
      D[Lane] = Loaded[Lane];
    }
  } else {
    for (SIM_LANES) {
      D[Lane] = W.MaskLanes[Lane] ? Loaded[Lane] : D[Lane];
    }
  }
}

/// From Base + address; the addresses are known to be good.
template <unsigned Bytes, unsigned Elements>
SIM_INLINE void loadFast(Warp &W, const Inst &I, const Addresses &S,
                         const u8 *Base) {
  using T = typename UnsignedOf<Bytes>::Type;
  using Slot = std::conditional_t<Bytes == 8, u64, u32>;
  constexpr unsigned Stride = Bytes * Elements;
  const u32 *List = W.Lists + I.List;
  alignas(64) Slot Loaded[Elements][LaneCount];
  if (S.Low == S.High) {
    const u8 *P = Base + S.Low;
    for (unsigned E = 0; E != Elements; ++E) {
      Slot V = readFrom<T>(P + E * Bytes);
      for (SIM_LANES) {
        Loaded[E][Lane] = V;
      }
    }
  } else if (S.High - S.Low == u64{Stride} * (LaneCount - 1) &&
             S.areNeighbours(Stride)) {
    const u8 *P = Base + S.At[0];
    T Copy[LaneCount * Elements];
    __builtin_memcpy(Copy, P, sizeof(Copy));
    for (unsigned E = 0; E != Elements; ++E)
      for (SIM_LANES) {
        Loaded[E][Lane] = Copy[Lane * Elements + E];
      }
  } else {
    for (unsigned Lane = 0; Lane != LaneCount; ++Lane) {
      const u8 *P = Base + S.At[Lane];
      for (unsigned E = 0; E != Elements; ++E)
        Loaded[E][Lane] = readFrom<T>(P + E * Bytes);
    }
  }
  for (unsigned E = 0; E != Elements; ++E)
    blend<Slot>(W, List[E], Loaded[E]);
}

template <unsigned Bytes, unsigned Elements>
SIM_INLINE void storeFast(Warp &W, const Inst &I, const Addresses &S,
                          u8 *Base) {
  using T = typename UnsignedOf<Bytes>::Type;
  using Slot = std::conditional_t<Bytes == 8, u64, u32>;
  constexpr unsigned Stride = Bytes * Elements;
  const u32 *List = W.Lists + I.List;
  if (W.Mask == AllLanes && S.areNeighbours(Stride)) {
    T Copy[LaneCount * Elements];
    for (unsigned E = 0; E != Elements; ++E) {
      const Slot *A = W.slot<Slot>(List[E]);
      for (SIM_LANES) {
        Copy[Lane * Elements + E] = static_cast<T>(A[Lane]);
      }
    }
    __builtin_memcpy(Base + S.At[0], Copy, sizeof(Copy));
    return;
  }
  for (u32 Rest = W.Mask; Rest != 0; Rest &= Rest - 1) {
    unsigned Lane = static_cast<unsigned>(__builtin_ctz(Rest));
    u8 *P = Base + S.At[Lane];
    for (unsigned E = 0; E != Elements; ++E) {
      T V = static_cast<T>(W.slot<Slot>(List[E])[Lane]);
      __builtin_memcpy(P + E * Bytes, &V, Bytes);
    }
  }
}

/// Where the addresses count from, if they are all good and nobody watches.
SIM_INLINE u8 *fastBase(Warp &W, const Inst &I, const Addresses &S,
                        unsigned Stride, bool &Fast) {
  Fast = false;
  Launch &L = *W.Run;
  if (L.Watch || (S.Bits & (Stride - 1)) != 0 || (I.Flags & Ordered))
    return nullptr;
  if (I.Where == Space::Shared) {
    Cta &B = *W.Block;
    Fast = S.Low >= SharedBase &&
           S.High + Stride <= u64{SharedBase} + B.SharedBytes;
    return B.Shared - SharedBase;
  }
  if (I.Where == Space::Global || I.Where == Space::Generic ||
      I.Where == Space::Const)
    Fast = inOneAllocation(L, S.Low, S.High + Stride);
  return nullptr;
}

template <unsigned Bytes, unsigned Elements>
void loadSlow(Warp &W, const Inst &I, const Addresses &S) {
  using T = typename UnsignedOf<Bytes>::Type;
  using Slot = std::conditional_t<Bytes == 8, u64, u32>;
  u8 *Host[LaneCount];
  resolveLanes(W, I, I.Where, S.At, Bytes * Elements, AccessEvent::Read, Host);
  const u32 *List = W.Lists + I.List;
  for (unsigned E = 0; E != Elements; ++E) {
    Slot *D = W.slot<Slot>(List[E]);
    for (u32 Rest = W.Mask; Rest != 0; Rest &= Rest - 1) {
      unsigned Lane = static_cast<unsigned>(__builtin_ctz(Rest));
      const u8 *P = Host[Lane] + E * Bytes;
      if (I.Flags & Ordered)
        D[Lane] =
            __atomic_load_n(reinterpret_cast<const T *>(P), __ATOMIC_ACQUIRE);
      else
        D[Lane] = readFrom<T>(P);
    }
  }
}

template <unsigned Bytes, unsigned Elements>
void storeSlow(Warp &W, const Inst &I, const Addresses &S) {
  using T = typename UnsignedOf<Bytes>::Type;
  using Slot = std::conditional_t<Bytes == 8, u64, u32>;
  u8 *Host[LaneCount];
  resolveLanes(W, I, I.Where, S.At, Bytes * Elements, AccessEvent::Write, Host);
  const u32 *List = W.Lists + I.List;
  for (unsigned E = 0; E != Elements; ++E) {
    const Slot *A = W.slot<Slot>(List[E]);
    for (u32 Rest = W.Mask; Rest != 0; Rest &= Rest - 1) {
      unsigned Lane = static_cast<unsigned>(__builtin_ctz(Rest));
      u8 *P = Host[Lane] + E * Bytes;
      T V = static_cast<T>(A[Lane]);
      if (I.Flags & Ordered)
        __atomic_store_n(reinterpret_cast<T *>(P), V, __ATOMIC_RELEASE);
      else
        __builtin_memcpy(P, &V, Bytes);
    }
  }
}

struct LoadAccess {
  template <unsigned Bytes, unsigned Elements>
  SIM_INLINE void run(Warp &W, const Inst &I) {
    Addresses S;
    Addresses::compute(S, W, I);
    bool Fast;
    const u8 *Base = fastBase(W, I, S, Bytes * Elements, Fast);
    if (Fast)
      loadFast<Bytes, Elements>(W, I, S, Base);
    else
      loadSlow<Bytes, Elements>(W, I, S);
  }
};
struct StoreAccess {
  template <unsigned Bytes, unsigned Elements>
  SIM_INLINE void run(Warp &W, const Inst &I) {
    Addresses S;
    Addresses::compute(S, W, I);
    bool Fast;
    u8 *Base = fastBase(W, I, S, Bytes * Elements, Fast);
    if (Fast)
      storeFast<Bytes, Elements>(W, I, S, Base);
    else
      storeSlow<Bytes, Elements>(W, I, S);
  }
};

template <class A> void ofSize(Warp &W, const Inst &I) {
  switch (I.Bytes << 8 | I.Elements) {
  case 1 << 8 | 1:
    return A::template run<1, 1>(W, I);
  case 1 << 8 | 2:
    return A::template run<1, 2>(W, I);
  case 1 << 8 | 4:
    return A::template run<1, 4>(W, I);
  case 1 << 8 | 8:
    return A::template run<1, 8>(W, I);
  case 2 << 8 | 1:
    return A::template run<2, 1>(W, I);
  case 2 << 8 | 2:
    return A::template run<2, 2>(W, I);
  case 2 << 8 | 4:
    return A::template run<2, 4>(W, I);
  case 2 << 8 | 8:
    return A::template run<2, 8>(W, I);
  case 4 << 8 | 1:
    return A::template run<4, 1>(W, I);
  case 4 << 8 | 2:
    return A::template run<4, 2>(W, I);
  case 4 << 8 | 4:
    return A::template run<4, 4>(W, I);
  case 4 << 8 | 8:
    return A::template run<4, 8>(W, I);
  case 8 << 8 | 1:
    return A::template run<8, 1>(W, I);
  case 8 << 8 | 2:
    return A::template run<8, 2>(W, I);
  case 8 << 8 | 4:
    return A::template run<8, 4>(W, I);
  default:
    throwFault(W, I, IllegalInstruction, "a vector access of this size");
  }
}

void load(Warp &W, const Inst &I) { ofSize<LoadAccess>(W, I); }
void store(Warp &W, const Inst &I) { ofSize<StoreAccess>(W, I); }

void toGeneric(Warp &W, const Inst &I) {
  const Windows &Win = windows();
  u64 Base = I.Where == Space::Shared  ? Win.Shared
             : I.Where == Space::Local ? Win.Local
                                       : Win.Param;
  if (static_cast<Op>(I.Code) == Op::FromGeneric)
    Base = u64{0} - Base;
  const u64 *A = W.slot<u64>(I.A);
  u64 *D = W.slot<u64>(I.D);
  if (W.Mask == AllLanes) {
    for (SIM_LANES) {
      D[Lane] = A[Lane] + Base;
    }
  } else {
    for (SIM_LANES) {
      D[Lane] = W.MaskLanes[Lane] ? A[Lane] + Base : D[Lane];
    }
  }
}
} // namespace

void fillMemory(Executor &E) {
  E.Handlers[static_cast<size_t>(Op::Load)] = load;
  E.Handlers[static_cast<size_t>(Op::Store)] = store;
  E.Handlers[static_cast<size_t>(Op::ToGeneric)] = toGeneric;
  E.Handlers[static_cast<size_t>(Op::FromGeneric)] = toGeneric;
}

} // namespace llmc::cudasim::SIM_ISA
