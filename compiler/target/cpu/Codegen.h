// LLVM module -> linked with its kernels, optimised -> object or text -> shared
// object. Used by CpuTarget.cpp only.
#ifndef LLMC_COMPILER_TARGET_CPU_CODEGEN_H
#define LLMC_COMPILER_TARGET_CPU_CODEGEN_H

#include "compiler/target/cpu/StepBuilder.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/Target/TargetMachine.h"

namespace llmc::cpu {

/// Target machine of that instruction set.
Result<std::unique_ptr<llvm::TargetMachine>>
makeTargetMachine(const std::string &Isa);

/// Links the bitcode of all kernels that the module calls, makes everything
/// but llmc_cpu_image internal and kernels always inlined.
Status linkKernels(StepModule &Step, const std::string &Isa,
                   llvm::TargetMachine &TM);

/// Inlines kernels, folds what their constants decide and drops the rest.
Status inlineKernels(llvm::Module &M, llvm::TargetMachine &TM);

/// Optimises; fails when a kernel is still called or something is undefined.
Status optimise(llvm::Module &M, llvm::TargetMachine &TM);

/// Object code, or assembly text.
Result<llvm::SmallVector<char, 0>>
emitCode(llvm::Module &M, llvm::TargetMachine &TM, bool Assembly);

/// Links one object to a shared object without imports.
Result<std::vector<uint8_t>> linkImage(llvm::ArrayRef<char> Object);

} // namespace llmc::cpu

#endif // LLMC_COMPILER_TARGET_CPU_CODEGEN_H
