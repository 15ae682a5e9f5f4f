// Imports, raises and lowers the model for its report.
#include "compiler/driver/CheckModel.h"

#include "compiler/driver/Check.h"
#include "compiler/driver/ModelFolder.h"
#include "compiler/driver/Phases.h"
#include "compiler/driver/Targets.h"

#include <algorithm>
#include <cstdio>

namespace llmc {
namespace {

/// What `compile` would use: this machine, or where it is none of our targets
/// the widest one.
Result<TargetDesc> defaultTarget() {
  Result<std::vector<TargetDesc>> Native = parseTargets("native");
  if (Native.ok())
    return Native->front();
  LLMC_ASSIGN_OR_RETURN(std::vector<TargetDesc> Widest,
                        parseTargets("x86-64-v3"));
  return Widest.front();
}

/// Raises, then lowers up to the plan: what the passes behind raising refuse
/// (sizes of heads, the context) is not supported either.
Status tryModel(mlir::ModuleOp Module, const WeightStore &Store,
                CheckReport &Report) {
  PipelineOptions P;
  LLMC_RETURN_IF_ERROR(raiseGraph(Module, P, weightReader(Store)));
  Report.Parts = architectureOf(Module);
  LLMC_ASSIGN_OR_RETURN(TargetDesc Target, defaultTarget());
  P.StopAfter = Phase::Plan;
  P.MaxContext = defaultContext(readMaxPositions(Store.folder()));
  return lowerForTarget(Module, Target, P).takeStatus();
}

} // namespace

Status checkModel(const CompileOptions &O, bool Json) {
  std::unique_ptr<ImportedModel> M = makeEmptyModel(O.Remarks, O.Quiet);
  CheckOptions Options;
  Options.AllowSymlinks = O.AllowSymlinks;
  Options.Continue = [&](mlir::ModuleOp Module, const WeightStore &Store,
                         CheckReport &Report) {
    return tryModel(Module, Store, Report);
  };
  CheckReport Report = inspectModel(M->Context, O.Model, Options);
  std::printf("%s",
              Json ? checkJson(Report).c_str() : checkText(Report).c_str());
  return Report.Outcome;
}

} // namespace llmc
