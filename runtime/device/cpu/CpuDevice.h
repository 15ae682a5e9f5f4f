// The CPU as a device.
#ifndef LLMC_RUNTIME_DEVICE_CPU_CPUDEVICE_H
#define LLMC_RUNTIME_DEVICE_CPU_CPUDEVICE_H

#include "runtime/device/Device.h"

namespace llmc {

/// The machine's CPU; always there.
Result<std::unique_ptr<Device>> openCpuDevice();

} // namespace llmc

#endif // LLMC_RUNTIME_DEVICE_CPU_CPUDEVICE_H
