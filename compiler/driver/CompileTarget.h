// The back of the driver: the code of one target.
#ifndef LLMC_COMPILER_DRIVER_COMPILETARGET_H
#define LLMC_COMPILER_DRIVER_COMPILETARGET_H

#include "compiler/driver/Options.h"
#include "compiler/driver/Provenance.h"
#include "compiler/driver/WriteArtifact.h"
#include "passes/quant/TargetDesc.h"

#include "mlir/IR/BuiltinOps.h"

namespace llmc {

/// Code, program, plan and weight program of one lowered module. Adds the
/// target, its precision and features, and versions to Facts.
Result<CompiledTarget> compileTarget(const CompileOptions &O,
                                     mlir::ModuleOp Exe, const TargetDesc &T,
                                     ProvenanceFacts &Facts);

} // namespace llmc

#endif // LLMC_COMPILER_DRIVER_COMPILETARGET_H
