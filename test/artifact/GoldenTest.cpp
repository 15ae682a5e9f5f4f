// Artifacts of released formats stay readable: each golden file opens, has its
// hashes, is written again to the same bytes, and still computes the same
// logits, bit for bit (its code is in the file).
#include "runtime/artifact/Reader.h"
#include "runtime/artifact/Verify.h"
#include "runtime/artifact/Writer.h"
#include "runtime/base/Hash.h"
#include "runtime/device/Device.h"

#include "gtest/gtest.h"

#include <filesystem>
#include <numeric>

using namespace llmc;
namespace fs = std::filesystem;

namespace {
struct Golden {
  const char *File;
  const char *Identity;
  uint32_t Layers;
  uint64_t LogitsHash; ///< xxh3 of the last logits of tokens 1, 2, … 9
};

// One line per file of test/artifact/golden; never remove one.
constexpr Golden All[] = {
    {"v0.1/tiny-int8.llmc",
     "2dc2fe2fcc880307388cf737cd8046d408d32953e7df183e5a444361a618c759", 2,
     0xc317de30394ad8a0}};

class GoldenTest : public testing::TestWithParam<Golden> {
protected:
  void SetUp() override {
    Path = std::string(LLMC_GOLDEN) + "/" + GetParam().File;
    Result<std::unique_ptr<Reader>> R = Reader::open(Path);
    ASSERT_TRUE(R.ok()) << R.status().message();
    Art = R.take();
  }
  std::string Path;
  std::unique_ptr<Reader> Art;
};

TEST_P(GoldenTest, OpensAndVerifies) {
  EXPECT_EQ(Art->identity(), GetParam().Identity);
  EXPECT_EQ(Art->manifest().Model.Layers, GetParam().Layers);
  Result<VerifyReport> V = verifyHashes(*Art);
  EXPECT_TRUE(V.ok()) << V.status().message();
}

/// Only for files of the writer's own format.
TEST_P(GoldenTest, WritesTheSameBytesAgain) {
  if (Art->header().Minor != FormatMinor)
    GTEST_SKIP() << "format of another minor version";
  std::string Again = testing::TempDir() + "/golden-again.llmc";
  std::unique_ptr<Writer> W = Writer::create(Again).take();
  for (uint32_t I = 0; I < Art->sections().size(); ++I) {
    SectionKind Kind = static_cast<SectionKind>(Art->sections()[I].Kind);
    std::span<const uint8_t> Data = Art->section(I);
    if (Kind == SectionKind::WeightHashes)
      continue; // comes with its weights
    Result<uint32_t> Index = Kind == SectionKind::Weights
                                 ? W->declareWeights(Data.size())
                                 : W->addSection(Kind, Data);
    ASSERT_TRUE(Index.ok()) << Index.status().message();
    ASSERT_EQ(*Index, I);
  }
  for (uint32_t I = 0; I < Art->sections().size(); ++I) {
    SectionKind Kind = static_cast<SectionKind>(Art->sections()[I].Kind);
    ASSERT_TRUE(Kind != SectionKind::Weights ||
                W->appendWeights(I, Art->section(I)).ok());
  }
  Status S = W->finish();
  ASSERT_TRUE(S.ok()) << S.message();
  EXPECT_EQ(readFile(Again).take(), readFile(Path).take());
  fs::remove(Again);
}

TEST_P(GoldenTest, ComputesTheSameLogits) {
  const TargetView &T = Art->targets()[0];
  ProgramView P{T.Target, T.Program, T.Code, T.Ptx, T.Weights};
  std::unique_ptr<Device> Cpu = openDevice("cpu").take();
  if (std::string Why = Cpu->whyNot(P); !Why.empty())
    GTEST_SKIP() << Why;
  Result<std::unique_ptr<Executable>> E = Cpu->load(P, {.Threads = 1});
  ASSERT_TRUE(E.ok()) << E.status().message();
  std::vector<int32_t> Ids(9), Positions(9), Sequence(9, 0), Rows = {8};
  std::iota(Ids.begin(), Ids.end(), 1);
  std::iota(Positions.begin(), Positions.end(), 0);
  std::vector<uint32_t> Pages = {0};
  std::vector<float> Logits((*E)->info().Vocab);
  StepInput In;
  In.Ids = Ids;
  In.Positions = Positions;
  In.RowSequence = Sequence;
  In.PromptRows = 6; // both numerics classes
  In.Sequences = 1;
  In.PagesPerSequence = 1;
  In.PageTable = Pages;
  In.LogitRows = Rows;
  In.Logits = Logits;
  Status S = (*E)->step(In);
  ASSERT_TRUE(S.ok()) << S.message();
  std::span<const uint8_t> Bytes(
      reinterpret_cast<const uint8_t *>(Logits.data()), Logits.size() * 4);
  EXPECT_EQ(xxh3(Bytes), GetParam().LogitsHash) << std::hex << xxh3(Bytes);
}

/// No golden file is without its line above.
TEST(GoldenFolder, EveryFileIsTested) {
  size_t Files = 0;
  for (const fs::directory_entry &F :
       fs::recursive_directory_iterator(LLMC_GOLDEN))
    Files += F.path().extension() == ".llmc";
  EXPECT_EQ(Files, std::size(All));
}

INSTANTIATE_TEST_SUITE_P(All, GoldenTest, testing::ValuesIn(All));
} // namespace
