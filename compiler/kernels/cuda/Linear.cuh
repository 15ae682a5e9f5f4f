// linear: norm(x) W^T + bias -> activation or GLU -> + residual -> out.
// Grid: x = pairs of packed rows / 4, y = token rows / RowTile. A warp owns a
// pair: rows 2p and 2p+1, or with GLU gate row and up row of feature p.
namespace llmc {

template <typename S> struct LinearPair {
  enum : int {
    Outputs = S::Glu ? S::N / 2 : S::N,
    Pairs = S::Glu ? S::N / 2 : (S::N + 1) / 2
  };
};

template <typename S>
__device__ __forceinline__ void
linearStore(int Pair, int Row, float A, float B, const float *__restrict__ Bias,
            const int (&RowOf)[2], const float *Residual, float *Out) {
  constexpr int Outputs = LinearPair<S>::Outputs;
  if constexpr (S::HasBias) {
    A += Bias[RowOf[0]];
    B += Bias[RowOf[1]];
  }
  size_t Base = static_cast<size_t>(Row) * Outputs;
  if constexpr (S::Glu != 0) {
    float V = activate<S::Glu>(A) * B;
    if constexpr (S::HasResidual)
      V += Residual[Base + Pair];
    Out[Base + Pair] = V;
  } else {
    A = activate<S::Act>(A);
    B = activate<S::Act>(B);
    size_t At = Base + 2 * static_cast<size_t>(Pair);
    bool Second = 2 * Pair + 1 < S::N;
    if constexpr (S::HasResidual) {
      A += Residual[At];
      B += Second ? Residual[At + 1] : 0.0f;
    }
    Out[At] = A;
    if (Second)
      Out[At + 1] = B;
  }
}

template <typename S, int Tile>
__device__ __forceinline__ void
linearTile(ProductShared<S> &Sh, int Row0, int Rows, const float *X,
           const float *__restrict__ Gain, const float *__restrict__ NormBias,
           const unsigned char *__restrict__ W, const float *__restrict__ Bias,
           const float *Residual, float *Out) {
  int Pair = blockIdx.x * ProductWarps + warpOf();
  bool Own = Pair < LinearPair<S>::Pairs;
  int P = Own ? Pair : LinearPair<S>::Pairs - 1;
  int First = S::Glu ? P / 16 * 32 + P % 16 : 2 * P;
  int Second = S::Glu ? First + 16 : First + 1 < S::N ? First + 1 : First;
  int RowOf[2] = {First, Second}, SourceOf[RowTile];
#pragma unroll
  for (int T = 0; T != RowTile; ++T)
    SourceOf[T] = Row0 + (T < Rows ? T : 0);
  float Sum[2][RowTile];
  product<S, Tile>(Sh, X, SourceOf, Gain, NormBias, W, RowOf, Sum);
#pragma unroll
  for (int T = 0; T != Tile; ++T)
    if (Own && T < Rows && laneOf() == T)
      linearStore<S>(Pair, Row0 + T, Sum[0][T], Sum[1][T], Bias, RowOf,
                     Residual, Out);
}

template <typename S>
__device__ __forceinline__ void
linear(const Counts *C, const float *X, const float *__restrict__ Gain,
       const float *__restrict__ NormBias, const unsigned char *__restrict__ W,
       const float *__restrict__ Bias, const float *Residual, float *Out) {
  __shared__ ProductShared<S> Sh;
  int Total = S::Rows == RowsR ? C->LogitRows : C->Tokens;
  int Row0 = blockIdx.y * RowTile, Rows = Total - Row0;
  if (Rows <= 0)
    return;
  if (Rows == 1)
    linearTile<S, 1>(Sh, Row0, 1, X, Gain, NormBias, W, Bias, Residual, Out);
  else
    linearTile<S, RowTile>(Sh, Row0, Rows < RowTile ? Rows : RowTile, X, Gain,
                           NormBias, W, Bias, Residual, Out);
}

} // namespace llmc
