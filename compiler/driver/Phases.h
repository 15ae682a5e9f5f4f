// The front of the driver: a model read, imported and raised, and its module
// after any phase.
#ifndef LLMC_COMPILER_DRIVER_PHASES_H
#define LLMC_COMPILER_DRIVER_PHASES_H

#include "compiler/driver/Options.h"
#include "compiler/pipeline/Pipeline.h"
#include "compiler/weights/WeightStore.h"

#include "mlir/IR/MLIRContext.h"

#include <memory>
#include <vector>

namespace llmc {

/// An imported (and, unless stopped before, raised) model with its files.
struct ImportedModel {
  mlir::MLIRContext Context;
  WeightStore Store;
  mlir::OwningOpRef<mlir::ModuleOp> Module; ///< destroyed before Context
  int64_t MaxPositions = 0; ///< by config.json beside it; 0: unknown
};

/// A context with all dialects of the project, one thread.
std::unique_ptr<ImportedModel> makeEmptyModel(bool PrintRemarks, bool Quiet);

/// Imports and raises O.Model (stops early with O.StopAfter).
Result<std::unique_ptr<ImportedModel>> loadModel(const CompileOptions &O);

/// Tokens of one sequence when nobody says: what config.json declares, at most
/// 8192; 0 (the pipeline's own default) when it declares nothing.
int64_t defaultContext(int64_t MaxPositions);

/// Options of the pipeline.
Result<PipelineOptions> pipelineOptions(const CompileOptions &O);

/// The exe module of one target.
Result<mlir::OwningOpRef<mlir::ModuleOp>>
lowerModel(const CompileOptions &O, ImportedModel &M, const TargetDesc &Target);

/// Reader of weights for the passes, on that store.
eval::WeightReader weightReader(const WeightStore &Store);

/// --emit and --stop-after: prints the asked form of each target to standard
/// output instead of writing an artifact.
Status emitText(const CompileOptions &O, ImportedModel &M,
                const std::vector<TargetDesc> &Targets);

} // namespace llmc

#endif // LLMC_COMPILER_DRIVER_PHASES_H
