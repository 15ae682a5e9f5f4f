// The memory passes (Passes.td) and their registration.
#ifndef LLMC_PASSES_MEMORY_PASSES_H
#define LLMC_PASSES_MEMORY_PASSES_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

#include <memory>

namespace llmc {
#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "passes/memory/Passes.h.inc"
} // namespace llmc

#endif // LLMC_PASSES_MEMORY_PASSES_H
