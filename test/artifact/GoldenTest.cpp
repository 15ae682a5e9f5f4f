// Artifacts of released formats stay readable: each golden file opens, has its
// hashes, is written again to the same bytes, and still computes the same
// logits, bit for bit (its code is in the file). Files of other versions open
// or are refused as docs/artifact-format.md says.
#include "runtime/artifact/Reader.h"
#include "runtime/artifact/Verify.h"
#include "runtime/artifact/Writer.h"
#include "runtime/base/Hash.h"
#include "runtime/device/Device.h"

#include "gtest/gtest.h"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
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

TEST_P(GoldenTest, WritesTheSameBytesAgain) {
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
  // An older file becomes one of today's format, with the same sections.
  if (Art->header().Minor == FormatMinor) {
    EXPECT_EQ(readFile(Again).take(), readFile(Path).take());
  }
  std::unique_ptr<Reader> New = Reader::open(Again).take();
  ASSERT_EQ(New->sections().size(), Art->sections().size());
  for (uint32_t I = 0; I < Art->sections().size(); ++I)
    EXPECT_TRUE(std::ranges::equal(New->section(I), Art->section(I))) << I;
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

/// Opens the newest golden file as if it were of another format.
Status openAs(uint16_t Major, uint16_t Minor, uint16_t RuntimeMajor,
              uint16_t RuntimeMinor) {
  std::vector<uint8_t> Bytes =
      readFile(std::string(LLMC_GOLDEN) + "/" + std::rbegin(All)->File).take();
  FileHeader H;
  std::memcpy(&H, Bytes.data(), sizeof H);
  H.Major = Major;
  H.Minor = Minor;
  H.RuntimeMajor = RuntimeMajor;
  H.RuntimeMinor = RuntimeMinor;
  H.Hash = xxh3({reinterpret_cast<uint8_t *>(&H), offsetof(FileHeader, Hash)});
  std::memcpy(Bytes.data(), &H, sizeof H);
  std::string Path = testing::TempDir() + "/other-version.llmc";
  std::ofstream(Path, std::ios::binary)
      .write(reinterpret_cast<const char *>(Bytes.data()),
             static_cast<std::streamsize>(Bytes.size()));
  Status S = Reader::open(Path).status();
  fs::remove(Path);
  return S;
}

TEST(GoldenVersion, OlderAndNewerFilesThatNeedNoNewerRuntimeOpen) {
  for (uint16_t Minor : {0, FormatMinor + 0, FormatMinor + 1, 0xffff})
    for (uint16_t Needs = 0; Needs <= FormatMinor; ++Needs)
      EXPECT_TRUE(openAs(FormatMajor, Minor, FormatMajor, Needs).ok())
          << Minor << " needs " << Needs;
}

TEST(GoldenVersion, FilesThatNeedANewerRuntimeAreRefused) {
  constexpr uint16_t Next = FormatMinor + 1;
  Status S = openAs(FormatMajor, Next, FormatMajor, Next);
  ASSERT_FALSE(S.ok());
  EXPECT_EQ(S.code(), StatusCode::Malformed);
  std::string Newer = std::to_string(FormatMajor) + "." + std::to_string(Next);
  EXPECT_NE(S.message().find("artifact of format " + Newer + " needs runtime " +
                             Newer + " or newer, this one reads up to " +
                             std::to_string(FormatMajor) + "." +
                             std::to_string(FormatMinor)),
            std::string::npos)
      << S.message();
  EXPECT_FALSE(openAs(FormatMajor + 1, 0, FormatMajor + 1, 0).ok());
  EXPECT_FALSE(openAs(FormatMajor + 1, 0, FormatMajor, 0).ok());
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
