// How launches do their work: what predictions need besides bytes and
// multiplications.
#ifndef LLMC_COMPILER_TARGET_CUDA_LAUNCHEFFORT_H
#define LLMC_COMPILER_TARGET_CUDA_LAUNCHEFFORT_H

#include "compiler/target/cuda/LaunchProgram.h"

namespace llmc::cuda {

/// Of a launch of R with that grid in a bucket of so many tokens, of which each
/// row of attention looks at Keys.
LaunchEffort effortOf(const KernelRequest &R, const Grid &G, uint32_t Tokens,
                      uint64_t Keys);

} // namespace llmc::cuda

#endif // LLMC_COMPILER_TARGET_CUDA_LAUNCHEFFORT_H
