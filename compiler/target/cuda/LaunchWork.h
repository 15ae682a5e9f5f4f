// What launches move and compute, counted from their requests and buffers, and
// what that should take on the chip of the target.
#ifndef LLMC_COMPILER_TARGET_CUDA_LAUNCHWORK_H
#define LLMC_COMPILER_TARGET_CUDA_LAUNCHWORK_H

#include "compiler/target/cuda/LaunchProgram.h"
#include "dialects/exe/ExeDialect.h"

namespace llmc::cuda {

/// The work of a launch of Phase whose arguments are already in L; P has the
/// states.
LaunchWork workOf(exe::ProgramOp Program, exe::PhaseOp Phase,
                  const LaunchProgram &P, const KernelRequest &R,
                  const KernelInstance &I, const Launch &L);

/// Keys that a generated token looks at, as costs assume it: a context of 1024
/// tokens, or the program's, or the window.
uint64_t keysOf(const LaunchProgram &P, const LaunchWork &W);

/// Fills in the costs of all launches, for the chip of the target and a context
/// of 1024 tokens or the program's. A bucket of no more tokens than there may
/// be sequences is a step of as many sequences, a larger one a prompt. Ptx says
/// which kernels use the tensor cores.
void predictCosts(LaunchProgram &P, std::string_view Ptx);

} // namespace llmc::cuda

#endif // LLMC_COMPILER_TARGET_CUDA_LAUNCHWORK_H
