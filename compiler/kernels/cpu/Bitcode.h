// The embedded bitcode of the CPU kernels.
#ifndef LLMC_COMPILER_KERNELS_CPU_BITCODE_H
#define LLMC_COMPILER_KERNELS_CPU_BITCODE_H

#include <cstdint>
#include <span>
#include <string_view>

namespace llmc::kernels {

/// Bitcode module of one kernel source file.
struct KernelBitcode {
  std::string_view Source; ///< name of the file without .cpp ("RopeTable")
  std::string_view Isa;    ///< "avx512vnni", "avx2"
  std::span<const uint8_t> Data;
};

std::span<const KernelBitcode> kernelBitcode();

/// The module that holds kernel `name` of the catalogue (or "barrier",
/// "memory"); empty when there is none.
std::span<const uint8_t> kernelBitcode(std::string_view Name,
                                       std::string_view Isa);

} // namespace llmc::kernels

#endif // LLMC_COMPILER_KERNELS_CPU_BITCODE_H
