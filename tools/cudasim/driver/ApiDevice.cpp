// The driver API: start, errors, device, contexts.
#include "tools/cudasim/driver/Chip.h"
#include "tools/cudasim/driver/State.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <unistd.h>

using namespace llmc::cudasim;

namespace {

struct ErrorText {
  int Code;
  const char *Name, *Text;
};
const ErrorText Errors[] = {
    {0, "CUDA_SUCCESS", "no error"},
    {1, "CUDA_ERROR_INVALID_VALUE", "invalid argument"},
    {2, "CUDA_ERROR_OUT_OF_MEMORY", "out of memory"},
    {3, "CUDA_ERROR_NOT_INITIALIZED", "initialization error"},
    {4, "CUDA_ERROR_DEINITIALIZED", "driver shutting down"},
    {100, "CUDA_ERROR_NO_DEVICE", "no CUDA-capable device is detected"},
    {101, "CUDA_ERROR_INVALID_DEVICE", "invalid device ordinal"},
    {200, "CUDA_ERROR_INVALID_IMAGE", "device kernel image is invalid"},
    {201, "CUDA_ERROR_INVALID_CONTEXT", "invalid device context"},
    {209, "CUDA_ERROR_NO_BINARY_FOR_GPU",
     "no kernel image is available for execution on the device"},
    {218, "CUDA_ERROR_INVALID_PTX", "a PTX JIT compilation failed"},
    {222, "CUDA_ERROR_UNSUPPORTED_PTX_VERSION",
     "the provided PTX was compiled with an unsupported toolchain."},
    {300, "CUDA_ERROR_INVALID_SOURCE", "device kernel image is invalid"},
    {400, "CUDA_ERROR_INVALID_HANDLE", "invalid resource handle"},
    {401, "CUDA_ERROR_ILLEGAL_STATE",
     "the operation cannot be performed in the present state"},
    {500, "CUDA_ERROR_NOT_FOUND", "named symbol not found"},
    {600, "CUDA_ERROR_NOT_READY", "device not ready"},
    {700, "CUDA_ERROR_ILLEGAL_ADDRESS",
     "an illegal memory access was encountered"},
    {701, "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES",
     "too many resources requested for launch"},
    {702, "CUDA_ERROR_LAUNCH_TIMEOUT",
     "the launch timed out and was terminated"},
    {708, "CUDA_ERROR_PRIMARY_CONTEXT_ACTIVE",
     "cannot set while device is active in this process"},
    {709, "CUDA_ERROR_CONTEXT_IS_DESTROYED", "context is destroyed"},
    {710, "CUDA_ERROR_ASSERT", "device-side assert triggered"},
    {714, "CUDA_ERROR_HARDWARE_STACK_ERROR", "hardware stack error"},
    {715, "CUDA_ERROR_ILLEGAL_INSTRUCTION",
     "an illegal instruction was encountered"},
    {716, "CUDA_ERROR_MISALIGNED_ADDRESS", "misaligned address"},
    {717, "CUDA_ERROR_INVALID_ADDRESS_SPACE",
     "operation not supported on global/shared address space"},
    {719, "CUDA_ERROR_LAUNCH_FAILED", "unspecified launch failure"},
    {720, "CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE",
     "too many blocks in cooperative launch"},
    {801, "CUDA_ERROR_NOT_SUPPORTED", "operation not supported"},
    {900, "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED",
     "operation not permitted when stream is capturing"},
    {901, "CUDA_ERROR_STREAM_CAPTURE_INVALIDATED",
     "operation failed due to a previous error during capture"},
    {903, "CUDA_ERROR_STREAM_CAPTURE_UNMATCHED",
     "capture was not ended in the same stream as it began"},
    {906, "CUDA_ERROR_STREAM_CAPTURE_IMPLICIT",
     "operation would make the legacy stream depend on a capturing blocking "
     "stream"},
    {999, "CUDA_ERROR_UNKNOWN", "unknown error"}};

const ErrorText *errorOf(int Code) {
  for (const ErrorText &E : Errors)
    if (E.Code == Code)
      return &E;
  return nullptr;
}

/// What the device has, but no more than this machine.
uint64_t memoryBytes() {
  if (uint64_t Wanted = settings().MemoryBytes)
    return Wanted;
  uint64_t Host = static_cast<uint64_t>(sysconf(_SC_PHYS_PAGES)) *
                  static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  return std::min(chip().MemoryBytes, Host / 10 * 9);
}

int attribute(int Which, int &Value) {
  const llmc::GpuChip &C = chip();
  struct Entry {
    int Which, Value;
  };
  const Entry Table[] = {{1, 1024}, // threads per block
                         {2, 1024},
                         {3, 1024},
                         {4, 64}, // block
                         {5, 0x7fffffff},
                         {6, 65535},
                         {7, 65535},       // grid
                         {8, 49152},       // shared per block
                         {9, 65536},       // constant memory
                         {10, 32},         // warp
                         {11, 0x7fffffff}, // pitch
                         {12, 65536},      // registers per block
                         {13, static_cast<int>(C.GHz * 1e6)}, // kHz
                         {14, 512}, // texture alignment
                         {15, 1},   // copy and run overlap
                         {16, static_cast<int>(C.Multiprocessors)},
                         {17, 0},       // kernel time limit
                         {18, 0},       // integrated
                         {19, 1},       // host memory can be mapped
                         {20, 0},       // compute mode
                         {31, 1},       // concurrent kernels
                         {36, 2000000}, // memory clock
                         {37, 4096},    // bus width
                         {38, static_cast<int>(C.L2Bytes)},
                         {39, static_cast<int>(C.WarpsPerSm * 32)},
                         {40, 2}, // copy engines
                         {41, 1}, // unified addressing
                         {75, C.Major},
                         {76, C.Minor},
                         {78, 1}, // stream priorities
                         {81, static_cast<int>(C.SharedPerSm)},
                         {82, 65536}, // registers per SM
                         {83, 0},     // managed memory
                         {89, 0},     // concurrent managed access
                         {95, 1},     // cooperative launch
                         {97, static_cast<int>(C.SharedOptIn)},
                         {106, static_cast<int>(C.BlocksPerSm)},
                         {111, 1024}, // reserved shared per block
                         {115, 0}};   // memory pools
  for (const Entry &E : Table)
    if (E.Which == Which) {
      Value = E.Value;
      return Success;
    }
  Value = 0;
  return Which > 0 && Which < 160 ? Success : InvalidValue;
}

int withDevice(int Device, const std::function<int()> &Do) {
  return guarded([&]() -> int {
    if (!state().Initialized)
      return NotInitialized;
    if (Device != 0)
      return InvalidDevice;
    return Do();
  });
}

Context *newContext(unsigned Flags) {
  std::unique_ptr<Context> C = std::make_unique<Context>(memoryBytes());
  C->Flags = Flags;
  Context *Raw = C.get();
  state().Contexts.insert(std::move(C));
  return Raw;
}
void destroyContext(Context *C) {
  for (const auto &[P, Bytes] : C->Pinned)
    std::free(P);
  erase(state().Contexts, C);
}
} // namespace

SIM_EXPORT int cuInit(unsigned Flags) {
  return guarded([&]() -> int {
    if (Flags != 0)
      return InvalidValue;
    state().Initialized = true;
    return Success;
  });
}
SIM_EXPORT int cuDriverGetVersion(int *Version) {
  if (!Version)
    return InvalidValue;
  *Version = 13000;
  return Success;
}
SIM_EXPORT int cuGetErrorName(int Code, const char **Name) {
  const ErrorText *E = errorOf(Code);
  if (!Name)
    return InvalidValue;
  *Name = E ? E->Name : nullptr;
  return E ? Success : InvalidValue;
}
SIM_EXPORT int cuGetErrorString(int Code, const char **Text) {
  const ErrorText *E = errorOf(Code);
  if (!Text)
    return InvalidValue;
  *Text = E ? E->Text : nullptr;
  return E ? Success : InvalidValue;
}
SIM_EXPORT int cuGetExportTable(const void **Table, const void *) {
  if (Table)
    *Table = nullptr;
  return NotFound;
}

SIM_EXPORT int cuDeviceGetCount(int *Count) {
  return withDevice(
      0, [&] { return Count ? (*Count = 1, Success) : InvalidValue; });
}
SIM_EXPORT int cuDeviceGet(int *Device, int Number) {
  return withDevice(
      Number, [&] { return Device ? (*Device = 0, Success) : InvalidValue; });
}
SIM_EXPORT int cuDeviceGetName(char *Name, int Bytes, int Device) {
  return withDevice(Device, [&]() -> int {
    if (!Name || Bytes <= 0)
      return InvalidValue;
    std::snprintf(Name, static_cast<size_t>(Bytes), "llmc simulator (%s)",
                  chip().Title);
    return Success;
  });
}
SIM_EXPORT int cuDeviceGetUuid_v2(void *Uuid, int Device) {
  return withDevice(Device, [&]() -> int {
    if (!Uuid)
      return InvalidValue;
    std::memcpy(Uuid, "llmc-cuda-sim-00", 16);
    return Success;
  });
}
SIM_EXPORT int cuDeviceTotalMem_v2(size_t *Bytes, int Device) {
  return withDevice(Device, [&] {
    return Bytes ? (*Bytes = memoryBytes(), Success) : InvalidValue;
  });
}
SIM_EXPORT int cuDeviceGetAttribute(int *Value, int Which, int Device) {
  return withDevice(
      Device, [&] { return Value ? attribute(Which, *Value) : InvalidValue; });
}

SIM_EXPORT int cuDevicePrimaryCtxRetain(Context **Out, int Device) {
  return withDevice(Device, [&]() -> int {
    if (!Out)
      return InvalidValue;
    State &S = state();
    if (!S.Primary) {
      S.Primary = newContext(0);
      S.Primary->Primary = true;
    }
    ++S.PrimaryUsers;
    *Out = S.Primary;
    return Success;
  });
}
SIM_EXPORT int cuDevicePrimaryCtxRelease_v2(int Device) {
  return withDevice(Device, []() -> int {
    State &S = state();
    if (S.PrimaryUsers == 0)
      return InvalidContext;
    if (--S.PrimaryUsers == 0) {
      if (!S.Primary->Sticky)
        S.Primary->runUntil(0);
      destroyContext(S.Primary);
      S.Primary = nullptr;
    }
    return Success;
  });
}
SIM_EXPORT int cuDevicePrimaryCtxReset_v2(int Device) {
  return withDevice(Device, []() -> int {
    State &S = state();
    if (S.Primary)
      destroyContext(S.Primary);
    S.Primary = nullptr;
    S.PrimaryUsers = 0;
    return Success;
  });
}
SIM_EXPORT int cuDevicePrimaryCtxSetFlags_v2(int Device, unsigned) {
  return withDevice(Device, [] { return Success; });
}
SIM_EXPORT int cuDevicePrimaryCtxGetState(int Device, unsigned *Flags,
                                          int *Active) {
  return withDevice(Device, [&]() -> int {
    if (!Flags || !Active)
      return InvalidValue;
    *Flags = 0;
    *Active = state().Primary != nullptr;
    return Success;
  });
}

SIM_EXPORT int cuCtxCreate_v2(Context **Out, unsigned Flags, int Device) {
  return withDevice(Device, [&]() -> int {
    if (!Out)
      return InvalidValue;
    *Out = newContext(Flags);
    contextStack().push_back(*Out);
    return Success;
  });
}
SIM_EXPORT int cuCtxCreate_v4(Context **Out, void *, unsigned Flags,
                              int Device) {
  return cuCtxCreate_v2(Out, Flags, Device);
}
SIM_EXPORT int cuCtxDestroy_v2(Context *C) {
  return guarded([&]() -> int {
    if (!state().Initialized)
      return NotInitialized;
    if (!C || !isContext(C) || C->Primary)
      return InvalidContext;
    if (!C->Sticky)
      C->runUntil(0);
    destroyContext(C);
    std::vector<Context *> &Stack = contextStack();
    if (!Stack.empty() && Stack.back() == C)
      Stack.pop_back();
    return Success;
  });
}
SIM_EXPORT int cuCtxSetCurrent(Context *C) {
  return guarded([&]() -> int {
    if (!state().Initialized)
      return NotInitialized;
    if (C && !isContext(C))
      return InvalidContext;
    std::vector<Context *> &Stack = contextStack();
    if (!Stack.empty())
      Stack.pop_back();
    if (C)
      Stack.push_back(C);
    return Success;
  });
}
SIM_EXPORT int cuCtxGetCurrent(Context **Out) {
  return guarded([&]() -> int {
    if (!state().Initialized)
      return NotInitialized;
    if (!Out)
      return InvalidValue;
    *Out = contextStack().empty() ? nullptr : contextStack().back();
    return Success;
  });
}
SIM_EXPORT int cuCtxPushCurrent_v2(Context *C) {
  return guarded([&]() -> int {
    if (!C || !isContext(C))
      return InvalidContext;
    contextStack().push_back(C);
    return Success;
  });
}
SIM_EXPORT int cuCtxPopCurrent_v2(Context **Out) {
  return guarded([&]() -> int {
    if (contextStack().empty())
      return InvalidContext;
    if (Out)
      *Out = contextStack().back();
    contextStack().pop_back();
    return Success;
  });
}
SIM_EXPORT int cuCtxGetDevice(int *Device) {
  return inContext([&](Context &) {
    return Device ? (*Device = 0, Success) : InvalidValue;
  });
}
SIM_EXPORT int cuCtxSynchronize(void) {
  return inContext([](Context &C) { return C.runUntil(0); });
}
SIM_EXPORT int cuCtxSetLimit(int, size_t) {
  return inContext([](Context &) { return Success; });
}
SIM_EXPORT int cuCtxGetLimit(size_t *Value, int) {
  return inContext([&](Context &) {
    return Value ? (*Value = 1024, Success) : InvalidValue;
  });
}
SIM_EXPORT int cuCtxGetStreamPriorityRange(int *Least, int *Greatest) {
  return inContext([&](Context &) -> int {
    if (Least)
      *Least = 0;
    if (Greatest)
      *Greatest = 0;
    return Success;
  });
}
