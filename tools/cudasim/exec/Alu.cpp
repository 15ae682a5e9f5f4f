// Arithmetic on 32 lanes at once. Each line of AluOps.def becomes two loops,
// for a full warp and for some lanes, which the compiler turns into vectors;
// the file is compiled for several instruction sets of the host. No function
// of the standard library with code of its own may be used here: the linker
// could take its copy for all of the program.
#include "tools/cudasim/exec/HalfVectors.h"
#include "tools/cudasim/exec/Handlers.h"
#include "tools/cudasim/exec/Numeric.h"

#include <cfenv>

namespace llmc::cudasim::SIM_ISA {
namespace {

/// How a type lies in the lanes of a slot.
template <class T> struct LaneOf {
  using Stored = std::conditional_t<(sizeof(T) > 4), u64, u32>;
  SIM_INLINE T get(Stored S) { return static_cast<T>(S); }
  SIM_INLINE Stored put(T V) {
    return static_cast<Stored>(
        static_cast<std::make_unsigned_t<T>>(V)); // narrow: zero-extended
  }
};
template <> struct LaneOf<float> {
  using Stored = float;
  SIM_INLINE float get(float S) { return S; }
  SIM_INLINE float put(float V) { return V; }
};
template <> struct LaneOf<double> {
  using Stored = double;
  SIM_INLINE double get(double S) { return S; }
  SIM_INLINE double put(double V) { return V; }
};
template <> struct LaneOf<bool> {
  using Stored = u32;
  SIM_INLINE bool get(u32 S) { return S != 0; }
  SIM_INLINE u32 put(bool V) { return V ? ~u32{0} : 0; }
};

// Approximations.

struct UlpBound {
  double Units;
};
struct AbsoluteBound {
  double Most;
};

/// A number in [-1, 1] from the value, so that results repeat.
SIM_INLINE double noise(double V) {
  u64 H = std::bit_cast<u64>(V) * 0x9e3779b97f4a7c15u;
  H ^= H >> 29;
  H *= 0xbf58476d1ce4e5b9u;
  return static_cast<double>(static_cast<s64>(H)) * 0x1p-63;
}
bool Fuzz = false;

SIM_INLINE f32 approximate(double V, UlpBound B) {
  f32 R = static_cast<f32>(V);
  if (Fuzz && R - R == 0 && R != 0) {
    double Unit =
        std::fabs(V) * 0x1p-23 > 0x1p-149 ? std::fabs(V) * 0x1p-24 : 0x1p-149;
    R = static_cast<f32>(V + noise(V) * (B.Units - 0.5) * Unit);
  }
  return R != R ? canonicalNan() : R;
}
SIM_INLINE f32 approximate(double V, AbsoluteBound B) {
  f32 R = static_cast<f32>(V);
  if (Fuzz && R - R == 0)
    R = static_cast<f32>(V + noise(V) * B.Most);
  return R != R ? canonicalNan() : R;
}
/// div.approx gives 0 for divisors from 2^126 to 2^128.
SIM_INLINE double divideApprox(f32 A, f32 B) {
  double Q = static_cast<double>(A) / static_cast<double>(B);
  double Big = std::fabs(static_cast<double>(B));
  return Big > 0x1p126 && Big < 0x1p128 && A - A == 0 ? std::copysign(0.0, Q)
                                                      : Q;
}

// Loops. Operands of one instruction overlap wholly or not at all.

#define SIM_LOOP                                                               \
  _Pragma("GCC ivdep") for (unsigned Lane = 0; Lane != LaneCount; ++Lane)

#define SIM_STORE(R, Expression)                                               \
  if (W.Mask == AllLanes) {                                                    \
    SIM_LOOP { D_[Lane] = LaneOf<R>::put(static_cast<R>(Expression)); }        \
  } else {                                                                     \
    const u32 *M_ = W.MaskLanes;                                               \
    SIM_LOOP {                                                                 \
      LaneOf<R>::Stored New = LaneOf<R>::put(static_cast<R>(Expression));      \
      D_[Lane] = M_[Lane] ? New : D_[Lane];                                    \
    }                                                                          \
  }

#define SIM_SLOT(T, Name, V)                                                   \
  LaneOf<T>::Stored *Name = W.slot<LaneOf<T>::Stored>(V)

struct Ops {
#define SIM_OP1(Name, R, TA, ...)                                              \
  static void Name(Warp &W, const Inst &I) {                                   \
    SIM_SLOT(R, D_, I.D);                                                      \
    SIM_SLOT(TA, A_, I.A);                                                     \
    auto Value = [](TA A)                                                      \
                     __attribute__((always_inline)) { return __VA_ARGS__; };   \
    SIM_STORE(R, Value(LaneOf<TA>::get(A_[Lane])))                             \
  }
#define SIM_OP2(Name, R, TA, TB, ...)                                          \
  static void Name(Warp &W, const Inst &I) {                                   \
    SIM_SLOT(R, D_, I.D);                                                      \
    SIM_SLOT(TA, A_, I.A);                                                     \
    SIM_SLOT(TB, B_, I.B);                                                     \
    auto Value = [](TA A, TB B)                                                \
                     __attribute__((always_inline)) { return __VA_ARGS__; };   \
    SIM_STORE(R, Value(LaneOf<TA>::get(A_[Lane]), LaneOf<TB>::get(B_[Lane])))  \
  }
#define SIM_OP3(Name, R, TA, TB, TC, ...)                                      \
  static void Name(Warp &W, const Inst &I) {                                   \
    SIM_SLOT(R, D_, I.D);                                                      \
    SIM_SLOT(TA, A_, I.A);                                                     \
    SIM_SLOT(TB, B_, I.B);                                                     \
    SIM_SLOT(TC, C_, I.C);                                                     \
    auto Value = [](TA A, TB B, TC C)                                          \
                     __attribute__((always_inline)) { return __VA_ARGS__; };   \
    SIM_STORE(R, Value(LaneOf<TA>::get(A_[Lane]), LaneOf<TB>::get(B_[Lane]),   \
                       LaneOf<TC>::get(C_[Lane])))                             \
  }
#include "tools/cudasim/program/AluOps.def"
#undef SIM_OP1
#undef SIM_OP2
#undef SIM_OP3
};

void lop3(Warp &W, const Inst &I) {
  SIM_SLOT(u32, D_, I.D);
  SIM_SLOT(u32, A_, I.A);
  SIM_SLOT(u32, B_, I.B);
  SIM_SLOT(u32, C_, I.C);
  u32 Term[8]; // all ones where the table has the minterm
  for (unsigned T = 0; T != 8; ++T)
    Term[T] = I.Imm >> T & 1 ? ~u32{0} : 0;
  auto Value = [&](u32 A, u32 B, u32 C) __attribute__((always_inline)) {
    return (Term[0] & ~A & ~B & ~C) | (Term[1] & ~A & ~B & C) |
           (Term[2] & ~A & B & ~C) | (Term[3] & ~A & B & C) |
           (Term[4] & A & ~B & ~C) | (Term[5] & A & ~B & C) |
           (Term[6] & A & B & ~C) | (Term[7] & A & B & C);
  };
  SIM_STORE(u32, Value(A_[Lane], B_[Lane], C_[Lane]))
}

/// prmt with one selector for all lanes that repeats no sign: whole shifts.
void permuteBytes(Warp &W, const Inst &I) {
  const u32 *Select = W.slot<u32>(I.C);
  u32 Differ = 0;
  for (unsigned Lane = 0; Lane != LaneCount; ++Lane)
    Differ |= Select[Lane] ^ Select[0];
  if (Differ != 0 || (Select[0] & 0x8888u) != 0)
    return Ops::Prmt(W, I);
  using Lanes = u32 __attribute__((vector_size(64)));
  constexpr unsigned PerVector = 16;
  for (unsigned Lane = 0; Lane != LaneCount; Lane += PerVector) {
    Lanes From[2], Out = {};
    __builtin_memcpy(&From[0], W.slot<u32>(I.A) + Lane, sizeof(Lanes));
    __builtin_memcpy(&From[1], W.slot<u32>(I.B) + Lane, sizeof(Lanes));
    for (unsigned N = 0; N != 4; ++N) {
      unsigned Which = Select[0] >> (4 * N) & 7;
      Out |= (From[Which >> 2] >> (8 * (Which & 3)) & 255u) << (8 * N);
    }
    u32 *D = W.slot<u32>(I.D) + Lane;
    if (W.Mask != AllLanes) {
      Lanes Old, Mask;
      __builtin_memcpy(&Old, D, sizeof(Lanes));
      __builtin_memcpy(&Mask, W.MaskLanes + Lane, sizeof(Lanes));
      Out = (Out & Mask) | (Old & ~Mask);
    }
    __builtin_memcpy(D, &Out, sizeof(Lanes));
  }
}

template <unsigned By> void exchange(const u32 *In, u32 *D) {
  u32 Out[LaneCount];
  for (unsigned Lane = 0; Lane != LaneCount; ++Lane)
    Out[Lane] = In[Lane ^ By];
  __builtin_memcpy(D, Out, sizeof(Out));
}

/// The steps of a butterfly over the whole warp are permutations that the
/// compiler knows; everything else is for shuffleAny.
void shuffle(Warp &W, const Inst &I) {
  const u32 *B = W.slot<u32>(I.B), *C = W.slot<u32>(I.C);
  u32 By = B[0], Other = 0;
  SIM_LOOP { Other |= (B[Lane] ^ By) | (C[Lane] ^ 31); }
  if (static_cast<ShuffleKind>(I.Sub) != ShuffleKind::Butterfly ||
      W.Mask != AllLanes || Other != 0)
    return shuffleAny(W, I);
  const u32 *A = W.slot<u32>(I.A);
  u32 *D = W.slot<u32>(I.D);
  switch (By) {
  case 1:
    exchange<1>(A, D);
    break;
  case 2:
    exchange<2>(A, D);
    break;
  case 4:
    exchange<4>(A, D);
    break;
  case 8:
    exchange<8>(A, D);
    break;
  case 16:
    exchange<16>(A, D);
    break;
  default:
    return shuffleAny(W, I);
  }
  if (W.Lists[I.List] != NoValue) {
    u32 *Valid = W.slot<u32>(W.Lists[I.List]);
    SIM_LOOP { Valid[Lane] = AllLanes; }
  }
}

void setRounding(Warp &, const Inst &I) {
  static const int Modes[] = {FE_TONEAREST, FE_TOWARDZERO, FE_DOWNWARD,
                              FE_UPWARD};
  std::fesetround(Modes[I.Imm & 3]);
}

void nop(Warp &, const Inst &) {}

u32 maskOf(const u32 *Lanes) {
#if defined(__AVX512F__)
  typedef int Vector __attribute__((vector_size(64), aligned(4), may_alias));
  const Vector *V = reinterpret_cast<const Vector *>(Lanes);
  auto Half = [](Vector X) {
    return static_cast<u32>(__builtin_ia32_ptestmd512(
        (Vector)X, (Vector)X, static_cast<unsigned short>(-1)));
  };
  return Half(V[0]) | Half(V[1]) << 16;
#elif defined(__AVX2__)
  typedef float Vector __attribute__((vector_size(32), aligned(4), may_alias));
  const Vector *V = reinterpret_cast<const Vector *>(Lanes);
  u32 R = 0;
  for (unsigned I = 0; I != 4; ++I)
    R |= static_cast<u32>(__builtin_ia32_movmskps256(V[I])) << (8 * I);
  return R;
#else
  u32 R = 0;
  for (unsigned I = 0; I != LaneCount; ++I)
    R |= static_cast<u32>(Lanes[I] != 0) << I;
  return R;
#endif
}

void expand(u32 Mask, u32 *Lanes) {
  for (unsigned I = 0; I != LaneCount; ++I)
    Lanes[I] = Mask >> I & 1 ? ~u32{0} : 0;
}

} // namespace

void fillAlu(Executor &E) {
  Fuzz = settings().FuzzApprox;
  E.MaskOf = maskOf;
  E.Expand = expand;
#define SIM_OP1(Name, ...)                                                     \
  E.Handlers[static_cast<size_t>(Op::Name)] = Ops::Name;
#define SIM_OP2(Name, ...)                                                     \
  E.Handlers[static_cast<size_t>(Op::Name)] = Ops::Name;
#define SIM_OP3(Name, ...)                                                     \
  E.Handlers[static_cast<size_t>(Op::Name)] = Ops::Name;
#include "tools/cudasim/program/AluOps.def"
#undef SIM_OP1
#undef SIM_OP2
#undef SIM_OP3
  E.Handlers[static_cast<size_t>(Op::Lop3)] = lop3;
  E.Handlers[static_cast<size_t>(Op::Prmt)] = permuteBytes;
#if LLMC_SIM_HALF_VECTORS
  E.Handlers[static_cast<size_t>(Op::F32FromF16)] = halvesToFloats;
  E.Handlers[static_cast<size_t>(Op::F16FromF32)] = floatsToHalves;
#endif
  E.Handlers[static_cast<size_t>(Op::Shuffle)] = shuffle;
  E.Handlers[static_cast<size_t>(Op::SetRounding)] = setRounding;
  E.Handlers[static_cast<size_t>(Op::Nop)] = nop;
}

} // namespace llmc::cudasim::SIM_ISA

namespace llmc::cudasim {
#define SIM_JOIN2(A, B) A##B
#define SIM_JOIN(A, B) SIM_JOIN2(A, B)
#define SIM_TEXT2(A) #A
#define SIM_TEXT(A) SIM_TEXT2(A)
const Executor &SIM_JOIN(SIM_ISA, Executor)() {
  static Executor E;
  static const bool Filled = [] {
    E.Name = SIM_TEXT(SIM_ISA);
    fillCollective(E);
    fillSpecial(E);
    SIM_ISA::fillAlu(E);
    SIM_ISA::fillMemory(E);
    SIM_ISA::fillMatrix(E);
    return true;
  }();
  (void)Filled;
  return E;
}
} // namespace llmc::cudasim
