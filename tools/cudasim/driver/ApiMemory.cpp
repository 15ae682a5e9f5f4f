// The driver API: memory and copies.
#include "tools/cudasim/driver/ApiCapture.h"

#include <cstdlib>
#include <cstring>

using namespace llmc::cudasim;

namespace {

using Address = unsigned long long;

/// Whether [At, At + Bytes) is device memory.
bool isDevice(Context &C, Address At, size_t Bytes) {
  return C.Memory.find(At, Bytes) != nullptr;
}
bool isPinned(Context &C, const void *P, size_t Bytes) {
  auto It = C.Pinned.upper_bound(const_cast<void *>(P));
  if (It == C.Pinned.begin())
    return false;
  --It;
  size_t Offset = static_cast<size_t>(static_cast<const char *>(P) -
                                      static_cast<const char *>(It->first));
  return Offset <= It->second && Bytes <= It->second - Offset;
}
void *host(Address A) { return reinterpret_cast<void *>(A); }

/// Copies are checked when they run, too: memory may be freed in between.
std::function<int()> copyWork(Context &C, void *To, const void *From,
                              size_t Bytes, Address DeviceTo,
                              Address DeviceFrom) {
  return [&C, To, From, Bytes, DeviceTo, DeviceFrom]() -> int {
    if ((DeviceTo && !isDevice(C, DeviceTo, Bytes)) ||
        (DeviceFrom && !isDevice(C, DeviceFrom, Bytes))) {
      report("a copy of " + std::to_string(Bytes) +
             " bytes runs after its memory was freed");
      return IllegalAddress;
    }
    std::memmove(To, From, Bytes);
    noteTransfer(C, DeviceTo, DeviceFrom, Bytes);
    return Success;
  };
}

int copy(const void *Handle, bool Wait, void *To, const void *From,
         size_t Bytes, Address DeviceTo, Address DeviceFrom) {
  return inContext([&](Context &C) -> int {
    Stream *S = streamOf(C, Handle);
    if (!S)
      return InvalidHandle;
    if (Bytes == 0)
      return Success;
    if (!To || !From || (DeviceTo && !isDevice(C, DeviceTo, Bytes)) ||
        (DeviceFrom && !isDevice(C, DeviceFrom, Bytes)))
      return InvalidValue;
    if (S->Capturing) {
      if (Wait)
        return breakCapture(*S);
      return record(*S, GraphNode::Copy,
                    copyWork(C, To, From, Bytes, DeviceTo, DeviceFrom));
    }
    // Pageable host memory is read at once, as the driver stages it.
    std::shared_ptr<std::vector<char>> Staged;
    if (!DeviceFrom && !isPinned(C, From, Bytes)) {
      const char *P = static_cast<const char *>(From);
      if (Wait) {
        int Result = C.synchronise(*S);
        return Result ? Result
                      : copyWork(C, To, From, Bytes, DeviceTo, DeviceFrom)();
      }
      Staged = std::make_shared<std::vector<char>>(P, P + Bytes);
      From = Staged->data();
    }
    std::function<int()> Do =
        copyWork(C, To, From, Bytes, DeviceTo, DeviceFrom);
    int Result = C.enqueue(*S, [Do, Staged] { return Do(); });
    if (Result == Success &&
        (Wait || (!DeviceTo && !isPinned(C, To, Bytes)))) // pageable: waits
      Result = C.synchronise(*S);
    return Result;
  });
}

template <class T>
int set(const void *Handle, bool Wait, Address To, T Value, size_t Count) {
  return inContext([&](Context &C) -> int {
    Stream *S = streamOf(C, Handle);
    if (!S)
      return InvalidHandle;
    if (Count == 0)
      return Success;
    if (Count > SIZE_MAX / sizeof(T) || To % sizeof(T) != 0 ||
        !isDevice(C, To, Count * sizeof(T)))
      return InvalidValue;
    std::function<int()> Do = [&C, To, Value, Count]() -> int {
      if (!isDevice(C, To, Count * sizeof(T)))
        return IllegalAddress;
      T *P = static_cast<T *>(host(To));
      std::fill(P, P + Count, Value);
      noteTransfer(C, To, 0, Count * sizeof(T));
      return Success;
    };
    if (S->Capturing)
      return record(*S, GraphNode::Set, Do);
    int Result = C.enqueue(*S, Do);
    return Result == Success && Wait ? C.synchronise(*S) : Result;
  });
}

int hostAlloc(void **Out, size_t Bytes) {
  return inContext([&](Context &C) -> int {
    if (!Out || Bytes == 0)
      return InvalidValue;
    size_t Whole = (Bytes + 4095) / 4096 * 4096;
    if (Whole < Bytes)
      return OutOfMemory;
    void *P = std::aligned_alloc(4096, Whole);
    if (!P)
      return OutOfMemory;
    C.Pinned[P] = Bytes;
    *Out = P;
    return Success;
  });
}
} // namespace

SIM_EXPORT int cuMemGetInfo_v2(size_t *Free, size_t *Total) {
  return inContext([&](Context &C) -> int {
    if (!Free || !Total)
      return InvalidValue;
    *Free = C.Memory.available();
    *Total = C.Memory.total();
    return Success;
  });
}
SIM_EXPORT int cuMemAlloc_v2(Address *Out, size_t Bytes) {
  return inContext([&](Context &C) -> int {
    if (!Out || Bytes == 0)
      return InvalidValue;
    Address At = C.Memory.alloc(Bytes);
    if (!At)
      return OutOfMemory;
    C.Allocated.insert(At);
    noteAllocation(C, At, Bytes);
    *Out = At;
    return Success;
  });
}
SIM_EXPORT int cuMemFree_v2(Address At) {
  return inContext([&](Context &C) -> int {
    if (At == 0)
      return Success;
    if (!C.Allocated.count(At))
      return InvalidValue;
    int Result = C.runUntil(0); // freeing waits for the device
    C.Allocated.erase(At);
    C.Memory.free(At);
    return Result;
  });
}
SIM_EXPORT int cuMemAllocAsync(Address *Out, size_t Bytes, const void *S) {
  return inContext([&](Context &C) -> int {
    return streamOf(C, S) ? cuMemAlloc_v2(Out, Bytes) : InvalidHandle;
  });
}
SIM_EXPORT int cuMemFreeAsync(Address At, const void *Handle) {
  return inContext([&](Context &C) -> int {
    Stream *S = streamOf(C, Handle);
    if (!S)
      return InvalidHandle;
    if (!C.Allocated.erase(At))
      return InvalidValue;
    return C.enqueue(*S, [&C, At] {
      C.Memory.free(At);
      return Success;
    });
  });
}
SIM_EXPORT int cuMemGetAddressRange_v2(Address *Base, size_t *Bytes,
                                       Address At) {
  return inContext([&](Context &C) -> int {
    const Allocation *A = C.Memory.find(At, 1);
    if (!A)
      return NotFound;
    if (Base)
      *Base = A->Begin;
    if (Bytes)
      *Bytes = A->Bytes;
    return Success;
  });
}
SIM_EXPORT int cuMemHostAlloc(void **Out, size_t Bytes, unsigned) {
  return hostAlloc(Out, Bytes);
}
SIM_EXPORT int cuMemAllocHost_v2(void **Out, size_t Bytes) {
  return hostAlloc(Out, Bytes);
}
SIM_EXPORT int cuMemFreeHost(void *P) {
  return inContext([&](Context &C) -> int {
    if (!C.Pinned.count(P))
      return InvalidValue;
    int Result = C.runUntil(0);
    C.Pinned.erase(P);
    std::free(P);
    return Result;
  });
}

SIM_EXPORT int cuMemcpyHtoDAsync_v2(Address To, const void *From, size_t Bytes,
                                    const void *S) {
  return copy(S, false, host(To), From, Bytes, To, 0);
}
SIM_EXPORT int cuMemcpyDtoHAsync_v2(void *To, Address From, size_t Bytes,
                                    const void *S) {
  return copy(S, false, To, host(From), Bytes, 0, From);
}
SIM_EXPORT int cuMemcpyDtoDAsync_v2(Address To, Address From, size_t Bytes,
                                    const void *S) {
  return copy(S, false, host(To), host(From), Bytes, To, From);
}
SIM_EXPORT int cuMemcpyHtoD_v2(Address To, const void *From, size_t Bytes) {
  return copy(nullptr, true, host(To), From, Bytes, To, 0);
}
SIM_EXPORT int cuMemcpyDtoH_v2(void *To, Address From, size_t Bytes) {
  return copy(nullptr, true, To, host(From), Bytes, 0, From);
}
SIM_EXPORT int cuMemcpyDtoD_v2(Address To, Address From, size_t Bytes) {
  return copy(nullptr, true, host(To), host(From), Bytes, To, From);
}

SIM_EXPORT int cuMemsetD8_v2(Address To, unsigned char V, size_t N) {
  return set<uint8_t>(nullptr, true, To, V, N);
}
SIM_EXPORT int cuMemsetD16_v2(Address To, unsigned short V, size_t N) {
  return set<uint16_t>(nullptr, true, To, V, N);
}
SIM_EXPORT int cuMemsetD32_v2(Address To, unsigned V, size_t N) {
  return set<uint32_t>(nullptr, true, To, V, N);
}
SIM_EXPORT int cuMemsetD8Async(Address To, unsigned char V, size_t N,
                               const void *S) {
  return set<uint8_t>(S, false, To, V, N);
}
SIM_EXPORT int cuMemsetD16Async(Address To, unsigned short V, size_t N,
                                const void *S) {
  return set<uint16_t>(S, false, To, V, N);
}
SIM_EXPORT int cuMemsetD32Async(Address To, unsigned V, size_t N,
                                const void *S) {
  return set<uint32_t>(S, false, To, V, N);
}
