// The steps from an exe program to an image or text.
#include "compiler/target/cpu/CpuTarget.h"

#include "compiler/target/cpu/Codegen.h"

#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Support/raw_ostream.h"

namespace llmc::cpu {
namespace {
struct Compiled {
  std::unique_ptr<llvm::LLVMContext> Context;
  std::unique_ptr<llvm::TargetMachine> TM;
  StepModule Step;
};

Result<Compiled> compile(exe::ProgramOp Program,
                         const CpuTargetOptions &Options) {
  std::string Isa = Options.Isa;
  if (Isa.empty()) {
    LLMC_ASSIGN_OR_RETURN(Isa, isaOfTarget(Program.getTarget().str()));
  }
  if (Isa != "avx2" && Isa != "avx512vnni")
    return usageError("unknown instruction set '" + Isa +
                      "', expected avx2 or avx512vnni");
  Compiled C;
  C.Context = std::make_unique<llvm::LLVMContext>();
  LLMC_ASSIGN_OR_RETURN(C.TM, makeTargetMachine(Isa));
  LLMC_ASSIGN_OR_RETURN(C.Step, buildStep(Program, Isa, *C.Context));
  LLMC_RETURN_IF_ERROR(linkKernels(C.Step, Isa, *C.TM));
  std::string Error;
  llvm::raw_string_ostream OS(Error);
  if (llvm::verifyModule(*C.Step.Module, &OS))
    return internalError("invalid LLVM IR: " +
                         Error.substr(0, Error.find('\n')));
  LLMC_RETURN_IF_ERROR(inlineKernels(*C.Step.Module, *C.TM));
  LLMC_RETURN_IF_ERROR(optimise(*C.Step.Module, *C.TM));
  return C;
}
} // namespace

Result<std::vector<uint8_t>> emitCpuImage(exe::ProgramOp Program,
                                          const CpuTargetOptions &Options) {
  LLMC_ASSIGN_OR_RETURN(Compiled C, compile(Program, Options));
  using Bytes = llvm::SmallVector<char, 0>;
  LLMC_ASSIGN_OR_RETURN(Bytes Object, emitCode(*C.Step.Module, *C.TM, false));
  return linkImage(Object);
}

Result<std::string> emitCpuText(exe::ProgramOp Program, CpuText Kind,
                                const CpuTargetOptions &Options) {
  LLMC_ASSIGN_OR_RETURN(Compiled C, compile(Program, Options));
  if (Kind == CpuText::Llvm) {
    std::string Text;
    llvm::raw_string_ostream OS(Text);
    C.Step.Module->print(OS, nullptr);
    return Text;
  }
  using Bytes = llvm::SmallVector<char, 0>;
  LLMC_ASSIGN_OR_RETURN(Bytes Text, emitCode(*C.Step.Module, *C.TM, true));
  return std::string(Text.begin(), Text.end());
}

} // namespace llmc::cpu
