// A vocabulary of 50,000 times 20,000 positions times three rows is 3e9
// exponentials: the library's scalar one would take half a minute. This one is
// a polynomial that the compiler vectorises; relative error below 2e-7.
#include "tools/llmc-run/RowStatistics.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#define LLMC_VECTOR_CLONES                                                     \
  __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))

namespace llmcrun {

namespace {

constexpr size_t Block = 1024; ///< values per float sum

/// e^x for x <= 0; 0 below -87.
inline float expNegative(float X) {
  X = std::max(X, -87.0f);
  float N = std::floor(X * 1.44269504f + 0.5f);
  float R = (X - N * 0.693359375f) + N * 2.12194440e-4f;
  float P = 1.9875691500e-4f;
  P = P * R + 1.3981999507e-3f;
  P = P * R + 8.3334519073e-3f;
  P = P * R + 4.1665795894e-2f;
  P = P * R + 1.6666665459e-1f;
  P = P * R + 5.0000001201e-1f;
  P = P * R * R + R + 1.0f;
  int32_t Bits = (static_cast<int32_t>(N) + 127) << 23;
  float Power;
  std::memcpy(&Power, &Bits, sizeof(Power));
  return P * Power;
}

LLMC_VECTOR_CLONES
void expSums(const float *Row, float Max, size_t N, float *Lanes) {
  for (size_t I = 0; I + 16 <= N; I += 16)
    for (size_t L = 0; L < 16; ++L)
      Lanes[L] += expNegative(Row[I + L] - Max);
}

LLMC_VECTOR_CLONES
void klSums(const float *A, const float *B, float Lse, size_t N, float *Lanes) {
  for (size_t I = 0; I + 16 <= N; I += 16)
    for (size_t L = 0; L < 16; ++L)
      Lanes[L] +=
          expNegative(std::min(A[I + L] - Lse, 0.0f)) * (A[I + L] - B[I + L]);
}

} // namespace

double logSumExp(const float *Row, size_t N) {
  float Max = *std::max_element(Row, Row + N);
  double Sum = 0;
  for (size_t I = 0; I < N; I += Block) {
    size_t Here = std::min(Block, N - I), Whole = Here / 16 * 16;
    float Lanes[16] = {};
    expSums(Row + I, Max, Whole, Lanes);
    for (float L : Lanes)
      Sum += L;
    for (size_t K = Whole; K < Here; ++K)
      Sum += expNegative(Row[I + K] - Max);
  }
  return Max + std::log(Sum);
}

size_t argMax(const float *Row, size_t N) {
  return static_cast<size_t>(std::max_element(Row, Row + N) - Row);
}

double klDivergence(const float *A, double LseA, const float *B, double LseB,
                    size_t N) {
  // Sum of p * (log p - log q), where log p - log q is the difference of the
  // logits plus a constant, and the p sum to 1.
  double Sum = 0;
  float Lse = static_cast<float>(LseA);
  for (size_t I = 0; I < N; I += Block) {
    size_t Here = std::min(Block, N - I), Whole = Here / 16 * 16;
    float Lanes[16] = {};
    klSums(A + I, B + I, Lse, Whole, Lanes);
    for (float L : Lanes)
      Sum += L;
    for (size_t K = Whole; K < Here; ++K)
      Sum +=
          expNegative(std::min(A[I + K] - Lse, 0.0f)) * (A[I + K] - B[I + K]);
  }
  return std::max(Sum + LseB - LseA, 0.0);
}

} // namespace llmcrun
