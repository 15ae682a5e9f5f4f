// The search for the best scale of an int8 block.
//
// Scales are stored as f16, so only f16 values are tried: from the smallest
// that keeps the largest weight at 127, upwards. The sum of 32 rounding errors
// varies by 16 % (one sigma) from scale to scale, and a scale 10 % larger
// costs 21 %, so the best of many neighbours has a good quarter less error than
// the first (+1.4 dB on normal weights).
//
// Weights that were quantised before (a 4-bit source) lie on a grid: an offset
// plus multiples of a step. With a scale of step/a, a an integer, all of them
// have the same error: the distance of offset/scale from an integer. So for
// such blocks the integers a are tried, which is a much better search (SmolLM2:
// 53.6 dB instead of 48.1) and exact when the offset allows it, as for 8-bit
// sources.
//
// Results must not depend on the machine: every operation is a single IEEE
// operation per lane, in one order (this file is compiled with
// -ffp-contract=off); the instruction sets differ in vector width only.
// (16 lanes with AVX-512 were no faster than 8 on a Zen 4.)
#include "compiler/weights/QuantizeInt8.h"

#include "runtime/base/Half.h"

#include <cmath>
#include <cstring>

namespace llmc {
namespace {

constexpr int Block = 32, Rows = 16;
/// Scales tried per block, and the f16 ulps between them.
constexpr int Candidates = 32, CandidateStep = 4;
/// Divisors of the step tried for a block on a grid.
constexpr int GridCandidates = 16;
/// Most steps of a grid that int8 can hold.
constexpr float MaxSteps = 254.0f;
/// Largest f16 value.
constexpr float MaxScale = 65504.0f;
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

template <typename V> [[gnu::always_inline]] inline V largerOf(V A, V B) {
  return A > B ? A : B;
}

/// The f16 value CandidateStep ulps above S. f16 values are spaced by 2^-24
/// below 2^-14, and by 2^13 f32 ulps from there on.
template <int N>
[[gnu::always_inline]] inline typename Vectors<N>::F
nextScale(typename Vectors<N>::F S) {
  typename Vectors<N>::U Bits;
  std::memcpy(&Bits, &S, sizeof S);
  Bits += CandidateStep << 13;
  typename Vectors<N>::F Up;
  std::memcpy(&Up, &Bits, sizeof S);
  return S < 0x1p-14f ? S + CandidateStep * 0x1p-24f : Up;
}

/// The f16 value nearest to S (0 <= S <= 65504).
template <int N>
[[gnu::always_inline]] inline typename Vectors<N>::F
nearestF16(typename Vectors<N>::F S) {
  typename Vectors<N>::U Bits;
  std::memcpy(&Bits, &S, sizeof S);
  Bits = (Bits + 0xfffu + ((Bits >> 13) & 1u)) & ~0x1fffu;
  typename Vectors<N>::F Rounded;
  std::memcpy(&Rounded, &Bits, sizeof S);
  return S < 0x1p-14f ? (S + 0.75f) - 0.75f : Rounded;
}

/// N rows of a block and the best scale found so far.
template <int N> struct Search {
  typedef typename Vectors<N>::F F;
  typedef decltype(F{} < F{}) Mask;
  const float *X;
  F First;   ///< smallest scale allowed
  F Largest; ///< absolute weight
  F Best, BestError;
};

/// Tries C scales where Allowed, and keeps what is better.
template <int N, int C>
[[gnu::always_inline]] inline void tryScales(Search<N> &W,
                                             const typename Search<N>::F *S,
                                             typename Search<N>::Mask Allowed) {
  typedef typename Search<N>::F F;
  F Inverse[C], Error[C];
  for (int J = 0; J < C; ++J) {
    Inverse[J] = S[J] > 0.0f ? 1.0f / S[J] : F{};
    Error[J] = F{};
  }
  for (int K = 0; K < Block; ++K) {
    F V = load<F>(W.X + K * Rows);
    for (int J = 0; J < C; ++J) {
      F Q = (V * Inverse[J] + Rounder) - Rounder;
      F E = V - Q * S[J];
      Error[J] += E * E;
    }
  }
  for (int J = 0; J < C; ++J) {
    typename Search<N>::Mask Better =
        (Error[J] < W.BestError) & (S[J] <= MaxScale) & Allowed;
    W.BestError = Better ? Error[J] : W.BestError;
    W.Best = Better ? S[J] : W.Best;
  }
}

/// The step of the grid that each row lies on, or 0. The smallest difference
/// of two weights is a first guess of the step, or of twice the step if no two
/// weights are neighbours; dividing the whole range by its number of steps is
/// exact enough to check every weight.
template <int N>
[[gnu::always_inline]] inline typename Search<N>::F
gridStep(const Search<N> &W) {
  typedef typename Search<N>::F F;
  const F Noise = W.Largest * 0x1p-9f, Infinite = F{} + INFINITY;
  F Low = load<F>(W.X), High = Low, Smallest = Infinite;
  for (int I = 0; I < Block; ++I) {
    F V = load<F>(W.X + I * Rows);
    Low = Low < V ? Low : V;
    High = largerOf(High, V);
    for (int J = 0; J < I; ++J) {
      F D = V - load<F>(W.X + J * Rows);
      D = largerOf(D, -D);
      D = D > Noise ? D : Infinite;
      Smallest = D < Smallest ? D : Smallest;
    }
  }
  F Range = High - Low, Step = F{};
  F Steps = (Range / Smallest + Rounder) - Rounder;
  for (int Try = 0; Try < 2; ++Try, Steps += Steps) {
    F Inverse = Steps / Range, Worst = F{};
    for (int K = 0; K < Block; ++K) {
      F T = (load<F>(W.X + K * Rows) - Low) * Inverse;
      F E = T - ((T + Rounder) - Rounder);
      Worst = largerOf(Worst, largerOf(E, -E));
    }
    auto IsGrid = (Steps >= 1.0f) & (Steps <= MaxSteps) & (Worst < 0.02f) &
                  (Step == 0.0f);
    Step = IsGrid ? Range / Steps : Step;
  }
  return Step;
}

template <int N>
[[gnu::always_inline]] inline bool anyOf(typename Search<N>::Mask M) {
  bool Any = false;
  for (int I = 0; I < N; ++I)
    Any |= M[I] != 0;
  return Any;
}

/// Tries step/a for the largest integers a that the range allows. Returns the
/// rows for which the result is so good that no other search is needed.
template <int N, int C>
[[gnu::always_inline]] inline typename Search<N>::Mask
searchGrid(Search<N> &W) {
  typedef typename Search<N>::F F;
  F Step = gridStep<N>(W);
  typename Search<N>::Mask OnGrid = Step > 0.0f;
  if (!anyOf<N>(OnGrid))
    return OnGrid;
  F Divisor = Step / W.First;
  Divisor = (Divisor + Rounder) - Rounder;
  for (int Done = 0; Done < GridCandidates; Done += C) {
    F S[C];
    for (int J = 0; J < C; ++J) {
      S[J] = nearestF16<N>(Divisor >= 1.0f ? Step / Divisor : F{});
      // Steps that do not exist or leave the range stay at the first scale.
      S[J] = S[J] >= W.First ? S[J] : W.First;
      Divisor -= 1.0f;
    }
    tryScales<N, C>(W, S, OnGrid);
  }
  // Rounding to an arbitrary grid costs scale^2 / 12 per weight.
  return OnGrid & (W.BestError < W.Best * W.Best * (Block / 12.0f * 0.25f));
}

/// Finds the best scale of N rows: Scale holds the smallest allowed and
/// receives the best. C scales are tried per pass over the block.
template <int N, int C>
[[gnu::always_inline]] inline void searchScales(const float *X, float *Scale,
                                                const float *Largest) {
  typedef typename Search<N>::F F;
  Search<N> W{X, load<F>(Scale), load<F>(Largest), F{}, F{} + INFINITY};
  W.Best = W.First;
  typename Search<N>::Mask Open = ~searchGrid<N, C>(W);
  if (!anyOf<N>(Open)) {
    std::memcpy(Scale, &W.Best, sizeof W.Best);
    return;
  }
  F Next = W.First;
  for (int Done = 0; Done < Candidates; Done += C) {
    F S[C];
    for (int J = 0; J < C; ++J) {
      S[J] = Next;
      Next = nextScale<N>(Next);
    }
    tryScales<N, C>(W, S, Open);
  }
  std::memcpy(Scale, &W.Best, sizeof W.Best);
}

/// The smallest f16 value not below V.
float f16NotBelow(float V) {
  uint16_t H = floatToF16(V);
  float F = f16ToFloat(H);
  return F < V ? f16ToFloat(static_cast<uint16_t>(H + 1)) : F;
}

/// Largest absolute weight and smallest scale of each row.
[[gnu::always_inline]] inline void firstScales(const float *X, float *Largest,
                                               float *Scale) {
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
  alignas(64) float Scale[Rows], Largest[Rows] = {};
  firstScales(X, Largest, Scale);
  for (int R = 0; R < Rows; R += N)
    searchScales<N, C>(X + R, Scale + R, Largest + R);
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
#endif

void quantizeBlock(const float *X, Int8Block &Out, Int8Error &Error) {
#if defined(__x86_64__)
  static const bool HasAvx2 = __builtin_cpu_supports("avx2");
  if (HasAvx2)
    return detail::quantizeBlockAvx2(X, Out, Error);
#endif
  detail::quantizeBlockBaseline(X, Out, Error);
}

} // namespace llmc
