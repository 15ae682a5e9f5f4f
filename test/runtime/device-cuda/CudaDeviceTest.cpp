// The CUDA device against a recording stand-in for the driver: order and sizes
// of calls, choice of cubin or PTX, grids per bucket, and every error path.
#include "runtime/device/cuda/CudaDevice.h"
#include "runtime/artifact/Program_generated.h"
#include "runtime/base/Workspace.h"
#include "runtime/device/StepAbi.h"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <gtest/gtest.h>
#include <numeric>
#include <unistd.h>

using namespace llmc;

namespace {
constexpr uint32_t Vocab = 5, MaxContext = 100, Pages = 8;

/// A program of two kernels: "first" on the arena, weights and KV pool, and
/// "last", which writes logits and waits for "first" itself. Buckets 1 and 64.
std::vector<uint8_t> smallProgram(uint32_t PageTokens = 32) {
  flatbuffers::FlatBufferBuilder B;
  using Args = std::vector<flatbuffers::Offset<fb::LaunchArg>>;
  auto Step = [&](uint32_t Index) {
    return fb::CreateLaunchArg(B, fb::ArgKind::Step, Index);
  };
  auto At = [&](fb::ArgKind Kind, std::vector<uint64_t> Offsets) {
    return fb::CreateLaunchArg(B, Kind, 0, B.CreateVector(Offsets));
  };
  Args First = {Step(LLMC_ARG_COUNTS),
                Step(LLMC_ARG_IDS),
                At(fb::ArgKind::Arena, {0, 128}),
                At(fb::ArgKind::Weight, {256}),
                At(fb::ArgKind::Kv, {64}),
                fb::CreateLaunchArg(B, fb::ArgKind::Null)};
  Args Last = {Step(LLMC_ARG_COUNTS), Step(LLMC_ARG_LOGIT_ROWS),
               Step(LLMC_ARG_LOGITS)};
  std::vector<flatbuffers::Offset<fb::Kernel>> Kernels = {
      fb::CreateKernelDirect(B, "first_sm_80", "qkv", 128),
      fb::CreateKernelDirect(B, "last_sm_80", "logits", 64, 1, 1, 0, 0, 0, 0, 0,
                             0, 0, nullptr, true)};
  std::vector<uint32_t> X = {3, 3}, Y = {1, 16};
  std::vector<flatbuffers::Offset<fb::Launch>> Launches = {
      fb::CreateLaunchDirect(B, 0, &X, &Y, nullptr, &First),
      fb::CreateLaunchDirect(B, 1, &X, nullptr, nullptr, &Last)};
  std::vector<uint32_t> Buckets = {1, 64};
  std::vector<uint64_t> Arena = {512, 4096};
  std::vector<flatbuffers::Offset<fb::KvState>> States;
  B.Finish(fb::CreateProgramDirect(B, "sm_80", "cuda", LLMC_STEP_ABI, &Buckets,
                                   &Arena, 64, 2, MaxContext, Vocab, 8, 1000,
                                   PageTokens, 2048, Pages, &States, nullptr,
                                   &Kernels, &Launches),
           fb::ProgramIdentifier());
  return {B.GetBufferPointer(), B.GetBufferPointer() + B.GetSize()};
}

/// A step of T rows of one sequence, R of them with logits.
struct StepData {
  std::vector<int32_t> Ids, Positions, Sequence, Rows;
  std::vector<uint32_t> Table;
  std::vector<float> Logits;
  StepInput In;

  StepData(uint32_t T, uint32_t R)
      : Ids(T, 1), Positions(T), Sequence(T, 0), Rows(R), Table{7, 6, 5, 4},
        Logits(R * Vocab) {
    std::iota(Positions.begin(), Positions.end(), 0);
    std::iota(Rows.begin(), Rows.end(), 0);
    In.Ids = Ids;
    In.Positions = Positions;
    In.RowSequence = Sequence;
    In.Sequences = 1;
    In.PagesPerSequence = 4;
    In.PageTable = Table;
    In.LogitRows = Rows;
    In.Logits = Logits;
  }
};

class CudaDeviceTest : public testing::Test {
protected:
  void SetUp() override {
    for (const char *Name :
         {"LLMC_FAKE_FAIL", "LLMC_FAKE_VERSION", "LLMC_FAKE_DEVICES",
          "LLMC_FAKE_SM", "LLMC_FAKE_FREE", "LLMC_CUDASIM", "LLMC_CUDA_GRAPHS",
          "LLMC_CUDA_PDL"})
      unsetenv(Name);
    Log = testing::TempDir() + "llmc-fake-" + std::to_string(getpid()) + ".log";
    clearLog();
    setenv("LLMC_FAKE_LOG", Log.c_str(), 1);
    View.Target = "sm_80";
    View.Program = Program;
    View.Code = Cubin;
    View.Ptx = Ptx;
    View.Weights = Weights;
  }
  void TearDown() override { clearLog(); }
  void clearLog() { std::remove(Log.c_str()); }
  Result<std::unique_ptr<Device>> open(int Number = 0) {
    return cuda::CudaDevice::open("cuda:" + std::to_string(Number),
                                  LLMC_FAKE_CUDA, Number);
  }
  /// Lines of the log that start with Prefix.
  std::vector<std::string> calls(const std::string &Prefix = "") {
    std::vector<std::string> Out;
    std::ifstream In(Log);
    for (std::string Line; std::getline(In, Line);)
      if (Line.rfind(Prefix, 0) == 0)
        Out.push_back(Line);
    return Out;
  }
  void load(const DeviceLoadOptions &O = {}) {
    Result<std::unique_ptr<Device>> D = open();
    ASSERT_TRUE(D.ok()) << D.status().message();
    Dev = D.take();
    Result<std::unique_ptr<Executable>> E = Dev->load(View, O);
    ASSERT_TRUE(E.ok()) << E.status().message();
    Exe = E.take();
  }
  Status loadFailure() {
    Result<std::unique_ptr<Device>> D = open();
    if (!D.ok())
      return D.takeStatus();
    Result<std::unique_ptr<Executable>> E = (*D)->load(View, {});
    return E.ok() ? Status::success() : E.takeStatus();
  }

  std::string Log;
  std::vector<uint8_t> Program = smallProgram();
  std::vector<uint8_t> Cubin = {0x7f, 'E', 'L', 'F', 0};
  std::vector<uint8_t> Ptx = {'.', 'v', 'e', 'r'};
  std::vector<uint8_t> Weights = std::vector<uint8_t>(1000, 1);
  ProgramView View;
  std::unique_ptr<Device> Dev; // outlives Exe
  std::unique_ptr<Executable> Exe;
};

TEST_F(CudaDeviceTest, NoDriver) {
  Result<std::unique_ptr<Device>> D =
      cuda::CudaDevice::open("cuda:0", "/nowhere/libcuda.so.1", 0);
  ASSERT_FALSE(D.ok());
  EXPECT_EQ(D.status().code(), StatusCode::DoesNotFit);
  EXPECT_EQ(D.status().message().rfind("no cuda driver: /nowhere/libcuda", 0),
            0u);
  D = cuda::CudaDevice::open("cuda:0", "libm.so.6", 0);
  ASSERT_FALSE(D.ok());
  EXPECT_EQ(D.status().message(),
            "the cuda driver libm.so.6 is too old: it has no cuInit");
}

TEST_F(CudaDeviceTest, NamesOfDevices) {
  EXPECT_EQ(openDevice("tpu").status().code(), StatusCode::Usage);
  EXPECT_EQ(openDevice("cuda:").status().code(), StatusCode::Usage);
  EXPECT_EQ(openDevice("cuda:-1").status().code(), StatusCode::Usage);
  EXPECT_EQ(openDevice("cuda:1x").status().code(), StatusCode::Usage);
  setenv("LLMC_CUDASIM", "/nowhere/sim.so", 1);
  Result<std::unique_ptr<Device>> Sim = openDevice("cuda-sim");
  EXPECT_EQ(Sim.status().code(), StatusCode::DoesNotFit);
  EXPECT_EQ(Sim.status().message().rfind("no CUDA simulator: ", 0), 0u);
  setenv("LLMC_CUDASIM", LLMC_FAKE_CUDA, 1);
  Sim = openDevice("cuda-sim");
  ASSERT_TRUE(Sim.ok()) << Sim.status().message();
  EXPECT_EQ((*Sim)->name(), "cuda-sim");
}

TEST_F(CudaDeviceTest, DriverTooOld) {
  setenv("LLMC_FAKE_VERSION", "10020", 1);
  EXPECT_EQ(open().status().code(), StatusCode::DoesNotFit);
  EXPECT_EQ(open().status().message(),
            "the cuda driver is too old: it is for CUDA 10.2, needed 11.0");
}

TEST_F(CudaDeviceTest, NoDevice) {
  setenv("LLMC_FAKE_DEVICES", "1", 1);
  EXPECT_EQ(open(1).status().message(),
            "there is no cuda:1: the driver has 1 device");
  setenv("LLMC_FAKE_FAIL", "cuInit:100", 1);
  EXPECT_EQ(open().status().code(), StatusCode::DoesNotFit);
  EXPECT_EQ(open().status().message(),
            "cannot start the cuda driver: CUDA_ERROR_NO_DEVICE (as the test "
            "wanted)");
  for (const char *Broken : {"cuInit:999", "cuDevicePrimaryCtxRetain:719"}) {
    setenv("LLMC_FAKE_FAIL", Broken, 1);
    EXPECT_EQ(open().status().code(), StatusCode::DoesNotFit) << Broken;
  }
}

TEST_F(CudaDeviceTest, WhyNot) {
  auto Ask = [&](const char *Sm, const std::string &Target, bool Code,
                 bool Text) {
    setenv("LLMC_FAKE_SM", Sm, 1);
    ProgramView P = View;
    P.Target = Target;
    P.Code = Code ? View.Code : std::span<const uint8_t>();
    P.Ptx = Text ? View.Ptx : std::span<const uint8_t>();
    return (*open())->whyNot(P);
  };
  EXPECT_EQ(Ask("80", "sm_80", true, true), "");
  EXPECT_EQ(Ask("86", "sm_80", true, false), ""); // same major
  EXPECT_EQ(Ask("90", "sm_80", true, true), "");  // by PTX
  EXPECT_EQ(Ask("90", "sm_80", true, false),
            "code for sm_80 does not run on cuda:0 (Fake GPU, sm_90)");
  EXPECT_NE(Ask("80", "sm_90", true, true), "");
  EXPECT_NE(Ask("100", "sm_90a", true, true), "");
  EXPECT_EQ(Ask("120", "sm_120", true, false), "");
  EXPECT_EQ(Ask("80", "x86-64-v3", true, true),
            "code for x86-64-v3 does not run on a GPU");
}

TEST_F(CudaDeviceTest, LoadAllocatesWhatThePlanSays) {
  DeviceLoadOptions O;
  O.Pages = 3;
  load(O);
  EXPECT_EQ(calls("cuModuleLoadDataEx"),
            std::vector<std::string>{"cuModuleLoadDataEx cubin options=0"});
  // Weights, arena, KV, logits (32 rows), tickets, descriptor.
  size_t Descriptor = 256 + 5 * 256 + 256;
  std::vector<std::string> Sizes;
  for (size_t Bytes : {size_t{1000}, size_t{4096}, size_t{3 * 2048},
                       size_t{32 * Vocab * 4}, size_t{32768}, Descriptor})
    Sizes.push_back("cuMemAlloc_v2 " + std::to_string(Bytes));
  EXPECT_EQ(calls("cuMemAlloc_v2"), Sizes);
  EXPECT_EQ(calls("cuMemcpyHtoDAsync_v2"),
            (std::vector<std::string>{"cuMemcpyHtoDAsync_v2 1000",
                                      "cuMemcpyHtoDAsync_v2 32768"}));
  EXPECT_EQ(calls("cuModuleGetFunction").size(), 2u);
  EXPECT_EQ(Exe->info().MaxTokens, 64u);
  EXPECT_EQ(Exe->info().MaxSequences, 2u);
  EXPECT_EQ(Exe->info().Pages, 3u);
  EXPECT_EQ(Exe->info().Vocab, Vocab);
}

TEST_F(CudaDeviceTest, StepLaunchesItsBucket) {
  load();
  clearLog();
  StepData One(1, 1);
  ASSERT_TRUE(Exe->step(One.In).ok());
  size_t Table = 256 + 5 * 256; // of the descriptor, then 4 pages
  std::vector<std::string> Expected = {
      "cuCtxSetCurrent",
      "cuMemcpyHtoDAsync_v2 " + std::to_string(Table + 16),
      "cuLaunchKernel first_sm_80 grid=3,1,1 block=128,1,1 shared=0",
      "cuLaunchKernel last_sm_80 grid=3,1,1 block=64,1,1 shared=0",
      "cuMemcpyDtoHAsync_v2 " + std::to_string(Vocab * 4),
      "cuStreamSynchronize"};
  EXPECT_EQ(calls(), Expected);
  clearLog();
  StepData Many(2, 0); // the next bucket; nobody wants logits
  ASSERT_TRUE(Exe->step(Many.In).ok());
  EXPECT_EQ(calls("cuLaunchKernel"),
            std::vector<std::string>{"cuLaunchKernel first_sm_80 grid=3,16,1 "
                                     "block=128,1,1 shared=0"});
  EXPECT_TRUE(calls("cuMemcpyDtoH").empty());
}

TEST_F(CudaDeviceTest, ManyLogitRowsRepeatTheLastLaunch) {
  load();
  clearLog();
  StepData S(64, 40);
  ASSERT_TRUE(Exe->step(S.In).ok());
  EXPECT_EQ(calls("cuLaunchKernel first").size(), 1u);
  EXPECT_EQ(calls("cuLaunchKernel last").size(), 2u);
  std::vector<std::string> Copies = {
      "cuMemcpyDtoHAsync_v2 " + std::to_string(32 * Vocab * 4),
      "cuMemcpyDtoHAsync_v2 " + std::to_string(8 * Vocab * 4)};
  EXPECT_EQ(calls("cuMemcpyDtoH"), Copies);
  EXPECT_TRUE(calls("cuMemAlloc").empty());
}

TEST_F(CudaDeviceTest, ABucketsSecondStepBecomesAGraph) {
  load();
  StepData One(1, 1), Silent(1, 0), Many(64, 40);
  for (StepData *S : {&One, &Silent, &Many})
    ASSERT_TRUE(Exe->step(S->In).ok());
  // The second chunk of Many has asked for the logits alone once.
  EXPECT_TRUE(calls("cuStreamBeginCapture").empty());
  clearLog();
  ASSERT_TRUE(Exe->step(One.In).ok());
  size_t Table = 256 + 5 * 256;
  std::string Copy = "cuMemcpyHtoDAsync_v2 " + std::to_string(Table + 16);
  std::string Back = "cuMemcpyDtoHAsync_v2 " + std::to_string(Vocab * 4);
  std::vector<std::string> First = {
      "cuCtxSetCurrent",
      Copy,
      "cuStreamBeginCapture_v2 1",
      "cuLaunchKernel first_sm_80 grid=3,1,1 block=128,1,1 shared=0",
      "cuLaunchKernel last_sm_80 grid=3,1,1 block=64,1,1 shared=0",
      "cuGraphInstantiateWithFlags 2",
      "cuGraphDestroy",
      "cuGraphLaunch",
      Back,
      "cuStreamSynchronize"};
  EXPECT_EQ(calls(), First);
  clearLog();
  ASSERT_TRUE(Exe->step(One.In).ok());
  std::vector<std::string> Again = {"cuCtxSetCurrent", Copy, "cuGraphLaunch",
                                    Back, "cuStreamSynchronize"};
  EXPECT_EQ(calls(), Again);
  clearLog();
  ASSERT_TRUE(Exe->step(Silent.In).ok());
  EXPECT_EQ(calls("cuGraphInstantiate"),
            std::vector<std::string>{"cuGraphInstantiateWithFlags 1"});
  ASSERT_TRUE(Exe->step(Many.In).ok());
  EXPECT_EQ(calls("cuGraphInstantiate").size(), 3u);
  clearLog();
  Exe.reset();
  EXPECT_EQ(calls("cuGraphExecDestroy").size(), 4u);
}

TEST_F(CudaDeviceTest, ADriverThatCannotCaptureGetsLaunches) {
  for (const char *Broken :
       {"cuStreamBeginCapture_v2:801", "cuStreamEndCapture:901",
        "cuGraphInstantiateWithFlags:2", "cuLaunchKernel:900:3"}) {
    setenv("LLMC_FAKE_FAIL", Broken, 1);
    load();
    StepData One(1, 1);
    for (int Step = 0; Step != 2; ++Step)
      ASSERT_TRUE(Exe->step(One.In).ok()) << Broken;
    clearLog();
    ASSERT_TRUE(Exe->step(One.In).ok());
    EXPECT_EQ(calls("cuLaunchKernel").size(), 2u) << Broken;
    EXPECT_TRUE(calls("cuStreamBeginCapture").empty()) << "tried again";
    unsetenv("LLMC_FAKE_FAIL");
    Exe.reset();
    Dev.reset(); // calls are counted from the load of the driver
  }
  setenv("LLMC_CUDA_GRAPHS", "0", 1);
  load();
  clearLog();
  StepData One(1, 1);
  for (int Step = 0; Step != 3; ++Step)
    ASSERT_TRUE(Exe->step(One.In).ok());
  EXPECT_TRUE(calls("cuGraph").empty());
}

TEST_F(CudaDeviceTest, KernelsThatWaitThemselvesMayBeginEarly) {
  StepData One(1, 1);
  auto Attributes = [&](const char *Sm) {
    setenv("LLMC_FAKE_SM", Sm, 1);
    load();
    clearLog();
    EXPECT_TRUE(Exe->step(One.In).ok());
    return calls("cuLaunchKernelEx");
  };
  EXPECT_TRUE(Attributes("89").empty());
  EXPECT_EQ(Attributes("90"), std::vector<std::string>{
                                  "cuLaunchKernelEx attributes=1 first=6:1"});
  setenv("LLMC_CUDA_PDL", "0", 1);
  EXPECT_TRUE(Attributes("90").empty());
}

TEST_F(CudaDeviceTest, LimitsAreErrorsWithoutCalls) {
  load();
  clearLog();
  StepData S(65, 1);
  EXPECT_EQ(Exe->step(S.In).code(), StatusCode::DoesNotFit);
  EXPECT_EQ(Exe->step(S.In).message(),
            "a step takes at most 64 tokens, found 65");
  StepData Sequences(1, 1);
  Sequences.In.Sequences = 3;
  EXPECT_EQ(Exe->step(Sequences.In).code(), StatusCode::DoesNotFit);
  StepData Wide(1, 1);
  Wide.In.PagesPerSequence = 5;
  EXPECT_EQ(Exe->step(Wide.In).code(), StatusCode::DoesNotFit);
  StepData Page(1, 1);
  Page.Table[1] = Pages; // of no position of this step
  EXPECT_TRUE(Exe->step(Page.In).ok());
  clearLog();
  Page.Table[0] = Pages;
  EXPECT_EQ(Exe->step(Page.In).message(), "a page table names page 8 of 8");
  StepData Id(1, 1);
  Id.Ids[0] = Vocab;
  EXPECT_EQ(Exe->step(Id.In).code(), StatusCode::Internal);
  StepData Far(1, 1);
  Far.Positions[0] = 128;
  EXPECT_EQ(Exe->step(Far.In).code(), StatusCode::Internal);
  StepData Negative(1, 1);
  Negative.Positions[0] = -1;
  EXPECT_EQ(Exe->step(Negative.In).code(), StatusCode::Internal);
  StepData Row(2, 1);
  Row.Rows[0] = 2;
  EXPECT_EQ(Exe->step(Row.In).code(), StatusCode::Internal);
  StepData Empty(0, 0);
  EXPECT_EQ(Exe->step(Empty.In).code(), StatusCode::Internal);
  EXPECT_EQ(Exe->copyPage(0, Pages).code(), StatusCode::Internal);
  EXPECT_TRUE(calls().empty());
  StepData Fine(1, 1);
  EXPECT_TRUE(Exe->step(Fine.In).ok()) << "a refused step breaks nothing";
}

TEST_F(CudaDeviceTest, CopyPage) {
  load();
  clearLog();
  ASSERT_TRUE(Exe->copyPage(1, 2).ok());
  EXPECT_EQ(calls("cuMemcpyDtoDAsync_v2"),
            std::vector<std::string>{"cuMemcpyDtoDAsync_v2 2048"});
}

TEST_F(CudaDeviceTest, PtxWhenThereIsNoBinary) {
  setenv("LLMC_FAKE_FAIL", "cuModuleLoadDataEx:209:1", 1);
  load();
  std::vector<std::string> Expected = {"cuModuleLoadDataEx cubin options=0",
                                       "cuModuleLoadDataEx ptx options=2"};
  EXPECT_EQ(calls("cuModuleLoadDataEx"), Expected);
}

TEST_F(CudaDeviceTest, PtxFailuresSayWhatTheDriverSays) {
  View.Code = {};
  setenv("LLMC_FAKE_FAIL", "cuModuleLoadDataEx:222", 1);
  setenv("LLMC_FAKE_VERSION", "11040", 1);
  Status S = loadFailure();
  EXPECT_EQ(S.code(), StatusCode::DoesNotFit);
  EXPECT_EQ(S.message(),
            "cannot compile the PTX for this GPU: "
            "CUDA_ERROR_UNSUPPORTED_PTX_VERSION (as the test wanted): the "
            "driver, for CUDA 11.4, is too old for this code");
  EXPECT_EQ(S.notes(), std::vector<std::string>{"ptxas says no"});
  setenv("LLMC_FAKE_FAIL", "cuModuleLoadDataEx:218", 1);
  EXPECT_EQ(loadFailure().code(), StatusCode::Internal);
}

TEST_F(CudaDeviceTest, MissingKernelIsNamed) {
  setenv("LLMC_FAKE_FAIL", "cuModuleGetFunction:500:2", 1);
  EXPECT_EQ(loadFailure().message(), "cannot find the kernel last_sm_80: "
                                     "CUDA_ERROR_NOT_FOUND (as the test "
                                     "wanted)");
}

TEST_F(CudaDeviceTest, OutOfMemory) {
  setenv("LLMC_FAKE_FREE", "9000", 1);
  Status S = loadFailure();
  EXPECT_EQ(S.code(), StatusCode::DoesNotFit);
  EXPECT_EQ(S.message(),
            "the model needs 56680 bytes of GPU memory, 9000 bytes are free");
  // What a memory plan counts: weights, arena, cache and workspace.
  EXPECT_EQ(
      1000 + 4096 + 2048 * Pages +
          cudaWorkspaceBytes(64, 2, Vocab, MaxContext, LLMC_CUDA_PAGE_TOKENS),
      56680u);
  unsetenv("LLMC_FAKE_FREE");
  clearLog();
  setenv("LLMC_FAKE_FAIL", "cuMemAlloc_v2:2:3", 1);
  S = loadFailure();
  EXPECT_EQ(S.code(), StatusCode::DoesNotFit);
  EXPECT_EQ(S.message(), "cannot allocate 16384 bytes of KV cache on the GPU: "
                         "CUDA_ERROR_OUT_OF_MEMORY (as the test wanted)");
  EXPECT_EQ(calls("cuMemFree_v2").size(), 2u) << "the first two are freed";
  EXPECT_EQ(calls("cuModuleUnload").size(), 1u);
  EXPECT_EQ(calls("cuDevicePrimaryCtxRelease_v2").size(), 1u);
}

TEST_F(CudaDeviceTest, LaunchFailureStays) {
  load();
  setenv("LLMC_FAKE_FAIL", "cuStreamSynchronize:719", 1);
  StepData S(1, 1);
  Status First = Exe->step(S.In);
  EXPECT_EQ(First.code(), StatusCode::Internal);
  EXPECT_EQ(First.message(), "cannot run a step: CUDA_ERROR_LAUNCH_FAILED (as "
                             "the test wanted)");
  unsetenv("LLMC_FAKE_FAIL");
  clearLog();
  EXPECT_EQ(Exe->step(S.In).message(), First.message());
  EXPECT_EQ(Exe->copyPage(0, 1).message(), First.message());
  EXPECT_TRUE(calls().empty());
}

TEST_F(CudaDeviceTest, EverythingIsReleased) {
  load();
  clearLog();
  Exe.reset();
  EXPECT_EQ(calls("cuMemFree_v2").size(), 6u);
  EXPECT_EQ(calls("cuMemFreeHost").size(), 1u);
  EXPECT_EQ(calls("cuModuleUnload").size(), 1u);
  EXPECT_EQ(calls("cuStreamDestroy_v2").size(), 1u);
  EXPECT_TRUE(calls("cuDevicePrimaryCtxRelease_v2").empty());
  Dev.reset();
  EXPECT_EQ(calls("cuDevicePrimaryCtxRelease_v2").size(), 1u);
}

TEST_F(CudaDeviceTest, ProgramsOfAnotherShapeAreRefused) {
  Program = smallProgram(16);
  View.Program = Program;
  Status S = loadFailure();
  EXPECT_EQ(S.code(), StatusCode::Malformed);
  EXPECT_EQ(S.message(), "the KV pages have 16 tokens, expected 32");
  Program = smallProgram();
  View.Program = Program;
  View.Weights = std::span(Weights).first(10);
  EXPECT_EQ(loadFailure().message(),
            "the program needs 1000 bytes of weights, found 10");
}

} // namespace
