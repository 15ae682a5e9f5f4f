// The memory plan of a program. `llmc plan` prints it, the manifest keeps it,
// check-budget compares it; the arithmetic is in runtime/base.
#ifndef LLMC_PASSES_MEMORY_MEMORYPLAN_H
#define LLMC_PASSES_MEMORY_MEMORYPLAN_H

#include "dialects/exe/ExeDialect.h"
#include "runtime/base/MemoryPlan.h"

namespace llmc {

/// The plan of a program that the memory passes have seen.
MemoryPlan memoryPlanOf(exe::ProgramOp Program);

} // namespace llmc

#endif // LLMC_PASSES_MEMORY_MEMORYPLAN_H
