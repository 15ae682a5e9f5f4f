// Inlines kernels into the step from the outside in. Kernels arrive as clang
// parsed them, with the code of every form (weight types, activations, …) that
// their constants choose from. The pipeline's own inliner works from the inside
// out: it would optimise all of those forms before it copies the kernel to
// where the constants are known, which took most of the time of a compilation.
// Here a level of calls is inlined, the branches on what became constant go,
// and only what is still called is inlined next.
#include "compiler/target/cpu/Codegen.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Transforms/IPO/GlobalDCE.h"
#include "llvm/Transforms/Scalar/EarlyCSE.h"
#include "llvm/Transforms/Scalar/SROA.h"
#include "llvm/Transforms/Scalar/SimplifyCFG.h"
#include "llvm/Transforms/Utils/Cloning.h"

namespace llmc::cpu {
namespace {
/// Calls of defined functions: of those that are always inlined, or of others.
llvm::SmallVector<llvm::CallBase *> calls(llvm::Function &F, bool Inlined) {
  llvm::SmallVector<llvm::CallBase *> Calls;
  for (llvm::Instruction &I : llvm::instructions(F))
    if (auto *Call = llvm::dyn_cast<llvm::CallBase>(&I))
      if (llvm::Function *Callee = Call->getCalledFunction();
          Callee && !Callee->isDeclaration() &&
          Callee->hasFnAttribute(llvm::Attribute::AlwaysInline) == Inlined)
        Calls.push_back(Call);
  return Calls;
}

Status inlineInto(llvm::Function &F, llvm::FunctionPassManager &Fold,
                  llvm::FunctionAnalysisManager &FAM) {
  for (;;) {
    llvm::SmallVector<llvm::CallBase *> Calls = calls(F, /*Inlined=*/true);
    if (Calls.empty())
      return Status::success();
    for (llvm::CallBase *Call : Calls) {
      llvm::InlineFunctionInfo Info;
      llvm::InlineResult R = llvm::InlineFunction(*Call, Info);
      if (!R.isSuccess())
        return internalError("a kernel function cannot be inlined: " +
                             std::string(R.getFailureReason()));
    }
    FAM.invalidate(F, llvm::PreservedAnalyses::none());
    FAM.invalidate(F, Fold.run(F, FAM));
  }
}
} // namespace

Status inlineKernels(llvm::Module &M, llvm::TargetMachine &TM) {
  llvm::LoopAnalysisManager LAM;
  llvm::FunctionAnalysisManager FAM;
  llvm::CGSCCAnalysisManager CGAM;
  llvm::ModuleAnalysisManager MAM;
  llvm::PassBuilder PB(&TM);
  PB.registerModuleAnalyses(MAM);
  PB.registerCGSCCAnalyses(CGAM);
  PB.registerFunctionAnalyses(FAM);
  PB.registerLoopAnalyses(LAM);
  PB.crossRegisterProxies(LAM, FAM, CGAM, MAM);
  llvm::FunctionPassManager Fold;
  Fold.addPass(llvm::SROAPass(llvm::SROAOptions::ModifyCFG));
  Fold.addPass(llvm::EarlyCSEPass());
  Fold.addPass(llvm::SimplifyCFGPass());
  // Only what is still called in the end; most shared functions of kernels are
  // not.
  llvm::SetVector<llvm::Function *> Used;
  for (llvm::Function &F : M)
    if (!F.isDeclaration() && (!F.hasLocalLinkage() || F.hasAddressTaken()))
      Used.insert(&F);
  for (size_t I = 0; I < Used.size(); ++I) {
    LLMC_RETURN_IF_ERROR(inlineInto(*Used[I], Fold, FAM));
    for (llvm::CallBase *Call : calls(*Used[I], /*Inlined=*/false))
      Used.insert(Call->getCalledFunction());
  }
  llvm::GlobalDCEPass().run(M, MAM);
  return Status::success();
}

} // namespace llmc::cpu
