// A step argument that only CUDA has, shared by the compiler and the runtime:
// counters by which the blocks of a launch find out which of them is the last.
#ifndef LLMC_RUNTIME_BASE_CUDATICKETS_H
#define LLMC_RUNTIME_BASE_CUDATICKETS_H

/// Index of the argument beside those of LlmcArg: uint32_t
/// [LLMC_CUDA_TICKETS], 0 between launches.
#define LLMC_ARG_CUDA_TICKETS 64u
#define LLMC_CUDA_TICKETS 8192u

#endif // LLMC_RUNTIME_BASE_CUDATICKETS_H
