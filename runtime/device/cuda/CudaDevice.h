// A GPU, or the simulator, behind the driver API.
#ifndef LLMC_RUNTIME_DEVICE_CUDA_CUDADEVICE_H
#define LLMC_RUNTIME_DEVICE_CUDA_CUDADEVICE_H

#include "runtime/device/Device.h"
#include "runtime/device/cuda/DriverApi.h"

namespace llmc::cuda {

/// The context of one device, current or not; released with the last user.
struct DeviceContext {
  std::shared_ptr<const Driver> Api;
  Ordinal Device = 0;
  int Major = 0, Minor = 0; ///< of the architecture
  Context Primary = nullptr;

  ~DeviceContext();
  /// Makes it the calling thread's context.
  Status use() const;
};

class CudaDevice : public Device {
public:
  /// Opens device number Number of the driver library. Name is what name()
  /// gives. Every failure is DoesNotFit, with the reason.
  static Result<std::unique_ptr<Device>>
  open(const std::string &Name, const std::string &Library, int Number);

  std::string_view name() const override { return Name; }
  std::string whyNot(const ProgramView &P) const override;
  Result<std::unique_ptr<Executable>> load(const ProgramView &P,
                                           const DeviceLoadOptions &O) override;

private:
  CudaDevice() = default;
  static Result<std::unique_ptr<Device>>
  tryOpen(const std::string &Name, const std::string &Library, int Number);

  std::string Name;
  std::string Model; ///< "NVIDIA H100 …"
  std::shared_ptr<DeviceContext> Ctx;
};

/// "cuda", "cuda:N" (libcuda.so.1) or "cuda-sim" ($LLMC_CUDASIM, else
/// libllmc-cudasim.so beside the program).
Result<std::unique_ptr<Device>> openCudaDevice(std::string_view Name);

} // namespace llmc::cuda

#endif // LLMC_RUNTIME_DEVICE_CUDA_CUDADEVICE_H
