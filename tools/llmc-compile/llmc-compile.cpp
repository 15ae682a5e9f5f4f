// llmc-compile: the programs `compile`, `check` and `plan` of the compiler.
// Parses options, calls compiler/driver, prints one Status. The dispatcher
// `llmc` starts it; the runtime half never links it.
#include "compiler/driver/CheckModel.h"
#include "compiler/driver/Compile.h"
#include "compiler/driver/Options.h"
#include "compiler/driver/Reference.h"
#include "runtime/base/Log.h"
#include "runtime/base/Size.h"

#include <CLI/CLI.hpp>

#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <optional>
#include <string>
#include <tuple>

namespace {

using namespace llmc;

/// What the program ends with: a result that could not be printed is a failure
/// too.
int report(const Status &S) { return exitCodeOf(S.ok() ? finishOutput() : S); }

/// Flags of the contract that nothing behind the parser knows yet.
struct LaterFlags {
  std::string Quant, Calibrate;
  std::optional<double> MinAgreement;
};

/// A flag that is parsed, but not implemented, is refused by its name.
Status refuseLater(const CompileOptions &O, const LaterFlags &L) {
  const std::string Weights =
      "weights are as the file holds them, --f32, --bf16, --int4 (CPU), "
      "--f16 or --int8";
  const std::tuple<bool, std::string, std::string> Flags[] = {
      {!L.Quant.empty(), "--quant " + L.Quant, Weights + ", all alike"},
      {O.Activations == "bf16", "--activations bf16",
       "activations are auto, f32 or int8"},
      {!L.Calibrate.empty(), "--calibrate",
       "scales come from the weights and from each token's activations"},
      {L.MinAgreement.has_value(), "--min-agreement",
       "llmc eval --reference measures the agreement of two artifacts"}};
  for (const auto &[Given, Flag, Instead] : Flags)
    if (Given)
      return unsupportedError(Flag + " is not implemented yet; " + Instead);
  return {};
}

/// Options that compile and plan share.
void addModelOptions(CLI::App &App, CompileOptions &O, std::string &Budget,
                     LaterFlags &Later) {
  App.add_option("model", O.Model, "the .onnx file")->required();
  App.add_option("--target", O.Targets,
                 "native, x86-64-v3, x86-64-avx512vnni, sm_80 … sm_120, or a "
                 "chip's name; several with commas");
  auto *Precision = App.add_option_group("precision");
  for (const char *P : {"f32", "bf16", "f16", "int8", "int4"})
    Precision->add_flag_callback(
        "--" + std::string(P), [&O, P] { O.Precision = P; },
        "weights as " + std::string(P));
  Precision->add_option("--quant", Later.Quant,
                        "precision per tensor, such as int4:g64,head=int8");
  Precision->require_option(0, 1);
  App.add_option("--activations", O.Activations,
                 "numerics of matrix products (auto, f32, int8)")
      ->check(CLI::IsMember({"auto", "f32", "bf16", "int8"}));
  App.add_option("--kv-cache", O.KvCache, "f16, f32 or int8 (CUDA)")
      ->check(CLI::IsMember({"f16", "f32", "int8"}));
  App.add_option("--max-context", O.MaxContext, "tokens of one sequence")
      ->check(CLI::Range(int64_t(1), int64_t(1) << 24));
  App.add_option("--max-batch", O.MaxBatch, "sequences at once")
      ->check(CLI::Range(int64_t(1), int64_t(4096)));
  App.add_option("--memory-budget", Budget,
                 "such as 2GiB; exit 5 if it does "
                 "not fit");
  App.add_option("--calibrate", Later.Calibrate, "text to calibrate with");
  App.add_option("--min-agreement", Later.MinAgreement,
                 "share of equal tokens that precision may not fall below")
      ->check(CLI::Range(0.0, 1.0));
  App.add_option("--embedding", O.Embedding,
                 "table for a graph that takes inputs_embeds");
  App.add_flag("--allow-symlinks", O.AllowSymlinks,
               "take external data that is a symbolic link");
  App.add_flag("--verify", O.Verify,
               "compare the raised graph with the ONNX graph on random inputs");
  App.add_option("--nvrtc", O.Nvrtc, "the NVRTC library to use");
  App.add_option("-j", O.Jobs, "threads of the packer (all cores)");
  App.add_flag("-v", O.Remarks, "print what was fused and what was not");
}

/// compile writes into the current directory by default: MODEL.llmc, named
/// after the file whatever folder it is in.
std::string defaultOutput(const std::string &Model) {
  std::filesystem::path P(Model);
  return P.stem().string() + ".llmc";
}

} // namespace

int main(int Argc, char **Argv) {
  CLI::App App("llmc: compile ONNX language models to one file");
  App.require_subcommand(1);
  App.set_version_flag("--version", "llmc 0.1.0");
  CompileOptions O;
  LaterFlags Later;
  std::string Budget;
  bool Json = false;

  CLI::App *Compile = App.add_subcommand("compile", "ONNX model to artifact");
  addModelOptions(*Compile, O, Budget, Later);
  Compile->add_option("-o,--output", O.Output, "artifact to write");
  Compile->add_option("--tokenizer", O.TokenizerFolder,
                      "folder of tokenizer.json (the model's)");
  Compile->add_option("--json-schema", O.SchemaFile,
                      "file with a JSON schema that all output satisfies");
  Compile->add_flag("--json-whitespace", O.JsonWhitespace,
                    "allow white space between the tokens of that output");
  Compile->add_flag("--dry-run", O.DryRun, "plan only, write nothing");
  Compile->add_option("--report", O.Report, "JSON report to write");
  Compile->add_option("--stop-after", O.StopAfter, "stop after this phase")
      ->check(CLI::IsMember(
          {"import", "raise", "fuse", "quantize", "lower", "plan", "codegen"}));
  Compile->add_option("--emit", O.Emit, "print this form to standard output")
      ->check(
          CLI::IsMember({"onnx", "llm", "exe", "cuda", "ptx", "llvm", "asm"}));
  Compile->add_option("--dump-phases", O.DumpPhases,
                      "folder for the module after each phase");
  Compile->add_option("--dump-kernels", O.DumpKernels,
                      "folder for generated kernels");
  Compile->add_flag("--quiet", O.Quiet, "no progress");
  Compile->footer("example: llmc compile model.onnx --int8 --target "
                  "native,sm_80 -o model.llmc");

  CLI::App *Check =
      App.add_subcommand("check", "what would compile, what would not and why");
  Check->add_option("model", O.Model, "the .onnx file")->required();
  Check->add_flag("--allow-symlinks", O.AllowSymlinks,
                  "take external data that is a symbolic link");
  Check->add_flag("--json", Json, "as JSON");
  Check->footer("example: llmc check model.onnx");

  CLI::App *Plan = App.add_subcommand(
      "plan", "memory that the model would need on each target");
  addModelOptions(*Plan, O, Budget, Later);
  Plan->add_flag("--json", Json, "as JSON");
  Plan->footer("example: llmc plan model.onnx --int8 --memory-budget 2GiB");

  // For llmc verify --against, not for users: no help names it.
  ReferenceOptions R;
  CLI::App *Reference =
      App.add_subcommand("reference", "what the graph computes")->group("");
  Reference->add_option("model", R.Model, "the .onnx file")->required();
  Reference->add_option("--tokens", R.Tokens, "ids")
      ->delimiter(',')
      ->required();
  Reference->add_option("--features", R.Features, "of the output")->required();
  Reference->add_option("-o,--output", R.Output, ".npy to write")->required();
  Reference->add_flag("--allow-symlinks", R.AllowSymlinks,
                      "take external data that is a symbolic link");

  try {
    App.parse(Argc, Argv);
  } catch (const CLI::CallForHelp &E) {
    return App.exit(E);
  } catch (const CLI::CallForVersion &E) {
    return App.exit(E);
  } catch (const CLI::ParseError &E) {
    return report(usageError(E.what()).note("see llmc compile --help"));
  }

  if (Status S = refuseLater(O, Later); !S.ok())
    return report(S);
  if (!Budget.empty()) {
    Result<uint64_t> Bytes = parseSize(Budget);
    if (!Bytes.ok())
      return report(usageError("--memory-budget: " + Bytes.status().message()));
    O.MemoryBudget = static_cast<int64_t>(*Bytes);
  }
  if (Reference->parsed())
    return report(writeReference(R));
  if (Check->parsed())
    return report(checkModel(O, Json));
  if (Plan->parsed())
    return report(planModel(O, Json));
  if (O.Output.empty())
    O.Output = defaultOutput(O.Model);
  return report(compileModel(O));
}
