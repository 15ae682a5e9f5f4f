// Devices by name. The only place that knows which kinds there are.
#include "runtime/device/Device.h"
#include "runtime/device/cpu/CpuDevice.h"

namespace llmc {

Result<std::unique_ptr<Device>> openDevice(std::string_view Name) {
  if (Name == "cpu")
    return openCpuDevice();
  if (Name == "cuda-sim" || Name == "cuda" || Name.starts_with("cuda:"))
    return doesNotFitError("device '" + std::string(Name) +
                           "': this build has no CUDA runtime");
  return usageError("unknown device '" + std::string(Name) +
                    "', expected cpu, cuda, cuda:N or cuda-sim");
}

} // namespace llmc
