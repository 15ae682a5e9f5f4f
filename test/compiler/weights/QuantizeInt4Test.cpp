// int4: lossless on grids of 4-bit sources, and a good deal better than plain
// rounding elsewhere.
#include "compiler/weights/QuantizeInt4.h"
#include "runtime/base/Half.h"

#include "gtest/gtest.h"

#include <cmath>
#include <random>
#include <vector>

using namespace llmc;

namespace {
float half(float F) { return f16ToFloat(floatToF16(F)); }

struct Noise {
  double Mine = 0, Plain = 0;
};

/// Squared error, and that of max |w| / 7.5 around zero.
Noise noiseOf(const std::vector<float> &X) {
  Int4Block B;
  Int8Error E;
  quantizeInt4(X.data(), B, E);
  Noise N;
  for (int R = 0; R < 16; ++R) {
    N.Mine += E.Noise[R];
    float Largest = 0;
    for (int K = 0; K < 32; ++K)
      Largest =
          std::fmax(Largest, std::fabs(X[static_cast<size_t>(K * 16 + R)]));
    float Scale = Largest / 7.5f;
    for (int K = 0; K < 32; ++K) {
      float V = X[static_cast<size_t>(K * 16 + R)];
      float Q = std::fmin(7, std::fmax(-8, std::nearbyint(V / Scale)));
      N.Plain += (V - Q * Scale) * (V - Q * Scale);
    }
    // The reported error is that of the codes.
    double Sum = 0;
    for (int K = 0; K < 32; ++K) {
      float V = B.Q[K][R] * B.Scale[R] + B.Minimum[R];
      Sum += std::pow(V - X[static_cast<size_t>(K * 16 + R)], 2);
      EXPECT_LE(B.Q[K][R], 15);
    }
    EXPECT_NEAR(Sum, E.Noise[R], 1e-5 * Sum + 1e-12);
    EXPECT_EQ(half(B.Scale[R]), B.Scale[R]);
    EXPECT_EQ(half(B.Minimum[R]), B.Minimum[R]);
  }
  return N;
}

TEST(QuantizeInt4, GridsAreExact) {
  std::mt19937 Random(3);
  for (bool Symmetric : {false, true})
    for (int Round = 0; Round < 50; ++Round) {
      std::vector<float> X(32 * 16);
      for (int R = 0; R < 16; ++R) {
        float Scale =
            half(0.001f + static_cast<float>(Random() % 1000) * 1e-4f);
        float Minimum =
            Symmetric
                ? -8 * Scale
                : half(-0.3f + static_cast<float>(Random() % 100) * 1e-3f);
        for (int K = 0; K < 32; ++K) {
          // An asymmetric source has both ends of its range in every block.
          int Q = K == 0 && !Symmetric ? 0 : static_cast<int>(Random() % 16);
          X[static_cast<size_t>(K * 16 + R)] =
              static_cast<float>(Q) * Scale + Minimum;
        }
      }
      EXPECT_EQ(noiseOf(X).Mine, 0) << Symmetric << " " << Round;
    }
}

TEST(QuantizeInt4, BetterThanRounding) {
  std::mt19937 Random(5);
  std::normal_distribution<float> Normal(0, 0.05f);
  Noise Sum;
  for (int Round = 0; Round < 20; ++Round) {
    std::vector<float> X(32 * 16);
    for (float &V : X)
      V = Normal(Random);
    Noise N = noiseOf(X);
    Sum.Mine += N.Mine;
    Sum.Plain += N.Plain;
  }
  EXPECT_LT(Sum.Mine, 0.75 * Sum.Plain);
}

TEST(QuantizeInt4, ConstantsAndZeros) {
  std::vector<float> X(32 * 16, 0.0f);
  EXPECT_EQ(noiseOf(X).Mine, 0);
  for (float &V : X)
    V = 0.5f;
  EXPECT_EQ(noiseOf(X).Mine, 0);
}
} // namespace
