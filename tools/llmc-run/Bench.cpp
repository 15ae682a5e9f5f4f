// llmc bench: prompt and decode speed, and decode as a share of what the
// machine's memory could give. Each number is the best of a few runs: what is
// in the way of a run is other programs, never luck.
#include "tools/llmc-run/Commands.h"
#include "tools/llmc-run/Common.h"
#include "tools/llmc-run/ReadProbe.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <fcntl.h>
#include <memory>
#include <spawn.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

extern char **environ;

namespace llmcrun {

namespace {

using Clock = std::chrono::steady_clock;

double since(Clock::time_point Start) {
  return std::chrono::duration<double>(Clock::now() - Start).count();
}

struct BenchFlags {
  std::string Artifact, Device = "auto";
  uint32_t Prompt = 512, Decode = 128, Repeat = 3;
  std::vector<uint32_t> Depths = {0}, Threads = {0}, Batches = {1};
  bool Cold = false, Json = false, Kernels = false;
};

struct Measurement {
  const char *What; ///< "prefill", "decode"
  uint32_t Threads, Depth, Batch, Tokens;
  double Seconds;
  double TokensPerSecond; ///< of all sequences together
  double BytesPerSecond;  ///< weights read; 0 for prefill
  double Share;           ///< of the read probe
};

class Bench {
public:
  Bench(const BenchFlags &F) : F(F) {}
  void run();
  double cold() const;

  std::vector<Measurement> All;
  std::vector<std::pair<uint32_t, double>> Probes;

private:
  void measure(llmc::Engine &E, const llmc_model_info &I, uint32_t Threads,
               uint32_t Depth, uint32_t Batch);
  double prefillSeconds(llmc::Engine &E, const llmc_model_info &I,
                        uint32_t Depth);
  double decodeSeconds(llmc::Engine &E, const llmc_model_info &I,
                       uint32_t Depth, uint32_t Batch);

  const BenchFlags &F;
};

/// Any token will do: speed does not depend on which.
int32_t tokenAt(uint32_t I, uint32_t Vocab) {
  return static_cast<int32_t>((I * 7919u + 11u) % Vocab);
}

void feed(llmc::Engine &E, const llmc::Sequence &S, uint32_t Count,
          const llmc_model_info &I, bool Logits) {
  std::vector<float> Out(Logits ? I.outputs : 0);
  for (uint32_t At = 0; At < Count;) {
    throwIfInterrupted();
    uint32_t N = std::min(Count - At, I.max_step_tokens);
    std::vector<llmc_row> Rows;
    for (uint32_t K = 0; K < N; ++K)
      Rows.push_back({S.get(), tokenAt(At + K, I.vocab), LLMC_PROMPT,
                      Logits && At + K + 1 == Count});
    E.forward(Rows, Out);
    At += N;
  }
}

double Bench::prefillSeconds(llmc::Engine &E, const llmc_model_info &I,
                             uint32_t Depth) {
  llmc::Sequence S = E.sequence();
  feed(E, S, Depth, I, false);
  double Best = 0;
  for (uint32_t R = 0; R < F.Repeat; ++R) {
    S.truncate(Depth);
    Clock::time_point Start = Clock::now();
    feed(E, S, F.Prompt, I, true);
    double T = since(Start);
    Best = R == 0 ? T : std::min(Best, T);
  }
  return Best;
}

double Bench::decodeSeconds(llmc::Engine &E, const llmc_model_info &I,
                            uint32_t Depth, uint32_t Batch) {
  std::vector<llmc::Sequence> All;
  for (uint32_t B = 0; B < Batch; ++B) {
    All.push_back(E.sequence());
    feed(E, All.back(), std::max(Depth, 1u), I, false);
  }
  std::vector<float> Logits(size_t{Batch} * I.outputs);
  double Best = 0;
  for (uint32_t R = 0; R < F.Repeat; ++R) {
    for (llmc::Sequence &S : All)
      S.truncate(std::max(Depth, 1u));
    Clock::time_point Start = Clock::now();
    for (uint32_t N = 0; N < F.Decode; ++N) {
      std::vector<llmc_row> Rows;
      for (const llmc::Sequence &S : All)
        Rows.push_back({S.get(), tokenAt(N, I.vocab), LLMC_GENERATED, true});
      E.forward(Rows, Logits);
      throwIfInterrupted();
    }
    double T = since(Start);
    Best = R == 0 ? T : std::min(Best, T);
  }
  return Best;
}

void Bench::measure(llmc::Engine &E, const llmc_model_info &I, uint32_t Threads,
                    uint32_t Depth, uint32_t Batch) {
  double Probe = Probes.back().second;
  if (F.Prompt != 0 && Batch == F.Batches.front()) {
    double S = prefillSeconds(E, I, Depth);
    All.push_back(
        {"prefill", Threads, Depth, 1, F.Prompt, S, F.Prompt / S, 0, 0});
  }
  if (F.Decode == 0)
    return;
  double S = decodeSeconds(E, I, Depth, Batch);
  double Bytes = double(I.weight_bytes) * F.Decode / S;
  All.push_back({"decode", Threads, Depth, Batch, F.Decode, S,
                 double(F.Decode) * Batch / S, Bytes,
                 Probe > 0 ? Bytes / Probe : 0});
}

void Bench::run() {
  for (uint32_t Threads : F.Threads) {
    uint32_t Real = Threads != 0
                        ? Threads
                        : std::max(1u, std::thread::hardware_concurrency());
    Probes.emplace_back(Real, readBandwidth(Real));
    DeviceFlags D;
    D.Device = F.Device;
    D.Threads = Threads;
    llmc::Model M = D.load(F.Artifact);
    llmc_model_info I = M.info();
    llmc::Engine E(M);
    for (uint32_t Depth : F.Depths)
      for (uint32_t Batch : F.Batches) {
        uint64_t Longest = uint64_t{Depth} + std::max(F.Prompt, F.Decode + 1);
        if (Longest > I.max_context || Batch > I.max_batch) {
          std::fprintf(stderr,
                       "llmc: note: depth %u, batch %u left out: the artifact "
                       "takes %u tokens and %u sequences\n",
                       Depth, Batch, I.max_context, I.max_batch);
          continue;
        }
        measure(E, I, Real, Depth, Batch);
      }
  }
}

/// Milliseconds from starting a process to its end behind one token.
double Bench::cold() const {
  std::string Self = "/proc/self/exe";
  std::vector<std::string> Words = {
      "llmc-run",     "run",   F.Artifact,      "--tokens", "1,2,3,4,5,6,7,8",
      "--max-tokens", "1",     "--temperature", "0",        "--json",
      "--device",     F.Device};
  std::vector<char *> Arguments;
  for (std::string &W : Words)
    Arguments.push_back(W.data());
  Arguments.push_back(nullptr);
  double Best = 0;
  for (int R = 0; R < 5; ++R) {
    posix_spawn_file_actions_t Actions;
    posix_spawn_file_actions_init(&Actions);
    posix_spawn_file_actions_addopen(&Actions, STDOUT_FILENO, "/dev/null",
                                     O_WRONLY, 0);
    Clock::time_point Start = Clock::now();
    pid_t Child = 0;
    int Status = -1;
    bool Started = posix_spawn(&Child, Self.c_str(), &Actions, nullptr,
                               Arguments.data(), environ) == 0;
    posix_spawn_file_actions_destroy(&Actions);
    if (!Started || waitpid(Child, &Status, 0) < 0 || Status != 0)
      throw llmc::Error(LLMC_INTERNAL, "the cold run did not succeed");
    double Ms = since(Start) * 1e3;
    Best = R == 0 ? Ms : std::min(Best, Ms);
  }
  return Best;
}

void printText(const Bench &B, double ColdMs, bool Cold) {
  for (const auto &[Threads, Bytes] : B.Probes)
    std::printf("read probe, %u threads: %.1f GB/s\n", Threads, Bytes / 1e9);
  std::printf("%-8s %8s %7s %6s %12s %8s %7s\n", "", "threads", "depth",
              "batch", "tokens/s", "GB/s", "share");
  for (const Measurement &M : B.All) {
    std::printf("%-8s %8u %7u %6u %12.1f", M.What, M.Threads, M.Depth, M.Batch,
                M.TokensPerSecond);
    if (M.BytesPerSecond > 0)
      std::printf(" %8.1f %6.1f%%", M.BytesPerSecond / 1e9, M.Share * 100);
    std::printf("\n");
  }
  if (Cold)
    std::printf("cold process to first token: %.0f ms\n", ColdMs);
}

void printJson(const Bench &B, double ColdMs, bool Cold) {
  llmc::JsonWriter W;
  W.beginObject().key("probes").beginArray();
  for (const auto &[Threads, Bytes] : B.Probes)
    W.beginObject()
        .member("threads", Threads)
        .member("gb_per_s", Bytes / 1e9)
        .endObject();
  W.endArray().key("results").beginArray();
  for (const Measurement &M : B.All) {
    W.beginObject();
    W.member("test", M.What);
    W.member("threads", M.Threads);
    W.member("depth", M.Depth);
    W.member("batch", M.Batch);
    W.member("tokens", M.Tokens);
    W.member("seconds", M.Seconds);
    W.member("tokens_per_s", M.TokensPerSecond);
    if (M.BytesPerSecond > 0) {
      W.member("gb_per_s", M.BytesPerSecond / 1e9);
      W.member("probe_share", M.Share);
    }
    W.endObject();
  }
  W.endArray();
  if (Cold)
    W.member("cold_ms", ColdMs);
  W.endObject();
  std::printf("%s\n", W.text().c_str());
}

} // namespace

void addBench(CLI::App &App) {
  CLI::App *C = App.add_subcommand(
      "bench", "speed, and the share of the memory bandwidth");
  std::shared_ptr<BenchFlags> F = std::make_shared<BenchFlags>();
  C->add_option("artifact", F->Artifact, "compiled model")->required();
  C->add_option("-p", F->Prompt, "prompt tokens (default 512; 0: none)");
  C->add_option("-n", F->Decode, "decoded tokens (default 128; 0: none)");
  C->add_option("-d", F->Depths, "tokens in the cache before (default 0)")
      ->delimiter(',');
  C->add_option("-t", F->Threads, "threads (default: all)")->delimiter(',');
  C->add_option("-b", F->Batches, "sequences at once (default 1)")
      ->delimiter(',');
  C->add_option("-r", F->Repeat, "runs, of which the best counts (default 3)");
  C->add_flag("--cold", F->Cold, "also start to first token, in a process");
  C->add_flag("--kernels", F->Kernels, "per kernel (not implemented)");
  C->add_flag("--json", F->Json, "as a JSON object");
  C->add_option("--device", F->Device, "auto, cpu, cuda, cuda:N, cuda-sim");
  C->footer("Example: llmc bench model.llmc -p 512 -n 128 -t 1,2");
  C->callback([F] {
    if (F->Kernels)
      throw llmc::Error(LLMC_UNSUPPORTED, "bench --kernels is not implemented");
    if (F->Repeat == 0)
      usage("-r is 0, expected at least 1");
    catchInterrupts();
    Bench B(*F);
    B.run();
    double ColdMs = F->Cold ? B.cold() : 0;
    (F->Json ? printJson : printText)(B, ColdMs, F->Cold);
  });
}

} // namespace llmcrun
