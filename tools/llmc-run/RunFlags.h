// The flags of llmc run, shared with its batch form.
#ifndef LLMC_TOOLS_LLMCRUN_RUNFLAGS_H
#define LLMC_TOOLS_LLMCRUN_RUNFLAGS_H

#include "tools/llmc-run/Common.h"
#include "tools/llmc-run/ConstraintFlags.h"

namespace llmcrun {

/// Flags of what goes beyond one sampled completion.
struct SearchFlags {
  uint32_t Choices = 1, Beams = 1;
  double LengthPenalty = 1;
  std::string EarlyStopping = "false", Speculate = "off";
  std::optional<std::string> Allowed;
  std::vector<std::string> LogitBias, BadWords;
  int32_t Logprobs = -1, PromptLogprobs = -1;
  void add(CLI::App &App);
  /// Usage for a value that is none of the allowed.
  void apply(llmc::RequestOptions &O) const;
};

/// "false", "true", "never"; usage else.
llmc_early_stopping earlyStoppingOf(const std::string &Name);
/// "off", "ngram"; usage else.
llmc_speculation speculationOf(const std::string &Name);
/// Logprobs: alternatives of each token, -1 = none at all.
void wantLogprobs(llmc::RequestOptions &O, int32_t Generated, int32_t Prompt);

struct RunFlags {
  std::string Artifact, Prompt, System, Tokens, Logits, LogitsOut, Batch;
  bool HasPrompt = false, HasTokens = false, Raw = false, IgnoreEos = false,
       Json = false;
  bool CheckWeights = false;
  uint32_t MaxTokens = 128;
  std::vector<std::string> Stop;
  SamplingFlags Sampling;
  SearchFlags Search;
  ConstraintFlags Constraint;
  DeviceFlags Device;
};

/// Checks --logits and --logits-out.
llmc_logits logitsOf(const RunFlags &F);
/// Dimensions of what a request gives: one row, or one per prompt token.
std::vector<size_t> logitsShape(const llmc::RequestOptions &O, size_t Vocab);
/// Members of an open object: tokens, text, finish_reason, stop, usage; with
/// several completions choices; logprobs where wanted.
void writeResult(llmc::JsonWriter &W, const llmc::Request &R,
                 const llmc::RequestOptions &O);

} // namespace llmcrun

#endif // LLMC_TOOLS_LLMCRUN_RUNFLAGS_H
