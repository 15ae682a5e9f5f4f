// MemoryPlan: sums, and the largest context that fits a budget.
#include "passes/memory/MemoryPlan.h"

#include "gtest/gtest.h"

namespace llmc {
namespace {

MemoryPlan example() {
  MemoryPlan P;
  P.Target = "x86-64-v3";
  P.WeightBytes = 10000;
  P.Buckets = {1, 8};
  P.ArenaBytes = {300, 500};
  P.PageTokens = 64;
  P.PageBytes = 6400;
  P.Pages = 4;
  P.MaxContext = 256;
  P.MaxSequences = 1;
  P.SegmentBytes = 100;
  return P;
}

TEST(MemoryPlan, Sums) {
  MemoryPlan P = example();
  EXPECT_EQ(P.arenaBytes(), 500u);
  EXPECT_EQ(P.kvBytes(), 25600u);
  EXPECT_EQ(P.kvBytesPerToken(), 100u);
  EXPECT_EQ(P.totalBytes(), 36100u);
}

TEST(MemoryPlan, LargestContext) {
  MemoryPlan P = example();
  EXPECT_EQ(P.largestContext(10499), 0);
  EXPECT_EQ(P.largestContext(10500 + 6399), 0);
  EXPECT_EQ(P.largestContext(10500 + 6400), 64);
  EXPECT_EQ(P.largestContext(36100), 256);
  // Beyond the plan's context the scratch of another segment is needed, too.
  EXPECT_EQ(P.largestContext(36100 + 6400), 256);
  EXPECT_EQ(P.largestContext(36100 + 6500), 320);
  P.MaxSequences = 2;
  EXPECT_EQ(P.largestContext(10500 + 6400), 0);
  EXPECT_EQ(P.largestContext(10500 + 12800), 64);
}

TEST(MemoryPlan, Prints) {
  MemoryPlan P = example();
  EXPECT_NE(P.toText(0).find("cache per token    100 B"), std::string::npos);
  EXPECT_EQ(P.toText(0).find("budget"), std::string::npos);
  std::string Json = P.toJson(36100);
  EXPECT_NE(Json.find("\"total_bytes\":36100"), std::string::npos);
  EXPECT_NE(Json.find("\"largest_context\":256"), std::string::npos);
}

} // namespace
} // namespace llmc
