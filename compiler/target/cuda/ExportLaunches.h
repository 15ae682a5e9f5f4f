// exe.program to launches: resolves slots, weights, layers and states to
// offsets and asks for one kernel per distinct request.
#ifndef LLMC_COMPILER_TARGET_CUDA_EXPORTLAUNCHES_H
#define LLMC_COMPILER_TARGET_CUDA_EXPORTLAUNCHES_H

#include "compiler/target/cuda/LaunchProgram.h"
#include "dialects/exe/ExeDialect.h"

namespace llmc::cuda {

struct ExportedLaunches {
  LaunchProgram Program;
  std::vector<KernelInstance> Kernels; ///< in the order of Program.Kernels
};

/// Program must be planned: arena sizes, slot and weight offsets. Internal when
/// it is not, or when a phase contradicts its weights; Unsupported when a
/// kernel has no CUDA form of that shape.
Result<ExportedLaunches> exportLaunches(exe::ProgramOp Program);

} // namespace llmc::cuda

#endif // LLMC_COMPILER_TARGET_CUDA_EXPORTLAUNCHES_H
