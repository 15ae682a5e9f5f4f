// The llm dialect: include this for its ops, attributes and enums.
#ifndef LLMC_DIALECTS_LLM_LLMDIALECT_H
#define LLMC_DIALECTS_LLM_LLMDIALECT_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace llmc::llm {
/// The caches of all sequences; orders llm.kv_write and llm.attention.
struct StateResource : public mlir::SideEffects::Resource::Base<StateResource> {
  llvm::StringRef getName() final { return "llm.state"; }
};
} // namespace llmc::llm

#include "dialects/llm/LlmDialect.h.inc"
#include "dialects/llm/LlmEnums.h.inc"

#define GET_ATTRDEF_CLASSES
#include "dialects/llm/LlmAttrs.h.inc"

#define GET_OP_CLASSES
#include "dialects/llm/LlmOps.h.inc"

#endif // LLMC_DIALECTS_LLM_LLMDIALECT_H
