// llmc inspect, verify and plan: what an artifact holds, whether it is whole,
// what it needs.
#include "runtime/artifact/Inspect.h"
#include "runtime/artifact/Verify.h"
#include "runtime/base/Json.h"
#include "runtime/base/Size.h"
#include "tools/llmc-run/Commands.h"
#include "tools/llmc-run/Common.h"

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
  uint32_t Threads = 0;
  bool Json = false;
};

void verify(const VerifyFlags &F) {
  if (!F.Against.empty())
    throw llmc::Error(LLMC_UNSUPPORTED, "verify --against is not implemented");
  std::unique_ptr<llmc::Reader> R = check(llmc::Reader::open(F.Artifact));
  llmc::VerifyOptions O;
  O.Threads = F.Threads;
  llmc::VerifyReport Report = check(llmc::verifyHashes(*R, O));
  if (F.Json) {
    llmc::JsonWriter W;
    W.beginObject();
    W.member("identity", R->identity());
    W.member("sections", Report.Sections);
    W.member("weight_bytes", Report.WeightBytes);
    W.member("weight_chunks", Report.Chunks);
    W.endObject();
    std::printf("%s\n", W.text().c_str());
    return;
  }
  std::printf("%s: whole, %u sections, %llu bytes of weights in %llu chunks\n"
              "identity %s\n",
              F.Artifact.c_str(), Report.Sections,
              static_cast<unsigned long long>(Report.WeightBytes),
              static_cast<unsigned long long>(Report.Chunks),
              R->identity().c_str());
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
  C->footer("Example: llmc inspect model.llmc --weights");
  C->callback([F] {
    std::unique_ptr<llmc::Reader> R = check(llmc::Reader::open(F->Artifact));
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
                "compare numerics with an ONNX model (not implemented)");
  C->add_option("--threads", F->Threads, "threads (default: all)");
  C->add_flag("--json", F->Json, "as a JSON object");
  C->footer("Example: llmc verify model.llmc");
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
