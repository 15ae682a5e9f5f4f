// Compiles kernel instances for the host, as a shared library that the stand-in
// driver (or a test) runs.
#ifndef LLMC_TEST_SUPPORT_HOSTKERNELS_H
#define LLMC_TEST_SUPPORT_HOSTKERNELS_H

#include "compiler/target/cuda/KernelText.h"
#include "test/support/HostCudaAbi.h"

namespace llmc::test {

/// Compiles the kernels to a library; yields its path. Every entry E has a
/// HostKernel E_host. Libraries stay in the build folder under the hash of what
/// they are made of, as a compilation takes seconds.
Result<std::string>
compileForHost(const std::vector<cuda::KernelInstance> &Kernels);

} // namespace llmc::test

#endif // LLMC_TEST_SUPPORT_HOSTKERNELS_H
