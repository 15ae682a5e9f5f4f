// The whole way of a model: read, import, raise, then per target fuse, lower,
// plan and emit, then pack the weights into the artifact. Errors come out as
// one Status; nothing is at the output path unless everything succeeded.
#include "compiler/driver/Compile.h"

#include "compiler/driver/Architecture.h"
#include "compiler/driver/CompileTarget.h"
#include "compiler/driver/Flags.h"
#include "compiler/driver/ModelFolder.h"
#include "compiler/driver/Phases.h"
#include "compiler/driver/ProgramExport.h"
#include "compiler/driver/Progress.h"
#include "compiler/driver/Provenance.h"
#include "compiler/driver/Targets.h"
#include "compiler/driver/WriteArtifact.h"
#include "passes/memory/MemoryPlan.h"
#include "runtime/base/File.h"
#include "runtime/base/Log.h"
#include "runtime/text/constraint/Compile.h"
#include "runtime/text/constraint/GrammarImage.h"
#include "runtime/text/constraint/TokenTrie.h"

#include <nlohmann/json.hpp>

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>

namespace llmc {
namespace {

/// Facts of the manifest: what the graph says, and the files beside it. The
/// precision is known behind all targets.
ManifestModel describeModel(const CompileOptions &O, mlir::ModuleOp Exe,
                            const ModelFolder &Folder) {
  ManifestModel M;
  exe::ProgramOp Program = *Exe.getOps<exe::ProgramOp>().begin();
  ProgramFacts Facts = factsOf(Program);
  M.Name = std::filesystem::path(O.Model).stem().string();
  M.Vocab = Facts.Vocab;
  M.Hidden = Facts.Hidden;
  M.Layers = Facts.Layers;
  M.MaxPositions = static_cast<uint32_t>(Folder.MaxPositions);
  M.MaxContext = static_cast<uint32_t>(Program.getMaxContext());
  M.MaxBatch = static_cast<uint32_t>(Program.getMaxSequences());
  M.Activations = O.Activations;
  for (exe::PackedWeightOp W : Program.getOps<exe::PackedWeightOp>())
    M.Parameters += static_cast<uint64_t>(W.getRows() * W.getCols());
  // Ids of the files that the vocabulary does not have are dropped.
  const auto Known = [&](int32_t Id) {
    return Id >= 0 && static_cast<uint32_t>(Id) < M.Vocab;
  };
  M.BosId = Known(Folder.BosId) ? Folder.BosId : -1;
  M.PadId = Known(Folder.PadId) ? Folder.PadId : -1;
  for (int32_t Id : Folder.EosIds)
    if (Known(Id))
      M.EosIds.push_back(Id);
  return M;
}

/// Fills the file of --report, which was opened before.
Status writeReport(AtomicFile &Report, const nlohmann::json &Content) {
  std::string Text = Content.dump(1) + "\n";
  LLMC_RETURN_IF_ERROR(Report.writeAt(0, bytesOf(Text)));
  return Report.commit();
}

nlohmann::json reportOf(const ArtifactContent &Content,
                        const ArtifactSummary &Summary) {
  nlohmann::json Out;
  Out["artifact_bytes"] = Summary.Bytes;
  Out["identity"] = Summary.Identity;
  Out["parameters"] = Content.Model.Parameters;
  for (const CompiledTarget &T : Content.Targets)
    Out["targets"].push_back({{"name", T.Name},
                              {"weight_bytes", T.Plan.WeightBytes},
                              {"arena_bytes", T.Plan.ArenaBytes},
                              {"workspace_bytes", T.Plan.WorkspaceBytes},
                              {"kv_page_bytes", T.Plan.PageBytes},
                              {"kv_pages", T.Plan.Pages},
                              {"code_bytes", T.Code.size()},
                              {"ptx_bytes", T.Ptx.size()}});
  return Out;
}

/// The artifact must not replace one of the model's own files.
Status checkOutput(const CompileOptions &O) {
  std::error_code Error;
  if (std::filesystem::is_directory(O.Output, Error))
    return usageError("output '" + O.Output + "' is a folder");
  if (std::filesystem::equivalent(O.Output, O.Model, Error))
    return usageError("output '" + O.Output + "' is the model itself");
  // Before the work, not after it.
  std::string Folder = folderOf(O.Output);
  if (access(Folder.c_str(), W_OK | X_OK) != 0)
    return malformedError("cannot write '" + O.Output + "': folder '" + Folder +
                          "': " + std::strerror(errno));
  return {};
}

void warn(const CompileOptions &O, const std::string &Text) {
  if (!O.Quiet)
    printWarning(Text);
}

Status compileTargets(const CompileOptions &O, ImportedModel &M,
                      const std::vector<TargetDesc> &Targets, Progress &P,
                      ArtifactContent &Content, ProvenanceFacts &Facts) {
  for (const TargetDesc &T : Targets) {
    P.phase("lower for " + T.Name);
    LLMC_ASSIGN_OR_RETURN(mlir::OwningOpRef<mlir::ModuleOp> Exe,
                          lowerModel(O, M, T));
    if (Content.Targets.empty())
      Content.Model = describeModel(O, *Exe, Content.Folder);
    P.phase("code for " + T.Name);
    LLMC_ASSIGN_OR_RETURN(CompiledTarget Compiled,
                          compileTarget(O, *Exe, T, Facts));
    Content.Targets.push_back(std::move(Compiled));
  }
  Content.Model.Precision = Facts.precisions();
  return {};
}

/// The schema that all output of the artifact satisfies.
Result<std::vector<uint8_t>> compileSchemaFile(const CompileOptions &O,
                                               const ModelFolder &Folder) {
  if (O.SchemaFile.empty())
    return std::vector<uint8_t>();
  if (Folder.Tokenizer.empty())
    return usageError("--json-schema needs a tokenizer, and the model has "
                      "none");
  Result<std::vector<uint8_t>> Bytes = readFile(O.SchemaFile);
  if (!Bytes.ok() && O.SchemaFile.find('{') != std::string::npos)
    return usageError("--json-schema takes a file, not the schema itself");
  LLMC_RETURN_IF_ERROR(Bytes.status());
  std::string_view Text(reinterpret_cast<const char *>(Bytes->data()),
                        Bytes->size());
  constraint::CompileOptions How;
  How.Whitespace = O.JsonWhitespace;
  Result<std::unique_ptr<constraint::Grammar>> G =
      constraint::compileSchema(Text, How);
  if (!G.ok())
    return Status(G.status().code() == StatusCode::Unsupported
                      ? StatusCode::Malformed
                      : G.status().code(),
                  O.SchemaFile + ": " + G.status().message());
  return constraint::writeGrammarImage(**G);
}

/// The trie that constrained requests walk; none without a tokenizer.
Result<std::vector<uint8_t>> tokenTrie(const ModelFolder &Folder) {
  if (Folder.Tokenizer.empty())
    return std::vector<uint8_t>();
  LLMC_ASSIGN_OR_RETURN(Tokenizer T, Tokenizer::borrow(Folder.Tokenizer));
  std::shared_ptr<const constraint::TokenTrie> Trie =
      constraint::TokenTrie::of(T);
  return std::vector<uint8_t>(Trie->image().begin(), Trie->image().end());
}

Status compileToFile(const CompileOptions &O, ImportedModel &M,
                     const std::vector<TargetDesc> &Targets, Progress &P) {
  ArtifactContent Content;
  LLMC_ASSIGN_OR_RETURN(Content.Folder,
                        readModelFolder(O.TokenizerFolder.empty()
                                            ? folderOf(O.Model)
                                            : O.TokenizerFolder));
  for (const std::string &W : Content.Folder.Warnings)
    warn(O, W);
  // A model folder without one is common, but who names a folder means it.
  if (!O.TokenizerFolder.empty() && Content.Folder.Tokenizer.empty() &&
      Content.Folder.Warnings.empty())
    warn(O, "no tokenizer in '" + O.TokenizerFolder +
                "'; the artifact takes token ids only");
  LLMC_ASSIGN_OR_RETURN(Content.Constraint,
                        compileSchemaFile(O, Content.Folder));
  LLMC_ASSIGN_OR_RETURN(Content.TokenTrie, tokenTrie(Content.Folder));
  ProvenanceFacts Facts;
  Facts.Architecture = architectureJson(architectureOf(*M.Module));
  LLMC_RETURN_IF_ERROR(compileTargets(O, M, Targets, P, Content, Facts));
  int64_t Tokens = tokenizerSize(Content.Folder);
  if (Tokens > Content.Model.Vocab)
    warn(O, "the tokenizer knows " + std::to_string(Tokens) +
                " tokens, the model " + std::to_string(Content.Model.Vocab) +
                "; is it this model's tokenizer?");
  LLMC_ASSIGN_OR_RETURN(Facts.Inputs, readInputs(M.Store, O.TokenizerFolder));
  Content.Provenance = provenanceJson(O, Facts);

  // Opened first: no artifact appears when the report cannot be written.
  AtomicFile Report;
  if (!O.Report.empty()) {
    LLMC_ASSIGN_OR_RETURN(Report, AtomicFile::create(O.Report));
  }
  P.phase("pack weights");
  PackOptions Packing;
  Packing.Threads = O.Jobs;
  Packing.Progress = [&](uint64_t Done, uint64_t All) {
    P.share(All ? double(Done) / double(All) : 1);
  };
  LLMC_ASSIGN_OR_RETURN(ArtifactSummary Summary,
                        writeArtifact(O.Output, Content, M.Store, Packing));
  P.finish();
  if (!O.Report.empty())
    LLMC_RETURN_IF_ERROR(writeReport(Report, reportOf(Content, Summary)));
  if (!O.Quiet)
    std::fprintf(stderr, "wrote %s: %.1f MB, %s\n", O.Output.c_str(),
                 double(Summary.Bytes) / 1e6, Summary.Identity.c_str());
  return {};
}

/// Prints the plans of all targets, as JSON to --report, too; DoesNotFit when
/// one exceeds the budget.
Status printPlans(const CompileOptions &O, ImportedModel &M,
                  const std::vector<TargetDesc> &Targets, bool Json) {
  AtomicFile Report;
  if (!O.Report.empty()) {
    LLMC_ASSIGN_OR_RETURN(Report, AtomicFile::create(O.Report));
  }
  CompileOptions NoBudget = O; // the plan is printed in any case
  NoBudget.MemoryBudget = 0;
  std::vector<MemoryPlan> Plans;
  for (const TargetDesc &T : Targets) {
    LLMC_ASSIGN_OR_RETURN(mlir::OwningOpRef<mlir::ModuleOp> Exe,
                          lowerModel(NoBudget, M, T));
    Plans.push_back(memoryPlanOf(*Exe->getOps<exe::ProgramOp>().begin()));
  }
  uint64_t Budget = static_cast<uint64_t>(O.MemoryBudget);
  std::printf("%s", (Json ? plansJson : plansText)(Plans, Budget).c_str());
  if (!O.Report.empty())
    LLMC_RETURN_IF_ERROR(
        writeReport(Report, nlohmann::json::parse(plansJson(Plans, Budget),
                                                  nullptr, false)));
  return checkPlans(Plans, Budget);
}

} // namespace

Status compileModel(const CompileOptions &O) {
  LLMC_RETURN_IF_ERROR(checkFlags(O));
  LLMC_RETURN_IF_ERROR(checkOutput(O));
  LLMC_ASSIGN_OR_RETURN(std::vector<TargetDesc> Targets,
                        parseTargets(O.Targets));
  Progress P(O.Quiet);
  P.phase("import and raise");
  LLMC_ASSIGN_OR_RETURN(std::unique_ptr<ImportedModel> M, loadModel(O));
  if (!O.Emit.empty() || !O.StopAfter.empty()) {
    P.finish();
    return emitText(O, *M, Targets);
  }
  if (O.DryRun) {
    P.finish();
    return printPlans(O, *M, Targets, false);
  }
  return compileToFile(O, *M, Targets, P);
}

Status planModel(const CompileOptions &O, bool Json) {
  LLMC_ASSIGN_OR_RETURN(std::vector<TargetDesc> Targets,
                        parseTargets(O.Targets));
  LLMC_ASSIGN_OR_RETURN(std::unique_ptr<ImportedModel> M, loadModel(O));
  return printPlans(O, *M, Targets, Json);
}

} // namespace llmc
