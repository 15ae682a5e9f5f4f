// Pages are dealt out once, a run of them per sequence.
#include "tools/bench/gpu/Steps.h"

#include <algorithm>
#include <numeric>

namespace llmc::bench {

Steps::Steps(Executable &E, uint32_t S, uint32_t Context)
    : Exe(&E), Sequences(S),
      PagesPerSequence((Context + E.info().PageTokens - 1) /
                       E.info().PageTokens),
      Length(S, 0), Table(size_t{S} * PagesPerSequence),
      Logits(size_t{S} * E.info().rowFloats()) {
  std::iota(Table.begin(), Table.end(), 0u);
}

Result<Steps> Steps::make(Executable &E, uint32_t Sequences, uint32_t Context) {
  const ExecutableInfo &I = E.info();
  Steps S(E, Sequences, Context);
  if (Sequences > I.MaxSequences || S.Table.size() > I.Pages)
    return doesNotFitError(
        std::to_string(Sequences) + " sequences of " + std::to_string(Context) +
        " tokens need " + std::to_string(S.Table.size()) +
        " pages, the artifact has " + std::to_string(I.Pages) + " and " +
        std::to_string(I.MaxSequences) + " sequences");
  return S;
}

void Steps::restart(uint32_t Seed) {
  Random.seed(Seed);
  std::fill(Length.begin(), Length.end(), 0);
}

Status Steps::promptOf(uint32_t Sequence, uint32_t Tokens) {
  uint32_t Most = Exe->info().MaxTokens, Row = Exe->info().rowFloats();
  for (uint32_t At = 0; At < Tokens;) {
    uint32_t Now = std::min(Most, Tokens - At);
    Ids.resize(Now);
    Positions.resize(Now);
    Rows.assign(Now, 0);
    for (uint32_t I = 0; I != Now; ++I) {
      Ids[I] = token();
      Positions[I] = Length[Sequence]++;
    }
    At += Now;
    LogitRows.assign(At == Tokens, static_cast<int32_t>(Now - 1));
    StepInput In;
    In.Ids = Ids;
    In.Positions = Positions;
    In.RowSequence = Rows;
    In.PromptRows = Now;
    In.Sequences = 1;
    In.PagesPerSequence = PagesPerSequence;
    In.PageTable = std::span(Table).subspan(size_t{Sequence} * PagesPerSequence,
                                            PagesPerSequence);
    In.LogitRows = LogitRows;
    In.Logits = std::span(Logits).subspan(size_t{Sequence} * Row, Row);
    LLMC_RETURN_IF_ERROR(Exe->step(In));
  }
  return Status::success();
}

Status Steps::prompt(uint32_t Tokens) {
  for (uint32_t S = 0; S != Sequences; ++S)
    LLMC_RETURN_IF_ERROR(promptOf(S, Tokens));
  return Status::success();
}

StepInput Steps::decodeInput() {
  Ids.resize(Sequences);
  Positions.resize(Sequences);
  Rows.resize(Sequences);
  for (uint32_t S = 0; S != Sequences; ++S) {
    Ids[S] = token();
    Positions[S] = Length[S]++;
    Rows[S] = static_cast<int32_t>(S);
  }
  LogitRows = Rows;
  StepInput In;
  In.Ids = Ids;
  In.Positions = Positions;
  In.RowSequence = Rows;
  In.Sequences = Sequences;
  In.PagesPerSequence = PagesPerSequence;
  In.PageTable = Table;
  In.LogitRows = LogitRows;
  In.Logits = Logits;
  return In;
}

Status Steps::decode() { return Exe->step(decodeInput()); }

Result<std::vector<KernelTime>> Steps::timeDecode(unsigned Repeats) {
  return Exe->timeKernels(decodeInput(), Repeats);
}

} // namespace llmc::bench
