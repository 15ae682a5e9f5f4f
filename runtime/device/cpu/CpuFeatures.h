// CPU features by the names that a program lists (those of LLVM).
#ifndef LLMC_RUNTIME_DEVICE_CPU_CPUFEATURES_H
#define LLMC_RUNTIME_DEVICE_CPU_CPUFEATURES_H

#include <string_view>

namespace llmc {

/// Whether this machine and its operating system have the feature. False for
/// names that this runtime does not know.
bool hasCpuFeature(std::string_view Name);

} // namespace llmc

#endif // LLMC_RUNTIME_DEVICE_CPU_CPUFEATURES_H
