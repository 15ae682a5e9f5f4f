// One module per target: all kernels of a program in one text, one compile.
#include "compiler/target/cuda/EmitCuda.h"

#include "compiler/kernels/Catalogue.h"
#include "compiler/target/cuda/EarlyLaunch.h"
#include "compiler/target/cuda/LaunchWork.h"

namespace llmc::cuda {

/// What no launch of a step writes: the step's own data, weights, tables.
static bool isConstant(const Param &P, std::string_view Kernel) {
  if (P.Kind == ParamKind::Tickets)
    return false;
  if (P.Kind != ParamKind::Buffer)
    return true;
  std::string_view Name = kernels::findKernel(Kernel)->Buffers[P.Index];
  for (std::string_view Known :
       {"weight", "gain", "norm_bias", "bias", "freq", "cos_table", "sin_table",
        "slopes", "sinks", "ids", "positions", "logit_rows"})
    if (Name == Known)
      return true;
  return false;
}

static Status checkEarlyLaunches(const std::vector<KernelInstance> &Kernels,
                                 const LaunchProgram &Program,
                                 std::string_view Ptx) {
  for (size_t I = 0; I != Kernels.size(); ++I) {
    if (!Program.Kernels[I].Early)
      continue;
    std::set<unsigned> Constant;
    for (unsigned P = 0; P != Kernels[I].Params.size(); ++P)
      if (isConstant(Kernels[I].Params[P], Program.Kernels[I].Kernel))
        Constant.insert(P);
    LLMC_RETURN_IF_ERROR(checkEarlyLaunch(Ptx, Kernels[I].Entry, Constant));
  }
  return Status::success();
}

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
  LLMC_RETURN_IF_ERROR(checkEarlyLaunches(E.Kernels, Out.Launches, M.Ptx));
  predictCosts(Out.Launches, M.Ptx);
  Out.Cubin = std::move(M.Cubin);
  Out.Ptx = std::move(M.Ptx);
  Out.NvrtcVersion = N->version();
  return Out;
}

} // namespace llmc::cuda
