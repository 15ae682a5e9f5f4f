// attention_rounded (reference): scores rounded, softmax over all visible keys,
// probabilities rounded, values.
#include "compiler/kernels/ref/Kv.h"
#include "compiler/kernels/ref/Ref.h"

#include <algorithm>
#include <limits>

using namespace llmc::kernels;
using namespace llmc::kernels::ref;

namespace {
struct Rounded {
  float Step, Low, High;

  float operator()(float X) const {
    if (Step == 0.0f)
      return X;
    return std::max(std::min(std::nearbyint(X / Step), High), Low) * Step;
  }
};
} // namespace

extern "C" void k_attention_rounded_ref(
    const LlmcCtx *C, const float *Q, uint8_t *Kv, float *Out,
    const float *Slopes, const float *Sinks, int64_t Heads, int64_t KvHeads,
    int64_t HeadDim, int64_t VHeadDim, int64_t Window, int64_t Chunk,
    int64_t KvKind, int64_t PageStride, float Scale, float Cap, float ScoreStep,
    float ScoreLow, float ScoreHigh, float ProbStep, float ProbLow,
    float ProbHigh) {
  if (C->thread != 0)
    return;
  KvPool P{C, Kv, PageStride, HeadDim, VHeadDim, KvKind};
  Rounded Scores{ScoreStep, ScoreLow, ScoreHigh},
      Probabilities{ProbStep, ProbLow, ProbHigh};
  const int32_t *Positions =
      static_cast<const int32_t *>(C->args->ptr[LLMC_ARG_POSITIONS]);
  for (int64_t R = 0; R < int64_t(C->counts->tokens); ++R)
    for (int64_t H = 0; H < Heads; ++H) {
      int64_t Pos = Positions[R], Begin = 0, Kh = H / (Heads / KvHeads);
      if (Window > 0)
        Begin = std::max<int64_t>(0, Pos + 1 - Window);
      if (Chunk > 0)
        Begin = std::max(Begin, Pos / Chunk * Chunk);
      std::vector<float> S(size_t(Pos + 1));
      float Max = -std::numeric_limits<float>::infinity(), Sum = 0.0f;
      for (int64_t Tile = Begin / 64 * 64; Tile <= Pos; Tile += 64) {
        float New = Max, Lanes[16] = {};
        int64_t Lo = std::max(Begin, Tile), Hi = std::min(Pos, Tile + 63);
        for (int64_t T = Lo; T <= Hi; ++T) {
          float Dot = 0.0f;
          for (int64_t D = 0; D < HeadDim; ++D)
            Dot = std::fmaf(P.get(P.key(R, T, Kh, D)),
                            Q[(R * Heads + H) * HeadDim + D], Dot);
          S[size_t(T)] = std::fmaf(Slopes ? Slopes[H] : 0.0f, float(T - Pos),
                                   softcap(Scores(Dot * Scale), Cap));
          New = std::max(New, S[size_t(T)]);
        }
        for (int64_t T = Lo; T <= Hi; ++T)
          Lanes[T % 16] += ref::exp(S[size_t(T)] - New);
        Sum = std::fmaf(Sum, ref::exp(Max - New), sumLanes(Lanes));
        Max = New;
      }
      if (Sinks)
        Sum = Sum + ref::exp(Sinks[H] - Max);
      for (int64_t D = 0; D < VHeadDim; ++D) {
        float O = 0.0f;
        for (int64_t T = Begin; T <= Pos; ++T)
          O = std::fmaf(P.get(P.value(R, T, Kh, D)),
                        Probabilities(ref::exp(S[size_t(T)] - Max) / Sum), O);
        Out[(R * Heads + H) * VHeadDim + D] = O;
      }
    }
}
