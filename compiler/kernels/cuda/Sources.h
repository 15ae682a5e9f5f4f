// The CUDA kernel texts, embedded at build time, in the order in which a module
// holds them.
#ifndef LLMC_COMPILER_KERNELS_CUDA_SOURCES_H
#define LLMC_COMPILER_KERNELS_CUDA_SOURCES_H

#include <span>
#include <string_view>

namespace llmc::kernels {

/// Device.cuh and the kernel families; needs an arch source before it.
std::span<const std::string_view> cudaSources();
/// arch/*.cuh: the inline PTX.
std::string_view cudaArchSource();

} // namespace llmc::kernels

#endif // LLMC_COMPILER_KERNELS_CUDA_SOURCES_H
