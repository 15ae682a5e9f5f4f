// Diagnostics of passes as one Status.
#ifndef LLMC_COMPILER_PIPELINE_PASSERRORS_H
#define LLMC_COMPILER_PIPELINE_PASSERRORS_H

#include "runtime/base/Status.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/PassManager.h"

namespace llmc {

/// Runs the passes. When they fail, their first error is the message of a
/// Status of that code and further ones and all notes are its notes. Warnings
/// and remarks go to the handler that was there before.
Status runPasses(mlir::PassManager &PM, mlir::ModuleOp Module,
                 StatusCode Failure);

} // namespace llmc

#endif // LLMC_COMPILER_PIPELINE_PASSERRORS_H
