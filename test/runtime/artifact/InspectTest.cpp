// inspect: the fields that scripts rely on, valid JSON, hostile names; verify:
// damaged weights are named.
#include "runtime/artifact/Inspect.h"
#include "runtime/artifact/Verify.h"
#include "test/runtime/artifact/TinyArtifact.h"

#include "gtest/gtest.h"

#include <filesystem>
#include <nlohmann/json.hpp>

using namespace llmc;
using nlohmann::json;

namespace {
class InspectTest : public testing::Test {
protected:
  InspectTest() {
    char Name[] = "/tmp/llmc-inspect-XXXXXX";
    Folder = ::mkdtemp(Name);
    Path = Folder + "/tiny.llmc";
  }
  ~InspectTest() override { std::filesystem::remove_all(Folder); }
  std::unique_ptr<Reader> open(const test::TinyOptions &O = {}) {
    Status S = test::writeTiny(Path, O);
    EXPECT_TRUE(S.ok()) << S.message();
    Result<std::unique_ptr<Reader>> R = Reader::open(Path);
    EXPECT_TRUE(R.ok()) << R.status().message();
    return R.take();
  }
  /// Changes one byte of the weights of a section.
  void damage(const Reader &R, uint32_t Section, uint64_t Offset) {
    std::vector<uint8_t> B = readFile(Path).take();
    B[R.sections()[Section].Offset + Offset] ^= 4;
    ASSERT_TRUE(writeFile(Path, B).ok());
  }
  Status verify() {
    Result<std::unique_ptr<Reader>> R = Reader::open(Path);
    EXPECT_TRUE(R.ok());
    return verifyHashes(**R).takeStatus();
  }
  std::string Folder, Path;
};

TEST_F(InspectTest, KernelFieldsOfTheContract) {
  json J =
      json::parse(inspectArtifact(*open(), {.Json = true, .Kernels = true}));
  ASSERT_EQ(J["kernels"].size(), 1u);
  const json &K = J["kernels"][0];
  EXPECT_EQ(K["name"], "add_f32_sm80");
  EXPECT_EQ(K["target"], "sm_80");
  EXPECT_EQ(K["registers"], 20);
  EXPECT_EQ(K["shared_bytes"], 0);
  EXPECT_EQ(K["spill_bytes"], 0);
  EXPECT_EQ(K["local_bytes"], 0);
  EXPECT_EQ(K["cubin_bytes"], 77);
  EXPECT_EQ(K["ptx_bytes"], 11);
  EXPECT_EQ(K["source_nodes"], json({"/model/Add"}));
}

TEST_F(InspectTest, EveryPartIsValidJson) {
  std::unique_ptr<Reader> R = open();
  json J = json::parse(inspectArtifact(*R, {.Json = true,
                                            .Weights = true,
                                            .Plan = true,
                                            .Provenance = true,
                                            .Quality = true,
                                            .Kernels = true,
                                            .Launches = true}));
  EXPECT_EQ(J.size(), 6u);
  EXPECT_EQ(J["weights"][0]["name"], "w");
  EXPECT_EQ(J["plan"][0]["kv_bytes"], 4 * 4096);
  EXPECT_EQ(J["provenance"], json::object());
  EXPECT_TRUE(J["quality"]["model"].is_null());
  EXPECT_EQ(J["launches"][0]["grids"], json({{1, 1, 1}, {8, 1, 1}}));
  json S = json::parse(inspectArtifact(*R, {.Json = true}));
  EXPECT_EQ(S["identity"], R->identity());
  EXPECT_EQ(S["model"]["vocab"], 16);
  EXPECT_EQ(S["targets"][0]["cpu_features"], json({"avx2", "fma"}));
}

TEST_F(InspectTest, TextNamesTheEssentials) {
  std::unique_ptr<Reader> R = open();
  std::string Summary = inspectArtifact(*R, {});
  for (const char *Word : {"format 0.1", "sm_80", "x86-64-v3", "tokenizer"})
    EXPECT_NE(Summary.find(Word), std::string::npos) << Word;
  EXPECT_NE(Summary.find(R->identity()), std::string::npos);
  std::string Plan = inspectArtifact(*R, {.Plan = true});
  EXPECT_NE(Plan.find("KV cache  16.0 KiB: 4 pages of 16 tokens"),
            std::string::npos)
      << Plan;
  std::string Launches = inspectArtifact(*R, {.Launches = true});
  EXPECT_NE(Launches.find("sm_80: 1 launches per step"), std::string::npos);
  EXPECT_NE(inspectArtifact(*R, {.Kernels = true}).find("add_f32_sm80"),
            std::string::npos);
}

TEST_F(InspectTest, VerifyAcceptsWhatWasWritten) {
  test::TinyOptions O;
  O.X86Bytes = ChunkBytes + 100;
  std::unique_ptr<Reader> R = open(O);
  for (unsigned Threads : {1u, 2u, 5u}) {
    Result<VerifyReport> V = verifyHashes(*R, {.Threads = Threads});
    ASSERT_TRUE(V.ok()) << V.status().message();
    EXPECT_EQ(V->Chunks, 3u);
    EXPECT_EQ(V->WeightBytes, ChunkBytes + 100 + O.CudaBytes);
  }
}

TEST_F(InspectTest, VerifyNamesDamagedChunkAndTensor) {
  test::TinyOptions O;
  O.X86Bytes = ChunkBytes + 100;
  std::unique_ptr<Reader> R = open(O);
  damage(*R, 8, 70); // tensor w lies at 64 … 80
  Status S = verify();
  EXPECT_EQ(S.code(), StatusCode::Verification);
  EXPECT_NE(S.message().find("section 8 (weights) is damaged: chunk 0 (bytes 0 "
                             "to 16777216) in w does not have its hash"),
            std::string::npos)
      << S.message();
  damage(*R, 8, 70);
  damage(*R, 8, ChunkBytes + 99);
  EXPECT_NE(
      verify().message().find("chunk 1 (bytes 16777216 to 16777316) does"),
      std::string::npos)
      << verify().message();
}
} // namespace
