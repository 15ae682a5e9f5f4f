// Distributions and draws against values computed with numpy, and the random
// numbers.
#include "runtime/engine/Sampler.h"

#include <cmath>
#include <fstream>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

using namespace llmc;
using Json = nlohmann::json;

namespace {

SamplingParams paramsOf(const Json &J) {
  SamplingParams P;
  P.Temperature = J.value("temperature", 1.0f);
  P.TopK = J.value("top_k", 0);
  P.TopP = J.value("top_p", 1.0f);
  P.MinP = J.value("min_p", 0.0f);
  P.RepetitionPenalty = J.value("repetition_penalty", 1.0f);
  P.FrequencyPenalty = J.value("frequency_penalty", 0.0f);
  P.PresencePenalty = J.value("presence_penalty", 0.0f);
  P.TypicalP = J.value("typical_p", 1.0f);
  P.MinTokens = J.value("min_tokens", 0u);
  P.NoRepeatNgram = J.value("no_repeat_ngram_size", 0u);
  using Ids = std::vector<int32_t>;
  P.EosIds = J.value("eos_token_ids", Ids());
  P.AllowedIds = J.value("allowed_token_ids", Ids());
  P.BadWords = J.value("bad_words_ids", std::vector<Ids>());
  Json Bias = J.value("logit_bias", Json::object());
  for (auto It = Bias.begin(); It != Bias.end(); ++It)
    P.LogitBias.emplace_back(std::stoi(It.key()),
                             It->is_string() ? -INFINITY : It->get<float>());
  return P;
}

std::vector<float> logitsOf(const Json &J) {
  std::vector<float> L;
  for (const Json &V : J)
    L.push_back(V.is_string() ? -INFINITY : V.get<float>());
  return L;
}

TEST(Sampler, DistributionsAndDraws) {
  std::ifstream File(LLMC_TEST_INPUTS "/sampling/samplers.jsonl");
  int Count = 0;
  for (std::string Line; std::getline(File, Line); ++Count) {
    Json Case = Json::parse(Line);
    std::vector<float> Logits = logitsOf(Case["logits"]);
    std::vector<int32_t> Prompt =
        Case["params"].value("prompt", std::vector<int32_t>());
    Sampler S(paramsOf(Case["params"]), static_cast<uint32_t>(Logits.size()),
              Prompt);
    for (int32_t T : Case["params"].value("output", std::vector<int32_t>()))
      S.accept(T);
    std::vector<double> P;
    S.distribution(Logits, P);
    ASSERT_EQ(P.size(), Case["probs"].size());
    for (size_t I = 0; I < P.size(); ++I)
      EXPECT_NEAR(P[I], Case["probs"][I].get<double>(), 1e-5)
          << Case["name"] << " " << I;
    for (const Json &D : Case.value("draws", Json::array()))
      EXPECT_EQ(Sampler::draw(P, D["u"].get<double>()),
                D["token"].get<int32_t>())
          << Case["name"] << " u " << D["u"];
  }
  EXPECT_GT(Count, 100);
}

TEST(Sampler, GreedyTakesTheLowestIndexOfEqualLogits) {
  Sampler S({}, 4, {});
  std::vector<float> L = {0, 3, 3, -INFINITY};
  EXPECT_EQ(S.sample(L), 1);
}

TEST(Sampler, SurvivesNotANumber) {
  std::vector<float> L(4, NAN);
  Sampler Greedy({}, 4, {});
  EXPECT_EQ(Greedy.sample(L), 0);
  SamplingParams P;
  P.Temperature = 1;
  P.TopK = 2;
  Sampler Random(P, 4, {});
  EXPECT_EQ(Random.sample(L), 0);
  L[2] = 1;
  EXPECT_EQ(Random.sample(L), 2);
}

TEST(Sampler, BansAreNeverOverruled) {
  std::vector<float> L = {3, 2, 1};
  std::vector<uint64_t> OnlySecond = {2};
  for (float Temperature : {0.0f, 1.0f}) {
    SamplingParams P;
    P.Temperature = Temperature;
    P.AllowedIds = {2};
    EXPECT_EQ(Sampler(P, 3, {}).sample(L), 2);
    EXPECT_EQ(Sampler(P, 3, {}).sample(L, OnlySecond), -1);
    P.LogitBias = {{2, -INFINITY}};
    EXPECT_EQ(Sampler(P, 3, {}).sample(L), -1);
    // Broken logits leave a choice among what is allowed.
    SamplingParams Q;
    Q.Temperature = Temperature;
    Q.AllowedIds = {1, 2};
    EXPECT_EQ(Sampler(Q, 3, {}).sample(std::vector<float>{9, NAN, NAN}), 1);
  }
}

TEST(Sampler, SameSeedSameTokens) {
  SamplingParams P;
  P.Temperature = 1;
  P.Seed = 7;
  std::vector<float> L(100, 0);
  auto Draw = [&](uint64_t Seed) {
    P.Seed = Seed;
    Sampler S(P, 100, {});
    std::vector<int32_t> Out;
    for (int I = 0; I < 20; ++I)
      Out.push_back(S.sample(L));
    return Out;
  };
  EXPECT_EQ(Draw(7), Draw(7));
  EXPECT_NE(Draw(7), Draw(8));
}

TEST(Sampler, RandomNumbersAreUniform) {
  constexpr int N = 20000;
  int Bins[10] = {};
  double Sum = 0;
  for (int I = 0; I < N; ++I) {
    double U = randomUniform(42, I);
    ASSERT_GE(U, 0);
    ASSERT_LT(U, 1);
    ++Bins[static_cast<int>(U * 10)];
    Sum += U;
  }
  EXPECT_NEAR(Sum / N, 0.5, 0.01);
  for (int B : Bins)
    EXPECT_NEAR(B, N / 10, 200);
}

TEST(Sampler, ParametersOutOfRangeAreNamed) {
  SamplingParams P;
  P.TopP = 1.5f;
  EXPECT_EQ(checkSampling(P).message(), "top_p is 1.5, expected 1e-09 to 1");
  P.TopP = NAN;
  EXPECT_EQ(checkSampling(P).message(), "top_p is nan, expected 1e-09 to 1");
  P.TopP = 1;
  P.LogitBias = {{7, INFINITY}};
  EXPECT_EQ(checkSampling(P).message(),
            "logit_bias of token 7 is inf, expected a number or -inf");
  P = {};
  P.Temperature = NAN;
  EXPECT_FALSE(checkSampling(P).ok());
}

} // namespace
