// Elementary functions of the reference kernels: the definition of the numbers
// that compiler/kernels/cpu computes 16 at a time. Every line is one correctly
// rounded f32 operation.
#ifndef LLMC_COMPILER_KERNELS_REF_MATH_H
#define LLMC_COMPILER_KERNELS_REF_MATH_H

#include "compiler/kernels/Constants.h"

#include <cmath>
#include <cstdint>
#include <cstring>

namespace llmc::kernels::ref {

inline float pow2(int32_t N) {
  uint32_t Bits = static_cast<uint32_t>(N + 127) << 23;
  float F;
  std::memcpy(&F, &Bits, 4);
  return F;
}

/// e^X: x = n ln 2 + r, a polynomial in r, times 2^n in two halves.
inline float exp(float X) {
  X = X < -110.0f ? -110.0f : X;
  X = X > 90.0f ? 90.0f : X;
  if (X != X)
    return X;
  float N = std::nearbyintf(X * 1.44269504f);
  float R = std::fmaf(N, -0.693359375f, X);
  R = std::fmaf(N, 2.12194440e-4f, R);
  float P = 1.9875691500e-4f;
  P = std::fmaf(P, R, 1.3981999507e-3f);
  P = std::fmaf(P, R, 8.3334519073e-3f);
  P = std::fmaf(P, R, 4.1665795894e-2f);
  P = std::fmaf(P, R, 1.6666665459e-1f);
  P = std::fmaf(P, R, 5.0000001201e-1f);
  P = std::fmaf(P, R * R, R + 1.0f);
  int32_t I = static_cast<int32_t>(N), Half = I >> 1;
  return (P * pow2(Half)) * pow2(I - Half);
}

/// Odd polynomial below 0.625, exponential above.
inline float tanh(float X) {
  float A = std::fabs(X), Z = X * X;
  if (A < 0.625f) {
    float P = -5.70498872745e-3f;
    P = std::fmaf(P, Z, 2.06390887954e-2f);
    P = std::fmaf(P, Z, -5.37397155531e-2f);
    P = std::fmaf(P, Z, 1.33314422036e-1f);
    P = std::fmaf(P, Z, -3.33332819422e-1f);
    return std::fmaf(P * Z, X, X);
  }
  float Large = 1.0f - 2.0f / (exp(A + A) + 1.0f);
  return X < 0.0f ? -Large : Large;
}

/// Error function (Abramowitz and Stegun 7.1.26).
inline float erf(float X) {
  float A = std::fabs(X), T = 1.0f / std::fmaf(A, 0.3275911f, 1.0f);
  float P = 1.061405429f;
  P = std::fmaf(P, T, -1.453152027f);
  P = std::fmaf(P, T, 1.421413741f);
  P = std::fmaf(P, T, -0.284496736f);
  P = std::fmaf(P, T, 0.254829592f);
  float R = 1.0f - (P * T) * exp(-(A * A));
  return X < 0.0f ? -R : R;
}

inline float activate(float X, int64_t Kind) {
  switch (Kind) {
  case ActSilu:
    return X / (1.0f + exp(-X));
  case ActGelu:
    return (0.5f * X) * (1.0f + erf(X * 0.707106781f));
  case ActGeluTanh: {
    float U = (X * 0.797884561f) * std::fmaf(X * X, 0.044715f, 1.0f);
    return (0.5f * X) * (1.0f + tanh(U));
  }
  case ActRelu:
    return X < 0.0f ? 0.0f : X;
  case ActSigmoid:
    return 1.0f / (1.0f + exp(-X));
  case ActTanh:
    return tanh(X);
  case ActRelu2: {
    float R = X < 0.0f ? 0.0f : X;
    return R * R;
  }
  default:
    return X;
  }
}

inline float softcap(float X, float Cap) {
  return Cap == 0.0f ? X : Cap * tanh(X / Cap);
}

/// Sum of 16 lanes, pairwise: 8, 4, 2, 1.
inline float sumLanes(const float (&Lanes)[16]) {
  float A[8], B[4];
  for (int I = 0; I < 8; ++I)
    A[I] = Lanes[I] + Lanes[I + 8];
  for (int I = 0; I < 4; ++I)
    B[I] = A[I] + A[I + 4];
  return (B[0] + B[2]) + (B[1] + B[3]);
}

} // namespace llmc::kernels::ref

#endif // LLMC_COMPILER_KERNELS_REF_MATH_H
