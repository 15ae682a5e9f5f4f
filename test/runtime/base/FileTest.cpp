// Files: nothing appears under the final name before commit, bad paths fail.
#include "runtime/base/File.h"

#include "gtest/gtest.h"

#include <filesystem>
#include <sys/stat.h>

using namespace llmc;
namespace fs = std::filesystem;

class FileTest : public testing::Test {
protected:
  FileTest() {
    char Name[] = "/tmp/llmc-file-XXXXXX";
    Folder = ::mkdtemp(Name);
  }
  ~FileTest() override { fs::remove_all(Folder); }
  std::string path(const char *Name) const { return Folder + "/" + Name; }
  size_t entries() const {
    return static_cast<size_t>(std::distance(fs::directory_iterator(Folder),
                                             fs::directory_iterator()));
  }
  std::string Folder;
};

TEST_F(FileTest, AppearsAtCommitOnly) {
  {
    Result<AtomicFile> F = AtomicFile::create(path("a"));
    ASSERT_TRUE(F.ok());
    ASSERT_TRUE(F->writeAt(3, bytesOf("xyz")).ok());
    EXPECT_FALSE(fs::exists(path("a")));
    EXPECT_LE(entries(), 1u); // a temporary name where O_TMPFILE is unknown
    ASSERT_TRUE(F->commit().ok());
  }
  Result<std::vector<uint8_t>> Bytes = readFile(path("a"));
  ASSERT_TRUE(Bytes.ok());
  EXPECT_EQ(textOf(*Bytes), std::string_view("\0\0\0xyz", 6));
  EXPECT_EQ(entries(), 1u);
  struct stat Info;
  ASSERT_EQ(::stat(path("a").c_str(), &Info), 0);
  mode_t Mask = ::umask(0);
  ::umask(Mask);
  EXPECT_EQ(Info.st_mode & 0777, 0666u & ~Mask);
}

TEST_F(FileTest, AbandonedLeavesNothing) {
  ASSERT_TRUE(writeFile(path("a"), bytesOf("old")).ok());
  {
    Result<AtomicFile> F = AtomicFile::create(path("a"));
    ASSERT_TRUE(F.ok());
    ASSERT_TRUE(F->writeAt(0, bytesOf("new")).ok());
  }
  EXPECT_EQ(textOf(*readFile(path("a"))), "old");
  EXPECT_EQ(entries(), 1u);
}

TEST_F(FileTest, BadPathsFail) {
  Result<AtomicFile> F = AtomicFile::create(path("no/a"));
  ASSERT_FALSE(F.ok());
  EXPECT_EQ(F.status().code(), StatusCode::Malformed);
  EXPECT_FALSE(AtomicFile::create(Folder).ok());
  EXPECT_FALSE(AtomicFile::create("/dev/null").ok());
  EXPECT_FALSE(MappedFile::open(path("none")).ok());
  EXPECT_FALSE(MappedFile::open(Folder).ok());
  ASSERT_EQ(::mkfifo(path("pipe").c_str(), 0600), 0);
  EXPECT_FALSE(readFile(path("pipe")).ok());
  ASSERT_TRUE(writeFile(path("a"), bytesOf("1234")).ok());
  EXPECT_FALSE(readFile(path("a"), 3).ok());
}

TEST_F(FileTest, MapsAndMoves) {
  ASSERT_TRUE(writeFile(path("a"), bytesOf("1234")).ok());
  ASSERT_TRUE(writeFile(path("empty"), {}).ok());
  Result<MappedFile> A = MappedFile::open(path("a"));
  ASSERT_TRUE(A.ok());
  MappedFile B = A.take();
  EXPECT_EQ(textOf(B.bytes()), "1234");
  B.release(0, 4);
  EXPECT_EQ(textOf(B.bytes()), "1234");
  Result<MappedFile> Empty = MappedFile::open(path("empty"));
  ASSERT_TRUE(Empty.ok());
  EXPECT_TRUE(Empty->bytes().empty());
}
