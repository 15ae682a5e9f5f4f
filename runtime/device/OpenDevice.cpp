// Devices by name. The only place that knows which kinds there are.
#include "runtime/device/Device.h"
#include "runtime/device/cpu/CpuDevice.h"
#include "runtime/device/cuda/CudaDevice.h"

namespace llmc {

Result<std::unique_ptr<Device>> openDevice(std::string_view Name) {
  if (Name == "cpu")
    return openCpuDevice();
  if (Name.starts_with("cuda"))
    return cuda::openCudaDevice(Name);
  return usageError("unknown device '" + std::string(Name) +
                    "', expected cpu, cuda, cuda:N or cuda-sim");
}

} // namespace llmc
