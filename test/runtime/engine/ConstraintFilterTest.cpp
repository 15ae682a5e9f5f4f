// Constrained requests on the toy executable, whose likings are as good as
// random.
#include "runtime/engine/ConstraintFilter.h"
#include "runtime/engine/Engine.h"

#include "runtime/text/constraint/GrammarImage.h"
#include "test/runtime/engine/SmallTokenizer.h"
#include "test/runtime/model/ToyExecutable.h"

#include <gtest/gtest.h>
#include <regex>

using namespace llmc;
using constraint::Dialect;

namespace {

RequestParams constrained(ConstraintStore &Store, Dialect D, const char *Text,
                          uint64_t Seed) {
  RequestParams P;
  P.Prompt = {3, 4, 5};
  P.MaxTokens = 60;
  P.Sampling.Temperature = 1e6f;
  P.Sampling.Seed = Seed;
  P.EosIds = {2};
  auto C = Store.get(D, Text);
  EXPECT_TRUE(C.ok()) << C.status().message();
  P.Filters.push_back(std::make_shared<ConstraintFilter>(C.take(), P.EosIds));
  return P;
}

/// Runs all at once.
std::vector<RequestResult> run(std::vector<RequestParams> All) {
  ExecutableInfo I =
      ToyExecutable::small(static_cast<uint32_t>(smallTokenizer().vocabSize()));
  I.Pages = 96;
  ToyExecutable Toy(I);
  Session S(Toy, 0);
  Engine E(S, &smallTokenizer());
  std::vector<std::shared_ptr<Request>> Requests;
  for (RequestParams &P : All) {
    Result<std::shared_ptr<Request>> R = E.submit(std::move(P));
    EXPECT_TRUE(R.ok()) << R.status().message();
    Requests.push_back(R.take());
  }
  for (bool Done = false; !Done;)
    EXPECT_TRUE(E.step(Done).ok());
  std::vector<RequestResult> Out;
  for (const std::shared_ptr<Request> &R : Requests)
    Out.push_back(R->result());
  return Out;
}

TEST(ConstraintFilter, TextsMatchInABatchAndAlone) {
  ConstraintStore Store(&smallTokenizer());
  const char *Pattern = "[ab]{3,6}(x|yz)";
  std::vector<RequestParams> All;
  for (uint64_t Seed = 0; Seed < 8; ++Seed)
    All.push_back(constrained(Store, Dialect::Regex, Pattern, Seed));
  std::vector<RequestResult> Together = run(All);
  for (size_t I = 0; I < All.size(); ++I) {
    const Choice &C = Together[I].first();
    EXPECT_TRUE(std::regex_match(C.Text, std::regex(Pattern))) << C.Text;
    EXPECT_EQ(C.Finish, FinishReason::Eos);
    EXPECT_TRUE(C.Constrained && C.Complete);
    EXPECT_EQ(run({All[I]})[0].first().Text, C.Text);
  }
}

TEST(ConstraintFilter, CutTextsSayThatTheyAreNotComplete) {
  ConstraintStore Store(&smallTokenizer());
  RequestParams P = constrained(Store, Dialect::Regex, "a{50}", 1);
  P.MaxTokens = 2;
  Choice C = run({P})[0].first();
  EXPECT_EQ(C.Finish, FinishReason::Length);
  EXPECT_TRUE(C.Constrained);
  EXPECT_FALSE(C.Complete);
}

TEST(ConstraintFilter, WorksWithChoicesAndStopStrings) {
  ConstraintStore Store(&smallTokenizer());
  RequestParams P = constrained(
      Store, Dialect::JsonSchema,
      R"({"type":"array","items":{"enum":["one","two"]},"minItems":2,
          "maxItems":3})",
      4);
  P.Choices = 3;
  const RequestResult Three = run({P})[0];
  for (const Choice &C : Three.Choices)
    EXPECT_TRUE(std::regex_match(
        C.Text, std::regex(R"re(\["(one|two)"(,"(one|two)"){1,2}\])re")))
        << C.Text;
  P.Stop = {","};
  const RequestResult Stopped = run({P})[0];
  for (const Choice &C : Stopped.Choices) {
    EXPECT_TRUE(C.Text == "[\"one\"" || C.Text == "[\"two\"") << C.Text;
    EXPECT_EQ(C.Finish, FinishReason::Stop);
  }
}

TEST(ConstraintFilter, BansThatLeaveNothingAreAFailure) {
  ConstraintStore Store(&smallTokenizer());
  RequestParams P = constrained(Store, Dialect::Regex, "abc", 1);
  P.Banned = {"b"};
  RequestResult R = run({P})[0];
  EXPECT_EQ(R.first().Finish, FinishReason::Cancelled);
  EXPECT_FALSE(R.Failure.ok());
}

TEST(ConstraintFilter, StoredConstraintsAreTheSame) {
  ConstraintStore Store(&smallTokenizer());
  RequestParams P = constrained(Store, Dialect::Regex, "(ab|ba)+c", 9);
  auto G = constraint::compileRegex("(ab|ba)+c");
  std::vector<uint8_t> Image = constraint::writeGrammarImage(**G);
  RequestParams Q = P;
  Q.Filters = {std::make_shared<ConstraintFilter>(Store.getStored(Image).take(),
                                                  P.EosIds)};
  EXPECT_EQ(run({P})[0].first().Text, run({Q})[0].first().Text);
}

TEST(ConstraintFilter, NeedsATokenizer) {
  ConstraintStore Store(nullptr);
  EXPECT_EQ(Store.get(Dialect::Regex, "a").status().code(), StatusCode::Usage);
}

} // namespace
