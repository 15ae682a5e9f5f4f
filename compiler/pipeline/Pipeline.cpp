// The order of all passes behind raising, a reason per line.
#include "compiler/pipeline/Pipeline.h"

#include "compiler/pipeline/PassErrors.h"
#include "passes/fusion/Passes.h"
#include "passes/lowering/Passes.h"
#include "passes/memory/Passes.h"
#include "passes/quant/Passes.h"

#include "dialects/exe/ExeDialect.h"
#include "dialects/llm/LlmDialect.h"

using namespace mlir;

namespace llmc {
namespace {
constexpr std::string_view PhaseNames[] = {
    "import", "raise", "fuse", "quantize", "lower", "plan", "codegen"};

/// What the model says about its context: positions it was trained for, rows
/// of its rope tables; 0 when it says nothing.
int64_t modelPositions(ModuleOp Llm) {
  int64_t Positions = 0;
  if (DictionaryAttr Model = Llm->getAttrOfType<DictionaryAttr>("llm.model"))
    if (IntegerAttr Max = Model.getAs<IntegerAttr>("max_positions"))
      Positions = Max.getInt();
  Llm.walk([&](llm::RopeTableOp Op) {
    if (!Op.getCos())
      return;
    llm::WeightOp W = Llm.lookupSymbol<llm::WeightOp>(*Op.getCos());
    int64_t Rows =
        W ? cast<RankedTensorType>(W.getType()).getDimSize(0) : int64_t(0);
    Positions = Positions ? std::min(Positions, Rows) : Rows;
  });
  return Positions;
}

Status checkOptions(const PipelineOptions &O) {
  if (O.MaxContext < 0)
    return usageError("max-context is " + std::to_string(O.MaxContext) +
                      ", expected a positive number");
  if (O.MemoryBudget < 0)
    return usageError("memory budget is " + std::to_string(O.MemoryBudget) +
                      ", expected a positive number");
  return Status::success();
}

/// A model has no more positions than its tables have rows: asking for more is
/// no reason to refuse it.
int64_t cappedContext(ModuleOp Llm, int64_t MaxContext) {
  int64_t Positions = modelPositions(Llm);
  if (Positions <= 0 || MaxContext <= Positions)
    return MaxContext;
  Llm.emitWarning() << "max-context is " << MaxContext << ", the model has "
                    << Positions << " positions: compiled for " << Positions;
  return Positions;
}
} // namespace

std::string_view nameOf(Phase P) {
  return PhaseNames[static_cast<unsigned>(P)];
}

Result<Phase> phaseOf(std::string_view Name) {
  std::string Known;
  for (unsigned I = 0; I != std::size(PhaseNames); ++I) {
    if (PhaseNames[I] == Name)
      return static_cast<Phase>(I);
    Known += (I ? ", " : "") + std::string(PhaseNames[I]);
  }
  return usageError("unknown phase '" + std::string(Name) + "', expected " +
                    Known);
}

void buildFusePasses(OpPassManager &PM) {
  // First, while q, k and v are still plain products.
  PM.addPass(createFuseQkv());
  // Before epilogues: the GLU takes both products as they are.
  PM.addPass(createFuseGateUp());
  // Activation and residual behind each product.
  PM.addPass(createFuseEpilogue());
  // Last: only now are the users of a norm final, and all of them must take it.
  PM.addPass(createFuseNormLinear());
}

void buildQuantizePasses(OpPassManager &PM, const TargetDesc &Target,
                         const PipelineOptions &O) {
  ChoosePrecisionOptions P;
  P.target = Target.Name;
  P.precision = O.Precision.empty() ? "file" : O.Precision;
  P.activations = O.Activations.empty() ? "auto" : O.Activations;
  P.kvCache = O.KvCache.empty() ? "auto" : O.KvCache;
  PM.addPass(createChoosePrecision(P));
}

void buildLowerPasses(OpPassManager &PM, const PipelineOptions &O) {
  LlmToExeOptions L;
  L.maxContext = O.MaxContext;
  L.maxBatch = O.MaxBatch;
  L.maxTokens = O.MaxTokens;
  PM.addPass(createLlmToExe(L));
  // Step sizes must be known before arenas (and grids) are.
  PM.addPass(createMakeBuckets());
  // Before planning, so that layers share slots.
  PM.addPass(createOutlineLayers());
}

void buildPlanPasses(OpPassManager &PM) {
  PM.addPass(createPlanWeights());
  PM.addPass(createPlanArena());
  PM.addPass(createPlanKv());
}

Result<OwningOpRef<ModuleOp>> lowerForTarget(ModuleOp Llm,
                                             const TargetDesc &Target,
                                             const PipelineOptions &Given) {
  LLMC_RETURN_IF_ERROR(checkOptions(Given));
  PipelineOptions O = Given;
  O.MaxContext = cappedContext(Llm, O.MaxContext);
  OwningOpRef<ModuleOp> Module(Llm.clone());
  using Build = std::function<void(OpPassManager &)>;
  struct Stage {
    Phase P;
    StatusCode Failure;
    Build Passes;
  };
  const Stage Stages[] = {
      {Phase::Fuse, StatusCode::Internal,
       [](OpPassManager &PM) { buildFusePasses(PM); }},
      {Phase::Quantize, StatusCode::Usage,
       [&](OpPassManager &PM) { buildQuantizePasses(PM, Target, O); }},
      {Phase::Lower, StatusCode::Unsupported,
       [&](OpPassManager &PM) { buildLowerPasses(PM, O); }},
      {Phase::Plan, StatusCode::Unsupported,
       [](OpPassManager &PM) { buildPlanPasses(PM); }}};
  for (const Stage &S : Stages) {
    if (O.StopAfter < S.P)
      return Module;
    PassManager PM(Llm.getContext());
    S.Passes(PM);
    LLMC_RETURN_IF_ERROR(runPasses(PM, *Module, S.Failure));
    if (O.AfterPhase)
      LLMC_RETURN_IF_ERROR(O.AfterPhase(S.P, *Module));
  }
  // Alone, since its failure is of another kind.
  PassManager Budget(Llm.getContext());
  CheckBudgetOptions C;
  C.budget = O.MemoryBudget;
  Budget.addPass(createCheckBudget(C));
  LLMC_RETURN_IF_ERROR(runPasses(Budget, *Module, StatusCode::DoesNotFit));
  return Module;
}

} // namespace llmc
