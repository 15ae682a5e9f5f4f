// Calls the back end of a target and collects what the artifact holds of it.
#include "compiler/driver/CompileTarget.h"

#include "compiler/driver/ProgramExport.h"
#include "compiler/target/cpu/CpuTarget.h"
#include "compiler/target/cuda/EmitCuda.h"
#include "runtime/base/File.h"

#include <filesystem>

namespace llmc {
namespace {

Status compileCpu(exe::ProgramOp Program, CompiledTarget &Out,
                  ProvenanceFacts &Facts) {
  LLMC_ASSIGN_OR_RETURN(std::string Isa, cpu::isaOfTarget(Out.Name));
  std::vector<std::string> Features = cpu::featuresOfIsa(Isa);
  LLMC_ASSIGN_OR_RETURN(Out.Code, cpu::emitCpuImage(Program));
  LLMC_ASSIGN_OR_RETURN(Out.Program, exportCpuProgram(Program, Features));
  Facts.CpuFeatures = std::move(Features);
  return {};
}

Status compileCuda(const CompileOptions &O, exe::ProgramOp Program,
                   CompiledTarget &Out, ProvenanceFacts &Facts) {
  cuda::CudaTargetOptions Options;
  Options.NvrtcPath = O.Nvrtc;
  LLMC_ASSIGN_OR_RETURN(cuda::CudaProgram P, cuda::emitCuda(Program, Options));
  Out.Program = P.programBytes();
  Out.Code = std::move(P.Cubin);
  Out.Ptx = std::move(P.Ptx);
  Facts.NvrtcVersion = P.NvrtcVersion;
  if (!O.DumpKernels.empty()) {
    std::error_code Error;
    std::filesystem::create_directories(O.DumpKernels, Error);
    std::string Base = O.DumpKernels + "/" + Out.Name;
    LLMC_RETURN_IF_ERROR(writeFile(Base + ".cu", bytesOf(P.Text)));
    LLMC_RETURN_IF_ERROR(writeFile(Base + ".ptx", bytesOf(Out.Ptx)));
  }
  return {};
}

} // namespace

Result<CompiledTarget> compileTarget(const CompileOptions &O,
                                     mlir::ModuleOp Exe, const TargetDesc &T,
                                     ProvenanceFacts &Facts) {
  exe::ProgramOp Program = *Exe.getOps<exe::ProgramOp>().begin();
  CompiledTarget Out;
  Out.Name = T.Name;
  Out.Family = T.Family;
  Out.Plan = exportPlan(Program);
  LLMC_ASSIGN_OR_RETURN(Out.Weights, exportWeights(Program));
  if (T.Kind == TargetKind::Cpu)
    LLMC_RETURN_IF_ERROR(compileCpu(Program, Out, Facts));
  else
    LLMC_RETURN_IF_ERROR(compileCuda(O, Program, Out, Facts));
  return Out;
}

} // namespace llmc
