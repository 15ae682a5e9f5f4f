// Wrong uses of the driver end in its error codes, never in a crash of the
// process: handles of things that are gone, pointers to nothing, arguments of
// the wrong size, launches that ask for too much.
#include "test/cudasim/Harness.h"

extern "C" {
int cuLaunchKernelEx(const void *, void *, void **, void **);
int cuCtxGetCurrent(void **);
int cuMemsetD32_v2(DeviceAddress, unsigned, size_t);
}

namespace {

enum : int {
  Success = 0,
  InvalidValue = 1,
  InvalidContext = 201,
  InvalidHandle = 400,
  IllegalAddress = 700,
  ContextDestroyed = 709
};

/// Adds 1 to the word at its pointer.
const char *const AddOne = "ld.global.u32 %r5, [%rd1]; add.u32 %r5, %r5, 1;\n"
                           "st.global.u32 [%rd1], %r5;";

struct Loaded {
  void *Module = nullptr, *Kernel = nullptr;
  explicit Loaded(const std::string &Body,
                  const std::string &Outside = std::string()) {
    EXPECT_EQ(cuModuleLoadData(&Module, kernelText(Body, Outside).c_str()), 0);
    EXPECT_EQ(cuModuleGetFunction(&Kernel, Module, "k"), 0);
  }
  int launch(DeviceAddress Pointer, void **Extra = nullptr,
             unsigned Shared = 0) const {
    void *Params[] = {&Pointer};
    return cuLaunchKernel(Kernel, 1, 1, 1, 32, 1, 1, Shared, nullptr,
                          Extra ? nullptr : Params, Extra);
  }
  int run(DeviceAddress Pointer) const {
    testing::internal::CaptureStderr();
    int Code = launch(Pointer);
    Code = Code ? Code : cuCtxSynchronize();
    testing::internal::GetCapturedStderr();
    return Code;
  }
};

TEST(Pointers, NullFreedAndForeignOnesAreIllegalAddresses) {
  DeviceAddress OfOther = 0;
  SimContext Other;
  ASSERT_EQ(cuMemAlloc_v2(&OfOther, 64), 0);
  int OnHost = 1;
  for (int Case = 0; Case != 5; ++Case) {
    SimContext Context; // an illegal address is the end of a context
    Loaded K(AddOne);
    DeviceAddress Freed = 0, Good = 0;
    ASSERT_EQ(cuMemAlloc_v2(&Freed, 64), 0);
    ASSERT_EQ(cuMemFree_v2(Freed), 0);
    ASSERT_EQ(cuMemAlloc_v2(&Good, 64), 0);
    DeviceAddress Bad[] = {0, Freed, Good + 64, OfOther,
                           reinterpret_cast<DeviceAddress>(&OnHost)};
    EXPECT_EQ(K.run(Bad[Case]), IllegalAddress) << Case;
    EXPECT_EQ(K.run(Good), IllegalAddress) << "it stays";
    EXPECT_EQ(cuMemFree_v2(Good), IllegalAddress);
  }
}

TEST(Pointers, CopiesAreChecked) {
  SimContext Context;
  DeviceAddress At = 0;
  uint32_t Word = 0;
  ASSERT_EQ(cuMemAlloc_v2(&At, 64), 0);
  for (DeviceAddress Wrong : {DeviceAddress{0}, At + 64, At - 4}) {
    EXPECT_EQ(cuMemcpyHtoD_v2(Wrong, &Word, 4), InvalidValue);
    EXPECT_EQ(cuMemcpyDtoH_v2(&Word, Wrong, 4), InvalidValue);
    EXPECT_EQ(cuMemsetD32_v2(Wrong, 0, 1), InvalidValue);
  }
  EXPECT_EQ(cuMemcpyHtoD_v2(At, nullptr, 4), InvalidValue);
  EXPECT_EQ(cuMemcpyDtoH_v2(&Word, At + 61, 4), InvalidValue);
  EXPECT_EQ(cuMemFree_v2(At + 4), InvalidValue);
  EXPECT_EQ(cuMemFree_v2(At), Success);
  EXPECT_EQ(cuMemFree_v2(At), InvalidValue);
}

TEST(Arguments, BuffersOfTheWrongSize) {
  SimContext Context;
  Loaded K(AddOne);
  DeviceAddress At = 0;
  ASSERT_EQ(cuMemAlloc_v2(&At, 64), 0);
  ASSERT_EQ(cuMemsetD32_v2(At, 0, 16), 0);
  auto Extra = [&](size_t Bytes, void *Buffer) {
    void *List[] = {reinterpret_cast<void *>(1), Buffer,
                    reinterpret_cast<void *>(2), &Bytes, nullptr};
    return K.launch(At, List);
  };
  EXPECT_EQ(Extra(8, &At), Success);
  EXPECT_EQ(Extra(4, &At), InvalidValue);
  EXPECT_EQ(Extra(0, &At), InvalidValue);
  EXPECT_EQ(Extra(size_t{1} << 40, &At), InvalidValue);
  EXPECT_EQ(Extra(8, nullptr), InvalidValue);
  void *NoEnd[] = {reinterpret_cast<void *>(7), &At, nullptr};
  EXPECT_EQ(K.launch(At, NoEnd), InvalidValue);
  void *Null[] = {nullptr};
  EXPECT_EQ(
      cuLaunchKernel(K.Kernel, 1, 1, 1, 32, 1, 1, 0, nullptr, Null, nullptr),
      InvalidValue);
  EXPECT_EQ(
      cuLaunchKernel(K.Kernel, 1, 1, 1, 32, 1, 1, 0, nullptr, nullptr, nullptr),
      InvalidValue);
  EXPECT_EQ(cuCtxSynchronize(), Success) << "nothing was broken";
}

TEST(Arguments, OfTheExtendedLaunch) {
  struct {
    unsigned Grid[3] = {1, 1, 1}, Block[3] = {32, 1, 1}, Shared = 0;
    void *Stream = nullptr, *Attributes = nullptr;
    unsigned Count = 0;
  } C;
  SimContext Context;
  Loaded K(AddOne);
  DeviceAddress At = 0;
  ASSERT_EQ(cuMemAlloc_v2(&At, 64), 0);
  ASSERT_EQ(cuMemsetD32_v2(At, 0, 16), 0);
  void *Params[] = {&At};
  EXPECT_EQ(cuLaunchKernelEx(&C, K.Kernel, Params, nullptr), Success);
  EXPECT_EQ(cuLaunchKernelEx(nullptr, K.Kernel, Params, nullptr), InvalidValue);
  EXPECT_EQ(cuLaunchKernelEx(&C, nullptr, Params, nullptr), InvalidHandle);
  C.Count = 1; // of attributes that are not there
  EXPECT_EQ(cuLaunchKernelEx(&C, K.Kernel, Params, nullptr), InvalidValue);
  C.Count = 0;
  C.Stream = &C;
  EXPECT_EQ(cuLaunchKernelEx(&C, K.Kernel, Params, nullptr), InvalidHandle);
}

TEST(Handles, OfThingsThatAreGone) {
  SimContext Context;
  Loaded K(AddOne);
  DeviceAddress At = 0;
  ASSERT_EQ(cuMemAlloc_v2(&At, 64), 0);
  void *Stream = nullptr, *Event = nullptr, *G = nullptr, *Exec = nullptr;
  ASSERT_EQ(cuStreamCreate(&Stream, 1), 0);
  ASSERT_EQ(cuEventCreate(&Event, 0), 0);
  ASSERT_EQ(cuStreamBeginCapture_v2(Stream, 0), 0);
  void *Params[] = {&At};
  ASSERT_EQ(
      cuLaunchKernel(K.Kernel, 1, 1, 1, 32, 1, 1, 0, Stream, Params, nullptr),
      0);
  ASSERT_EQ(cuStreamEndCapture(Stream, &G), 0);
  ASSERT_EQ(cuGraphInstantiateWithFlags(&Exec, G, 0), 0);
  EXPECT_EQ(cuGraphDestroy(G), Success);
  EXPECT_EQ(cuGraphInstantiateWithFlags(&Exec, G, 0), InvalidValue);
  ASSERT_EQ(cuMemsetD32_v2(At, 0, 16), 0);
  // The code of a graph outlives its module's handle.
  EXPECT_EQ(cuModuleUnload(K.Module), Success);
  EXPECT_EQ(K.launch(At), InvalidHandle);
  EXPECT_EQ(cuModuleUnload(K.Module), InvalidHandle);
  EXPECT_EQ(cuGraphLaunch(Exec, Stream), Success);
  EXPECT_EQ(cuStreamSynchronize(Stream), Success);
  EXPECT_EQ(cuGraphExecDestroy(Exec), Success);
  EXPECT_EQ(cuGraphLaunch(Exec, Stream), InvalidValue);
  EXPECT_EQ(cuStreamDestroy_v2(Stream), Success);
  EXPECT_EQ(cuStreamSynchronize(Stream), InvalidHandle);
  EXPECT_EQ(cuEventDestroy_v2(Event), Success);
  EXPECT_EQ(cuEventRecord(Event, nullptr), InvalidHandle);
}

TEST(Handles, LaunchFromADestroyedContext) {
  void *Gone = nullptr;
  ASSERT_EQ(cuInit(0), 0);
  ASSERT_EQ(cuCtxCreate_v2(&Gone, 0, 0), 0);
  Loaded K(AddOne);
  DeviceAddress At = 0;
  ASSERT_EQ(cuMemAlloc_v2(&At, 64), 0);
  ASSERT_EQ(K.launch(At), Success); // and never waited for
  ASSERT_EQ(cuCtxDestroy_v2(Gone), 0);
  int Code = K.launch(At);
  EXPECT_TRUE(Code == InvalidContext || Code == ContextDestroyed) << Code;
  EXPECT_NE(cuCtxSetCurrent(Gone), Success);
  SimContext Another; // what belonged to the first means nothing here
  EXPECT_EQ(K.launch(At), InvalidHandle);
  EXPECT_EQ(cuMemFree_v2(At), InvalidValue);
  EXPECT_EQ(cuModuleUnload(K.Module), InvalidHandle);
}

TEST(Resources, SharedMemoryBeyondWhatWasAskedFor) {
  constexpr int MaxDynamicShared = 8;
  SimContext Context;
  Loaded K(AddOne);
  DeviceAddress At = 0;
  ASSERT_EQ(cuMemAlloc_v2(&At, 64), 0);
  ASSERT_EQ(cuMemsetD32_v2(At, 0, 16), 0);
  EXPECT_EQ(K.launch(At, nullptr, 48 * 1024), Success);
  EXPECT_EQ(K.launch(At, nullptr, 48 * 1024 + 4), InvalidValue);
  EXPECT_EQ(cuFuncSetAttribute(K.Kernel, MaxDynamicShared, 64 * 1024), Success);
  EXPECT_EQ(K.launch(At, nullptr, 64 * 1024), Success);
  EXPECT_EQ(K.launch(At, nullptr, 64 * 1024 + 4), InvalidValue);
  EXPECT_EQ(cuFuncSetAttribute(K.Kernel, MaxDynamicShared, 1 << 30),
            InvalidValue);
  EXPECT_EQ(cuFuncSetAttribute(K.Kernel, MaxDynamicShared, -1), InvalidValue);
  EXPECT_EQ(cuCtxSynchronize(), Success);
}
} // namespace
