// The ordered list of passes, from the imported graph to the exe program of a
// target. Two stages: `raiseGraph` once per model, `lowerForTarget` per target
// on a clone. Nothing else is in this room.
#ifndef LLMC_COMPILER_PIPELINE_PIPELINE_H
#define LLMC_COMPILER_PIPELINE_PIPELINE_H

#include "compiler/eval/Evaluator.h"
#include "passes/quant/TargetDesc.h"
#include "runtime/base/Status.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Pass/PassManager.h"

#include <functional>
#include <string>

namespace llmc {

/// Phases in order; the names are those of --stop-after.
enum class Phase { Import, Raise, Fuse, Quantize, Lower, Plan, Codegen };
/// "import", "raise", …
std::string_view nameOf(Phase P);
/// The phase of that name; a usage error that lists the names.
Result<Phase> phaseOf(std::string_view Name);

struct PipelineOptions {
  std::string Precision; ///< f32, f16, bf16, int8; empty: as the file
  std::string Activations = "auto"; ///< auto, f32, int8
  std::string KvCache = "auto";     ///< auto, f16, f32
  int64_t MaxContext = 0;           ///< 0: the model's, at most 8192
  int64_t MaxBatch = 1;             ///< sequences at once
  int64_t MaxTokens = 512;          ///< tokens of one step
  int64_t MemoryBudget = 0;         ///< bytes; 0: none
  bool Verify = false;              ///< compare raised with unraised
  Phase StopAfter = Phase::Codegen; ///< the module is returned as it is then
  /// Called with the module behind each phase (--dump-phases); a failure ends
  /// the pipeline.
  std::function<Status(Phase, mlir::ModuleOp)> AfterPhase;
};

/// The passes of a phase. lowerForTarget and llmc-opt take the same list.
void buildImportPasses(mlir::OpPassManager &PM,
                       const eval::WeightReader &Reader = {});
void buildFusePasses(mlir::OpPassManager &PM);
void buildQuantizePasses(mlir::OpPassManager &PM, const TargetDesc &Target,
                         const PipelineOptions &O);
void buildLowerPasses(mlir::OpPassManager &PM, const PipelineOptions &O);
void buildPlanPasses(mlir::OpPassManager &PM);

/// Import clean-up and raising, in place: the module holds llm afterwards.
/// Reader gives the few weights whose values decide something (rope
/// frequencies, masks), all of them with O.Verify.
Status raiseGraph(mlir::ModuleOp Module, const PipelineOptions &O,
                  const eval::WeightReader &Reader);

/// The exe program of one target (the module of an earlier phase with
/// O.StopAfter). Llm stays as it is. DoesNotFit when the budget or the model's
/// positions are exceeded.
Result<mlir::OwningOpRef<mlir::ModuleOp>>
lowerForTarget(mlir::ModuleOp Llm, const TargetDesc &Target,
               const PipelineOptions &O);

} // namespace llmc

#endif // LLMC_COMPILER_PIPELINE_PIPELINE_H
