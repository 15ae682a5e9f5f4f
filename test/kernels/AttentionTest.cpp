// attention against the reference, bit for bit: head sizes, groups, windows,
// cache types, scattered pages, several sequences; the split by segments gives
// the same bits as one thread.
#include "test/kernels/Harness.h"

#include <gtest/gtest.h>

using namespace llmc::test;
using namespace llmc::kernels;

namespace {
struct Shape {
  int64_t Heads, KvHeads, HeadDim, VHeadDim, Window, Kv;
  float Cap;
  int64_t Chunk = 0;
  bool Slopes = false, Sinks = false;
};

/// Rows of several sequences: for each, its rows' positions.
using Rows = std::vector<std::vector<int32_t>>;

Rows chunk(int32_t From, int32_t Count) {
  Rows R(1);
  for (int32_t I = 0; I < Count; ++I)
    R[0].push_back(From + I);
  return R;
}

/// The pool with random keys and values; what no row sees is NaN.
struct Problem {
  Shape S;
  Step Steps;
  Buffer Pool;
  std::vector<float> Q, Slopes, Sinks;

  static Problem make(const Shape &S, const Rows &R) {
    uint32_t Tokens = 0, Pages = 1;
    for (const std::vector<int32_t> &Seq : R)
      for (int32_t P : Seq) {
        ++Tokens;
        Pages = std::max<uint32_t>(Pages, P / 64 + 1);
      }
    Step St(Tokens, 0, static_cast<uint32_t>(R.size()), Pages);
    Rng Random(static_cast<uint32_t>(S.HeadDim + Tokens));
    int64_t Size = S.Kv == KvF32 ? 4 : 2;
    int64_t Block = (S.HeadDim + S.VHeadDim) * 64;
    Problem P{S,
              St,
              Buffer(St.pageCount() * S.KvHeads * Block * Size),
              randomFloats(Random, Tokens * S.Heads * S.HeadDim),
              randomFloats(Random, S.Heads),
              randomFloats(Random, S.Heads)};
    std::memset(P.Pool.bytes(), 0xff, P.Pool.size());
    uint32_t T = 0;
    for (uint32_t Seq = 0; Seq < R.size(); ++Seq)
      for (int32_t Pos : R[Seq]) {
        P.Steps.Positions[T] = Pos;
        P.Steps.RowSeq[T++] = static_cast<int32_t>(Seq);
      }
    P.fill(Random, R);
    return P;
  }

  int64_t pageStride() const {
    return S.KvHeads * (S.HeadDim + S.VHeadDim) * 64 * (S.Kv == KvF32 ? 4 : 2);
  }

  /// Writes keys and values of all positions up to each sequence's last.
  void fill(Rng &Random, const Rows &R) {
    for (uint32_t Seq = 0; Seq < R.size(); ++Seq) {
      int32_t Last = 0;
      for (int32_t Pos : R[Seq])
        Last = std::max(Last, Pos);
      Step W = Steps;
      W.Counts.tokens = Last + 1;
      W.Positions.resize(Last + 1);
      W.RowSeq.assign(Last + 1, static_cast<int32_t>(Seq));
      for (int32_t I = 0; I <= Last; ++I)
        W.Positions[I] = I;
      std::vector<float> K =
          randomFloats(Random, (Last + 1) * S.KvHeads * S.HeadDim);
      std::vector<float> V =
          randomFloats(Random, (Last + 1) * S.KvHeads * S.VHeadDim);
      W.run(1, [&](const LlmcCtx *C) {
        k_kv_write_ref(C, K.data(), V.data(), Pool.bytes(), S.KvHeads,
                       S.HeadDim, S.VHeadDim, S.Kv, pageStride());
      });
    }
  }

  std::vector<float> run(const KernelSet &Set, uint32_t Threads,
                         bool Split = true) {
    std::vector<float> Out(Steps.Counts.tokens * S.Heads * S.VHeadDim, NAN);
    Buffer Partial(attentionPartialBytes(S.Heads, S.VHeadDim,
                                         Steps.Counts.pages_per_sequence * 64));
    Steps.run(Threads, [&](const LlmcCtx *C) {
      Set.attention(C, Q.data(), Pool.bytes(), Out.data(),
                    Split ? Partial.floats() : nullptr,
                    S.Slopes ? Slopes.data() : nullptr,
                    S.Sinks ? Sinks.data() : nullptr, S.Heads, S.KvHeads,
                    S.HeadDim, S.VHeadDim, S.Window, S.Chunk, S.Kv,
                    pageStride(), 0.125f, S.Cap);
    });
    return Out;
  }

  /// With scores and probabilities rounded to multiples of these steps.
  std::vector<float> runRounded(const KernelSet &Set, uint32_t Threads,
                                float ScoreStep, float ProbStep) {
    std::vector<float> Out(Steps.Counts.tokens * S.Heads * S.VHeadDim, NAN);
    Steps.run(Threads, [&](const LlmcCtx *C) {
      Set.attention_rounded(C, Q.data(), Pool.bytes(), Out.data(),
                            S.Slopes ? Slopes.data() : nullptr,
                            S.Sinks ? Sinks.data() : nullptr, S.Heads,
                            S.KvHeads, S.HeadDim, S.VHeadDim, S.Window, S.Chunk,
                            S.Kv, pageStride(), 0.125f, S.Cap, ScoreStep,
                            -20.0f, 90.0f, ProbStep, 0.0f, 255.0f);
    });
    return Out;
  }
};

const Shape Shapes[] = {
    {9, 3, 64, 64, 0, KvF16, 0},
    {2, 2, 32, 32, 0, KvF32, 0},
    {4, 1, 128, 128, 0, KvF16, 0},
    {16, 1, 80, 80, 100, KvF16, 0},
    {3, 1, 256, 256, 0, KvF32, 0},
    {5, 1, 40, 24, 70, KvF16, 50.0f},
    {14, 1, 48, 48, 0, KvF16, 0},
    {8, 2, 32, 32, 0, KvF16, 0, 0, true},
    {8, 2, 32, 32, 70, KvF16, 0, 0, false, true},
    {4, 2, 16, 48, 0, KvF32, 30.0f, 90, true, true},
};

void expectReference(const Shape &S, const Rows &R) {
  for (const KernelSet *Set : runnableSets()) {
    Problem P = Problem::make(S, R);
    std::vector<float> Expected = P.run(Reference, 1);
    for (float V : Expected)
      ASSERT_FALSE(std::isnan(V));
    for (uint32_t Threads : {1u, 2u, 3u})
      EXPECT_EQ(firstDifference(Expected, P.run(*Set, Threads)), -1)
          << Set->Name << " head size " << S.HeadDim << " heads " << S.Heads
          << " window " << S.Window << " rows " << P.Steps.Counts.tokens
          << " threads " << Threads;
  }
}

TEST(AttentionKernel, FirstToken) {
  for (const Shape &S : Shapes)
    expectReference(S, {{0}});
}
TEST(AttentionKernel, DecodeAtLongContextIsSplit) {
  for (const Shape &S : Shapes)
    expectReference(S, {{1000}});
}
TEST(AttentionKernel, EdgesOfTilesAndSegments) {
  for (int32_t Pos : {62, 63, 64, 127, 255, 256, 257, 511, 512})
    expectReference(Shapes[0], {{Pos}});
}
TEST(AttentionKernel, SeveralSequences) {
  for (const Shape &S : Shapes)
    expectReference(S, {{700}, {3}, {64}, {255, 256, 257}});
}
TEST(AttentionKernel, PromptChunk) {
  for (const Shape &S : Shapes)
    expectReference(S, chunk(0, 37));
  expectReference(Shapes[0], chunk(250, 90));
}
TEST(AttentionKernel, ManyRowsOfManySequences) {
  Rows R;
  for (int32_t I = 0; I < 9; ++I)
    R.push_back({40 * I});
  expectReference(Shapes[0], R);
}

TEST(AttentionKernel, RowDoesNotDependOnItsCompany) {
  for (const KernelSet *Set : runnableSets()) {
    Problem All = Problem::make(Shapes[0], chunk(240, 40));
    std::vector<float> Together = All.run(*Set, 2);
    int64_t InRow = 9 * 64;
    for (uint32_t Row : {0u, 17u, 39u}) {
      Problem One = Problem::make(Shapes[0], chunk(240, 40));
      One.Steps.Counts.tokens = 1;
      One.Steps.Positions = {All.Steps.Positions[Row]};
      One.Steps.RowSeq = {0};
      One.Q.assign(All.Q.begin() + Row * InRow,
                   All.Q.begin() + (Row + 1) * InRow);
      for (bool Split : {false, true})
        EXPECT_EQ(firstDifference(One.run(*Set, 2, Split).data(),
                                  Together.data() + Row * InRow, InRow),
                  -1)
            << Set->Name << " row " << Row << " split " << Split;
    }
  }
}

TEST(AttentionRoundedKernel, IsTheReference) {
  for (const KernelSet *Set : runnableSets())
    for (const Shape &S : Shapes) {
      Problem P = Problem::make(S, {{130}, {3}, {63, 64, 65}});
      std::vector<float> Expected = P.runRounded(Reference, 1, 0.02f, 0.004f);
      EXPECT_NE(firstDifference(Expected, P.run(Reference, 1)), -1);
      for (uint32_t Threads : {1u, 3u})
        EXPECT_EQ(firstDifference(Expected,
                                  P.runRounded(*Set, Threads, 0.02f, 0.004f)),
                  -1)
            << Set->Name << " head size " << S.HeadDim << " window " << S.Window
            << " threads " << Threads;
    }
}

/// Without steps it is attention, but for the order of sums.
TEST(AttentionRoundedKernel, WithoutStepsIsAttention) {
  for (const Shape &S : Shapes) {
    Problem P = Problem::make(S, {{130}, {3}});
    std::vector<float> Have = P.runRounded(Reference, 1, 0, 0),
                       Want = P.run(Reference, 1);
    for (size_t I = 0; I < Want.size(); ++I)
      ASSERT_NEAR(Have[I], Want[I], 1e-5);
  }
}

/// Softmax written down plainly in double: the definition is the right one.
TEST(AttentionKernel, ReferenceIsSoftmax) {
  Shape S{2, 1, 32, 32, 0, KvF32, 0};
  Problem P = Problem::make(S, {{300}});
  std::vector<float> Out = P.run(Reference, 1);
  for (int64_t H = 0; H < 2; ++H) {
    std::vector<double> Score(301);
    double Sum = 0, O = 0;
    auto At = [&](int64_t T, int64_t Index) {
      return P.Pool.floats()[P.Steps.Pages[T / 64] * (64 * 64) + Index];
    };
    for (int64_t T = 0; T <= 300; ++T) {
      for (int64_t D = 0; D < 32; ++D)
        Score[T] += double(P.Q[H * 32 + D]) * At(T, D * 64 + T % 64);
      Sum += std::exp(Score[T] * 0.125);
    }
    for (int64_t T = 0; T <= 300; ++T)
      O += std::exp(Score[T] * 0.125) / Sum * At(T, 32 * 64 + T % 64 * 32 + 5);
    EXPECT_NEAR(Out[H * 32 + 5], O, 1e-5);
  }
}

TEST(AttentionKernel, LargeScoresGiveNoNan) {
  for (const KernelSet *Set : runnableSets()) {
    Problem P = Problem::make(Shapes[0], chunk(0, 70));
    for (float &V : P.Q)
      V *= 1e6f;
    for (float V : P.run(*Set, 2))
      ASSERT_FALSE(std::isnan(V)) << Set->Name;
    EXPECT_EQ(firstDifference(P.run(Reference, 1), P.run(*Set, 2)), -1);
  }
}
} // namespace
