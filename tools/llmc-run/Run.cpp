// llmc run: one completion, streamed, or as JSON.
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
  if (!F.Tokens.empty()) {
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

void printJson(const llmc_result &R, const std::string &Device, double LoadMs) {
  llmc::JsonWriter W;
  W.beginObject();
  writeResult(W, R);
  W.key("timings").beginObject();
  W.member("load_ms", LoadMs);
  W.member("prefill_ms", R.prefill_ms);
  W.member("decode_ms", R.decode_ms);
  W.endObject();
  W.member("device", Device);
  W.endObject();
  std::printf("%s\n", W.text().c_str());
}

/// Plain output: text as it comes, or ids when there is no tokenizer.
std::function<bool(const llmc_event &)> streamer(const RunFlags &F,
                                                 bool HasText) {
  return [&F, HasText, First = true](const llmc_event &E) mutable {
    if (!F.Json && HasText) {
      std::fwrite(E.text, 1, E.text_length, stdout);
      std::fflush(stdout);
    } else if (!F.Json && E.token >= 0) {
      std::printf(First ? "%d" : ",%d", E.token);
      std::fflush(stdout);
    }
    First = false;
    return !interrupted();
  };
}

void run(const RunFlags &F) {
  Clock::time_point Start = Clock::now();
  llmc::Model M = F.Device.load(F.Artifact);
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
  O.OnToken = streamer(F, T.hasVocabulary());
  NpyWriter Logits;
  if (O.Logits != LLMC_LOGITS_NONE)
    Logits = NpyWriter(F.LogitsOut, logitsShape(O, M.info().vocab));
  O.OnLogits = [&](uint32_t, std::span<const float> L) { Logits.add(L); };
  llmc::Engine E(M, 1);
  llmc::Request R = E.submit(O);
  while (E.step())
    throwIfInterrupted();
  throwIfInterrupted();
  Logits.finish();
  if (F.Json)
    printJson(R.result(), M.info().device, LoadMs);
  else
    std::printf("\n");
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

void writeResult(llmc::JsonWriter &W, const llmc_result &R) {
  W.list("tokens", std::span<const int32_t>(R.tokens, R.token_count));
  W.key("text");
  if (R.text)
    W.value(std::string_view(R.text, R.text_length));
  else
    W.null();
  W.member("finish_reason", finishName(R.finish));
  W.key("stop");
  if (R.stop)
    W.value(R.stop);
  else
    W.null();
  W.key("usage").beginObject();
  W.member("prompt_tokens", R.prompt_tokens);
  W.member("completion_tokens", uint64_t{R.token_count});
  W.endObject();
}

void addRun(CLI::App &App) {
  CLI::App *C = App.add_subcommand("run", "one completion to standard output");
  std::shared_ptr<RunFlags> F = std::make_shared<RunFlags>();
  C->add_option("artifact", F->Artifact, "compiled model")->required();
  CLI::Option *Prompt = C->add_option("prompt", F->Prompt,
                                      "text; - or none reads standard input");
  C->add_flag("--raw", F->Raw, "no chat template");
  C->add_option("--system", F->System, "system message of the template");
  C->add_option("--tokens", F->Tokens, "prompt as token ids: 1,2,3");
  C->add_option("--max-tokens", F->MaxTokens, "tokens at most (default 128)");
  F->Sampling.add(*C);
  C->add_option("--stop", F->Stop, "text that ends the output (repeatable)")
      ->allow_extra_args(false);
  C->add_option("--beams", F->Beams, "beam search (only 1 is implemented)");
  C->add_flag("--ignore-eos", F->IgnoreEos, "go on behind end tokens");
  C->add_flag("--json", F->Json, "one JSON object instead of text");
  C->add_option("--logits", F->Logits, "logits of prompt rows: last or all");
  C->add_option("--logits-out", F->LogitsOut,
                "where they go: a .npy file, with --batch a folder");
  C->add_flag("--check-weights", F->CheckWeights,
              "compare all weights with their hashes before loading");
  C->add_option("--batch", F->Batch,
                "many requests: one JSON object per line in and out");
  F->Device.add(*C);
  C->footer("Example: llmc run model.llmc \"Why is the sky blue?\" "
            "--max-tokens 64");
  C->callback([F, Prompt] {
    F->HasPrompt = Prompt->count() != 0;
    if (F->Beams > 1)
      throw llmc::Error(LLMC_UNSUPPORTED, "--beams " +
                                              std::to_string(F->Beams) +
                                              " is not implemented, only 1");
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
