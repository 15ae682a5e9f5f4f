// Calls the back end of a target and collects what the artifact holds of it.
#include "compiler/driver/CompileTarget.h"

#include "compiler/driver/Dump.h"
#include "compiler/driver/ProgramExport.h"
#include "compiler/target/cpu/CpuTarget.h"
#include "compiler/target/cuda/EmitCuda.h"

namespace llmc {
namespace {

/// Optimised LLVM IR and assembly of a CPU target: FOLDER/TARGET.ll and .s.
Status dumpCpu(const CompileOptions &O, exe::ProgramOp Program,
               const std::string &Target) {
  const std::pair<cpu::CpuText, const char *> Forms[] = {
      {cpu::CpuText::Llvm, ".ll"}, {cpu::CpuText::Asm, ".s"}};
  for (const auto &[Kind, Ending] : Forms) {
    LLMC_ASSIGN_OR_RETURN(std::string Text, cpu::emitCpuText(Program, Kind));
    LLMC_RETURN_IF_ERROR(
        writeDump("--dump-kernels", O.DumpKernels, Target + Ending, Text));
  }
  return {};
}

Status compileCpu(const CompileOptions &O, exe::ProgramOp Program,
                  CompiledTarget &Out, ProvenanceFacts &Facts) {
  LLMC_ASSIGN_OR_RETURN(std::string Isa, cpu::isaOfTarget(Out.Name));
  std::vector<std::string> Features = cpu::featuresOfIsa(Isa);
  LLMC_ASSIGN_OR_RETURN(Out.Code, cpu::emitCpuImage(Program));
  LLMC_ASSIGN_OR_RETURN(Out.Program, exportCpuProgram(Program, Features));
  Facts.CpuFeatures[Out.Name] = std::move(Features);
  return O.DumpKernels.empty() ? Status::success()
                               : dumpCpu(O, Program, Out.Name);
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
  if (O.DumpKernels.empty())
    return {};
  LLMC_RETURN_IF_ERROR(
      writeDump("--dump-kernels", O.DumpKernels, Out.Name + ".cu", P.Text));
  return writeDump("--dump-kernels", O.DumpKernels, Out.Name + ".ptx", Out.Ptx);
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
  Facts.Targets.push_back(T.Name);
  // choose-precision decided it; the attribute outlives lowering.
  if (mlir::StringAttr P =
          Exe->getAttrOfType<mlir::StringAttr>("llm.precision"))
    Facts.Precision[T.Name] = P.getValue().str();
  LLMC_ASSIGN_OR_RETURN(Out.Weights, exportWeights(Program));
  if (T.Kind == TargetKind::Cpu)
    LLMC_RETURN_IF_ERROR(compileCpu(O, Program, Out, Facts));
  else
    LLMC_RETURN_IF_ERROR(compileCuda(O, Program, Out, Facts));
  return Out;
}

} // namespace llmc
