// The writer refuses calls in the wrong order and never leaves a file behind.
#include "runtime/artifact/Writer.h"
#include "runtime/artifact/Manifest.h"
#include "test/runtime/artifact/TinyArtifact.h"

#include "gtest/gtest.h"

#include <filesystem>

using namespace llmc;

namespace {
class WriterTest : public testing::Test {
protected:
  WriterTest() {
    char Name[] = "/tmp/llmc-writer-XXXXXX";
    Folder = ::mkdtemp(Name);
    Result<std::unique_ptr<Writer>> R = Writer::create(Folder + "/a.llmc");
    EXPECT_TRUE(R.ok());
    W = R.take();
  }
  ~WriterTest() override {
    W.reset();
    EXPECT_TRUE(std::filesystem::is_empty(Folder));
    std::filesystem::remove_all(Folder);
  }
  std::string Folder;
  std::unique_ptr<Writer> W;
};

TEST_F(WriterTest, NoSectionAfterWeights) {
  uint32_t Weights = *W->declareWeights(4);
  ASSERT_TRUE(W->appendWeights(Weights, bytesOf("12")).ok());
  EXPECT_FALSE(W->addSection(SectionKind::Ptx, bytesOf("x")).ok());
}

TEST_F(WriterTest, WeightsMustMatchTheirDeclaration) {
  uint32_t Weights = *W->declareWeights(4);
  ASSERT_TRUE(W->appendWeights(Weights, bytesOf("12")).ok());
  EXPECT_FALSE(W->appendWeights(Weights, bytesOf("345")).ok());
  Status S = W->finish();
  EXPECT_NE(S.message().find("2 bytes of weights, 4 were declared"),
            std::string::npos)
      << S.message();
}

TEST_F(WriterTest, WeightsComeInOrder) {
  uint32_t First = *W->declareWeights(1), Second = *W->declareWeights(1);
  ASSERT_TRUE(W->appendWeights(First, bytesOf("1")).ok());
  ASSERT_TRUE(W->appendWeights(Second, bytesOf("2")).ok());
  EXPECT_FALSE(W->appendWeights(First, bytesOf("1")).ok());
}

TEST_F(WriterTest, ReservedSectionsMustBeFilledOnce) {
  uint32_t Index = *W->reserveSection(SectionKind::Quality, 3);
  EXPECT_FALSE(W->finish().ok());
  EXPECT_FALSE(W->fillSection(Index, bytesOf("1234")).ok());
  EXPECT_TRUE(W->fillSection(Index, bytesOf("123")).ok());
  EXPECT_FALSE(W->fillSection(Index, bytesOf("123")).ok());
  EXPECT_FALSE(W->fillSection(Index + 1, bytesOf("1")).ok());
}

TEST(Manifest, SizeDoesNotDependOnNumbers) {
  Manifest M = test::tinyManifest({});
  size_t Size = encodeManifest(M).size();
  M.Tensors[0].SnrDb = 42.5f;
  M.Tensors[0].MaxError = 1e-3f;
  M.Tensors[0].Exact = true;
  M.Model.PadId = 3;
  M.Plans[0].WeightBytes = UINT64_MAX;
  EXPECT_EQ(encodeManifest(M).size(), Size);
}

TEST(Manifest, ElementTypesAreChecked) {
  Manifest M = test::tinyManifest({});
  M.Plans[0].States[0].Type = static_cast<DType>(233); // found by the fuzzer
  Status S = decodeManifest(encodeManifest(M)).takeStatus();
  EXPECT_EQ(S.message(), "kv: element type is 233, expected 1 to 23");
}
} // namespace
