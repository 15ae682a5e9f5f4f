// Model::loadOn on a device that only keeps what it was asked for.
#include "runtime/model/Model.h"

#include "test/runtime/artifact/TinyArtifact.h"
#include "test/runtime/model/ToyExecutable.h"

#include <gtest/gtest.h>

using namespace llmc;

namespace {

class RecordingDevice : public Device {
public:
  RecordingDevice(std::string Accepted, uint32_t &Pages)
      : Accepted(std::move(Accepted)), Pages(Pages) {}
  std::string_view name() const override { return "recording"; }
  std::string whyNot(const ProgramView &P) const override {
    return P.Target == Accepted ? "" : "not the target of this test";
  }
  Result<std::unique_ptr<Executable>>
  load(const ProgramView &, const DeviceLoadOptions &O) override {
    Pages = O.Pages;
    return std::unique_ptr<Executable>(
        new ToyExecutable(ToyExecutable::small()));
  }

private:
  std::string Accepted;
  uint32_t &Pages;
};

/// Pages that the device of a target is asked for; its pages have 16 tokens on
/// sm_80 and 32 on the CPU.
uint32_t pagesFor(const std::string &Target, uint32_t KvTokens) {
  std::string Path = testing::TempDir() + "model-test.llmc";
  test::TinyOptions Tiny;
  Tiny.X86PageTokens = 32;
  Status Written = test::writeTiny(Path, Tiny);
  EXPECT_TRUE(Written.ok()) << Written.message();
  std::shared_ptr<const Reader> R = Reader::open(Path).take();
  ModelOptions O;
  O.KvTokens = KvTokens;
  uint32_t Pages = UINT32_MAX;
  Result<std::unique_ptr<Model>> M =
      Model::loadOn(R, std::make_unique<RecordingDevice>(Target, Pages), O);
  EXPECT_TRUE(M.ok()) << M.status().message();
  return Pages;
}

TEST(Model, CacheTokensBecomePagesOfTheChosenTarget) {
  EXPECT_EQ(pagesFor("sm_80", 64), 4u);
  EXPECT_EQ(pagesFor("x86-64-v3", 64), 2u);
  EXPECT_EQ(pagesFor("sm_80", 65), 5u);
  EXPECT_EQ(pagesFor("x86-64-v3", 0), 0u);
  EXPECT_EQ(pagesFor("sm_80", UINT32_MAX), 1u << 28);
}

} // namespace
