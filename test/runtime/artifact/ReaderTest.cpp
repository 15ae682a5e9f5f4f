// Writer and reader: round trip, truncation anywhere, flipped bits anywhere
// outside the weights, values out of range.
#include "runtime/artifact/Reader.h"
#include "test/runtime/artifact/TinyArtifact.h"

#include "gtest/gtest.h"

#include <filesystem>
#include <random>

using namespace llmc;
using namespace llmc::test;

namespace {
class ReaderTest : public testing::Test {
protected:
  ReaderTest() {
    char Name[] = "/tmp/llmc-reader-XXXXXX";
    Folder = ::mkdtemp(Name);
    Path = Folder + "/tiny.llmc";
  }
  ~ReaderTest() override { std::filesystem::remove_all(Folder); }

  std::vector<uint8_t> bytes(const TinyOptions &O = {}) {
    Status S = writeTiny(Path, O);
    EXPECT_TRUE(S.ok()) << S.message();
    Result<std::vector<uint8_t>> B = readFile(Path);
    EXPECT_TRUE(B.ok());
    return B.take();
  }
  static Status statusOf(std::span<const uint8_t> B) {
    Result<std::unique_ptr<Reader>> R = Reader::fromBytes(B, "t");
    return R.takeStatus();
  }
  void expectRefused(const TinyOptions &O, const std::string &Words) {
    Status S = statusOf(bytes(O));
    EXPECT_EQ(S.code(), StatusCode::Malformed);
    EXPECT_NE(S.message().find(Words), std::string::npos) << S.message();
  }
  std::string Folder, Path;
};

TEST_F(ReaderTest, RoundTrip) {
  TinyOptions O;
  ASSERT_TRUE(writeTiny(Path, O).ok());
  Result<std::unique_ptr<Reader>> Opened = Reader::open(Path);
  ASSERT_TRUE(Opened.ok()) << Opened.status().message();
  const Reader &R = **Opened;
  EXPECT_EQ(R.sections().size(), 12u);
  EXPECT_EQ(R.identity().size(), 64u);
  EXPECT_EQ(R.manifest().Model.Name, "tiny");
  EXPECT_EQ(R.manifest().Model.EosIds, std::vector<int32_t>{2});
  EXPECT_EQ(R.manifest().Tensors.at(0).Layout, "vec.f32");
  ASSERT_EQ(R.targets().size(), 2u);
  const TargetView &Cpu = R.targets()[0], &Cuda = R.targets()[1];
  EXPECT_EQ(Cpu.Target, "x86-64-v3");
  EXPECT_EQ(Cpu.Code.size(), 333u);
  EXPECT_TRUE(Cpu.Ptx.empty());
  EXPECT_EQ(Cuda.Ptx.size(), 11u);
  std::vector<uint8_t> W = tinyWeights(1000);
  EXPECT_TRUE(
      std::equal(W.begin(), W.end(), Cpu.Weights.begin(), Cpu.Weights.end()));
  EXPECT_EQ(reinterpret_cast<uintptr_t>(Cpu.Weights.data()) % 4096, 0u);
  EXPECT_EQ(textOf(R.find(SectionKind::Provenance)), "{}");
  EXPECT_TRUE(R.find(SectionKind::SelfTest).empty());
}

TEST_F(ReaderTest, SameInputsSameBytes) { EXPECT_EQ(bytes(), bytes()); }

TEST_F(ReaderTest, WeightsOfSeveralChunks) {
  TinyOptions O;
  O.X86Bytes = 2 * ChunkBytes + 5;
  ASSERT_TRUE(writeTiny(Path, O).ok());
  Result<std::unique_ptr<Reader>> R = Reader::open(Path);
  ASSERT_TRUE(R.ok()) << R.status().message();
  EXPECT_EQ((*R)->section(9).size(), 3u * 8);
}

TEST_F(ReaderTest, TruncatedAnywhereIsRefused) {
  std::vector<uint8_t> B = bytes();
  for (size_t N = 0; N < B.size(); N += N < 2048 ? 1 : 7) {
    std::vector<uint8_t> Short(B.begin(), B.begin() + N);
    ASSERT_EQ(statusOf(Short).code(), StatusCode::Malformed) << N;
  }
  B.push_back(0);
  EXPECT_NE(statusOf(B).message().find("too long"), std::string::npos);
}

TEST_F(ReaderTest, EveryFlippedByteOutsideWeightsIsRefused) {
  std::vector<uint8_t> B = bytes();
  Result<std::unique_ptr<Reader>> R = Reader::fromBytes(B, "t");
  ASSERT_TRUE(R.ok());
  std::vector<bool> IsWeight(B.size());
  for (const SectionEntry &E : (*R)->sections())
    if (E.Kind == static_cast<uint32_t>(SectionKind::Weights))
      std::fill_n(IsWeight.begin() + E.Offset, E.Bytes, true);
  for (size_t I = 0; I < B.size(); ++I) {
    B[I] ^= static_cast<uint8_t>(1u << (I % 8));
    bool Refused = !statusOf(B).ok();
    ASSERT_EQ(Refused, !IsWeight[I]) << "byte " << I;
    B[I] ^= static_cast<uint8_t>(1u << (I % 8));
  }
}

TEST_F(ReaderTest, RandomBytesNeverCrash) {
  std::vector<uint8_t> B = bytes();
  std::mt19937 Random(1);
  for (int Round = 0; Round < 2000; ++Round) {
    std::vector<uint8_t> C = B;
    for (int Hit = 0; Hit < 4; ++Hit)
      C[Random() % std::min<size_t>(C.size(), 3000)] =
          static_cast<uint8_t>(Random());
    (void)statusOf(C);
  }
}

TEST_F(ReaderTest, ValuesOutOfRangeAreRefused) {
  expectRefused({.LaunchKernel = 1}, "kernel 1, expected less than 1");
  expectRefused({.WeightOffset = 301}, "offset is 301, expected 0 to 300");
  expectRefused({.LastBucket = 1}, "bucket 1 is 1");
  expectRefused({.PageBytes = 4095}, "kv: bytes in a page is 4096");
  expectRefused({.ArgKind = 77}, "argument kind 77 needs a newer runtime");
  expectRefused({.EosId = 16}, "eos id is 16, expected less than 16");
  expectRefused({.EosId = -1}, "eos id is -1");
}

TEST_F(ReaderTest, MissingFilesAndOtherFiles) {
  EXPECT_EQ(Reader::open(Folder + "/none").status().code(),
            StatusCode::Malformed);
  ASSERT_TRUE(writeFile(Path, bytesOf("GGUF, and then some more bytes until "
                                      "this is longer than a header would be "
                                      "in our format"))
                  .ok());
  Status S = Reader::open(Path).takeStatus();
  EXPECT_NE(S.message().find("does not begin with LLMC"), std::string::npos);
  EXPECT_EQ(S.message().find(Path), 0u);
}
} // namespace
