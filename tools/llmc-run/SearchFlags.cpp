// Flags of several completions, beams, biases, bans, guesses and
// log-probabilities.
#include "tools/llmc-run/RunFlags.h"

#include <CLI/CLI.hpp>
#include <charconv>

namespace llmcrun {

namespace {

/// "ID=BIAS".
llmc_bias biasOf(const std::string &Text) {
  llmc_bias B{};
  const char *At = Text.data(), *End = At + Text.size();
  std::from_chars_result R = std::from_chars(At, End, B.token);
  bool Good = R.ec == std::errc() && R.ptr != End && *R.ptr == '=';
  if (Good) {
    R = std::from_chars(R.ptr + 1, End, B.bias);
    Good = R.ec == std::errc() && R.ptr == End;
  }
  if (!Good)
    usage("--logit-bias is '" + Text.substr(0, 80) +
          "', expected ID=NUMBER such as 42=-5");
  return B;
}

} // namespace

llmc_early_stopping earlyStoppingOf(const std::string &Name) {
  if (Name != "false" && Name != "true" && Name != "never")
    usage("early stopping is '" + Name + "', expected false, true or never");
  return Name == "true"    ? LLMC_EARLY_AT_ONCE
         : Name == "never" ? LLMC_EARLY_NEVER
                           : LLMC_EARLY_HEURISTIC;
}

llmc_speculation speculationOf(const std::string &Name) {
  if (Name != "off" && Name != "ngram")
    usage("speculation is '" + Name + "', expected off or ngram");
  return Name == "ngram" ? LLMC_SPECULATION_NGRAM : LLMC_SPECULATION_OFF;
}

void wantLogprobs(llmc::RequestOptions &O, int32_t Generated, int32_t Prompt) {
  O.Logprobs = Generated >= 0;
  O.PromptLogprobs = Prompt >= 0;
  O.TopLogprobs = static_cast<uint32_t>(std::max({0, Generated, Prompt}));
}

void SearchFlags::add(CLI::App &App) {
  App.add_option("-n,--choices", Choices,
                 "completions (default 1); the first is as if alone")
      ->check(CLI::Range(1u, UINT32_MAX));
  App.add_option(
         "--beams", Beams,
         "above 1: beam search, with -n results (default 1); temperature, "
         "top-k and their like have no effect")
      ->check(CLI::Range(1u, UINT32_MAX));
  App.add_option("--length-penalty", LengthPenalty,
                 "of beams: scores are divided by length to this power "
                 "(default 1)");
  App.add_option("--early-stopping", EarlyStopping,
                 "of beams: false, true or never (default false)");
  App.add_option("--logit-bias", LogitBias,
                 "ID=NUMBER added to a logit (repeatable)")
      ->allow_extra_args(false);
  App.add_option("--allowed-token-ids", Allowed, "only these: 1,2,3");
  App.add_option("--bad-words", BadWords,
                 "text that must not be written (repeatable)")
      ->allow_extra_args(false);
  App.add_option("--logprobs", Logprobs,
                 "log-probabilities of the output in --json, with so many "
                 "alternatives each")
      ->check(CLI::Range(0, INT32_MAX));
  App.add_option("--prompt-logprobs", PromptLogprobs, "the same of the prompt")
      ->check(CLI::Range(0, INT32_MAX));
  App.add_option("--speculate", Speculate,
                 "guess tokens ahead: off or ngram (default off); the output "
                 "is the same");
}

void SearchFlags::apply(llmc::RequestOptions &O) const {
  O.Choices = Choices;
  O.Beams = Beams;
  O.LengthPenalty = LengthPenalty;
  O.EarlyStopping = earlyStoppingOf(EarlyStopping);
  O.Speculation = speculationOf(Speculate);
  for (const std::string &B : LogitBias)
    O.LogitBias.push_back(biasOf(B));
  if (Allowed)
    O.AllowedTokens = parseIds(*Allowed);
  if (Allowed && O.AllowedTokens.empty())
    usage("--allowed-token-ids is empty, expected 1 id or more");
  O.Banned = BadWords;
  wantLogprobs(O, Logprobs, PromptLogprobs);
}

} // namespace llmcrun
