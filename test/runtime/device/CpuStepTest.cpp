// A step refuses every index that the compiled code would use unchecked.
#include "runtime/device/cpu/CpuFeatures.h"
#include "test/runtime/device/SyntheticModel.h"

#include <gtest/gtest.h>

using namespace llmc;
using namespace llmc::test;

namespace {
/// A step that works, for tests to spoil.
struct Good {
  std::vector<int32_t> Ids{1, 2}, Positions{0, 1}, RowSeq{0, 0}, LogitRows{1};
  std::vector<uint32_t> Pages{5};
  std::vector<float> Logits;
  uint32_t Prompt = 2, Sequences = 1;

  StepInput input() {
    StepInput In;
    In.Ids = Ids;
    In.Positions = Positions;
    In.RowSequence = RowSeq;
    In.PromptRows = Prompt;
    In.Sequences = Sequences;
    In.PagesPerSequence = static_cast<uint32_t>(Pages.size()) / Sequences;
    In.PageTable = Pages;
    In.LogitRows = LogitRows;
    In.Logits = Logits;
    return In;
  }
};

class CpuStep : public testing::Test {
protected:
  void SetUp() override {
    if (!hasCpuFeature("avx2"))
      GTEST_SKIP() << "this machine has no avx2";
    static SyntheticModel *Model = [] {
      SyntheticShape S;
      S.Layers = 1;
      S.Int8 = false;
      S.Target = "x86-64-v3";
      SyntheticModel *M = new SyntheticModel(S);
      EXPECT_TRUE(M->build().ok());
      return M;
    }();
    Dev = openDevice("cpu").take();
    Result<std::unique_ptr<Executable>> E = Dev->load(Model->view(), {1, 0});
    ASSERT_TRUE(E.ok()) << E.status().message();
    Exec = E.take();
    G.Logits.resize(2 * Exec->info().Vocab);
  }
  StatusCode run() { return Exec->step(G.input()).code(); }

  std::unique_ptr<Device> Dev;
  std::unique_ptr<Executable> Exec;
  Good G;
};

TEST_F(CpuStep, RunsWhatIsRight) {
  EXPECT_EQ(run(), StatusCode::Ok);
  G.Ids.clear();
  G.Positions.clear();
  G.RowSeq.clear();
  G.LogitRows.clear();
  G.Prompt = 0;
  EXPECT_EQ(run(), StatusCode::Ok);
}
TEST_F(CpuStep, TokenIds) {
  for (int32_t Id : {-1, static_cast<int32_t>(Exec->info().Vocab)}) {
    G.Ids[1] = Id;
    EXPECT_EQ(run(), StatusCode::Internal) << Id;
  }
}
TEST_F(CpuStep, Positions) {
  for (int32_t Pos : {-1, 64, 1 << 30}) {
    G.Positions[1] = Pos;
    EXPECT_EQ(run(), StatusCode::Internal) << Pos;
  }
}
TEST_F(CpuStep, Sequences) {
  G.RowSeq[1] = 1;
  EXPECT_EQ(run(), StatusCode::Internal);
  G.RowSeq[1] = 0;
  G.Sequences = 1000;
  EXPECT_EQ(run(), StatusCode::DoesNotFit);
}
TEST_F(CpuStep, Pages) {
  G.Pages[0] = Exec->info().Pages;
  EXPECT_EQ(run(), StatusCode::Internal);
}
TEST_F(CpuStep, LogitRows) {
  for (std::vector<int32_t> Rows :
       {std::vector<int32_t>{2}, {-1}, {1, 0}, {1, 1}}) {
    G.LogitRows = Rows;
    EXPECT_EQ(run(), StatusCode::Internal);
  }
}
TEST_F(CpuStep, ArraySizes) {
  G.Prompt = 3;
  EXPECT_EQ(run(), StatusCode::DoesNotFit);
  G.Prompt = 2;
  G.Logits.resize(3);
  EXPECT_EQ(run(), StatusCode::Internal);
}
TEST_F(CpuStep, TooManyTokens) {
  size_t N = Exec->info().MaxTokens + 1;
  G.Ids.assign(N, 1);
  G.Positions.assign(N, 0);
  G.RowSeq.assign(N, 0);
  EXPECT_EQ(run(), StatusCode::DoesNotFit);
}
TEST_F(CpuStep, CopiesPages) {
  EXPECT_TRUE(Exec->copyPage(5, 6).ok());
  EXPECT_EQ(Exec->copyPage(5, Exec->info().Pages).code(), StatusCode::Internal);
}

/// A forked sequence continues with the same bits from the copied page.
TEST_F(CpuStep, CopiedPagesHoldTheSame) {
  EXPECT_EQ(run(), StatusCode::Ok);
  ASSERT_TRUE(Exec->copyPage(5, 9).ok());
  G.Ids = {3};
  G.Positions = {2};
  G.RowSeq = {0};
  G.LogitRows = {0};
  G.Prompt = 0;
  std::vector<float> First;
  for (uint32_t Page : {5u, 9u}) {
    G.Pages = {Page};
    EXPECT_EQ(run(), StatusCode::Ok);
    if (First.empty())
      First = G.Logits;
  }
  EXPECT_EQ(First, G.Logits);
}
} // namespace
