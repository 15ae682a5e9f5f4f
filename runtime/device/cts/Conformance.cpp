// The tests. Bits are compared, not values, wherever two ways to the same
// result exist; values are compared with the reference once.
#include "runtime/device/cts/Conformance.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace llmc::cts {

void DeviceConformance::SetUp() {
  Result<std::unique_ptr<Device>> D = GetParam().Open();
  if (!D.ok() && D.status().code() == StatusCode::DoesNotFit)
    GTEST_SKIP() << D.status().message();
  ASSERT_TRUE(D.ok()) << D.status().message();
  Dev = D.take();
  Result<TestProgram> P = GetParam().Program();
  if (!P.ok() && P.status().code() == StatusCode::DoesNotFit)
    GTEST_SKIP() << P.status().message();
  ASSERT_TRUE(P.ok()) << P.status().message();
  Program = P.take();
}

std::unique_ptr<Executable>
DeviceConformance::load(const DeviceLoadOptions &O) {
  EXPECT_EQ(Dev->whyNot(Program.View), "");
  Result<std::unique_ptr<Executable>> E = Dev->load(Program.View, O);
  EXPECT_TRUE(E.ok()) << E.status().message();
  return E.ok() ? E.take() : nullptr;
}

Sequence DeviceConformance::make(uint32_t Seed, int32_t Count, uint32_t First,
                                 uint32_t Stride) const {
  Sequence S;
  for (int32_t I = 0; I != Count; ++I)
    S.Tokens.push_back(static_cast<int32_t>((Seed * 7919u + I * 31u) % 96));
  for (uint32_t I = 0; I != 5; ++I)
    S.Pages.push_back(First + I * Stride);
  return S;
}

Status DeviceConformance::tryStep(Executable &E, std::vector<Part> Parts,
                                  std::vector<std::vector<float>> &Logits) {
  std::vector<int32_t> Ids, Positions, Sequences, Rows;
  std::vector<uint32_t> Table;
  uint32_t PromptRows = 0;
  std::vector<size_t> RowsOfPart;
  for (size_t I = 0; I != Parts.size(); ++I) {
    Sequence &S = *Parts[I].Seq;
    for (int32_t J = 0; J != Parts[I].Count; ++J) {
      if (Parts[I].AllLogits || J + 1 == Parts[I].Count)
        Rows.push_back(static_cast<int32_t>(Ids.size()));
      Ids.push_back(S.Tokens[S.Length + J]);
      Positions.push_back(S.Length + J);
      Sequences.push_back(static_cast<int32_t>(I));
    }
    PromptRows += Parts[I].Prompt ? Parts[I].Count : 0;
    RowsOfPart.push_back(Parts[I].AllLogits ? Parts[I].Count : 1);
    Table.insert(Table.end(), S.Pages.begin(), S.Pages.end());
  }
  size_t Vocab = E.info().Vocab;
  std::vector<float> Out(Rows.size() * Vocab, std::nanf(""));
  StepInput In;
  In.Ids = Ids;
  In.Positions = Positions;
  In.RowSequence = Sequences;
  In.PromptRows = PromptRows;
  In.Sequences = static_cast<uint32_t>(Parts.size());
  In.PagesPerSequence = static_cast<uint32_t>(Parts[0].Seq->Pages.size());
  In.PageTable = Table;
  In.LogitRows = Rows;
  In.Logits = Out;
  LLMC_RETURN_IF_ERROR(E.step(In));
  size_t At = 0;
  for (size_t I = 0; I != Parts.size(); ++I) {
    Parts[I].Seq->Length += Parts[I].Count;
    Logits.emplace_back(Out.begin() + At * Vocab,
                        Out.begin() + (At + RowsOfPart[I]) * Vocab);
    At += RowsOfPart[I];
  }
  return Status::success();
}

std::vector<std::vector<float>>
DeviceConformance::step(Executable &E, std::vector<Part> Parts) {
  std::vector<std::vector<float>> Logits;
  Status S = tryStep(E, Parts, Logits);
  EXPECT_TRUE(S.ok()) << S.message();
  Logits.resize(Parts.size());
  return Logits;
}

std::vector<std::vector<float>> DeviceConformance::run(Executable &E,
                                                       Sequence &S,
                                                       int32_t Chunk,
                                                       int32_t Generated) {
  std::vector<std::vector<float>> All;
  int32_t Total = static_cast<int32_t>(S.Tokens.size());
  std::vector<float> Last;
  while (S.Length < Total - Generated)
    Last =
        step(E, {{&S, std::min(Chunk, Total - Generated - S.Length), true}})[0];
  All.push_back(Last);
  while (S.Length < Total)
    All.push_back(step(E, {{&S, 1, false}})[0]);
  return All;
}

namespace {
bool sameBits(const std::vector<float> &A, const std::vector<float> &B) {
  return A.size() == B.size() &&
         std::memcmp(A.data(), B.data(), A.size() * 4) == 0;
}

bool sameBits(const std::vector<std::vector<float>> &A,
              const std::vector<std::vector<float>> &B) {
  return std::equal(A.begin(), A.end(), B.begin(), B.end(),
                    [](const std::vector<float> &X,
                       const std::vector<float> &Y) { return sameBits(X, Y); });
}
} // namespace

TEST_P(DeviceConformance, InfoIsWhatWasLoaded) {
  std::unique_ptr<Executable> E = load();
  ASSERT_TRUE(E);
  EXPECT_GE(E->info().MaxTokens, 64u);
  EXPECT_GE(E->info().MaxSequences, 3u);
  EXPECT_EQ(E->info().Vocab, 96u);
  EXPECT_GT(E->info().PageTokens, 0u);
  EXPECT_GT(E->info().PageBytes, 0u);
  DeviceLoadOptions O;
  O.Pages = 7;
  E = load(O);
  ASSERT_TRUE(E);
  EXPECT_EQ(E->info().Pages, 7u);
}

TEST_P(DeviceConformance, LogitsMatchTheReference) {
  std::unique_ptr<Executable> E = load();
  ASSERT_TRUE(E);
  Sequence S = make(1, 44);
  std::vector<std::vector<double>> Expected = Program.Reference(S.Tokens);
  std::vector<float> Prompt = step(*E, {{&S, 40, true, true}})[0];
  for (size_t T = 0; T != 44; ++T) {
    std::vector<float> Row =
        T < 40 ? std::vector<float>(Prompt.begin() + T * 96,
                                    Prompt.begin() + (T + 1) * 96)
               : step(*E, {{&S, 1, false}})[0];
    for (size_t I = 0; I != 96; ++I)
      ASSERT_NEAR(Row[I], Expected[T][I], Program.Tolerance)
          << "token " << T << ", logit " << I;
  }
}

TEST_P(DeviceConformance, ChunkingDoesNotShow) {
  std::unique_ptr<Executable> E = load();
  ASSERT_TRUE(E);
  Sequence Whole = make(2, 64);
  std::vector<std::vector<float>> Expected = run(*E, Whole, 60, 4);
  for (int32_t Chunk : {1, 7, 32}) {
    Sequence S = make(2, 64);
    EXPECT_TRUE(sameBits(run(*E, S, Chunk, 4), Expected)) << "chunk " << Chunk;
  }
}

/// A device may prepare steps when they come again (CUDA graphs): the second
/// and later rounds give the bits of the first, on other pages and in between
/// other steps, too.
TEST_P(DeviceConformance, ComingAgainDoesNotShow) {
  std::unique_ptr<Executable> E = load();
  ASSERT_TRUE(E);
  Sequence First = make(4, 44), Other = make(5, 44, 10);
  std::vector<std::vector<float>> Expected = run(*E, First, 40, 4);
  std::vector<std::vector<float>> Others = run(*E, Other, 40, 4);
  Sequence AllRows = make(4, 40);
  std::vector<float> Rows = step(*E, {{&AllRows, 40, true, true}})[0];
  for (uint32_t Round = 0; Round != 3; ++Round) {
    Sequence A = make(4, 44, 5 * (Round % 2)), B = make(5, 44, 10);
    EXPECT_TRUE(sameBits(run(*E, A, 40, 4), Expected)) << "round " << Round;
    EXPECT_TRUE(sameBits(run(*E, B, 40, 4), Others)) << "round " << Round;
    Sequence C = make(4, 40, 5);
    EXPECT_EQ(step(*E, {{&C, 40, true, true}})[0], Rows) << "round " << Round;
  }
}

TEST_P(DeviceConformance, PagesDoNotShow) {
  std::unique_ptr<Executable> E = load();
  ASSERT_TRUE(E);
  Sequence A = make(3, 70), B = make(3, 70, 9, 2);
  std::vector<std::vector<float>> Expected = run(*E, A, 60, 3);
  EXPECT_TRUE(sameBits(run(*E, B, 60, 3), Expected));
}

TEST_P(DeviceConformance, BatchEqualsAlone) {
  std::unique_ptr<Executable> E = load();
  ASSERT_TRUE(E);
  std::vector<std::vector<std::vector<float>>> Alone;
  const int32_t Lengths[] = {5, 17, 33};
  for (uint32_t I = 0; I != 3; ++I) {
    Sequence S = make(10 + I, Lengths[I] + 3);
    Alone.push_back(run(*E, S, 64, 3));
  }
  Sequence S[3] = {make(10, 8, 0), make(11, 20, 5), make(12, 36, 10)};
  std::vector<std::vector<float>> Together =
      step(*E, {{&S[0], 5, true}, {&S[1], 17, true}, {&S[2], 33, true}});
  for (size_t I = 0; I != 3; ++I)
    EXPECT_TRUE(sameBits(Together[I], Alone[I][0])) << "prompt " << I;
  for (size_t T = 1; T != 4; ++T) {
    Together =
        step(*E, {{&S[0], 1, false}, {&S[1], 1, false}, {&S[2], 1, false}});
    for (size_t I = 0; I != 3; ++I)
      EXPECT_TRUE(sameBits(Together[I], Alone[I][T]))
          << "sequence " << I << ", token " << T;
  }
}

TEST_P(DeviceConformance, PromptAndGeneratedInOneStep) {
  std::unique_ptr<Executable> E = load();
  ASSERT_TRUE(E);
  Sequence A = make(20, 12), B = make(21, 30);
  std::vector<std::vector<float>> AloneA = run(*E, A, 64, 1),
                                  AloneB = run(*E, B, 64, 0);
  Sequence C = make(20, 12), D = make(21, 30, 5);
  step(*E, {{&C, 11, true}});
  std::vector<std::vector<float>> Mixed =
      step(*E, {{&D, 30, true}, {&C, 1, false}});
  EXPECT_TRUE(sameBits(Mixed[0], AloneB[0]));
  EXPECT_TRUE(sameBits(Mixed[1], AloneA[1]));
}

TEST_P(DeviceConformance, AllLogitsEqualSingleOnes) {
  std::unique_ptr<Executable> E = load();
  ASSERT_TRUE(E);
  Sequence A = make(30, 50), B = make(30, 50);
  std::vector<float> All = step(*E, {{&A, 50, true, true}})[0];
  for (int32_t T = 0; T != 50; ++T) {
    std::vector<float> One = step(*E, {{&B, 1, true}})[0];
    EXPECT_TRUE(std::equal(One.begin(), One.end(), All.begin() + T * 96))
        << "token " << T;
  }
}

TEST_P(DeviceConformance, CopiedPagesContinueTheSame) {
  std::unique_ptr<Executable> E = load();
  ASSERT_TRUE(E);
  Sequence A = make(40, 75);
  step(*E, {{&A, 60, true}});
  Sequence Fork = A;
  Fork.Pages = {10, 11, 12, 13, 14};
  for (size_t I = 0; I != 5; ++I)
    ASSERT_TRUE(E->copyPage(A.Pages[I], Fork.Pages[I]).ok());
  Sequence Other = A; // goes on differently on the old pages
  for (int32_t I = 60; I != 75; ++I)
    Other.Tokens[I] = (Other.Tokens[I] + 1) % 96;
  step(*E, {{&Other, 15, true}});
  std::vector<float> Forked = step(*E, {{&Fork, 15, true}})[0];
  Sequence Fresh = make(40, 75, 15);
  step(*E, {{&Fresh, 60, true}});
  EXPECT_TRUE(sameBits(Forked, step(*E, {{&Fresh, 15, true}})[0]));
}

TEST_P(DeviceConformance, ExecutablesDoNotShareState) {
  std::unique_ptr<Executable> A = load(), B = load();
  ASSERT_TRUE(A && B);
  Sequence SA = make(50, 20), SB = make(51, 20), SC = make(50, 20);
  step(*A, {{&SA, 19, true}});
  step(*B, {{&SB, 20, true}}); // the same pages of another pool
  std::vector<float> Found = step(*A, {{&SA, 1, false}})[0];
  std::vector<std::vector<float>> Expected = run(*B, SC, 64, 1);
  EXPECT_TRUE(sameBits(Found, Expected[1]));
}

TEST_P(DeviceConformance, LimitsAreErrorsAndBreakNothing) {
  DeviceLoadOptions O;
  O.Pages = 5;
  std::unique_ptr<Executable> E = load(O);
  ASSERT_TRUE(E);
  std::vector<std::vector<float>> Unused;
  Sequence Many = make(60, static_cast<int32_t>(E->info().MaxTokens) + 1);
  Many.Pages.assign(Many.Tokens.size() / E->info().PageTokens + 1, 0);
  Status S = tryStep(
      *E, {{&Many, static_cast<int32_t>(Many.Tokens.size()), true}}, Unused);
  EXPECT_EQ(S.code(), StatusCode::DoesNotFit) << S.message();
  std::vector<Sequence> Crowd(E->info().MaxSequences + 1, make(61, 1));
  std::vector<Part> Parts;
  for (Sequence &C : Crowd)
    Parts.push_back({&C, 1, true});
  S = tryStep(*E, Parts, Unused);
  EXPECT_EQ(S.code(), StatusCode::DoesNotFit) << S.message();
  Sequence BadId = make(62, 1), BadPage = make(63, 1, 5), Far = make(64, 1);
  BadId.Tokens[0] = 96;
  EXPECT_FALSE(tryStep(*E, {{&BadId, 1, true}}, Unused).ok());
  EXPECT_FALSE(tryStep(*E, {{&BadPage, 1, true}}, Unused).ok());
  Far.Tokens.assign(1000, 1);
  Far.Length = static_cast<int32_t>(5 * E->info().PageTokens);
  EXPECT_FALSE(tryStep(*E, {{&Far, 1, true}}, Unused).ok());
  EXPECT_FALSE(E->copyPage(0, 5).ok());
  EXPECT_FALSE(E->copyPage(5, 0).ok());
  EXPECT_TRUE(Unused.empty());
  Sequence Fine = make(65, 3), Again = make(65, 3);
  std::vector<float> First = step(*E, {{&Fine, 3, true}})[0];
  EXPECT_TRUE(sameBits(First, step(*E, {{&Again, 3, true}})[0]));
}

TEST_P(DeviceConformance, ForeignCodeIsRefusedWithAReason) {
  ProgramView P = Program.View;
  P.Target = "riscv-9000";
  EXPECT_NE(Dev->whyNot(P), "");
  Result<std::unique_ptr<Executable>> E = Dev->load(P, {});
  ASSERT_FALSE(E.ok());
  EXPECT_EQ(E.status().code(), StatusCode::DoesNotFit);
  P = Program.View;
  P.Weights = P.Weights.first(16);
  E = Dev->load(P, {});
  ASSERT_FALSE(E.ok());
  EXPECT_EQ(E.status().code(), StatusCode::Malformed);
}

} // namespace llmc::cts
