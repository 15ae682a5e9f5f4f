// Imports and raises the model for its report.
#include "compiler/driver/CheckModel.h"

#include "compiler/driver/Check.h"
#include "compiler/driver/Phases.h"

#include <cstdio>

namespace llmc {

Status checkModel(const CompileOptions &O, bool Json) {
  std::unique_ptr<ImportedModel> M = makeEmptyModel(O.Remarks);
  CheckOptions Options;
  Options.AllowSymlinks = O.AllowSymlinks;
  Options.Continue = [&](mlir::ModuleOp Module, const WeightStore &Store,
                         std::vector<ImportIssue> &) {
    return raiseGraph(Module, PipelineOptions(), weightReader(Store));
  };
  CheckReport Report = inspectModel(M->Context, O.Model, Options);
  std::printf("%s",
              Json ? checkJson(Report).c_str() : checkText(Report).c_str());
  if (Json)
    std::printf("\n");
  return Report.Outcome;
}

} // namespace llmc
