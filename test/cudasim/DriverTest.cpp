// The driver's behaviour: codes for what is wrong, errors that stay, streams,
// events, graphs.
#include "test/cudasim/Harness.h"

#include "tools/cudasim/exec/Machine.h"

#include <array>
#include <cstdlib>
#include <set>

namespace {

using Words = std::vector<uint32_t>;

struct Loaded {
  void *Module = nullptr, *Kernel = nullptr;
  explicit Loaded(const std::string &Text) {
    EXPECT_EQ(cuModuleLoadData(&Module, Text.c_str()), 0);
    EXPECT_EQ(cuModuleGetFunction(&Kernel, Module, "k"), 0);
  }
  int launch(DeviceAddress Argument, void *Stream = nullptr, unsigned Grid = 1,
             unsigned Block = 32, unsigned Shared = 0) {
    void *Params[] = {&Argument};
    return cuLaunchKernel(Kernel, Grid, 1, 1, Block, 1, 1, Shared, Stream,
                          Params, nullptr);
  }
};

/// Adds one to every word.
std::string increment() {
  return kernelText("mul.wide.u32 %rd2, %tx, 4; add.s64 %rd2, %rd1, %rd2;\n"
                    "ld.global.u32 %r3, [%rd2]; add.u32 %r3, %r3, 1;\n"
                    "st.global.u32 [%rd2], %r3;");
}

int loadCode(const std::string &Text, std::string *Log = nullptr) {
  void *Module = nullptr;
  std::array<char, 256> Buffer{};
  int Kinds[] = {5, 6};
  void *Values[] = {Buffer.data(), reinterpret_cast<void *>(Buffer.size())};
  int Code = cuModuleLoadDataEx(&Module, Text.c_str(), 2, Kinds, Values);
  if (Log)
    *Log = Buffer.data();
  return Code;
}

TEST(Load, MachineCodeIsForOtherDevices) {
  SimContext Context;
  EXPECT_EQ(loadCode(std::string("\x7f"
                                 "ELF\0\0\0\0",
                                 8)),
            209);
  EXPECT_EQ(loadCode("hello, world"), 200);
}

TEST(Load, BadPtxNamesTheLine) {
  SimContext Context;
  std::string Log;
  EXPECT_EQ(loadCode(kernelText("frobnicate.u32 %r1, %r2;"), &Log), 218);
  EXPECT_NE(Log.find("frobnicate.u32 is not supported"), std::string::npos);
  EXPECT_EQ(Log.rfind("ptx line ", 0), 0u) << Log;
  EXPECT_EQ(loadCode(kernelText("add.s32 %r1, %r2, %nothere;"), &Log), 218);
  EXPECT_EQ(loadCode(kernelText("add.s32 %rd1, %r2, %r3;"), &Log), 218);
  EXPECT_NE(Log.find("32"), std::string::npos);
  EXPECT_EQ(loadCode(kernelText("add.s32.frob %r1, %r2, %r3;"), &Log), 218);
  EXPECT_EQ(loadCode(kernelText("add.s32 %r1, %r2;"), &Log), 218);
  EXPECT_EQ(loadCode(kernelText("bra NOWHERE;"), &Log), 218);
  EXPECT_NE(Log.find("unknown label NOWHERE"), std::string::npos);
  EXPECT_EQ(loadCode(kernelText("A: nanosleep.u32 1;\nA: ret;"), &Log), 218);
}

TEST(Load, DamagedPtxNeverCrashes) {
  SimContext Context;
  std::string Good = increment();
  for (size_t I = 0; I < Good.size(); I += 3) {
    loadCode(Good.substr(0, I));
    std::string Bad = Good;
    Bad[I] = "{}[];%@x\n"[I % 9];
    loadCode(Bad);
    Bad = Good;
    Bad.erase(I, 5);
    loadCode(Bad);
  }
  loadCode(ptxHeader() + std::string(100000, '{'));
  loadCode(kernelText("add.s32 %r1, " + std::string(100000, '{')));
  loadCode(kernelText(".reg .b32 %q<4000000000>;"));
}

TEST(Launch, WrongShapesAndArguments) {
  SimContext Context;
  Loaded K(increment());
  EXPECT_EQ(K.launch(0, nullptr, 0), 1);
  EXPECT_EQ(K.launch(0, nullptr, 1, 2000), 1);
  EXPECT_EQ(K.launch(0, nullptr, 1, 32, 300 << 10), 1);
  EXPECT_EQ(K.launch(0, nullptr, 1, 32, 60 << 10), 1); // needs the attribute
  EXPECT_EQ(cuFuncSetAttribute(K.Kernel, 8, 1 << 20), 1);
  EXPECT_EQ(cuFuncSetAttribute(K.Kernel, 8, 60 << 10), 0);
  EXPECT_EQ(
      cuLaunchKernel(K.Kernel, 1, 1, 1, 32, 1, 1, 0, nullptr, nullptr, nullptr),
      1);
  void *Null[] = {nullptr};
  EXPECT_EQ(
      cuLaunchKernel(K.Kernel, 1, 1, 1, 32, 1, 1, 0, nullptr, Null, nullptr),
      1);
  // A buffer of the wrong size, by the other form of arguments.
  uint32_t Half = 0;
  size_t Bytes = 4;
  void *Extra[] = {reinterpret_cast<void *>(1), &Half,
                   reinterpret_cast<void *>(2), &Bytes, nullptr};
  EXPECT_EQ(
      cuLaunchKernel(K.Kernel, 1, 1, 1, 32, 1, 1, 0, nullptr, nullptr, Extra),
      1);
  int Wrong = 0;
  EXPECT_EQ(
      cuLaunchKernel(&Wrong, 1, 1, 1, 32, 1, 1, 0, nullptr, Null, nullptr),
      400);
  EXPECT_EQ(cuCtxSynchronize(), 0); // none of this broke the context
}

TEST(Launch, MaxntidIsALimit) {
  SimContext Context;
  std::string Text =
      ptxHeader() + ".visible .entry k()\n.maxntid 64, 1, 1\n{\nret;\n}\n";
  Loaded K(Text);
  EXPECT_EQ(
      cuLaunchKernel(K.Kernel, 1, 1, 1, 65, 1, 1, 0, nullptr, nullptr, nullptr),
      701);
  EXPECT_EQ(
      cuLaunchKernel(K.Kernel, 1, 1, 1, 64, 1, 1, 0, nullptr, nullptr, nullptr),
      0);
}

/// Launches on Argument; the code of the synchronisation, which must stay.
int faultOf(const std::string &Text, DeviceAddress Argument) {
  Loaded K(Text);
  testing::internal::CaptureStderr();
  EXPECT_EQ(K.launch(Argument), 0);
  int Code = cuCtxSynchronize();
  std::string Line = testing::internal::GetCapturedStderr();
  EXPECT_NE(Line.find("kernel k"), std::string::npos) << Line;
  DeviceAddress P = 0;
  EXPECT_EQ(cuMemAlloc_v2(&P, 64), Code);
  EXPECT_EQ(cuCtxSynchronize(), Code);
  return Code;
}

TEST(Fault, StaysInTheContextAndOnlyThere) {
  {
    SimContext Context; // a null pointer
    EXPECT_EQ(faultOf(increment(), 0), 700);
  }
  {
    SimContext Context; // freed memory
    DeviceAddress P = 0;
    ASSERT_EQ(cuMemAlloc_v2(&P, 128), 0);
    ASSERT_EQ(cuMemFree_v2(P), 0);
    EXPECT_EQ(cuMemFree_v2(P), 1);
    EXPECT_EQ(faultOf(increment(), P), 700);
  }
  {
    SimContext Context; // one word too few
    DeviceAddress P = 0;
    ASSERT_EQ(cuMemAlloc_v2(&P, 124), 0);
    EXPECT_EQ(faultOf(increment(), P), 700);
  }
  {
    SimContext Context;
    DeviceAddress P = 0;
    ASSERT_EQ(cuMemAlloc_v2(&P, 256), 0);
    EXPECT_EQ(faultOf(increment(), P + 2), 716);
  }
  {
    SimContext Context;
    EXPECT_EQ(faultOf(kernelText("trap;"), 0), 719);
  }
  SimContext Context; // and a new one works
  Words Out(32, 5);
  EXPECT_EQ(runBuffer(increment(), Out), 0);
  EXPECT_EQ(Out[31], 6u);
}

TEST(Fault, SharedMemoryHasAnEnd) {
  SimContext Context;
  EXPECT_EQ(faultOf(kernelText("mov.u32 %r3, buf; ld.shared.u32 %r4, "
                               "[%r3+64];",
                               ".shared .align 4 .b8 buf[64];\n"),
                    0),
            700);
}

TEST(Context, DestroyedAndMissingOnes) {
  void *C = nullptr;
  ASSERT_EQ(cuInit(0), 0);
  cuCtxSetCurrent(nullptr);
  DeviceAddress P = 0;
  EXPECT_EQ(cuMemAlloc_v2(&P, 64), 201);
  ASSERT_EQ(cuCtxCreate_v2(&C, 0, 0), 0);
  EXPECT_EQ(cuCtxDestroy_v2(C), 0);
  EXPECT_EQ(cuCtxDestroy_v2(C), 201);
  EXPECT_EQ(cuCtxSetCurrent(C), 201);
  EXPECT_EQ(cuMemAlloc_v2(&P, 64), 201);
}

TEST(Memory, LimitsAndWrongPointers) {
  SimContext Context;
  size_t Free = 0, Total = 0;
  ASSERT_EQ(cuMemGetInfo_v2(&Free, &Total), 0);
  DeviceAddress P = 0;
  EXPECT_EQ(cuMemAlloc_v2(&P, 0), 1);
  EXPECT_EQ(cuMemAlloc_v2(&P, Total + 1), 2);
  ASSERT_EQ(cuMemAlloc_v2(&P, 256), 0);
  size_t Less = 0;
  EXPECT_EQ(cuMemGetInfo_v2(&Less, &Total), 0);
  EXPECT_LT(Less, Free);
  uint32_t Word = 1;
  EXPECT_EQ(cuMemcpyHtoD_v2(P + 254, &Word, 4), 1);
  EXPECT_EQ(cuMemcpyHtoD_v2(0x1000, &Word, 4), 1);
  EXPECT_EQ(cuMemFree_v2(P + 8), 1);
  EXPECT_EQ(cuMemsetD32_v2(P, 7, 65), 1);
  EXPECT_EQ(cuMemsetD32_v2(P, 7, 64), 0);
  EXPECT_EQ(cuMemcpyDtoH_v2(&Word, P + 252, 4), 0);
  EXPECT_EQ(Word, 7u);
  EXPECT_EQ(cuMemFree_v2(P), 0);
}

TEST(Stream, WorkHappensAtTheSynchronisation) {
  SimContext Context;
  void *Stream = nullptr, *Host = nullptr;
  ASSERT_EQ(cuStreamCreate(&Stream, 1), 0);
  ASSERT_EQ(cuMemHostAlloc(&Host, 128, 0), 0);
  uint32_t *Pinned = static_cast<uint32_t *>(Host);
  std::fill(Pinned, Pinned + 32, 3);
  DeviceAddress P = 0;
  ASSERT_EQ(cuMemAlloc_v2(&P, 128), 0);
  Loaded K(increment());
  EXPECT_EQ(cuMemcpyHtoDAsync_v2(P, Pinned, 128, Stream), 0);
  EXPECT_EQ(K.launch(P, Stream), 0);
  EXPECT_EQ(cuMemcpyDtoHAsync_v2(Pinned, P, 128, Stream), 0);
  EXPECT_EQ(Pinned[0], 3u); // pinned memory: not read back yet
  EXPECT_EQ(cuStreamSynchronize(Stream), 0);
  EXPECT_EQ(Pinned[31], 4u);
  EXPECT_EQ(cuStreamQuery(Stream), 0);
  EXPECT_EQ(cuStreamDestroy_v2(Stream), 0);
  EXPECT_EQ(cuStreamDestroy_v2(Stream), 400);
  EXPECT_EQ(cuMemFreeHost(Host), 0);
  EXPECT_EQ(cuMemFreeHost(Host), 1);
}

TEST(Stream, EventsOrderStreamsAndTime) {
  SimContext Context;
  void *A = nullptr, *B = nullptr, *First = nullptr, *Last = nullptr;
  ASSERT_EQ(cuStreamCreate(&A, 1), 0);
  ASSERT_EQ(cuStreamCreate(&B, 1), 0);
  ASSERT_EQ(cuEventCreate(&First, 0), 0);
  ASSERT_EQ(cuEventCreate(&Last, 0), 0);
  DeviceAddress P = 0;
  ASSERT_EQ(cuMemAlloc_v2(&P, 128), 0);
  Loaded K(increment());
  EXPECT_EQ(cuMemsetD32Async(P, 1, 32, A), 0);
  EXPECT_EQ(cuEventRecord(First, A), 0);
  EXPECT_EQ(cuEventQuery(First), 600);
  EXPECT_EQ(cuStreamWaitEvent(B, First, 0), 0);
  EXPECT_EQ(K.launch(P, B), 0);
  EXPECT_EQ(cuEventRecord(Last, B), 0);
  EXPECT_EQ(cuEventSynchronize(Last), 0);
  EXPECT_EQ(cuEventQuery(First), 0);
  float Time = -1;
  EXPECT_EQ(cuEventElapsedTime(&Time, First, Last), 0);
  EXPECT_GT(Time, 0);
  uint32_t Word = 0;
  EXPECT_EQ(cuMemcpyDtoH_v2(&Word, P, 4), 0);
  EXPECT_EQ(Word, 2u);
}

/// 1 is written in one stream and incremented in another, with or without an
/// event between them; the result.
uint32_t twoStreams(bool Ordered) {
  SimContext Context;
  void *A = nullptr, *B = nullptr, *Written = nullptr;
  EXPECT_EQ(cuStreamCreate(&A, 1), 0);
  EXPECT_EQ(cuStreamCreate(&B, 1), 0);
  EXPECT_EQ(cuEventCreate(&Written, 0), 0);
  DeviceAddress P = 0;
  EXPECT_EQ(cuMemAlloc_v2(&P, 128), 0);
  EXPECT_EQ(cuMemsetD32_v2(P, 7, 32), 0);
  Loaded K(increment());
  EXPECT_EQ(cuMemsetD32Async(P, 1, 32, A), 0);
  EXPECT_EQ(cuEventRecord(Written, A), 0);
  if (Ordered) {
    EXPECT_EQ(cuStreamWaitEvent(B, Written, 0), 0);
  }
  EXPECT_EQ(K.launch(P, B), 0);
  EXPECT_EQ(cuCtxSynchronize(), 0);
  uint32_t Word = 0;
  EXPECT_EQ(cuMemcpyDtoH_v2(&Word, P, 4), 0);
  return Word;
}

TEST(Stream, SeedsChangeTheOrderThatNoEventGives) {
  std::set<uint32_t> Free, Ordered;
  for (int Seed = 1; Seed != 17; ++Seed) {
    setenv("LLMC_CUDASIM_SEED", std::to_string(Seed).c_str(), 1);
    llmc::cudasim::reloadSettings();
    Free.insert(twoStreams(false));
    Ordered.insert(twoStreams(true));
  }
  unsetenv("LLMC_CUDASIM_SEED");
  llmc::cudasim::reloadSettings();
  EXPECT_EQ(Free, (std::set<uint32_t>{1, 2}));
  EXPECT_EQ(Ordered, std::set<uint32_t>{2});
}

TEST(Graph, ReplaysWhatWasCaptured) {
  SimContext Context;
  void *Stream = nullptr, *Graph = nullptr, *Exec = nullptr;
  ASSERT_EQ(cuStreamCreate(&Stream, 1), 0);
  DeviceAddress P = 0;
  ASSERT_EQ(cuMemAlloc_v2(&P, 128), 0);
  ASSERT_EQ(cuMemsetD32_v2(P, 0, 32), 0);
  Loaded K(increment());
  ASSERT_EQ(cuStreamBeginCapture_v2(Stream, 0), 0);
  EXPECT_EQ(K.launch(P, Stream), 0);
  EXPECT_EQ(K.launch(P, Stream), 0);
  ASSERT_EQ(cuStreamEndCapture(Stream, &Graph), 0);
  ASSERT_EQ(cuGraphInstantiateWithFlags(&Exec, Graph, 0), 0);
  EXPECT_EQ(cuGraphDestroy(Graph), 0);
  uint32_t Word = 9;
  EXPECT_EQ(cuMemcpyDtoH_v2(&Word, P, 4), 0);
  EXPECT_EQ(Word, 0u); // capturing runs nothing
  for (unsigned I = 0; I != 3; ++I)
    EXPECT_EQ(cuGraphLaunch(Exec, Stream), 0);
  EXPECT_EQ(cuStreamSynchronize(Stream), 0);
  EXPECT_EQ(cuMemcpyDtoH_v2(&Word, P, 4), 0);
  EXPECT_EQ(Word, 6u);
  // What a capture cannot hold breaks it.
  ASSERT_EQ(cuStreamBeginCapture_v2(Stream, 0), 0);
  EXPECT_EQ(cuStreamSynchronize(Stream), 900);
  EXPECT_EQ(cuStreamEndCapture(Stream, &Graph), 901);
  EXPECT_EQ(cuGraphExecDestroy(Exec), 0);
  EXPECT_EQ(cuGraphLaunch(Exec, Stream), 1);
}

TEST(Module, VariablesHaveAddressesAndValues) {
  SimContext Context;
  std::string Text =
      kernelText("mov.u64 %rd3, table; ld.global.u32 %r3, [table+4];\n"
                 "ld.const.u32 %r4, [numbers+8]; add.u32 %r3, %r3, %r4;\n"
                 "st.global.u32 [%rd1], %r3;",
                 ".global .align 4 .u32 table[2] = {5, 6};\n"
                 ".const .align 4 .b32 numbers[3] = {1, 2, 0x30};\n");
  Loaded K(Text);
  DeviceAddress P = 0, Table = 0;
  size_t Bytes = 0;
  ASSERT_EQ(cuModuleGetGlobal_v2(&Table, &Bytes, K.Module, "table"), 0);
  EXPECT_EQ(Bytes, 8u);
  EXPECT_EQ(cuModuleGetGlobal_v2(&Table, &Bytes, K.Module, "none"), 500);
  ASSERT_EQ(cuMemAlloc_v2(&P, 4), 0);
  EXPECT_EQ(K.launch(P, nullptr, 1, 1), 0);
  uint32_t Word = 0;
  EXPECT_EQ(cuMemcpyDtoH_v2(&Word, P, 4), 0);
  EXPECT_EQ(Word, 0x36u);
  EXPECT_EQ(cuModuleUnload(K.Module), 0);
  EXPECT_EQ(cuModuleUnload(K.Module), 400);
  EXPECT_EQ(K.launch(P), 400);
}
} // namespace
