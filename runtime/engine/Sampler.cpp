// Works in double on the whole vocabulary: a fraction of a millisecond beside
// a step of several. Only the plain greedy case, which is the common one, has
// a way of its own.
#include "runtime/engine/Sampler.h"

#include "runtime/base/Json.h"
#include "runtime/engine/TokenFilter.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <string>

namespace llmc {

namespace {

constexpr double Banned = -std::numeric_limits<double>::infinity();

Status inRange(const char *Name, double V, double Low, double High) {
  if (V >= Low && V <= High)
    return Status::success();
  std::string Found = std::isfinite(V) ? jsonNumber(V) : std::to_string(V);
  return usageError(std::string(Name) + " is " + Found + ", expected " +
                    jsonNumber(Low) + " to " + jsonNumber(High));
}

/// A bijection of 64-bit numbers that scatters neighbours (splitmix64).
uint64_t scatter(uint64_t X) {
  X += 0x9E3779B97F4A7C15u;
  X = (X ^ X >> 30) * 0xBF58476D1CE4E5B9u;
  X = (X ^ X >> 27) * 0x94D049BB133111EBu;
  return X ^ X >> 31;
}

/// Highest logit of those allowed, ties to the lowest id; NaN is the lowest.
/// -1: none is allowed.
int32_t bestAllowed(std::span<const float> Logits,
                    std::span<const uint64_t> Allowed) {
  int32_t Token = -1;
  float Best = 0;
  for (size_t I = 0; I < Logits.size(); ++I) {
    if (!Allowed.empty() && !tokenBit(Allowed, I))
      continue;
    float V = std::isnan(Logits[I]) ? -std::numeric_limits<float>::infinity()
                                    : Logits[I];
    if (Token < 0 || V > Best) {
      Best = V;
      Token = static_cast<int32_t>(I);
    }
  }
  return Token;
}

/// Keeps the K largest and all that equal the smallest of them.
void keepTopK(std::vector<double> &L, size_t K) {
  std::vector<double> Sorted = L;
  std::nth_element(Sorted.begin(), Sorted.begin() + (K - 1), Sorted.end(),
                   std::greater<double>());
  double Least = Sorted[K - 1];
  for (double &V : L)
    if (V < Least)
      V = Banned;
}

/// Logits to probabilities.
void softmax(std::vector<double> &L) {
  double Max = *std::max_element(L.begin(), L.end());
  double Sum = 0;
  for (double &V : L) {
    V = std::exp(V - Max);
    Sum += V;
  }
  for (double &V : L)
    V /= Sum;
}

void normalize(std::vector<double> &P) {
  double Sum = std::accumulate(P.begin(), P.end(), 0.0);
  for (double &V : P)
    V /= Sum;
}

/// Keeps the most likely tokens while the sum of those before is below Mass.
void keepTopP(std::vector<double> &P, double Mass) {
  std::vector<uint32_t> Order;
  for (uint32_t I = 0; I < P.size(); ++I)
    if (P[I] > 0)
      Order.push_back(I);
  std::stable_sort(Order.begin(), Order.end(),
                   [&](uint32_t A, uint32_t B) { return P[A] > P[B]; });
  double Before = 0;
  size_t Kept = 0;
  for (; Kept < Order.size() && (Kept == 0 || Before < Mass); ++Kept)
    Before += P[Order[Kept]];
  for (size_t I = Kept; I < Order.size(); ++I)
    P[Order[I]] = 0;
  normalize(P);
}

/// Keeps the tokens whose surprise is nearest to the expected one, until they
/// have the mass (locally typical sampling).
void keepTypical(std::vector<double> &P, double Mass) {
  double Entropy = 0;
  for (double V : P)
    if (V > 0)
      Entropy -= V * std::log(V);
  std::vector<std::pair<double, uint32_t>> Order;
  for (uint32_t I = 0; I < P.size(); ++I)
    if (P[I] > 0)
      Order.emplace_back(std::fabs(-std::log(P[I]) - Entropy), I);
  std::stable_sort(
      Order.begin(), Order.end(),
      [](const auto &A, const auto &B) { return A.first < B.first; });
  double Sum = 0;
  size_t Kept = 0;
  for (; Kept < Order.size() && (Kept == 0 || Sum < Mass); ++Kept)
    Sum += P[Order[Kept].second];
  for (size_t I = Kept; I < Order.size(); ++I)
    P[Order[I].second] = 0;
  normalize(P);
}

void keepMinP(std::vector<double> &P, double Share) {
  double Least = Share * *std::max_element(P.begin(), P.end());
  for (double &V : P)
    if (V < Least)
      V = 0;
  normalize(P);
}

} // namespace

Status checkSampling(const SamplingParams &P) {
  LLMC_RETURN_IF_ERROR(inRange("temperature", P.Temperature, 0, 1e6));
  LLMC_RETURN_IF_ERROR(inRange("top_k", P.TopK, -1, INT32_MAX));
  LLMC_RETURN_IF_ERROR(inRange("top_p", P.TopP, 1e-9, 1));
  LLMC_RETURN_IF_ERROR(inRange("min_p", P.MinP, 0, 1));
  LLMC_RETURN_IF_ERROR(inRange("typical_p", P.TypicalP, 1e-9, 1));
  LLMC_RETURN_IF_ERROR(
      inRange("repetition_penalty", P.RepetitionPenalty, 1e-3, 1e3));
  LLMC_RETURN_IF_ERROR(
      inRange("frequency_penalty", P.FrequencyPenalty, -100, 100));
  for (const auto &[Id, Bias] : P.LogitBias)
    if (std::isnan(Bias) || Bias == std::numeric_limits<float>::infinity())
      return usageError("logit_bias of token " + std::to_string(Id) + " is " +
                        (std::isnan(Bias) ? "nan" : "inf") +
                        ", expected a number or -inf");
  return inRange("presence_penalty", P.PresencePenalty, -100, 100);
}

double randomUniform(uint64_t Seed, uint64_t Index) {
  uint64_t Bits = scatter(scatter(Seed) ^ scatter(~Index));
  return static_cast<double>(Bits >> 11) * 0x1p-53;
}

Sampler::Sampler(const SamplingParams &Params, uint32_t Vocab,
                 std::span<const int32_t> Prompt)
    : P(Params) {
  if (P.RepetitionPenalty != 1) {
    Seen.assign(Vocab, 0);
    for (int32_t T : Prompt)
      if (T >= 0 && static_cast<uint32_t>(T) < Vocab)
        Seen[T] = 1;
  }
  if (P.FrequencyPenalty != 0 || P.PresencePenalty != 0)
    Produced.assign(Vocab, 0);
  if (!P.BadWords.empty() || P.NoRepeatNgram != 0)
    History.assign(Prompt.begin(), Prompt.end());
}

bool Sampler::plainGreedy() const {
  return P.Temperature == 0 && Seen.empty() && Produced.empty() &&
         P.LogitBias.empty() && P.AllowedIds.empty() && P.BadWords.empty() &&
         P.NoRepeatNgram == 0 && P.MinTokens == 0;
}

/// A logit after the penalties. NaN counts as banned.
double Sampler::adjusted(double V, size_t I) const {
  if (!Seen.empty() && Seen[I])
    V = V > 0 ? V / P.RepetitionPenalty : V * P.RepetitionPenalty;
  if (!Produced.empty() && Produced[I] != 0)
    V -= double(P.FrequencyPenalty) * Produced[I] + P.PresencePenalty;
  return std::isnan(V) ? Banned : V;
}

/// Bans every token that would repeat an n-gram of the history.
void Sampler::banNgrams(std::vector<double> &L) const {
  size_t N = P.NoRepeatNgram;
  if (N == 0 || History.size() + 1 < N)
    return;
  auto Tail = History.end() - static_cast<ptrdiff_t>(N - 1);
  for (size_t I = 0; I + N <= History.size(); ++I)
    if (std::equal(Tail, History.end(), History.begin() + I)) {
      size_t Next = static_cast<size_t>(History[I + N - 1]);
      if (Next < L.size())
        L[Next] = Banned;
    }
}

void Sampler::ban(std::vector<double> &L) const {
  auto Ban = [&](int32_t Id) {
    if (Id >= 0 && static_cast<size_t>(Id) < L.size())
      L[Id] = Banned;
  };
  if (!P.AllowedIds.empty()) {
    std::vector<uint8_t> Allowed(L.size(), 0);
    for (int32_t Id : P.AllowedIds)
      if (Id >= 0 && static_cast<size_t>(Id) < L.size())
        Allowed[Id] = 1;
    for (size_t I = 0; I < L.size(); ++I)
      if (!Allowed[I])
        L[I] = Banned;
  }
  for (const std::vector<int32_t> &Word : P.BadWords)
    if (!Word.empty() && Word.size() <= History.size() + 1 &&
        std::equal(Word.begin(), Word.end() - 1,
                   History.end() - static_cast<ptrdiff_t>(Word.size() - 1)))
      Ban(Word.back());
  banNgrams(L);
  if (Drawn < P.MinTokens)
    for (int32_t Id : P.EosIds)
      Ban(Id);
}

void Sampler::prepare(std::vector<double> &L,
                      std::span<const uint64_t> Allowed) const {
  for (size_t I = 0; I < L.size(); ++I)
    L[I] = adjusted(L[I], I);
  for (const auto &[Id, Bias] : P.LogitBias)
    if (Id >= 0 && static_cast<size_t>(Id) < L.size())
      L[Id] += Bias;
  ban(L);
  for (size_t I = 0; !Allowed.empty() && I < L.size(); ++I)
    if (!tokenBit(Allowed, I))
      L[I] = Banned;
}

/// The best of the logits that no ban excludes, where all that are left are
/// infinite or no numbers; -1: the bans exclude all.
int32_t Sampler::bestOfBroken(std::span<const float> Logits,
                              std::span<const uint64_t> Allowed) const {
  std::vector<double> Open(Logits.size(), 0);
  for (const auto &[Id, Bias] : P.LogitBias)
    if (std::isinf(Bias) && Id >= 0 && static_cast<size_t>(Id) < Open.size())
      Open[Id] = Banned;
  ban(Open);
  std::vector<uint64_t> Bits(tokenWords(Open.size()));
  for (size_t I = 0; I < Open.size(); ++I)
    if (Open[I] == 0 && (Allowed.empty() || tokenBit(Allowed, I)))
      Bits[I / 64] |= uint64_t{1} << I % 64;
  return bestAllowed(Logits, Bits);
}

bool Sampler::distribution(std::span<const float> Logits,
                           std::vector<double> &L,
                           std::span<const uint64_t> Allowed) const {
  L.assign(Logits.begin(), Logits.end());
  prepare(L, Allowed);
  auto Best = std::max_element(L.begin(), L.end());
  if (P.Temperature == 0 || !std::isfinite(*Best)) {
    int32_t At = static_cast<int32_t>(Best - L.begin());
    if (!std::isfinite(*Best))
      At = bestOfBroken(Logits, Allowed);
    std::fill(L.begin(), L.end(), 0.0);
    if (At >= 0)
      L[At] = 1;
    return At >= 0;
  }
  for (double &V : L)
    V /= P.Temperature;
  if (P.TopK > 0 && static_cast<size_t>(P.TopK) < L.size())
    keepTopK(L, static_cast<size_t>(P.TopK));
  softmax(L);
  if (P.TopP < 1)
    keepTopP(L, P.TopP);
  if (P.MinP > 0)
    keepMinP(L, P.MinP);
  if (P.TypicalP < 1)
    keepTypical(L, P.TypicalP);
  return true;
}

int32_t Sampler::draw(std::span<const double> Probabilities, double U) {
  double Sum = 0;
  size_t Last = 0;
  for (size_t I = 0; I < Probabilities.size(); ++I) {
    if (Probabilities[I] <= 0)
      continue;
    Sum += Probabilities[I];
    Last = I;
    if (Sum > U)
      break;
  }
  return static_cast<int32_t>(Last);
}

void Sampler::accept(int32_t Token) {
  if (!Seen.empty())
    Seen[Token] = 1;
  if (!Produced.empty())
    ++Produced[Token];
  if (!P.BadWords.empty() || P.NoRepeatNgram != 0)
    History.push_back(Token);
  ++Drawn;
}

int32_t Sampler::sample(std::span<const float> Logits,
                        std::span<const uint64_t> Allowed) {
  int32_t Token = 0;
  if (plainGreedy()) {
    Token = bestAllowed(Logits, Allowed);
  } else if (distribution(Logits, Work, Allowed)) {
    Token = draw(Work, randomUniform(P.Seed, Drawn));
  } else {
    Token = -1;
  }
  if (Token >= 0)
    accept(Token);
  return Token;
}

} // namespace llmc
