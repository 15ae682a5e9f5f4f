// Scalar functions of the rowwise kernel, one text for the reference and the
// CPU kernels: freestanding, every operation rounded as written (no
// contraction), so that both give the same bits. What f32 vectors compute too
// (exp, tanh, erf) has the same steps as compiler/kernels/cpu/Math.h.
#ifndef LLMC_COMPILER_KERNELS_ROWMATH_H
#define LLMC_COMPILER_KERNELS_ROWMATH_H

#include "compiler/kernels/RowCode.h"

namespace llmc::kernels::row {

static inline float bitsOf(uint32_t Bits) {
  return __builtin_bit_cast(float, Bits);
}

static inline float roundEven(float X) { return __builtin_roundevenf(X); }
static inline float truncate(float X) { return __builtin_truncf(X); }
static inline float floor(float X) { return __builtin_floorf(X); }
static inline float ceil(float X) { return __builtin_ceilf(X); }

/// e^X: x = n ln 2 + r, a polynomial in r, times 2^n in two halves.
static inline float exp(float X) {
  X = X < -110.0f ? -110.0f : X;
  X = X > 90.0f ? 90.0f : X;
  if (X != X)
    return X;
  float N = roundEven(X * 1.44269504f);
  float R = __builtin_fmaf(N, -0.693359375f, X);
  R = __builtin_fmaf(N, 2.12194440e-4f, R);
  float P = 1.9875691500e-4f;
  P = __builtin_fmaf(P, R, 1.3981999507e-3f);
  P = __builtin_fmaf(P, R, 8.3334519073e-3f);
  P = __builtin_fmaf(P, R, 4.1665795894e-2f);
  P = __builtin_fmaf(P, R, 1.6666665459e-1f);
  P = __builtin_fmaf(P, R, 5.0000001201e-1f);
  P = __builtin_fmaf(P, R * R, R + 1.0f);
  int32_t I = static_cast<int32_t>(N), Half = I >> 1;
  return (P * bitsOf(static_cast<uint32_t>(Half + 127) << 23)) *
         bitsOf(static_cast<uint32_t>(I - Half + 127) << 23);
}

/// Odd polynomial below 0.625, exponential above.
static inline float tanh(float X) {
  float A = __builtin_fabsf(X), Z = X * X;
  if (A < 0.625f) {
    float P = -5.70498872745e-3f;
    P = __builtin_fmaf(P, Z, 2.06390887954e-2f);
    P = __builtin_fmaf(P, Z, -5.37397155531e-2f);
    P = __builtin_fmaf(P, Z, 1.33314422036e-1f);
    P = __builtin_fmaf(P, Z, -3.33332819422e-1f);
    return __builtin_fmaf(P * Z, X, X);
  }
  float Large = 1.0f - 2.0f / (exp(A + A) + 1.0f);
  return X < 0.0f ? -Large : Large;
}

/// Error function (Abramowitz and Stegun 7.1.26).
static inline float erf(float X) {
  float A = __builtin_fabsf(X), T = 1.0f / __builtin_fmaf(A, 0.3275911f, 1.0f);
  float P = 1.061405429f;
  P = __builtin_fmaf(P, T, -1.453152027f);
  P = __builtin_fmaf(P, T, 1.421413741f);
  P = __builtin_fmaf(P, T, -0.284496736f);
  P = __builtin_fmaf(P, T, 0.254829592f);
  float R = 1.0f - (P * T) * exp(-(A * A));
  return X < 0.0f ? -R : R;
}

/// 2^X in double, for the whole range of f32 results.
static inline double exp2Wide(double X) {
  if (!(X > -1000.0))
    return X != X ? X : 0.0;
  if (X > 1000.0)
    return __builtin_inf();
  int64_t N = static_cast<int64_t>(X < 0 ? X - 0.5 : X + 0.5);
  double R = (X - static_cast<double>(N)) * 0.69314718055994530942;
  double P = 1.0;
  for (int I = 13; I >= 1; --I)
    P = P * R / static_cast<double>(I) + 1.0;
  return P * __builtin_bit_cast(double, static_cast<uint64_t>(N + 1023) << 52);
}

/// log2 of a positive finite number in double.
static inline double log2Wide(double X) {
  uint64_t Bits = __builtin_bit_cast(uint64_t, X);
  int64_t E = static_cast<int64_t>(Bits >> 52) - 1023;
  double M = __builtin_bit_cast(double, (Bits & 0xFFFFFFFFFFFFFull) |
                                            0x3FF0000000000000ull);
  if (M > 1.41421356237309504880) {
    M *= 0.5;
    ++E;
  }
  double S = (M - 1.0) / (M + 1.0), Z = S * S, P = 0.0;
  for (int I = 23; I >= 1; I -= 2)
    P = P * Z + 1.0 / static_cast<double>(I);
  return static_cast<double>(E) + 2.0 * S * P * 1.44269504088896340736;
}

static inline float log(float X) {
  if (X != X || X < 0.0f)
    return __builtin_nanf("");
  if (X == 0.0f)
    return -__builtin_inff();
  if (X == __builtin_inff())
    return X;
  return static_cast<float>(log2Wide(X) * 0.69314718055994530942);
}

static inline float pow(float X, float Y) {
  if (Y == 0.0f || X == 1.0f)
    return 1.0f;
  if (X != X || Y != Y)
    return __builtin_nanf("");
  bool Whole = truncate(Y) == Y;
  bool Odd = Whole && __builtin_fabsf(Y) < 16777216.0f &&
             (static_cast<int32_t>(__builtin_fabsf(Y)) & 1);
  if (X < 0.0f && !Whole)
    return __builtin_nanf("");
  float A = __builtin_fabsf(X), R;
  if (A == 0.0f)
    R = Y > 0.0f ? 0.0f : __builtin_inff();
  else if (A == __builtin_inff())
    R = Y > 0.0f ? A : 0.0f;
  else
    R = static_cast<float>(exp2Wide(static_cast<double>(Y) * log2Wide(A)));
  return X < 0.0f && Odd ? -R : R;
}

/// log(1 + e^X).
static inline float softplus(float X) {
  if (X != X)
    return X;
  double E = exp2Wide(-__builtin_fabs(static_cast<double>(X)) *
                      1.44269504088896340736);
  double L = log2Wide(1.0 + E) * 0.69314718055994530942;
  // Below 2^-26 the sum above has lost it.
  L = E < 1.5e-8 ? E : L;
  return static_cast<float>((X > 0.0f ? static_cast<double>(X) : 0.0) + L);
}

/// Sine (or cosine) in double after a reduction by pi/2, right to the last bit
/// or so for arguments that positions times frequencies reach.
static inline float sine(float Angle, bool Cosine) {
  double A = Angle;
  if (!(__builtin_fabs(A) < 1e9))
    return __builtin_nanf("");
  double T = A * 0.63661977236758134308;
  int64_t N = static_cast<int64_t>(T < 0 ? T - 0.5 : T + 0.5);
  double R = __builtin_fma(static_cast<double>(N), -1.5707963267948965580, A);
  R = __builtin_fma(static_cast<double>(N), -6.1232339957367660359e-17, R);
  double Z = R * R;
  double S = -2.5052108385441718775e-8;
  S = __builtin_fma(S, Z, 2.7557319223985890653e-6);
  S = __builtin_fma(S, Z, -1.9841269841269841270e-4);
  S = __builtin_fma(S, Z, 8.3333333333333333333e-3);
  S = __builtin_fma(S, Z, -1.6666666666666666667e-1);
  S = __builtin_fma(S * Z, R, R);
  double Q = 2.0876756987868098979e-9;
  Q = __builtin_fma(Q, Z, -2.7557319223985890653e-7);
  Q = __builtin_fma(Q, Z, 2.4801587301587301587e-5);
  Q = __builtin_fma(Q, Z, -1.3888888888888888889e-3);
  Q = __builtin_fma(Q, Z, 4.1666666666666666667e-2);
  Q = __builtin_fma(Q, Z, -0.5);
  Q = __builtin_fma(Q, Z, 1.0);
  int64_t Quadrant = (Cosine ? N + 1 : N) & 3;
  double V = Quadrant & 1 ? Q : S;
  return static_cast<float>(Quadrant & 2 ? -V : V);
}

/// Elementwise operations of one value.
static inline float unary(int64_t Op, float X) {
  switch (Op) {
  case RowNeg:
    return -X;
  case RowAbs:
    return __builtin_fabsf(X);
  case RowSqrt:
    return __builtin_sqrtf(X);
  case RowReciprocal:
    return 1.0f / X;
  case RowExp:
    return exp(X);
  case RowLog:
    return log(X);
  case RowSin:
    return sine(X, false);
  case RowCos:
    return sine(X, true);
  case RowTanh:
    return tanh(X);
  case RowErf:
    return erf(X);
  case RowSigmoid:
    return 1.0f / (1.0f + exp(-X));
  case RowSoftplus:
    return softplus(X);
  case RowFloor:
    return floor(X);
  case RowCeil:
    return ceil(X);
  case RowRound:
    return roundEven(X);
  case RowTruncate:
    return truncate(X);
  case RowSign:
    return X > 0.0f ? 1.0f : X < 0.0f ? -1.0f : X;
  case RowNot:
    return X == 0.0f ? 1.0f : 0.0f;
  case RowIsNan:
    return X != X ? 1.0f : 0.0f;
  case RowIsInf:
    return __builtin_fabsf(X) == __builtin_inff() ? 1.0f : 0.0f;
  default:
    return X;
  }
}

static inline float fmod(float A, float B) {
  // Exact in double for quotients below 2^53.
  double Q = static_cast<double>(A) / static_cast<double>(B);
  if (!(__builtin_fabs(Q) < 9.0e15))
    return __builtin_nanf("");
  double T = static_cast<double>(static_cast<int64_t>(Q));
  return static_cast<float>(static_cast<double>(A) -
                            T * static_cast<double>(B));
}

/// Elementwise operations of two values.
static inline float binary(int64_t Op, float A, float B) {
  switch (Op) {
  case RowAdd:
    return A + B;
  case RowSub:
    return A - B;
  case RowMul:
    return A * B;
  case RowDiv:
    return A / B;
  case RowPow:
    return pow(A, B);
  case RowMin:
    return A > B ? B : A;
  case RowMax:
    return A < B ? B : A;
  case RowMod: {
    float M = fmod(A, B);
    return M != 0.0f && (M < 0.0f) != (B < 0.0f) ? M + B : M;
  }
  case RowFMod:
    return fmod(A, B);
  case RowEqual:
    return A == B ? 1.0f : 0.0f;
  case RowLess:
    return A < B ? 1.0f : 0.0f;
  case RowLessEqual:
    return A <= B ? 1.0f : 0.0f;
  case RowAnd:
    return A != 0.0f && B != 0.0f ? 1.0f : 0.0f;
  case RowOr:
    return A != 0.0f || B != 0.0f ? 1.0f : 0.0f;
  case RowXor:
    return (A != 0.0f) != (B != 0.0f) ? 1.0f : 0.0f;
  default:
    return A;
  }
}

} // namespace llmc::kernels::row

#endif // LLMC_COMPILER_KERNELS_ROWMATH_H
