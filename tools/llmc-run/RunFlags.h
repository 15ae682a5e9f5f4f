// The flags of llmc run, shared with its batch form.
#ifndef LLMC_TOOLS_LLMCRUN_RUNFLAGS_H
#define LLMC_TOOLS_LLMCRUN_RUNFLAGS_H

#include "tools/llmc-run/Common.h"

namespace llmcrun {

struct RunFlags {
  std::string Artifact, Prompt, System, Tokens, Logits, LogitsOut, Batch;
  bool HasPrompt = false, Raw = false, IgnoreEos = false, Json = false;
  bool CheckWeights = false;
  uint32_t MaxTokens = 128, Beams = 1;
  std::vector<std::string> Stop;
  SamplingFlags Sampling;
  DeviceFlags Device;
};

/// Checks --logits and --logits-out.
llmc_logits logitsOf(const RunFlags &F);
/// Dimensions of what a request gives: one row, or one per prompt token.
std::vector<size_t> logitsShape(const llmc::RequestOptions &O, size_t Vocab);
/// Members tokens, text, finish_reason, stop, usage of an open object.
void writeResult(llmc::JsonWriter &W, const llmc_result &R);

} // namespace llmcrun

#endif // LLMC_TOOLS_LLMCRUN_RUNFLAGS_H
