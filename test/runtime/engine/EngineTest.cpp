// Requests on the toy executable: batched equals alone, limits, stop strings,
// end tokens, cancelling, failures.
#include "runtime/engine/Engine.h"

#include "test/runtime/engine/SmallTokenizer.h"
#include "test/runtime/model/ToyExecutable.h"

#include <gtest/gtest.h>

using namespace llmc;

namespace {

class EngineTest : public testing::Test {
protected:
  static RequestParams request(std::vector<int32_t> Prompt, uint32_t Max) {
    RequestParams P;
    P.Prompt = std::move(Prompt);
    P.MaxTokens = Max;
    return P;
  }
  std::shared_ptr<Request> submit(Engine &E, RequestParams P) {
    Result<std::shared_ptr<Request>> R = E.submit(std::move(P));
    EXPECT_TRUE(R.ok()) << R.status().message();
    return R.take();
  }
  static void run(Engine &E) {
    for (bool Done = false; !Done;)
      ASSERT_TRUE(E.step(Done).ok());
  }
  /// Result of a request that has the machine to itself.
  static RequestResult alone(RequestParams P) {
    ToyExecutable Toy(info());
    Session S(Toy, 0);
    Engine E(S, &smallTokenizer());
    std::shared_ptr<Request> R = E.submit(std::move(P)).take();
    run(E);
    return R->result();
  }
  static ExecutableInfo info() {
    return ToyExecutable::small(
        static_cast<uint32_t>(smallTokenizer().vocabSize()));
  }

  ToyExecutable Toy{info()};
  Session S{Toy, 0};
  Engine E{S, &smallTokenizer()};
};

TEST_F(EngineTest, BatchedEqualsAlone) {
  std::vector<RequestParams> All;
  for (int32_t I = 0; I < 9; ++I) {
    std::vector<int32_t> Prompt(1 + I % 5 * 2, 10 + I);
    RequestParams P = request(Prompt, 3 + I % 4);
    P.Sampling.Temperature = I % 2 ? 1.0f : 0.0f;
    P.Sampling.Seed = static_cast<uint64_t>(I);
    All.push_back(std::move(P));
  }
  std::vector<std::shared_ptr<Request>> Requests;
  for (const RequestParams &P : All)
    Requests.push_back(submit(E, P));
  run(E);
  for (size_t I = 0; I < All.size(); ++I) {
    RequestResult Want = alone(All[I]);
    EXPECT_EQ(Requests[I]->result().first().Tokens, Want.first().Tokens) << I;
    EXPECT_EQ(Requests[I]->result().first().Text, Want.first().Text) << I;
    EXPECT_EQ(Want.first().Tokens.size(), All[I].MaxTokens);
  }
  EXPECT_EQ(S.freePages(), S.pageCapacity());
}

TEST_F(EngineTest, LongPromptsComeInChunks) {
  std::vector<int32_t> Prompt(30);
  for (size_t I = 0; I < Prompt.size(); ++I)
    Prompt[I] = static_cast<int32_t>(I);
  std::shared_ptr<Request> R = submit(E, request(Prompt, 1));
  run(E);
  EXPECT_EQ(Toy.Steps, 4); // 8 + 8 + 8 + 6
  EXPECT_EQ(R->result().first().Finish, FinishReason::Length);
  EXPECT_EQ(R->result().PromptTokens, 30u);
}

TEST_F(EngineTest, LogitsOfPromptRows) {
  std::vector<int32_t> Prompt = {5, 6, 7, 8, 9, 10, 11, 12, 13, 14};
  for (LogitsWanted W : {LogitsWanted::Last, LogitsWanted::All}) {
    RequestParams P = request(Prompt, 1);
    P.Logits = W;
    std::vector<uint32_t> Seen;
    P.OnLogits = [&](uint32_t Row, std::span<const float> L) {
      Seen.push_back(Row);
      std::vector<int32_t> Codes;
      for (uint32_t I = 0; I <= Row; ++I)
        Codes.push_back(Prompt[I] * 2);
      EXPECT_EQ(std::vector<float>(L.begin(), L.end()),
                ToyExecutable::expected(Codes, Toy.info().Vocab));
    };
    submit(E, P);
    run(E);
    EXPECT_EQ(Seen.size(), W == LogitsWanted::All ? Prompt.size() : 1);
    EXPECT_EQ(Seen.back(), 9u);
  }
}

TEST_F(EngineTest, EndTokensEnd) {
  std::vector<int32_t> Free = alone(request({3, 4}, 6)).first().Tokens;
  RequestParams P = request({3, 4}, 6);
  P.EosIds = {Free[2]};
  std::shared_ptr<Request> R = submit(E, P);
  run(E);
  EXPECT_EQ(R->result().first().Finish, FinishReason::Eos);
  EXPECT_EQ(R->result().first().Tokens,
            std::vector<int32_t>(Free.begin(), Free.begin() + 2));
  P.IgnoreEos = true;
  R = submit(E, P);
  run(E);
  EXPECT_EQ(R->result().first().Tokens, Free);
  EXPECT_EQ(R->result().first().Finish, FinishReason::Length);
}

TEST_F(EngineTest, StopStringsAreCutOff) {
  RequestResult Free = alone(request({3, 4}, 8));
  ASSERT_GT(Free.first().Text.size(), 6u);
  RequestParams P = request({3, 4}, 8);
  P.Stop = {Free.first().Text.substr(3, 3)};
  std::string Streamed;
  P.OnToken = [&](const TokenEvent &Event) {
    Streamed += Event.Text;
    return true;
  };
  std::shared_ptr<Request> R = submit(E, P);
  run(E);
  EXPECT_EQ(R->result().first().Finish, FinishReason::Stop);
  EXPECT_EQ(R->result().first().Text,
            Free.first().Text.substr(0, Free.first().Text.find(P.Stop[0])));
  EXPECT_EQ(R->result().first().Stop, P.Stop[0]);
  EXPECT_EQ(Streamed, R->result().first().Text);
}

TEST_F(EngineTest, StreamedTextIsTheText) {
  RequestParams P = request({30, 31, 32}, 20);
  std::string Streamed;
  P.OnToken = [&](const TokenEvent &Event) {
    Streamed += Event.Text;
    return true;
  };
  std::shared_ptr<Request> R = submit(E, P);
  run(E);
  EXPECT_EQ(Streamed, R->result().first().Text);
  EXPECT_EQ(smallTokenizer().decode(R->result().first().Tokens, true),
            Streamed);
}

TEST_F(EngineTest, CallbackCancels) {
  RequestParams P = request({1}, 20);
  int Count = 0;
  P.OnToken = [&](const TokenEvent &) { return ++Count < 3; };
  std::shared_ptr<Request> R = submit(E, P);
  run(E);
  EXPECT_EQ(R->result().first().Finish, FinishReason::Cancelled);
  EXPECT_EQ(R->result().first().Tokens.size(), 3u);
  EXPECT_EQ(S.freePages(), S.pageCapacity());
}

TEST_F(EngineTest, WaitingRequestsCanBeCancelled) {
  std::vector<std::shared_ptr<Request>> All;
  for (int I = 0; I < 6; ++I)
    All.push_back(submit(E, request({1, 2}, 4)));
  bool Done = false;
  ASSERT_TRUE(E.step(Done).ok());
  EXPECT_EQ(E.running(), 4u);
  EXPECT_EQ(E.waiting(), 2u);
  All[0]->cancel();
  All[5]->cancel();
  run(E);
  EXPECT_EQ(All[0]->result().first().Finish, FinishReason::Cancelled);
  EXPECT_EQ(All[5]->result().first().Finish, FinishReason::Cancelled);
  EXPECT_EQ(All[4]->result().first().Finish, FinishReason::Length);
}

TEST_F(EngineTest, ContextLimitsTokens) {
  Session Short(Toy, 6);
  Engine Small(Short, &smallTokenizer());
  std::shared_ptr<Request> R = submit(Small, request({1, 2, 3, 4}, 100));
  run(Small);
  EXPECT_EQ(R->result().first().Tokens.size(), 3u); // the last one is never fed
  EXPECT_EQ(R->result().first().Finish, FinishReason::Length);
  Result<std::shared_ptr<Request>> Long =
      Small.submit(request({1, 2, 3, 4, 5, 6, 7}, 1));
  ASSERT_FALSE(Long.ok());
  EXPECT_EQ(Long.status().message(), "prompt of 7 tokens, the context holds 6");
}

TEST_F(EngineTest, PagesLimitWhoRuns) {
  // Each may need 8 of the 16 pages: two at a time.
  std::vector<std::shared_ptr<Request>> All;
  for (int I = 0; I < 4; ++I)
    All.push_back(submit(E, request({1, 2, I}, 30)));
  bool Done = false;
  ASSERT_TRUE(E.step(Done).ok());
  EXPECT_EQ(E.running(), 2u);
  run(E);
  for (const std::shared_ptr<Request> &R : All)
    EXPECT_EQ(R->result().first().Tokens.size(), 30u);
}

TEST_F(EngineTest, FailedStepEndsTheRequestsInIt) {
  std::shared_ptr<Request> R = submit(E, request({1, 2}, 4));
  Toy.FailNext = true;
  bool Done = false;
  EXPECT_EQ(E.step(Done).message(), "toy failure");
  EXPECT_EQ(R->result().Failure.message(), "toy failure");
  EXPECT_EQ(S.freePages(), S.pageCapacity());
  R = submit(E, request({1, 2}, 4));
  run(E);
  EXPECT_EQ(R->result().first().Tokens.size(), 4u);
}

TEST_F(EngineTest, BadRequestsAreNamed) {
  EXPECT_EQ(E.submit(request({}, 4)).status().message(),
            "the prompt has no tokens");
  EXPECT_EQ(E.submit(request({-1}, 4)).status().message(),
            "token -1 of the prompt is outside the vocabulary of " +
                std::to_string(Toy.info().Vocab));
  RequestParams P = request({1}, 4);
  P.Sampling.TopP = 0;
  EXPECT_EQ(E.submit(P).status().code(), StatusCode::Usage);
}

TEST_F(EngineTest, ZeroTokensOnlyFeedsThePrompt) {
  std::shared_ptr<Request> R = submit(E, request({1, 2}, 0));
  run(E);
  EXPECT_TRUE(R->result().first().Tokens.empty());
  EXPECT_EQ(R->result().first().Finish, FinishReason::Length);
}

TEST_F(EngineTest, LogitsOfAllRowsComeInPieces) {
  ExecutableInfo I = info();
  I.MaxTokens = 64, I.Pages = 64;
  ToyExecutable Big(I);
  Session Sess(Big, 0);
  Engine Run(Sess, &smallTokenizer());
  RequestParams P = request(std::vector<int32_t>(100, 3), 1);
  P.Logits = LogitsWanted::All;
  std::vector<uint32_t> Rows;
  size_t Most = 0;
  P.OnLogits = [&](uint32_t Row, std::span<const float>) {
    Rows.push_back(Row);
    Most = std::max(Most, Big.LastTokens);
  };
  // Another one, without logits, goes on beside it.
  std::shared_ptr<Request> A = submit(Run, std::move(P));
  std::shared_ptr<Request> B =
      submit(Run, request(std::vector<int32_t>(90, 4), 2));
  run(Run);
  ASSERT_EQ(Rows.size(), 100u);
  for (uint32_t I = 0; I < 100; ++I)
    EXPECT_EQ(Rows[I], I);
  EXPECT_LE(Big.MostLogitRows, 32u);
  EXPECT_EQ(Most, 64u);
  EXPECT_EQ(B->result().first().Tokens.size(), 2u);
}

} // namespace
