// The part of the CUDA driver API that is used, declared here (no cuda.h) and
// resolved by dlopen: one symbol table. The simulator is another library with
// the same symbols.
#ifndef LLMC_RUNTIME_DEVICE_CUDA_DRIVERAPI_H
#define LLMC_RUNTIME_DEVICE_CUDA_DRIVERAPI_H

#include "runtime/base/Status.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace llmc::cuda {

using DevicePtr = unsigned long long;
using Ordinal = int;
struct ContextTag;
struct ModuleTag;
struct FunctionTag;
struct StreamTag;
struct GraphTag;
struct GraphExecTag;
struct EventTag;
using Context = ContextTag *;
using Module = ModuleTag *;
using Function = FunctionTag *;
using Stream = StreamTag *;
using Graph = GraphTag *;
using GraphExec = GraphExecTag *;
using Event = EventTag *;

/// Results that are told apart; the driver names the others.
enum DriverResult : int {
  DriverSuccess = 0,
  DriverOutOfMemory = 2,
  DriverNoDevice = 100,
  DriverInvalidDevice = 101,
  DriverInvalidImage = 200,
  DriverNoBinary = 209,
  DriverUnsupportedPtx = 222,
  DriverInvalidSource = 300,
  DriverMismatch = 803,
  DriverCompatNotSupported = 804
};

enum DeviceAttribute : int { AttributeMajor = 75, AttributeMinor = 76 };

/// CUlaunchAttribute and CUlaunchConfig of cuda.h.
struct LaunchAttribute {
  enum : int { ProgrammaticStreamSerialization = 6 };
  int Id = 0;
  int Pad = 0;
  alignas(8) int Value[16] = {}; ///< 64 bytes; what is in it depends on Id
};
struct LaunchConfig {
  unsigned Grid[3] = {1, 1, 1}, Block[3] = {1, 1, 1}, SharedBytes = 0;
  Stream Where = nullptr;
  LaunchAttribute *Attributes = nullptr;
  unsigned Count = 0;
};

/// X(member, symbol, parameters); every one returns a DriverResult.
#define LLMC_CUDA_DRIVER_SYMBOLS(X)                                            \
  X(Init, "cuInit", (unsigned))                                                \
  X(DriverGetVersion, "cuDriverGetVersion", (int *))                           \
  X(GetErrorName, "cuGetErrorName", (int, const char **))                      \
  X(GetErrorString, "cuGetErrorString", (int, const char **))                  \
  X(DeviceGetCount, "cuDeviceGetCount", (int *))                               \
  X(DeviceGet, "cuDeviceGet", (Ordinal *, int))                                \
  X(DeviceGetName, "cuDeviceGetName", (char *, int, Ordinal))                  \
  X(DeviceGetAttribute, "cuDeviceGetAttribute", (int *, int, Ordinal))         \
  X(PrimaryCtxRetain, "cuDevicePrimaryCtxRetain", (Context *, Ordinal))        \
  X(PrimaryCtxRelease, "cuDevicePrimaryCtxRelease_v2", (Ordinal))              \
  X(CtxSetCurrent, "cuCtxSetCurrent", (Context))                               \
  X(ModuleLoadDataEx, "cuModuleLoadDataEx",                                    \
    (Module *, const void *, unsigned, int *, void **))                        \
  X(ModuleUnload, "cuModuleUnload", (Module))                                  \
  X(ModuleGetFunction, "cuModuleGetFunction",                                  \
    (Function *, Module, const char *))                                        \
  X(FuncSetAttribute, "cuFuncSetAttribute", (Function, int, int))              \
  X(MemGetInfo, "cuMemGetInfo_v2", (size_t *, size_t *))                       \
  X(MemAlloc, "cuMemAlloc_v2", (DevicePtr *, size_t))                          \
  X(MemFree, "cuMemFree_v2", (DevicePtr))                                      \
  X(MemHostAlloc, "cuMemHostAlloc", (void **, size_t, unsigned))               \
  X(MemFreeHost, "cuMemFreeHost", (void *))                                    \
  X(MemcpyHtoDAsync, "cuMemcpyHtoDAsync_v2",                                   \
    (DevicePtr, const void *, size_t, Stream))                                 \
  X(MemcpyDtoHAsync, "cuMemcpyDtoHAsync_v2",                                   \
    (void *, DevicePtr, size_t, Stream))                                       \
  X(MemcpyDtoDAsync, "cuMemcpyDtoDAsync_v2",                                   \
    (DevicePtr, DevicePtr, size_t, Stream))                                    \
  X(StreamCreate, "cuStreamCreate", (Stream *, unsigned))                      \
  X(StreamDestroy, "cuStreamDestroy_v2", (Stream))                             \
  X(StreamSynchronize, "cuStreamSynchronize", (Stream))                        \
  X(LaunchKernel, "cuLaunchKernel",                                            \
    (Function, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,     \
     unsigned, Stream, void **, void **))

/// What older drivers do without; a null pointer there.
#define LLMC_CUDA_OPTIONAL_SYMBOLS(X)                                          \
  X(LaunchKernelEx, "cuLaunchKernelEx",                                        \
    (const LaunchConfig *, Function, void **, void **))                        \
  X(StreamBeginCapture, "cuStreamBeginCapture_v2", (Stream, int))              \
  X(StreamEndCapture, "cuStreamEndCapture", (Stream, Graph *))                 \
  X(GraphInstantiate, "cuGraphInstantiateWithFlags",                           \
    (GraphExec *, Graph, unsigned long long))                                  \
  X(GraphLaunch, "cuGraphLaunch", (GraphExec, Stream))                         \
  X(GraphDestroy, "cuGraphDestroy", (Graph))                                   \
  X(GraphExecDestroy, "cuGraphExecDestroy", (GraphExec))                       \
  X(EventCreate, "cuEventCreate", (Event *, unsigned))                         \
  X(EventRecord, "cuEventRecord", (Event, Stream))                             \
  X(EventSynchronize, "cuEventSynchronize", (Event))                           \
  X(EventElapsedTime, "cuEventElapsedTime", (float *, Event, Event))           \
  X(EventDestroy, "cuEventDestroy_v2", (Event))

/// A loaded driver library. Immutable after load.
class Driver {
public:
  /// Loads and initialises the library. DoesNotFit, with the reason, when it
  /// cannot be loaded, is too old, or says that it cannot run here.
  static Result<std::shared_ptr<const Driver>> load(const std::string &Library);
  ~Driver();
  Driver(const Driver &) = delete;
  Driver &operator=(const Driver &) = delete;

#define LLMC_CUDA_MEMBER(Name, Symbol, Params) int(*Name) Params = nullptr;
  LLMC_CUDA_DRIVER_SYMBOLS(LLMC_CUDA_MEMBER)
  LLMC_CUDA_OPTIONAL_SYMBOLS(LLMC_CUDA_MEMBER)
#undef LLMC_CUDA_MEMBER

  /// Success, or "cannot WHAT: NAME (text)" with the driver's name of the
  /// error: DoesNotFit when memory, device or driver are the reason, else
  /// Internal.
  Status check(int Code, std::string_view What) const;
  /// Whether all functions of graphs are there.
  bool hasGraphs() const {
    return StreamBeginCapture && StreamEndCapture && GraphInstantiate &&
           GraphLaunch && GraphDestroy && GraphExecDestroy;
  }
  bool hasEvents() const {
    return EventCreate && EventRecord && EventSynchronize && EventElapsedTime &&
           EventDestroy;
  }
  /// 13000 for CUDA 13.0: the newest CUDA that the driver knows.
  int version() const { return Version; }

private:
  Driver() = default;
  std::string resolve();

  void *Library = nullptr;
  int Version = 0;
};

} // namespace llmc::cuda

#endif // LLMC_RUNTIME_DEVICE_CUDA_DRIVERAPI_H
