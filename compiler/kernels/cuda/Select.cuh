// Kernels that choose rows: select_by_length (rows of one of two inputs, by the
// length of the row's sequence) and take_rows (the rows that get results, at
// the end of a graph without a head).
namespace llmc {

template <typename S>
__device__ __forceinline__ void
selectByLength(const Counts *C, const int *Lengths, const float *A,
               const float *B, float *Out) {
  long long I = elementOf<S::N>(C);
  if (I >= 0)
    Out[I] = (Lengths[I / S::N] > S::Threshold ? B : A)[I];
}

/// take_rows: a warp per row; the sums are those of a fused norm.
template <typename S>
__device__ __forceinline__ void
takeRows(const Counts *C, const float *X, const float *__restrict__ Gain,
         const float *__restrict__ NormBias, const int *LogitRows, float *Out) {
  int Row = blockIdx.x * (blockDim.x / 32) + warpOf();
  if (Row >= static_cast<int>(C->LogitRows))
    return;
  const float *From = X + static_cast<size_t>(LogitRows[Row]) * S::K;
  float Mean, Inv;
  rowNorm<S>(From, Mean, Inv);
  for (int I = laneOf(); I < S::K; I += 32)
    Out[static_cast<size_t>(Row) * S::K + I] =
        normed<S>(From[I], I, Mean, Inv, Gain, NormBias);
}

} // namespace llmc
