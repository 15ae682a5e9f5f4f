// logits: norm of x[logit_rows[r]] -> W^T + bias -> * multiplier -> softcap.
// Grid as linear, over the R logit rows.
namespace llmc {

template <typename S, int Tile>
__device__ __forceinline__ void
logitsTile(ProductShared<S> &Sh, int Row0, int Rows, const float *X,
           const float *__restrict__ Gain, const float *__restrict__ NormBias,
           const unsigned char *__restrict__ W, const float *__restrict__ Bias,
           const int *LogitRows, float *Out) {
  constexpr int Pairs = (S::N + 1) / 2;
  int Pair = blockIdx.x * ProductWarps + warpOf();
  bool Own = Pair < Pairs;
  int First = 2 * (Own ? Pair : Pairs - 1);
  int RowOf[2] = {First, First + 1 < S::N ? First + 1 : First};
  int SourceOf[RowTile];
#pragma unroll
  for (int T = 0; T != RowTile; ++T)
    SourceOf[T] = LogitRows[Row0 + (T < Rows ? T : 0)];
  float Sum[2][RowTile];
  product<S, Tile>(Sh, X, SourceOf, Gain, NormBias, W, RowOf, Sum);
#pragma unroll
  for (int T = 0; T != Tile; ++T) {
    if (!Own || T >= Rows || laneOf() != T)
      continue;
#pragma unroll
    for (int R = 0; R != 2; ++R) {
      float V = Sum[R][T];
      if constexpr (S::HasBias)
        V += Bias[RowOf[R]];
      if constexpr (S::HasMultiplier)
        V *= S::Multiplier();
      if constexpr (S::HasSoftcap)
        V = S::Softcap() * tanhOf(V * (1.0f / S::Softcap()));
      if (R == 0 || RowOf[1] != RowOf[0])
        Out[static_cast<size_t>(Row0 + T) * S::N + RowOf[R]] = V;
    }
  }
}

template <typename S>
__device__ __forceinline__ void
logits(const Counts *C, const float *X, const float *__restrict__ Gain,
       const float *__restrict__ NormBias, const unsigned char *__restrict__ W,
       const float *__restrict__ Bias, const int *LogitRows, float *Out) {
  __shared__ ProductShared<S> Sh;
  int Row0 = blockIdx.y * RowTile;
  int Rows = static_cast<int>(C->LogitRows) - Row0;
  if (Rows <= 0)
    return;
  if (Rows == 1)
    logitsTile<S, 1>(Sh, Row0, 1, X, Gain, NormBias, W, Bias, LogitRows, Out);
  else
    logitsTile<S, RowTile>(Sh, Row0, Rows < RowTile ? Rows : RowTile, X, Gain,
                           NormBias, W, Bias, LogitRows, Out);
}

} // namespace llmc
