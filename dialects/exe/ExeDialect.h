// The exe dialect in C++: attributes, enums and ops of ExeOps.td.
#ifndef LLMC_DIALECTS_EXE_EXEDIALECT_H
#define LLMC_DIALECTS_EXE_EXEDIALECT_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "dialects/exe/ExeDialect.h.inc"
#include "dialects/exe/ExeEnums.h.inc"

#define GET_ATTRDEF_CLASSES
#include "dialects/exe/ExeAttrs.h.inc"

#define GET_OP_CLASSES
#include "dialects/exe/ExeOps.h.inc"

#endif // LLMC_DIALECTS_EXE_EXEDIALECT_H
