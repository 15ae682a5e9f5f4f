// The second operand of the mma products: token rows, normed and rounded once
// to f16 (bf16 for bf16 weights), in the lane order of Fragment.cuh; and the
// statistics of their norm. Rounding here and nowhere else is what "activations
// f16" means: the residual stream and all sums stay f32.
//
// Order of a norm's sums: eight parts; part v takes the columns of every
// eighth group of 32 * Vec, lane l the columns l * Vec …, ascending, one fma
// chain; the lanes are added by warpSum, the parts in ascending order. So it
// does not matter how many warps a block has.
namespace llmc {

enum : int { NormParts = 8 };

/// Columns that a lane reads at once.
template <typename S> struct RowVector {
  enum : int { Vec = S::K % 4 == 0 ? 4 : 1 };
  static __device__ __forceinline__ void read(const float *At,
                                              float (&Out)[Vec]) {
    if constexpr (Vec == 4) {
      Float4 F = *reinterpret_cast<const Float4 *>(At);
      Out[0] = F.X;
      Out[1] = F.Y;
      Out[2] = F.Z;
      Out[3] = F.W;
    } else {
      Out[0] = *At;
    }
  }
};

/// Part V of the sum of X - Mean (Square: of its square), in every lane.
template <typename S, bool Square>
__device__ __forceinline__ float rowPart(const float *Row, int V, float Mean) {
  constexpr int Vec = RowVector<S>::Vec;
  float Sum = 0.0f;
#pragma unroll 4
  for (int C = (V * 32 + laneOf()) * Vec; C < S::K; C += NormParts * 32 * Vec) {
    float X[Vec];
    RowVector<S>::read(Row + C, X);
#pragma unroll
    for (int I = 0; I != Vec; ++I) {
      float D = X[I] - Mean;
      Sum = Square ? fmaf(D, D, Sum) : Sum + D;
    }
  }
  return warpSum(Sum);
}

/// Statistics of up to Rows rows by all Warps of a block.
template <typename S, int Rows, int Warps> struct RowStatistics {
  float Part[Rows][NormParts];
  float Mean[Rows];
  float Inv[Rows];

  template <bool Square, typename RowOf>
  __device__ __forceinline__ void sum(const RowOf &Row, int Count) {
    for (int I = warpOf(); I < Count * NormParts; I += Warps) {
      int R = I / NormParts, V = I % NormParts;
      float Sum = rowPart<S, Square>(
          Row(R), V, S::Norm == NormLayer && Square ? Mean[R] : 0.0f);
      if (laneOf() == 0)
        Part[R][V] = Sum;
    }
    __syncthreads();
  }
  __device__ __forceinline__ float total(int R) const {
    float Sum = Part[R][0];
#pragma unroll
    for (int V = 1; V != NormParts; ++V)
      Sum += Part[R][V];
    return divide(Sum, static_cast<float>(S::K));
  }

  /// Row(r) is a pointer to row r < Count. Ends with a barrier.
  template <typename RowOf>
  __device__ __forceinline__ void compute(const RowOf &Row, int Count) {
    if constexpr (S::Norm == NormLayer) {
      sum<false>(Row, Count);
      for (int R = threadIdx.x; R < Count; R += Warps * 32)
        Mean[R] = total(R);
      __syncthreads();
    }
    sum<true>(Row, Count);
    for (int R = threadIdx.x; R < Count; R += Warps * 32) {
      if constexpr (S::Norm != NormLayer)
        Mean[R] = 0.0f;
      Inv[R] = inverseRoot(total(R) + S::Eps());
    }
    __syncthreads();
  }
};
/// Nothing to keep without a norm.
struct NoStatistics {};

/// What a lane needs of half a step: four columns from Column on and four from
/// Column + 16 on of a row, normed, as four registers. Columns behind K are 0.
template <typename S>
__device__ __forceinline__ void
normedEight(const float *Row, int Column, float Mean, float Inv,
            const float *__restrict__ Gain, const float *__restrict__ NormBias,
            unsigned (&Out)[4]) {
  float X[8];
#pragma unroll
  for (int I = 0; I != 8; I += 4) {
    int C = Column + I * 4;
    if (S::K % 64 == 0 || (S::K % 4 == 0 && C < S::K)) {
      Float4 F = *reinterpret_cast<const Float4 *>(Row + C);
      X[I] = normed<S>(F.X, C, Mean, Inv, Gain, NormBias);
      X[I + 1] = normed<S>(F.Y, C + 1, Mean, Inv, Gain, NormBias);
      X[I + 2] = normed<S>(F.Z, C + 2, Mean, Inv, Gain, NormBias);
      X[I + 3] = normed<S>(F.W, C + 3, Mean, Inv, Gain, NormBias);
    } else {
#pragma unroll
      for (int J = 0; J != 4; ++J)
        X[I + J] = C + J < S::K
                       ? normed<S>(Row[C + J], C + J, Mean, Inv, Gain, NormBias)
                       : 0.0f;
    }
  }
#pragma unroll
  for (int I = 0; I != 4; ++I)
    Out[I] = S::WType == WM16BF16 ? packBrains(X[2 * I], X[2 * I + 1])
                                  : packHalvesClamped(X[2 * I], X[2 * I + 1]);
}

/// Bytes of a prepared row: columns padded to steps of 64 with zeros.
template <typename S> struct Prepared {
  enum : int { Columns = (S::K + 63) / 64 * 64 };
};

/// A row, normed and rounded, in the order of the lanes; by 256 threads.
template <typename S>
__device__ __forceinline__ void
prepareRow(const float *From, float Mean, float Inv,
           const float *__restrict__ Gain, const float *__restrict__ NormBias,
           unsigned char *To) {
  constexpr int Columns = Prepared<S>::Columns;
  for (int E = threadIdx.x; E < Columns / 8; E += 256) {
    unsigned W[4];
    normedEight<S>(From, E / 4 * 32 + E % 4 * 4, Mean, Inv, Gain, NormBias, W);
    Quad Q = {W[0], W[1], W[2], W[3]};
    *reinterpret_cast<Quad *>(To + E * 16) = Q;
  }
}

/// prepare: xq[t] = norm(x[t or Remap[t]]) in f16 or bf16, in the order of the
/// lanes; a block of 256 threads per row.
template <typename S>
__device__ __forceinline__ void
prepare(int Rows, const int *Remap, const float *X,
        const float *__restrict__ Gain, const float *__restrict__ NormBias,
        unsigned char *Xq) {
  __shared__ RowStatistics<S, 1, 8> Stats;
  int Row = blockIdx.x;
  if (Row >= Rows)
    return;
  const float *From = X + static_cast<size_t>(Remap ? Remap[Row] : Row) * S::K;
  float Mean = 0.0f, Inv = 1.0f;
  if constexpr (S::Norm != 0) {
    Stats.compute([&](int) { return From; }, 1);
    Mean = Stats.Mean[0];
    Inv = Stats.Inv[0];
  }
  prepareRow<S>(From, Mean, Inv, Gain, NormBias,
                Xq + static_cast<size_t>(Row) * S::XqStride);
}

} // namespace llmc
