// bench-kernels: speed of the CPU kernels beside a read probe of the same
// minute, and of whole steps of a SmolLM2-shaped model with random weights.
//
//   bench-kernels [--threads N] [--isa avx512vnni|avx2] [--cpu-time]
//   [gemv|gemm|layer|step …]
//
// Speeds are the best of several short runs: the machine may be shared.
#include "compiler/kernels/Constants.h"
#include "compiler/kernels/cpu/Native.h"
#include "compiler/kernels/cpu/Scratch.h"
#include "runtime/device/cpu/StepBarrier.h"
#include "runtime/device/cpu/ThreadPool.h"
#include "test/runtime/device/SyntheticModel.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <string>
#include <vector>

using namespace llmc;
using namespace llmc::kernels;

namespace {
/// With --cpu-time: time of this thread on a core, for tuning one thread's code
/// on a machine that others use too.
bool CpuTime = false;

double seconds() {
  timespec T;
  clock_gettime(CpuTime ? CLOCK_THREAD_CPUTIME_ID : CLOCK_MONOTONIC, &T);
  return static_cast<double>(T.tv_sec) + 1e-9 * static_cast<double>(T.tv_nsec);
}

/// Best time of one call, over at least Least seconds and three calls.
template <typename Function> double best(Function Fn, double Least = 0.25) {
  Fn();
  double Best = 1e30, Start = seconds();
  for (int I = 0; I < 3 || seconds() - Start < Least; ++I) {
    double T = seconds();
    Fn();
    Best = std::min(Best, seconds() - T);
  }
  return Best;
}

struct Aligned {
  explicit Aligned(size_t Bytes)
      : Size(Bytes), Data(static_cast<uint8_t *>(std::aligned_alloc(
                         4096, (Bytes + 4095) / 4096 * 4096))) {
    for (size_t I = 0; I < Bytes; ++I)
      Data[I] = static_cast<uint8_t>(I * 37 % 251);
  }
  ~Aligned() { std::free(Data); }
  Aligned(const Aligned &) = delete;
  float *floats() { return reinterpret_cast<float *>(Data); }
  size_t Size;
  uint8_t *Data;
};

/// Threads and one step's arrays.
class Runner {
public:
  explicit Runner(uint32_t Threads) : Pool(ThreadPool::create(Threads).take()) {
    Args.abi = LLMC_STEP_ABI;
    Args.count = LLMC_ARG_COUNT;
    Args.ptr[LLMC_ARG_COUNTS] = &Counts;
    Args.ptr[LLMC_ARG_BARRIER] = Barrier.get();
  }
  template <typename Function> void run(Function Fn) {
    struct Job {
      Runner *Self;
      Function *Fn;
    } J{this, &Fn};
    Pool->run(
        [](void *A, uint32_t Thread) {
          Job *J = static_cast<Job *>(A);
          LlmcCtx C{&J->Self->Args, &J->Self->Counts, Thread,
                    J->Self->Pool->size()};
          (*J->Fn)(&C);
        },
        &J);
  }
  void setRows(std::vector<int32_t> &Positions, std::vector<int32_t> &Seq,
               std::vector<uint32_t> &Table) {
    Args.ptr[LLMC_ARG_POSITIONS] = Positions.data();
    Args.ptr[LLMC_ARG_ROW_SEQ] = Seq.data();
    Args.ptr[LLMC_ARG_PAGE_TABLE] = Table.data();
  }
  LlmcCounts Counts{};

private:
  LlmcStepArgs Args{};
  StepBarrier Barrier;
  std::unique_ptr<ThreadPool> Pool;
};

/// GB/s of reading Buffer with all threads.
double probe(Runner &R, Aligned &Buffer) {
  static uint64_t Sink;
  double T = best([&] {
    R.run([&](const LlmcCtx *C) {
      size_t Words = Buffer.Size / 64;
      size_t From = Words * C->thread / C->threads,
             To = Words * (C->thread + 1) / C->threads;
      typedef uint64_t Line __attribute__((vector_size(64)));
      const Line *P = reinterpret_cast<const Line *>(Buffer.Data);
      Line A{}, B{};
      for (size_t I = From; I + 1 < To; I += 2) {
        A += P[I];
        B += P[I + 1];
      }
      A += B;
      __atomic_store_n(&Sink, A[0] + A[7], __ATOMIC_RELAXED);
    });
  });
  return Buffer.Size / T / 1e9;
}

using Linear = decltype(&k_linear_ref);

/// One int8 linear with weights larger than the caches; Prompt rows or not.
void benchLinear(Runner &R, Linear Fn, Aligned &Weights, int64_t K, int64_t T,
                 bool Prompt, double ProbeGbs) {
  int64_t PanelBytes = (K + 63) / 64 * 1088;
  int64_t N = T > 16 ? 1536 : int64_t(Weights.Size) / PanelBytes * 16;
  Aligned X(T * K * 4), Out(T * N * 4), Xq(T * xqBytesPerToken(K, XI8));
  for (int64_t I = 0; I < T * K; ++I)
    X.floats()[I] = static_cast<float>(I * 7919 % 101 - 50) / 50;
  R.Counts.tokens = static_cast<uint32_t>(T);
  R.Counts.prompt_tokens = Prompt ? static_cast<uint32_t>(T) : 0;
  double Time = best([&] {
    R.run([&](const LlmcCtx *C) {
      Fn(C, X.floats(), nullptr, nullptr, Weights.Data, nullptr, nullptr,
         Out.floats(), Xq.Data, K, N, WI8B32, XI8, NormNone, 0, 0, RowsT, 0.0f);
    });
  });
  double Gbs = N / 16 * PanelBytes / Time / 1e9;
  double Gops = 2.0 * T * N * K / Time / 1e9;
  std::printf("linear k %5ld n %6ld rows %4ld %s: %7.1f GB/s (%3.0f %% of the "
              "probe), %7.1f Gop/s\n",
              long(K), long(N), long(T), Prompt ? "prompt   " : "generated",
              Gbs, 100 * Gbs / ProbeGbs, Gops);
}

/// qkv and attention of one SmolLM2 layer: T rows from position Start on.
void benchLayer(Runner &R, const std::string &Isa, Aligned &Weights, int64_t T,
                int64_t Start, bool Prompt) {
  constexpr int64_t K = 576, Heads = 9, KvHeads = 3, Dim = 64;
  constexpr int64_t Stride = KvHeads * 2 * Dim * 64 * 2;
  int64_t Pages = (Start + T + 63) / 64;
  Aligned X(T * K * 4), Q(T * K * 4), Out(T * K * 4), Pool(Pages * Stride),
      Rope(T * Dim * 4), Xq(T * xqBytesPerToken(K, XI8)),
      Partial(attentionPartialBytes(Heads, Dim, Pages * 64));
  std::memset(Pool.Data, 0, Pool.Size);
  std::memset(Rope.Data, 0, Rope.Size);
  for (int64_t I = 0; I < T * K; ++I)
    X.floats()[I] = Q.floats()[I] =
        static_cast<float>(I * 7919 % 101 - 50) / 50;
  std::vector<int32_t> Positions(T), Seq(T);
  std::vector<uint32_t> Table(Pages);
  for (int64_t I = 0; I < T; ++I)
    Positions[I] = static_cast<int32_t>(Start + I);
  for (int64_t I = 0; I < Pages; ++I)
    Table[I] = static_cast<uint32_t>(I);
  R.setRows(Positions, Seq, Table);
  R.Counts.tokens = static_cast<uint32_t>(T);
  R.Counts.prompt_tokens = Prompt ? static_cast<uint32_t>(T) : 0;
  R.Counts.pages_per_sequence = static_cast<uint32_t>(Pages);
  bool Avx2 = Isa == "avx2";
  double Qkv = best([&] {
    R.run([&](const LlmcCtx *C) {
      (Avx2 ? k_qkv_avx2 : k_qkv_avx512vnni)(
          C, X.floats(), nullptr, nullptr, Weights.Data, nullptr, Rope.floats(),
          Pool.Data, Q.floats(), Xq.Data, K, Heads, KvHeads, Dim, Dim, Dim / 2,
          0, WI8B32, XI8, NormRms, KvF16, Stride, 1e-5f);
    });
  });
  double Attention = best([&] {
    R.run([&](const LlmcCtx *C) {
      (Avx2 ? k_attention_avx2 : k_attention_avx512vnni)(
          C, Q.floats(), Pool.Data, Out.floats(), Partial.floats(), nullptr,
          nullptr, Heads, KvHeads, Dim, Dim, 0, 0, KvF16, Stride, 0.125f, 0.0f);
    });
  });
  std::printf("SmolLM2 layer, %4ld rows at %4ld: qkv %8.1f us, attention %8.1f "
              "us\n",
              long(T), long(Start), Qkv * 1e6, Attention * 1e6);
}

/// Steps of a SmolLM2-shaped model through the emitter and the device.
int benchStep(uint32_t Threads, const std::string &Isa, double ProbeGbs) {
  test::SyntheticShape S;
  S.Layers = 30;
  S.Hidden = 576;
  S.Heads = 9;
  S.KvHeads = 3;
  S.HeadDim = 64;
  S.Inner = 1536;
  S.Vocab = 49152;
  S.MaxTokens = 512;
  S.MaxContext = 8192;
  S.MaxSequences = 16;
  S.Pages = 160;
  S.Target = Isa == "avx2" ? "x86-64-v3" : "x86-64-avx512vnni";
  test::SyntheticModel M(S);
  double Start = seconds();
  if (Status St = M.build(); !St.ok()) {
    std::fprintf(stderr, "error: %s\n", St.message().c_str());
    return 1;
  }
  std::printf("model made in %.2f s, image %zu bytes\n", seconds() - Start,
              M.image().size());
  Result<std::unique_ptr<Device>> D = openDevice("cpu");
  Result<std::unique_ptr<Executable>> E = (*D)->load(M.view(), {Threads, 0});
  if (!E) {
    std::fprintf(stderr, "error: %s\n", E.status().message().c_str());
    return 1;
  }
  std::vector<uint32_t> Table(16 * 128);
  for (size_t I = 0; I < Table.size(); ++I)
    Table[I] = I % 160;
  std::vector<float> Logits(16 * S.Vocab);
  auto Run = [&](int T, int Start, bool Prompt, bool Batch) {
    std::vector<int32_t> Ids(T), Pos(T), Seq(T), Rows;
    for (int I = 0; I < T; ++I) {
      Ids[I] = I * 31 % S.Vocab;
      Pos[I] = Batch ? Start : Start + I;
      Seq[I] = Batch ? I : 0;
      if (Batch || I == T - 1)
        Rows.push_back(I);
    }
    StepInput In;
    In.Ids = Ids;
    In.Positions = Pos;
    In.RowSequence = Seq;
    In.PromptRows = Prompt ? T : 0;
    In.Sequences = 16;
    In.PagesPerSequence = 128;
    In.PageTable = Table;
    In.LogitRows = Rows;
    In.Logits = Logits;
    double Time = best(
        [&] {
          Status St = (*E)->step(In);
          if (!St.ok()) {
            std::fprintf(stderr, "error: %s\n", St.message().c_str());
            std::exit(1);
          }
        },
        0.5);
    double Gbs = M.weightBytes() / Time / 1e9;
    std::printf("step %3d %s rows at %4d: %8.3f ms, %7.1f tok/s, weights at "
                "%5.1f GB/s (%3.0f %% of the probe)\n",
                T, Prompt ? "prompt   " : "generated", Start, Time * 1e3,
                T / Time, Gbs, 100 * Gbs / ProbeGbs);
  };
  Run(512, 0, true, false);
  Run(64, 0, true, false);
  Run(1, 0, false, false);
  Run(1, 500, false, false);
  Run(1, 4095, false, false);
  Run(4, 60, false, true);
  Run(8, 60, false, true);
  Run(16, 60, false, true);
  return 0;
}
} // namespace

int main(int Argc, char **Argv) {
  uint32_t Threads = 2;
  std::string Isa = hasAvx512Vnni() ? "avx512vnni" : "avx2";
  std::vector<std::string> What;
  for (int I = 1; I < Argc; ++I) {
    std::string A = Argv[I];
    if (A == "--threads" && I + 1 < Argc)
      Threads = static_cast<uint32_t>(std::atoi(Argv[++I]));
    else if (A == "--cpu-time")
      CpuTime = true;
    else if (A == "--isa" && I + 1 < Argc)
      Isa = Argv[++I];
    else
      What.push_back(A);
  }
  auto Wanted = [&](const char *Name) {
    return What.empty() || std::count(What.begin(), What.end(), Name);
  };
  Runner R(Threads);
  Aligned Weights(size_t(256) << 20);
  double Gbs = probe(R, Weights);
  std::printf("%s, %u threads, read probe %.1f GB/s\n", Isa.c_str(), Threads,
              Gbs);
  Linear Fn = Isa == "avx2" ? k_linear_avx2 : k_linear_avx512vnni;
  if (Wanted("gemv"))
    for (int64_t K : {576, 1536, 4096})
      for (int64_t T : {1, 2, 4, 8})
        benchLinear(R, Fn, Weights, K, T, false, Gbs);
  if (Wanted("gemm"))
    for (int64_t K : {576, 1536, 4096}) {
      benchLinear(R, Fn, Weights, K, 512, true, Gbs);
      benchLinear(R, Fn, Weights, K, 64, false, Gbs);
    }
  if (Wanted("layer")) {
    benchLayer(R, Isa, Weights, 512, 0, true);
    benchLayer(R, Isa, Weights, 512, 3584, true);
    benchLayer(R, Isa, Weights, 1, 500, false);
    benchLayer(R, Isa, Weights, 1, 4095, false);
  }
  if (Wanted("step"))
    if (int Code = benchStep(Threads, Isa, Gbs))
      return Code;
  std::printf("read probe again %.1f GB/s\n", probe(R, Weights));
  return 0;
}
