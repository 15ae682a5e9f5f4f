// Occupancy by hand-computed cases, and what predictions must do: grow with
// bytes and work, name their bound, and show small grids.
#include "runtime/base/GpuModel.h"

#include <gtest/gtest.h>

using namespace llmc;

namespace {

TEST(GpuModel, OccupancyByEachLimit) {
  const GpuChip &A100 = *findGpuChip("a100"), &L4 = *findGpuChip("l4");
  // 256 threads of 64 registers: 2048 a warp, 8 warps of each quarter's 16384.
  EXPECT_EQ(residentBlocks(A100, 256, 64, 0), 4u);
  // 40 registers: 1280 a warp, 12 warps a quarter, 48 in all.
  EXPECT_EQ(residentBlocks(A100, 256, 40, 0), 6u);
  // 80 KiB and the reserved KiB, twice in 164 KiB.
  EXPECT_EQ(residentBlocks(A100, 128, 32, 80 * 1024), 2u);
  EXPECT_EQ(residentBlocks(L4, 128, 32, 80 * 1024), 1u);
  EXPECT_EQ(residentBlocks(A100, 32, 16, 0), 32u) << "blocks";
  EXPECT_EQ(residentBlocks(L4, 512, 16, 0), 3u) << "48 warps";
  EXPECT_EQ(residentBlocks(L4, 128, 32, 200 * 1024), 0u);
}

TEST(GpuModel, ChipsAndTargets) {
  EXPECT_STREQ(gpuChipOfTarget("sm_90a")->Key, "h100");
  EXPECT_EQ(gpuChipOfTarget("x86-64-v3"), nullptr);
  EXPECT_EQ(findGpuChip("tpu"), nullptr);
  for (const GpuChip &C : gpuChips())
    EXPECT_EQ(findGpuChip(C.Key), &C);
}

TEST(GpuModel, MemoryBoundAtTheReachedBandwidth) {
  const GpuChip &H200 = *findGpuChip("h200");
  LaunchFacts F;
  F.Blocks = 4096;
  F.Threads = 256;
  F.Registers = 32;
  F.Bytes = 432'000'000; // 100 us at 90 % of 4.8 TB/s
  LaunchPrediction P = predictLaunch(H200, F);
  EXPECT_EQ(P.By, LaunchPrediction::Memory);
  EXPECT_NEAR(P.Microseconds, 102.9, 0.5);
  F.Early = true;
  EXPECT_NEAR(predictLaunch(H200, F).Microseconds, 102.0, 0.5);
  // Few blocks have few bytes in flight.
  F.Blocks = 16;
  EXPECT_EQ(predictLaunch(H200, F).By, LaunchPrediction::Latency);
  EXPECT_GT(predictLaunch(H200, F).Microseconds, 1000);
}

TEST(GpuModel, ComputeBoundAndLastWaves) {
  const GpuChip &A100 = *findGpuChip("a100");
  LaunchFacts F;
  F.Blocks = 108 * 8;
  F.Threads = 256;
  F.Registers = 32;
  F.Macs = 13'260'000'000; // 100 us of 85 % of 312 T
  F.Tensor = true;
  LaunchPrediction P = predictLaunch(A100, F);
  EXPECT_EQ(P.By, LaunchPrediction::Compute);
  EXPECT_NEAR(P.Microseconds, 102.9, 0.5);
  F.Blocks += 1; // another wave for one block
  EXPECT_NEAR(predictLaunch(A100, F).Microseconds, 203, 3);
  F.Tensor = false;
  EXPECT_GT(predictLaunch(A100, F).Microseconds, 2000);
  EXPECT_EQ(predictLaunch(A100, LaunchFacts()).By, LaunchPrediction::Launch);
}

TEST(GpuModel, NamesWhatElseBounds) {
  const GpuChip &A100 = *findGpuChip("a100");
  LaunchFacts F;
  F.Blocks = 108 * 4;
  F.Threads = 256;
  F.Registers = 32;
  F.Instructions = 42'638'400; // 100 us of 108 * 4 * 0.7 * 1.41 GHz
  LaunchPrediction P = predictLaunch(A100, F);
  EXPECT_EQ(P.By, LaunchPrediction::Issue);
  EXPECT_NEAR(P.Microseconds, 102.9, 0.5);
  F.Instructions = 0;
  F.CachedBytes = 456'840'000; // 100 us of 108 * 30 bytes * 1.41 GHz
  P = predictLaunch(A100, F);
  EXPECT_EQ(P.By, LaunchPrediction::Cache);
  EXPECT_NEAR(P.Microseconds, 102.9, 0.5);
  F.CachedBytes = 0;
  F.RoundTrips = 10; // of 700 ns
  EXPECT_NEAR(predictLaunch(A100, F).Microseconds, 9.9, 0.1);
}

/// Published times of a decoder of 1.24 G weights in bf16, batch 1, in 100
/// kernels of one graph that begin early.
TEST(GpuModel, AgreesWithPublishedTimes) {
  LaunchFacts F;
  F.Blocks = 132 * 8;
  F.Threads = 256;
  F.Registers = 32;
  F.Bytes = 24'700'000;
  F.Early = true;
  EXPECT_NEAR(100 * predictLaunch(*findGpuChip("h100"), F).Microseconds, 979,
              80);
  EXPECT_NEAR(100 * predictLaunch(*findGpuChip("h200"), F).Microseconds, 795,
              80);
}

TEST(GpuModel, EntriesOfAText) {
  PtxEntries E = ptxEntriesWith(".visible .entry a(\n)\n{ mma.sync.x; }\n"
                                ".visible .entry b()\n{ add; }\n"
                                ".entry c (\n{ mma.sync.y; }",
                                "mma.sync");
  EXPECT_EQ(E, (PtxEntries{"a", "c"}));
  EXPECT_TRUE(ptxEntriesWith("", "x").empty());
}
} // namespace
