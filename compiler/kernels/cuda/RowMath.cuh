// Scalar functions of the rowwise kernel: those of compiler/kernels/RowMath.h
// for all arguments, infinities and NaN included. Where f32 has too few bits
// (division, powers, angles) steps are f64, made of additions, products and fma
// alone, for the reasons given in Device.cuh.
namespace llmc {

__device__ __forceinline__ float infinity() {
  return __int_as_float(0x7f800000);
}
__device__ __forceinline__ float notANumber() {
  return __int_as_float(0x7fc00000);
}

/// 1 / B within 1 ulp for normal B whose inverse is normal.
__device__ __forceinline__ double inverseWide(double B) {
  long long Bits = __double_as_longlong(B);
  // Mantissa in [0.5, 1).
  double M = __longlong_as_double((Bits & 0x000fffffffffffffll) |
                                  0x3fe0000000000000ll);
  double Y = static_cast<double>(inverse(static_cast<float>(M)));
  Y = fma(Y, fma(-M, Y, 1.0), Y);
  Y = fma(Y, fma(-M, Y, 1.0), Y);
  long long Exponent = (2045ll << 52) - (Bits & 0x7ff0000000000000ll);
  double Scale = __longlong_as_double(Exponent);
  return Bits < 0 ? -(Y * Scale) : Y * Scale;
}

/// A / B for all A and B.
__device__ __forceinline__ float quotient(float A, float B) {
  float MA = fabsf(A), MB = fabsf(B);
  if (MB > 1e-18f && MB < 1e18f && MA > 1e-18f && MA < 1e18f) {
    float Q = divide(A, MB);
    return B < 0.0f ? -Q : Q;
  }
  if (A != A || B != B)
    return notANumber();
  if (MB == 0.0f || MB == infinity()) {
    if (MA == MB)
      return notANumber();
    return copysignf(MB == 0.0f ? infinity() : 0.0f, A) * copysignf(1.0f, B);
  }
  return static_cast<float>(static_cast<double>(A) *
                            inverseWide(static_cast<double>(B)));
}

__device__ __forceinline__ float rootOf(float X) {
  if (!(X > 0.0f) || X == infinity())
    return X < 0.0f ? notANumber() : X; // zeros and NaN are their own roots
  bool Small = X < 1e-30f;
  float S = Small ? X * 18446744073709551616.0f : X; // 2^64
  float Y = inverseRoot(S), R = S * Y;
  R = fmaf(fmaf(-R, R, S), 0.5f * Y, R);
  return Small ? R * 2.3283064365386963e-10f : R; // 2^-32
}

/// 2^X, for the whole range of f32 results.
__device__ __forceinline__ double exp2Wide(double X) {
  if (!(X > -1000.0))
    return X != X ? X : 0.0;
  if (X > 1000.0)
    return __longlong_as_double(0x7ff0000000000000ll);
  long long N = static_cast<long long>(X < 0.0 ? X - 0.5 : X + 0.5);
  double R = (X - static_cast<double>(N)) * 0.69314718055994530942;
  double P = 1.0;
#pragma unroll
  for (int I = 13; I >= 1; --I)
    P = fma(P, R * (1.0 / I), 1.0);
  return P * __longlong_as_double((N + 1023) << 52);
}

/// log2 of a positive normal number.
__device__ __forceinline__ double log2Wide(double X) {
  long long Bits = __double_as_longlong(X);
  long long E = (Bits >> 52) - 1023;
  double M = __longlong_as_double((Bits & 0x000fffffffffffffll) |
                                  0x3ff0000000000000ll);
  if (M > 1.41421356237309504880) {
    M *= 0.5;
    ++E;
  }
  double S = (M - 1.0) * inverseWide(M + 1.0), Z = S * S, P = 0.0;
#pragma unroll
  for (int I = 23; I >= 1; I -= 2)
    P = fma(P, Z, 1.0 / I);
  return fma(2.0 * S * P, 1.44269504088896340736, static_cast<double>(E));
}

__device__ __forceinline__ float logOf(float X) {
  if (!(X > 0.0f))
    return X == 0.0f ? -infinity() : notANumber();
  if (X == infinity())
    return X;
  return static_cast<float>(log2Wide(static_cast<double>(X)) *
                            0.69314718055994530942);
}

__device__ __forceinline__ float powOf(float X, float Y) {
  if (Y == 0.0f || X == 1.0f)
    return 1.0f;
  if (X != X || Y != Y)
    return notANumber();
  bool Whole = truncf(Y) == Y;
  bool Odd =
      Whole && fabsf(Y) < 16777216.0f && (static_cast<int>(fabsf(Y)) & 1) != 0;
  if (X < 0.0f && !Whole)
    return notANumber();
  float A = fabsf(X), R;
  if (A == 0.0f)
    R = Y > 0.0f ? 0.0f : infinity();
  else if (A == infinity())
    R = Y > 0.0f ? A : 0.0f;
  else
    R = static_cast<float>(
        exp2Wide(static_cast<double>(Y) * log2Wide(static_cast<double>(A))));
  return X < 0.0f && Odd ? -R : R;
}

/// log(1 + e^X).
__device__ __forceinline__ float softplusOf(float X) {
  if (X != X)
    return X;
  double E = exp2Wide(-static_cast<double>(fabsf(X)) * 1.44269504088896340736);
  double L = log2Wide(1.0 + E) * 0.69314718055994530942;
  // Below 2^-26 the sum above has lost it.
  L = E < 1.5e-8 ? E : L;
  return static_cast<float>((X > 0.0f ? static_cast<double>(X) : 0.0) + L);
}

/// Sine or cosine after a reduction by pi/2, for angles below 1e9.
__device__ __forceinline__ float sineOf(float Angle, bool Cosine) {
  if (!(fabsf(Angle) < 1e9f))
    return notANumber();
  double A = static_cast<double>(Angle);
  double T = A * 0.63661977236758134308;
  long long N = static_cast<long long>(T < 0.0 ? T - 0.5 : T + 0.5);
  double R = fma(static_cast<double>(N), -1.5707963267948965580, A);
  R = fma(static_cast<double>(N), -6.1232339957367660359e-17, R);
  double Z = R * R;
  double S = -2.5052108385441718775e-8;
  S = fma(S, Z, 2.7557319223985890653e-6);
  S = fma(S, Z, -1.9841269841269841270e-4);
  S = fma(S, Z, 8.3333333333333333333e-3);
  S = fma(S, Z, -1.6666666666666666667e-1);
  S = fma(S * Z, R, R);
  double Q = 2.0876756987868098979e-9;
  Q = fma(Q, Z, -2.7557319223985890653e-7);
  Q = fma(Q, Z, 2.4801587301587301587e-5);
  Q = fma(Q, Z, -1.3888888888888888889e-3);
  Q = fma(Q, Z, 4.1666666666666666667e-2);
  Q = fma(Q, Z, -0.5);
  Q = fma(Q, Z, 1.0);
  long long Quadrant = (Cosine ? N + 1 : N) & 3;
  double V = Quadrant & 1 ? Q : S;
  return static_cast<float>(Quadrant & 2 ? -V : V);
}

/// Remainder with the sign of A; exact for quotients below 2^53.
__device__ __forceinline__ float remainderOf(float A, float B) {
  if (A != A || B != B || B == 0.0f || fabsf(A) == infinity())
    return notANumber();
  if (fabsf(B) == infinity())
    return A;
  double WA = static_cast<double>(fabsf(A)), WB = static_cast<double>(fabsf(B));
  double Q = WA * inverseWide(WB);
  if (!(Q < 9.0e15))
    return notANumber();
  double T = static_cast<double>(static_cast<long long>(Q));
  double R = fma(-T, WB, WA); // the quotient may be one off
  R = R < 0.0 ? R + WB : R >= WB ? R - WB : R;
  return copysignf(static_cast<float>(R), A);
}

/// Elementwise operations of one value.
__device__ __forceinline__ float unaryRow(int Op, float X) {
  switch (Op) {
  case RowNeg:
    return -X;
  case RowAbs:
    return fabsf(X);
  case RowSqrt:
    return rootOf(X);
  case RowReciprocal:
    return quotient(1.0f, X);
  case RowExp:
    return expOf(X);
  case RowLog:
    return logOf(X);
  case RowSin:
  case RowCos:
    return sineOf(X, Op == RowCos);
  case RowTanh:
    return tanhOf(X);
  case RowErf:
    return X != X ? X : onePlusErf(X) - 1.0f;
  case RowSigmoid:
    return sigmoidOf(X);
  case RowSoftplus:
    return softplusOf(X);
  case RowFloor:
    return floorf(X);
  case RowCeil:
    return ceilf(X);
  case RowRound:
    return rintf(X);
  case RowTruncate:
    return truncf(X);
  case RowSign:
    return X > 0.0f ? 1.0f : X < 0.0f ? -1.0f : X;
  case RowNot:
    return X == 0.0f ? 1.0f : 0.0f;
  case RowIsNan:
    return X != X ? 1.0f : 0.0f;
  case RowIsInf:
    return fabsf(X) == infinity() ? 1.0f : 0.0f;
  default:
    return X;
  }
}

/// Elementwise operations of two values.
__device__ __forceinline__ float binaryRow(int Op, float A, float B) {
  switch (Op) {
  case RowAdd:
    return A + B;
  case RowSub:
    return A - B;
  case RowMul:
    return A * B;
  case RowDiv:
    return quotient(A, B);
  case RowPow:
    return powOf(A, B);
  case RowMin:
    return A > B ? B : A;
  case RowMax:
    return A < B ? B : A;
  case RowMod: {
    float M = remainderOf(A, B);
    return M != 0.0f && (M < 0.0f) != (B < 0.0f) ? M + B : M;
  }
  case RowFMod:
    return remainderOf(A, B);
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

} // namespace llmc
