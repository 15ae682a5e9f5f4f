// The JSON of a finished request.
#include "tools/llmc-run/RunFlags.h"

#include <cmath>

namespace llmcrun {

namespace {

/// Numbers of JSON are finite; a banned token has minus infinity.
void writeLogprob(llmc::JsonWriter &W, const llmc_token_logprob &L) {
  W.member("token", int64_t{L.token});
  W.key("logprob");
  if (std::isfinite(L.logprob))
    W.value(double{L.logprob});
  else
    W.null();
}

void writePositions(llmc::JsonWriter &W, const char *Name,
                    const std::vector<llmc_position> &All, bool NullFirst) {
  W.key(Name).beginArray();
  if (NullFirst)
    W.null();
  for (const llmc_position &P : All) {
    W.beginObject();
    writeLogprob(W, P.chosen);
    W.member("rank", P.rank);
    W.key("top").beginArray();
    for (size_t I = 0; I < P.top_count; ++I) {
      W.beginObject();
      writeLogprob(W, P.top[I]);
      W.endObject();
    }
    W.endArray();
    W.endObject();
  }
  W.endArray();
}

void writeChoice(llmc::JsonWriter &W, const llmc::Request &R, size_t Index,
                 const llmc::RequestOptions &O) {
  llmc_result C = R.choice(Index);
  W.list("tokens", std::span<const int32_t>(C.tokens, C.token_count));
  W.key("text");
  if (C.text)
    W.value(std::string_view(C.text, C.text_length));
  else
    W.null();
  W.member("finish_reason", finishName(C.finish));
  W.key("stop");
  if (C.stop)
    W.value(C.stop);
  else
    W.null();
  if (O.Beams > 1)
    W.member("score", C.score);
  if (O.Logprobs)
    writePositions(W, "logprobs", R.positions(Index), false);
}

} // namespace

void writeResult(llmc::JsonWriter &W, const llmc::Request &R,
                 const llmc::RequestOptions &O) {
  writeChoice(W, R, 0, O);
  llmc_result First = R.result();
  uint64_t Tokens = First.token_count;
  if (O.Choices > 1) {
    Tokens = 0;
    W.key("choices").beginArray();
    for (size_t I = 0; I < R.choiceCount(); ++I) {
      W.beginObject();
      writeChoice(W, R, I, O);
      W.endObject();
      Tokens += R.choice(I).token_count;
    }
    W.endArray();
  }
  if (First.failure != nullptr)
    W.member("error", First.failure);
  if (O.PromptLogprobs)
    writePositions(W, "prompt_logprobs", R.positions(LLMC_PROMPT_CHOICE), true);
  W.key("usage").beginObject();
  W.member("prompt_tokens", First.prompt_tokens);
  W.member("completion_tokens", Tokens);
  W.endObject();
  if (O.Speculation != LLMC_SPECULATION_OFF) {
    W.key("speculation").beginObject();
    W.member("guessed", First.guessed_tokens);
    W.member("right", First.right_tokens);
    W.endObject();
  }
}

} // namespace llmcrun
