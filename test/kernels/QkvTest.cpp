// qkv and kv_write against the reference, bit for bit, and against each other.
#include "test/kernels/Harness.h"

#include <gtest/gtest.h>

using namespace llmc::test;
using namespace llmc::kernels;

namespace {
struct Shape {
  int64_t K, Heads, KvHeads, HeadDim, VHeadDim, Half, Interleaved, WType, Norm,
      Kv;
  bool Bias;
};

const Shape Shapes[] = {
    {576, 9, 3, 64, 64, 32, 0, WI8B32, NormRms, KvF16, false},
    {576, 9, 3, 64, 64, 32, 0, WF32, NormRms, KvF32, false},
    {100, 4, 4, 32, 32, 8, 1, WF32, NormLayer, KvF16, true},
    {64, 3, 1, 40, 24, 10, 0, WI8B32, NormRms, KvF16, true},
    {128, 16, 1, 128, 128, 64, 0, WI8B32, NormNone, KvF32, false},
    {96, 2, 2, 80, 80, 0, 0, WI8B32, NormLayer, KvF16, true},
    {64, 2, 1, 256, 256, 128, 1, WI8B32, NormRms, KvF16, false},
};

struct Outcome {
  std::vector<float> Q;
  std::vector<uint8_t> Pool;
};

Outcome run(const KernelSet &Set, const Shape &S, uint32_t Tokens,
            uint32_t Prompt, uint32_t Threads) {
  Rng R(static_cast<uint32_t>(S.K + Tokens));
  int64_t N = S.Heads * S.HeadDim + S.KvHeads * (S.HeadDim + S.VHeadDim);
  std::vector<float> X = randomFloats(R, Tokens * S.K);
  std::vector<float> Gain = randomFloats(R, S.K), Bias = randomFloats(R, N);
  std::vector<float> Rope = randomFloats(R, Tokens * 2 * (S.Half + 1));
  Buffer W = packed(randomFloats(R, N * S.K, 0.05f), N, S.K, S.WType);
  Step St(Tokens, Prompt, 2, 3);
  for (uint32_t T = 0; T < Tokens; ++T) {
    St.RowSeq[T] = T % 2;
    St.Positions[T] = static_cast<int32_t>(50 + T);
  }
  int64_t Size = S.Kv == KvF32 ? 4 : 2;
  int64_t Stride = S.KvHeads * (S.HeadDim + S.VHeadDim) * 64 * Size;
  int64_t Policy = S.WType == WF32 ? XF32 : XI8;
  Buffer Pool(St.pageCount() * Stride);
  Buffer Xq(Tokens * xqBytesPerToken(S.K, Policy));
  Outcome O;
  O.Q.assign(Tokens * S.Heads * S.HeadDim, NAN);
  St.run(Threads, [&](const LlmcCtx *C) {
    Set.qkv(C, X.data(), Gain.data(), nullptr, W.bytes(),
            S.Bias ? Bias.data() : nullptr, S.Half ? Rope.data() : nullptr,
            Pool.bytes(), O.Q.data(), Xq.bytes(), S.K, S.Heads, S.KvHeads,
            S.HeadDim, S.VHeadDim, S.Half, S.Interleaved, S.WType, Policy,
            S.Norm, S.Kv, Stride, 1e-5f);
  });
  O.Pool.assign(Pool.bytes(), Pool.bytes() + Pool.size());
  return O;
}

TEST(QkvKernel, EqualsReferenceBitForBit) {
  for (const KernelSet *Set : runnableSets())
    for (const Shape &S : Shapes)
      for (std::pair<uint32_t, uint32_t> Rows :
           {std::pair<uint32_t, uint32_t>{1, 0}, {1, 1}, {5, 3}, {17, 12}}) {
        Outcome Expected = run(Reference, S, Rows.first, Rows.second, 1);
        for (uint32_t Threads : {1u, 2u, 3u}) {
          Outcome Found = run(*Set, S, Rows.first, Rows.second, Threads);
          EXPECT_EQ(firstDifference(Expected.Q, Found.Q), -1)
              << Set->Name << " k " << S.K << " head size " << S.HeadDim
              << " rows " << Rows.first << " threads " << Threads;
          EXPECT_EQ(Expected.Pool, Found.Pool)
              << Set->Name << " k " << S.K << " head size " << S.HeadDim;
        }
      }
}

TEST(KvWriteKernel, EqualsReferenceBitForBit) {
  for (const KernelSet *Set : runnableSets())
    for (int64_t Kv : {KvF32, KvF16}) {
      Rng R(3);
      Step St(7, 0, 1, 2);
      for (int32_t T = 0; T < 7; ++T)
        St.Positions[T] = 60 + T;
      std::vector<float> K = randomFloats(R, 7 * 2 * 40, 1e4f);
      std::vector<float> V = randomFloats(R, 7 * 2 * 24, 1e-6f);
      int64_t Stride = 2 * (40 + 24) * 64 * (Kv == KvF32 ? 4 : 2);
      Buffer A(Stride * St.pageCount()), B(Stride * St.pageCount());
      St.run(1, [&](const LlmcCtx *C) {
        k_kv_write_ref(C, K.data(), V.data(), A.bytes(), 2, 40, 24, Kv, Stride);
      });
      St.run(2, [&](const LlmcCtx *C) {
        Set->kv_write(C, K.data(), V.data(), B.bytes(), 2, 40, 24, Kv, Stride);
      });
      EXPECT_EQ(std::memcmp(A.bytes(), B.bytes(), A.size()), 0) << Set->Name;
    }
}
} // namespace
