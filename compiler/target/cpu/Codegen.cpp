// Linking of kernel bitcode, optimisation and code emission.
#include "compiler/target/cpu/Codegen.h"

#include "compiler/kernels/cpu/Bitcode.h"
#include "compiler/target/cpu/CpuTarget.h"

#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/Linker/Linker.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/TargetParser/Triple.h"

namespace llmc::cpu {
namespace {
// As clang writes it into the bitcode.
constexpr const char *TripleName = "x86_64-pc-linux-gnu";

void initialiseX86() {
  static bool Once = [] {
    LLVMInitializeX86TargetInfo();
    LLVMInitializeX86Target();
    LLVMInitializeX86TargetMC();
    LLVMInitializeX86AsmPrinter();
    LLVMInitializeX86AsmParser();
    return true;
  }();
  (void)Once;
}

bool isRuntimeFunction(llvm::StringRef Name) {
  return Name == "memcpy" || Name == "memset";
}

/// Gives our functions the attributes of the kernels that inlining demands to
/// be equal: target, and no-builtins of freestanding code.
void copyAttributes(llvm::Module &M, const llvm::Function &Kernel) {
  for (llvm::Function &F : M) {
    if (F.isDeclaration())
      continue;
    for (const char *Name : {"target-cpu", "target-features", "tune-cpu",
                             "prefer-vector-width", "no-builtins"})
      if (Kernel.hasFnAttribute(Name))
        F.addFnAttr(Kernel.getFnAttribute(Name));
    F.addFnAttr("min-legal-vector-width", "512");
    F.addFnAttr(llvm::Attribute::NoUnwind);
  }
}
} // namespace

Result<std::unique_ptr<llvm::TargetMachine>>
makeTargetMachine(const std::string &Isa) {
  initialiseX86();
  std::string Error;
  llvm::Triple Triple(TripleName);
  const llvm::Target *T = llvm::TargetRegistry::lookupTarget(Triple, Error);
  if (!T)
    return internalError("no x86 code generator: " + Error);
  std::string Features;
  for (const std::string &F : featuresOfIsa(Isa))
    Features += (Features.empty() ? "+" : ",+") + F;
  llvm::TargetOptions Options;
  Options.FunctionSections = true;
  Options.DataSections = true;
  return std::unique_ptr<llvm::TargetMachine>(T->createTargetMachine(
      Triple, Isa == "avx2" ? "x86-64-v3" : "x86-64-v4", Features, Options,
      llvm::Reloc::PIC_, std::nullopt, llvm::CodeGenOptLevel::Default));
}

Status linkKernels(StepModule &Step, const std::string &Isa,
                   llvm::TargetMachine &TM) {
  llvm::Module &M = *Step.Module;
  M.setTargetTriple(TM.getTargetTriple());
  M.setDataLayout(TM.createDataLayout());
  std::set<std::string> Wanted = Step.Kernels;
  Wanted.insert("memory");
  for (const std::string &Name : Wanted) {
    std::span<const uint8_t> Data = kernels::kernelBitcode(Name, Isa);
    if (Data.empty())
      return unsupportedError("kernel '" + Name + "' does not exist for " +
                              Isa);
    llvm::MemoryBufferRef Buffer(
        llvm::StringRef(reinterpret_cast<const char *>(Data.data()),
                        Data.size()),
        Name);
    llvm::Expected<std::unique_ptr<llvm::Module>> Kernel =
        llvm::parseBitcodeFile(Buffer, M.getContext());
    if (!Kernel)
      return internalError("bitcode of kernel '" + Name +
                           "': " + llvm::toString(Kernel.takeError()));
    if (llvm::Linker::linkModules(M, std::move(*Kernel)))
      return internalError("bitcode of kernel '" + Name + "' does not link");
  }
  const llvm::Function *Barrier = M.getFunction("k_barrier_" + Isa);
  if (!Barrier || Barrier->isDeclaration())
    return internalError("no barrier in the program");
  for (llvm::Function &F : M) {
    if (F.isDeclaration() || F.getName() == "llmc_cpu_image")
      continue;
    // Code generation may call these; hidden, and dropped if it does not.
    if (isRuntimeFunction(F.getName())) {
      F.setVisibility(llvm::GlobalValue::HiddenVisibility);
      continue;
    }
    F.setLinkage(llvm::GlobalValue::InternalLinkage);
    F.setVisibility(llvm::GlobalValue::DefaultVisibility);
    F.setComdat(nullptr);
    F.setDSOLocal(true);
    if (F.getName().starts_with("k_"))
      F.addFnAttr(llvm::Attribute::AlwaysInline);
  }
  copyAttributes(M, *Barrier);
  return Status::success();
}

Status optimise(llvm::Module &M, llvm::TargetMachine &TM) {
  llvm::LoopAnalysisManager LAM;
  llvm::FunctionAnalysisManager FAM;
  llvm::CGSCCAnalysisManager CGAM;
  llvm::ModuleAnalysisManager MAM;
  // Kernels are vectors already; only loops around them are left.
  llvm::PipelineTuningOptions Tuning;
  Tuning.SLPVectorization = false;
  llvm::PassBuilder PB(&TM, Tuning);
  PB.registerModuleAnalyses(MAM);
  PB.registerCGSCCAnalyses(CGAM);
  PB.registerFunctionAnalyses(FAM);
  PB.registerLoopAnalyses(LAM);
  PB.crossRegisterProxies(LAM, FAM, CGAM, MAM);
  PB.buildPerModuleDefaultPipeline(llvm::OptimizationLevel::O2).run(M, MAM);
  for (const llvm::Function &F : M) {
    if (F.getName().starts_with("k_"))
      return internalError("kernel function '" + F.getName().str() +
                           "' was not inlined");
    if (F.isDeclaration() && !F.isIntrinsic() && !F.use_empty())
      return internalError("the code needs '" + F.getName().str() +
                           "', which no image has");
  }
  return Status::success();
}

Result<llvm::SmallVector<char, 0>>
emitCode(llvm::Module &M, llvm::TargetMachine &TM, bool Assembly) {
  llvm::SmallVector<char, 0> Out;
  llvm::raw_svector_ostream OS(Out);
  llvm::legacy::PassManager PM;
  if (TM.addPassesToEmitFile(PM, OS, nullptr,
                             Assembly ? llvm::CodeGenFileType::AssemblyFile
                                      : llvm::CodeGenFileType::ObjectFile))
    return internalError("the x86 code generator cannot write this file type");
  PM.run(M);
  return Out;
}

} // namespace llmc::cpu
