// Registration of the llm dialect and its generated definitions.
#include "dialects/llm/LlmDialect.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

#include "dialects/llm/LlmDialect.cpp.inc"
#include "dialects/llm/LlmEnums.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "dialects/llm/LlmAttrs.cpp.inc"

#define GET_OP_CLASSES
#include "dialects/llm/LlmOps.cpp.inc"

void llmc::llm::LlmDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "dialects/llm/LlmAttrs.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "dialects/llm/LlmOps.cpp.inc"
      >();
}
