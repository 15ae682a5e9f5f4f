// In which form the file holds an llm.weight.
#ifndef LLMC_PASSES_UTIL_WEIGHTFORM_H
#define LLMC_PASSES_UTIL_WEIGHTFORM_H

#include "compiler/weights/Layout.h"
#include "dialects/llm/LlmDialect.h"
#include "mlir/IR/SymbolTable.h"

#include <optional>

namespace llmc {

/// The CPU layout that holds the weight as its sources do: p16.f32, p16.f16,
/// p16.bf16 or a packed format of codes. p16.f32 where pieces differ or no
/// format has them.
Layout fileLayoutOf(llm::WeightOp Weight, const mlir::SymbolTable &Symbols);

/// Whether a piece of the weight comes from codes.
bool isQuantized(llm::WeightOp Weight, const mlir::SymbolTable &Symbols);

} // namespace llmc

#endif // LLMC_PASSES_UTIL_WEIGHTFORM_H
