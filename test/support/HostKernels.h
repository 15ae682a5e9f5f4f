// Compiles kernel instances for the host, as a shared library that the stand-in
// driver (or a test) runs.
#ifndef LLMC_TEST_SUPPORT_HOSTKERNELS_H
#define LLMC_TEST_SUPPORT_HOSTKERNELS_H

#include "compiler/target/cuda/KernelText.h"
#include "test/support/HostCudaAbi.h"

namespace llmc::test {

/// Writes Folder/kernels.cpp and compiles Folder/kernels.so; yields the
/// library's path. Every entry E has a HostKernel E_host.
Result<std::string>
compileForHost(const std::vector<cuda::KernelInstance> &Kernels,
               const std::string &Folder);

} // namespace llmc::test

#endif // LLMC_TEST_SUPPORT_HOSTKERNELS_H
