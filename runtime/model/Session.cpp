// A step in four parts: check sizes, reserve pages, sort rows by class into
// the arrays of StepInput, run. Lengths change only when all went well.
#include "runtime/model/Session.h"

#include <algorithm>
#include <string>

namespace llmc {

Session::Session(Executable &E, uint32_t Context)
    : Exec(E), MaxContext(Context), Pool(E.info().Pages) {
  const ExecutableInfo &I = E.info();
  uint64_t Held = uint64_t{I.Pages} * I.PageTokens;
  if (MaxContext == 0 || MaxContext > Held)
    MaxContext = static_cast<uint32_t>(std::min<uint64_t>(Held, INT32_MAX));
  Ids.reserve(I.MaxTokens);
  Positions.reserve(I.MaxTokens);
  Lengths.reserve(I.MaxTokens);
  RowSequence.reserve(I.MaxTokens);
  RowToLogit.reserve(I.MaxTokens);
  InStep.reserve(I.MaxSequences);
}

SequenceId Session::create() {
  SequenceId Id;
  if (FreeIds.empty()) {
    Id = static_cast<SequenceId>(Sequences.size());
    Sequences.emplace_back();
    FreeIds.reserve(Sequences.capacity()); // free() must not fail
  } else {
    Id = FreeIds.back();
    FreeIds.pop_back();
  }
  Sequences[Id].Live = true;
  return Id;
}

SequenceId Session::fork(SequenceId From) {
  std::vector<uint32_t> Pages = Sequences[From].Pages;
  SequenceId Id = create();
  Sequence &S = Sequences[Id];
  S.Pages = std::move(Pages);
  S.Length = Sequences[From].Length;
  S.Tokens = Sequences[From].Tokens;
  S.Valid = Sequences[From].Valid;
  for (uint32_t P : S.Pages)
    Pool.retain(P);
  return Id;
}

void Session::truncate(SequenceId Id, uint32_t Length) {
  Sequence &S = Sequences[Id];
  if (Length >= S.Length)
    return;
  S.Length = Length;
  if (info().Records) {
    // A page that ends earlier holds the state of a token that is gone.
    S.Tokens.resize(Length);
    S.Valid = std::min(S.Valid, Length - Length % info().PageTokens);
  }
  while (S.Pages.size() > pagesFor(Length)) {
    Pool.release(S.Pages.back());
    S.Pages.pop_back();
  }
}

void Session::free(SequenceId Id) {
  truncate(Id, 0);
  Sequences[Id].Live = false;
  FreeIds.push_back(Id);
}

/// Counts rows per sequence; nothing has changed when it fails, but for
/// leaveStep, which the caller does.
Status Session::check(std::span<const StepRow> Rows, size_t LogitFloats) {
  const ExecutableInfo &I = info();
  if (Rows.empty())
    return usageError("a step without tokens");
  if (Rows.size() > I.MaxTokens)
    return doesNotFitError("step of " + std::to_string(Rows.size()) +
                           " tokens, at most " + std::to_string(I.MaxTokens));
  size_t Wanted = 0;
  for (const StepRow &R : Rows) {
    if (R.Sequence >= Sequences.size() || !Sequences[R.Sequence].Live)
      return usageError("no sequence " + std::to_string(R.Sequence));
    if (R.Token < 0 || static_cast<uint32_t>(R.Token) >= I.Vocab)
      return usageError("token " + std::to_string(R.Token) +
                        " is outside the vocabulary of " +
                        std::to_string(I.Vocab));
    Sequence &S = Sequences[R.Sequence];
    if (!S.InStep) {
      S.InStep = true;
      S.Slot = static_cast<uint32_t>(InStep.size());
      S.Added = 0;
      InStep.push_back(R.Sequence);
    }
    ++S.Added;
    Wanted += R.WantLogits;
  }
  if (InStep.size() > I.MaxSequences)
    return doesNotFitError("step of " + std::to_string(InStep.size()) +
                           " sequences, at most " +
                           std::to_string(I.MaxSequences));
  if (LogitFloats < Wanted * I.rowFloats())
    return usageError("room for " + std::to_string(LogitFloats) +
                      " logits, expected " +
                      std::to_string(Wanted * I.rowFloats()));
  for (SequenceId Id : InStep) {
    const Sequence &S = Sequences[Id];
    if (uint64_t{S.Length} + S.Added > MaxContext)
      return doesNotFitError("context of " +
                             std::to_string(uint64_t{S.Length} + S.Added) +
                             " tokens, at most " + std::to_string(MaxContext));
  }
  return Status::success();
}

/// The page that the first new token goes to must not be shared.
Status Session::makeOwn(Sequence &S, uint32_t Index) {
  uint32_t Old = S.Pages[Index];
  if (Pool.uses(Old) == 1)
    return Status::success();
  uint32_t New =
      Pool.allocate(Index == 0 ? PagePool::None : S.Pages[Index - 1]);
  if (New == PagePool::None)
    return doesNotFitError("all " + std::to_string(Pool.capacity()) +
                           " cache pages are in use");
  Status Copied = Exec.copyPage(Old, New);
  if (!Copied.ok()) {
    Pool.release(New);
    return Copied;
  }
  Pool.release(Old);
  S.Pages[Index] = New;
  return Status::success();
}

Status Session::reserve(Sequence &S) {
  uint32_t Needed = pagesFor(uint64_t{S.Length} + S.Added);
  if (S.Length % info().PageTokens != 0)
    LLMC_RETURN_IF_ERROR(makeOwn(S, S.Length / info().PageTokens));
  S.Pages.reserve(Needed); // a page is never taken and then lost
  while (S.Pages.size() < Needed) {
    uint32_t P =
        Pool.allocate(S.Pages.empty() ? PagePool::None : S.Pages.back());
    if (P == PagePool::None)
      return doesNotFitError("all " + std::to_string(Pool.capacity()) +
                             " cache pages are in use, " +
                             std::to_string(Needed - S.Pages.size()) +
                             " more are needed");
    S.Pages.push_back(P);
  }
  return Status::success();
}

void Session::fill(std::span<const StepRow> Rows) {
  Ids.clear(), Positions.clear(), RowSequence.clear(), LogitRows.clear();
  RowToLogit.assign(Rows.size(), UINT32_MAX);
  // Positions count through a sequence's rows as they were given, whatever
  // their class.
  for (SequenceId Id : InStep)
    Sequences[Id].Added = 0;
  Positions.resize(Rows.size());
  Lengths.resize(Rows.size());
  Ids.resize(Rows.size());
  RowSequence.resize(Rows.size());
  PromptRows = static_cast<uint32_t>(
      std::count_if(Rows.begin(), Rows.end(), [](const StepRow &R) {
        return R.Class == TokenClass::Prompt;
      }));
  uint32_t NextPrompt = 0, NextGenerated = PromptRows;
  for (size_t I = 0; I < Rows.size(); ++I) {
    const StepRow &R = Rows[I];
    Sequence &S = Sequences[R.Sequence];
    uint32_t At =
        R.Class == TokenClass::Prompt ? NextPrompt++ : NextGenerated++;
    Ids[At] = R.Token;
    Positions[At] = static_cast<int32_t>(S.Length + S.Added++);
    Lengths[At] = Positions[At] + 1;
    RowSequence[At] = static_cast<int32_t>(S.Slot);
    if (R.WantLogits) {
      RowToLogit[I] = At; // for now; turned into a rank below
      LogitRows.push_back(static_cast<int32_t>(At));
    }
  }
  for (size_t I = 0, At = 0; I < Rows.size(); ++I) {
    const StepRow &R = Rows[I];
    const Sequence &S = Sequences[R.Sequence];
    if (R.Class == TokenClass::Prompt)
      Lengths[At++] = static_cast<int32_t>(R.PromptLength ? R.PromptLength
                                                          : S.Length + S.Added);
  }
  std::sort(LogitRows.begin(), LogitRows.end());
  for (uint32_t &Row : RowToLogit)
    if (Row != UINT32_MAX)
      Row = static_cast<uint32_t>(std::lower_bound(LogitRows.begin(),
                                                   LogitRows.end(),
                                                   static_cast<int32_t>(Row)) -
                                  LogitRows.begin());
  PagesPerSequence = 0;
  for (SequenceId Id : InStep)
    PagesPerSequence = std::max(
        PagesPerSequence, static_cast<uint32_t>(Sequences[Id].Pages.size()));
  PageTable.assign(InStep.size() * PagesPerSequence, 0);
  for (SequenceId Id : InStep)
    std::copy(Sequences[Id].Pages.begin(), Sequences[Id].Pages.end(),
              PageTable.begin() + Sequences[Id].Slot * PagesPerSequence);
}

void Session::leaveStep(bool Commit) {
  for (size_t Slot = 0; Slot < InStep.size(); ++Slot) {
    Sequence &S = Sequences[InStep[Slot]];
    S.InStep = false;
    if (Commit)
      S.Length += S.Added;
    while (!Commit && S.Pages.size() > pagesFor(S.Length)) {
      Pool.release(S.Pages.back());
      S.Pages.pop_back();
    }
  }
  InStep.clear();
}

Status Session::step(std::span<const StepRow> Rows, std::span<float> Logits) {
  try {
    Status S = run(Rows, Logits);
    leaveStep(S.ok());
    return S;
  } catch (...) { // no memory
    leaveStep(false);
    throw;
  }
}

/// Computes the tokens behind the last page that is whole again, without
/// logits. The page is the sequence's own by then.
Status Session::replay(Sequence &S) {
  while (S.Valid < S.Length) {
    Ids.clear(), Positions.clear(), RowSequence.clear(), Lengths.clear();
    LogitRows.clear();
    uint32_t Prompts = 0;
    // Rows of one class at a time, as they came.
    TokenClass Class = S.Tokens[S.Valid].Class;
    uint32_t End = S.Valid;
    while (End < S.Length && End - S.Valid < info().MaxTokens &&
           S.Tokens[End].Class == Class) {
      Ids.push_back(S.Tokens[End].Token);
      Positions.push_back(static_cast<int32_t>(End));
      RowSequence.push_back(0);
      Lengths.push_back(S.Tokens[End].Length);
      Prompts += Class == TokenClass::Prompt;
      ++End;
    }
    StepInput In;
    In.Ids = Ids;
    In.Positions = Positions;
    In.RowSequence = RowSequence;
    In.Lengths = Lengths;
    In.PromptRows = Prompts;
    In.Sequences = 1;
    In.PagesPerSequence = static_cast<uint32_t>(S.Pages.size());
    In.PageTable = S.Pages;
    LLMC_RETURN_IF_ERROR(Exec.step(In));
    S.Valid = End;
  }
  return Status::success();
}

void Session::remember(std::span<const StepRow> Rows) {
  uint32_t Prompt = 0, Generated = PromptRows;
  for (const StepRow &R : Rows) {
    uint32_t At = R.Class == TokenClass::Prompt ? Prompt++ : Generated++;
    Sequence &S = Sequences[R.Sequence];
    S.Tokens.push_back({R.Token, Lengths[At], R.Class});
    S.Valid = static_cast<uint32_t>(S.Tokens.size());
  }
}

Status Session::run(std::span<const StepRow> Rows, std::span<float> Logits) {
  Status S = check(Rows, Logits.size());
  for (size_t I = 0; I < InStep.size() && S.ok(); ++I)
    S = reserve(Sequences[InStep[I]]);
  for (size_t I = 0; I < InStep.size() && S.ok() && info().Records; ++I)
    S = replay(Sequences[InStep[I]]);
  if (S.ok()) {
    fill(Rows);
    StepInput In;
    In.Ids = Ids;
    In.Positions = Positions;
    In.RowSequence = RowSequence;
    In.Lengths = Lengths;
    In.PromptRows = PromptRows;
    In.Sequences = static_cast<uint32_t>(InStep.size());
    In.PagesPerSequence = PagesPerSequence;
    In.PageTable = PageTable;
    In.LogitRows = LogitRows;
    In.Logits = Logits.first(LogitRows.size() * info().rowFloats());
    S = Exec.step(In);
    if (S.ok() && info().Records)
      remember(Rows);
  }
  return S;
}

} // namespace llmc
