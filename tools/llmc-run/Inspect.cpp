// llmc inspect, verify and plan: what an artifact holds, whether it is whole,
// what it needs.
#include "runtime/artifact/Inspect.h"
#include "runtime/artifact/Verify.h"
#include "tools/llmc-run/Commands.h"
#include "tools/llmc-run/Common.h"

#include <CLI/CLI.hpp>
#include <charconv>
#include <cstdio>
#include <memory>

namespace llmcrun {

namespace {

/// "2GiB", "512MB", "1000" to bytes.
uint64_t parseSize(const std::string &Text) {
  double Number = 0;
  const char *End = Text.data() + Text.size();
  std::from_chars_result R = std::from_chars(Text.data(), End, Number);
  std::string Unit(R.ptr, static_cast<size_t>(End - R.ptr));
  static const std::pair<const char *, double> Units[] = {
      {"", 1},     {"B", 1},        {"kB", 1e3},      {"MB", 1e6},
      {"GB", 1e9}, {"KiB", 1024.0}, {"MiB", 1 << 20}, {"GiB", 1u << 30}};
  for (const auto &[Name, Factor] : Units)
    if (R.ec == std::errc() && Number >= 0 && Unit == Name)
      return static_cast<uint64_t>(Number * Factor);
  usage("size '" + Text + "' is not of the form 2GiB or 500MB");
}

struct Fit {
  uint64_t Fixed;   ///< weights and arena
  uint64_t Context; ///< tokens that fit beside them
};

Fit fitOf(const llmc::Manifest &M, const llmc::ManifestPlan &P,
          uint64_t Budget) {
  uint64_t Arena = P.ArenaBytes.empty() ? 0 : P.ArenaBytes.back();
  uint64_t Fixed = P.WeightBytes + Arena;
  uint64_t Pages = Budget == 0 ? P.Pages
                   : Budget <= Fixed || P.PageBytes == 0
                       ? 0
                       : (Budget - Fixed) / P.PageBytes;
  uint64_t Context = Pages * P.PageTokens;
  if (M.Model.MaxContext != 0)
    Context = std::min<uint64_t>(Context, M.Model.MaxContext);
  return {Fixed, Context};
}

void planText(const llmc::Manifest &M, uint64_t Budget) {
  for (const llmc::ManifestPlan &P : M.Plans) {
    Fit F = fitOf(M, P, Budget);
    double Mb = 1e6;
    std::printf("%s\n", P.Target.c_str());
    std::printf("  weights          %10.1f MB\n", P.WeightBytes / Mb);
    std::printf("  arena            %10.1f MB\n",
                (F.Fixed - P.WeightBytes) / Mb);
    std::printf("  cache, per token %10.1f kB\n",
                P.PageTokens ? P.PageBytes / 1e3 / P.PageTokens : 0.0);
    std::printf("  cache, all       %10.1f MB\n",
                double(P.PageBytes) * P.Pages / Mb);
    std::printf("  largest context  %10llu tokens\n",
                static_cast<unsigned long long>(F.Context));
  }
}

void planJson(const llmc::Manifest &M, uint64_t Budget) {
  llmc::JsonWriter W;
  W.beginObject().key("targets").beginArray();
  for (const llmc::ManifestPlan &P : M.Plans) {
    Fit F = fitOf(M, P, Budget);
    W.beginObject();
    W.member("target", P.Target);
    W.member("weight_bytes", P.WeightBytes);
    W.member("arena_bytes", F.Fixed - P.WeightBytes);
    W.member("kv_page_bytes", P.PageBytes);
    W.member("kv_page_tokens", P.PageTokens);
    W.member("kv_bytes_per_token",
             P.PageTokens ? P.PageBytes / P.PageTokens : uint64_t{0});
    W.member("kv_pages", P.Pages);
    W.member("kv_bytes", P.PageBytes * P.Pages);
    W.member("total_bytes", F.Fixed + P.PageBytes * P.Pages);
    W.member("largest_context", F.Context);
    W.endObject();
  }
  W.endArray().endObject();
  std::printf("%s\n", W.text().c_str());
}

struct PlanFlags {
  std::string Artifact, Budget;
  bool Json = false;
};

void plan(const PlanFlags &F) {
  std::unique_ptr<llmc::Reader> R = check(llmc::Reader::open(F.Artifact));
  uint64_t Budget = F.Budget.empty() ? 0 : parseSize(F.Budget);
  (F.Json ? planJson : planText)(R->manifest(), Budget);
  for (const llmc::ManifestPlan &P : R->manifest().Plans)
    if (Budget != 0 && fitOf(R->manifest(), P, Budget).Context == 0)
      throw llmc::Error(
          LLMC_DOES_NOT_FIT,
          P.Target + " needs " +
              std::to_string(P.WeightBytes +
                             (P.ArenaBytes.empty() ? 0 : P.ArenaBytes.back()) +
                             P.PageBytes) +
              " bytes at least, the budget is " + std::to_string(Budget));
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
                "largest context within this size, such as 2GiB");
  C->add_flag("--json", F->Json, "as a JSON object");
  C->footer("Example: llmc plan model.llmc --memory-budget 2GiB");
  C->callback([F] { plan(*F); });
}

} // namespace llmcrun
