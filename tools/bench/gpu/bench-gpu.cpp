// bench-gpu: what a GPU gives, and what an artifact makes of it, as JSON on
// standard output. tools/bench/gpu/run drives it.
//
//   bench-gpu probe [--bytes N]
//   bench-gpu speed ARTIFACT [--batch 1,8,32] [--prompt N] [--depth N]
//             [--steps N] [--kernels]
//   bench-gpu soak ARTIFACT [--batch N] [--steps N]
//
// --device is cuda (default) or cuda-sim. Errors go to standard error, with the
// exit codes of llmc.
#include "runtime/artifact/Reader.h"
#include "runtime/base/Hash.h"
#include "runtime/base/Json.h"
#include "tools/bench/gpu/BandwidthProbe.h"
#include "tools/bench/gpu/Steps.h"

#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdio>
#include <cstdlib>

using namespace llmc;

namespace {

struct Options {
  std::string Artifact, Device = "cuda";
  std::vector<uint32_t> Batches = {1};
  uint32_t Batch = 4, Prompt = 512, Depth = 64, Steps = 64;
  uint64_t Bytes = uint64_t{1} << 30;
  bool Kernels = false;
};

double seconds() {
  return std::chrono::duration<double>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

/// The artifact, its device and its program there.
struct Loaded {
  std::unique_ptr<Reader> File;
  std::unique_ptr<Device> Dev;
  std::unique_ptr<Executable> Exe;
  std::string Target;
  uint64_t WeightBytes = 0;
};

Result<Loaded> load(const Options &O, uint32_t Sequences, uint32_t Context) {
  Loaded L;
  LLMC_ASSIGN_OR_RETURN(L.File, Reader::open(O.Artifact));
  LLMC_ASSIGN_OR_RETURN(L.Dev, openDevice(O.Device));
  std::string Why = "it has no code for a GPU";
  for (const TargetView &T : L.File->targets()) {
    ProgramView P = {T.Target, T.Program, T.Code, T.Ptx, T.Weights};
    std::string Reason = L.Dev->whyNot(P);
    if (!Reason.empty()) {
      Why = Reason;
      continue;
    }
    DeviceLoadOptions D;
    D.Pages = Sequences * ((Context + 31) / 32);
    LLMC_ASSIGN_OR_RETURN(L.Exe, L.Dev->load(P, D));
    L.Target = T.Target;
    L.WeightBytes = T.Weights.size();
    return L;
  }
  return doesNotFitError(O.Artifact + ": " + Why);
}

Status probe(const Options &O, JsonWriter &W) {
  const char *Sim = std::getenv("LLMC_CUDASIM");
  std::string Library = O.Device == "cuda" ? "libcuda.so.1"
                        : Sim && *Sim      ? Sim
                                           : "libllmc-cudasim.so";
  LLMC_ASSIGN_OR_RETURN(bench::Bandwidth B,
                        bench::probeBandwidth(Library, O.Bytes));
  W.member("chip", std::string_view(B.Chip)).member("read_gbs", B.ReadGBs);
  W.member("sm", B.Architecture);
  W.member("copy_gbs", B.CopyGBs).member("launch_us", B.LaunchUs);
  return Status::success();
}

void writeKernels(JsonWriter &W, const std::vector<KernelTime> &Times) {
  W.key("kernels").beginArray();
  for (const KernelTime &T : Times) {
    W.beginObject().member("name", std::string_view(T.Kernel));
    W.member("launches", T.Launches).member("us", T.Microseconds);
    W.member("predicted_us", T.Predicted).member("bytes", T.Bytes);
    W.member("macs", T.Macs).endObject();
  }
  W.endArray();
}

/// Prompts, then decoding behind Depth tokens, at one batch size.
Status speedAt(const Options &O, Executable &E, uint32_t Batch, JsonWriter &W) {
  uint32_t Context = std::max(O.Prompt, O.Depth) + O.Steps + 16;
  LLMC_ASSIGN_OR_RETURN(bench::Steps S, bench::Steps::make(E, Batch, Context));
  W.beginObject().member("batch", Batch);
  if (O.Prompt != 0) {
    S.restart(1);
    LLMC_RETURN_IF_ERROR(S.prompt(O.Prompt)); // makes graphs
    S.restart(1);
    double Begin = seconds();
    LLMC_RETURN_IF_ERROR(S.prompt(O.Prompt));
    double Took = seconds() - Begin;
    W.member("prefill_ms", Took * 1e3 / Batch);
    W.member("prefill_tokens_per_s", double(Batch) * O.Prompt / Took);
  }
  S.restart(1);
  LLMC_RETURN_IF_ERROR(S.prompt(O.Depth));
  for (int I = 0; I != 3; ++I)
    LLMC_RETURN_IF_ERROR(S.decode());
  double Begin = seconds();
  for (uint32_t I = 0; I != O.Steps; ++I)
    LLMC_RETURN_IF_ERROR(S.decode());
  double Ms = (seconds() - Begin) * 1e3 / std::max(O.Steps, 1u);
  W.member("decode_ms", Ms).member("decode_tokens_per_s", 1e3 * Batch / Ms);
  if (O.Kernels) {
    LLMC_ASSIGN_OR_RETURN(std::vector<KernelTime> Times, S.timeDecode(10));
    double Predicted = 0;
    for (const KernelTime &T : Times)
      Predicted += T.Predicted * T.Launches / 1e3;
    W.member("predicted_ms", Predicted);
    writeKernels(W, Times);
  }
  W.endObject();
  return Status::success();
}

Status speed(const Options &O, JsonWriter &W) {
  uint32_t Most = *std::max_element(O.Batches.begin(), O.Batches.end());
  uint32_t Context = std::max(O.Prompt, O.Depth) + O.Steps + 16;
  double Begin = seconds();
  LLMC_ASSIGN_OR_RETURN(Loaded L, load(O, Most, Context));
  W.member("target", std::string_view(L.Target));
  W.member("weight_bytes", L.WeightBytes);
  W.member("load_s", seconds() - Begin);
  W.member("prompt", O.Prompt).member("depth", O.Depth);
  W.key("speed").beginArray();
  for (uint32_t B : O.Batches)
    LLMC_RETURN_IF_ERROR(speedAt(O, *L.Exe, B, W));
  W.endArray();
  return Status::success();
}

/// The same prompts and steps again and again: all logits must have the bits of
/// the first time. What reads too early or races shows here, sometimes.
Status soak(const Options &O, JsonWriter &W) {
  constexpr uint32_t Prompt = 37, PerRound = 40;
  LLMC_ASSIGN_OR_RETURN(Loaded L, load(O, O.Batch, Prompt + PerRound));
  LLMC_ASSIGN_OR_RETURN(bench::Steps S,
                        bench::Steps::make(*L.Exe, O.Batch, Prompt + PerRound));
  std::vector<uint64_t> First;
  uint32_t Done = 0, Different = 0, Rounds = 0;
  for (; Done < O.Steps; ++Rounds) {
    S.restart(5);
    LLMC_RETURN_IF_ERROR(S.prompt(Prompt));
    for (uint32_t I = 0; I != PerRound && Done < O.Steps; ++I, ++Done) {
      LLMC_RETURN_IF_ERROR(S.decode());
      const std::vector<float> &V = S.logits();
      uint64_t Hash = xxh3({reinterpret_cast<const uint8_t *>(V.data()),
                            V.size() * sizeof(float)});
      if (Rounds == 0)
        First.push_back(Hash);
      else
        Different += Hash != First[I];
    }
  }
  W.member("steps", Done).member("rounds", Rounds);
  W.member("different", Different).member("batch", O.Batch);
  return Status::success();
}

int finish(const Status &S, JsonWriter &W) {
  if (!S.ok()) {
    std::fprintf(stderr, "bench-gpu: error: %s\n", S.message().c_str());
    for (const std::string &N : S.notes())
      std::fprintf(stderr, "bench-gpu: note: %s\n", N.c_str());
    return static_cast<int>(S.code());
  }
  W.endObject();
  std::printf("%s\n", W.text().c_str());
  return 0;
}
} // namespace

int main(int argc, char **argv) {
  Options O;
  CLI::App App("speed of artifacts on a GPU");
  App.require_subcommand(1);
  CLI::App *Probe = App.add_subcommand("probe", "bandwidth, launch overhead");
  CLI::App *Speed = App.add_subcommand("speed", "prefill and decode");
  CLI::App *Soak = App.add_subcommand("soak", "the same steps, compared");
  for (CLI::App *C : {Probe, Speed, Soak})
    C->add_option("--device", O.Device, "cuda, cuda:N or cuda-sim");
  for (CLI::App *C : {Speed, Soak}) {
    C->add_option("artifact", O.Artifact, "compiled model")->required();
    C->add_option("--steps", O.Steps, "decode steps");
  }
  Probe->add_option("--bytes", O.Bytes, "bytes to read");
  Speed->add_option("--batch", O.Batches, "sequences at once")->delimiter(',');
  Speed->add_option("--prompt", O.Prompt, "tokens; 0: no prefill");
  Speed->add_option("--depth", O.Depth, "tokens in the cache");
  Speed->add_flag("--kernels", O.Kernels, "time each kernel, too");
  Soak->add_option("--batch", O.Batch, "sequences at once");
  CLI11_PARSE(App, argc, argv);
  JsonWriter W;
  W.beginObject();
  if (Probe->parsed())
    return finish(probe(O, W), W);
  return finish(Speed->parsed() ? speed(O, W) : soak(O, W), W);
}
