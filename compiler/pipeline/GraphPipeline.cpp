// The first stage: clean-up of the imported graph and raising, once per model.
// The order inside raising is passes/raise/Pipeline.cpp.
#include "compiler/pipeline/CheckInputs.h"
#include "compiler/pipeline/PassErrors.h"
#include "compiler/pipeline/Pipeline.h"
#include "passes/import/Passes.h"
#include "passes/raise/Passes.h"

using namespace mlir;

namespace llmc {

void buildImportPasses(OpPassManager &PM, const eval::WeightReader &Reader) {
  // Before all others, so that they see one float type of activations.
  PM.addPass(createWidenFloats());
  // Shapes first: folding and clean-up ask for them.
  PM.addPass(createInferShapes());
  // Rows of logits, beams and types of tokens are not the graph's to choose.
  PM.addPass(createBindInputs());
  // Which branch runs is part of the shape; the other one only costs.
  PM.addPass(createResolveControlFlow());
  // Whole attentions and rotations: the recognisers know primitive ones.
  PM.addPass(createExpandFused());
  // Shape arithmetic becomes constants, so that recognisers see numbers.
  PM.addPass(createFoldConstants());
  // Reshapes that change nothing would stand between what belongs together.
  PM.addPass(createSimplifyShapes());
  // Quantised weights are values like others to all that follows.
  PM.addPass(raise::createCanonicalizeQuantized(Reader));
  // One spelling of equal things, so that recognisers need fewer.
  PM.addPass(createCanonicalizeGraph());
  // New ops have no types yet.
  PM.addPass(createInferShapes());
}

Status raiseGraph(ModuleOp Module, const PipelineOptions &O,
                  const eval::WeightReader &Reader) {
  PassManager Import(Module.getContext());
  buildImportPasses(Import, Reader);
  LLMC_RETURN_IF_ERROR(runPasses(Import, Module, StatusCode::Unsupported));
  if (O.AfterPhase)
    LLMC_RETURN_IF_ERROR(O.AfterPhase(Phase::Import, Module));
  if (O.StopAfter == Phase::Import)
    return Status::success();

  LLMC_RETURN_IF_ERROR(checkInputs(Module));
  OwningOpRef<ModuleOp> Before;
  if (O.Verify) {
    // With caches paired, so that they are not taken for logits.
    PassManager Pair(Module.getContext());
    Pair.addPass(raise::createRaiseKvCache());
    LLMC_RETURN_IF_ERROR(runPasses(Pair, Module, StatusCode::Unsupported));
    Before = Module.clone();
  }
  PassManager Raise(Module.getContext());
  RaiseOptions R;
  R.Reader = Reader;
  buildRaisePipeline(Raise, R);
  LLMC_RETURN_IF_ERROR(runPasses(Raise, Module, StatusCode::Unsupported));
  if (O.AfterPhase)
    LLMC_RETURN_IF_ERROR(O.AfterPhase(Phase::Raise, Module));
  return Before ? raise::verifyRaised(*Before, Module, Reader)
                : Status::success();
}

} // namespace llmc
