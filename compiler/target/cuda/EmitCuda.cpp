// One module per target: all kernels of a program in one text, one compile.
#include "compiler/target/cuda/EmitCuda.h"

namespace llmc::cuda {

Result<CudaProgram> emitCuda(exe::ProgramOp Program,
                             const CudaTargetOptions &Options) {
  LLMC_ASSIGN_OR_RETURN(ExportedLaunches E, exportLaunches(Program));
  CudaProgram Out;
  Out.Text = moduleText(E.Kernels, E.Program.Target);
  Out.Launches = std::move(E.Program);
  if (Options.TextOnly)
    return Out;
  LLMC_ASSIGN_OR_RETURN(std::shared_ptr<const Nvrtc> N,
                        Nvrtc::open(Options.NvrtcPath));
  LLMC_ASSIGN_OR_RETURN(CompiledModule M,
                        N->compile(Out.Text, Out.Launches.Target));
  for (LaunchKernel &K : Out.Launches.Kernels) {
    bool Found = false;
    for (const KernelFacts &F : M.Kernels) {
      if (F.Name != K.Entry)
        continue;
      Found = true;
      K.Registers = F.Registers;
      K.SharedBytes = F.SharedBytes;
      K.SpillBytes = F.SpillBytes;
      K.LocalBytes = F.LocalBytes;
    }
    if (!Found)
      return internalError("nvrtc " + N->version() +
                           " reports nothing about kernel " + K.Entry);
  }
  Out.Cubin = std::move(M.Cubin);
  Out.Ptx = std::move(M.Ptx);
  Out.NvrtcVersion = N->version();
  return Out;
}

} // namespace llmc::cuda
