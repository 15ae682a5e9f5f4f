// The int8 quantiser: the same on every instruction set, never worse than the
// plain scale, exact on 8-bit grids, safe on zeros and tiny or huge weights.
#include "compiler/weights/QuantizeInt8.h"
#include "runtime/base/Half.h"

#include "gtest/gtest.h"

#include <cmath>
#include <cstring>
#include <functional>
#include <random>
#include <vector>

using namespace llmc;

namespace {
using BlockData = std::vector<float>; // [32][16]

BlockData normalBlock(uint32_t Seed, float Sigma) {
  std::mt19937 Random(Seed);
  std::normal_distribution<float> Normal(0, Sigma);
  BlockData X(512);
  for (float &V : X)
    V = Normal(Random);
  return X;
}

/// Offset + step * level per row; both ends of the grid are present.
BlockData gridBlock(uint32_t Seed, int Levels, std::function<float()> Step,
                    std::function<float()> Offset) {
  std::mt19937 Random(Seed);
  BlockData X(512);
  for (int R = 0; R < 16; ++R) {
    float D = Step(), M = Offset();
    for (int K = 0; K < 32; ++K) {
      int Level = K == 0   ? 0
                  : K == 1 ? Levels - 1
                           : static_cast<int>(Random() % Levels);
      X[K * 16 + R] = D * static_cast<float>(Level) + M;
    }
  }
  return X;
}

double noiseOf(const Int8Error &E) {
  double Sum = 0;
  for (double N : E.Noise)
    Sum += N;
  return Sum;
}

/// Error with the scale max/127, as it would be without a search.
double plainNoise(const BlockData &X) {
  double Sum = 0;
  for (int R = 0; R < 16; ++R) {
    float Largest = 0;
    for (int K = 0; K < 32; ++K)
      Largest = std::max(Largest, std::fabs(X[K * 16 + R]));
    float S = f16ToFloat(floatToF16(Largest / 127));
    for (int K = 0; K < 32; ++K) {
      float Q = std::min(127.0f, std::nearbyint(std::fabs(X[K * 16 + R]) / S));
      double E = std::fabs(X[K * 16 + R]) - static_cast<double>(Q) * S;
      Sum += E * E;
    }
  }
  return Sum;
}

void expectSame(const Int8Block &A, const Int8Block &B) {
  EXPECT_EQ(std::memcmp(A.Q, B.Q, sizeof A.Q), 0);
  EXPECT_EQ(std::memcmp(A.Scale, B.Scale, sizeof A.Scale), 0);
}

void compareInstructionSets(const BlockData &X) {
  Int8Block Base, Other;
  Int8Error BaseError, OtherError;
  detail::quantizeBlockBaseline(X.data(), Base, BaseError);
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2")) {
    detail::quantizeBlockAvx2(X.data(), Other, OtherError);
    expectSame(Base, Other);
    EXPECT_EQ(noiseOf(BaseError), noiseOf(OtherError));
  }
#endif
  quantizeBlock(X.data(), Other, OtherError);
  expectSame(Base, Other);
}

TEST(QuantizeInt8, SameOnEveryInstructionSet) {
  for (uint32_t Seed = 0; Seed < 50; ++Seed) {
    float Sigma = std::ldexp(1.0f, static_cast<int>(Seed) - 30);
    BlockData X = normalBlock(Seed, Sigma);
    // Some rows on a grid among rows that are not.
    for (int K = 0; K < 32; ++K)
      for (int R = 0; R < 16; R += 1 + static_cast<int>(Seed % 5))
        X[K * 16 + R] = Sigma * static_cast<float>(K % 13) - 3.3f * Sigma;
    compareInstructionSets(X);
  }
}

TEST(QuantizeInt8, SearchBeatsThePlainScale) {
  double Plain = 0, Searched = 0;
  for (uint32_t Seed = 0; Seed < 100; ++Seed) {
    BlockData X = normalBlock(Seed, 0.04f);
    Int8Block Out;
    Int8Error Error;
    quantizeBlock(X.data(), Out, Error);
    Plain += plainNoise(X);
    Searched += noiseOf(Error);
  }
  EXPECT_LT(Searched, Plain * 0.8); // measured: 0.784
}

TEST(QuantizeInt8, EightBitGridsAreExact) {
  // 8-bit source with an f16 step, like Q8_0: levels -127 … 127.
  for (uint32_t Seed = 0; Seed < 20; ++Seed) {
    std::mt19937 Random(Seed);
    float Step = 0;
    BlockData X = gridBlock(
        Seed, 255,
        [&] {
          uint16_t Bits = static_cast<uint16_t>(0x1400 + Random() % 0x800);
          return Step = f16ToFloat(Bits);
        },
        [&] { return -127.0f * Step; });
    Int8Block Out;
    Int8Error Error;
    quantizeBlock(X.data(), Out, Error);
    EXPECT_EQ(noiseOf(Error), 0) << Seed;
  }
}

TEST(QuantizeInt8, FourBitGridsGainMuch) {
  std::mt19937 Random(7);
  std::uniform_real_distribution<float> Uniform(0.0f, 1.0f);
  double Signal = 0, Noise = 0;
  for (uint32_t Seed = 0; Seed < 100; ++Seed) {
    float Step = 0;
    BlockData X = gridBlock(
        Seed, 16, [&] { return Step = 0.01f * (1 + Uniform(Random)); },
        [&] { return -Step * (6 + 3 * Uniform(Random)); });
    Int8Block Out;
    Int8Error Error;
    quantizeBlock(X.data(), Out, Error);
    Noise += noiseOf(Error);
    for (double S : Error.Signal)
      Signal += S;
  }
  EXPECT_GT(10 * std::log10(Signal / Noise), 54.0); // 45.5 without the grid
}

TEST(QuantizeInt8, Extremes) {
  BlockData X(512, 0.0f);
  Int8Block Out;
  Int8Error Error;
  quantizeBlock(X.data(), Out, Error);
  EXPECT_EQ(Out.Scale[0], 0);
  EXPECT_EQ(Out.Q[5][5], 0);
  EXPECT_EQ(noiseOf(Error), 0);
  for (float Value : {1e-45f, 1e-38f, 1e-9f, 1e-5f, 1.0f, MaxInt8Weight}) {
    for (int K = 0; K < 32; ++K)
      for (int R = 0; R < 16; ++R)
        X[K * 16 + R] = (K % 3 == 0 ? -1.0f : 0.5f) * Value;
    compareInstructionSets(X);
    Error = {};
    quantizeBlock(X.data(), Out, Error);
    for (int K = 0; K < 32; ++K)
      for (int R = 0; R < 16; ++R) {
        float Scale = f16ToFloat(Out.Scale[R]);
        ASSERT_TRUE(std::isfinite(Scale));
        ASSERT_GE(Out.Q[K][R], -127);
        // Half a step, and nothing finer than f16 can say.
        ASSERT_LE(std::fabs(Out.Q[K][R] * Scale - X[K * 16 + R]),
                  Value / 250 + 0x1p-24f);
      }
  }
}
} // namespace
