// Several completions of a request, beams, guesses, filters and
// log-probabilities, on the toy executable.
#include "runtime/engine/ConstraintFilter.h"
#include "runtime/engine/Engine.h"
#include "runtime/engine/PhraseBan.h"

#include "test/runtime/engine/SmallTokenizer.h"
#include "test/runtime/model/ToyExecutable.h"

#include <cmath>
#include <gtest/gtest.h>

using namespace llmc;

namespace {

using Ids = std::vector<int32_t>;

ExecutableInfo info(uint32_t Vocab = 50) {
  ExecutableInfo I = ToyExecutable::small(Vocab);
  I.Pages = 96;
  return I;
}

RequestParams request(Ids Prompt, uint32_t Max) {
  RequestParams P;
  P.Prompt = std::move(Prompt);
  P.MaxTokens = Max;
  return P;
}

/// Result of a request that has a machine to itself.
/// All steps take the same time, so that guesses always pay.
double countedSeconds() {
  static double Count = 0;
  return ++Count;
}

RequestResult alone(RequestParams P, ExecutableInfo I = info(),
                    const Tokenizer *T = nullptr, int *Steps = nullptr) {
  ToyExecutable Toy(I);
  Session S(Toy, 0);
  Engine E(S, T);
  E.setClock(countedSeconds);
  Result<std::shared_ptr<Request>> R = E.submit(std::move(P));
  EXPECT_TRUE(R.ok()) << R.status().message();
  for (bool Done = false; !Done;)
    EXPECT_TRUE(E.step(Done).ok());
  EXPECT_EQ(S.freePages(), S.pageCapacity());
  if (Steps != nullptr)
    *Steps = Toy.Steps;
  return (*R)->result();
}

/// Lets only some ids pass; Period > 0: every Period-th token is the first.
class Only : public TokenFilter {
public:
  Only(Ids Good, size_t Period = 0, size_t End = 0)
      : Good(std::move(Good)), Period(Period), End(End) {}
  std::unique_ptr<TokenFilter> clone() const override {
    return std::make_unique<Only>(*this);
  }
  void narrow(TokenBits Allowed) override {
    bool First = Period != 0 && Count % Period == 0;
    for (size_t Id = 0; Id < Allowed.size() * 64; ++Id) {
      auto It = std::find(Good.begin(), Good.end(), Id);
      if (It == Good.end() || (First && It != Good.begin()))
        Allowed[Id / 64] &= ~(uint64_t{1} << Id % 64);
    }
  }
  void accept(int32_t) override { ++Count; }
  bool finished() const override { return End != 0 && Count == End; }
  void forced(Ids &Out) const override {
    if (Period != 0 && Count % Period == 0)
      Out.push_back(Good.front());
  }

private:
  Ids Good;
  size_t Period, End, Count = 0;
};

TEST(Choices, FirstIsAsIfAloneAndAllArePerSeed) {
  RequestParams One = request({3, 4, 5}, 6);
  One.Sampling.Temperature = 1e6f; // the toy's logits are far apart
  One.Sampling.Seed = 11;
  RequestParams Three = One;
  Three.Choices = 3;
  RequestResult A = alone(One), B = alone(Three), C = alone(Three);
  ASSERT_EQ(B.Choices.size(), 3u);
  EXPECT_EQ(B.Choices[0].Tokens, A.first().Tokens);
  EXPECT_NE(B.Choices[1].Tokens, B.Choices[0].Tokens);
  EXPECT_NE(B.Choices[2].Tokens, B.Choices[1].Tokens);
  for (size_t I = 0; I < 3; ++I) {
    EXPECT_EQ(B.Choices[I].Tokens, C.Choices[I].Tokens);
    EXPECT_EQ(B.Choices[I].Tokens.size(), 6u);
  }
}

TEST(Choices, BansThatLeaveNothingFail) {
  RequestParams P = request({3, 4, 5}, 6);
  P.Sampling.AllowedIds = {7};
  P.Filters = {std::make_shared<Only>(Ids{8, 9})};
  for (uint32_t Beams : {1u, 2u}) {
    P.Beams = Beams;
    RequestResult R = alone(P);
    EXPECT_EQ(R.first().Finish, FinishReason::Cancelled);
    EXPECT_TRUE(R.Failure.message().starts_with(
        "constraints and bans leave no t")) // … ext, … oken
        << R.Failure.message();
  }
}

// Fewer tokens are left than there are beams: no beam takes a banned one.
TEST(Choices, BeamsStayWithinTheFilters) {
  RequestParams P = request({3, 4, 5}, 4);
  P.Filters = {std::make_shared<Only>(Ids{8, 9})};
  P.Beams = P.Choices = 12;
  for (const Choice &C : alone(P).Choices)
    for (int32_t Token : C.Tokens)
      EXPECT_TRUE(Token == 8 || Token == 9) << Token;
}

// A filter that wants nothing ends a request before its first token.
TEST(Choices, NothingWantedIsCompleteAtOnce) {
  class Nothing final : public Only {
  public:
    Nothing() : Only(Ids()) {}
    std::unique_ptr<TokenFilter> clone() const override {
      return std::make_unique<Nothing>();
    }
    bool finished() const override { return true; }
  };
  RequestParams P = request({3, 4, 5}, 6);
  P.Sampling.MinTokens = 3;
  P.Filters = {std::make_shared<Nothing>()};
  RequestResult R = alone(P);
  EXPECT_EQ(R.first().Finish, FinishReason::Eos);
  EXPECT_TRUE(R.first().Tokens.empty());
  EXPECT_TRUE(R.Failure.ok());
}

// An end token that is not marked special has a text, too.
TEST(Choices, EndTokensAreNoTextOfConstraints) {
  Ids A = smallTokenizer().encode("a", {.AddSpecial = false}).take();
  ASSERT_EQ(A.size(), 1u);
  ConstraintStore Store(&smallTokenizer());
  Result<std::shared_ptr<constraint::Constraint>> C =
      Store.get(constraint::Dialect::Regex, "[a-z]{2}", {});
  ASSERT_TRUE(C.ok());
  ConstraintFilter F(*C, A);
  size_t Words = tokenWords(smallTokenizer().vocabSize());
  std::vector<uint64_t> Bits(Words, ~uint64_t{0});
  F.narrow(Bits);
  EXPECT_FALSE(tokenBit(Bits, A[0]));
  F.accept(smallTokenizer().encode("in", {.AddSpecial = false})->front());
  ASSERT_TRUE(F.complete());
  Bits.assign(Words, ~uint64_t{0});
  F.narrow(Bits);
  EXPECT_TRUE(tokenBit(Bits, A[0]));
  Bits.assign(Words, 0); // what another filter took stays away
  F.narrow(Bits);
  EXPECT_FALSE(tokenBit(Bits, A[0]));
}

TEST(Choices, IdsOutsideTheVocabularyAreNamed) {
  ToyExecutable Toy(info());
  Session S(Toy, 0);
  Engine E(S, nullptr);
  RequestParams P = request({3}, 2);
  P.Sampling.LogitBias = {{50, 1.0f}};
  EXPECT_EQ(E.submit(P).status().message(),
            "token 50 of logit_bias is outside the vocabulary of 50");
  P.Sampling.LogitBias.clear();
  P.Sampling.AllowedIds = {4, -1};
  EXPECT_EQ(E.submit(P).status().message(),
            "token -1 of allowed_token_ids is outside the vocabulary of 50");
}

TEST(Choices, MoreThanSequencesTakeTurns) {
  ExecutableInfo Narrow = info();
  Narrow.MaxSequences = 1;
  RequestParams P = request({3, 4}, 5);
  P.Sampling.Temperature = 1e6f;
  P.Choices = 5;
  RequestResult Wide = alone(P), Thin = alone(P, Narrow);
  for (size_t I = 0; I < 5; ++I)
    EXPECT_EQ(Wide.Choices[I].Tokens, Thin.Choices[I].Tokens);
}

/// The search by the definition: rows straight from the toy's hash.
std::vector<BeamSearch::Hypothesis> searched(const RequestParams &P,
                                             uint32_t Vocab) {
  BeamSearch S(
      {P.Beams, P.Choices, P.LengthPenalty, P.Early, P.MaxTokens, P.EosIds});
  while (!S.done()) {
    std::vector<std::vector<double>> Rows(S.running());
    std::vector<std::span<const double>> Views;
    for (uint32_t B = 0; B < S.running(); ++B) {
      Ids Codes;
      for (int32_t Id : P.Prompt)
        Codes.push_back(Id * 2);
      for (int32_t Id : S.tokens(B))
        Codes.push_back(Id * 2 + 1);
      logSoftmax(ToyExecutable::expected(Codes, Vocab), Rows[B]);
    }
    for (const std::vector<double> &R : Rows)
      Views.emplace_back(R);
    S.advance(Views);
  }
  return S.best();
}

TEST(Choices, BeamsFollowTheSearch) {
  for (uint32_t Sequences : {4u, 2u, 1u}) {
    ExecutableInfo I = info();
    I.MaxSequences = Sequences;
    RequestParams P = request({9, 8, 7}, 7);
    P.Beams = 4;
    P.Choices = 3;
    P.EosIds = {1, 2, 3, 4, 5, 6, 7, 8};
    std::vector<BeamSearch::Hypothesis> Want = searched(P, I.Vocab);
    RequestResult Got = alone(P, I);
    ASSERT_EQ(Got.Choices.size(), Want.size());
    for (size_t C = 0; C < Want.size(); ++C) {
      Ids Tokens = Want[C].Tokens;
      if (Want[C].Ended)
        Tokens.pop_back();
      EXPECT_EQ(Got.Choices[C].Tokens, Tokens) << Sequences << " " << C;
      EXPECT_NEAR(Got.Choices[C].Score, Want[C].Score, 1e-9);
      EXPECT_EQ(Got.Choices[C].Finish == FinishReason::Eos, Want[C].Ended);
    }
  }
}

TEST(Choices, GuessesChangeNothingButTheSteps) {
  // Few allowed ids, so that what is written repeats itself.
  for (float Temperature : {0.0f, 1e6f}) {
    RequestParams P = request({1, 2, 1, 2, 1, 2}, 60);
    P.Sampling.Temperature = Temperature;
    P.Filters = {std::make_shared<Only>(Ids{1, 2})};
    int Plain = 0, Guessing = 0;
    RequestResult Want = alone(P, info(), nullptr, &Plain);
    P.Guess = Speculation::Ngram;
    RequestResult Got = alone(P, info(), nullptr, &Guessing);
    EXPECT_EQ(Got.first().Tokens, Want.first().Tokens);
    EXPECT_GT(Got.Right, 0u);
    EXPECT_EQ(static_cast<uint32_t>(Plain - Guessing), Got.Right);
  }
}

TEST(Choices, ForcedTokensShareAStep) {
  RequestParams P = request({1, 2}, 20);
  P.Filters = {std::make_shared<Only>(Ids{7, 8, 9}, 2)};
  int Steps = 0;
  RequestResult R = alone(P, info(), nullptr, &Steps);
  ASSERT_EQ(R.first().Tokens.size(), 20u);
  for (size_t I = 0; I < 20; I += 2)
    EXPECT_EQ(R.first().Tokens[I], 7);
  EXPECT_LT(Steps, 14);
}

TEST(Choices, FinishedFilterEnds) {
  RequestParams P = request({1, 2}, 20);
  P.Filters = {std::make_shared<Only>(Ids{7, 8}, 0, 3)};
  RequestResult R = alone(P);
  EXPECT_EQ(R.first().Tokens.size(), 3u);
  EXPECT_EQ(R.first().Finish, FinishReason::Eos);
}

TEST(Choices, BannedTextsNeverAppear) {
  ExecutableInfo I = info(static_cast<uint32_t>(smallTokenizer().vocabSize()));
  RequestParams P = request({30, 31}, 60);
  Ids Letters; // a broken character would be shown as another one
  for (int32_t Id = 60; Letters.size() < 12; Id += 3) {
    std::string_view B = smallTokenizer().bytesOf(Id);
    if (!B.empty() && std::all_of(B.begin(), B.end(), [](unsigned char C) {
          return std::isalpha(C) != 0;
        }))
      Letters.push_back(Id);
  }
  P.Filters = {std::make_shared<Only>(Letters)};
  std::string Free = alone(P, I, &smallTokenizer()).first().Text;
  ASSERT_GT(Free.size(), 20u);
  // What appears first, cut at places that are not those of tokens.
  P.Banned = {Free.substr(3, 4), Free.substr(11, 2)};
  RequestResult R = alone(P, I, &smallTokenizer());
  for (const std::string &B : P.Banned)
    EXPECT_EQ(R.first().Text.find(B), std::string::npos) << B;
  EXPECT_EQ(R.first().Tokens.size(), 60u);
}

TEST(Choices, LogprobsAreOfTheModelsLogits) {
  RequestParams P = request({3, 4, 5}, 3);
  P.Logprobs = P.PromptLogprobs = true;
  P.TopLogprobs = 2;
  P.Sampling.LogitBias = {{6, 1e9f}};
  RequestResult R = alone(P);
  ASSERT_EQ(R.PromptLogprobs.size(), 2u);
  std::vector<double> Row;
  logSoftmax(ToyExecutable::expected({6, 8}, info().Vocab), Row);
  EXPECT_EQ(R.PromptLogprobs[1].Token, 5);
  EXPECT_NEAR(R.PromptLogprobs[1].Logprob, Row[5], 1e-2);
  ASSERT_EQ(R.first().Logprobs.size(), 3u);
  const PositionLogprobs &First = R.first().Logprobs[0];
  EXPECT_EQ(First.Token, 6); // by its bias, which is not in the logprob
  logSoftmax(ToyExecutable::expected({6, 8, 10}, info().Vocab), Row);
  EXPECT_NEAR(First.Logprob, Row[6], 1e-2);
  ASSERT_EQ(First.Top.size(), 2u);
  EXPECT_EQ(First.Top[0].Token,
            std::max_element(Row.begin(), Row.end()) - Row.begin());
  EXPECT_GT(First.Rank, 0u);
}

TEST(Choices, BadCombinationsAreNamed) {
  ToyExecutable Toy(info());
  Session S(Toy, 0);
  Engine E(S, &smallTokenizer());
  auto Message = [&](auto Change) {
    RequestParams P = request({1}, 4);
    Change(P);
    return E.submit(P).status().message();
  };
  EXPECT_EQ(Message([](RequestParams &P) { P.Choices = 0; }),
            "0 choices, expected 1 to 256");
  EXPECT_EQ(Message([](RequestParams &P) {
              P.Beams = 2;
              P.Stop = {"x"};
            }),
            "stop strings do not go together with beams");
  EXPECT_EQ(Message([](RequestParams &P) {
              P.Beams = 2;
              P.Logprobs = true;
            }),
            "logprobs do not go together with beams");
  EXPECT_EQ(Message([](RequestParams &P) { P.Banned = {""}; }),
            "banned text of 0 bytes, expected 1 to 1024");
  EXPECT_EQ(Message([](RequestParams &P) {
              P.Choices = 200;
              P.MaxTokens = 40;
            }),
            "request may need 2000 cache pages, there are 96: load with more "
            "tokens of cache, or compile with a larger --max-batch");
}

} // namespace
