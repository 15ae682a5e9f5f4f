// causal_conv: a short convolution along a sequence. Two launches: every row
// goes to its page, then each output is made of rows in pages, which another
// block may have written in the first one. Grid: a block per token row.
namespace llmc {

/// Values of a position in its page, [PageTokens][N] of KvType.
template <typename S> struct ConvPages {
  enum : bool { Wide = S::KvType == KvF32 };

  static __device__ __forceinline__ unsigned char *
  row(unsigned char *Kv, const unsigned *Pages, int Position) {
    return Kv +
           static_cast<size_t>(Pages[Position / PageTokens]) * S::KvPageStride +
           static_cast<size_t>(Position % PageTokens) * S::N * (Wide ? 4 : 2);
  }
  static __device__ __forceinline__ void store(unsigned char *Row, int I,
                                               float X) {
    if constexpr (Wide)
      reinterpret_cast<float *>(Row)[I] = X;
    else
      reinterpret_cast<unsigned short *>(Row)[I] = floatToHalf(X);
  }
  static __device__ __forceinline__ float load(const unsigned char *Row,
                                               int I) {
    if constexpr (Wide)
      return reinterpret_cast<const float *>(Row)[I];
    else
      return halfToFloat(reinterpret_cast<const unsigned short *>(Row)[I]);
  }
};

template <typename S>
__device__ __forceinline__ void
convWrite(const Counts *C, const int *Positions, const int *RowSeq,
          const unsigned *PageTable, const float *X, unsigned char *Kv,
          const float *__restrict__, const float *__restrict__, float *) {
  using P = ConvPages<S>;
  int Row = blockIdx.x;
  if (Row >= static_cast<int>(C->Tokens))
    return;
  const unsigned *Pages =
      PageTable + static_cast<size_t>(RowSeq[Row]) * C->PagesPerSequence;
  unsigned char *To = P::row(Kv, Pages, Positions[Row]);
  for (int I = threadIdx.x; I < S::N; I += blockDim.x)
    P::store(To, I, X[static_cast<size_t>(Row) * S::N + I]);
}

template <typename S>
__device__ __forceinline__ void
causalConv(const Counts *C, const int *Positions, const int *RowSeq,
           const unsigned *PageTable, const float *, unsigned char *Kv,
           const float *__restrict__ Weight, const float *__restrict__ Bias,
           float *Out) {
  using P = ConvPages<S>;
  int Row = blockIdx.x;
  if (Row >= static_cast<int>(C->Tokens))
    return;
  const unsigned *Pages =
      PageTable + static_cast<size_t>(RowSeq[Row]) * C->PagesPerSequence;
  int First = Positions[Row] - S::Taps + 1;
  for (int I = threadIdx.x; I < S::N; I += blockDim.x) {
    float Sum = 0.0f;
    if constexpr (S::HasBias)
      Sum = Bias[I];
    for (int J = First < 0 ? -First : 0; J < S::Taps; ++J)
      Sum = fmaf(Weight[I * S::Taps + J],
                 P::load(P::row(Kv, Pages, First + J), I), Sum);
    Out[static_cast<size_t>(Row) * S::N + I] = activate<S::Act>(Sum);
  }
}

} // namespace llmc
