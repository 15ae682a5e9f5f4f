// The product that linear, qkv and logits share: a warp computes two packed
// rows of a matrix for up to RowTile token rows, after the norm of these rows.
//
// Order of a sum: lane l takes columns l*Vec … l*Vec+Vec-1 of every 32*Vec
// columns, ascending, one fma chain (int8: a chain per Vec columns, then times
// the scale of their block); the lanes are added by warpSum. It depends on K
// and the weight format only. All rows of a tile use one code path per tile
// height, with the same order in both.
namespace llmc {

enum : int {
  RowTile = 4,
  ProductWarps = 4 // one per row of a tile computes its norm
};

/// Sizes of a product: how much of K is staged in shared memory at a time.
template <typename S> struct Product {
  using M = Matrix<S::WType, S::N, S::K>;
  enum : int {
    Line = 32 * M::Vec,
    Padded = (M::Columns + Line - 1) / Line * Line,
    Chunk = Padded < 1024 ? Padded : 1024
  };
  static_assert(Chunk % Line == 0, "a chunk holds whole lines");

  /// Place of column C of a chunk: the floats that the lanes read at once are
  /// neighbours.
  static __device__ __forceinline__ int place(int C) {
    if constexpr (M::Vec < 4)
      return C;
    int Lane = C % Line / M::Vec, E = C % M::Vec;
    return C / Line * Line + E / 4 * 128 + Lane * 4 + E % 4;
  }
  /// This lane's Vec columns of a line.
  static __device__ __forceinline__ void read(const float *X,
                                              float (&Out)[M::Vec]) {
    if constexpr (M::Vec < 4) {
#pragma unroll
      for (int E = 0; E != M::Vec; ++E)
        Out[E] = X[laneOf() * M::Vec + E];
    } else {
#pragma unroll
      for (int E = 0; E != M::Vec; E += 4) {
        Float4 F = *reinterpret_cast<const Float4 *>(X + E * 32 + laneOf() * 4);
        Out[E] = F.X;
        Out[E + 1] = F.Y;
        Out[E + 2] = F.Z;
        Out[E + 3] = F.W;
      }
    }
  }
};

/// Scratch of a block.
template <typename S> struct ProductShared {
  alignas(16) float X[RowTile * Product<S>::Chunk];
  float Mean[RowTile];
  float Inv[RowTile];
};

/// Statistics of one row by one warp.
template <typename S>
__device__ __forceinline__ void rowNorm(const float *Row, float &Mean,
                                        float &Inv) {
  Mean = 0.0f;
  Inv = 1.0f;
  if constexpr (S::Norm == NormLayer) {
    float Sum = 0.0f;
    for (int I = laneOf(); I < S::K; I += 32)
      Sum += Row[I];
    Mean = divide(warpSum(Sum), static_cast<float>(S::K));
  }
  if constexpr (S::Norm != 0) {
    float Sum = 0.0f;
    for (int I = laneOf(); I < S::K; I += 32) {
      float D = Row[I] - Mean;
      Sum = fmaf(D, D, Sum);
    }
    Inv =
        inverseRoot(divide(warpSum(Sum), static_cast<float>(S::K)) + S::Eps());
  }
}

template <typename S>
__device__ __forceinline__ float normed(float X, int K, float Mean, float Inv,
                                        const float *__restrict__ Gain,
                                        const float *__restrict__ NormBias) {
  if constexpr (S::Norm != 0) {
    X = (X - Mean) * Inv;
    if constexpr (S::HasGain)
      X *= Gain[K];
    if constexpr (S::HasNormBias)
      X += NormBias[K];
  }
  return X;
}

/// Sum[r][m] = packed row RowOf[r] times the normed token row SourceOf[m].
/// Called by all threads of the block; rows and sources are valid.
template <typename S, int Tile>
__device__ __forceinline__ void
product(ProductShared<S> &Sh, const float *X, const int (&SourceOf)[RowTile],
        const float *__restrict__ Gain, const float *__restrict__ NormBias,
        const unsigned char *__restrict__ W, const int (&RowOf)[2],
        float (&Sum)[2][RowTile]) {
  using P = Product<S>;
  using M = typename P::M;
  if (warpOf() < Tile) {
    float Mean, Inv;
    int Source = SourceOf[0];
#pragma unroll
    for (int T = 1; T != Tile; ++T)
      Source = warpOf() == T ? SourceOf[T] : Source;
    rowNorm<S>(X + static_cast<size_t>(Source) * S::K, Mean, Inv);
    if (laneOf() == 0) {
      Sh.Mean[warpOf()] = Mean;
      Sh.Inv[warpOf()] = Inv;
    }
  }
#pragma unroll
  for (int R = 0; R != 2; ++R)
#pragma unroll
    for (int T = 0; T != RowTile; ++T)
      Sum[R][T] = 0.0f;
  for (int Begin = 0; Begin < M::Columns; Begin += P::Chunk) {
    __syncthreads();
#pragma unroll
    for (int T = 0; T != Tile; ++T)
      for (int C = threadIdx.x; C < P::Chunk; C += ProductWarps * 32) {
        int K = Begin + C;
        float V = 0.0f;
        if (K < S::K)
          V = normed<S>(X[static_cast<size_t>(SourceOf[T]) * S::K + K], K,
                        Sh.Mean[T], Sh.Inv[T], Gain, NormBias);
        Sh.X[T * P::Chunk + P::place(C)] = V;
      }
    __syncthreads();
#pragma unroll 2
    for (int Line = 0; Line < P::Chunk; Line += P::Line) {
      int C = Line + laneOf() * M::Vec;
      if (Begin + C >= M::Columns)
        break;
      float Weight[2][M::Vec], Scale[2];
#pragma unroll
      for (int R = 0; R != 2; ++R) {
        M::read(W, RowOf[R], Begin + C, Weight[R]);
        Scale[R] = M::scale(W, RowOf[R], Begin + C);
      }
#pragma unroll
      for (int T = 0; T != Tile; ++T) {
        const float *Xs = Sh.X + T * P::Chunk + Line;
        float Part[2] = {M::Scaled ? 0.0f : Sum[0][T],
                         M::Scaled ? 0.0f : Sum[1][T]};
        float V[M::Vec];
        P::read(Xs, V);
#pragma unroll
        for (int E = 0; E != M::Vec; ++E) {
          Part[0] = fmaf(Weight[0][E], V[E], Part[0]);
          Part[1] = fmaf(Weight[1][E], V[E], Part[1]);
        }
        Sum[0][T] = M::Scaled ? fmaf(Part[0], Scale[0], Sum[0][T]) : Part[0];
        Sum[1][T] = M::Scaled ? fmaf(Part[1], Scale[1], Sum[1][T]) : Part[1];
      }
    }
  }
#pragma unroll
  for (int R = 0; R != 2; ++R)
#pragma unroll
    for (int T = 0; T != Tile; ++T)
      Sum[R][T] = warpSum(Sum[R][T]);
}

} // namespace llmc
