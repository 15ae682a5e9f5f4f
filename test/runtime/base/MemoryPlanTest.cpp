// MemoryPlan: sums, and the largest context that fits a budget.
#include "runtime/base/MemoryPlan.h"

#include "gtest/gtest.h"

#include <vector>

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
  P.SegmentTokens = 256;
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

TEST(MemoryPlan, WorkspaceCounts) {
  MemoryPlan P = example();
  P.WorkspaceBytes = 1000;
  EXPECT_EQ(P.totalBytes(), 37100u);
  EXPECT_EQ(P.largestContext(36100), 192);
  EXPECT_EQ(P.largestContext(37100), 256);
}

TEST(MemoryPlan, ChecksABudget) {
  MemoryPlan P = example();
  EXPECT_TRUE(P.check(0).ok());
  EXPECT_TRUE(P.check(36100).ok());
  Status S = P.check(36099);
  EXPECT_EQ(S.code(), StatusCode::DoesNotFit);
  EXPECT_EQ(S.message(),
            "target x86-64-v3 needs 36100 bytes for 1 x 256 tokens, the memory "
            "budget is 36099; the largest context that fits is 192");
  EXPECT_EQ(P.check(100).message(),
            "target x86-64-v3 needs 36100 bytes for 1 x 256 tokens, the memory "
            "budget is 100; weights, arena and workspace alone need 10500");
}

TEST(MemoryPlan, Prints) {
  std::vector<MemoryPlan> P = {example()};
  EXPECT_NE(plansText(P, 0).find("cache per token    100 B"),
            std::string::npos);
  EXPECT_EQ(plansText(P, 0).find("budget"), std::string::npos);
  // Never more than what was planned for, however much there is.
  EXPECT_NE(plansText(P, 1 << 30).find("largest context    256 tokens"),
            std::string::npos);
  std::string Json = plansJson(P, 36099);
  EXPECT_NE(Json.find("\"total_bytes\":36100"), std::string::npos);
  EXPECT_NE(Json.find("\"fits\":false"), std::string::npos);
  EXPECT_NE(Json.find("\"largest_context\":192"), std::string::npos);
}

} // namespace
} // namespace llmc
