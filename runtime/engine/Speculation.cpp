// The drafter hashes pairs of tokens into a fixed number of buckets and
// follows a short chain of earlier places; the longest match wins, the latest
// among equals. The meter keeps exponential averages.
#include "runtime/engine/Speculation.h"

#include "runtime/engine/Sampler.h"

#include <algorithm>
#include <cmath>

namespace llmc {

AcceptedDraft acceptDraft(std::span<const std::vector<double>> Draft,
                          std::span<const std::vector<double>> Target,
                          std::span<const int32_t> Tokens,
                          std::span<const double> Uniforms, double Final) {
  AcceptedDraft Out;
  for (; Out.Accepted < Tokens.size(); ++Out.Accepted) {
    const std::vector<double> &Q = Draft[Out.Accepted];
    const std::vector<double> &P = Target[Out.Accepted];
    size_t Id = static_cast<size_t>(Tokens[Out.Accepted]);
    if (Uniforms[Out.Accepted] * Q[Id] < P[Id])
      continue;
    double Sum = 0;
    Out.Residual.resize(P.size());
    for (size_t I = 0; I < P.size(); ++I)
      Sum += Out.Residual[I] = std::max(0.0, P[I] - Q[I]);
    // Equal distributions reject nothing, so the sum is 0 only by rounding.
    if (Sum > 0)
      for (double &R : Out.Residual)
        R /= Sum;
    else
      Out.Residual = P;
    Out.Next = Sampler::draw(Out.Residual, Final);
    return Out;
  }
  Out.Next = Sampler::draw(Target[Out.Accepted], Final);
  return Out;
}

size_t NgramDrafter::bucketAt(size_t End) const {
  uint64_t H = 0;
  for (size_t I = End - MinMatch; I < End; ++I)
    H = (H ^ static_cast<uint32_t>(History[I])) * 0x9E3779B97F4A7C15u;
  return (H >> 40) % Buckets;
}

void NgramDrafter::append(int32_t Token) {
  if (Latest.empty())
    Latest.assign(Buckets, 0);
  // The place behind the tokens so far is entered now that something stands
  // there.
  size_t End = History.size();
  History.push_back(Token);
  Before.push_back(0);
  if (End < MinMatch)
    return;
  uint32_t &Place = Latest[bucketAt(End)];
  Before[End] = Place;
  Place = static_cast<uint32_t>(End);
}

void NgramDrafter::draft(uint32_t Count, std::vector<int32_t> &Out) const {
  Out.clear();
  size_t End = History.size();
  if (End < MinMatch || Count == 0)
    return;
  size_t Best = 0, BestLength = MinMatch - 1;
  uint32_t Place = Latest[bucketAt(End)];
  for (uint32_t Try = 0; Place != 0 && Try < MaxTries; ++Try) {
    size_t Length = 0;
    while (Length < MaxMatch && Length < Place &&
           History[Place - 1 - Length] == History[End - 1 - Length])
      ++Length;
    if (Length > BestLength) {
      Best = Place;
      BestLength = Length;
    }
    Place = Before[Place];
  }
  // The match may reach to the end: then the guess repeats itself.
  for (size_t I = 0; Best != 0 && I < Count; ++I) {
    size_t At = Best + I;
    Out.push_back(At < End ? History[At] : Out[At - End]);
  }
}

double DraftMeter::costOf(uint32_t Guesses) const {
  return Alone + PerGuess * Guesses;
}

uint32_t DraftMeter::count() {
  if (Alone == 0)
    return 0; // the first step tells what one without guesses costs
  if (PerGuess == 0)
    return 4;
  uint32_t Best = 0;
  double BestRate = 1 / costOf(0), Tokens = 1, Power = 1;
  for (uint32_t N = 1; N <= Most; ++N) {
    Power *= Chance;
    Tokens += Power;
    if (Tokens / costOf(N) > BestRate * 1.02) {
      BestRate = Tokens / costOf(N);
      Best = N;
    }
  }
  if (Best != 0) {
    Idle = 0;
    return Best;
  }
  if (++Idle < Wait)
    return 0;
  Idle = 0;
  Wait = std::min(Wait * 2, 256u);
  return 1;
}

void DraftMeter::add(uint32_t Guessed, uint32_t Right, double Seconds) {
  constexpr double Weight = 0.25;
  if (Guessed == 0) {
    Alone = Alone == 0 ? Seconds : Alone + Weight * (Seconds - Alone);
    return;
  }
  double Extra = std::max(Seconds - Alone, Alone * 1e-3) / Guessed;
  PerGuess = PerGuess == 0 ? Extra : PerGuess + Weight * (Extra - PerGuess);
  // Each guess behind right ones is one trial.
  for (uint32_t I = 0; I < std::min(Guessed, Right + 1); ++I)
    Chance += 0.1 * ((I < Right ? 1.0 : 0.0) - Chance);
  if (Right != 0)
    Wait = 8;
}

} // namespace llmc
