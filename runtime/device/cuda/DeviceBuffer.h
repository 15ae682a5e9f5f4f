// Owners of device memory, pinned host memory, a stream and a module.
#ifndef LLMC_RUNTIME_DEVICE_CUDA_DEVICEBUFFER_H
#define LLMC_RUNTIME_DEVICE_CUDA_DEVICEBUFFER_H

#include "runtime/device/cuda/CudaDevice.h"

#include <span>

namespace llmc::cuda {

/// Device memory; empty until alloc.
class DeviceBuffer {
public:
  DeviceBuffer() = default;
  ~DeviceBuffer();
  DeviceBuffer(const DeviceBuffer &) = delete;
  DeviceBuffer &operator=(const DeviceBuffer &) = delete;
  /// What names the memory in the error. 0 bytes give a null pointer.
  Status alloc(std::shared_ptr<DeviceContext> C, size_t Bytes,
               std::string_view What);
  DevicePtr get() const { return Ptr; }

private:
  std::shared_ptr<DeviceContext> Ctx;
  DevicePtr Ptr = 0;
};

/// Page-locked host memory, which the GPU copies from directly.
class PinnedBuffer {
public:
  PinnedBuffer() = default;
  ~PinnedBuffer();
  PinnedBuffer(const PinnedBuffer &) = delete;
  PinnedBuffer &operator=(const PinnedBuffer &) = delete;
  Status alloc(std::shared_ptr<DeviceContext> C, size_t Bytes);
  uint8_t *get() const { return Ptr; }

private:
  std::shared_ptr<DeviceContext> Ctx;
  uint8_t *Ptr = nullptr;
};

class OwnedStream {
public:
  OwnedStream() = default;
  ~OwnedStream();
  OwnedStream(const OwnedStream &) = delete;
  OwnedStream &operator=(const OwnedStream &) = delete;
  Status create(std::shared_ptr<DeviceContext> C);
  cuda::Stream get() const { return Handle; }

private:
  std::shared_ptr<DeviceContext> Ctx;
  cuda::Stream Handle = nullptr;
};

class OwnedModule {
public:
  OwnedModule() = default;
  ~OwnedModule();
  OwnedModule(const OwnedModule &) = delete;
  OwnedModule &operator=(const OwnedModule &) = delete;
  /// The cubin, or the PTX when the driver has no use for the cubin (another
  /// chip, an older driver). Notes hold the log of the driver's compiler.
  Status load(std::shared_ptr<DeviceContext> C, std::span<const uint8_t> Cubin,
              std::span<const uint8_t> Ptx);
  Result<Function> function(const std::string &Name) const;

private:
  Status loadPtx(std::span<const uint8_t> Ptx);
  std::shared_ptr<DeviceContext> Ctx;
  cuda::Module Handle = nullptr;
};

} // namespace llmc::cuda

#endif // LLMC_RUNTIME_DEVICE_CUDA_DEVICEBUFFER_H
