// Scalar meaning of the arithmetic instructions: PTX ISA sections of the
// instruction and "Floating Point". Everything is local to the including file,
// which is compiled once per instruction set of the host.
#ifndef LLMC_TOOLS_CUDASIM_EXEC_NUMERIC_H
#define LLMC_TOOLS_CUDASIM_EXEC_NUMERIC_H

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#define SIM_INLINE [[gnu::always_inline]] static inline

namespace {
using u8 = uint8_t;
using u16 = uint16_t;
using u32 = uint32_t;
using u64 = uint64_t;
using s8 = int8_t;
using s16 = int16_t;
using s32 = int32_t;
using s64 = int64_t;
using f32 = float;
using f64 = double;
using pred = bool;

template <class T> SIM_INLINE T mulHigh(T A, T B) {
  if constexpr (sizeof(T) == 8) {
    using Wide =
        std::conditional_t<std::is_signed_v<T>, __int128, unsigned __int128>;
    return static_cast<T>(static_cast<Wide>(A) * B >> 64);
  } else {
    using Wide = std::conditional_t<std::is_signed_v<T>, s64, u64>;
    return static_cast<T>(static_cast<Wide>(A) * B >> (8 * sizeof(T)));
  }
}
/// The quotient by 0 is unspecified; GPUs give all ones.
template <class T> SIM_INLINE T divide(T A, T B) {
  if (B == 0)
    return static_cast<T>(~T(0));
  if (std::is_signed_v<T> && B == static_cast<T>(-1))
    return static_cast<T>(std::make_unsigned_t<T>(0) -
                          static_cast<std::make_unsigned_t<T>>(A));
  return static_cast<T>(A / B);
}
template <class T> SIM_INLINE T remainder(T A, T B) {
  if (B == 0)
    return A;
  if (std::is_signed_v<T> && B == static_cast<T>(-1))
    return 0;
  return static_cast<T>(A % B);
}
/// Amounts of the width and above give 0 or the sign.
template <class T> SIM_INLINE T shiftLeft(T A, u32 B) {
  constexpr u32 W = 8 * sizeof(T);
  T R = static_cast<T>(static_cast<u64>(A) << (B & 63));
  return B >= W ? T(0) : R;
}
SIM_INLINE u32 shiftLeft(u32 A, u32 B) {
  u32 R = A << (B & 31);
  return B >= 32 ? 0u : R;
}
template <class T> SIM_INLINE T shiftRight(T A, u32 B) {
  constexpr u32 W = 8 * sizeof(T);
  if constexpr (std::is_signed_v<T>) {
    u32 N = B >= W ? W - 1 : B;
    return static_cast<T>(A >> N);
  } else {
    T R = static_cast<T>(A >> (B & (W - 1)));
    return B >= W ? T(0) : R;
  }
}
SIM_INLINE s32 saturate32(s64 V) {
  return V > 2147483647      ? 2147483647
         : V < -2147483648LL ? s32(-2147483648LL)
                             : static_cast<s32>(V);
}
template <class T> SIM_INLINE s64 clampTo(s64 V) {
  constexpr s64 Low = std::numeric_limits<T>::min();
  constexpr s64 High = std::numeric_limits<T>::max();
  return V < Low ? Low : V > High ? High : V;
}
template <class T> SIM_INLINE T reverse(T A) {
  u64 V = A;
  V = (V >> 1 & 0x5555555555555555u) | (V & 0x5555555555555555u) << 1;
  V = (V >> 2 & 0x3333333333333333u) | (V & 0x3333333333333333u) << 2;
  V = (V >> 4 & 0x0f0f0f0f0f0f0f0fu) | (V & 0x0f0f0f0f0f0f0f0fu) << 4;
  return static_cast<T>(__builtin_bswap64(V) >> (64 - 8 * sizeof(T)));
}
/// Position of the highest bit that is not the sign; all ones without one.
template <class T> SIM_INLINE u32 findBit(T A) {
  using U = std::make_unsigned_t<T>;
  U V = static_cast<U>(A);
  if (std::is_signed_v<T> && A < 0)
    V = static_cast<U>(~V);
  return V == 0 ? ~0u : 63u - static_cast<u32>(__builtin_clzll(V));
}
/// bfe: position and length have 8 bits; above the value is its sign.
template <class T> SIM_INLINE T extract(T A, u32 B, u32 C) {
  constexpr u32 W = 8 * sizeof(T);
  using U = std::make_unsigned_t<T>;
  u32 Position = B & 255, Length = C & 255;
  if (Length == 0)
    return 0;
  u32 Last = Position + Length - 1 < W ? Position + Length - 1 : W - 1;
  bool Sign = std::is_signed_v<T> && (static_cast<U>(A) >> Last & 1);
  U Field =
      Position >= W ? U(0) : static_cast<U>(static_cast<U>(A) >> Position);
  if (Length < W) {
    U Mask = static_cast<U>((U(1) << Length) - 1);
    U Valid = Position >= W ? U(0)
              : Position + Length > W
                  ? static_cast<U>(static_cast<U>(~U(0)) >> Position)
                  : Mask;
    Field = static_cast<U>((Field & Valid) |
                           (Sign ? static_cast<U>(~Valid) : U(0)));
  } else if (Sign && Position > 0) {
    Field =
        Position >= W
            ? static_cast<U>(~U(0))
            : static_cast<U>(
                  Field | ~static_cast<U>(static_cast<U>(~U(0)) >> Position));
  }
  return static_cast<T>(Field);
}
SIM_INLINE u32 permute(u32 A, u32 B, u32 C) {
  u64 Bytes = static_cast<u64>(B) << 32 | A;
  u32 R = 0;
  for (u32 I = 0; I != 4; ++I) {
    u32 Select = C >> (4 * I);
    u32 Byte = static_cast<u32>(Bytes >> (8 * (Select & 7))) & 255;
    if (Select & 8)
      Byte = Byte & 128 ? 255 : 0;
    R |= Byte << (8 * I);
  }
  return R;
}
template <class TA, class TB> SIM_INLINE u32 dot4(u32 A, u32 B, u32 C) {
  for (u32 I = 0; I != 4; ++I)
    C += static_cast<u32>(s32(static_cast<TA>(A >> (8 * I))) *
                          s32(static_cast<TB>(B >> (8 * I))));
  return C;
}
template <class TA, class TB> SIM_INLINE u32 dot2(u32 A, u32 B, u32 C) {
  for (u32 I = 0; I != 2; ++I)
    C += static_cast<u32>(s32(static_cast<TA>(A >> (16 * I))) *
                          s32(static_cast<TB>(B >> (8 * I))));
  return C;
}

// Floating point.

SIM_INLINE f32 canonicalNan() { return std::bit_cast<f32>(0x7fffffffu); }
SIM_INLINE f32 flush(f32 A) {
  u32 Bits = std::bit_cast<u32>(A);
  return (Bits & 0x7f800000u) == 0 ? std::bit_cast<f32>(Bits & 0x80000000u) : A;
}
SIM_INLINE f32 fusedMultiplyAdd(f32 A, f32 B, f32 C) {
  return __builtin_fmaf(A, B, C);
}
SIM_INLINE f64 fusedMultiplyAdd(f64 A, f64 B, f64 C) {
  return __builtin_fma(A, B, C);
}
SIM_INLINE f32 squareRoot(f32 A) { return __builtin_sqrtf(A); }
SIM_INLINE f64 squareRoot(f64 A) { return __builtin_sqrt(A); }
SIM_INLINE f32 roundEven(f32 A) { return __builtin_rintf(A); }
SIM_INLINE f64 roundEven(f64 A) { return __builtin_rint(A); }
SIM_INLINE f32 roundZero(f32 A) { return __builtin_truncf(A); }
SIM_INLINE f64 roundZero(f64 A) { return __builtin_trunc(A); }
SIM_INLINE f32 roundDown(f32 A) { return __builtin_floorf(A); }
SIM_INLINE f64 roundDown(f64 A) { return __builtin_floor(A); }
SIM_INLINE f32 roundUp(f32 A) { return __builtin_ceilf(A); }
SIM_INLINE f64 roundUp(f64 A) { return __builtin_ceil(A); }

template <class T> SIM_INLINE bool negative(T A) {
  if constexpr (sizeof(T) == 4)
    return std::bit_cast<s32>(A) < 0;
  else
    return std::bit_cast<s64>(A) < 0;
}
template <class T> SIM_INLINE T nanOf() {
  if constexpr (sizeof(T) == 4)
    return canonicalNan();
  else
    return std::bit_cast<f64>(u64{0x7fffffffffffffffu});
}
/// A NaN loses against a number; -0 is below +0.
template <class T> SIM_INLINE T minimum(T A, T B) {
  T R = A < B ? A : B;
  R = A == B ? (negative(A) ? A : B) : R;
  R = A != A ? B : R;
  R = B != B ? A : R;
  return R != R ? nanOf<T>() : R;
}
template <class T> SIM_INLINE T maximum(T A, T B) {
  T R = A > B ? A : B;
  R = A == B ? (negative(A) ? B : A) : R;
  R = A != A ? B : R;
  R = B != B ? A : R;
  return R != R ? nanOf<T>() : R;
}
template <class T> SIM_INLINE T minimumNan(T A, T B) {
  return A != A || B != B ? nanOf<T>() : minimum(A, B);
}
template <class T> SIM_INLINE T maximumNan(T A, T B) {
  return A != A || B != B ? nanOf<T>() : maximum(A, B);
}
/// Truncates; out of range gives the nearest number, NaN 0 (for 64-bit types
/// 0x8000000000000000).
template <class To, class From> SIM_INLINE To toInteger(From A) {
  constexpr From High =
      static_cast<From>(static_cast<f64>(u64{1} << (8 * sizeof(To) - 1)) *
                        (std::is_signed_v<To> ? 1.0 : 2.0));
  constexpr From Low = std::is_signed_v<To> ? -High : From(0);
  bool Inside = A > (std::is_signed_v<To> ? Low : From(-1)) && A < High;
  From Safe = Inside ? A : From(0);
  To R = static_cast<To>(Safe);
  if (A >= High)
    R = std::numeric_limits<To>::max();
  if (A <= Low)
    R = std::numeric_limits<To>::min();
  if (A != A)
    R = sizeof(To) == 8 ? static_cast<To>(u64{1} << 63) : To(0);
  return R;
}

// 16-bit and 8-bit formats.

SIM_INLINE f32 halfToFloat(u16 H) {
  // Exponent moved by multiplication with 2^112, which makes subnormals right.
  u32 Bits = static_cast<u32>(H & 0x7fff) << 13;
  f32 R = std::bit_cast<f32>(Bits) * std::bit_cast<f32>(0x77800000u);
  u32 Special = Bits | 0x7f800000u;
  u32 Out = (H & 0x7c00) == 0x7c00 ? Special : std::bit_cast<u32>(R);
  return std::bit_cast<f32>(Out | static_cast<u32>(H & 0x8000) << 16);
}
SIM_INLINE u16 floatToHalf(f32 A) {
  u32 Bits = std::bit_cast<u32>(A), Sign = Bits >> 16 & 0x8000;
  u32 Abs = Bits & 0x7fffffff;
  // Normal results: round to nearest even on the integer representation.
  u32 Normal = (Abs - 0x38000000u + 0xfff + (Abs >> 13 & 1)) >> 13;
  // Subnormal ones: adding 0.5 puts the last bit at the right place.
  f32 Shifted = std::bit_cast<f32>(Abs) + 0.5f;
  u32 Small = std::bit_cast<u32>(Shifted) - 0x3f000000u;
  u32 R = Abs < 0x38800000u ? Small : Normal;
  R = Abs >= 0x477ff000u ? 0x7c00u : R;
  R = Abs > 0x7f800000u ? 0x7fffu : R;
  return static_cast<u16>(R == 0x7fffu ? R : R | Sign);
}
SIM_INLINE u16 floatToHalfZero(f32 A) {
  u32 Bits = std::bit_cast<u32>(A), Sign = Bits >> 16 & 0x8000;
  u32 Abs = Bits & 0x7fffffff;
  if (Abs > 0x7f800000u)
    return 0x7fff;
  u32 R = Abs >= 0x47800000u ? (Abs == 0x7f800000u ? 0x7c00u : 0x7bffu)
          : Abs >= 0x38800000u
              ? (Abs - 0x38000000u) >> 13
              : static_cast<u32>(std::bit_cast<f32>(Abs) * 0x1p24f);
  return static_cast<u16>(R | Sign);
}
SIM_INLINE f32 bfloatToFloat(u16 H) {
  return std::bit_cast<f32>(static_cast<u32>(H) << 16);
}
SIM_INLINE u16 floatToBfloat(f32 A) {
  u32 Bits = std::bit_cast<u32>(A);
  u32 R = (Bits + 0x7fff + (Bits >> 16 & 1)) >> 16;
  return static_cast<u16>((Bits & 0x7fffffff) > 0x7f800000u ? 0x7fffu : R);
}
SIM_INLINE u16 floatToBfloatZero(f32 A) {
  u32 Bits = std::bit_cast<u32>(A);
  return static_cast<u16>((Bits & 0x7fffffff) > 0x7f800000u ? 0x7fffu
                                                            : Bits >> 16);
}
SIM_INLINE u32 floatToTf32Away(f32 A) {
  u32 Bits = std::bit_cast<u32>(A);
  if ((Bits & 0x7fffffff) > 0x7f800000u)
    return 0x7fffffffu;
  return (Bits & 0x7f800000u) == 0x7f800000u ? Bits
                                             : (Bits + 0x1000) & 0xffffe000u;
}
SIM_INLINE u32 floatToTf32(f32 A) {
  u32 Bits = std::bit_cast<u32>(A);
  if ((Bits & 0x7fffffff) > 0x7f800000u)
    return 0x7fffffffu;
  return (Bits + 0xfff + (Bits >> 13 & 1)) & 0xffffe000u;
}
/// A + B*C in double, rounded to odd: exact enough for any narrower rounding.
SIM_INLINE f64 fmaToOdd(f64 A, f64 B, f64 C) {
  f64 P = A * B; // exact for halves
  f64 S = P + C;
  f64 Back = S - P;
  f64 Error = (P - (S - Back)) + (C - Back);
  u64 Bits = std::bit_cast<u64>(S);
  if (Error != 0 && (Bits & 1) == 0 && S - S == 0) {
    bool Up = (Error > 0) == (S > 0);
    Bits = Up ? Bits | 1 : Bits - 1;
  }
  return std::bit_cast<f64>(Bits);
}
/// A double to f32, odd where inexact.
SIM_INLINE f32 narrowToOdd(f64 V) {
  f32 N = static_cast<f32>(V);
  u32 Bits = std::bit_cast<u32>(N);
  f64 Back = N;
  if (Back != V && V == V && (Bits & 1) == 0) {
    bool TooSmall = std::fabs(Back) < std::fabs(V);
    Bits = TooSmall ? Bits | 1 : Bits - 1;
  }
  return std::bit_cast<f32>(Bits);
}
SIM_INLINE u16 halfFma(u16 A, u16 B, u16 C) {
  return floatToHalf(
      narrowToOdd(fmaToOdd(halfToFloat(A), halfToFloat(B), halfToFloat(C))));
}
SIM_INLINE u16 bfloatFma(u16 A, u16 B, u16 C) {
  return floatToBfloat(narrowToOdd(
      fmaToOdd(bfloatToFloat(A), bfloatToFloat(B), bfloatToFloat(C))));
}
/// satfinite: too large becomes the largest number, NaN stays NaN.
template <int Mantissa, int Bias, u32 Largest, u32 Nan>
SIM_INLINE u32 floatToByte(f32 A) {
  u32 Bits = std::bit_cast<u32>(A), Sign = Bits >> 24 & 0x80;
  u32 Abs = Bits & 0x7fffffff;
  if (Abs > 0x7f800000u)
    return Nan;
  f32 V = std::bit_cast<f32>(Abs);
  s32 Exponent = static_cast<s32>(Abs >> 23) - 127;
  if (Exponent < 1 - Bias)
    Exponent = 1 - Bias;
  // In units of the last place, rounded to even, then put together.
  f64 Units =
      std::rint(static_cast<f64>(V) * std::ldexp(1.0, Mantissa - Exponent));
  u32 R = Units >= 65536.0
              ? Largest
              : static_cast<u32>(Units) +
                    (static_cast<u32>(Exponent + Bias - 1) << Mantissa);
  return (R > Largest ? Largest : R) | Sign;
}
SIM_INLINE u32 floatToE4m3(f32 A) { return floatToByte<3, 7, 0x7e, 0x7f>(A); }
SIM_INLINE u32 floatToE5m2(f32 A) { return floatToByte<2, 15, 0x7b, 0x7f>(A); }
SIM_INLINE f32 e5m2ToFloat(u32 B) {
  return halfToFloat(static_cast<u16>(B << 8));
}
SIM_INLINE f32 e4m3ToFloat(u32 B) {
  if ((B & 0x7f) == 0x7f)
    return canonicalNan();
  u32 Exponent = B >> 3 & 15, Mantissa = B & 7;
  f32 V = Exponent == 0
              ? static_cast<f32>(Mantissa) * 0x1p-9f
              : std::bit_cast<f32>((Exponent + 120) << 23 | Mantissa << 20);
  return B & 0x80 ? -V : V;
}
} // namespace

#endif // LLMC_TOOLS_CUDASIM_EXEC_NUMERIC_H
