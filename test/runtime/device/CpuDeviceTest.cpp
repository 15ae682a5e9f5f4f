// The CPU device without a compiler: threads, quotas, refusals.
#include "runtime/artifact/Program_generated.h"
#include "runtime/device/Device.h"
#include "runtime/device/StepAbi.h"
#include "runtime/device/cpu/CpuFeatures.h"
#include "runtime/device/cpu/CpuImage.h"
#include "runtime/device/cpu/CpuThreads.h"
#include "runtime/device/cpu/StepBarrier.h"
#include "runtime/device/cpu/ThreadPool.h"

#include <gtest/gtest.h>
#include <thread>

using namespace llmc;

namespace {
TEST(CpuThreads, ReadsQuotas) {
  EXPECT_EQ(quotaOf("max 100000"), 0u);
  EXPECT_EQ(quotaOf("200000 100000"), 2u);
  EXPECT_EQ(quotaOf("150000 100000"), 2u);
  EXPECT_EQ(quotaOf("50000 100000"), 1u);
  EXPECT_EQ(quotaOf(""), 0u);
  EXPECT_EQ(quotaOf("100000"), 0u);
  EXPECT_EQ(quotaOf("100000 0"), 0u);
  EXPECT_GE(grantedThreads(), 1u);
}

TEST(ThreadPool, RunsEveryThreadOnceAndWaits) {
  for (uint32_t Count : {1u, 2u, 5u}) {
    Result<std::unique_ptr<ThreadPool>> Pool = ThreadPool::create(Count);
    ASSERT_TRUE(Pool.ok());
    std::vector<uint32_t> Calls(Count);
    for (uint32_t Round = 1; Round <= 200; ++Round) {
      (*Pool)->run(
          [](void *A, uint32_t T) {
            ++(*static_cast<std::vector<uint32_t> *>(A))[T];
          },
          &Calls);
      for (uint32_t C : Calls)
        ASSERT_EQ(C, Round);
      if (Round % 50 == 0) // let the workers fall asleep
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
  }
}

/// Sleepers are woken even when a thread is late.
TEST(StepBarrier, WakesSleepers) {
  StepBarrier Barrier;
  LlmcBarrier *B = Barrier.get();
  uint32_t Seen = B->generation;
  std::thread Sleeper([&] { B->wait(B, Seen); });
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
  __atomic_store_n(&B->generation, Seen + 1, __ATOMIC_SEQ_CST);
  B->wake(B);
  Sleeper.join();
}

/// A long sleep makes polls few, a row of short ones makes them many again.
TEST(StepBarrier, PollsLittleWhereProcessorsAreShort) {
  StepBarrier Barrier;
  LlmcBarrier *B = Barrier.get();
  EXPECT_EQ(B->spin_limit, SpinPolls);
  uint32_t Seen = B->generation;
  std::thread Sleeper([&] { B->wait(B, Seen); });
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  __atomic_store_n(&B->generation, Seen + 1, __ATOMIC_SEQ_CST);
  B->wake(B);
  Sleeper.join();
  EXPECT_EQ(B->spin_limit, CrowdedPolls);
  // Nothing to wait for: no sleep at all. Some may be cut by the scheduler.
  for (uint32_t I = 0; I < 1000 * ShortSleeps; ++I)
    if (B->wait(B, Seen), B->spin_limit == SpinPolls)
      break;
  EXPECT_EQ(B->spin_limit, SpinPolls);
}

TEST(CpuFeatures, UnknownNamesAreAbsent) {
  EXPECT_FALSE(hasCpuFeature("avx1024"));
  EXPECT_FALSE(hasCpuFeature(""));
}

/// A program section with those features and ABI.
std::vector<uint8_t> program(const std::vector<std::string> &Names,
                             uint32_t Abi) {
  flatbuffers::FlatBufferBuilder B;
  std::vector<uint32_t> Buckets = {1};
  std::vector<uint64_t> Arena = {64};
  std::vector<flatbuffers::Offset<flatbuffers::String>> Features;
  for (const std::string &N : Names)
    Features.push_back(B.CreateString(N));
  fb::FinishProgramBuffer(B, fb::CreateProgramDirect(B, "x86-64-v3", "x86", Abi,
                                                     &Buckets, &Arena, 1, 1, 64,
                                                     16, 16, 0, 64, 64, 1,
                                                     nullptr, &Features));
  return {B.GetBufferPointer(), B.GetBufferPointer() + B.GetSize()};
}

TEST(CpuDevice, SaysWhyNot) {
  std::unique_ptr<Device> D = openDevice("cpu").take();
  std::vector<uint8_t> Good = program({}, LLMC_STEP_ABI);
  ProgramView P{"x86-64-v3", Good, {}, {}, {}};
  EXPECT_EQ(D->whyNot(P), "");
  std::vector<uint8_t> Feature = program({"avx1024"}, LLMC_STEP_ABI);
  P.Program = Feature;
  EXPECT_NE(D->whyNot(P).find("avx1024"), std::string::npos);
  std::vector<uint8_t> Abi = program({}, LLMC_STEP_ABI + 1);
  P.Program = Abi;
  EXPECT_NE(D->whyNot(P).find("step ABI 2"), std::string::npos);
  P.Target = "sm_80";
  EXPECT_NE(D->whyNot(P).find("sm_80"), std::string::npos);
  P.Target = "x86-64-v3";
  P.Program = std::span(Abi).first(10);
  EXPECT_NE(D->whyNot(P).find("damaged"), std::string::npos);
  EXPECT_EQ(D->load(P, {}).status().code(), StatusCode::DoesNotFit);
}

TEST(CpuImage, RefusesWhatIsNoImage) {
  std::vector<uint8_t> Bytes(100, 0);
  EXPECT_EQ(CpuImage::load(Bytes).status().code(), StatusCode::Malformed);
  std::memcpy(Bytes.data(), "\177ELF", 4);
  Result<CpuImage> R = CpuImage::load(Bytes);
  EXPECT_EQ(R.status().code(), StatusCode::Malformed);
  EXPECT_EQ(R.status().message().find('\n'), std::string::npos);
}

TEST(OpenDevice, RefusesUnknownNames) {
  EXPECT_EQ(openDevice("tpu").status().code(), StatusCode::Usage);
}
} // namespace
