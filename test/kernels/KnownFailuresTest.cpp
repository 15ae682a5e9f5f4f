// Rows of the list of known failures that are about kernels (B18, B19, B21,
// B22, B37): values that can be checked by hand, on every instruction set.
#include "test/kernels/Harness.h"

#include <gtest/gtest.h>

using namespace llmc::test;
using namespace llmc::kernels;

namespace {
std::vector<const KernelSet *> allSets() {
  std::vector<const KernelSet *> Sets = runnableSets();
  Sets.push_back(&Reference);
  return Sets;
}

/// Attention whose queries and keys are one number, and whose values are a
/// function of position and KV head.
struct Uniform {
  int64_t Heads = 1, KvHeads = 1, Dim = 16, Window = 0, Kv = KvF32;
  float Query = 0, Key = 0, Scale = 1;
  std::function<float(int64_t, int64_t)> Value = [](int64_t Position, int64_t) {
    return static_cast<float>(Position);
  };

  int64_t stride() const {
    return KvHeads * 2 * Dim * 64 * (Kv == KvF32 ? 4 : 2);
  }

  /// The first feature of every head of every row, rows one after another.
  /// A sequence has the positions up to its last row's; all else is NaN.
  std::vector<float> run(const KernelSet &Set,
                         const std::vector<std::vector<int32_t>> &Rows) const {
    uint32_t Tokens = 0, Pages = 1;
    for (const std::vector<int32_t> &Sequence : Rows)
      for (int32_t P : Sequence) {
        ++Tokens;
        Pages = std::max(Pages, static_cast<uint32_t>(P) / 64 + 1);
      }
    Step S(Tokens, 0, static_cast<uint32_t>(Rows.size()), Pages);
    Buffer Pool(S.pageCount() * stride());
    std::memset(Pool.bytes(), 0xff, Pool.size());
    uint32_t T = 0;
    for (uint32_t I = 0; I < Rows.size(); ++I) {
      fill(S, Pool, I, Rows[I].back() + 1);
      for (int32_t P : Rows[I]) {
        S.Positions[T] = P;
        S.RowSeq[T++] = static_cast<int32_t>(I);
      }
    }
    std::vector<float> Q(Tokens * Heads * Dim, Query), Out(Q.size(), NAN);
    Buffer Partial(attentionPartialBytes(Heads, Dim, Pages * 64));
    S.run(2, [&](const LlmcCtx *C) {
      Set.attention(C, Q.data(), Pool.bytes(), Out.data(), Partial.floats(),
                    nullptr, nullptr, Heads, KvHeads, Dim, Dim, Window, 0, Kv,
                    stride(), Scale, 0.0f);
    });
    std::vector<float> First;
    for (size_t I = 0; I < Out.size(); I += Dim)
      First.push_back(Out[I]);
    return First;
  }

private:
  void fill(const Step &Like, Buffer &Pool, uint32_t Sequence,
            int32_t Count) const {
    Step S = Like;
    S.Counts.tokens = Count;
    S.Positions.resize(Count);
    S.RowSeq.assign(Count, static_cast<int32_t>(Sequence));
    std::vector<float> K(Count * KvHeads * Dim, Key), V;
    for (int32_t P = 0; P < Count; ++P) {
      S.Positions[P] = P;
      for (int64_t H = 0; H < KvHeads; ++H)
        V.insert(V.end(), Dim, Value(P, H));
    }
    S.run(1, [&](const LlmcCtx *C) {
      k_kv_write_ref(C, K.data(), V.data(), Pool.bytes(), KvHeads, Dim, Dim, Kv,
                     stride());
    });
  }
};

void expectNear(const std::vector<float> &Found, std::vector<float> Expected,
                const char *Where) {
  ASSERT_EQ(Found.size(), Expected.size()) << Where;
  for (size_t I = 0; I < Found.size(); ++I)
    EXPECT_NEAR(Found[I], Expected[I], 1e-5) << Where << " at " << I;
}

TEST(KnownFailures, B18_HeadsOfAGroupShareTheirKvHead) {
  const std::pair<int64_t, int64_t> Counts[] = {
      {4, 2}, {48, 2}, {40, 2}, {7, 1}};
  for (const KernelSet *Set : allSets())
    for (auto [Heads, KvHeads] : Counts) {
      Uniform U;
      U.Heads = Heads;
      U.KvHeads = KvHeads;
      U.Value = [](int64_t, int64_t H) { return static_cast<float>(H + 1); };
      std::vector<float> Expected;
      for (int64_t H = 0; H < Heads; ++H)
        Expected.push_back(static_cast<float>(H / (Heads / KvHeads) + 1));
      expectNear(U.run(*Set, {{9}}), Expected, Set->Name);
    }
}

TEST(KnownFailures, B21_WindowsCountTheTokenItself) {
  for (const KernelSet *Set : allSets()) {
    Uniform U;
    expectNear(U.run(*Set, {{5}}), {2.5f}, Set->Name);
    U.Window = 3;
    expectNear(U.run(*Set, {{0, 1, 2, 3, 4, 5}}), {0, 0.5f, 1, 2, 3, 4},
               Set->Name);
    // Behind the first page and the first segment, too.
    for (int32_t Last : {5, 64, 65, 66, 300})
      expectNear(U.run(*Set, {{Last}}), {static_cast<float>(Last - 1)},
                 Set->Name);
  }
}

TEST(KnownFailures, B22_QueriesSeeTheirOwnPast) {
  for (const KernelSet *Set : allSets()) {
    Uniform U;
    U.Value = [](int64_t P, int64_t) { return static_cast<float>(P + 1); };
    expectNear(U.run(*Set, {{3}}), {2.5f}, Set->Name);
    std::vector<float> Whole = U.run(*Set, {{0, 1, 2, 3, 4, 5, 6, 7}}),
                       First = U.run(*Set, {{0, 1, 2}}),
                       Rest = U.run(*Set, {{3, 4, 5, 6, 7}});
    expectNear(Whole, {1, 1.5f, 2, 2.5f, 3, 3.5f, 4, 4.5f}, Set->Name);
    First.insert(First.end(), Rest.begin(), Rest.end());
    EXPECT_EQ(First, Whole) << Set->Name;
    // Rows of one step have pasts of their own: three tokens, and none.
    expectNear(U.run(*Set, {{3}, {0}}), {2.5f, 1}, Set->Name);
  }
}

/// A raw score of 73728 is no f16.
TEST(KnownFailures, B37_DotProductsAboveTheRangeOfF16) {
  for (const KernelSet *Set : allSets()) {
    Uniform U;
    U.Dim = 512;
    U.Kv = KvF16;
    U.Query = U.Key = 12;
    U.Scale = 1 / std::sqrt(512.0f);
    expectNear(U.run(*Set, {{5}}), {2.5f}, Set->Name);
  }
}

/// [1, 2, 3, 4] turned by a right angle, alone and behind the product of qkv.
TEST(KnownFailures, B19_RotationsOfHalvesPairsAndParts) {
  struct Rotation {
    int64_t Half, Interleaved;
    std::vector<float> Expected;
  };
  const Rotation Rotations[] = {{2, 0, {-3, -4, 1, 2}},
                                {2, 1, {-2, 1, -4, 3}},
                                {1, 0, {-2, 1, 3, 4}},
                                {1, 1, {-2, 1, 3, 4}}};
  const std::vector<float> X = {1, 2, 3, 4};
  std::vector<float> Identity(12 * 4);
  for (int64_t I = 0; I < 12; ++I)
    Identity[I * 4 + I % 4] = 1;
  for (const KernelSet *Set : allSets())
    for (const Rotation &R : Rotations) {
      std::vector<float> Table(2 * R.Half, 1.0f); // sines behind cosines
      std::fill_n(Table.begin(), R.Half, 0.0f);
      std::vector<float> Rope(4), Q(4);
      Buffer W = packF32(Identity, 12, 4), Pool(3 * 8 * 64 * 4);
      Step S(1, 0, 1, 1);
      S.run(1, [&](const LlmcCtx *C) {
        Set->rope(C, X.data(), Table.data(), Rope.data(), 1, 4, R.Half,
                  R.Interleaved);
      });
      S.run(1, [&](const LlmcCtx *C) {
        Set->qkv(C, X.data(), nullptr, nullptr, W.bytes(), nullptr,
                 Table.data(), Pool.bytes(), Q.data(), nullptr, 4, 1, 1, 4, 4,
                 R.Half, R.Interleaved, WF32, XF32, NormNone, KvF32, 8 * 64 * 4,
                 1e-5f);
      });
      EXPECT_EQ(Rope, R.Expected) << Set->Name;
      EXPECT_EQ(Q, R.Expected) << Set->Name;
    }
}
} // namespace
