// WeightStore: path rules, ranges, many files, memory.
#include "compiler/weights/WeightStore.h"

#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace llmc;
namespace fs = std::filesystem;

namespace {
class WeightStoreTest : public ::testing::Test {
protected:
  void SetUp() override {
    std::string Template =
        (fs::temp_directory_path() / "llmc-store-XXXXXX").string();
    ASSERT_NE(::mkdtemp(Template.data()), nullptr);
    Root = Template;
    fs::create_directories(Root / "model/sub");
    write("model/model.onnx", "0123456789");
    write("model/weights.bin", "abcdefgh");
    write("model/sub/part.bin", "xyz");
    write("outside.bin", "secret");
  }
  void TearDown() override { fs::remove_all(Root); }
  void write(const std::string &Name, const std::string &Text) {
    std::ofstream(Root / Name, std::ios::binary) << Text;
  }
  WeightStore open(bool Links = false) {
    return WeightStore::open((Root / "model/model.onnx").string(), {Links})
        .take();
  }
  std::string refusal(WeightStore &S, const std::string &Location) {
    Result<uint32_t> R = S.addFile(Location, "w");
    if (R.ok())
      return "accepted";
    EXPECT_EQ(R.status().code(), StatusCode::Malformed);
    return R.status().message();
  }
  fs::path Root;
};

bool has(const std::string &Text, const std::string &Part) {
  return Text.find(Part) != std::string::npos;
}

TEST_F(WeightStoreTest, ReadsModelAndDataFiles) {
  WeightStore S = open();
  Result<uint32_t> F = S.addFile("weights.bin", "w");
  ASSERT_TRUE(F.ok());
  EXPECT_EQ(*F, 1u);
  EXPECT_EQ(S.size(*F), 8u);
  std::vector<uint8_t> Bytes(3);
  ASSERT_TRUE(S.read(*F, 2, Bytes, "w").ok());
  EXPECT_EQ(std::string(Bytes.begin(), Bytes.end()), "cde");
  ASSERT_TRUE(S.read(0, 7, Bytes, "w").ok());
  EXPECT_EQ(std::string(Bytes.begin(), Bytes.end()), "789");
}

TEST_F(WeightStoreTest, SameFileHasOneIndex) {
  WeightStore S = open();
  EXPECT_EQ(*S.addFile("sub/part.bin", "a"), 1u);
  EXPECT_EQ(*S.addFile("./sub/../sub//part.bin", "b"), 1u);
  EXPECT_EQ(S.name(1), "sub/part.bin");
}

TEST_F(WeightStoreTest, RefusesPathsThatLeaveTheFolder) {
  WeightStore S = open();
  EXPECT_TRUE(has(refusal(S, "../outside.bin"), "outside the folder"));
  EXPECT_TRUE(has(refusal(S, "sub/../../outside.bin"), "outside the folder"));
  EXPECT_TRUE(has(refusal(S, "/etc/passwd"), "absolute path"));
  EXPECT_TRUE(has(refusal(S, ""), "empty"));
  EXPECT_TRUE(has(refusal(S, "."), "names the folder"));
  EXPECT_TRUE(has(refusal(S, std::string("a\0b", 3)), "zero byte"));
}

TEST_F(WeightStoreTest, NamesFileAndTensorWhenMissing) {
  WeightStore S = open();
  std::string Text = refusal(S, "none.bin");
  EXPECT_TRUE(has(Text, "'none.bin' of tensor 'w' not found in"));
}

TEST_F(WeightStoreTest, RefusesSymlinksUnlessAllowed) {
  fs::create_symlink("weights.bin", Root / "model/link.bin");
  fs::create_directory_symlink("sub", Root / "model/linked");
  fs::create_directory_symlink("..", Root / "model/up");
  WeightStore S = open();
  EXPECT_TRUE(has(refusal(S, "link.bin"), "--allow-symlinks"));
  EXPECT_NE(refusal(S, "linked/part.bin"), "accepted");
  WeightStore L = open(true);
  EXPECT_EQ(refusal(L, "link.bin"), "accepted");
  // The switch is about the data file, not about folders on the way.
  EXPECT_NE(refusal(L, "up/outside.bin"), "accepted");
}

TEST_F(WeightStoreTest, RefusesWhatIsNoRegularFile) {
  ASSERT_EQ(::mkfifo((Root / "model/pipe").c_str(), 0600), 0);
  WeightStore S = open();
  EXPECT_TRUE(has(refusal(S, "pipe"), "not a regular file"));
  EXPECT_TRUE(has(refusal(S, "sub"), "not a regular file"));
}

TEST_F(WeightStoreTest, ChecksRangesWithoutOverflow) {
  WeightStore S = open();
  uint32_t F = *S.addFile("weights.bin", "w");
  EXPECT_TRUE(S.checkRange(F, 8, 0, "w").ok());
  EXPECT_TRUE(has(S.checkRange(F, 4, 5, "w").message(),
                  "'weights.bin' has 8 bytes, tensor 'w' needs 5 at offset 4"));
  EXPECT_FALSE(S.checkRange(F, UINT64_MAX, 2, "w").ok());
  EXPECT_FALSE(S.checkRange(F, 2, UINT64_MAX, "w").ok());
}

TEST_F(WeightStoreTest, ExplainsTextInPlaceOfData) {
  write("model/lfs.bin", "version https://git-lfs.github.com/spec/v1\n");
  write("model/link.bin", "weights.bin");
  write("model/none.bin", "nothing.bin");
  WeightStore S = open();
  const auto Message = [&](const char *Name) {
    return S.checkRange(*S.addFile(Name, "w"), 0, 4096, "w").message();
  };
  EXPECT_TRUE(has(Message("lfs.bin"), "Git LFS pointer"));
  EXPECT_TRUE(has(Message("link.bin"), "symbolic link to 'weights.bin'"));
  EXPECT_FALSE(has(Message("none.bin"), "symbolic link"));
}

TEST_F(WeightStoreTest, ReadsMoreFilesThanItKeepsOpen) {
  WeightStore S = open();
  for (int I = 0; I < 300; ++I) {
    write("model/f" + std::to_string(I), std::to_string(I));
    ASSERT_EQ(*S.addFile("f" + std::to_string(I), "w"),
              static_cast<uint32_t>(I + 1));
  }
  std::vector<uint8_t> Bytes(3);
  ASSERT_TRUE(S.read(300, 0, Bytes, "w").ok());
  EXPECT_EQ(std::string(Bytes.begin(), Bytes.end()), "299");
  write("model/f299", "longer");
  EXPECT_TRUE(has(S.read(300, 0, Bytes, "w").message(), "changed"));
}

TEST_F(WeightStoreTest, ReportsAFileThatShrank) {
  WeightStore S = open();
  uint32_t F = *S.addFile("weights.bin", "w");
  write("model/weights.bin", "ab");
  std::vector<uint8_t> Bytes(8);
  EXPECT_TRUE(has(S.read(F, 0, Bytes, "w").message(), "it ends there"));
}

TEST_F(WeightStoreTest, HoldsBytesInMemory) {
  WeightStore S = open();
  uint32_t F = S.addMemory({1, 2, 3, 4});
  EXPECT_EQ(S.name(F), "<memory>");
  std::vector<uint8_t> Bytes(2);
  ASSERT_TRUE(S.read(F, 1, Bytes, "w").ok());
  EXPECT_EQ(Bytes[1], 3);
  EXPECT_FALSE(S.read(F, 3, Bytes, "w").ok());
}
} // namespace
