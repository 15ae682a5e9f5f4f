// A step: one row (with guesses a few) for each branch that decodes, then
// prompt rows for the others until the step is full, in turn. A request is
// admitted when the pages that it can need at most are free, so it never has
// to be put back.
#include "runtime/engine/Engine.h"

#include "runtime/base/Workspace.h"
#include "runtime/engine/Branch.h"
#include "runtime/engine/PhraseBan.h"

#include <algorithm>
#include <new>

namespace llmc {

using Clock = std::chrono::steady_clock;

namespace {

constexpr uint32_t MostChoices = 256;

double steadySeconds() {
  return std::chrono::duration<double>(Clock::now().time_since_epoch()).count();
}

} // namespace

Engine::Engine(Session &Sess, const Tokenizer *Tok, uint32_t Batch)
    : S(Sess), T(Tok), MaxBatch(S.info().MaxSequences), Now(steadySeconds) {
  if (Batch != 0)
    MaxBatch = std::min(MaxBatch, Batch);
  Running.reserve(MaxBatch);
  // Every sequence of a step may want one row; more only guesses, and a prompt
  // all of whose rows are wanted, which then comes in pieces.
  MaxLogits = stepLogitRows(S.info().MaxTokens, MaxBatch);
}
Engine::~Engine() {
  for (const std::shared_ptr<Request> &R : Running)
    for (const std::unique_ptr<Branch> &B : R->Branches)
      if (B->Live)
        S.free(B->Sequence);
}

Status Engine::checkId(int32_t Id, const char *Where) const {
  if (Id >= 0 && static_cast<uint32_t>(Id) < S.info().Vocab)
    return Status::success();
  return usageError("token " + std::to_string(Id) + " " + Where +
                    " is outside the vocabulary of " +
                    std::to_string(S.info().Vocab));
}

/// Checks what is asked, and completes it.
Status Engine::prepare(RequestParams &P) const {
  LLMC_RETURN_IF_ERROR(checkSampling(P.Sampling));
  if (P.Prompt.empty())
    return usageError("the prompt has no tokens");
  for (int32_t Id : P.Prompt)
    LLMC_RETURN_IF_ERROR(checkId(Id, "of the prompt"));
  for (const auto &[Id, Bias] : P.Sampling.LogitBias)
    LLMC_RETURN_IF_ERROR(checkId(Id, "of logit_bias"));
  for (int32_t Id : P.Sampling.AllowedIds)
    LLMC_RETURN_IF_ERROR(checkId(Id, "of allowed_token_ids"));
  if (!P.Stop.empty() && T == nullptr)
    return usageError("stop strings need a tokenizer, and the artifact has "
                      "none");
  if (!P.Banned.empty() && T == nullptr)
    return usageError("banned texts need a tokenizer, and the artifact has "
                      "none");
  if (P.Choices == 0 || P.Choices > MostChoices)
    return usageError(std::to_string(P.Choices) + " choices, expected 1 to " +
                      std::to_string(MostChoices));
  if (P.Beams > 1) {
    LLMC_RETURN_IF_ERROR(
        checkBeams({P.Beams, P.Choices, P.LengthPenalty, P.Early, 0, {}}));
    if (!P.Stop.empty() || P.Logprobs)
      return usageError(std::string(P.Stop.empty() ? "logprobs"
                                                   : "stop "
                                                     "strings") +
                        " do not go together with beams");
  }
  if (P.Prompt.size() > S.maxContext())
    return doesNotFitError("prompt of " + std::to_string(P.Prompt.size()) +
                           " tokens, the context holds " +
                           std::to_string(S.maxContext()));
  // The last generated token is never fed, so it takes no room.
  uint64_t Room = S.maxContext() - P.Prompt.size() + 1;
  P.MaxTokens = static_cast<uint32_t>(std::min<uint64_t>(P.MaxTokens, Room));
  if (P.Sampling.EosIds.empty())
    P.Sampling.EosIds = P.EosIds; // not before MinTokens
  if (!P.Banned.empty()) {
    LLMC_ASSIGN_OR_RETURN(std::unique_ptr<TokenFilter> F,
                          PhraseBan::create(P.Banned, *T));
    P.Filters.push_back(std::move(F));
  }
  return Status::success();
}

Result<std::shared_ptr<Request>> Engine::submit(RequestParams P) {
  LLMC_RETURN_IF_ERROR(prepare(P));
  std::shared_ptr<Request> R =
      std::make_shared<Request>(std::move(P), T, S.info().Vocab);
  uint64_t Most = R->P.Prompt.size() + std::max(R->P.MaxTokens, 1u) - 1;
  uint64_t Pages = uint64_t{S.pagesFor(Most)} * R->branchCount();
  if (Pages > S.pageCapacity())
    return doesNotFitError(
        "request may need " + std::to_string(Pages) +
        " cache pages, there are " + std::to_string(S.pageCapacity()) +
        (R->branchCount() > 1 ? ": load with more tokens of cache, or "
                                "compile with a larger --max-batch"
                              : ""));
  R->Pages = static_cast<uint32_t>(Pages);
  Waiting.push_back(R);
  return R;
}

void Engine::admit() {
  while (!Waiting.empty()) {
    std::shared_ptr<Request> R = Waiting.front();
    if (R->Cancelled) {
      R->finish(FinishReason::Cancelled);
      Waiting.pop_front();
      continue;
    }
    bool Fits = Running.empty() || Branches + R->branchCount() <= MaxBatch;
    if (!Fits || ReservedPages + R->Pages > S.pageCapacity())
      return; // first come, first served
    Branch &B = *R->Branches.front();
    B.Sequence = S.create();
    B.Live = true;
    ReservedPages += R->Pages;
    Branches += R->branchCount();
    R->Admitted = R->First = Clock::now();
    Running.push_back(std::move(R));
    Waiting.pop_front();
  }
}

/// Nothing else could use the room that guesses take.
bool Engine::alone(const Request &R) const {
  return Running.size() == 1 && R.branchCount() == 1 && Waiting.empty();
}

void Engine::planBranch(Request &R, Branch &B) {
  if (RowsLeft == 0 || LogitsLeft == 0 || SequencesLeft == 0)
    return; // in the next step
  uint32_t Room = std::min(RowsLeft, LogitsLeft) - 1;
  Room = std::min(Room, S.maxContext() - S.length(B.Sequence) - 1);
  if (R.Search == nullptr)
    B.guess(Room, alone(R));
  for (int32_t Token : B.Feed) {
    Rows.push_back({B.Sequence, Token, TokenClass::Generated, true});
    Owners.push_back({&R, &B, 0});
  }
  B.InStep = B.Feed.size();
  RowsLeft -= static_cast<uint32_t>(B.InStep);
  LogitsLeft -= static_cast<uint32_t>(B.InStep);
  --SequencesLeft;
}

void Engine::planPrompt(Request &R) {
  if (SequencesLeft == 0)
    return;
  --SequencesLeft;
  uint32_t Size = static_cast<uint32_t>(R.P.Prompt.size());
  bool All = R.P.Logits == LogitsWanted::All || R.P.PromptLogprobs;
  for (uint32_t Row = R.Fed; Row < Size && RowsLeft > 0; ++Row, --RowsLeft) {
    bool Wanted = Row + 1 == Size || All;
    if (Wanted && LogitsLeft == 0)
      return;
    LogitsLeft -= Wanted;
    Rows.push_back({R.Branches.front()->Sequence, R.P.Prompt[Row],
                    TokenClass::Prompt, Wanted, Size});
    Owners.push_back({&R, nullptr, Row});
  }
}

void Engine::plan() {
  Rows.clear(), Owners.clear();
  RowsLeft = S.info().MaxTokens, LogitsLeft = MaxLogits;
  SequencesLeft = S.info().MaxSequences;
  for (size_t I = 0; I < Running.size(); ++I) {
    Request &R = *Running[(I + Rotate) % Running.size()];
    if (R.prefilling())
      continue;
    for (size_t J = 0; J < R.Branches.size(); ++J) {
      Branch &B = *R.Branches[(J + Rotate) % R.Branches.size()];
      if (B.running() && !B.Feed.empty() && !B.Scored)
        planBranch(R, B);
    }
  }
  for (size_t I = 0; I < Running.size() && RowsLeft > 0; ++I) {
    Request &R = *Running[(I + Rotate) % Running.size()];
    if (R.prefilling())
      planPrompt(R);
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
      R->finish(FinishReason::Cancelled);
    } catch (const std::bad_alloc &) { // without the held back text
      for (Choice &C : R->Result.Choices)
        C.Finish = FinishReason::Cancelled;
      R->Done = true;
    }
  }
  retire();
  return Ran;
}

Status Engine::run(bool &Done) {
  for (const std::shared_ptr<Request> &R : Running)
    if (R->Cancelled && !R->done())
      R->finish(FinishReason::Cancelled);
  retire();
  admit();
  Done = Running.empty();
  if (Done)
    return Status::success();
  plan();
  size_t Wanted = static_cast<size_t>(std::count_if(
      Rows.begin(), Rows.end(), [](const StepRow &R) { return R.WantLogits; }));
  size_t Width = S.info().rowFloats();
  if (Logits.size() < Wanted * Width)
    Logits.resize(Wanted * Width);
  double Start = Now();
  LLMC_RETURN_IF_ERROR(S.step(Rows, Logits));
  Seconds = Now() - Start;
  commit();
  retire();
  Done = Running.empty() && Waiting.empty();
  return Status::success();
}

/// Hands every request what its rows gave. Rows of a branch are adjacent.
void Engine::commit() {
  auto RowAt = [&](size_t I) {
    return std::span<const float>(Logits).subspan(
        size_t{S.logitIndex(I)} * S.info().rowFloats(), S.info().rowFloats());
  };
  // A row of a model without a head may be longer than the vocabulary.
  auto ChoicesAt = [&](size_t I) {
    std::span<const float> Row = RowAt(I);
    return Row.first(std::min<size_t>(Row.size(), S.info().Vocab));
  };
  for (size_t I = 0; I < Rows.size();) {
    Request &R = *Owners[I].R;
    if (Branch *B = Owners[I].B) {
      uint32_t Before = R.Result.Right;
      size_t Count = B->InStep;
      R.advance(S, *B, Count, [&](size_t J) { return ChoicesAt(I + J); });
      if (alone(R))
        B->Meter.add(static_cast<uint32_t>(Count) - 1, R.Result.Right - Before,
                     Seconds);
      I += Count;
      continue;
    }
    uint32_t Row = Owners[I].PromptRow;
    R.Fed = Row + 1;
    if (Rows[I].WantLogits)
      R.promptRow(Row, RowAt(I));
    if (!R.prefilling())
      R.start(S, ChoicesAt(I));
    ++I;
  }
  for (const std::shared_ptr<Request> &R : Running)
    if (!R->prefilling() && !R->done())
      R->afterStep(S);
}

void Engine::retire() {
  auto Gone = std::stable_partition(
      Running.begin(), Running.end(),
      [](const std::shared_ptr<Request> &R) { return !R->done(); });
  for (const std::shared_ptr<Request> &R : Running)
    for (const std::unique_ptr<Branch> &B : R->Branches)
      if (B->Live && (R->done() || !B->running())) {
        S.free(B->Sequence);
        B->Live = false;
      }
  for (auto It = Gone; It != Running.end(); ++It) {
    ReservedPages -= (*It)->Pages;
    Branches -= (*It)->branchCount();
  }
  Running.erase(Gone, Running.end());
}

} // namespace llmc
