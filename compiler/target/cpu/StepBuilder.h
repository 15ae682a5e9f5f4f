// exe.program -> LLVM module with `step` and `llmc_cpu_image`, kernels as
// declarations.
#ifndef LLMC_COMPILER_TARGET_CPU_STEPBUILDER_H
#define LLMC_COMPILER_TARGET_CPU_STEPBUILDER_H

#include "dialects/exe/ExeDialect.h"
#include "runtime/base/Status.h"

#include "llvm/IR/Module.h"

#include <memory>
#include <set>
#include <string>

namespace llmc::cpu {

struct StepModule {
  std::unique_ptr<llvm::Module> Module;
  std::set<std::string> Kernels; ///< catalogue names, and "barrier"
};

Result<StepModule> buildStep(exe::ProgramOp Program, const std::string &Isa,
                             llvm::LLVMContext &Context);

/// What the CPU kernels can do with that phase; the text names both numbers.
Status checkPhase(exe::PhaseOp Phase);

} // namespace llmc::cpu

#endif // LLMC_COMPILER_TARGET_CPU_STEPBUILDER_H
