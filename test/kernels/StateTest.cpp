// Layers with state: against the reference bit for bit, and the same in one
// step as in several, across the end of a page.
#include "test/kernels/Harness.h"

#include <gtest/gtest.h>

using namespace llmc::test;
using namespace llmc::kernels;

namespace {
/// Runs Tokens tokens of one sequence from Begin on, on pages of Pool.
template <typename Function>
void steps(uint32_t Tokens, uint32_t Chunk, uint32_t Threads, Function Fn) {
  for (uint32_t At = 0; At < Tokens; At += Chunk) {
    uint32_t Count = std::min(Chunk, Tokens - At);
    Step S(Count, Count, 1, (Tokens + 63) / 64);
    for (uint32_t I = 0; I < Count; ++I)
      S.Positions[I] = static_cast<int32_t>(At + I);
    S.run(Threads, [&](const LlmcCtx *C) { Fn(C, At); });
  }
}

std::vector<float> conv(const KernelSet &Set, uint32_t Chunk, uint32_t Threads,
                        int64_t N, int64_t Kind) {
  constexpr uint32_t Tokens = 70;
  Rng R(3);
  std::vector<float> X = randomFloats(R, Tokens * size_t(N)),
                     W = randomFloats(R, size_t(N) * 4),
                     B = randomFloats(R, size_t(N)), Out(X.size());
  int64_t Stride = N * 64 * (Kind == KvF32 ? 4 : 2);
  Buffer Pool(size_t(Stride * 4));
  steps(Tokens, Chunk, Threads, [&](const LlmcCtx *C, uint32_t At) {
    Set.causal_conv(C, X.data() + At * N, Pool.bytes(), W.data(), B.data(),
                    Out.data() + At * N, N, 4, ActSilu, Kind, Stride);
  });
  return Out;
}

TEST(CausalConvKernel, EqualsReferenceInAnyChunks) {
  for (int64_t Kind : {KvF32, KvF16})
    for (int64_t N : {16, 37}) {
      std::vector<float> Want = conv(Reference, 70, 1, N, Kind);
      EXPECT_NE(Want[0], 0.0f);
      for (const KernelSet *Set : runnableSets())
        for (uint32_t Chunk : {70u, 1u, 9u})
          EXPECT_EQ(firstDifference(conv(*Set, Chunk, 2, N, Kind), Want), -1)
              << Set->Name << " n " << N << " chunk " << Chunk;
    }
}

std::vector<float> linear(const KernelSet &Set, uint32_t Chunk,
                          uint32_t Threads, int64_t DecayDim, bool Delta) {
  constexpr uint32_t Tokens = 70;
  constexpr int64_t Heads = 4, Kv = 2, Dk = 8, Dv = 20;
  Rng R(4);
  std::vector<float> Q = randomFloats(R, Tokens * Heads * Dk),
                     K = randomFloats(R, Tokens * Kv * Dk, 0.3f),
                     V = randomFloats(R, Tokens * Kv * Dv),
                     G = randomFloats(R, Tokens * Kv * Dk, 0.1f),
                     B = randomFloats(R, Tokens * Kv, 0.3f),
                     Out(Tokens * Heads * Dv);
  for (float &X : G)
    X = -std::fabs(X);
  int64_t Block = 768, Stride = Kv * Block;
  Buffer Pool(size_t(Stride * 4));
  steps(Tokens, Chunk, Threads, [&](const LlmcCtx *C, uint32_t At) {
    Set.linear_attention(C, Q.data() + At * Heads * Dk, K.data() + At * Kv * Dk,
                         V.data() + At * Kv * Dv,
                         DecayDim ? G.data() + At * Kv * DecayDim : nullptr,
                         Delta ? B.data() + At * Kv : nullptr, Pool.bytes(),
                         Out.data() + At * Heads * Dv, Heads, Kv, Dk, Dv,
                         DecayDim, Delta, Block, Stride, 0.35f);
  });
  return Out;
}

TEST(LinearAttentionKernel, EqualsReferenceInAnyChunks) {
  for (int64_t DecayDim : {0, 1, 8})
    for (bool Delta : {false, true}) {
      std::vector<float> Want = linear(Reference, 70, 1, DecayDim, Delta);
      EXPECT_NE(Want[0], 0.0f);
      for (const KernelSet *Set : runnableSets())
        for (uint32_t Chunk : {70u, 1u, 9u})
          EXPECT_EQ(
              firstDifference(linear(*Set, Chunk, 3, DecayDim, Delta), Want),
              -1)
              << Set->Name << " decay " << DecayDim << " chunk " << Chunk;
    }
}

TEST(SelectByLengthKernel, TakesRowsOfLongSequences) {
  for (const KernelSet *Set : runnableSets()) {
    Step S(3, 2);
    S.Lengths = {32, 33, 5};
    std::vector<float> A = {1, 2, 3, 4, 5, 6}, B = {-1, -2, -3, -4, -5, -6},
                       Out(6);
    S.run(2, [&](const LlmcCtx *C) {
      Set->select_by_length(C, A.data(), B.data(), Out.data(), 2, 32);
    });
    EXPECT_EQ(Out, (std::vector<float>{1, 2, -3, -4, 5, 6})) << Set->Name;
  }
}
} // namespace
