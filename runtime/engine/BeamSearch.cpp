// Ties go to the lower beam and the lower id. Beams that do not exist yet in
// the first step have a score far below any sum of logarithms, as in the
// reference, so that small vocabularies behave alike.
#include "runtime/engine/BeamSearch.h"

#include <algorithm>
#include <cmath>
#include <string>

namespace llmc {

namespace {

constexpr double FarBelow = -1e9;

bool better(const BeamSearch::Move &A, const BeamSearch::Move &B) {
  if (A.Score != B.Score)
    return A.Score > B.Score;
  return A.Parent != B.Parent ? A.Parent < B.Parent : A.Token < B.Token;
}

} // namespace

Status checkBeams(const BeamParams &P) {
  if (P.Beams == 0 || P.Beams > 256)
    return usageError("beams is " + std::to_string(P.Beams) +
                      ", expected 1 to 256");
  if (P.Return == 0 || P.Return > P.Beams)
    return usageError(std::to_string(P.Return) +
                      " results of beam search are wanted, expected 1 to " +
                      std::to_string(P.Beams) + " (the number of beams)");
  if (!(std::fabs(P.LengthPenalty) <= 100))
    return usageError("length penalty is " + std::to_string(P.LengthPenalty) +
                      ", expected -100 to 100");
  return Status::success();
}

BeamSearch::BeamSearch(BeamParams Params) : P(std::move(Params)) {
  for (uint32_t I = 0; I < P.Beams; ++I)
    Running.push_back({{}, I == 0 ? 0 : FarBelow});
  Done = P.MaxTokens == 0;
}

/// The best continuations of all beams. A heap whose top is the worst one.
void BeamSearch::candidates(std::span<const std::span<const double>> Rows) {
  size_t Wanted = std::max<size_t>(2, 1 + P.EosIds.size()) * P.Beams;
  Candidates.clear();
  for (uint32_t B = 0; B < Running.size(); ++B)
    for (size_t Id = 0; Id < Rows[B].size(); ++Id) {
      Move M{B, static_cast<int32_t>(Id), Running[B].Score + Rows[B][Id]};
      if (!std::isfinite(M.Score)) // banned
        continue;
      if (Candidates.size() == Wanted) {
        if (!better(M, Candidates.front()))
          continue;
        std::pop_heap(Candidates.begin(), Candidates.end(), better);
        Candidates.back() = M;
      } else {
        Candidates.push_back(M);
      }
      std::push_heap(Candidates.begin(), Candidates.end(), better);
    }
  std::sort_heap(Candidates.begin(), Candidates.end(), better);
}

/// Adds a finished hypothesis, if it is among the best.
void BeamSearch::keep(const Move &M, bool Ended) {
  Hypothesis H;
  H.Score = M.Score / std::pow(Length + 1, P.LengthPenalty);
  H.Ended = Ended;
  auto At = std::upper_bound(
      Finished.begin(), Finished.end(), H.Score,
      [](double S, const Hypothesis &Other) { return S > Other.Score; });
  if (static_cast<size_t>(At - Finished.begin()) >= P.Beams)
    return;
  H.Tokens = Running[M.Parent].Tokens;
  H.Tokens.push_back(M.Token);
  Finished.insert(At, std::move(H));
  if (Finished.size() > P.Beams)
    Finished.pop_back();
}

/// Whether a running beam could still beat the worst finished hypothesis.
bool BeamSearch::improvable() const {
  if (Finished.size() < P.Beams)
    return true;
  if (P.Early == EarlyStopping::AtOnce)
    return false;
  bool Far = P.Early == EarlyStopping::Never && P.LengthPenalty > 0;
  double Best = Running.front().Score /
                std::pow(Far ? P.MaxTokens : Length, P.LengthPenalty);
  return Best > Finished.back().Score;
}

std::span<const BeamSearch::Move>
BeamSearch::advance(std::span<const std::span<const double>> Rows) {
  Moves.clear();
  if (Done)
    return Moves;
  candidates(Rows);
  bool Limit = Length + 1 >= P.MaxTokens;
  for (size_t Rank = 0; Rank < Candidates.size(); ++Rank) {
    const Move &M = Candidates[Rank];
    bool Eos =
        std::find(P.EosIds.begin(), P.EosIds.end(), M.Token) != P.EosIds.end();
    if (Eos || Limit) {
      if (Rank < P.Beams)
        keep(M, Eos);
    } else if (Moves.size() < P.Beams) {
      Moves.push_back(M);
    }
  }
  ++Length;
  std::vector<Beam> Next;
  for (const Move &M : Moves) {
    Beam B{Running[M.Parent].Tokens, M.Score};
    B.Tokens.push_back(M.Token);
    Next.push_back(std::move(B));
  }
  Running = std::move(Next);
  Done = Running.empty() || !improvable();
  if (Done)
    Moves.clear();
  return Moves;
}

std::vector<BeamSearch::Hypothesis> BeamSearch::best() const {
  size_t Count = std::min<size_t>(P.Return, Finished.size());
  return {Finished.begin(), Finished.begin() + static_cast<ptrdiff_t>(Count)};
}

} // namespace llmc
