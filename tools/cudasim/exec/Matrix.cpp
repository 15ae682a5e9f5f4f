// mma.sync: fragments to matrices, product, sums back. PTX ISA "Matrix
// Fragments for mma": with g = lane / 4, t = lane % 4 and P elements of a
// register, A's register 2h + r holds row g + 8r, columns h * 4P + P*t …,
// B's register h the same columns (as rows) of column g, and C's registers are
// (g, 2t), (g, 2t+1), (g+8, 2t), (g+8, 2t+1). A with one register per row half
// (the smallest shapes) has h = 0 only.
// Sums: fp32 adds one fma per k (fast), ideal is exact to double, arch models
// the chip: products and sum aligned to the largest exponent, cut to 24
// (sm_80, sm_89) or 25 bits (sm_90), added exactly, rounded towards zero.
// Compiled once per instruction set of the host.
#include "tools/cudasim/exec/Handlers.h"
#include "tools/cudasim/exec/MatrixVectors.h"
#include "tools/cudasim/exec/Numeric.h"

namespace llmc::cudasim::SIM_ISA {
namespace {

constexpr unsigned Rows = 16, Columns = 8, MostDepth = 64;

unsigned registerBits(Type T) { return T.Bits == 19 ? 32 : T.Bits; }

/// Elements of a type: how many bits they take of a register, and their value.
template <unsigned Bits, bool Signed> struct Integers {
  static constexpr unsigned InRegister = Bits;
  SIM_INLINE s32 value(u32 Raw) {
    if constexpr (Signed)
      return static_cast<s32>(Raw << (32 - Bits)) >> (32 - Bits);
    return static_cast<s32>(Raw);
  }
};
struct Tf32s {
  static constexpr unsigned InRegister = 32;
  SIM_INLINE f32 value(u32 Raw) {
    return std::bit_cast<f32>(Raw & 0xffffe000u);
  }
};
struct Halves {
  static constexpr unsigned InRegister = 16;
  SIM_INLINE f32 value(u32 Raw) { return halfToFloat(static_cast<u16>(Raw)); }
};
struct BFloats {
  static constexpr unsigned InRegister = 16;
  SIM_INLINE f32 value(u32 Raw) { return bfloatToFloat(static_cast<u16>(Raw)); }
};
struct E5m2s {
  static constexpr unsigned InRegister = 8;
  SIM_INLINE f32 value(u32 Raw) { return e5m2ToFloat(Raw); }
};
struct E4m3s {
  static constexpr unsigned InRegister = 8;
  SIM_INLINE f32 value(u32 Raw) { return e4m3ToFloat(Raw); }
};

/// Calls F with the class of T's elements.
template <class Number, class Body> SIM_INLINE void ofType(Type T, Body F) {
  if constexpr (std::is_same_v<Number, s32>) {
    if (T.Bits == 8)
      return T.isSigned() ? F(Integers<8, true>()) : F(Integers<8, false>());
    return T.isSigned() ? F(Integers<4, true>()) : F(Integers<4, false>());
  } else {
    bool BFloat = T.Kind == Meaning::BFloat;
    if (T.Bits == 19)
      return F(Tf32s());
    if (T.Bits == 8)
      return BFloat ? F(E5m2s()) : F(E4m3s());
    return BFloat ? F(BFloats()) : F(Halves());
  }
}

template <class Number> struct Tiles {
  Number A[Rows][MostDepth];
  Number B[MostDepth][Columns]; ///< transposed, for vectors over columns
  Number C[Rows][Columns];
};

/// Registers Sources[0 … Count) of elements E; Put(register, lane, element,
/// value).
template <class E, class Body>
SIM_INLINE void eachElement(Warp &W, const u32 *Sources, unsigned Count,
                            Body Put) {
  constexpr unsigned Bits = E::InRegister;
  for (unsigned N = 0; N != Count; ++N) {
    const u32 *R = W.slot<u32>(Sources[N]);
    for (unsigned Lane = 0; Lane != LaneCount; ++Lane)
      for (unsigned I = 0; I != 32 / Bits; ++I) {
        u32 Raw = R[Lane] >> (I * Bits % 32);
        if constexpr (Bits != 32)
          Raw &= (u32{1} << Bits % 32) - 1;
        Put(N, Lane, I, E::value(Raw));
      }
  }
}

template <class Number>
void gather(Warp &W, const Inst &I, Tiles<Number> &T, unsigned Depth) {
  const u32 *Sources = W.Lists + I.List + I.Defs;
  unsigned PerA = Depth / (2 * (32 / registerBits(I.Of))); // registers
  ofType<Number>(I.Of, [&](auto Kind) {
    using E = decltype(Kind);
    constexpr unsigned Per = 32 / E::InRegister;
    eachElement<E>(
        W, Sources, PerA,
        [&](unsigned N, unsigned Lane, unsigned At, Number V) {
          T.A[Lane / 4 + 8 * (N % 2)][N / 2 * 4 * Per + Per * (Lane % 4) + At] =
              V;
        });
  });
  ofType<Number>(I.With, [&](auto Kind) {
    using E = decltype(Kind);
    constexpr unsigned Per = 32 / E::InRegister;
    eachElement<E>(W, Sources + PerA, PerA / 2,
                   [&](unsigned N, unsigned Lane, unsigned At, Number V) {
                     T.B[N * 4 * Per + Per * (Lane % 4) + At][Lane / 4] = V;
                   });
  });
}

template <class Number>
void sums(Warp &W, const Inst &I, Tiles<Number> &T, bool Store) {
  const u32 *List = W.Lists + I.List;
  bool Halves = I.Elements != 0;
  unsigned First = Store ? 0 : I.Uses; // C is the last of the sources
  for (unsigned N = 0; N != I.Defs; ++N) {
    u32 *R = W.slot<u32>(List[First + N]);
    for (unsigned Lane = 0; Lane != LaneCount; ++Lane) {
      unsigned Row = Lane / 4 + 8 * (Halves ? N : N / 2);
      if constexpr (std::is_same_v<Number, f32>) {
        if (Halves) {
          f32 *Two = &T.C[Row][2 * (Lane % 4)];
          if (Store) {
            R[Lane] = static_cast<u32>(floatToHalf(Two[1])) << 16 |
                      floatToHalf(Two[0]);
          } else {
            Two[0] = halfToFloat(static_cast<u16>(R[Lane]));
            Two[1] = halfToFloat(static_cast<u16>(R[Lane] >> 16));
          }
          continue;
        }
      }
      Number &V = T.C[Row][2 * (Lane % 4) + N % 2];
      if (Store)
        R[Lane] = std::bit_cast<u32>(V);
      else
        V = std::bit_cast<Number>(R[Lane]);
    }
  }
}

void multiply(Tiles<f32> &T, unsigned Depth) {
  for (unsigned R = 0; R != Rows; ++R)
    for (unsigned K = 0; K != Depth; ++K)
      for (unsigned C = 0; C != Columns; ++C)
        T.C[R][C] = __builtin_fmaf(T.A[R][K], T.B[K][C], T.C[R][C]);
  for (unsigned R = 0; R != Rows; ++R)
    for (unsigned C = 0; C != Columns; ++C)
      T.C[R][C] = T.C[R][C] != T.C[R][C] ? canonicalNan() : T.C[R][C];
}

void multiplyIdeal(Tiles<f32> &T, unsigned Depth) {
  for (unsigned R = 0; R != Rows; ++R)
    for (unsigned C = 0; C != Columns; ++C) {
      f64 Sum = T.C[R][C];
      for (unsigned K = 0; K != Depth; ++K)
        Sum += static_cast<f64>(T.A[R][K]) * static_cast<f64>(T.B[K][C]);
      T.C[R][C] = Sum != Sum ? canonicalNan() : static_cast<f32>(Sum);
    }
}

/// Exponent of a finite number as stored, subnormals those of the smallest
/// normal number.
int exponentOf(f64 V) {
  int E = 0;
  if (V != 0)
    std::frexp(V, &E);
  return E - 1;
}

/// One step of the chip's adder: Length products and C, cut to Fraction bits
/// below the largest exponent.
f32 alignedSum(const f64 *Products, unsigned Length, f32 C, int Fraction) {
  f64 All = C;
  for (unsigned K = 0; K != Length; ++K)
    All += Products[K];
  if (!(All - All == 0) || !(C - C == 0)) // an infinity or a NaN is among them
    return All != All ? canonicalNan() : static_cast<f32>(All);
  int Most = C != 0 ? exponentOf(C) : -1000;
  for (unsigned K = 0; K != Length; ++K)
    if (Products[K] != 0 && exponentOf(Products[K]) > Most)
      Most = exponentOf(Products[K]);
  if (Most == -1000)
    return 0.0f;
  f64 Sum = std::trunc(std::ldexp(static_cast<f64>(C), Fraction - Most));
  for (unsigned K = 0; K != Length; ++K)
    Sum += std::trunc(std::ldexp(Products[K], Fraction - Most));
  f64 Value = std::ldexp(Sum, Most - Fraction);
  f32 Out = static_cast<f32>(Value);
  if (std::fabs(static_cast<f64>(Out)) > std::fabs(Value))
    Out = std::bit_cast<f32>(std::bit_cast<u32>(Out) - 1); // towards zero
  return Out;
}

void multiplyArch(Tiles<f32> &T, unsigned Depth, unsigned Target, Type Of) {
  bool Hopper = Target >= 90;
  int Fraction = Hopper ? 25 : 24;
  unsigned Length = Hopper ? Depth : Depth / 2;
  if (Target == 89 && Of.Bits == 8) {
    Fraction = 13;
    Length = 16;
  }
  if (Length == 0)
    Length = Depth;
  for (unsigned R = 0; R != Rows; ++R)
    for (unsigned C = 0; C != Columns; ++C) {
      f32 Sum = T.C[R][C];
      for (unsigned K = 0; K < Depth; K += Length) {
        f64 Products[MostDepth];
        for (unsigned N = 0; N != Length; ++N)
          Products[N] =
              static_cast<f64>(T.A[R][K + N]) * static_cast<f64>(T.B[K + N][C]);
        Sum = alignedSum(Products, Length, Sum, Fraction);
      }
      T.C[R][C] = Sum;
    }
}

void multiplyIntegers(Tiles<s32> &T, unsigned Depth, bool Saturate) {
  for (unsigned R = 0; R != Rows; ++R) {
    if (Saturate) {
      for (unsigned C = 0; C != Columns; ++C) {
        s64 Sum = T.C[R][C];
        for (unsigned K = 0; K != Depth; ++K)
          Sum += s64{T.A[R][K]} * T.B[K][C];
        T.C[R][C] = saturate32(Sum);
      }
      continue;
    }
    for (unsigned K = 0; K != Depth; ++K)
      for (unsigned C = 0; C != Columns; ++C)
        T.C[R][C] = static_cast<s32>(static_cast<u32>(T.C[R][C]) +
                                     static_cast<u32>(T.A[R][K]) *
                                         static_cast<u32>(T.B[K][C]));
  }
}

void mma(Warp &W, const Inst &I) {
  unsigned Depth = static_cast<unsigned>(I.Imm);
  if (!I.Of.isFloat()) {
    Tiles<s32> T;
    gather(W, I, T, Depth);
    sums(W, I, T, false);
    multiplyIntegers(T, Depth, I.Sub != 0);
    return sums(W, I, T, true);
  }
#if LLMC_SIM_MATRIX_VECTORS
  if (W.Run->Tensor == Settings::Fp32 && multiplyVectors(W, I))
    return;
#endif
  Tiles<f32> T;
  gather(W, I, T, Depth);
  sums(W, I, T, false);
  switch (W.Run->Tensor) {
  case Settings::Fp32:
    multiply(T, Depth);
    break;
  case Settings::Ideal:
    multiplyIdeal(T, Depth);
    break;
  case Settings::Arch:
    multiplyArch(T, Depth, W.Run->Prog->Target, I.Of);
    break;
  }
  sums(W, I, T, true);
}
} // namespace

void fillMatrix(Executor &E) { E.Handlers[static_cast<size_t>(Op::Mma)] = mma; }

} // namespace llmc::cudasim::SIM_ISA
