// Sizes of the packed layouts against hand-computed literals.
#include "compiler/weights/Layout.h"

#include "gtest/gtest.h"

using namespace llmc;

TEST(Layout, NamesRoundTrip) {
  for (const char *Id : {"p16.f32", "p16.w8b32", "n.f16", "n.w8b32", "vec.f32"})
    EXPECT_EQ(nameOf(layoutOf(Id).value()), Id);
  EXPECT_FALSE(layoutOf("p16"));
  EXPECT_FALSE(packedBytes("p32.f32", 1, 1));
}

TEST(Layout, PanelsPadRows) {
  EXPECT_EQ(packedBytes(Layout::P16F32, 16, 3), 16u * 3 * 4);
  EXPECT_EQ(packedBytes(Layout::P16F32, 17, 3), 32u * 3 * 4);
  EXPECT_EQ(packedBytes(Layout::P16F32, 0, 3), 0u);
}

TEST(Layout, RecordsPadRowsAndColumns) {
  EXPECT_EQ(packedBytes(Layout::P16W8B32, 16, 64), 1088u);
  EXPECT_EQ(packedBytes(Layout::P16W8B32, 1, 65), 2u * 1088);
  EXPECT_EQ(packedBytes(Layout::P16W8B32, 49152, 576), 3072u * 9 * 1088);
}

TEST(Layout, RowMajorForms) {
  EXPECT_EQ(packedBytes(Layout::NF16, 3, 5), 30u);
  // 3 rows of 64 bytes, scales at 256, 3 rows of 2 scales.
  EXPECT_EQ(packedBytes(Layout::NW8B32, 3, 33), 256u + 12);
  EXPECT_EQ(scaleOffsetNW8B32(4, 64), 256u);
  EXPECT_EQ(packedBytes(Layout::VecF32, 7, 1), 28u);
}

TEST(Layout, OverflowSticks) {
  EXPECT_EQ(packedBytes(Layout::P16F32, UINT64_MAX, 16), UINT64_MAX);
  EXPECT_EQ(packedBytes(Layout::NW8B32, UINT64_MAX, UINT64_MAX), UINT64_MAX);
  EXPECT_EQ(packedBytes(Layout::VecF32, 1ull << 40, 1ull << 40), UINT64_MAX);
}
