// Threads that run blocks. Started with the first large grid, ended when the
// library is unloaded.
#ifndef LLMC_TOOLS_CUDASIM_EXEC_POOL_H
#define LLMC_TOOLS_CUDASIM_EXEC_POOL_H

#include <functional>

namespace llmc::cudasim {

/// Threads of runOnPool, the caller's included.
unsigned poolThreads();
/// Runs Job on all threads at once and waits for them. One caller at a time.
void runOnPool(const std::function<void()> &Job);

} // namespace llmc::cudasim

#endif // LLMC_TOOLS_CUDASIM_EXEC_POOL_H
