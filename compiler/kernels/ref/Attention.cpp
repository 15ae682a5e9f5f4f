// attention (reference): online softmax over tiles of 64 absolute positions
// inside segments of 256, segments merged in ascending order.
#include "compiler/kernels/ref/Kv.h"
#include "compiler/kernels/ref/Ref.h"

#include <algorithm>
#include <limits>

using namespace llmc::kernels;
using namespace llmc::kernels::ref;

namespace {
struct Running {
  float Max = -std::numeric_limits<float>::infinity(), Sum = 0.0f;
  std::vector<float> O;
};

struct Scoring {
  float Scale, Cap, Slope;
  int64_t Position; ///< of the query
};

/// Positions [Lo, Hi) of one tile.
void attendTile(const KvPool &P, Running &S, int64_t Row, int64_t Head,
                const float *Q, int64_t Lo, int64_t Hi, const Scoring &By) {
  float Scores[64], New = S.Max, Lanes[16] = {};
  for (int64_t T = Lo; T < Hi; ++T) {
    float Dot = 0.0f;
    for (int64_t D = 0; D < P.HeadDim; ++D)
      Dot = std::fmaf(P.get(P.key(Row, T, Head, D)), Q[D], Dot);
    Scores[T % 64] = std::fmaf(By.Slope, float(T - By.Position),
                               softcap(Dot * By.Scale, By.Cap));
    New = std::max(New, Scores[T % 64]);
  }
  for (int64_t T = Lo; T < Hi; ++T) {
    Scores[T % 64] = ref::exp(Scores[T % 64] - New);
    Lanes[T % 16] += Scores[T % 64];
  }
  float Factor = ref::exp(S.Max - New);
  S.Max = New;
  S.Sum = std::fmaf(S.Sum, Factor, sumLanes(Lanes));
  for (int64_t D = 0; D < P.VHeadDim; ++D) {
    float O = S.O[D] * Factor;
    for (int64_t T = Lo; T < Hi; ++T)
      O = std::fmaf(P.get(P.value(Row, T, Head, D)), Scores[T % 64], O);
    S.O[D] = O;
  }
}

void merge(Running &Total, const Running &S) {
  float New = std::max(Total.Max, S.Max);
  float A = ref::exp(Total.Max - New), B = ref::exp(S.Max - New);
  Total.Max = New;
  Total.Sum = std::fmaf(Total.Sum, A, S.Sum * B);
  for (size_t D = 0; D < S.O.size(); ++D)
    Total.O[D] = std::fmaf(Total.O[D], A, S.O[D] * B);
}
} // namespace

extern "C" void k_attention_ref(const LlmcCtx *C, const float *Q, uint8_t *Kv,
                                float *Out, float *, const float *Slopes,
                                const float *Sinks, int64_t Heads,
                                int64_t KvHeads, int64_t HeadDim,
                                int64_t VHeadDim, int64_t Window, int64_t Chunk,
                                int64_t KvKind, int64_t PageStride, float Scale,
                                float Cap) {
  if (C->thread != 0)
    return;
  KvPool P{C, Kv, PageStride, HeadDim, VHeadDim, KvKind};
  const int32_t *Positions =
      static_cast<const int32_t *>(C->args->ptr[LLMC_ARG_POSITIONS]);
  for (int64_t R = 0; R < int64_t(C->counts->tokens); ++R) {
    int64_t End = Positions[R] + 1;
    int64_t Begin = Window > 0 && End > Window ? End - Window : 0;
    if (Chunk > 0)
      Begin = std::max(Begin, (End - 1) / Chunk * Chunk);
    for (int64_t H = 0; H < Heads; ++H) {
      Running Total;
      Scoring By{Scale, Cap, Slopes ? Slopes[H] : 0.0f, End - 1};
      for (int64_t Seg = Begin / 256; Seg * 256 < End; ++Seg) {
        Running S;
        S.O.assign(VHeadDim, 0.0f);
        int64_t To = std::min(End, Seg * 256 + 256);
        for (int64_t T = std::max(Begin, Seg * 256); T < To;
             T = T / 64 * 64 + 64)
          attendTile(P, S, R, H / (Heads / KvHeads),
                     Q + (R * Heads + H) * HeadDim, T,
                     std::min(To, T / 64 * 64 + 64), By);
        if (Total.O.empty())
          Total = S;
        else
          merge(Total, S);
      }
      if (Sinks) // a key with value 0 behind all others
        merge(Total, {Sinks[H], 1.0f, std::vector<float>(VHeadDim, 0.0f)});
      for (int64_t D = 0; D < VHeadDim; ++D)
        Out[(R * Heads + H) * VHeadDim + D] = Total.O[D] / Total.Sum;
    }
  }
}
