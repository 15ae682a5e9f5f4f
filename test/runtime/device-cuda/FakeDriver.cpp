// A recording stand-in for the CUDA driver, loaded by the tests like the real
// one. Device memory is host memory. What it does comes from the environment:
//   LLMC_FAKE_LOG      file that gets a line per call
//   LLMC_FAKE_FAIL     "symbol:code" or "symbol:code:n": the n-th call fails
//                      (from 1; without n every call)
//   LLMC_FAKE_VERSION  cuDriverGetVersion (13000)
//   LLMC_FAKE_DEVICES  number of devices (1)
//   LLMC_FAKE_SM       architecture (80)
//   LLMC_FAKE_FREE     bytes of free memory (1 GiB)
//   LLMC_FAKE_HOST     library of host kernels that stands for every module
// A module whose bytes are "HOST:path" is the shared library at path, made of
// kernel text compiled for the host (test/support/HostKernels.h); its kernels
// then really run. Any other module runs nothing.
#include "test/support/HostCudaAbi.h"

#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace {
std::map<std::string, int> Calls;
struct FakeFunction {
  std::string Name;
  llmc::test::HostKernel Run = nullptr;
};
struct FakeModule {
  void *Library = nullptr;
  std::vector<std::unique_ptr<FakeFunction>> Functions;
};
struct FakeGraph {
  std::vector<std::function<void()>> Launches;
};
FakeGraph *Capturing = nullptr; // one stream is captured at a time
int Marker;                     // handles without content point here

long long env(const char *Name, long long Default) {
  const char *V = std::getenv(Name);
  return V && *V ? std::atoll(V) : Default;
}

void record(const char *Format, ...) {
  const char *Path = std::getenv("LLMC_FAKE_LOG");
  if (!Path || !*Path)
    return;
  std::FILE *F = std::fopen(Path, "a");
  if (!F)
    return;
  va_list Args;
  va_start(Args, Format);
  std::vfprintf(F, Format, Args);
  va_end(Args);
  std::fputc('\n', F);
  std::fclose(F);
}

/// The code that this call of Symbol must fail with, or 0.
int failure(const std::string &Symbol) {
  int Call = ++Calls[Symbol];
  const char *V = std::getenv("LLMC_FAKE_FAIL");
  if (!V || std::string(V).rfind(Symbol + ":", 0) != 0)
    return 0;
  std::string Rest = V + Symbol.size() + 1;
  size_t Colon = Rest.find(':');
  if (Colon != std::string::npos && std::atoi(Rest.c_str() + Colon + 1) != Call)
    return 0;
  return std::atoi(Rest.c_str());
}
} // namespace

#define FAKE(Symbol, ...)                                                      \
  record(#Symbol __VA_ARGS__);                                                 \
  if (int Code = failure(#Symbol))                                             \
  return Code

extern "C" {
int cuInit(unsigned) {
  FAKE(cuInit);
  return 0;
}
int cuDriverGetVersion(int *V) {
  FAKE(cuDriverGetVersion);
  *V = static_cast<int>(env("LLMC_FAKE_VERSION", 13000));
  return 0;
}
int cuGetErrorName(int Code, const char **Name) {
  static const std::map<int, const char *> Names = {
      {2, "CUDA_ERROR_OUT_OF_MEMORY"},
      {100, "CUDA_ERROR_NO_DEVICE"},
      {209, "CUDA_ERROR_NO_BINARY_FOR_GPU"},
      {218, "CUDA_ERROR_INVALID_PTX"},
      {222, "CUDA_ERROR_UNSUPPORTED_PTX_VERSION"},
      {500, "CUDA_ERROR_NOT_FOUND"},
      {700, "CUDA_ERROR_ILLEGAL_ADDRESS"},
      {719, "CUDA_ERROR_LAUNCH_FAILED"},
      {803, "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH"}};
  auto It = Names.find(Code);
  if (It == Names.end())
    return 1;
  *Name = It->second;
  return 0;
}
int cuGetErrorString(int Code, const char **Text) {
  *Text = "as the test wanted";
  return Code == 999 ? 1 : 0;
}
int cuDeviceGetCount(int *Count) {
  FAKE(cuDeviceGetCount);
  *Count = static_cast<int>(env("LLMC_FAKE_DEVICES", 1));
  return 0;
}
int cuDeviceGet(int *Device, int Number) {
  FAKE(cuDeviceGet, " %d", Number);
  *Device = Number;
  return 0;
}
int cuDeviceGetName(char *Name, int Bytes, int) {
  FAKE(cuDeviceGetName);
  std::snprintf(Name, static_cast<size_t>(Bytes), "Fake GPU");
  return 0;
}
int cuDeviceGetAttribute(int *Value, int Attribute, int) {
  FAKE(cuDeviceGetAttribute, " %d", Attribute);
  int Sm = static_cast<int>(env("LLMC_FAKE_SM", 80));
  *Value = Attribute == 75 ? Sm / 10 : Attribute == 76 ? Sm % 10 : 0;
  return 0;
}
int cuDevicePrimaryCtxRetain(void **Ctx, int) {
  FAKE(cuDevicePrimaryCtxRetain);
  *Ctx = &Marker;
  return 0;
}
int cuDevicePrimaryCtxRelease_v2(int) {
  FAKE(cuDevicePrimaryCtxRelease_v2);
  return 0;
}
int cuCtxSetCurrent(void *) {
  FAKE(cuCtxSetCurrent);
  return 0;
}
int cuModuleLoadDataEx(void **Module, const void *Data, unsigned Options,
                       int *Kinds, void **Values) {
  const char *Text = static_cast<const char *>(Data);
  record("cuModuleLoadDataEx %s options=%u",
         std::strncmp(Text, "HOST:", 5) == 0 ? "host"
         : std::strncmp(Text,
                        "\x7f"
                        "ELF",
                        4) == 0
             ? "cubin"
             : "ptx",
         Options);
  if (int Code = failure("cuModuleLoadDataEx")) {
    if (Options == 2 && Kinds[0] == 5)
      std::strcpy(static_cast<char *>(Values[0]), "ptxas says no\nmore\n");
    return Code;
  }
  FakeModule *M = new FakeModule();
  const char *Host = std::getenv("LLMC_FAKE_HOST");
  if (std::strncmp(Text, "HOST:", 5) == 0)
    Host = Text + 5;
  if (Host && *Host) {
    M->Library = dlopen(Host, RTLD_NOW | RTLD_LOCAL);
    if (!M->Library)
      return 200;
  }
  *Module = M;
  return 0;
}
int cuModuleUnload(void *Module) {
  FAKE(cuModuleUnload);
  delete static_cast<FakeModule *>(Module);
  return 0;
}
int cuModuleGetFunction(void **Function, void *Module, const char *Name) {
  FAKE(cuModuleGetFunction, " %s", Name);
  FakeModule *M = static_cast<FakeModule *>(Module);
  M->Functions.push_back(std::make_unique<FakeFunction>());
  FakeFunction *F = M->Functions.back().get();
  F->Name = Name;
  if (void *Library = M->Library) {
    F->Run = reinterpret_cast<llmc::test::HostKernel>(
        dlsym(Library, (F->Name + "_host").c_str()));
    if (!F->Run)
      return 500;
  }
  *Function = F;
  return 0;
}
int cuFuncSetAttribute(void *, int Attribute, int Value) {
  FAKE(cuFuncSetAttribute, " %d %d", Attribute, Value);
  return 0;
}
int cuMemGetInfo_v2(size_t *Free, size_t *Total) {
  FAKE(cuMemGetInfo_v2);
  *Free = static_cast<size_t>(env("LLMC_FAKE_FREE", 1 << 30));
  *Total = *Free;
  return 0;
}
int cuMemAlloc_v2(unsigned long long *Ptr, size_t Bytes) {
  FAKE(cuMemAlloc_v2, " %zu", Bytes);
  void *P = std::aligned_alloc(256, (Bytes + 255) / 256 * 256);
  std::memset(P, 0xff, Bytes); // NaN: nothing may be read unwritten
  *Ptr = reinterpret_cast<unsigned long long>(P);
  return 0;
}
int cuMemFree_v2(unsigned long long Ptr) {
  FAKE(cuMemFree_v2);
  std::free(reinterpret_cast<void *>(Ptr));
  return 0;
}
int cuMemHostAlloc(void **Ptr, size_t Bytes, unsigned) {
  FAKE(cuMemHostAlloc, " %zu", Bytes);
  *Ptr = std::aligned_alloc(256, (Bytes + 255) / 256 * 256);
  return 0;
}
int cuMemFreeHost(void *Ptr) {
  FAKE(cuMemFreeHost);
  std::free(Ptr);
  return 0;
}
int cuMemcpyHtoDAsync_v2(unsigned long long To, const void *From, size_t Bytes,
                         void *) {
  FAKE(cuMemcpyHtoDAsync_v2, " %zu", Bytes);
  std::memcpy(reinterpret_cast<void *>(To), From, Bytes);
  return 0;
}
int cuMemcpyDtoHAsync_v2(void *To, unsigned long long From, size_t Bytes,
                         void *) {
  FAKE(cuMemcpyDtoHAsync_v2, " %zu", Bytes);
  std::memcpy(To, reinterpret_cast<void *>(From), Bytes);
  return 0;
}
int cuMemcpyDtoDAsync_v2(unsigned long long To, unsigned long long From,
                         size_t Bytes, void *) {
  FAKE(cuMemcpyDtoDAsync_v2, " %zu", Bytes);
  std::memcpy(reinterpret_cast<void *>(To), reinterpret_cast<void *>(From),
              Bytes);
  return 0;
}
int cuStreamCreate(void **Stream, unsigned Flags) {
  FAKE(cuStreamCreate, " %u", Flags);
  *Stream = &Marker;
  return 0;
}
int cuStreamDestroy_v2(void *) {
  FAKE(cuStreamDestroy_v2);
  return 0;
}
int cuStreamSynchronize(void *) {
  FAKE(cuStreamSynchronize);
  return 0;
}
int cuLaunchKernel(void *Function, unsigned Gx, unsigned Gy, unsigned Gz,
                   unsigned Bx, unsigned By, unsigned Bz, unsigned Shared,
                   void *, void **Params, void **Extra) {
  FakeFunction *F = static_cast<FakeFunction *>(Function);
  FAKE(cuLaunchKernel, " %s grid=%u,%u,%u block=%u,%u,%u shared=%u",
       F->Name.c_str(), Gx, Gy, Gz, Bx, By, Bz, Shared);
  if (!Params || Extra || Gx * Gy * Gz == 0)
    return 1;
  // The driver copies the arguments; the runtime never changes them.
  std::function<void()> Run = [=] {
    if (F->Run)
      F->Run(llmc::test::HostGrid{{Gx, Gy, Gz}, {Bx, By, Bz}}, Params);
  };
  if (Capturing)
    Capturing->Launches.push_back(Run);
  else
    Run();
  return 0;
}
struct FakeAttribute {
  int Id, Pad, Value[16];
};
struct FakeConfig {
  unsigned Grid[3], Block[3], Shared;
  void *Stream;
  FakeAttribute *Attributes;
  unsigned Count;
};
int cuLaunchKernelEx(const FakeConfig *C, void *Function, void **Params,
                     void **Extra) {
  FAKE(cuLaunchKernelEx, " attributes=%u first=%d:%d", C->Count,
       C->Count ? C->Attributes[0].Id : -1,
       C->Count ? C->Attributes[0].Value[0] : -1);
  return cuLaunchKernel(Function, C->Grid[0], C->Grid[1], C->Grid[2],
                        C->Block[0], C->Block[1], C->Block[2], C->Shared,
                        C->Stream, Params, Extra);
}
int cuStreamBeginCapture_v2(void *, int Mode) {
  FAKE(cuStreamBeginCapture_v2, " %d", Mode);
  Capturing = new FakeGraph();
  return 0;
}
int cuStreamEndCapture(void *, void **Graph) {
  *Graph = Capturing;
  Capturing = nullptr;
  if (int Code = failure("cuStreamEndCapture")) {
    delete static_cast<FakeGraph *>(*Graph);
    *Graph = nullptr;
    return Code;
  }
  return 0;
}
int cuGraphInstantiateWithFlags(void **Exec, void *Graph, unsigned long long) {
  FAKE(cuGraphInstantiateWithFlags, " %zu",
       static_cast<FakeGraph *>(Graph)->Launches.size());
  *Exec = new FakeGraph(*static_cast<FakeGraph *>(Graph));
  return 0;
}
int cuGraphLaunch(void *Exec, void *) {
  FAKE(cuGraphLaunch);
  for (const std::function<void()> &Run :
       static_cast<FakeGraph *>(Exec)->Launches)
    Run();
  return 0;
}
int cuGraphDestroy(void *Graph) {
  FAKE(cuGraphDestroy);
  delete static_cast<FakeGraph *>(Graph);
  return 0;
}
int cuGraphExecDestroy(void *Exec) {
  FAKE(cuGraphExecDestroy);
  delete static_cast<FakeGraph *>(Exec);
  return 0;
}
} // extern "C"
