// The CPU target: an exe program becomes a shared object without imports that
// exports one function, llmc_cpu_image (runtime/device/StepAbi.h).
//
// One function `step` calls one kernel per phase with literal constants and
// waits at a barrier behind it; identical layers are one function with a table
// of weight offsets. Kernels come as bitcode, are linked in, inlined and
// specialised. Nothing of LLVM's code generation is visible outside this room.
#ifndef LLMC_COMPILER_TARGET_CPU_CPUTARGET_H
#define LLMC_COMPILER_TARGET_CPU_CPUTARGET_H

#include "dialects/exe/ExeDialect.h"
#include "runtime/base/Status.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace llmc::cpu {

struct CpuTargetOptions {
  std::string Isa; ///< "avx512vnni" or "avx2"; empty: of the program's target
};

/// Shared object of that program. The same bytes for the same program.
Result<std::vector<uint8_t>> emitCpuImage(exe::ProgramOp Program,
                                          const CpuTargetOptions &Options = {});

enum class CpuText { Llvm, Asm };
/// Optimised LLVM IR or assembly of that program.
Result<std::string> emitCpuText(exe::ProgramOp Program, CpuText Kind,
                                const CpuTargetOptions &Options = {});

/// "x86-64-v3" -> "avx2", "x86-64-avx512vnni" -> "avx512vnni".
Result<std::string> isaOfTarget(std::string_view Target);
/// The better of the two targets that this machine runs; an error names what is
/// missing.
Result<std::string> nativeTarget();
/// Features by their LLVM names that the machine must have, sorted.
std::vector<std::string> featuresOfIsa(std::string_view Isa);

} // namespace llmc::cpu

#endif // LLMC_COMPILER_TARGET_CPU_CPUTARGET_H
