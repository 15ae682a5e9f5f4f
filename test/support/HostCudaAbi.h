// How the stand-in driver calls a kernel that was compiled for the host.
#ifndef LLMC_TEST_SUPPORT_HOSTCUDAABI_H
#define LLMC_TEST_SUPPORT_HOSTCUDAABI_H

namespace llmc::test {

struct HostGrid {
  unsigned Grid[3];
  unsigned Block[3];
};

/// <entry>_host of the library: runs the whole grid; Params as cuLaunchKernel
/// gets them.
using HostKernel = void (*)(const HostGrid &, void **Params);

} // namespace llmc::test

#endif // LLMC_TEST_SUPPORT_HOSTCUDAABI_H
