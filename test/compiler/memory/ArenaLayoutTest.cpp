// layoutArena: no overlap in time and space, no gap that was large enough.
#include "passes/memory/ArenaLayout.h"

#include "gtest/gtest.h"

#include <algorithm>
#include <random>

namespace llmc {
namespace {

uint64_t roundUp(uint64_t N) { return (N + 63) / 64 * 64; }

void expectValid(const std::vector<ArenaRequest> &R, const ArenaLayout &L) {
  ASSERT_EQ(L.Offsets.size(), R.size());
  for (size_t I = 0; I != R.size(); ++I) {
    EXPECT_EQ(L.Offsets[I] % 64, 0u);
    EXPECT_LE(L.Offsets[I] + R[I].Bytes, L.Bytes);
    for (size_t J = I + 1; J != R.size(); ++J) {
      bool Together = R[I].Begin <= R[J].End && R[J].Begin <= R[I].End;
      bool Apart = L.Offsets[I] + R[I].Bytes <= L.Offsets[J] ||
                   L.Offsets[J] + R[J].Bytes <= L.Offsets[I];
      EXPECT_TRUE(!Together || Apart) << I << " and " << J;
    }
  }
}

TEST(ArenaLayout, Empty) {
  ArenaLayout L = layoutArena({}, 64);
  EXPECT_EQ(L.Bytes, 0u);
}

TEST(ArenaLayout, FillsTheGap) {
  // 100 and 60 live through; between them is room for what comes later.
  std::vector<ArenaRequest> R = {
      {1000, 0, 9}, {500, 0, 3}, {400, 0, 9}, {300, 4, 9}, {100, 5, 6}};
  ArenaLayout L = layoutArena(R, 64);
  expectValid(R, L);
  EXPECT_EQ(L.Bytes, 1024u + 512u + 448u);
  EXPECT_EQ(L.Offsets[3], L.Offsets[1]);
}

TEST(ArenaLayout, RandomRequestsNeverOverlap) {
  std::mt19937 Random(1);
  for (int Round = 0; Round != 50; ++Round) {
    std::vector<ArenaRequest> R;
    for (int I = 0; I != 60; ++I) {
      int64_t Begin = Random() % 40;
      R.push_back({Random() % 5000, Begin, Begin + int64_t(Random() % 10)});
    }
    ArenaLayout L = layoutArena(R, 64);
    expectValid(R, L);
    // Never below what is live at once, and not far above.
    uint64_t Peak = 0;
    for (int64_t At = 0; At != 50; ++At) {
      uint64_t Sum = 0;
      for (const ArenaRequest &Q : R)
        Sum += Q.Begin <= At && At <= Q.End ? roundUp(Q.Bytes) : 0;
      Peak = std::max(Peak, Sum);
    }
    EXPECT_GE(L.Bytes, Peak);
    EXPECT_LE(L.Bytes, Peak * 3 / 2);
  }
}

} // namespace
} // namespace llmc
