// llmc run: one completion, streamed, or as JSON.
#include "runtime/artifact/Reader.h"
#include "tools/llmc-run/Batch.h"
#include "tools/llmc-run/Commands.h"
#include "tools/llmc-run/Common.h"
#include "tools/llmc-run/Npy.h"
#include "tools/llmc-run/RunFlags.h"

#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <memory>

namespace llmcrun {

namespace {

using Clock = std::chrono::steady_clock;

/// Ids of the prompt as the flags say: --tokens, template or raw text.
std::vector<int32_t> promptTokens(const RunFlags &F, const llmc::Text &T) {
  if (F.HasTokens) {
    if (F.HasPrompt || !F.System.empty())
      usage("--tokens excludes a prompt and --system");
    return parseIds(F.Tokens);
  }
  std::string Prompt = F.Prompt;
  if (!F.HasPrompt || Prompt == "-")
    Prompt = readStandardInput();
  if (!T.hasVocabulary())
    usage("the artifact has no tokenizer: give token ids with --tokens");
  if (F.Raw || !T.hasTemplate()) {
    if (!F.System.empty())
      usage(F.Raw ? "--raw excludes --system"
                  : "--system needs a chat template, and the artifact has "
                    "none");
    return T.encode(Prompt);
  }
  std::string Messages = "[";
  if (!F.System.empty())
    Messages += messageJson("system", F.System) + ",";
  return chatTokens(T, Messages + messageJson("user", Prompt) + "]");
}

void printJson(const llmc::Request &R, const llmc::RequestOptions &O,
               const std::string &Device, double LoadMs) {
  llmc::JsonWriter W;
  W.beginObject();
  writeResult(W, R, O);
  llmc_result First = R.result();
  W.key("timings").beginObject();
  W.member("load_ms", LoadMs);
  W.member("prefill_ms", First.prefill_ms);
  W.member("decode_ms", First.decode_ms);
  W.endObject();
  W.member("device", Device);
  W.endObject();
  std::printf("%s\n", W.text().c_str());
}

/// Text of a completion, or its ids when there is no tokenizer.
void printText(const llmc_result &R) {
  if (R.text != nullptr)
    std::fwrite(R.text, 1, R.text_length, stdout);
  for (size_t I = 0; R.text == nullptr && I < R.token_count; ++I)
    std::printf(I == 0 ? "%d" : ",%d", R.tokens[I]);
}

/// Several completions, a line of three hyphens between them.
void printChoices(const llmc::Request &R) {
  for (size_t I = 0; I < R.choiceCount(); ++I) {
    std::printf(I == 0 ? "" : "\n---\n");
    printText(R.choice(I));
  }
}

/// Plain output: text as it comes, or ids when there is no tokenizer. Several
/// completions come at the end.
std::function<bool(const llmc_event &)> streamer(const RunFlags &F,
                                                 bool HasText) {
  bool Later = F.Json || F.Search.Choices > 1 || F.Search.Beams > 1;
  return [Later, HasText, First = true](const llmc_event &E) mutable {
    if (!Later && HasText) {
      std::fwrite(E.text, 1, E.text_length, stdout);
      std::fflush(stdout);
    } else if (!Later && E.token >= 0) {
      std::printf(First ? "%d" : ",%d", E.token);
      std::fflush(stdout);
    }
    First = false;
    return !interrupted();
  };
}

/// Tokens that the cache must hold for several completions; 0: what the
/// artifact plans for one. Pages are taken as they are needed.
uint32_t cacheTokens(const RunFlags &F) {
  uint64_t Branches = std::max(F.Search.Choices, F.Search.Beams);
  if (Branches <= 1)
    return 0;
  checkCompiled(F.Artifact);
  std::unique_ptr<llmc::Reader> R = check(llmc::Reader::open(F.Artifact));
  const llmc::ManifestModel &Model = R->manifest().Model;
  if (Model.MaxContext == 0 || Branches <= Model.MaxBatch)
    return 0;
  return static_cast<uint32_t>(
      std::min<uint64_t>(Branches * Model.MaxContext, UINT32_MAX));
}

void run(const RunFlags &F) {
  if (!F.Json && (F.Search.Logprobs >= 0 || F.Search.PromptLogprobs >= 0))
    usage("--logprobs and --prompt-logprobs need --json, which shows them");
  Clock::time_point Start = Clock::now();
  llmc::Model M = F.Device.load(F.Artifact, cacheTokens(F));
  double LoadMs =
      std::chrono::duration<double, std::milli>(Clock::now() - Start).count();
  llmc::Text T = M.text();
  llmc::RequestOptions O;
  O.Tokens = promptTokens(F, T);
  O.Sampling = F.Sampling.over(M.defaultSampling());
  O.MaxTokens = F.MaxTokens;
  O.IgnoreEos = F.IgnoreEos;
  O.Stop = F.Stop;
  O.Logits = logitsOf(F);
  F.Search.apply(O);
  F.Constraint.apply(O);
  O.OnToken = streamer(F, T.hasVocabulary());
  NpyWriter Logits;
  if (O.Logits != LLMC_LOGITS_NONE)
    Logits = NpyWriter(F.LogitsOut, logitsShape(O, M.info().outputs));
  O.OnLogits = [&](uint32_t, std::span<const float> L) { Logits.add(L); };
  llmc::Engine E(M);
  llmc::Request R = E.submit(O);
  while (E.step())
    throwIfInterrupted();
  throwIfInterrupted();
  Logits.finish();
  if (F.Json)
    printJson(R, O, M.info().device, LoadMs);
  else if (O.Choices > 1 || O.Beams > 1)
    printChoices(R);
  if (!F.Json)
    std::printf("\n");
  checkConstrained(R.result(), F.MaxTokens);
}

} // namespace

llmc_logits logitsOf(const RunFlags &F) {
  std::error_code Error;
  if (std::filesystem::equivalent(F.LogitsOut, F.Artifact, Error))
    usage("--logits-out '" + F.LogitsOut + "' is the artifact itself");
  if (F.Logits.empty() != F.LogitsOut.empty())
    usage("--logits and --logits-out go together");
  if (F.Logits.empty())
    return LLMC_LOGITS_NONE;
  if (F.Logits != "last" && F.Logits != "all")
    usage("--logits is '" + F.Logits + "', expected last or all");
  return F.Logits == "last" ? LLMC_LOGITS_LAST : LLMC_LOGITS_ALL;
}

std::vector<size_t> logitsShape(const llmc::RequestOptions &O, size_t Vocab) {
  if (O.Logits == LLMC_LOGITS_LAST)
    return {Vocab};
  return {O.Tokens.size(), Vocab};
}

void addRun(CLI::App &App) {
  CLI::App *C = App.add_subcommand("run", "one completion to standard output");
  std::shared_ptr<RunFlags> F = std::make_shared<RunFlags>();
  C->add_option("artifact", F->Artifact, "compiled model")->required();
  CLI::Option *Prompt = C->add_option("prompt", F->Prompt,
                                      "text; - or none reads standard input");
  C->add_flag("--raw", F->Raw, "no chat template");
  C->add_option("--system", F->System, "system message of the template");
  CLI::Option *Tokens =
      C->add_option("--tokens", F->Tokens, "prompt as token ids: 1,2,3");
  C->add_option("--max-tokens", F->MaxTokens, "tokens at most (default 128)");
  F->Sampling.add(*C);
  C->add_option("--stop", F->Stop, "text that ends the output (repeatable)")
      ->allow_extra_args(false);
  F->Search.add(*C);
  C->add_flag("--ignore-eos", F->IgnoreEos, "go on behind end tokens");
  C->add_flag("--json", F->Json, "one JSON object instead of text");
  C->add_option("--logits", F->Logits, "logits of prompt rows: last or all");
  C->add_option("--logits-out", F->LogitsOut,
                "where they go: a .npy file, with --batch a folder");
  C->add_flag("--check-weights", F->CheckWeights,
              "compare all weights with their hashes before loading");
  C->add_option("--batch", F->Batch,
                "many requests: one JSON object per line in and out");
  F->Constraint.add(*C);
  F->Device.add(*C);
  C->footer("Example: llmc run model.llmc \"Why is the sky blue?\" "
            "--max-tokens 64");
  C->callback([F, Prompt, Tokens] {
    F->HasPrompt = Prompt->count() != 0;
    F->HasTokens = Tokens->count() != 0;
    catchInterrupts();
    if (F->CheckWeights)
      checkWeights(F->Artifact, F->Device.Threads);
    if (F->Batch.empty())
      run(*F);
    else
      runBatch(*F);
  });
}

} // namespace llmcrun
