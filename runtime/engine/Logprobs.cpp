// Sums in double: a vocabulary has 10^5 terms.
#include "runtime/engine/Logprobs.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace llmc {

namespace {

constexpr float Lowest = -std::numeric_limits<float>::infinity();

float clean(float V) { return std::isnan(V) ? Lowest : V; }

/// Logarithm of the sum of the exponentials.
double logSum(std::span<const float> Logits) {
  float Max = Lowest;
  for (float V : Logits)
    Max = std::max(Max, clean(V));
  if (!std::isfinite(Max))
    return Max;
  double Sum = 0;
  for (float V : Logits)
    Sum += std::exp(double(clean(V)) - Max);
  return Max + std::log(Sum);
}

} // namespace

PositionLogprobs logprobsOf(std::span<const float> Logits, int32_t Token,
                            uint32_t Count) {
  double Sum = logSum(Logits);
  auto Logprob = [&](size_t Id) {
    return static_cast<float>(clean(Logits[Id]) - Sum);
  };
  PositionLogprobs P;
  P.Token = Token;
  size_t Own = static_cast<size_t>(Token);
  P.Logprob = Logprob(Own);
  auto Better = [&](uint32_t A, uint32_t B) {
    float X = clean(Logits[A]), Y = clean(Logits[B]);
    return X != Y ? X > Y : A < B;
  };
  for (uint32_t Id = 0; Id < Logits.size(); ++Id)
    P.Rank += Better(Id, static_cast<uint32_t>(Own));
  if (Count == 0)
    return P;
  std::vector<uint32_t> Order(Logits.size());
  for (uint32_t Id = 0; Id < Order.size(); ++Id)
    Order[Id] = Id;
  size_t Wanted = std::min<size_t>(Count, Order.size());
  std::partial_sort(Order.begin(),
                    Order.begin() + static_cast<ptrdiff_t>(Wanted), Order.end(),
                    Better);
  for (size_t I = 0; I < Wanted; ++I)
    P.Top.push_back({static_cast<int32_t>(Order[I]), Logprob(Order[I])});
  return P;
}

void logSoftmax(std::span<const float> Logits, std::vector<double> &Out) {
  double Sum = logSum(Logits);
  Out.resize(Logits.size());
  for (size_t Id = 0; Id < Out.size(); ++Id)
    Out[Id] = clean(Logits[Id]) - Sum;
}

} // namespace llmc
