// The search for scale and minimum of an int4 block.
//
// Candidates are, first, the ranges of the block cut into 1 to 15 steps: if the
// weights were quantised before (a 4-bit source), one of them is their grid and
// the error is zero. Then ranges that leave out a part at either end, since the
// few weights at the ends cost less than wider steps for all others; each is
// improved by a fit of scale and minimum to the codes it gives (least squares).
//
// Results must not depend on the machine: each lane's operations are single
// IEEE operations in one order (this file is compiled with -ffp-contract=off).
#include "compiler/weights/QuantizeInt4.h"

#include "runtime/base/Half.h"

#include <cmath>
#include <cstring>

namespace llmc {
namespace {

constexpr int Block = 32, Rows = 16, Steps = 15;
/// Shares of the range that candidates leave out at an end.
constexpr float Cuts[] = {0.0f, 0.02f, 0.04f, 0.07f, 0.1f, 0.14f};
/// Adding and subtracting it rounds to the nearest integer, ties to even.
constexpr float Rounder = 0x1.8p23f;

struct Lanes {
  alignas(64) float V[Rows];
  float &operator[](int R) { return V[R]; }
  float operator[](int R) const { return V[R]; }
};

struct Search {
  const float *X;
  Lanes Scale, Minimum, Error; ///< the best so far
};

float roundF16(float F) { return f16ToFloat(floatToF16(F)); }

/// The code of X: round((X - Minimum) / Scale), limited.
inline float codeOf(float X, float Inverse, float Minimum) {
  float Q = ((X - Minimum) * Inverse + Rounder) - Rounder;
  Q = Q > 0.0f ? Q : 0.0f;
  return Q < float(Steps) ? Q : float(Steps);
}

inline float inverseOf(float Scale) {
  return Scale > 0.0f ? 1.0f / Scale : 0.0f;
}

/// Rounds a candidate to f16, measures it and keeps what is better. Fit gets
/// the best scale and minimum for the codes (in f32) when it is not null.
void tryCandidate(Search &S, Lanes Scale, Lanes Minimum, Lanes *FitScale,
                  Lanes *FitMinimum) {
  Lanes Inverse, Error = {}, SumQ = {}, SumQQ = {}, SumX = {}, SumQX = {};
  for (int R = 0; R < Rows; ++R) {
    Scale[R] = roundF16(Scale[R]);
    Minimum[R] = roundF16(Minimum[R]);
    Inverse[R] = inverseOf(Scale[R]);
  }
  for (int K = 0; K < Block; ++K)
    for (int R = 0; R < Rows; ++R) {
      float X = S.X[K * Rows + R];
      float Q = codeOf(X, Inverse[R], Minimum[R]);
      float E = X - (Q * Scale[R] + Minimum[R]);
      Error[R] += E * E;
      SumQ[R] += Q;
      SumQQ[R] += Q * Q;
      SumX[R] += X;
      SumQX[R] += Q * X;
    }
  for (int R = 0; R < Rows; ++R) {
    bool Better = Error[R] < S.Error[R];
    S.Error[R] = Better ? Error[R] : S.Error[R];
    S.Scale[R] = Better ? Scale[R] : S.Scale[R];
    S.Minimum[R] = Better ? Minimum[R] : S.Minimum[R];
    if (!FitScale)
      continue;
    float D = float(Block) * SumQQ[R] - SumQ[R] * SumQ[R];
    float Fit = (float(Block) * SumQX[R] - SumQ[R] * SumX[R]) / D;
    bool Usable = D > 0.0f && Fit > 0.0f;
    (*FitScale)[R] = Usable ? Fit : Scale[R];
    (*FitMinimum)[R] =
        Usable ? (SumX[R] - Fit * SumQ[R]) / float(Block) : Minimum[R];
  }
}

void search(Search &S) {
  Lanes Low, High;
  for (int R = 0; R < Rows; ++R) {
    Low[R] = High[R] = S.X[R];
    S.Error[R] = INFINITY;
  }
  for (int K = 1; K < Block; ++K)
    for (int R = 0; R < Rows; ++R) {
      float X = S.X[K * Rows + R];
      Low[R] = X < Low[R] ? X : Low[R];
      High[R] = X > High[R] ? X : High[R];
    }
  const auto Range = [&](float CutLow, float CutHigh, int N, Lanes &Scale,
                         Lanes &Minimum) {
    for (int R = 0; R < Rows; ++R) {
      float Width = High[R] - Low[R];
      Minimum[R] = Low[R] + Width * CutLow;
      Scale[R] = Width * (1.0f - CutLow - CutHigh) / float(N);
    }
  };
  Lanes Scale, Minimum, FitScale, FitMinimum;
  bool AllExact = false;
  for (int N = Steps; N >= 1 && !AllExact; --N) {
    Range(0, 0, N, Scale, Minimum);
    tryCandidate(S, Scale, Minimum, nullptr, nullptr);
    // Symmetric sources: the lowest of 16 levels is -8 steps, there or not.
    for (int R = 0; R < Rows; ++R)
      Minimum[R] = -8.0f * roundF16(Scale[R]);
    tryCandidate(S, Scale, Minimum, nullptr, nullptr);
    AllExact = true;
    for (int R = 0; R < Rows; ++R)
      AllExact &= S.Error[R] == 0.0f;
  }
  if (AllExact)
    return;
  for (float CutLow : Cuts)
    for (float CutHigh : Cuts) {
      Range(CutLow, CutHigh, Steps, Scale, Minimum);
      tryCandidate(S, Scale, Minimum, &FitScale, &FitMinimum);
      tryCandidate(S, FitScale, FitMinimum, nullptr, nullptr);
    }
}
} // namespace

void quantizeInt4(const float *X, Int4Block &Out, Int8Error &Error) {
  Search S;
  S.X = X;
  search(S);
  float Signal[Rows] = {}, Noise[Rows] = {}, Inverse[Rows];
  for (int R = 0; R < Rows; ++R) {
    Out.Scale[R] = S.Scale[R];
    Out.Minimum[R] = S.Minimum[R];
    Inverse[R] = inverseOf(S.Scale[R]);
  }
  for (int K = 0; K < Block; ++K)
    for (int R = 0; R < Rows; ++R) {
      float V = X[K * Rows + R];
      float Q = codeOf(V, Inverse[R], Out.Minimum[R]);
      float E = V - (Q * Out.Scale[R] + Out.Minimum[R]), A = std::fabs(E);
      Out.Q[K][R] = static_cast<uint8_t>(static_cast<int32_t>(Q));
      Signal[R] += V * V;
      Noise[R] += E * E;
      Error.Largest[R] = A > Error.Largest[R] ? A : Error.Largest[R];
    }
  for (int R = 0; R < Rows; ++R) {
    Error.Signal[R] += static_cast<double>(Signal[R]);
    Error.Noise[R] += static_cast<double>(Noise[R]);
  }
}

} // namespace llmc
