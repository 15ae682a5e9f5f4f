// The search for the best scale of an int8 block.
//
// Scales are stored as f16, so only f16 values are tried: from the smallest
// that keeps the largest weight at 127, upwards in steps of one f16 ulp. The
// sum of 32 rounding errors varies by 16 % (one sigma) from scale to scale,
// and a scale 10 % larger costs 21 %, so the best of many neighbours has a
// good third less error than the first. Weights that lie on a coarse grid (a
// 4-bit source) have sharp minima, which only such small steps hit.
//
// Results must not depend on the machine: every operation is a single IEEE
// operation per lane, in one order (this file is compiled with
// -ffp-contract=off); the three instruction sets differ in vector width only.
#include "compiler/weights/QuantizeInt8.h"

#include "runtime/base/Half.h"

#include <cmath>
#include <cstring>

namespace llmc {
namespace {

constexpr int Block = 32, Rows = 16;
/// Scales tried per block.
constexpr int Candidates = 128;
/// Adding and subtracting it rounds to the nearest integer, ties to even.
constexpr float Rounder = 0x1.8p23f;
/// 127.5 less a margin for the rounding of 1/scale.
constexpr float TopLevel = 127.49f;

/// N floats in a vector register, and as many unsigned integers.
template <int N> struct Vectors {
  typedef float F __attribute__((vector_size(N * 4)));
  typedef uint32_t U __attribute__((vector_size(N * 4)));
};

template <typename V> [[gnu::always_inline]] inline V load(const float *P) {
  V R;
  std::memcpy(&R, P, sizeof R);
  return R;
}

/// The next larger f16 value of each lane, as f32. f16 values are spaced by
/// 2^-24 below 2^-14, and by 2^13 f32 ulps from there on.
template <int N>
[[gnu::always_inline]] inline void nextScale(typename Vectors<N>::F &S) {
  typedef typename Vectors<N>::F F;
  typedef typename Vectors<N>::U U;
  U Bits;
  std::memcpy(&Bits, &S, sizeof S);
  Bits += 1u << 13;
  F Up;
  std::memcpy(&Up, &Bits, sizeof S);
  S = S < 0x1p-14f ? S + 0x1p-24f : Up;
}

/// Finds the best scale of N rows: Scale holds the first candidate of each row
/// and receives the best one. C candidates are tried per pass over the block.
template <int N, int C>
[[gnu::always_inline]] inline void searchScales(const float *X, float *Scale) {
  typedef typename Vectors<N>::F F;
  F Next = load<F>(Scale), Best = Next, BestError = F{} + INFINITY;
  for (int Done = 0; Done < Candidates; Done += C) {
    F S[C], Inverse[C], Error[C];
    for (int J = 0; J < C; ++J) {
      S[J] = Next;
      Inverse[J] = Next > 0.0f ? 1.0f / Next : F{};
      Error[J] = F{};
      nextScale<N>(Next);
    }
    for (int K = 0; K < Block; ++K) {
      F V = load<F>(X + K * Rows);
      for (int J = 0; J < C; ++J) {
        F Q = (V * Inverse[J] + Rounder) - Rounder;
        F E = V - Q * S[J];
        Error[J] += E * E;
      }
    }
    for (int J = 0; J < C; ++J) {
      auto Better = Error[J] < BestError;
      BestError = Better ? Error[J] : BestError;
      Best = Better ? S[J] : Best;
    }
  }
  std::memcpy(Scale, &Best, sizeof Best);
}

/// The smallest f16 value not below V.
float f16NotBelow(float V) {
  uint16_t H = floatToF16(V);
  float F = f16ToFloat(H);
  return F < V ? f16ToFloat(static_cast<uint16_t>(H + 1)) : F;
}

/// First candidate of each row.
[[gnu::always_inline]] inline void firstScales(const float *X, float *Scale) {
  float Largest[Rows] = {};
  for (int K = 0; K < Block; ++K)
    for (int R = 0; R < Rows; ++R) {
      float A = std::fabs(X[K * Rows + R]);
      Largest[R] = A > Largest[R] ? A : Largest[R];
    }
  for (int R = 0; R < Rows; ++R)
    Scale[R] = f16NotBelow(Largest[R] / TopLevel);
}

/// Quantises with the scales found and sums up the error.
[[gnu::always_inline]] inline void quantize(const float *X, const float *Scale,
                                            Int8Block &Out, Int8Error &Error) {
  float Inverse[Rows], Signal[Rows] = {}, Noise[Rows] = {};
  for (int R = 0; R < Rows; ++R)
    Inverse[R] = Scale[R] > 0.0f ? 1.0f / Scale[R] : 0.0f;
  for (int K = 0; K < Block; ++K)
    for (int R = 0; R < Rows; ++R) {
      float V = X[K * Rows + R];
      float Q = (V * Inverse[R] + Rounder) - Rounder;
      float E = V - Q * Scale[R], A = std::fabs(E);
      Out.Q[K][R] = static_cast<int8_t>(static_cast<int32_t>(Q));
      Signal[R] += V * V;
      Noise[R] += E * E;
      Error.Largest[R] = A > Error.Largest[R] ? A : Error.Largest[R];
    }
  for (int R = 0; R < Rows; ++R) {
    Error.Signal[R] += static_cast<double>(Signal[R]);
    Error.Noise[R] += static_cast<double>(Noise[R]);
    Out.Scale[R] = floatToF16(Scale[R]); // exact
  }
}

template <int N, int C>
[[gnu::always_inline]] inline void
quantizeBlockWith(const float *X, Int8Block &Out, Int8Error &Error) {
  alignas(64) float Scale[Rows];
  firstScales(X, Scale);
  for (int R = 0; R < Rows; R += N)
    searchScales<N, C>(X + R, Scale + R);
  quantize(X, Scale, Out, Error);
}
} // namespace

void detail::quantizeBlockBaseline(const float *X, Int8Block &Out,
                                   Int8Error &Error) {
  quantizeBlockWith<4, 2>(X, Out, Error);
}

#if defined(__x86_64__)
__attribute__((target("avx2"))) void
detail::quantizeBlockAvx2(const float *X, Int8Block &Out, Int8Error &Error) {
  quantizeBlockWith<8, 4>(X, Out, Error);
}

__attribute__((target("avx512f,avx512bw,avx512dq,avx512vl"))) void
detail::quantizeBlockAvx512(const float *X, Int8Block &Out, Int8Error &Error) {
  quantizeBlockWith<16, 8>(X, Out, Error);
}
#endif

void quantizeBlock(const float *X, Int8Block &Out, Int8Error &Error) {
#if defined(__x86_64__)
  static const bool HasAvx512 =
      __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
  static const bool HasAvx2 = __builtin_cpu_supports("avx2");
  if (HasAvx512)
    return detail::quantizeBlockAvx512(X, Out, Error);
  if (HasAvx2)
    return detail::quantizeBlockAvx2(X, Out, Error);
#endif
  detail::quantizeBlockBaseline(X, Out, Error);
}

} // namespace llmc
