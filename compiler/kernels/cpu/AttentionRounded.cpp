// attention_rounded: attention whose scores and probabilities are rounded to
// codes, as files with static quantisation have it.
//
// A probability is rounded only when the whole sum is known, so that there are
// two walks over the keys: one for the maximum and the sum, one for the values;
// scores are computed in both. A column is one query head of one row and does
// not depend on others; tiles are pages, in ascending order.
#include "compiler/kernels/cpu/Kv.h"
#include "compiler/kernels/cpu/Math.h"
#include "compiler/kernels/cpu/Scratch.h"

using namespace llmc::kernels;

namespace {
inline namespace LLMC_ISA {

constexpr float MinusInf = -__builtin_inff();

/// x becomes Step * clamp(round(x / Step), Low, High); Step 0: x.
struct Rounding {
  float Step, Low, High;
};

LLMC_INLINE VF rounded(Rounding By, VF X) {
  if (By.Step == 0.0f)
    return X;
  X = roundEven(X / splat(By.Step));
  return max(min(X, splat(By.High)), splat(By.Low)) * splat(By.Step);
}

struct Job {
  const float *Q;
  uint8_t *Kv;
  float *Out;
  const float *Slopes, *Sinks;
  int64_t Heads, KvHeads, HeadDim, VHeadDim, Window, Chunk, PageStride;
  float Scale, Cap;
  Rounding Scores, Probabilities;
};

/// Scores of the 64 keys of a page with a query at position Pos; -inf outside
/// of [Begin, Pos].
template <typename T>
LLMC_INLINE void scorePage(const Job &J, const T *K, const float *Q,
                           float Slope, int64_t Tile, int64_t Begin,
                           int64_t Pos, VF (&P)[4]) {
  VI Lane = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
  for (int I = 0; I < 4; ++I)
    P[I] = splat(0);
#pragma clang loop unroll(disable)
  for (int64_t D = 0; D < J.HeadDim; ++D)
    for (int I = 0; I < 4; ++I)
      P[I] = fma(load(K + D * PageTokens + I * 16), splat(Q[D]), P[I]);
  for (int I = 0; I < 4; ++I) {
    VI At = Lane + splatInt(static_cast<int32_t>(Tile + I * 16));
    VF S = softcap(rounded(J.Scores, P[I] * splat(J.Scale)), J.Cap);
    S = fma(splat(Slope), toFloat(At - splatInt(static_cast<int32_t>(Pos))), S);
    S = At < splatInt(static_cast<int32_t>(Begin)) ? splat(MinusInf) : S;
    P[I] = At > splatInt(static_cast<int32_t>(Pos)) ? splat(MinusInf) : S;
  }
}

/// e^(x - Max), 0 for -inf.
LLMC_INLINE VF weight(VF X, float Max) {
  VF E = exp(X - splat(Max));
  return X == splat(MinusInf) ? splat(0) : E;
}

template <typename T>
LLMC_SHARED void attendColumn(const LlmcCtx *C, const Job *TheJob, int64_t Row,
                              int64_t Head) {
  const Job &J = *TheJob;
  int64_t Pos = positions(C)[Row], Begin = 0;
  if (J.Window > 0 && Pos + 1 > J.Window)
    Begin = Pos + 1 - J.Window;
  if (J.Chunk > 0 && Pos / J.Chunk * J.Chunk > Begin)
    Begin = Pos / J.Chunk * J.Chunk;
  int64_t First = Begin / PageTokens * PageTokens;
  const float *Q = J.Q + (Row * J.Heads + Head) * J.HeadDim;
  float *Out = J.Out + (Row * J.Heads + Head) * J.VHeadDim;
  float Slope = J.Slopes ? J.Slopes[Head] : 0.0f;
  float Max = MinusInf, Sum = 0.0f;
  VF P[4];
  for (int64_t Tile = First; Tile <= Pos; Tile += PageTokens) {
    KvBlock<T> B =
        kvBlock<T>(J.Kv, J.PageStride, pageOf(C, Row, Tile),
                   Head / (J.Heads / J.KvHeads), J.HeadDim, J.VHeadDim);
    scorePage(J, B.K, Q, Slope, Tile, Begin, Pos, P);
    float New = maxLanes(max(max(P[0], P[1]), max(P[2], P[3])));
    New = New < Max ? Max : New;
    VF E = splat(0);
    for (int I = 0; I < 4; ++I)
      E = E + weight(P[I], New);
    Sum = fma(Sum, exp(splat(Max - New))[0], sumLanes(E));
    Max = New;
  }
  if (J.Sinks)
    Sum = Sum + exp(splat(J.Sinks[Head] - Max))[0];
  for (int64_t I = 0; I < J.VHeadDim; ++I)
    Out[I] = 0.0f;
  for (int64_t Tile = First; Tile <= Pos; Tile += PageTokens) {
    KvBlock<T> B =
        kvBlock<T>(J.Kv, J.PageStride, pageOf(C, Row, Tile),
                   Head / (J.Heads / J.KvHeads), J.HeadDim, J.VHeadDim);
    scorePage(J, B.K, Q, Slope, Tile, Begin, Pos, P);
    alignas(64) float W[PageTokens];
    for (int I = 0; I < 4; ++I)
      store(W + I * 16,
            rounded(J.Probabilities, weight(P[I], Max) / splat(Sum)));
    int64_t Lo = Begin > Tile ? Begin - Tile : 0;
    int64_t Hi = Pos - Tile + 1 < PageTokens ? Pos - Tile + 1 : PageTokens;
    for (int64_t I = Lo; I < Hi; ++I)
      for (int64_t D = 0; D < J.VHeadDim; ++D)
        Out[D] = fma(static_cast<float>(B.V[I * J.VHeadDim + D]), W[I], Out[D]);
  }
}

template <typename T> LLMC_INLINE void attend(const LlmcCtx *C, const Job &J) {
  Range Mine = share(C, int64_t(C->counts->tokens) * J.Heads);
  for (int64_t I = Mine.Begin; I < Mine.End; ++I)
    attendColumn<T>(C, &J, I / J.Heads, I % J.Heads);
}

} // namespace LLMC_ISA
} // namespace

extern "C" void LLMC_KERNEL(attention_rounded)(
    const LlmcCtx *C, const float *Q, uint8_t *Kv, float *Out,
    const float *Slopes, const float *Sinks, int64_t Heads, int64_t KvHeads,
    int64_t HeadDim, int64_t VHeadDim, int64_t Window, int64_t Chunk,
    int64_t KvKind, int64_t PageStride, float Scale, float Cap, float ScoreStep,
    float ScoreLow, float ScoreHigh, float ProbStep, float ProbLow,
    float ProbHigh) {
  Job J{Q,
        Kv,
        Out,
        Slopes,
        Sinks,
        Heads,
        KvHeads,
        HeadDim,
        VHeadDim,
        Window,
        Chunk,
        PageStride,
        Scale,
        Cap,
        {ScoreStep, ScoreLow, ScoreHigh},
        {ProbStep, ProbLow, ProbHigh}};
  if (KvKind == KvF32)
    attend<float>(C, J);
  else
    attend<_Float16>(C, J);
}
