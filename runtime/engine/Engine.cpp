// A step: one row for each request that decodes, then prompt rows for the
// others until the step is full, in turn. A request is admitted when the pages
// that it can need at most are free, so it never has to be put back.
#include "runtime/engine/Engine.h"

#include "runtime/base/Workspace.h"
#include "runtime/engine/StopMatcher.h"
#include "runtime/text/Detokenizer.h"

#include <algorithm>
#include <new>

namespace llmc {

using Clock = std::chrono::steady_clock;

namespace {

double milliseconds(Clock::duration D) {
  return std::chrono::duration<double, std::milli>(D).count();
}

} // namespace

std::string_view nameOf(FinishReason R) {
  static constexpr std::string_view Names[] = {"running", "eos", "stop",
                                               "length", "cancelled"};
  return Names[static_cast<unsigned>(R)];
}

/// Tokens to text to what may be shown.
struct Request::TextState {
  TextState(const Tokenizer &T, const std::vector<std::string> &Stops)
      : Bytes(T, true), Stops(Stops) {}
  Detokenizer Bytes;
  StopMatcher Stops;
};

Request::Request(RequestParams Params, const Tokenizer *T, uint32_t Vocab)
    : P(std::move(Params)), Sampling(P.Sampling, Vocab, P.Prompt) {
  if (T != nullptr)
    Text = std::make_unique<TextState>(*T, P.Stop);
  Result.PromptTokens = static_cast<uint32_t>(P.Prompt.size());
}
Request::~Request() = default;

Engine::Engine(Session &Sess, const Tokenizer *Tok, uint32_t Batch)
    : S(Sess), T(Tok), MaxBatch(S.info().MaxSequences) {
  if (Batch != 0)
    MaxBatch = std::min(MaxBatch, Batch);
  Running.reserve(MaxBatch);
  // Every sequence of a step may want one row; more only a prompt all of whose
  // rows are wanted, which then comes in pieces.
  MaxLogits = stepLogitRows(S.info().MaxTokens, MaxBatch);
}
Engine::~Engine() {
  for (const std::shared_ptr<Request> &R : Running)
    S.free(R->Sequence);
}

Result<std::shared_ptr<Request>> Engine::submit(RequestParams P) {
  LLMC_RETURN_IF_ERROR(checkSampling(P.Sampling));
  if (P.Prompt.empty())
    return usageError("the prompt has no tokens");
  for (int32_t Id : P.Prompt)
    if (Id < 0 || static_cast<uint32_t>(Id) >= S.info().Vocab)
      return usageError("token " + std::to_string(Id) +
                        " of the prompt is outside the vocabulary of " +
                        std::to_string(S.info().Vocab));
  if (!P.Stop.empty() && T == nullptr)
    return usageError("stop strings need a tokenizer, and the artifact has "
                      "none");
  if (P.Prompt.size() > S.maxContext())
    return doesNotFitError("prompt of " + std::to_string(P.Prompt.size()) +
                           " tokens, the context holds " +
                           std::to_string(S.maxContext()));
  // The last generated token is never fed, so it takes no room.
  uint64_t Room = S.maxContext() - P.Prompt.size() + 1;
  P.MaxTokens = static_cast<uint32_t>(std::min<uint64_t>(P.MaxTokens, Room));
  std::shared_ptr<Request> R =
      std::make_shared<Request>(std::move(P), T, S.info().Vocab);
  uint64_t Most = R->P.Prompt.size() + std::max(R->P.MaxTokens, 1u) - 1;
  R->Pages = S.pagesFor(Most);
  if (R->Pages > S.pageCapacity())
    return doesNotFitError("request may need " + std::to_string(R->Pages) +
                           " cache pages, there are " +
                           std::to_string(S.pageCapacity()));
  Waiting.push_back(R);
  return R;
}

void Engine::admit() {
  while (!Waiting.empty() && Running.size() < MaxBatch) {
    std::shared_ptr<Request> R = Waiting.front();
    if (R->Cancelled) {
      R->Result.Finish = FinishReason::Cancelled;
      Waiting.pop_front();
      continue;
    }
    if (ReservedPages + R->Pages > S.pageCapacity())
      return; // first come, first served
    R->Sequence = S.create();
    ReservedPages += R->Pages;
    R->Admitted = R->First = Clock::now();
    Running.push_back(std::move(R));
    Waiting.pop_front();
  }
}

void Engine::plan() {
  Rows.clear(), Owners.clear();
  uint32_t Left = S.info().MaxTokens, LogitsLeft = MaxLogits;
  for (const std::shared_ptr<Request> &R : Running)
    if (R->Next >= 0 && Left > 0) {
      Rows.push_back({R->Sequence, R->Next, TokenClass::Generated, true});
      Owners.push_back({R.get(), UINT32_MAX});
      --Left, --LogitsLeft;
    }
  for (size_t I = 0; I < Running.size() && Left > 0; ++I) {
    Request &R = *Running[(I + Rotate) % Running.size()];
    uint32_t Size = static_cast<uint32_t>(R.P.Prompt.size());
    for (uint32_t Row = R.Fed; Row < Size && Left > 0; ++Row, --Left) {
      bool Wanted = Row + 1 == Size || R.P.Logits == LogitsWanted::All;
      if (Wanted && LogitsLeft == 0)
        break;
      LogitsLeft -= Wanted;
      Rows.push_back({R.Sequence, R.P.Prompt[Row], TokenClass::Prompt, Wanted});
      Owners.push_back({&R, Row});
    }
  }
  ++Rotate;
}

Status Engine::step(bool &Done) {
  Status Ran;
  try {
    Ran = run(Done);
  } catch (const std::bad_alloc &) {
    Ran = doesNotFitError("out of memory");
  }
  if (Ran.ok())
    return Ran;
  for (const std::shared_ptr<Request> &R : Running) {
    if (R->done())
      continue;
    try {
      R->Result.Failure = Ran;
      finish(*R, FinishReason::Cancelled);
    } catch (const std::bad_alloc &) {
      R->Result.Finish = FinishReason::Cancelled; // without the held back text
    }
  }
  retire();
  return Ran;
}

Status Engine::run(bool &Done) {
  for (const std::shared_ptr<Request> &R : Running)
    if (R->Cancelled && !R->done())
      finish(*R, FinishReason::Cancelled);
  retire();
  admit();
  Done = Running.empty();
  if (Done)
    return Status::success();
  plan();
  size_t Wanted = static_cast<size_t>(std::count_if(
      Rows.begin(), Rows.end(), [](const StepRow &R) { return R.WantLogits; }));
  if (Logits.size() < Wanted * S.info().Vocab)
    Logits.resize(Wanted * S.info().Vocab);
  LLMC_RETURN_IF_ERROR(S.step(Rows, Logits));
  for (size_t I = 0; I < Rows.size(); ++I)
    commit(*Owners[I].R, I);
  retire();
  Done = Running.empty() && Waiting.empty();
  return Status::success();
}

/// Takes in what a row gave: logits for the caller, and the next token when it
/// was the last row of its request.
void Engine::commit(Request &R, size_t I) {
  uint32_t PromptRow = Owners[I].PromptRow;
  std::span<const float> Row;
  if (Rows[I].WantLogits)
    Row = std::span<const float>(Logits).subspan(
        size_t{S.logitIndex(I)} * S.info().Vocab, S.info().Vocab);
  if (PromptRow != UINT32_MAX) {
    R.Fed = PromptRow + 1;
    bool Last = R.Fed == R.P.Prompt.size();
    if (R.P.OnLogits && (R.P.Logits == LogitsWanted::All ||
                         (Last && R.P.Logits == LogitsWanted::Last)))
      R.P.OnLogits(PromptRow, Row);
    if (!Last)
      return;
    R.First = Clock::now();
  }
  if (R.P.MaxTokens == 0)
    return finish(R, FinishReason::Length);
  int32_t Token = R.Sampling.sample(Row);
  bool Eos = std::find(R.P.EosIds.begin(), R.P.EosIds.end(), Token) !=
             R.P.EosIds.end();
  if (Eos && !R.P.IgnoreEos)
    return finish(R, FinishReason::Eos);
  R.Next = Token;
  R.Result.Tokens.push_back(Token);
  std::string Shown;
  if (R.Text)
    Shown = R.Text->Stops.push(R.Text->Bytes.push(Token));
  R.Result.Text += Shown;
  if (R.P.OnToken && !R.P.OnToken(Token, Shown))
    return finish(R, FinishReason::Cancelled);
  if (R.Text && R.Text->Stops.stopped())
    return finish(R, FinishReason::Stop);
  if (R.Result.Tokens.size() >= R.P.MaxTokens)
    finish(R, FinishReason::Length);
}

/// Ends a request; what was held back of its text comes out first.
void Engine::finish(Request &R, FinishReason Why) {
  if (R.Text && Why != FinishReason::Stop) {
    std::string Rest = R.Text->Stops.push(R.Text->Bytes.finish());
    Rest += R.Text->Stops.finish();
    R.Result.Text += Rest;
    if (R.P.OnToken && !Rest.empty() && Why != FinishReason::Cancelled)
      R.P.OnToken(-1, Rest);
  }
  if (R.Text && R.Text->Stops.stopped()) {
    R.Result.Stop = R.Text->Stops.stop();
    Why = FinishReason::Stop;
  }
  R.Result.Finish = Why;
  R.Result.PrefillMs = milliseconds(R.First - R.Admitted);
  R.Result.DecodeMs = milliseconds(Clock::now() - R.First);
}

void Engine::retire() {
  auto Gone = std::stable_partition(
      Running.begin(), Running.end(),
      [](const std::shared_ptr<Request> &R) { return !R->done(); });
  for (auto It = Gone; It != Running.end(); ++It) {
    S.free((*It)->Sequence);
    ReservedPages -= (*It)->Pages;
  }
  Running.erase(Gone, Running.end());
}

} // namespace llmc
