// Elementary functions of the kernels, of vectors and without libm. Every step
// is one correctly rounded operation, so compiler/kernels/ref repeats them in
// scalar code with the same bits.
#ifndef LLMC_COMPILER_KERNELS_CPU_MATH_H
#define LLMC_COMPILER_KERNELS_CPU_MATH_H

#include "compiler/kernels/Constants.h"
#include "compiler/kernels/cpu/Vec.h"

namespace llmc::kernels {

/// 2^N for N in [-126, 127].
LLMC_INLINE VF pow2(VI N) { return asFloat((N + 127) << 23); }

/// e^X to about one unit in the last place: x = n ln 2 + r, polynomial in r,
/// times 2^n in two halves (so that denormals and infinity come out right).
LLMC_INLINE VF exp(VF X) {
  X = max(X, splat(-110.0f));
  X = min(X, splat(90.0f));
  VF N = roundEven(X * splat(1.44269504f));
  VF R = fma(N, splat(-0.693359375f), X);
  R = fma(N, splat(2.12194440e-4f), R);
  VF P = splat(1.9875691500e-4f);
  P = fma(P, R, splat(1.3981999507e-3f));
  P = fma(P, R, splat(8.3334519073e-3f));
  P = fma(P, R, splat(4.1665795894e-2f));
  P = fma(P, R, splat(1.6666665459e-1f));
  P = fma(P, R, splat(5.0000001201e-1f));
  P = fma(P, R * R, R + splat(1.0f));
  VI I = toInt(N);
  VI Half = I >> 1;
  return (P * pow2(Half)) * pow2(I - Half);
}

LLMC_INLINE VF sigmoid(VF X) { return splat(1.0f) / (splat(1.0f) + exp(-X)); }

/// Odd polynomial below 0.625, exponential above.
LLMC_INLINE VF tanh(VF X) {
  VF A = abs(X);
  VF Z = X * X;
  VF P = splat(-5.70498872745e-3f);
  P = fma(P, Z, splat(2.06390887954e-2f));
  P = fma(P, Z, splat(-5.37397155531e-2f));
  P = fma(P, Z, splat(1.33314422036e-1f));
  P = fma(P, Z, splat(-3.33332819422e-1f));
  VF Small = fma(P * Z, X, X);
  VF E = exp(A + A);
  VF Large = splat(1.0f) - splat(2.0f) / (E + splat(1.0f));
  Large = X < splat(0.0f) ? -Large : Large;
  return A < splat(0.625f) ? Small : Large;
}

/// Error function (Abramowitz and Stegun 7.1.26, error below 2e-7).
LLMC_INLINE VF erf(VF X) {
  VF A = abs(X);
  VF T = splat(1.0f) / fma(A, splat(0.3275911f), splat(1.0f));
  VF P = splat(1.061405429f);
  P = fma(P, T, splat(-1.453152027f));
  P = fma(P, T, splat(1.421413741f));
  P = fma(P, T, splat(-0.284496736f));
  P = fma(P, T, splat(0.254829592f));
  VF R = splat(1.0f) - (P * T) * exp(-(A * A));
  return X < splat(0.0f) ? -R : R;
}

LLMC_INLINE VF activate(VF X, int64_t Kind) {
  switch (Kind) {
  case ActSilu:
    return X / (splat(1.0f) + exp(-X));
  case ActGelu:
    return (splat(0.5f) * X) * (splat(1.0f) + erf(X * splat(0.707106781f)));
  case ActGeluTanh: {
    VF U =
        (X * splat(0.797884561f)) * fma(X * X, splat(0.044715f), splat(1.0f));
    return (splat(0.5f) * X) * (splat(1.0f) + tanh(U));
  }
  case ActRelu:
    return max(X, splat(0.0f));
  case ActSigmoid:
    return sigmoid(X);
  case ActTanh:
    return tanh(X);
  case ActRelu2: {
    VF R = max(X, splat(0.0f));
    return R * R;
  }
  default:
    return X;
  }
}

/// Cap * tanh(X / Cap); no cap when Cap is 0.
LLMC_INLINE VF softcap(VF X, float Cap) {
  return Cap == 0.0f ? X : splat(Cap) * tanh(X / splat(Cap));
}

} // namespace llmc::kernels

#endif // LLMC_COMPILER_KERNELS_CPU_MATH_H
