// Half conversions: literals at every kind of rounding, and all 65536 values.
#include "runtime/base/Half.h"

#include "gtest/gtest.h"

#include <cmath>
#include <limits>

using namespace llmc;

TEST(Half, F16RoundTripsExhaustively) {
  for (uint32_t H = 0; H < 65536; ++H) {
    float F = f16ToFloat(static_cast<uint16_t>(H));
    bool IsNaN = (H & 0x7fff) > 0x7c00;
    EXPECT_EQ(std::isnan(F), IsNaN);
    uint16_t Back = floatToF16(F);
    if (IsNaN)
      EXPECT_GT(Back & 0x7fff, 0x7c00);
    else
      ASSERT_EQ(Back, H);
  }
}

TEST(Half, F16RoundsToNearestEven) {
  EXPECT_EQ(floatToF16(1.0f), 0x3c00);
  EXPECT_EQ(floatToF16(1.0f + 0x1p-11f), 0x3c00); // tie, even below
  EXPECT_EQ(floatToF16(1.0f + 0x1p-11f + 0x1p-20f), 0x3c01);
  EXPECT_EQ(floatToF16(1.0f + 3 * 0x1p-11f), 0x3c02); // tie, even above
  EXPECT_EQ(floatToF16(65519.0f), 0x7bff);
  EXPECT_EQ(floatToF16(65520.0f), 0x7c00);
  EXPECT_EQ(floatToF16(0x1p-24f), 0x0001);
  EXPECT_EQ(floatToF16(0x1p-25f), 0x0000); // tie, even below
  EXPECT_EQ(floatToF16(0x1.8p-25f), 0x0001);
  EXPECT_EQ(floatToF16(0x1.ff8p-15f), 0x03ff); // largest subnormal
  EXPECT_EQ(floatToF16(0x1.ffcp-15f), 0x0400); // tie, up to a normal
  EXPECT_EQ(floatToF16(-0.0f), 0x8000);
  EXPECT_EQ(floatToF16(1e-30f), 0x0000);
}

// B69: rounding instead of truncation, ties to even, NaN stays NaN.
TEST(Half, Bf16B69) {
  EXPECT_EQ(bf16ToFloat(floatToBf16(0.26914087f)), 0.26953125f);
  EXPECT_EQ(bf16ToFloat(floatToBf16(3.14f)), 3.140625f);
  EXPECT_EQ(floatToBf16(std::bit_cast<float>(0x3f808000u)), 0x3f80);
  EXPECT_EQ(floatToBf16(std::bit_cast<float>(0x3f818000u)), 0x3f82);
  float NaN = std::bit_cast<float>(0x7f800001u);
  EXPECT_TRUE(std::isnan(bf16ToFloat(floatToBf16(NaN))));
  EXPECT_EQ(bf16ToFloat(floatToBf16(3.4e38f)),
            std::numeric_limits<float>::infinity());
}
