// Steps, packed matrices and threads for the kernel tests.
#ifndef LLMC_TEST_KERNELS_HARNESS_H
#define LLMC_TEST_KERNELS_HARNESS_H

#include "compiler/kernels/Constants.h"
#include "compiler/kernels/cpu/Native.h"
#include "compiler/kernels/cpu/Scratch.h"
#include "runtime/base/Half.h"

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <random>
#include <sched.h>
#include <string>
#include <thread>
#include <vector>

namespace llmc::test {

/// 64-byte aligned zeroed bytes.
class Buffer {
public:
  explicit Buffer(size_t Bytes)
      : Size(Bytes), Data(static_cast<uint8_t *>(
                         std::aligned_alloc(64, (Bytes + 127) / 64 * 64))) {
    std::memset(Data.get(), 0, (Bytes + 127) / 64 * 64);
  }
  uint8_t *bytes() { return Data.get(); }
  float *floats() { return reinterpret_cast<float *>(Data.get()); }
  size_t size() const { return Size; }

private:
  struct Free {
    void operator()(uint8_t *P) const { std::free(P); }
  };
  size_t Size;
  std::unique_ptr<uint8_t, Free> Data;
};

using Rng = std::mt19937;
inline std::vector<float> randomFloats(Rng &R, size_t N, float Scale = 1.0f) {
  std::normal_distribution<float> D(0.0f, Scale);
  std::vector<float> V(N);
  for (float &X : V)
    X = D(R);
  return V;
}

/// Row-major [N][K] -> p16.f32.
inline Buffer packF32(const std::vector<float> &W, int64_t N, int64_t K) {
  Buffer B((N + 15) / 16 * K * 64);
  for (int64_t R = 0; R < N; ++R)
    for (int64_t C = 0; C < K; ++C)
      B.floats()[(R / 16 * K + C) * 16 + R % 16] = W[R * K + C];
  return B;
}

/// Row-major [N][K] -> p16.w8b32, scale max|w| / 127.
inline Buffer packI8(const std::vector<float> &W, int64_t N, int64_t K) {
  int64_t Records = (K + 63) / 64;
  Buffer B((N + 15) / 16 * Records * 1088);
  for (int64_t P = 0; P < (N + 15) / 16 * Records; ++P)
    std::memset(B.bytes() + P * 1088, 128, 1024);
  for (int64_t R = 0; R < N; ++R)
    for (int64_t C0 = 0; C0 < K; C0 += 32) {
      uint8_t *Record = B.bytes() + (R / 16 * Records + C0 / 64) * 1088;
      float Max = 0;
      int64_t End = C0 + 32 < K ? C0 + 32 : K;
      for (int64_t C = C0; C < End; ++C)
        Max = std::max(Max, std::fabs(W[R * K + C]));
      uint16_t Half = floatToF16(Max / 127.0f);
      float Scale = f16ToFloat(Half);
      std::memcpy(Record + 1024 + C0 % 64 / 32 * 32 + R % 16 * 2, &Half, 2);
      for (int64_t C = C0; C < End; ++C) {
        float Q = Scale > 0 ? std::nearbyint(W[R * K + C] / Scale) : 0;
        Q = std::fmin(127.0f, std::fmax(-127.0f, Q));
        Record[C % 64 / 4 * 64 + R % 16 * 4 + C % 4] =
            static_cast<uint8_t>(static_cast<int>(Q) + 128);
      }
    }
  return B;
}

inline Buffer packed(const std::vector<float> &W, int64_t N, int64_t K,
                     int64_t WType) {
  return WType == kernels::WF32 ? packF32(W, N, K) : packI8(W, N, K);
}

/// A step's arrays. Sequences own disjoint pages in scattered order.
struct Step {
  LlmcCounts Counts{};
  std::vector<int32_t> Ids, Positions, RowSeq, LogitRows, Lengths;
  std::vector<uint32_t> Pages;
  LlmcBarrier Barrier{};
  LlmcStepArgs Args{};

  Step(uint32_t Tokens, uint32_t Prompt, uint32_t Sequences = 1,
       uint32_t PagesPerSequence = 1) {
    Counts = {Tokens, Prompt, Sequences, 0, PagesPerSequence, 0};
    Ids.resize(Tokens);
    Positions.resize(Tokens);
    RowSeq.resize(Tokens);
    for (uint32_t I = 0; I < Sequences * PagesPerSequence; ++I)
      Pages.push_back((I * 7 + 3) % pageCount());
  }
  /// Pages of the pool: no multiple of 7, so that no two entries are the same.
  uint32_t pageCount() const {
    uint32_t N = Counts.sequences * Counts.pages_per_sequence;
    while (N % 7 == 0)
      ++N;
    return N;
  }

  /// Runs Fn on Threads threads, each with its context.
  void run(uint32_t Threads, const std::function<void(const LlmcCtx *)> &Fn) {
    Counts.logit_rows = static_cast<uint32_t>(LogitRows.size());
    Args.abi = LLMC_STEP_ABI;
    Args.count = LLMC_ARG_COUNT;
    Args.ptr[LLMC_ARG_COUNTS] = &Counts;
    Args.ptr[LLMC_ARG_IDS] = Ids.data();
    Args.ptr[LLMC_ARG_POSITIONS] = Positions.data();
    Args.ptr[LLMC_ARG_ROW_SEQ] = RowSeq.data();
    Args.ptr[LLMC_ARG_PAGE_TABLE] = Pages.data();
    Args.ptr[LLMC_ARG_LOGIT_ROWS] = LogitRows.data();
    Args.ptr[LLMC_ARG_LENGTHS] = Lengths.data();
    Args.ptr[LLMC_ARG_BARRIER] = &Barrier;
    Barrier.arrived = 0;
    Barrier.spin_limit = 100;
    Barrier.wait = [](LlmcBarrier *B, uint32_t Seen) {
      while (__atomic_load_n(&B->generation, __ATOMIC_ACQUIRE) == Seen)
        sched_yield();
    };
    Barrier.wake = [](LlmcBarrier *) {};
    std::vector<std::thread> Pool;
    for (uint32_t I = 1; I < Threads; ++I)
      Pool.emplace_back([&, I] {
        LlmcCtx C{&Args, &Counts, I, Threads};
        Fn(&C);
      });
    LlmcCtx C{&Args, &Counts, 0, Threads};
    Fn(&C);
    for (std::thread &T : Pool)
      T.join();
  }
};

/// The kernels of one instruction set.
struct KernelSet {
  const char *Name;
#define LLMC_KERNEL_POINTER(Kernel) decltype(&k_##Kernel##_ref) Kernel
  LLMC_KERNEL_POINTER(embed);
  LLMC_KERNEL_POINTER(rope_table);
  LLMC_KERNEL_POINTER(qkv);
  LLMC_KERNEL_POINTER(attention);
  LLMC_KERNEL_POINTER(attention_rounded);
  LLMC_KERNEL_POINTER(linear);
  LLMC_KERNEL_POINTER(logits);
  LLMC_KERNEL_POINTER(norm);
  LLMC_KERNEL_POINTER(rope);
  LLMC_KERNEL_POINTER(kv_write);
  LLMC_KERNEL_POINTER(glu);
  LLMC_KERNEL_POINTER(activation);
  LLMC_KERNEL_POINTER(add);
  LLMC_KERNEL_POINTER(scale);
  LLMC_KERNEL_POINTER(rowwise);
  LLMC_KERNEL_POINTER(experts);
  LLMC_KERNEL_POINTER(take_rows);
  LLMC_KERNEL_POINTER(select_by_length);
  LLMC_KERNEL_POINTER(causal_conv);
  LLMC_KERNEL_POINTER(linear_attention);
#undef LLMC_KERNEL_POINTER
};

#define LLMC_KERNEL_SET(Isa)                                                   \
  {#Isa,                                                                       \
   k_embed_##Isa,                                                              \
   k_rope_table_##Isa,                                                         \
   k_qkv_##Isa,                                                                \
   k_attention_##Isa,                                                          \
   k_attention_rounded_##Isa,                                                  \
   k_linear_##Isa,                                                             \
   k_logits_##Isa,                                                             \
   k_norm_##Isa,                                                               \
   k_rope_##Isa,                                                               \
   k_kv_write_##Isa,                                                           \
   k_glu_##Isa,                                                                \
   k_activation_##Isa,                                                         \
   k_add_##Isa,                                                                \
   k_scale_##Isa,                                                              \
   k_rowwise_##Isa,                                                            \
   k_experts_##Isa,                                                            \
   k_take_rows_##Isa,                                                          \
   k_select_by_length_##Isa,                                                   \
   k_causal_conv_##Isa,                                                        \
   k_linear_attention_##Isa}
inline const KernelSet Reference = LLMC_KERNEL_SET(ref);
inline const KernelSet Avx512Vnni = LLMC_KERNEL_SET(avx512vnni);
inline const KernelSet Avx2 = LLMC_KERNEL_SET(avx2);

/// Sets that this machine can run.
inline std::vector<const KernelSet *> runnableSets() {
  std::vector<const KernelSet *> Sets;
  if (kernels::hasAvx2())
    Sets.push_back(&Avx2);
  if (kernels::hasAvx512Vnni())
    Sets.push_back(&Avx512Vnni);
  return Sets;
}

/// Index of the first value whose bits differ, or -1.
inline int64_t firstDifference(const float *A, const float *B, size_t N) {
  for (size_t I = 0; I < N; ++I)
    if (std::memcmp(A + I, B + I, 4) != 0)
      return static_cast<int64_t>(I);
  return -1;
}
inline int64_t firstDifference(const std::vector<float> &A,
                               const std::vector<float> &B) {
  return firstDifference(A.data(), B.data(), std::min(A.size(), B.size()));
}

} // namespace llmc::test

#endif // LLMC_TEST_KERNELS_HARNESS_H
