// A request goes through its prompt on one sequence, which is then forked for
// every choice or beam. With guesses a branch feeds several tokens in a step:
// each row picks the token behind it as always, and the first guess that
// differs from what was picked ends the round; the rows behind it are taken
// back from the sequence.
#include "runtime/engine/Request.h"

#include "runtime/engine/Branch.h"

#include <algorithm>

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

Request::Request(RequestParams Params, const Tokenizer *T, uint32_t Vocab)
    : P(std::move(Params)), T(T), Vocab(Vocab) {
  Result.PromptTokens = static_cast<uint32_t>(P.Prompt.size());
  Result.Choices.resize(P.Choices); // branches refer to them
  Branches.push_back(
      std::make_unique<Branch>(P, 0, T, Vocab, Result.Choices.front()));
}
Request::~Request() = default;

void Request::promptRow(uint32_t Row, std::span<const float> Logits) {
  bool Last = Row + 1 == P.Prompt.size();
  if (P.OnLogits && (P.Logits == LogitsWanted::All ||
                     (Last && P.Logits == LogitsWanted::Last)))
    P.OnLogits(Row, Logits);
  if (P.PromptLogprobs && !Last)
    Result.PromptLogprobs.push_back(
        logprobsOf(Logits, P.Prompt[Row + 1], P.TopLogprobs));
}

/// The logits behind the prompt: the first token of every choice.
void Request::start(Session &S, std::span<const float> Logits) {
  First = Clock::now();
  if (P.Beams > 1 && P.MaxTokens > 0) {
    Search = std::make_unique<BeamSearch>(
        BeamParams{P.Beams, P.Choices, P.LengthPenalty, P.Early, P.MaxTokens,
                   P.IgnoreEos ? std::vector<int32_t>() : P.EosIds});
    Branches.front()->score(Logits);
    return advanceBeams(S);
  }
  for (uint32_t I = 1; I < P.Choices; ++I) {
    Branches.push_back(
        std::make_unique<Branch>(P, I, T, Vocab, Result.Choices[I]));
    Branches.back()->Sequence = S.fork(Branches.front()->Sequence);
    Branches.back()->Live = true;
  }
  for (const std::unique_ptr<Branch> &B : Branches)
    B->sample(Logits);
  settle();
}

/// Takes in the Rows rows of logits that a branch got in a step.
void Request::advance(
    Session &S, Branch &B, size_t Rows,
    const std::function<std::span<const float>(size_t)> &RowAt) {
  if (Search != nullptr)
    return B.score(RowAt(0));
  uint32_t Before = S.length(B.Sequence) - static_cast<uint32_t>(Rows);
  Round.assign(B.Feed.begin(), B.Feed.begin() + static_cast<ptrdiff_t>(Rows));
  uint32_t Right = 0;
  for (size_t I = 0; I < Rows; ++I) {
    if (!B.sample(RowAt(I)))
      break;
    if (I + 1 == Rows || Round[I + 1] != B.Feed.front())
      break;
    ++Right;
  }
  Result.Guessed += static_cast<uint32_t>(Rows) - 1;
  Result.Right += Right;
  S.truncate(B.Sequence, Before + 1 + Right);
}

void Request::afterStep(Session &S) {
  if (Search != nullptr)
    advanceBeams(S);
  else
    settle();
}

/// When every beam has its scores: which go on, with which token.
void Request::advanceBeams(Session &S) {
  bool Ready =
      std::all_of(Branches.begin(), Branches.end(),
                  [](const std::unique_ptr<Branch> &B) { return B->Scored; });
  if (!Ready)
    return;
  std::vector<std::span<const double>> Rows;
  for (uint32_t I = 0; I < Search->running(); ++I)
    Rows.push_back(Branches[std::min<size_t>(I, Branches.size() - 1)]->Scores);
  std::span<const BeamSearch::Move> Moves = Search->advance(Rows);
  std::vector<std::unique_ptr<Branch>> Next;
  for (uint32_t I = 0; I < Moves.size(); ++I) {
    const Branch &Parent =
        *Branches[std::min<size_t>(Moves[I].Parent, Branches.size() - 1)];
    Next.push_back(std::make_unique<Branch>(Parent, I));
    Next.back()->Sequence = S.fork(Parent.Sequence);
    Next.back()->Live = true;
    Next.back()->follow(Moves[I].Token);
  }
  for (const std::unique_ptr<Branch> &B : Branches) {
    S.free(B->Sequence);
    B->Live = false;
  }
  if (!Next.empty())
    Branches = std::move(Next);
  if (Search->done())
    finishBeams();
}

/// Whether a hypothesis is all that the constraints demand. An end token comes
/// where the text may end, so one that was cut is not.
void Request::judge(Choice &C, bool Ended) const {
  C.Complete = Ended;
  for (const std::shared_ptr<const TokenFilter> &Shared : P.Filters) {
    if (!Shared->demands())
      continue;
    std::unique_ptr<TokenFilter> F = Shared->clone();
    for (int32_t Token : C.Tokens)
      F->accept(Token);
    C.addVerdict(Ended && F->complete());
  }
}

/// Turns the best hypotheses into choices.
void Request::finishBeams() {
  std::vector<BeamSearch::Hypothesis> Best = Search->best();
  Result.Choices.resize(std::max<size_t>(1, Best.size()));
  if (Best.empty()) {
    Result.Choices.front().Finish = FinishReason::Cancelled;
    Result.Failure =
        usageError("constraints and bans leave no text of beam search");
  }
  for (uint32_t I = 0; I < Best.size(); ++I) {
    Choice &C = Result.Choices[I];
    C.Score = Best[I].Score;
    C.Finish = Best[I].Ended ? FinishReason::Eos : FinishReason::Length;
    C.Tokens = std::move(Best[I].Tokens);
    if (Best[I].Ended)
      C.Tokens.pop_back();
    judge(C, Best[I].Ended);
    if (T != nullptr)
      C.Text = T->decode(C.Tokens, true);
    for (size_t J = 0; P.OnToken && J < C.Tokens.size(); ++J) {
      bool Last = J + 1 == C.Tokens.size();
      P.OnToken({I, C.Tokens[J], Last ? C.Text : std::string_view()});
    }
  }
  close();
}

/// Ends all that still runs.
void Request::finish(FinishReason Why) {
  if (Done)
    return;
  for (const std::unique_ptr<Branch> &B : Branches)
    B->finish(Why);
  if (Search != nullptr)
    return close();
  settle();
}

/// Done when every branch is.
void Request::settle() {
  if (std::none_of(Branches.begin(), Branches.end(),
                   [](const auto &B) { return B->running(); }))
    close();
}

void Request::close() {
  for (const std::unique_ptr<Branch> &B : Branches)
    if (Result.Failure.ok())
      Result.Failure = B->Failure;
  Done = true;
  Result.PrefillMs = milliseconds(First - Admitted);
  Result.DecodeMs = milliseconds(Clock::now() - First);
}

} // namespace llmc
