// Sequences and steps on the toy executable, which hashes what it finds in the
// pages of a row.
#include "runtime/model/Session.h"

#include "test/runtime/model/ToyExecutable.h"

#include <gtest/gtest.h>

using namespace llmc;

namespace {

constexpr uint32_t Vocab = 50;

class SessionTest : public testing::Test {
protected:
  /// Appends prompt tokens; gives the logits of the last.
  std::vector<float> append(SequenceId Id, std::vector<int32_t> Tokens,
                            TokenClass C = TokenClass::Prompt) {
    std::vector<StepRow> Rows;
    for (int32_t T : Tokens)
      Rows.push_back({Id, T, C, false});
    Rows.back().WantLogits = true;
    std::vector<float> L(Vocab);
    Status R = S.step(Rows, L);
    EXPECT_TRUE(R.ok()) << R.message();
    return L;
  }
  /// What the toy computes for prompt tokens.
  static std::vector<float> prompt(std::vector<int32_t> Tokens) {
    for (int32_t &T : Tokens)
      T *= 2;
    return ToyExecutable::expected(Tokens, Vocab);
  }

  ToyExecutable Toy{ToyExecutable::small(Vocab)};
  Session S{Toy, 0};
};

TEST_F(SessionTest, ChunksGiveTheSame) {
  SequenceId A = S.create(), B = S.create();
  append(A, {1, 2, 3});
  append(B, {9});
  append(A, {4, 5, 6, 7});
  EXPECT_EQ(append(A, {8}), prompt({1, 2, 3, 4, 5, 6, 7, 8}));
  EXPECT_EQ(append(B, {1}), prompt({9, 1}));
  EXPECT_EQ(S.length(A), 8u);
}

TEST_F(SessionTest, RowsAreSortedByClassAndLogitsFound) {
  SequenceId A = S.create(), B = S.create();
  append(A, {1, 2});
  // Generated rows of A around prompt rows of B, all with logits.
  std::vector<StepRow> Rows = {{A, 3, TokenClass::Generated, true},
                               {B, 7, TokenClass::Prompt, true},
                               {A, 4, TokenClass::Generated, true},
                               {B, 8, TokenClass::Prompt, false}};
  std::vector<float> L(3 * Vocab);
  ASSERT_TRUE(S.step(Rows, L).ok());
  auto RowOf = [&](size_t I) {
    auto Begin = L.begin() + S.logitIndex(I) * Vocab;
    return std::vector<float>(Begin, Begin + Vocab);
  };
  EXPECT_EQ(RowOf(0), ToyExecutable::expected({2, 4, 7}, Vocab));
  EXPECT_EQ(RowOf(1), ToyExecutable::expected({14}, Vocab));
  EXPECT_EQ(RowOf(2), ToyExecutable::expected({2, 4, 7, 9}, Vocab));
}

TEST_F(SessionTest, ForkSharesPagesUntilAWrite) {
  SequenceId A = S.create();
  append(A, {1, 2, 3, 4, 5, 6});
  uint32_t Free = S.freePages();
  SequenceId B = S.fork(A);
  EXPECT_EQ(S.freePages(), Free);
  EXPECT_EQ(append(B, {20}), prompt({1, 2, 3, 4, 5, 6, 20}));
  EXPECT_EQ(Toy.Copies, 1);
  EXPECT_EQ(append(A, {30}), prompt({1, 2, 3, 4, 5, 6, 30}));
  EXPECT_EQ(append(B, {21}), prompt({1, 2, 3, 4, 5, 6, 20, 21}));
  EXPECT_EQ(Toy.Copies, 1); // A was alone on its page by then
  S.free(A);
  EXPECT_EQ(append(B, {22}), prompt({1, 2, 3, 4, 5, 6, 20, 21, 22}));
  S.free(B);
  EXPECT_EQ(S.freePages(), S.pageCapacity());
}

TEST_F(SessionTest, TruncateForgets) {
  SequenceId A = S.create();
  append(A, {1, 2, 3, 4, 5, 6});
  S.truncate(A, 3);
  EXPECT_EQ(S.freePages(), S.pageCapacity() - 1);
  EXPECT_EQ(append(A, {9}), prompt({1, 2, 3, 9}));
}

TEST_F(SessionTest, FailedStepLeavesNothingBehind) {
  SequenceId A = S.create();
  append(A, {1, 2, 3});
  Toy.FailNext = true;
  std::vector<StepRow> Rows(5, {A, 7, TokenClass::Prompt, false});
  EXPECT_EQ(S.step(Rows, {}).message(), "toy failure");
  EXPECT_EQ(S.length(A), 3u);
  EXPECT_EQ(S.freePages(), S.pageCapacity() - 1);
  EXPECT_EQ(append(A, {4}), prompt({1, 2, 3, 4}));
}

TEST_F(SessionTest, NamesWhatDoesNotFit) {
  SequenceId A = S.create();
  std::vector<StepRow> Rows(9, {A, 7, TokenClass::Prompt, false});
  EXPECT_EQ(S.step(Rows, {}).message(), "step of 9 tokens, at most 8");
  Rows.resize(1);
  Rows[0].Token = 50;
  EXPECT_EQ(S.step(Rows, {}).message(),
            "token 50 is outside the vocabulary of 50");
  Rows[0] = {A, 7, TokenClass::Prompt, true};
  EXPECT_EQ(S.step(Rows, {}).message(), "room for 0 logits, expected 50");
  Rows[0] = {A + 5, 7, TokenClass::Prompt, false};
  EXPECT_EQ(S.step(Rows, {}).message(), "no sequence 5");
  Rows.clear();
  for (int I = 0; I < 5; ++I)
    Rows.push_back({S.create(), 1, TokenClass::Prompt, false});
  EXPECT_EQ(S.step(Rows, {}).message(), "step of 5 sequences, at most 4");
}

TEST_F(SessionTest, ContextAndPagesAreLimits) {
  Session Short(Toy, 6);
  SequenceId A = Short.create();
  std::vector<StepRow> Rows(7, {A, 7, TokenClass::Prompt, false});
  Status R = Short.step(Rows, {});
  EXPECT_EQ(R.code(), StatusCode::DoesNotFit);
  EXPECT_EQ(R.message(), "context of 7 tokens, at most 6");

  // 16 pages of 4: eight sequences of 5 tokens take them all.
  for (int I = 0; I < 8; ++I)
    append(S.create(), {1, 2, 3, 4, 5});
  SequenceId B = S.create();
  Rows.assign(1, {B, 7, TokenClass::Prompt, false});
  EXPECT_EQ(S.step(Rows, {}).message(),
            "all 16 cache pages are in use, 1 more are needed");
}

} // namespace
