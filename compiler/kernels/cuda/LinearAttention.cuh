// linear_attention: a matrix per KV head that every token of a sequence
// changes. Grid: x = KV head and tile of value features, y = sequences; a
// warp walks through the rows of its sequence in order, its lanes each with a
// column of the matrix in shared memory.
//
// A page holds the matrix after its last token, so the warp stores it when it
// leaves a page and at the end. Columns do not depend on each other and sums
// over key features are fma chains in ascending order: neither bits nor results
// depend on how a sequence is cut into steps.
namespace llmc {

template <typename S> struct LinearTile {
  enum : int {
    Width = S::HeadDim <= 256 ? 32 : 16, // so that shared memory holds it
    Tiles = (S::VHeadDim + Width - 1) / Width,
    Group = S::Heads / S::KvHeads
  };

  /// This lane's column of the matrix at a page.
  static __device__ __forceinline__ float *at(unsigned char *Kv, unsigned Page,
                                              int Head, int Column) {
    return reinterpret_cast<float *>(
               Kv + static_cast<size_t>(Page) * S::KvPageStride +
               static_cast<size_t>(Head) * S::Block) +
           Column;
  }
};

template <typename S> struct LinearShared {
  float State[S::HeadDim][LinearTile<S>::Width];
  float Key[S::HeadDim], Query[S::HeadDim], Decay[S::HeadDim];
};

/// One token: the state and the outputs of one column; Unit is row times KV
/// heads plus head.
template <typename S>
__device__ __forceinline__ void
linearToken(LinearShared<S> &Sh, bool Own, size_t Unit, int Column,
            const float *Q, const float *K, const float *V, const float *Decay,
            const float *Beta, float *Out) {
  using T = LinearTile<S>;
  __syncwarp();
  for (int I = laneOf(); I < S::HeadDim; I += 32) {
    Sh.Key[I] = K[Unit * S::HeadDim + I];
    if constexpr (S::DecayDim != 0)
      Sh.Decay[I] =
          expOf(Decay[Unit * S::DecayDim + (S::DecayDim > 1 ? I : 0)]);
  }
  __syncwarp();
  if (Own) {
    float Sum = 0.0f;
    for (int I = 0; I != S::HeadDim; ++I) {
      float X = Sh.State[I][laneOf()];
      if constexpr (S::DecayDim != 0) {
        X *= Sh.Decay[I];
        Sh.State[I][laneOf()] = X;
      }
      if constexpr (S::Delta != 0)
        Sum = fmaf(Sh.Key[I], X, Sum);
    }
    float New = V[Unit * S::VHeadDim + Column];
    if constexpr (S::Delta != 0)
      New -= Sum;
    if constexpr (S::HasBeta)
      New *= Beta[Unit];
    for (int I = 0; I != S::HeadDim; ++I)
      Sh.State[I][laneOf()] = fmaf(Sh.Key[I], New, Sh.State[I][laneOf()]);
  }
  for (int G = 0; G != T::Group; ++G) {
    size_t Query = Unit * T::Group + G;
    __syncwarp();
    for (int I = laneOf(); I < S::HeadDim; I += 32)
      Sh.Query[I] = Q[Query * S::HeadDim + I];
    __syncwarp();
    if (!Own)
      continue;
    float O = 0.0f;
    for (int I = 0; I != S::HeadDim; ++I)
      O = fmaf(Sh.Query[I], Sh.State[I][laneOf()], O);
    Out[Query * S::VHeadDim + Column] = O * S::Scale();
  }
}

/// The lane's column of the matrix of a head into its page.
template <typename S>
__device__ __forceinline__ void linearStore(const LinearShared<S> &Sh,
                                            float *To) {
  for (int I = 0; I != S::HeadDim; ++I)
    To[static_cast<size_t>(I) * S::VHeadDim] = Sh.State[I][laneOf()];
}

template <typename S>
__device__ __forceinline__ void
linearAttention(const Counts *C, const int *Positions, const int *RowSeq,
                const unsigned *PageTable, const float *Q, const float *K,
                const float *V, const float *Decay, const float *Beta,
                unsigned char *Kv, float *Out) {
  using T = LinearTile<S>;
  __shared__ LinearShared<S> Sh;
  int Sequence = blockIdx.y, Head = blockIdx.x / T::Tiles;
  int Column = blockIdx.x % T::Tiles * T::Width + laneOf();
  bool Own = laneOf() < T::Width && Column < S::VHeadDim;
  if (Sequence >= static_cast<int>(C->Sequences))
    return;
  const unsigned *Pages =
      PageTable + static_cast<size_t>(Sequence) * C->PagesPerSequence;
  int Last = -1; // position that the state is of
  for (int Row = 0; Row < static_cast<int>(C->Tokens); ++Row) {
    if (RowSeq[Row] != Sequence)
      continue;
    int Position = Positions[Row];
    if (Last < 0 && Own) { // the matrix of the token before
      const float *From = nullptr;
      if (Position != 0)
        From = T::at(Kv, Pages[(Position - 1) / PageTokens], Head, Column);
      for (int I = 0; I != S::HeadDim; ++I)
        Sh.State[I][laneOf()] =
            From ? From[static_cast<size_t>(I) * S::VHeadDim] : 0.0f;
    }
    linearToken<S>(Sh, Own, static_cast<size_t>(Row) * S::KvHeads + Head,
                   Column, Q, K, V, Decay, Beta, Out);
    Last = Position;
    if (Own && Position % PageTokens == PageTokens - 1)
      linearStore<S>(Sh, T::at(Kv, Pages[Position / PageTokens], Head, Column));
  }
  if (Own && Last >= 0 && Last % PageTokens != PageTokens - 1)
    linearStore<S>(Sh, T::at(Kv, Pages[Last / PageTokens], Head, Column));
}

} // namespace llmc
