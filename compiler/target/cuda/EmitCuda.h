// The CUDA back end: exe.program to launches, CUDA C++ text, cubin and PTX.
#ifndef LLMC_COMPILER_TARGET_CUDA_EMITCUDA_H
#define LLMC_COMPILER_TARGET_CUDA_EMITCUDA_H

#include "compiler/target/cuda/ExportLaunches.h"
#include "compiler/target/cuda/Nvrtc.h"

namespace llmc::cuda {

struct CudaTargetOptions {
  std::string NvrtcPath; ///< --nvrtc; empty: the default search
  bool TextOnly = false; ///< --emit cuda: do not look for NVRTC
};

/// Everything that an artifact holds of one sm_* target.
struct CudaProgram {
  LaunchProgram Launches;
  std::string Text; ///< the CUDA C++ of all kernels
  std::vector<uint8_t> Cubin;
  std::string Ptx;
  std::string NvrtcVersion; ///< "13.0"; empty with TextOnly
  /// The Program section.
  std::vector<uint8_t> programBytes() const { return toFlatBuffer(Launches); }
};

/// DoesNotFit when there is no NVRTC, Unsupported when it does not know the
/// target or a kernel has no CUDA form.
Result<CudaProgram> emitCuda(exe::ProgramOp Program,
                             const CudaTargetOptions &Options);

} // namespace llmc::cuda

#endif // LLMC_COMPILER_TARGET_CUDA_EMITCUDA_H
