// A loaded CPU image: the shared object of an artifact and its step function.
#ifndef LLMC_RUNTIME_DEVICE_CPU_CPUIMAGE_H
#define LLMC_RUNTIME_DEVICE_CPU_CPUIMAGE_H

#include "runtime/base/Status.h"
#include "runtime/device/StepAbi.h"

#include <cstdint>
#include <span>

namespace llmc {

/// Owns the mapping of the code; movable.
class CpuImage {
public:
  CpuImage() = default;
  CpuImage(CpuImage &&O) noexcept { *this = static_cast<CpuImage &&>(O); }
  CpuImage &operator=(CpuImage &&O) noexcept;
  CpuImage(const CpuImage &) = delete;
  ~CpuImage();

  /// Maps the code and asks it for its step. Malformed when the bytes are no
  /// image of this runtime's step ABI.
  static Result<CpuImage> load(std::span<const uint8_t> Bytes);

  LlmcCpuStepFn step() const { return Step; }

private:
  void *Handle = nullptr;
  int File = -1; ///< memory file of the code, open as long as it is loaded
  LlmcCpuStepFn Step = nullptr;
};

} // namespace llmc

#endif // LLMC_RUNTIME_DEVICE_CPU_CPUIMAGE_H
