// Sizes from text, and back.
#include "runtime/base/Size.h"

#include <gtest/gtest.h>

using namespace llmc;

TEST(Size, Parses) {
  const std::pair<const char *, uint64_t> Good[] = {{"1000", 1000},
                                                    {"7B", 7},
                                                    {"10kB", 10000},
                                                    {"10KB", 10000},
                                                    {"2MB", 2000000},
                                                    {"1.5GB", 1500000000},
                                                    {"1TB", 1000000000000},
                                                    {"2KiB", 2048},
                                                    {"2kib", 2048},
                                                    {"3MiB", 3 << 20},
                                                    {"2GiB", uint64_t{2} << 30},
                                                    {"1K", 1024},
                                                    {"1m", 1 << 20},
                                                    {"0.5G", 1 << 29}};
  for (const auto &[Text, Bytes] : Good) {
    Result<uint64_t> R = parseSize(Text);
    ASSERT_TRUE(R.ok()) << Text;
    EXPECT_EQ(*R, Bytes) << Text;
  }
}

TEST(Size, RefusesTheRest) {
  for (const char *Text : {"", "lots", "-1", "0", "0.5", "1 GB", "1XB", "1kBB",
                           "1ki", "inf", "nan", "1e30", "9999999TiB", "GiB"}) {
    Result<uint64_t> R = parseSize(Text);
    ASSERT_FALSE(R.ok()) << Text;
    EXPECT_EQ(R.status().code(), StatusCode::Usage);
    EXPECT_EQ(R.status().message(), "'" + std::string(Text) +
                                        "' is not a size such as 2GiB or "
                                        "512MB");
  }
}

TEST(Size, Prints) {
  EXPECT_EQ(sizeText(1023), "1023 B");
  EXPECT_EQ(sizeText(1536), "1.5 KiB");
  EXPECT_EQ(sizeText(uint64_t{3} << 40), "3.0 TiB");
}
