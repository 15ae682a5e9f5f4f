// Allocation, release and module loading through the driver.
#include "runtime/device/cuda/DeviceBuffer.h"

#include <array>
#include <string>
#include <vector>

namespace llmc::cuda {

DeviceBuffer::~DeviceBuffer() {
  if (Ptr)
    Ctx->Api->MemFree(Ptr);
}

Status DeviceBuffer::alloc(std::shared_ptr<DeviceContext> C, size_t Bytes,
                           std::string_view What) {
  Ctx = std::move(C);
  if (Bytes == 0)
    return Status::success();
  return Ctx->Api->check(Ctx->Api->MemAlloc(&Ptr, Bytes),
                         "allocate " + std::to_string(Bytes) + " bytes of " +
                             std::string(What) + " on the GPU");
}

PinnedBuffer::~PinnedBuffer() {
  if (Ptr)
    Ctx->Api->MemFreeHost(Ptr);
}

Status PinnedBuffer::alloc(std::shared_ptr<DeviceContext> C, size_t Bytes) {
  Ctx = std::move(C);
  void *P = nullptr;
  LLMC_RETURN_IF_ERROR(Ctx->Api->check(Ctx->Api->MemHostAlloc(&P, Bytes, 0),
                                       "allocate " + std::to_string(Bytes) +
                                           " bytes of pinned memory"));
  Ptr = static_cast<uint8_t *>(P);
  return Status::success();
}

OwnedStream::~OwnedStream() {
  if (Handle)
    Ctx->Api->StreamDestroy(Handle);
}

Status OwnedStream::create(std::shared_ptr<DeviceContext> C) {
  constexpr unsigned NonBlocking = 1;
  Ctx = std::move(C);
  return Ctx->Api->check(Ctx->Api->StreamCreate(&Handle, NonBlocking),
                         "create a stream");
}

OwnedModule::~OwnedModule() {
  if (Handle)
    Ctx->Api->ModuleUnload(Handle);
}

Status OwnedModule::load(std::shared_ptr<DeviceContext> C,
                         std::span<const uint8_t> Cubin,
                         std::span<const uint8_t> Ptx) {
  Ctx = std::move(C);
  if (!Cubin.empty()) {
    int Code =
        Ctx->Api->ModuleLoadDataEx(&Handle, Cubin.data(), 0, nullptr, nullptr);
    if (Code == DriverSuccess)
      return Status::success();
    Handle = nullptr;
    // Another chip, or a cubin of a newer CUDA than the driver knows.
    bool Unfit = Code == DriverNoBinary || Code == DriverInvalidImage ||
                 Code == DriverInvalidSource || Code == DriverUnsupportedPtx;
    if (!Unfit || Ptx.empty())
      return Ctx->Api->check(Code, "load the GPU code");
  }
  return loadPtx(Ptx);
}

Status OwnedModule::loadPtx(std::span<const uint8_t> Ptx) {
  enum { ErrorLogBuffer = 5, ErrorLogSize = 6 }; // of CUjit_option
  std::string Text(Ptx.begin(), Ptx.end());      // the driver wants a NUL
  std::array<char, 4096> Log{};
  int Options[] = {ErrorLogBuffer, ErrorLogSize};
  void *Values[] = {Log.data(), reinterpret_cast<void *>(Log.size() - 1)};
  int Code =
      Ctx->Api->ModuleLoadDataEx(&Handle, Text.c_str(), 2, Options, Values);
  if (Code == DriverSuccess)
    return Status::success();
  Handle = nullptr;
  Status S = Ctx->Api->check(Code, "compile the PTX for this GPU");
  std::string Line(Log.data());
  Line = Line.substr(0, Line.find('\n'));
  if (!Line.empty())
    S.addNote(std::move(Line));
  return S;
}

Result<Function> OwnedModule::function(const std::string &Name) const {
  Function F = nullptr;
  LLMC_RETURN_IF_ERROR(
      Ctx->Api->check(Ctx->Api->ModuleGetFunction(&F, Handle, Name.c_str()),
                      "find the kernel " + Name));
  return F;
}

} // namespace llmc::cuda
