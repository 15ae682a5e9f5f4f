// The promise that memory at run time is the plan's, to the byte: arena and KV
// pool have the planned sizes and end at an inaccessible page, so that every
// step here would fault if a kernel wrote or read beyond the plan. The
// plan is made for each bucket alone, so that the arena is that bucket's. And
// the number of barriers of a decode step, which is most of its latency.
#include "runtime/device/cpu/CpuExecutable.h"
#include "runtime/device/cpu/CpuFeatures.h"
#include "test/runtime/device/SyntheticModel.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <gtest/gtest.h>
#include <memory>
#include <sstream>
#include <sys/mman.h>
#include <unistd.h>

using namespace llmc;
using namespace llmc::test;

namespace {
constexpr uint32_t Buckets[] = {1, 3, 8, 9, 80};

SyntheticShape shapeOf(bool Int8) {
  SyntheticShape S;
  S.Int8 = S.HalfCache = Int8;
  S.Target = "x86-64-v3";
  S.Layers = 2;
  S.SmallBuckets = {1, 3, 8, 9};
  S.MaxTokens = 80;
  S.MaxSequences = 9;
  S.Pages = S.MaxSequences * (S.MaxContext / 64);
  return S;
}

/// Each is built once.
SyntheticModel &modelOf(bool Int8) {
  static std::unique_ptr<SyntheticModel> Models[2];
  std::unique_ptr<SyntheticModel> &M = Models[Int8];
  if (!M) {
    M = std::make_unique<SyntheticModel>(shapeOf(Int8));
    EXPECT_TRUE(M->build().ok());
  }
  return *M;
}

std::unique_ptr<CpuExecutable> load(const SyntheticModel &M, uint32_t Threads) {
  Result<std::unique_ptr<Executable>> E =
      CpuExecutable::load(M.view(), {Threads, 0});
  EXPECT_TRUE(E.ok()) << E.status().message();
  return std::unique_ptr<CpuExecutable>(
      E ? static_cast<CpuExecutable *>(E.take().release()) : nullptr);
}

/// Runs T rows in S sequences of equal share whose last rows are at the last
/// position of Context; every row's logits are asked for.
void runFull(CpuExecutable &E, uint32_t T, uint32_t S, uint32_t Prompt,
             uint32_t Context) {
  std::vector<int32_t> Ids, Positions, Rows, LogitRows;
  uint32_t PerSequence = (Context + 63) / 64;
  for (uint32_t I = 0; I < T; ++I) {
    uint32_t Seq = I * S / T;
    uint32_t End = (Seq + 1) * T / S + ((Seq + 1) * T % S ? 1 : 0);
    Ids.push_back(static_cast<int32_t>(E.info().Vocab - 1 - I % 7));
    Positions.push_back(static_cast<int32_t>(Context - (End - I)));
    Rows.push_back(static_cast<int32_t>(Seq));
    LogitRows.push_back(static_cast<int32_t>(I));
  }
  std::vector<uint32_t> Pages(S * PerSequence);
  for (uint32_t I = 0; I < Pages.size(); ++I)
    Pages[I] = E.info().Pages - 1 - I; // the last page of the pool is used
  std::vector<float> Logits(size_t(T) * E.info().Vocab, NAN);
  StepInput In;
  In.Ids = Ids;
  In.Positions = Positions;
  In.RowSequence = Rows;
  In.PromptRows = Prompt;
  In.Sequences = S;
  In.PagesPerSequence = PerSequence;
  In.PageTable = Pages;
  In.LogitRows = LogitRows;
  In.Logits = Logits;
  Status St = E.step(In);
  ASSERT_TRUE(St.ok()) << St.message();
  for (float L : Logits)
    ASSERT_TRUE(std::isfinite(L));
}

/// Bytes of private writable memory without a file, except the heap.
uint64_t anonymousBytes() {
  std::ifstream Maps("/proc/self/maps");
  uint64_t Sum = 0;
  for (std::string Line; std::getline(Maps, Line);) {
    std::istringstream In(Line);
    uint64_t From, To;
    char Dash;
    std::string Mode, Offset, Device, Inode, Name;
    In >> std::hex >> From >> Dash >> To >> Mode >> Offset >> Device >> Inode;
    if (!(In >> Name) && Mode == "rw-p" && Inode == "0")
      Sum += To - From;
  }
  return Sum;
}

uint64_t wholePages(uint64_t Bytes) {
  uint64_t Page = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  return (Bytes + Page - 1) / Page * Page;
}

class CpuMemory : public testing::TestWithParam<bool> {
protected:
  void SetUp() override {
    if (!hasCpuFeature("avx2"))
      GTEST_SKIP() << "this machine has no avx2";
  }
};

TEST_P(CpuMemory, EveryBucketFitsItsPlan) {
  SyntheticModel &M = modelOf(GetParam());
  for (size_t Bucket = 0; Bucket < std::size(Buckets); ++Bucket) {
    uint32_t T = Buckets[Bucket];
    M.planFor(Bucket);
    for (uint32_t Threads : {1u, 2u, 3u}) {
      std::unique_ptr<CpuExecutable> E = load(M, Threads);
      ASSERT_TRUE(E);
      ASSERT_EQ(E->arenaBytes(), static_cast<uint64_t>(M.arenaBytes()[Bucket]));
      for (uint32_t Prompt : {0u, T / 2, T})
        for (uint32_t Sequences : {1u, std::min(T, 9u)})
          runFull(*E, T, Sequences, Prompt, 1024);
    }
  }
}

/// Heads that are no multiple of a vector, and the largest one.
TEST_P(CpuMemory, OddAndLargestHeadsFit) {
  SyntheticShape Shape = shapeOf(GetParam());
  Shape.HeadDim = GetParam() ? 512 : 20;
  Shape.Layers = 1;
  SyntheticModel M(Shape);
  ASSERT_TRUE(M.build().ok());
  for (size_t Bucket : {0, 2, 3}) {
    M.planFor(Bucket);
    std::unique_ptr<CpuExecutable> E = load(M, 2);
    ASSERT_TRUE(E);
    uint32_t T = Buckets[Bucket];
    runFull(*E, T, T, T / 2, 1024);
  }
}

TEST_P(CpuMemory, MappedIsPlanned) {
  SyntheticShape Shape = shapeOf(GetParam());
  SyntheticModel &M = modelOf(GetParam());
  M.planFor(std::size(Buckets) - 1);
  load(M, 1); // what the process sets up once
  uint64_t Before = anonymousBytes();
  std::unique_ptr<CpuExecutable> E = load(M, 1);
  ASSERT_TRUE(E);
  uint64_t Arena = static_cast<uint64_t>(M.arenaBytes().back());
  uint64_t Kv = E->info().Pages * E->info().PageBytes;
  EXPECT_EQ(E->info().Pages, static_cast<uint32_t>(Shape.Pages));
  EXPECT_EQ(E->info().PageBytes,
            static_cast<uint64_t>(Shape.Layers * Shape.KvHeads * 2 *
                                  Shape.HeadDim * 64 * (GetParam() ? 2 : 4)));
  EXPECT_EQ(E->arenaBytes(), Arena);
  EXPECT_EQ(E->kvBytes(), Kv);
  // Two mappings and the image's one page of data.
  uint64_t Planned = wholePages(Arena) + wholePages(Kv);
  uint64_t Loaded = anonymousBytes();
  EXPECT_GE(Loaded - Before, Planned);
  EXPECT_LE(Loaded - Before, Planned + wholePages(1));
  for (uint32_t T : {1u, 8u, 80u})
    runFull(*E, T, 1, T / 2, Shape.MaxContext);
  EXPECT_EQ(anonymousBytes(), Loaded) << "a step keeps memory";
}

INSTANTIATE_TEST_SUITE_P(Types, CpuMemory, testing::Values(false, true),
                         [](const testing::TestParamInfo<bool> &I) {
                           return I.param ? "Int8" : "F32";
                         });

/// The byte behind a mapping is a fault: without this the tests above would
/// prove nothing.
TEST(CpuMapping, EndsAtAnInaccessiblePage) {
  for (uint64_t Bytes : {64u, 4096u, 4160u, 3u << 20}) {
    Result<Mapping> M = Mapping::create(Bytes, "test");
    ASSERT_TRUE(M.ok());
    EXPECT_EQ(M->size(), Bytes);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(M->data()) % 64, 0u);
    M->data()[0] = M->data()[Bytes - 1] = 1;
    EXPECT_DEATH(static_cast<volatile uint8_t *>(M->data())[Bytes] = 1, "");
  }
}

/// Barriers that a decode step passes with two threads.
uint32_t barriersOf(CpuExecutable &E, uint32_t Context) {
  uint32_t Before = E.barriers();
  runFull(E, 1, 1, 0, Context);
  return E.barriers() - Before;
}

TEST(CpuBarriers, DecodePassesFivePerLayer) {
  if (!hasCpuFeature("avx2"))
    GTEST_SKIP() << "this machine has no avx2";
  SyntheticModel &M = modelOf(true);
  M.planFor(std::size(Buckets) - 1);
  std::unique_ptr<CpuExecutable> E = load(M, 2);
  ASSERT_TRUE(E);
  uint32_t Layers = static_cast<uint32_t>(shapeOf(true).Layers);
  constexpr uint32_t Own = 3; // embedding, rope table, logits
  // A count below the number of phases would mean that nothing is counted.
  EXPECT_GE(barriersOf(*E, 1), 4 * Layers);
  for (uint32_t Context : {1u, 256u})
    EXPECT_LE(barriersOf(*E, Context), 5 * Layers + Own) << Context;
  for (uint32_t Context : {257u, 1024u})
    EXPECT_LE(barriersOf(*E, Context), 6 * Layers + Own) << Context;
}
} // namespace
