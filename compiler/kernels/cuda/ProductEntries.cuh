// The entry templates of the mma products: one per kernel of the catalogue and
// form. All take the buffers of the catalogue in its order.
namespace llmc {

template <typename S> __device__ __forceinline__ int rowsOf(const Counts *C) {
  return static_cast<int>(S::Rows == RowsR ? C->LogitRows : C->Tokens);
}

template <typename S>
__device__ __forceinline__ void
linearPrepare(const Counts *C, const float *X, const float *__restrict__ Gain,
              const float *__restrict__ NormBias,
              const unsigned char *__restrict__, const float *__restrict__,
              const float *, float *, unsigned char *Xq) {
  prepare<S>(static_cast<int>(C->Tokens), nullptr, X, Gain, NormBias, Xq);
}
template <typename S>
__device__ __forceinline__ void
linearDecode(const Counts *C, const float *X, const float *__restrict__ Gain,
             const float *__restrict__ NormBias,
             const unsigned char *__restrict__ W,
             const float *__restrict__ Bias, const float *Residual, float *Out,
             unsigned char *Xq) {
  decodeProduct<S>(LinearStore<S>{Bias, Residual, Out}, rowsOf<S>(C), nullptr,
                   X, Gain, NormBias, W, Xq);
}
template <typename S>
__device__ __forceinline__ void
linearTile(const Counts *C, const float *, const float *__restrict__,
           const float *__restrict__, const unsigned char *__restrict__ W,
           const float *__restrict__ Bias, const float *Residual, float *Out,
           unsigned char *Xq) {
  tileProduct<S>(LinearStore<S>{Bias, Residual, Out}, rowsOf<S>(C), W, Xq);
}

template <typename S>
__device__ __forceinline__ void
logitsDecode(const Counts *C, const float *X, const float *__restrict__ Gain,
             const float *__restrict__ NormBias,
             const unsigned char *__restrict__ W,
             const float *__restrict__ Bias, const int *LogitRows, float *Out,
             unsigned char *Xq) {
  decodeProduct<S>(LogitsStore<S>{Bias, Out}, static_cast<int>(C->LogitRows),
                   S::IsPrepared ? nullptr : LogitRows, X, Gain, NormBias, W,
                   Xq);
}
template <typename S>
__device__ __forceinline__ void
logitsPrepare(const Counts *C, const float *X, const float *__restrict__ Gain,
              const float *__restrict__ NormBias,
              const unsigned char *__restrict__, const float *__restrict__,
              const int *LogitRows, float *, unsigned char *Xq) {
  prepare<S>(static_cast<int>(C->LogitRows), LogitRows, X, Gain, NormBias, Xq);
}

template <typename S>
__device__ __forceinline__ void
qkvPrepare(const Counts *C, const int *, const int *, const unsigned *,
           const float *X, const float *__restrict__ Gain,
           const float *__restrict__ NormBias,
           const unsigned char *__restrict__, const float *__restrict__,
           const float *, unsigned char *, float *, unsigned char *Xq) {
  prepare<S>(static_cast<int>(C->Tokens), nullptr, X, Gain, NormBias, Xq);
}
template <typename S>
__device__ __forceinline__ void
qkvDecode(const Counts *C, const int *Positions, const int *RowSeq,
          const unsigned *PageTable, const float *X,
          const float *__restrict__ Gain, const float *__restrict__ NormBias,
          const unsigned char *__restrict__ W, const float *__restrict__ Bias,
          const float *Rope, unsigned char *Kv, float *QOut,
          unsigned char *Xq) {
  int Total = static_cast<int>(C->Tokens);
  if constexpr (S::IsRaw)
    decodeProduct<S>(RawStore<S>{Xq}, Total, nullptr, X, Gain, NormBias, W, Xq);
  else
    decodeProduct<S>(
        QkvStore<S>{C, Positions, RowSeq, PageTable, Bias, Rope, Kv, QOut},
        Total, nullptr, X, Gain, NormBias, W, Xq);
}
template <typename S>
__device__ __forceinline__ void
qkvTile(const Counts *C, const int *Positions, const int *RowSeq,
        const unsigned *PageTable, const float *, const float *__restrict__,
        const float *__restrict__, const unsigned char *__restrict__ W,
        const float *__restrict__ Bias, const float *Rope, unsigned char *Kv,
        float *QOut, unsigned char *Xq) {
  int Total = static_cast<int>(C->Tokens);
  if constexpr (S::IsRaw)
    tileProduct<S>(RawStore<S>{Xq}, Total, W, Xq);
  else
    tileProduct<S>(
        QkvStore<S>{C, Positions, RowSeq, PageTable, Bias, Rope, Kv, QOut},
        Total, W, Xq);
}
/// Rope and cache for sums of RawStore: a block per token row.
template <typename S>
__device__ __forceinline__ void
qkvRawFinish(const Counts *C, const int *Positions, const int *RowSeq,
             const unsigned *PageTable, const float *,
             const float *__restrict__, const float *__restrict__,
             const unsigned char *__restrict__, const float *__restrict__ Bias,
             const float *Rope, unsigned char *Kv, float *QOut,
             unsigned char *Xq) {
  using Shape = QkvShape<S>;
  int Row = blockIdx.x;
  if (Row >= static_cast<int>(C->Tokens))
    return;
  const float *Sum = RawStore<S>::row(Xq, Row);
  for (int Index = threadIdx.x; Index < Shape::Pairs; Index += blockDim.x) {
    QkvPair Q = Shape::pair(Index);
    int RowOf[2] = {Shape::row(Q, Q.A), Shape::row(Q, Q.B)};
    qkvStore<S>(Q, Row, Sum[RowOf[0]], Sum[RowOf[1]], Positions, RowSeq,
                PageTable, C->PagesPerSequence, Bias, RowOf, Rope, Kv, QOut);
  }
}

/// embed from fragments: a block per token row, eight columns per thread.
template <typename S>
__device__ __forceinline__ void embedFragments(const Counts *C, const int *Ids,
                                               const unsigned char *W,
                                               float *Out) {
  int Row = blockIdx.x;
  if (Row >= static_cast<int>(C->Tokens))
    return;
  int Id = Ids[Row];
  float *To = Out + static_cast<size_t>(Row) * S::Hidden;
  for (int E = threadIdx.x; E < (S::Hidden + 7) / 8; E += blockDim.x) {
    float X[8];
    Fragment<S::WType, S::Hidden>::row(W, Id, E, X);
#pragma unroll
    for (int I = 0; I != 8; ++I)
      if (S::Hidden % 8 == 0 || E * 8 + I < S::Hidden)
        To[E * 8 + I] = X[I] * S::Scale();
  }
}

} // namespace llmc
