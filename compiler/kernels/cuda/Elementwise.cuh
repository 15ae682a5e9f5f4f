// Kernels of one row or one element at a time, used where fusion found nothing:
// norm, kv_write, glu, activation, add, scale.
namespace llmc {

/// norm: a warp per slice of K features (Heads slices in a row); the sums are
/// those of a fused norm.
template <typename S>
__device__ __forceinline__ void
norm(const Counts *C, const float *X, const float *__restrict__ Gain,
     const float *__restrict__ NormBias, float *Out) {
  int Slice = blockIdx.x * (blockDim.x / 32) + warpOf();
  if (Slice >= static_cast<int>(C->Tokens) * S::Heads)
    return;
  const float *From = X + static_cast<size_t>(Slice) * S::K;
  float Mean, Inv;
  rowNorm<S>(From, Mean, Inv);
  for (int I = laneOf(); I < S::K; I += 32)
    Out[static_cast<size_t>(Slice) * S::K + I] =
        normed<S>(From[I], I, Mean, Inv, Gain, NormBias);
}

/// kv_write: a block per token row.
template <typename S>
__device__ __forceinline__ void
kvWrite(const Counts *C, const int *Positions, const int *RowSeq,
        const unsigned *PageTable, const float *K, const float *V,
        unsigned char *Kv) {
  using Block = KvBlock<S>;
  int Row = blockIdx.x;
  if (Row >= static_cast<int>(C->Tokens))
    return;
  int Position = Positions[Row], Token = Position % PageTokens;
  unsigned Page =
      PageTable[static_cast<size_t>(RowSeq[Row]) * C->PagesPerSequence +
                Position / PageTokens];
  unsigned char *At = Kv + static_cast<size_t>(Page) * S::KvPageStride;
  for (int I = threadIdx.x; I < S::KvHeads * S::HeadDim; I += blockDim.x)
    Block::store(At + I / S::HeadDim * Block::Head +
                     Block::key(Token, I % S::HeadDim),
                 K[static_cast<size_t>(Row) * S::KvHeads * S::HeadDim + I]);
  for (int I = threadIdx.x; I < S::KvHeads * S::VHeadDim; I += blockDim.x)
    Block::store(At + I / S::VHeadDim * Block::Head +
                     Block::value(Token, I % S::VHeadDim),
                 V[static_cast<size_t>(Row) * S::KvHeads * S::VHeadDim + I]);
}

/// Index of this thread's element among tokens * N, or -1.
template <int N>
__device__ __forceinline__ long long elementOf(const Counts *C) {
  long long I = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  return I < static_cast<long long>(C->Tokens) * N ? I : -1;
}

template <typename S>
__device__ __forceinline__ void glu(const Counts *C, const float *Gate,
                                    const float *Up, float *Out) {
  long long I = elementOf<S::N>(C);
  if (I >= 0)
    Out[I] = activate<S::Act>(Gate[I]) * Up[I];
}

template <typename S>
__device__ __forceinline__ void activation(const Counts *C, const float *X,
                                           float *Out) {
  long long I = elementOf<S::N>(C);
  if (I >= 0)
    Out[I] = activate<S::Act>(X[I]);
}

template <typename S>
__device__ __forceinline__ void add(const Counts *C, const float *A,
                                    const float *B, float *Out) {
  long long I = elementOf<S::N>(C);
  if (I >= 0)
    Out[I] = A[I] + B[I];
}

template <typename S>
__device__ __forceinline__ void scale(const Counts *C, const float *X,
                                      float *Out) {
  long long I = elementOf<S::N>(C);
  if (I >= 0)
    Out[I] = X[I] * S::Factor();
}

} // namespace llmc
