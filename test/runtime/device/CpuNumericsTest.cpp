// The promise of one set of numbers, on a whole program through the real
// emitter and Executable: the same logits, bit for bit, for any number of
// threads, any chunking of the prompt, alone or in any batch.
#include "runtime/device/cpu/CpuFeatures.h"
#include "test/runtime/device/SyntheticModel.h"

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <gtest/gtest.h>
#include <map>
#include <numeric>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

using namespace llmc;
using namespace llmc::test;

namespace {
/// One sequence as a caller keeps it.
struct Sequence {
  std::vector<int32_t> Tokens;
  std::vector<uint32_t> Pages;
  int32_t Length = 0; ///< positions in the cache
};

/// A loaded model and its sequences. Pages are handed out in scattered order.
class Session {
public:
  Session(const SyntheticModel &M, uint32_t Threads) : Model(M) {
    Result<std::unique_ptr<Device>> D = openDevice("cpu");
    Dev = D.take();
    Result<std::unique_ptr<Executable>> E = Dev->load(M.view(), {Threads, 0});
    EXPECT_TRUE(E.ok()) << E.status().message();
    if (E)
      Exec = E.take();
  }
  bool ok() const { return Exec != nullptr; }
  const ExecutableInfo &info() const { return Exec->info(); }

  Sequence make(uint32_t Seed, int32_t Prompt) {
    Sequence S;
    for (int32_t I = 0; I < Prompt; ++I)
      S.Tokens.push_back(
          static_cast<int32_t>((Seed * 7919 + I * 31) % info().Vocab));
    S.Pages.resize(PagesPerSequence);
    for (uint32_t &P : S.Pages) {
      P = NextPage % info().Pages;
      NextPage += 5;
    }
    return S;
  }

  /// Runs rows of several sequences: Count[i] tokens of Seqs[i] from its length
  /// on; prompt rows first. Returns the logits of each sequence's last row.
  std::vector<std::vector<float>>
  step(std::vector<Sequence *> Seqs, std::vector<int32_t> Count, bool Prompt) {
    StepInput In;
    std::vector<int32_t> Ids, Positions, Rows, LogitRows;
    std::vector<uint32_t> Table;
    for (size_t I = 0; I < Seqs.size(); ++I) {
      for (int32_t J = 0; J < Count[I]; ++J) {
        Ids.push_back(Seqs[I]->Tokens[Seqs[I]->Length + J]);
        Positions.push_back(Seqs[I]->Length + J);
        Rows.push_back(static_cast<int32_t>(I));
      }
      Seqs[I]->Length += Count[I];
      LogitRows.push_back(static_cast<int32_t>(Ids.size()) - 1);
      Table.insert(Table.end(), Seqs[I]->Pages.begin(), Seqs[I]->Pages.end());
    }
    std::vector<float> Logits(LogitRows.size() * info().Vocab, NAN);
    In.Ids = Ids;
    In.Positions = Positions;
    In.RowSequence = Rows;
    In.PromptRows = Prompt ? static_cast<uint32_t>(Ids.size()) : 0;
    In.Sequences = static_cast<uint32_t>(Seqs.size());
    In.PagesPerSequence = PagesPerSequence;
    In.PageTable = Table;
    In.LogitRows = LogitRows;
    In.Logits = Logits;
    Status St = Exec->step(In);
    EXPECT_TRUE(St.ok()) << St.message();
    std::vector<std::vector<float>> Out;
    for (size_t I = 0; I < Seqs.size(); ++I)
      Out.emplace_back(Logits.begin() + I * info().Vocab,
                       Logits.begin() + (I + 1) * info().Vocab);
    return Out;
  }

  /// Prefill in chunks, then Generate greedy steps; all logits on the way.
  std::vector<std::vector<float>> generate(Sequence &S, int32_t Chunk,
                                           int32_t Generate) {
    std::vector<std::vector<float>> All;
    int32_t Prompt = static_cast<int32_t>(S.Tokens.size());
    std::vector<float> Last;
    while (S.Length < Prompt)
      Last = step({&S}, {std::min(Chunk, Prompt - S.Length)}, true)[0];
    All.push_back(Last);
    for (int32_t I = 0; I < Generate; ++I) {
      S.Tokens.push_back(best(Last));
      Last = step({&S}, {1}, false)[0];
      All.push_back(Last);
    }
    return All;
  }

  static int32_t best(const std::vector<float> &L) {
    return static_cast<int32_t>(std::max_element(L.begin(), L.end()) -
                                L.begin());
  }

private:
  const SyntheticModel &Model;
  std::unique_ptr<Device> Dev;
  std::unique_ptr<Executable> Exec;
  uint32_t PagesPerSequence = 6, NextPage = 3;
};

bool same(const std::vector<std::vector<float>> &A,
          const std::vector<std::vector<float>> &B) {
  if (A.size() != B.size())
    return false;
  for (size_t I = 0; I < A.size(); ++I)
    if (A[I].size() != B[I].size() ||
        std::memcmp(A[I].data(), B[I].data(), A[I].size() * 4) != 0)
      return false;
  return true;
}

struct Variant {
  bool Int8, HalfCache;
  const char *Target;
};

/// Each variant is built once.
SyntheticModel &modelOf(Variant V) {
  static std::map<std::string, SyntheticModel> Models;
  std::string Name = std::string(V.Target) + (V.Int8 ? " int8" : " f32") +
                     (V.HalfCache ? " f16" : " f32");
  auto [It, New] = Models.try_emplace(Name, SyntheticShape{});
  if (New) {
    SyntheticShape S;
    S.Int8 = V.Int8;
    S.HalfCache = V.HalfCache;
    S.Target = V.Target;
    S.MaxTokens = 320;
    It->second = SyntheticModel(S);
    Status St = It->second.build();
    EXPECT_TRUE(St.ok()) << St.message();
  }
  return It->second;
}

class CpuNumerics : public testing::TestWithParam<Variant> {
protected:
  static constexpr int32_t PromptTokens = 75;
  static constexpr int32_t Generated = 6;
  /// Beyond one segment of attention (256 positions).
  static constexpr int32_t LongPrompt = 300;

  void SetUp() override {
    Variant V = GetParam();
    if (std::string_view(V.Target) == "x86-64-avx512vnni" &&
        !hasCpuFeature("avx512vnni"))
      GTEST_SKIP() << "this machine has no avx512vnni";
    Model = &modelOf(V);
    ASSERT_TRUE(Model->image().size() > 0);
  }

  std::vector<std::vector<float>> alone(uint32_t Threads, uint32_t Seed,
                                        int32_t Chunk,
                                        int32_t Prompt = PromptTokens) {
    Session S(*Model, Threads);
    if (!S.ok())
      return {};
    Sequence Q = S.make(Seed, Prompt);
    return S.generate(Q, Chunk, Generated);
  }

  SyntheticModel *Model = nullptr;
};

TEST_P(CpuNumerics, ThreadsDoNotShow) {
  std::vector<std::vector<float>> One = alone(1, 1, PromptTokens);
  ASSERT_EQ(One.size(), size_t(Generated + 1));
  for (const std::vector<float> &L : One)
    for (float V : L)
      ASSERT_FALSE(std::isnan(V));
  EXPECT_FALSE(same({One[0]}, {One[1]}));
  for (uint32_t Threads : {2u, 3u})
    EXPECT_TRUE(same(One, alone(Threads, 1, PromptTokens))) << Threads;
}

#if defined(__x86_64__)
TEST_P(CpuNumerics, CallersFloatModeDoesNotShow) {
  std::vector<std::vector<float>> Plain = alone(2, 3, PromptTokens);
  unsigned Saved = _mm_getcsr();
  // Flush denormals, round towards zero.
  _mm_setcsr(Saved | 0x8040 | 0x6000);
  std::vector<std::vector<float>> Odd = alone(2, 3, PromptTokens);
  EXPECT_EQ(_mm_getcsr() & 0xe040, 0xe040u);
  _mm_setcsr(Saved);
  EXPECT_TRUE(same(Plain, Odd));
}
#endif

TEST_P(CpuNumerics, ChunkingDoesNotShow) {
  std::vector<std::vector<float>> Whole = alone(2, 2, PromptTokens);
  for (int32_t Chunk : {1, 7, 64})
    EXPECT_TRUE(same(Whole, alone(2, 2, Chunk))) << Chunk;
}

TEST_P(CpuNumerics, CompanyDoesNotShow) {
  for (uint32_t Batch : {2u, 5u, 9u}) {
    Session S(*Model, 2);
    ASSERT_TRUE(S.ok());
    std::vector<Sequence> Seqs;
    std::vector<Sequence *> Pointers;
    std::vector<std::vector<std::vector<float>>> Found(Batch);
    for (uint32_t I = 0; I < Batch; ++I)
      Seqs.push_back(S.make(I, PromptTokens));
    for (uint32_t I = 0; I < Batch; ++I) {
      Found[I].push_back(S.step({&Seqs[I]}, {PromptTokens}, true)[0]);
      Pointers.push_back(&Seqs[I]);
    }
    for (int32_t G = 0; G < Generated; ++G) {
      for (uint32_t I = 0; I < Batch; ++I)
        Seqs[I].Tokens.push_back(Session::best(Found[I].back()));
      std::vector<std::vector<float>> L =
          S.step(Pointers, std::vector<int32_t>(Batch, 1), false);
      for (uint32_t I = 0; I < Batch; ++I)
        Found[I].push_back(L[I]);
    }
    for (uint32_t I = 0; I < Batch; ++I)
      EXPECT_TRUE(same(Found[I], alone(1, I, 20)))
          << "sequence " << I << " of " << Batch;
  }
}

/// Segments are split over threads in steps of up to 8 rows, else walked by
/// one.
TEST_P(CpuNumerics, LongPromptsAreTheSameInAnyPieces) {
  std::vector<std::vector<float>> One = alone(1, 7, LongPrompt, LongPrompt);
  ASSERT_EQ(One.size(), size_t(Generated + 1));
  for (uint32_t Threads : {1u, 2u, 3u})
    for (int32_t Chunk : {1, 7, 64, LongPrompt})
      EXPECT_TRUE(same(One, alone(Threads, 7, Chunk, LongPrompt)))
          << Threads << " threads, chunks of " << Chunk;
}

/// Sequences of 1 to 3 segments, one of which grows into its next segment.
TEST_P(CpuNumerics, LongCompanyDoesNotShow) {
  constexpr int32_t Prompts[9] = {300, 253, 75, 310, 256, 257, 255, 120, 290};
  std::vector<std::vector<float>> Alone[9];
  for (uint32_t I = 0; I < 9; ++I)
    Alone[I] = alone(1, I, 128, Prompts[I]);
  for (uint32_t Batch = 2; Batch <= 9; ++Batch) {
    Session S(*Model, 1 + Batch % 3);
    ASSERT_TRUE(S.ok());
    std::vector<Sequence> Seqs;
    std::vector<Sequence *> Pointers;
    std::vector<std::vector<std::vector<float>>> Found(Batch);
    for (uint32_t I = 0; I < Batch; ++I)
      Seqs.push_back(S.make(I, Prompts[I]));
    for (uint32_t I = 0; I < Batch; ++I) {
      Found[I].push_back(S.step({&Seqs[I]}, {Prompts[I]}, true)[0]);
      Pointers.push_back(&Seqs[I]);
    }
    for (int32_t G = 0; G < Generated; ++G) {
      for (uint32_t I = 0; I < Batch; ++I)
        Seqs[I].Tokens.push_back(Session::best(Found[I].back()));
      std::vector<std::vector<float>> L =
          S.step(Pointers, std::vector<int32_t>(Batch, 1), false);
      for (uint32_t I = 0; I < Batch; ++I)
        Found[I].push_back(L[I]);
    }
    for (uint32_t I = 0; I < Batch; ++I)
      EXPECT_TRUE(same(Found[I], Alone[I]))
          << "sequence " << I << " of " << Batch;
  }
}

/// Both instruction sets give the same bits.
TEST(CpuNumericsOfTwo, InstructionSetDoesNotShow) {
  if (!hasCpuFeature("avx512vnni"))
    GTEST_SKIP() << "this machine has no avx512vnni";
  std::vector<std::vector<float>> Logits[2];
  for (int I = 0; I < 2; ++I) {
    Session S(modelOf({true, true, I ? "x86-64-v3" : "x86-64-avx512vnni"}), 2);
    ASSERT_TRUE(S.ok());
    Sequence Q = S.make(4, 40);
    Logits[I] = S.generate(Q, 40, 4);
  }
  EXPECT_TRUE(same(Logits[0], Logits[1]));
}

/// Found by eval with a reference: both ran the code of one.
TEST(CpuNumericsOfTwo, TwoModelsAtOnceKeepTheirCode) {
  if (!hasCpuFeature("avx2"))
    GTEST_SKIP() << "this machine has no avx2";
  std::vector<std::vector<float>> Alone[2];
  for (int I = 0; I < 2; ++I) {
    Session S(modelOf({I == 0, I == 0, "x86-64-v3"}), 1);
    ASSERT_TRUE(S.ok());
    Sequence Q = S.make(4, 20);
    Alone[I] = S.generate(Q, 20, 2);
  }
  Session A(modelOf({true, true, "x86-64-v3"}), 1);
  Session B(modelOf({false, false, "x86-64-v3"}), 1);
  ASSERT_TRUE(A.ok() && B.ok());
  Sequence QA = A.make(4, 20), QB = B.make(4, 20);
  EXPECT_TRUE(same(B.generate(QB, 20, 2), Alone[1]));
  EXPECT_TRUE(same(A.generate(QA, 20, 2), Alone[0]));
}

/// Both numerics, both instruction sets and both caches; the slow set has more
/// of their combinations.
std::vector<Variant> variants() {
  std::vector<Variant> All = {{true, true, "x86-64-avx512vnni"},
                              {false, false, "x86-64-v3"},
                              {false, false, "x86-64-avx512vnni"},
                              {true, true, "x86-64-v3"},
                              {false, true, "x86-64-v3"}};
  const char *Slow = std::getenv("LLMC_SLOW");
  if (!Slow || !*Slow)
    All.resize(2);
  return All;
}

INSTANTIATE_TEST_SUITE_P(Variants, CpuNumerics, testing::ValuesIn(variants()),
                         [](const testing::TestParamInfo<Variant> &I) {
                           std::string Name =
                               std::string(I.param.Int8 ? "Int8" : "F32") +
                               (I.param.HalfCache ? "CacheF16" : "CacheF32");
                           return Name + (std::string_view(I.param.Target) ==
                                                  "x86-64-v3"
                                              ? "Avx2"
                                              : "Avx512Vnni");
                         });
} // namespace
