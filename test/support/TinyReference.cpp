// The tiny model in double precision: what every device is compared with.
#include "test/support/TinyModel.h"

#include <cmath>

namespace llmc::test {
namespace {
using Row = std::vector<double>;

Row normed(const Row &X, const Row &Gain) {
  double Square = 0;
  for (double V : X)
    Square += V * V;
  double Inv = 1 / std::sqrt(Square / X.size() + 1e-5);
  Row Out(X.size());
  for (size_t I = 0; I != X.size(); ++I)
    Out[I] = X[I] * Inv * Gain[I];
  return Out;
}

/// W [N][X.size()] times X.
Row times(const Row &W, const Row &X) {
  Row Out(W.size() / X.size(), 0.0);
  for (size_t N = 0; N != Out.size(); ++N)
    for (size_t K = 0; K != X.size(); ++K)
      Out[N] += W[N * X.size() + K] * X[K];
  return Out;
}

void rotate(double *Head, size_t Half, const Row &Freq, int32_t Position) {
  for (size_t I = 0; I != Half; ++I) {
    float Angle = static_cast<float>(Position) * static_cast<float>(Freq[I]);
    double C = std::cos(static_cast<double>(Angle));
    double S = std::sin(static_cast<double>(Angle));
    double A = Head[I], B = Head[I + Half];
    Head[I] = A * C - B * S;
    Head[I + Half] = B * C + A * S;
  }
}
} // namespace

std::vector<std::vector<double>>
TinyModel::reference(const std::vector<int32_t> &Tokens) const {
  auto Value = [&](const std::string &Name) -> const Row & {
    return Values.at(Name);
  };
  size_t D = static_cast<size_t>(O.HeadDim);
  size_t Group = static_cast<size_t>(O.Heads / O.KvHeads);
  // Keys and values of each layer: [position][kv head][D].
  std::vector<std::vector<Row>> Keys(O.Layers), Vals(O.Layers);
  std::vector<Row> All;
  for (size_t T = 0; T != Tokens.size(); ++T) {
    const Row &Embed = Value("embed");
    Row X(Embed.begin() + Tokens[T] * O.Hidden,
          Embed.begin() + (Tokens[T] + 1) * O.Hidden);
    for (int64_t L = 0; L != O.Layers; ++L) {
      std::string P = "l" + std::to_string(L) + "_";
      Row Qkv = times(Value(P + "qkv"), normed(X, Value(P + "g1")));
      Row Key, Val, Out;
      for (int64_t G = 0; G != O.KvHeads; ++G) {
        double *Part = &Qkv[static_cast<size_t>(G) * (Group + 2) * D];
        for (size_t H = 0; H != Group + 1; ++H)
          rotate(Part + H * D, D / 2, Value("freq"), static_cast<int32_t>(T));
        Key.insert(Key.end(), Part + Group * D, Part + (Group + 1) * D);
        Val.insert(Val.end(), Part + (Group + 1) * D, Part + (Group + 2) * D);
      }
      Keys[L].push_back(Key);
      Vals[L].push_back(Val);
      for (int64_t G = 0; G != O.KvHeads; ++G)
        for (size_t H = 0; H != Group; ++H) {
          const double *Q =
              &Qkv[(static_cast<size_t>(G) * (Group + 2) + H) * D];
          size_t First = O.Window && T >= static_cast<size_t>(O.Window)
                             ? T + 1 - static_cast<size_t>(O.Window)
                             : 0;
          double Sum = 0;
          Row Head(D, 0.0);
          for (size_t J = First; J <= T; ++J) {
            double Score = 0;
            for (size_t I = 0; I != D; ++I)
              Score += Q[I] * Keys[L][J][static_cast<size_t>(G) * D + I];
            double E = std::exp(0.25 * Score);
            Sum += E;
            for (size_t I = 0; I != D; ++I)
              Head[I] += E * Vals[L][J][static_cast<size_t>(G) * D + I];
          }
          for (double V : Head)
            Out.push_back(V / Sum);
        }
      Row Proj = times(Value(P + "o"), Out);
      for (size_t I = 0; I != X.size(); ++I)
        X[I] += Proj[I];
      Row Gu = times(Value(P + "gu"), normed(X, Value(P + "g2")));
      Row H(static_cast<size_t>(O.Ff));
      for (size_t I = 0; I != H.size(); ++I) {
        double Gate = Gu[I / 16 * 32 + I % 16];
        H[I] = Gate / (1 + std::exp(-Gate)) * Gu[I / 16 * 32 + I % 16 + 16];
      }
      Row Down = times(Value(P + "down"), H);
      for (size_t I = 0; I != X.size(); ++I)
        X[I] += Down[I];
    }
    All.push_back(times(Embed, normed(X, Value("gf"))));
  }
  return All;
}

} // namespace llmc::test
