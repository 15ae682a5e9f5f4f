// Floats of 8 and 4 bits: known codes, every code there and back, rounding and
// what is too large.
#include "compiler/eval/SmallFloat.h"
#include "gtest/gtest.h"

#include <cmath>
#include <limits>

using namespace llmc;
using namespace llmc::eval;

namespace {
constexpr double Inf = std::numeric_limits<double>::infinity();

TEST(SmallFloat, KnownCodes) {
  EXPECT_EQ(smallFloatValue(DType::F8E4M3, 0x7e), 448);
  EXPECT_EQ(smallFloatValue(DType::F8E4M3, 0x01), 0x1p-9);
  EXPECT_EQ(smallFloatValue(DType::F8E4M3FNUZ, 0x7f), 240);
  EXPECT_EQ(smallFloatValue(DType::F8E4M3FNUZ, 0x01), 0x1p-10);
  EXPECT_EQ(smallFloatValue(DType::F8E5M2, 0x7b), 57344);
  EXPECT_EQ(smallFloatValue(DType::F8E5M2, 0x7c), Inf);
  EXPECT_EQ(smallFloatValue(DType::F8E5M2, 0x81), -0x1p-16);
  EXPECT_EQ(smallFloatValue(DType::F8E5M2FNUZ, 0x7f), 57344);
  EXPECT_EQ(smallFloatValue(DType::F8E8M0, 0x7f), 1);
  EXPECT_TRUE(std::isnan(smallFloatValue(DType::F8E8M0, 0xff)));
  EXPECT_TRUE(std::isnan(smallFloatValue(DType::F8E4M3, 0x7f)));
  EXPECT_TRUE(std::isnan(smallFloatValue(DType::F8E4M3FNUZ, 0x80)));
  const double Fp4[] = {0, 0.5, 1, 1.5, 2, 3, 4, 6};
  for (uint8_t I = 0; I < 8; ++I)
    EXPECT_EQ(smallFloatValue(DType::F4E2M1, I), Fp4[I]);
}

TEST(SmallFloat, EveryCodeThereAndBack) {
  for (DType T : {DType::F8E4M3, DType::F8E4M3FNUZ, DType::F8E5M2,
                  DType::F8E5M2FNUZ, DType::F8E8M0, DType::F4E2M1})
    for (unsigned Code = 0; Code < (1u << bitsOf(T)); ++Code) {
      double V = smallFloatValue(T, static_cast<uint8_t>(Code));
      if (!std::isnan(V))
        EXPECT_EQ(toSmallFloat(T, V, false), Code) << nameOf(T);
    }
}

TEST(SmallFloat, TiesGoToEven) {
  const auto Rounded = [](DType T, double V) {
    return smallFloatValue(T, toSmallFloat(T, V));
  };
  EXPECT_EQ(Rounded(DType::F8E4M3, 17), 16);
  EXPECT_EQ(Rounded(DType::F8E4M3, 19), 20);
  EXPECT_EQ(Rounded(DType::F8E4M3, 0x1p-10), 0);
  EXPECT_EQ(Rounded(DType::F8E4M3, 0x3p-10), 0x1p-8);
  EXPECT_EQ(Rounded(DType::F4E2M1, 2.5), 2);
  EXPECT_EQ(Rounded(DType::F4E2M1, -5), -4);
  EXPECT_EQ(Rounded(DType::F4E2M1, 0.25), 0);
}

TEST(SmallFloat, TooLargeSaturatesOrNot) {
  EXPECT_EQ(toSmallFloat(DType::F8E4M3, 464), 0x7e); // rounds down to 448
  EXPECT_EQ(toSmallFloat(DType::F8E4M3, 464, false), 0x7e);
  EXPECT_EQ(toSmallFloat(DType::F8E4M3, 465), 0x7e);
  EXPECT_EQ(toSmallFloat(DType::F8E4M3, 465, false), 0x7f);
  EXPECT_EQ(toSmallFloat(DType::F8E5M2, -Inf), 0xfb);
  EXPECT_EQ(toSmallFloat(DType::F8E5M2, -1e9, false), 0xfc);
  EXPECT_EQ(toSmallFloat(DType::F8E5M2FNUZ, 1e9, false), 0x80);
  EXPECT_EQ(toSmallFloat(DType::F4E2M1, -100, false), 0xf);
  EXPECT_EQ(toSmallFloat(DType::F8E4M3FNUZ, -0.0), 0);
}

TEST(SmallFloat, PowersOfTwoRoundAsAsked) {
  DType T = DType::F8E8M0;
  EXPECT_EQ(toSmallFloat(T, 1.25), 0x80);
  EXPECT_EQ(toSmallFloat(T, 1.25, true, PowerRounding::Down), 0x7f);
  EXPECT_EQ(toSmallFloat(T, 1.5, true, PowerRounding::Nearest), 0x80);
  EXPECT_EQ(toSmallFloat(T, 1.25, true, PowerRounding::Nearest), 0x7f);
  EXPECT_EQ(toSmallFloat(T, Inf), 0xfe);
  EXPECT_EQ(toSmallFloat(T, Inf, false), 0xff);
}
} // namespace
