// llmc inspect, verify and plan: what an artifact holds, whether it is whole,
// what it needs.
#include "runtime/artifact/Inspect.h"
#include "runtime/artifact/Verify.h"
#include "runtime/base/GpuModel.h"
#include "runtime/base/Json.h"
#include "runtime/base/Size.h"
#include "tools/llmc-run/Commands.h"
#include "tools/llmc-run/Common.h"
#include "tools/llmc-run/VerifyAgainst.h"

#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>

namespace llmcrun {

namespace {

struct PlanFlags {
  std::string Artifact, Budget;
  bool Json = false;
};

void plan(const PlanFlags &F) {
  std::unique_ptr<llmc::Reader> R = check(llmc::Reader::open(F.Artifact));
  uint64_t Budget = 0;
  if (!F.Budget.empty()) {
    llmc::Result<uint64_t> Bytes = llmc::parseSize(F.Budget);
    if (!Bytes.ok())
      usage("--memory-budget: " + Bytes.status().message());
    Budget = *Bytes;
  }
  std::vector<llmc::MemoryPlan> Plans = llmc::memoryPlansOf(R->manifest());
  std::string Text =
      (F.Json ? llmc::plansJson : llmc::plansText)(Plans, Budget);
  std::fwrite(Text.data(), 1, Text.size(), stdout);
  check(llmc::checkPlans(Plans, Budget));
}

struct InspectFlags {
  std::string Artifact;
  llmc::InspectOptions O;
};

struct VerifyFlags {
  std::string Artifact, Against;
  DeviceFlags Device;
  bool Json = false, AllowSymlinks = false;
};

void reportJson(const llmc::Reader &R, const llmc::VerifyReport &Report,
                const std::optional<AgainstReport> &A) {
  llmc::JsonWriter W;
  W.beginObject();
  W.member("identity", R.identity());
  W.member("sections", Report.Sections);
  W.member("weight_bytes", Report.WeightBytes);
  W.member("weight_chunks", Report.Chunks);
  if (A) {
    W.key("against");
    W.beginObject();
    W.member("tokens", uint64_t{A->Tokens});
    W.member("rows", uint64_t{A->Rows});
    W.member("largest", A->Largest);
    W.member("max_difference", A->Difference);
    W.member("relative_error", A->RelativeError);
    W.member("bound", A->Bound);
    W.member("kl_mean", A->KlMean);
    W.member("same_top", uint64_t{A->SameTop});
    W.member("agrees", A->agrees());
    W.endObject();
  }
  W.endObject();
  std::printf("%s\n", W.text().c_str());
}

void reportText(const VerifyFlags &F, const llmc::Reader &R,
                const llmc::VerifyReport &Report,
                const std::optional<AgainstReport> &A) {
  std::printf("%s: whole, %u sections, %llu bytes of weights in %llu chunks\n"
              "identity %s\n",
              F.Artifact.c_str(), Report.Sections,
              static_cast<unsigned long long>(Report.WeightBytes),
              static_cast<unsigned long long>(Report.Chunks),
              R.identity().c_str());
  if (A)
    std::printf("against %s: %zu tokens, %zu rows compared: relative error "
                "%.2g (bound %.2g), largest difference %.2g of %.4g, KL %.2g, "
                "same top %zu of %zu\n",
                F.Against.c_str(), A->Tokens, A->Rows, A->RelativeError,
                A->Bound, A->Difference, A->Largest, A->KlMean, A->SameTop,
                A->Rows);
}

/// One line for exit 6.
void refuse(const VerifyFlags &F, const AgainstReport &A) {
  char Text[160];
  std::snprintf(Text, sizeof Text,
                " differ: relative error %.3g, expected at most %.3g",
                A.RelativeError, A.Bound);
  throw llmc::Error(LLMC_VERIFICATION, F.Artifact + " and " + F.Against + Text);
}

void verify(const VerifyFlags &F) {
  std::unique_ptr<llmc::Reader> R = check(llmc::Reader::open(F.Artifact));
  llmc::VerifyOptions O;
  O.Threads = F.Device.Threads;
  llmc::VerifyReport Report = check(llmc::verifyHashes(*R, O));
  std::optional<AgainstReport> A;
  if (!F.Against.empty())
    A = verifyAgainst({F.Artifact, F.Against, R->manifest().Model.Precision,
                       R->manifest().Model.Activations, F.AllowSymlinks,
                       F.Device});
  if (F.Json)
    reportJson(*R, Report, A);
  else
    reportText(F, *R, Report, A);
  if (A && !A->agrees())
    refuse(F, *A);
}

} // namespace

void checkWeights(const std::string &Artifact, uint32_t Threads) {
  std::unique_ptr<llmc::Reader> R = check(llmc::Reader::open(Artifact));
  llmc::VerifyOptions O;
  O.Threads = Threads;
  O.Identity = false;
  check(llmc::verifyHashes(*R, O));
}

void addInspect(CLI::App &App) {
  CLI::App *C = App.add_subcommand("inspect", "what an artifact holds");
  std::shared_ptr<InspectFlags> F = std::make_shared<InspectFlags>();
  C->add_option("artifact", F->Artifact, "compiled model")->required();
  C->add_flag("--json", F->O.Json, "as a JSON object");
  C->add_flag("--weights", F->O.Weights, "packed tensors and their error");
  C->add_flag("--plan", F->O.Plan, "memory");
  C->add_flag("--provenance", F->O.Provenance, "inputs, versions, flags");
  C->add_flag("--quality", F->O.Quality, "measured quality");
  C->add_flag("--kernels", F->O.Kernels, "CUDA kernels");
  C->add_flag("--launches", F->O.Launches, "CUDA launches of a step");
  C->add_option("--chip", F->O.Chip,
                "predict launches for this chip: a100, h200, rtx4090, …");
  C->footer("Example: llmc inspect model.llmc --weights");
  C->callback([F] {
    std::unique_ptr<llmc::Reader> R = check(llmc::Reader::open(F->Artifact));
    if (!F->O.Chip.empty() && !llmc::findGpuChip(F->O.Chip))
      usage("unknown chip '" + F->O.Chip + "'");
    std::string Text = llmc::inspectArtifact(*R, F->O);
    std::fwrite(Text.data(), 1, Text.size(), stdout);
  });
}

void addVerify(CLI::App &App) {
  CLI::App *C =
      App.add_subcommand("verify", "check an artifact against its hashes");
  std::shared_ptr<VerifyFlags> F = std::make_shared<VerifyFlags>();
  C->add_option("artifact", F->Artifact, "compiled model")->required();
  C->add_option("--against", F->Against,
                "compare logits with those of the ONNX graph; exit 6 when "
                "they differ");
  C->add_flag("--allow-symlinks", F->AllowSymlinks,
              "take external data of the ONNX model that is a symbolic link");
  F->Device.add(*C);
  C->add_flag("--json", F->Json, "as a JSON object");
  C->footer("Example: llmc verify model.llmc --against model.onnx");
  C->callback([F] { verify(*F); });
}

void addPlan(CLI::App &App) {
  CLI::App *C = App.add_subcommand("plan", "memory that an artifact needs");
  std::shared_ptr<PlanFlags> F = std::make_shared<PlanFlags>();
  C->add_option("artifact", F->Artifact, "compiled model")->required();
  C->add_option("--memory-budget", F->Budget,
                "such as 2GiB; exit 5 if it does not fit");
  C->add_flag("--json", F->Json, "as a JSON object");
  C->footer("Example: llmc plan model.llmc --memory-budget 2GiB");
  C->callback([F] { plan(*F); });
}

} // namespace llmcrun
