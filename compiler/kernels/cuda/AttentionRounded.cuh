// attention_rounded: scores and probabilities are made multiples of a step, as
// files with integer activations have them, so the softmax is complete before a
// value is weighed: scores are computed three times, for their maximum, their
// sum and the values. Grid: x = q heads, y = token rows; a block of 4 warps.
//
// Order: warp w has the pages p with p mod 4 = w, lane l their token l; a lane
// adds its probabilities in ascending order, then lanes by warpSum, then warps.
// A value is one fma chain over ascending positions.
namespace llmc {

template <typename S> struct RoundedShared {
  float Q[S::HeadDim];
  float P[AttentionWarps * PageTokens];
  float Max[AttentionWarps], Sum[AttentionWarps];
};

/// Step * clamp(round(X / Step), Low, High); step 0: X.
__device__ __forceinline__ float roundedTo(float X, float Step, float Low,
                                           float High) {
  if (Step == 0.0f)
    return X;
  return fmaxf(fminf(rintf(divide(X, Step)), High), Low) * Step;
}

/// A row's keys.
template <typename S> struct RoundedRow {
  const float *Q;
  const unsigned char *Head;
  const unsigned *Pages;
  int First, Position;
  float Slope;

  /// Score of this lane's token of a page; -infinity when it is not visible.
  __device__ __forceinline__ float operator()(int Page) const {
    using Block = KvBlock<S>;
    int At = Page * PageTokens + laneOf();
    if (At < First || At > Position)
      return minusInfinity();
    const unsigned char *P =
        Head + static_cast<size_t>(Pages[Page]) * S::KvPageStride;
    float Factor = 1.0f;
    if constexpr (S::KvType == KvI8)
      Factor =
          *reinterpret_cast<const float *>(P + Block::scale(false, laneOf()));
    float X = scaledProduct<S>(Q, P + Block::key(laneOf(), 0), Factor);
    X = capped<S>(roundedTo(X, S::ScoreStep(), S::ScoreLow(), S::ScoreHigh()));
    if constexpr (S::HasSlopes)
      X = fmaf(Slope, static_cast<float>(At - Position), X);
    return X;
  }
};

/// Weighs the values of four pages with P; thread t has the features t,
/// t + 128, …
template <typename S, int Own>
__device__ __forceinline__ void addRoundedValues(const RoundedRow<S> &Row,
                                                 const float *P, int Page0,
                                                 float (&Value)[Own]) {
  using Block = KvBlock<S>;
  int Base = Page0 * PageTokens;
  int Begin = Row.First > Base ? Row.First : Base;
  int End = Base + AttentionWarps * PageTokens - 1;
  End = Row.Position < End ? Row.Position : End;
  for (int At = Begin; At <= End; ++At) {
    int Token = At % PageTokens;
    const unsigned char *Page =
        Row.Head +
        static_cast<size_t>(Row.Pages[At / PageTokens]) * S::KvPageStride;
    float Weight = P[At - Base];
    if constexpr (S::KvType == KvI8)
      Weight *=
          *reinterpret_cast<const float *>(Page + Block::scale(true, Token));
#pragma unroll
    for (int I = 0; I != Own; ++I) {
      int D = I * AttentionWarps * 32 + threadIdx.x;
      if (D < S::VHeadDim)
        Value[I] =
            fmaf(Block::load(Page + Block::value(Token, D)), Weight, Value[I]);
    }
  }
}

template <typename S>
__device__ __forceinline__ void
attentionRounded(const Counts *C, const int *Positions, const int *RowSeq,
                 const unsigned *PageTable, const float *QIn,
                 const unsigned char *Kv, float *Out, const float *Slopes,
                 const float *Sinks) {
  __shared__ RoundedShared<S> Sh;
  constexpr int Threads = AttentionWarps * 32;
  constexpr int Own = (S::VHeadDim + Threads - 1) / Threads;
  int Token = blockIdx.y, Head = blockIdx.x;
  if (Token >= static_cast<int>(C->Tokens))
    return;
  size_t Slot = static_cast<size_t>(Token) * S::Heads + Head;
  for (int D = threadIdx.x; D < S::HeadDim; D += Threads)
    Sh.Q[D] = QIn[Slot * S::HeadDim + D];
  RoundedRow<S> Row;
  Row.Q = Sh.Q;
  Row.Head = Kv + (Head / (S::Heads / S::KvHeads)) * KvBlock<S>::Head;
  Row.Pages =
      PageTable + static_cast<size_t>(RowSeq[Token]) * C->PagesPerSequence;
  Row.Position = Positions[Token];
  Row.First = firstVisible<S>(Row.Position);
  Row.Slope = 0.0f;
  if constexpr (S::HasSlopes)
    Row.Slope = Slopes[Head];
  __syncthreads();
  int Last = Row.Position / PageTokens;
  int Page0 = Row.First / PageTokens / AttentionWarps * AttentionWarps;
  float Max = minusInfinity(), Sum = 0.0f;
  for (int Page = Page0 + warpOf(); Page <= Last; Page += AttentionWarps)
    Max = fmaxf(Max, Row(Page));
  Max = warpMax(Max);
  if (laneOf() == 0)
    Sh.Max[warpOf()] = Max;
  __syncthreads();
  for (int W = 0; W != AttentionWarps; ++W)
    Max = fmaxf(Max, Sh.Max[W]);
  for (int Page = Page0 + warpOf(); Page <= Last; Page += AttentionWarps)
    Sum += expOf(Row(Page) - Max);
  Sum = warpSum(Sum);
  if (laneOf() == 0)
    Sh.Sum[warpOf()] = Sum;
  __syncthreads();
  Sum = 0.0f;
  for (int W = 0; W != AttentionWarps; ++W)
    Sum += Sh.Sum[W];
  if constexpr (S::HasSinks)
    Sum += expOf(Sinks[Head] - Max);
  float Value[Own];
#pragma unroll
  for (int I = 0; I != Own; ++I)
    Value[I] = 0.0f;
  for (; Page0 <= Last; Page0 += AttentionWarps) {
    int Page = Page0 + warpOf();
    if (Page <= Last)
      Sh.P[threadIdx.x] = roundedTo(divide(expOf(Row(Page) - Max), Sum),
                                    S::ProbStep(), S::ProbLow(), S::ProbHigh());
    __syncthreads();
    addRoundedValues<S, Own>(Row, Sh.P, Page0, Value);
    __syncthreads();
  }
#pragma unroll
  for (int I = 0; I != Own; ++I) {
    int D = I * Threads + threadIdx.x;
    if (D < S::VHeadDim)
      Out[Slot * S::VHeadDim + D] = Value[I];
  }
}

} // namespace llmc
