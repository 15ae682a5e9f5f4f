// Counters computed by hand: sectors, bank conflicts, multiply-adds.
#include "test/cudasim/Harness.h"

#include "tools/cudasim/exec/Machine.h"
#include "tools/cudasim/profile/Profile.h"

#include <algorithm>
#include <cstdlib>

extern "C" int cuOccupancyMaxActiveBlocksPerMultiprocessor(int *, void *, int,
                                                           size_t);

namespace {

using namespace llmc::cudasim;

/// An access of 32 lanes at lane * Stride.
struct Pattern {
  uint64_t At[LaneCount];
  AccessEvent Event;
  Pattern(uint64_t Stride, unsigned Bytes) {
    for (unsigned L = 0; L != LaneCount; ++L)
      At[L] = 4096 + L * Stride;
    Event = {AccessEvent::Read, Space::Global, AllLanes, At, Bytes};
  }
  unsigned waves() const {
    unsigned Least = 0;
    return wavefrontsOf(Event, Least);
  }
};

TEST(Counters, SectorsOfAGlobalAccess) {
  EXPECT_EQ(sectorsOf(Pattern(4, 4).Event), 4u);
  EXPECT_EQ(sectorsOf(Pattern(8, 4).Event), 8u);
  EXPECT_EQ(sectorsOf(Pattern(32, 4).Event), 32u);
  EXPECT_EQ(sectorsOf(Pattern(0, 4).Event), 1u);
  EXPECT_EQ(sectorsOf(Pattern(16, 16).Event), 16u);
  EXPECT_EQ(sectorsOf(Pattern(2, 2).Event), 2u);
}

TEST(Counters, WavefrontsOfASharedAccess) {
  EXPECT_EQ(Pattern(4, 4).waves(), 1u);
  EXPECT_EQ(Pattern(0, 4).waves(), 1u); // broadcast
  EXPECT_EQ(Pattern(8, 4).waves(), 2u);
  EXPECT_EQ(Pattern(16, 4).waves(), 4u);
  EXPECT_EQ(Pattern(128, 4).waves(), 32u);
  EXPECT_EQ(Pattern(132, 4).waves(), 1u);   // padded
  EXPECT_EQ(Pattern(16, 16).waves(), 4u);   // four parts without conflicts
  EXPECT_EQ(Pattern(128, 16).waves(), 32u); // rows of ldmatrix, not swizzled
  EXPECT_EQ(Pattern(144, 16).waves(), 4u);
}

TEST(Counters, OfALaunch) {
  setenv("LLMC_CUDASIM_PROFILE", "/dev/null", 1);
  reloadSettings();
  {
    SimContext Context;
    std::vector<uint32_t> Words(256, 0);
    runBuffer(
        kernelText("mul.wide.u32 %rd2, %tx, 4; add.s64 %rd2, %rd1, %rd2;\n"
                   "ld.global.f32 %f1, [%rd2];\n"
                   "fma.rn.f32 %f1, %f1, %f1, %f1;\n"
                   "st.global.f32 [%rd2], %f1;"),
        Words, 64, 2);
  }
  unsetenv("LLMC_CUDASIM_PROFILE");
  reloadSettings();
  const Counters &C = profileCounters().at("k");
  EXPECT_EQ(C.Launches, 1u);
  EXPECT_EQ(C.LoadRequests, 4u); // two warps of two blocks
  EXPECT_EQ(C.LoadSectors, 16u);
  EXPECT_EQ(C.StoreSectors, 16u);
  EXPECT_EQ(C.LoadBytes, 512u);
  EXPECT_EQ(C.UniqueSectors, 8u); // both blocks use the same words
  EXPECT_EQ(C.BlockSectors, 16u);
  EXPECT_EQ(C.Fma32, 128u);
  EXPECT_GT(C.Microseconds, 1.0);
}

/// Blocks of Threads threads with Shared bytes that a multiprocessor holds.
int residentOn(const char *Chip, int Threads, size_t Shared) {
  setenv("LLMC_CUDASIM_CHIP", Chip, 1);
  SimContext Context;
  void *Module = nullptr, *Kernel = nullptr;
  EXPECT_EQ(cuModuleLoadData(&Module, kernelText("").c_str()), 0);
  EXPECT_EQ(cuModuleGetFunction(&Kernel, Module, "k"), 0);
  int Blocks = -1;
  EXPECT_EQ(cuOccupancyMaxActiveBlocksPerMultiprocessor(&Blocks, Kernel,
                                                        Threads, Shared),
            0);
  unsetenv("LLMC_CUDASIM_CHIP");
  return Blocks;
}

TEST(Counters, OccupancyOfTheChips) {
  // By shared memory: 40 KiB and the KiB that each block loses.
  EXPECT_EQ(residentOn("a100", 128, 40960), 4);
  EXPECT_EQ(residentOn("l4", 128, 40960), 2);
  EXPECT_EQ(residentOn("h100", 128, 40960), 5);
  // By warps, and by blocks.
  EXPECT_EQ(residentOn("a100", 1024, 0), 2);
  EXPECT_EQ(residentOn("l4", 1024, 0), 1);
  EXPECT_EQ(residentOn("a100", 32, 0), 32);
  EXPECT_EQ(residentOn("a10", 32, 0), 16);
  EXPECT_EQ(residentOn("l4", 32, 0), 24);
}

TEST(Counters, TimeFollowsTheBound) {
  setenv("LLMC_CUDASIM_CHIP", "a100", 1);
  Counters C;
  C.Blocks = 108 * 64;
  C.Resident = 8;
  C.UniqueSectors = C.BlockSectors = 1 << 25; // 1 GiB
  double Bounds[6] = {};
  double Time = modelledMicroseconds(C, Bounds);
  // 1 GiB at 85 % of 2 TB/s.
  EXPECT_NEAR(Time, 1073.7e6 / (2.04e6 * 0.85), 30);
  EXPECT_EQ(std::max_element(Bounds, Bounds + 6) - Bounds, 0);
  C.TensorMacs16 = uint64_t{1} << 40; // 2.2e12 operations
  EXPECT_GT(modelledMicroseconds(C, Bounds), 2.2e12 / 312e6);
  EXPECT_STREQ(boundName(static_cast<unsigned>(
                   std::max_element(Bounds, Bounds + 6) - Bounds)),
               "tensor");
  unsetenv("LLMC_CUDASIM_CHIP");
}
} // namespace
