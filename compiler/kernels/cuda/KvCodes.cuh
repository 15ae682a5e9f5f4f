// Writing a cache of codes: kv_write, and qkv_finish, which turns the rows of a
// fused product (per KV group: its q heads, k, v) into q_out and the cache.
//
// A token's key or value of one head is codes in [-127, 127] and a factor in
// f32: code = round(x * 127 / max), x ~ code * max / 127. A warp has the whole
// head, lane l the features l, l + 32, …
namespace llmc {

template <typename S> struct KvTarget {
  unsigned char *Page;
  int Token;
  __device__ __forceinline__ KvTarget(const Counts *C, const int *Positions,
                                      const int *RowSeq,
                                      const unsigned *PageTable, int Row,
                                      unsigned char *Kv) {
    int Position = Positions[Row];
    unsigned Number =
        PageTable[static_cast<size_t>(RowSeq[Row]) * C->PagesPerSequence +
                  Position / PageTokens];
    Page = Kv + static_cast<size_t>(Number) * S::KvPageStride;
    Token = Position % PageTokens;
  }
};

/// Writes a head's key or value. X holds this lane's features.
template <typename S, int Dim, bool Value>
__device__ __forceinline__ void storeHead(const KvTarget<S> &To, int Head,
                                          const float (&X)[(Dim + 31) / 32]) {
  using Block = KvBlock<S>;
  constexpr int Count = (Dim + 31) / 32;
  unsigned char *At = To.Page + Head * Block::Head;
  float Factor = 0.0f;
  if constexpr (S::KvType == KvI8) {
    float Max = 0.0f;
#pragma unroll
    for (int I = 0; I != Count; ++I)
      if (I * 32 + laneOf() < Dim)
        Max = fmaxf(Max, fabsf(X[I]));
    Max = warpMax(Max);
    // Below, the inverse is no float: such a head is 0.
    Factor = Max > 1e-30f ? divide(127.0f, Max) : 0.0f;
    if (laneOf() == 0)
      *reinterpret_cast<float *>(At + Block::scale(Value, To.Token)) =
          Max * (1.0f / 127.0f);
  }
#pragma unroll
  for (int I = 0; I != Count; ++I) {
    int D = I * 32 + laneOf();
    if (D >= Dim)
      continue;
    unsigned char *Place =
        At + (Value ? Block::value(To.Token, D) : Block::key(To.Token, D));
    if constexpr (S::KvType == KvI8) {
      float Code = fminf(fmaxf(rintf(X[I] * Factor), -127.0f), 127.0f);
      *reinterpret_cast<signed char *>(Place) =
          static_cast<signed char>(static_cast<int>(Code));
    } else {
      Block::store(Place, X[I]);
    }
  }
}

template <int Dim>
__device__ __forceinline__ void loadHead(const float *From,
                                         float (&X)[(Dim + 31) / 32]) {
#pragma unroll
  for (int I = 0; I != (Dim + 31) / 32; ++I)
    X[I] = I * 32 + laneOf() < Dim ? From[I * 32 + laneOf()] : 0.0f;
}

/// Features of a head after the rotation.
template <typename S>
__device__ __forceinline__ void turnedHead(const float *From,
                                           const float *Table,
                                           float (&X)[(S::HeadDim + 31) / 32]) {
  loadHead<S::HeadDim>(From, X);
  if constexpr (S::RotaryHalf != 0) {
#pragma unroll
    for (int I = 0; I != (S::HeadDim + 31) / 32; ++I) {
      int D = I * 32 + laneOf();
      if (D >= 2 * S::RotaryHalf)
        continue;
      int Pair = S::Interleaved ? D / 2 : D % S::RotaryHalf;
      bool First = S::Interleaved ? D % 2 == 0 : D < S::RotaryHalf;
      int Step = S::Interleaved ? 1 : S::RotaryHalf;
      float Y = From[First ? D + Step : D - Step];
      float Cos = Table[Pair], Sin = Table[S::RotaryHalf + Pair];
      X[I] = First ? fmaf(X[I], Cos, -(Y * Sin)) : fmaf(X[I], Cos, Y * Sin);
    }
  }
}

/// Grid: x = rows, y = KV heads; warps 0 and 1 have the key and the value.
template <typename S>
__device__ __forceinline__ void
kvWriteCodes(const Counts *C, const int *Positions, const int *RowSeq,
             const unsigned *PageTable, const float *K, const float *V,
             unsigned char *Kv) {
  int Row = blockIdx.x, Head = blockIdx.y;
  if (Row >= static_cast<int>(C->Tokens))
    return;
  KvTarget<S> To(C, Positions, RowSeq, PageTable, Row, Kv);
  size_t Slot = static_cast<size_t>(Row) * S::KvHeads + Head;
  if (warpOf() == 0) {
    float X[(S::HeadDim + 31) / 32];
    loadHead<S::HeadDim>(K + Slot * S::HeadDim, X);
    storeHead<S, S::HeadDim, false>(To, Head, X);
  } else if (warpOf() == 1) {
    float X[(S::VHeadDim + 31) / 32];
    loadHead<S::VHeadDim>(V + Slot * S::VHeadDim, X);
    storeHead<S, S::VHeadDim, true>(To, Head, X);
  }
}

/// Grid: x = rows, y = KV heads; the warps share the heads of the group.
template <typename S>
__device__ __forceinline__ void
qkvFinish(const Counts *C, const int *Positions, const int *RowSeq,
          const unsigned *PageTable, const float *In, const float *Rope,
          unsigned char *Kv, float *QOut) {
  constexpr int Group = S::Heads / S::KvHeads;
  constexpr int GroupRows = (Group + 1) * S::HeadDim + S::VHeadDim;
  int Row = blockIdx.x, Head = blockIdx.y;
  if (Row >= static_cast<int>(C->Tokens))
    return;
  const float *From =
      In + (static_cast<size_t>(Row) * S::KvHeads + Head) * GroupRows;
  const float *Table = Rope + static_cast<size_t>(Row) * 2 * S::RotaryHalf;
  KvTarget<S> To(C, Positions, RowSeq, PageTable, Row, Kv);
  for (int H = warpOf(); H < Group + 2; H += blockDim.x / 32) {
    if (H == Group + 1) {
      float X[(S::VHeadDim + 31) / 32];
      loadHead<S::VHeadDim>(From + H * S::HeadDim, X);
      storeHead<S, S::VHeadDim, true>(To, Head, X);
      continue;
    }
    float X[(S::HeadDim + 31) / 32];
    turnedHead<S>(From + H * S::HeadDim, Table, X);
    if (H == Group) {
      storeHead<S, S::HeadDim, false>(To, Head, X);
      continue;
    }
    float *Out =
        QOut +
        (static_cast<size_t>(Row) * S::Heads + Head * Group + H) * S::HeadDim;
#pragma unroll
    for (int I = 0; I != (S::HeadDim + 31) / 32; ++I)
      if (I * 32 + laneOf() < S::HeadDim)
        Out[I * 32 + laneOf()] = X[I];
  }
}

} // namespace llmc
