// Damaged files: every prefix of a model and every single byte changed is
// either imported or refused, without a crash.
#include "compiler/frontend/onnx/Import.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"

#include <fcntl.h>
#include <filesystem>
#include <gtest/gtest.h>
#include <unistd.h>

using namespace llmc;
namespace fs = std::filesystem;

namespace {
class DamageTest : public ::testing::TestWithParam<const char *> {
protected:
  void SetUp() override {
    std::string Template =
        (fs::temp_directory_path() / "llmc-damage-XXXXXX").string();
    ASSERT_NE(::mkdtemp(Template.data()), nullptr);
    Folder = Template;
    fs::path Inputs = LLMC_TEST_INPUTS "/import";
    fs::copy(Inputs / GetParam(), Folder / "m.onnx");
    fs::copy(Inputs / "data", Folder / "data", fs::copy_options::recursive);
    Fd = ::open((Folder / "m.onnx").c_str(), O_RDWR);
    ASSERT_GE(Fd, 0);
    Size = static_cast<off_t>(fs::file_size(Folder / "m.onnx"));
  }
  void TearDown() override {
    ::close(Fd);
    fs::remove_all(Folder);
  }

  StatusCode import() {
    WeightStore Store;
    Result<mlir::OwningOpRef<mlir::ModuleOp>> R =
        importOnnx(Context, (Folder / "m.onnx").string(), {}, Store);
    if (R.ok())
      return StatusCode::Ok;
    EXPECT_FALSE(R.status().message().empty());
    return R.status().code();
  }

  mlir::MLIRContext Context{mlir::MLIRContext::Threading::DISABLED};
  fs::path Folder;
  int Fd = -1;
  off_t Size = 0;
};

TEST_P(DamageTest, Prefixes) {
  EXPECT_EQ(import(), StatusCode::Ok);
  for (off_t N = Size - 1; N >= 0; --N) {
    ASSERT_EQ(::ftruncate(Fd, N), 0);
    EXPECT_NE(import(), StatusCode::Internal) << "prefix of " << N;
  }
}

TEST_P(DamageTest, ChangedBytes) {
  for (off_t I = 0; I < Size; ++I) {
    uint8_t Good;
    ASSERT_EQ(::pread(Fd, &Good, 1, I), 1);
    for (int Change : {0x01, 0x08, 0x80, 0xff}) {
      uint8_t Bad = static_cast<uint8_t>(Good ^ Change);
      ASSERT_EQ(::pwrite(Fd, &Bad, 1, I), 1);
      EXPECT_NE(import(), StatusCode::Internal)
          << "byte " << I << " xor " << Change;
    }
    ASSERT_EQ(::pwrite(Fd, &Good, 1, I), 1);
  }
}

INSTANTIATE_TEST_SUITE_P(All, DamageTest,
                         ::testing::Values("typed.onnx", "functions.onnx",
                                           "upgrade11.onnx", "dims.onnx",
                                           "constants.onnx", "external.onnx"),
                         [](const ::testing::TestParamInfo<const char *> &I) {
                           return fs::path(I.param).stem().string();
                         });
} // namespace
