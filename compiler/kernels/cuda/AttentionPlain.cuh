// attention of caches in f32 and of heads that tensor cores do not take: out[t]
// = softmax(scale * q k^T, visible keys) v of the row's own sequence, by fma
// chains. Grid: x = q heads, y = token rows; a block of 4 warps.
//
// Order: segments of 256 absolute positions, each worked on by one warp as an
// online softmax over tiles of 32 positions (one page); the segments are merged
// in ascending order by all threads. A score is one fma chain over ascending d,
// a value one fma chain over ascending positions of a tile. So the bits of a
// row depend on its keys and its position alone.
namespace llmc {

template <typename S> struct AttentionShared {
  float Q[S::HeadDim];
  float Value[AttentionWarps][S::VHeadDim];
  float Max[AttentionWarps];
  float Sum[AttentionWarps];
};

/// A key's product with Q in shared memory, times the scale of scores; Factor
/// is the scale of its codes.
template <typename S>
__device__ __forceinline__ float
scaledProduct(const float *Q, const unsigned char *Key, float Factor) {
  using Block = KvBlock<S>;
  constexpr int Vec = S::HeadDim % 8 == 0 ? 8 : 1;
  float Sum = 0.0f;
#pragma unroll 4
  for (int D = 0; D < S::HeadDim; D += Vec) {
    if constexpr (Vec == 8 && Block::Bytes == 2) {
      Quad P = *reinterpret_cast<const Quad *>(Key + D * 2);
      unsigned Word[4] = {P.X, P.Y, P.Z, P.W};
#pragma unroll
      for (int I = 0; I != 4; ++I) {
        Sum = fmaf(Q[D + 2 * I],
                   halfToFloat(static_cast<unsigned short>(Word[I])), Sum);
        Sum =
            fmaf(Q[D + 2 * I + 1],
                 halfToFloat(static_cast<unsigned short>(Word[I] >> 16)), Sum);
      }
    } else {
#pragma unroll
      for (int I = 0; I != Vec; ++I)
        Sum = fmaf(Q[D + I], Block::load(Key + (D + I) * Block::Bytes), Sum);
    }
  }
  if constexpr (S::KvType == KvI8)
    Sum *= Factor;
  return Sum * S::Scale();
}

template <typename S> __device__ __forceinline__ float capped(float X) {
  if constexpr (S::HasSoftcap)
    X = S::Softcap() * tanhOf(X * (1.0f / S::Softcap()));
  return X;
}

/// One key's score.
template <typename S>
__device__ __forceinline__ float score(const float *Q, const unsigned char *Key,
                                       float Factor) {
  return capped<S>(scaledProduct<S>(Q, Key, Factor));
}

/// Online softmax of positions [Begin, End] by one warp; lane l holds the
/// features l, l + 32, …
template <typename S, int Features>
__device__ __forceinline__ void
attentionSegment(const float *Q, const unsigned char *Kv, const unsigned *Pages,
                 int Begin, int End, float Slope, int Query, float &Max,
                 float &Sum, float (&Acc)[Features]) {
  using Block = KvBlock<S>;
  Max = -__int_as_float(0x7f800000);
  Sum = 0.0f;
#pragma unroll
  for (int F = 0; F != Features; ++F)
    Acc[F] = 0.0f;
  for (int Tile = Begin / PageTokens; Tile <= End / PageTokens; ++Tile) {
    const unsigned char *Page =
        Kv + static_cast<size_t>(Pages[Tile]) * S::KvPageStride;
    int Position = Tile * PageTokens + laneOf();
    bool Visible = Position >= Begin && Position <= End;
    float KeyFactor = 1.0f, ValueFactor = 1.0f;
    if (S::KvType == KvI8 && Visible) {
      KeyFactor = *reinterpret_cast<const float *>(
          Page + Block::scale(false, laneOf()));
      ValueFactor =
          *reinterpret_cast<const float *>(Page + Block::scale(true, laneOf()));
    }
    float Score = Visible
                      ? score<S>(Q, Page + Block::key(laneOf(), 0), KeyFactor)
                      : -__int_as_float(0x7f800000);
    if constexpr (S::HasSlopes)
      Score = fmaf(Slope, static_cast<float>(Position - Query), Score);
    float NewMax = fmaxf(Max, warpMax(Score));
    float Old = expOf(Max - NewMax);
    float P = Visible ? expOf(Score - NewMax) : 0.0f;
    Sum = fmaf(Sum, Old, warpSum(P));
    Max = NewMax;
    if constexpr (S::KvType == KvI8)
      P *= ValueFactor;
    int First = Begin - Tile * PageTokens, Last = End - Tile * PageTokens;
    First = First < 0 ? 0 : First;
    Last = Last > PageTokens - 1 ? PageTokens - 1 : Last;
#pragma unroll
    for (int F = 0; F != Features; ++F)
      Acc[F] *= Old;
    for (int Token = First; Token <= Last; ++Token) {
      float Weight = __shfl_sync(FullWarp, P, Token);
#pragma unroll
      for (int F = 0; F != Features; ++F) {
        int D = F * 32 + laneOf();
        if (S::VHeadDim % 32 == 0 || D < S::VHeadDim)
          Acc[F] =
              fmaf(Weight, Block::load(Page + Block::value(Token, D)), Acc[F]);
      }
    }
  }
}

template <typename S>
__device__ __forceinline__ void
attentionPlain(const Counts *C, const int *Positions, const int *RowSeq,
               const unsigned *PageTable, const float *QIn,
               const unsigned char *Kv, float *Out, const float *Slopes,
               const float *Sinks) {
  __shared__ AttentionShared<S> Sh;
  constexpr int Features = (S::VHeadDim + 31) / 32;
  constexpr int Threads = AttentionWarps * 32;
  constexpr int Own = (S::VHeadDim + Threads - 1) / Threads;
  int Row = blockIdx.y, Head = blockIdx.x;
  if (Row >= static_cast<int>(C->Tokens))
    return;
  size_t Slot = static_cast<size_t>(Row) * S::Heads + Head;
  for (int D = threadIdx.x; D < S::HeadDim; D += Threads)
    Sh.Q[D] = QIn[Slot * S::HeadDim + D];
  __syncthreads();
  const unsigned *Pages =
      PageTable + static_cast<size_t>(RowSeq[Row]) * C->PagesPerSequence;
  const unsigned char *Heads =
      Kv + (Head / (S::Heads / S::KvHeads)) * KvBlock<S>::Head;
  int Position = Positions[Row];
  int First =
      S::Window != 0 && Position >= S::Window ? Position - S::Window + 1 : 0;
  if constexpr (S::Chunk != 0) {
    int Start = Position / S::Chunk * S::Chunk;
    First = First < Start ? Start : First;
  }
  float Slope = 0.0f;
  if constexpr (S::HasSlopes)
    Slope = Slopes[Head];
  float Max = -__int_as_float(0x7f800000), Sum = 0.0f, Value[Own];
#pragma unroll
  for (int I = 0; I != Own; ++I)
    Value[I] = 0.0f;
  for (int Base = First / Segment; Base <= Position / Segment;
       Base += AttentionWarps) {
    int Mine = Base + warpOf();
    if (Mine <= Position / Segment) {
      int Begin = Mine * Segment, End = Begin + Segment - 1;
      float M, L, Acc[Features];
      attentionSegment<S, Features>(
          Sh.Q, Heads, Pages, Begin < First ? First : Begin,
          End > Position ? Position : End, Slope, Position, M, L, Acc);
#pragma unroll
      for (int F = 0; F != Features; ++F)
        if (F * 32 + laneOf() < S::VHeadDim)
          Sh.Value[warpOf()][F * 32 + laneOf()] = Acc[F];
      if (laneOf() == 0) {
        Sh.Max[warpOf()] = M;
        Sh.Sum[warpOf()] = L;
      }
    }
    __syncthreads();
    int Count = Position / Segment - Base + 1;
    Count = Count > AttentionWarps ? AttentionWarps : Count;
    for (int W = 0; W < Count; ++W) {
      float NewMax = fmaxf(Max, Sh.Max[W]);
      float Old = expOf(Max - NewMax), New = expOf(Sh.Max[W] - NewMax);
      Sum = fmaf(Sum, Old, Sh.Sum[W] * New);
      Max = NewMax;
#pragma unroll
      for (int I = 0; I != Own; ++I) {
        int D = I * Threads + threadIdx.x;
        if (D < S::VHeadDim)
          Value[I] = fmaf(Value[I], Old, Sh.Value[W][D] * New);
      }
    }
    __syncthreads();
  }
  if constexpr (S::HasSinks) { // a key with value 0 behind all others
    float NewMax = fmaxf(Max, Sinks[Head]);
    float Old = expOf(Max - NewMax);
    Sum = fmaf(Sum, Old, expOf(Sinks[Head] - NewMax));
#pragma unroll
    for (int I = 0; I != Own; ++I)
      Value[I] *= Old;
  }
#pragma unroll
  for (int I = 0; I != Own; ++I) {
    int D = I * Threads + threadIdx.x;
    if (D < S::VHeadDim)
      Out[Slot * S::VHeadDim + D] = divide(Value[I], Sum);
  }
}

} // namespace llmc
