// Products of few tokens, bound by the stream of weights: a block owns S::Tiles
// row tiles and all of K; its S::Warps warps own neighbouring segments and keep
// S::Depth steps of weights on their way. Tokens are on the side of 8 of the
// mma, S::TokenTiles times. The sums of segments meet in shared memory.
//
// Without S::IsPrepared the norm is computed here, by every block again, and
// rows are normed and rounded as they are read (from L1 and L2): no other
// launch, no shared memory that grows with K. Grid: x = groups of tiles, y =
// token rows / (8 * TokenTiles).
namespace llmc {

template <typename S> struct DecodeShared {
  Float4 Partial[Segments<S>::Count][S::Tiles][S::TokenTiles][32];
  RowStatistics<S, S::Norm != 0 && !S::IsPrepared ? 8 * S::TokenTiles : 1,
                S::Warps>
      Stats;
};

/// Which source row the token rows of a block are.
struct TokenRows {
  int First, Last;  // rows of the result; Last is the last valid one
  const int *Remap; // of rows of the result to rows of x, or null
  __device__ __forceinline__ int source(int I) const {
    int Row = First + I < Last ? First + I : Last;
    return Remap ? Remap[Row] : Row;
  }
};

/// The rows of a block as second operand.
template <typename S> struct DecodeOperand {
  const unsigned char *At[S::TokenTiles]; // row of this lane's token
  float Mean[S::TokenTiles], Inv[S::TokenTiles];
  const float *__restrict__ Gain, *__restrict__ NormBias;

  __device__ __forceinline__ void read(int Step, int J, int H,
                                       unsigned (&W)[4]) const {
    int Half = Step * 64 + H * 32;
    if constexpr (S::IsPrepared) {
      Quad Q = *reinterpret_cast<const Quad *>(At[J] + Half * 2 +
                                               (laneOf() & 3) * 16);
      W[0] = Q.X;
      W[1] = Q.Y;
      W[2] = Q.Z;
      W[3] = Q.W;
    } else {
      normedEight<S>(reinterpret_cast<const float *>(At[J]),
                     Half + (laneOf() & 3) * 4, Mean[J], Inv[J], Gain, NormBias,
                     W);
    }
  }
};

/// The statistics of the block's rows, after which it may read them.
template <typename S>
__device__ __forceinline__ void
openRows(DecodeShared<S> &Sh, const TokenRows &Rows, const float *X,
         const unsigned char *Xq, DecodeOperand<S> &Out) {
  auto RowOf = [&](int I) {
    return X + static_cast<size_t>(Rows.source(I)) * S::K;
  };
  if constexpr (S::Norm != 0 && !S::IsPrepared) {
    int Count = Rows.Last - Rows.First + 1;
    Sh.Stats.compute(RowOf,
                     Count < 8 * S::TokenTiles ? Count : 8 * S::TokenTiles);
  }
#pragma unroll
  for (int J = 0; J != S::TokenTiles; ++J) {
    int I = J * 8 + (laneOf() >> 2), Most = Rows.Last - Rows.First;
    I = I < Most ? I : Most;
    Out.Mean[J] = 0.0f;
    Out.Inv[J] = 1.0f;
    if constexpr (S::IsPrepared) {
      Out.At[J] = Xq + static_cast<size_t>(Rows.source(I)) * S::XqStride;
    } else {
      Out.At[J] = reinterpret_cast<const unsigned char *>(RowOf(I));
      if constexpr (S::Norm != 0) {
        Out.Mean[J] = Sh.Stats.Mean[I];
        Out.Inv[J] = Sh.Stats.Inv[I];
      }
    }
  }
}

/// This warp's segments into Sh.Partial.
template <typename S>
__device__ __forceinline__ void productSegments(
    DecodeShared<S> &Sh, const unsigned char *const (&Tile)[S::Tiles],
    typename Fragment<S::WType, S::K>::Step (&Ring)[S::Depth][S::Tiles],
    int First, int End, const DecodeOperand<S> &Rows) {
  using F = Fragment<S::WType, S::K>;
  float Sum[S::Tiles][S::TokenTiles][4] = {};
  for (int Base = First; Base < End; Base += S::Depth) {
#pragma unroll
    for (int D = 0; D != S::Depth; ++D) {
      int Step = Base + D;
      if (Step >= End)
        break;
      addStep<F, S::Tiles, S::TokenTiles>(
          Sum, Ring[D],
          [&](int J, int H, unsigned (&W)[4]) { Rows.read(Step, J, H, W); });
      if ((Step + 1) % Segments<S>::Each == 0 || Step + 1 == F::Steps) {
#pragma unroll
        for (int R = 0; R != S::Tiles; ++R)
#pragma unroll
          for (int J = 0; J != S::TokenTiles; ++J) {
            float (&C)[4] = Sum[R][J];
            finishSegment<F>(C, Ring[D][R]);
            Float4 P = {C[0], C[1], C[2], C[3]};
            Sh.Partial[Step / Segments<S>::Each][R][J][laneOf()] = P;
            C[0] = C[1] = C[2] = C[3] = 0.0f;
          }
      }
      if (Step + S::Depth < End)
#pragma unroll
        for (int R = 0; R != S::Tiles; ++R)
          F::template load<true>(Tile[R], Step + S::Depth, Ring[D][R]);
    }
  }
}

/// The segments' sums of token tile J, added in ascending order.
template <typename S>
__device__ __forceinline__ void sumSegments(const DecodeShared<S> &Sh, int J,
                                            float (&Sum)[S::Tiles][4]) {
#pragma unroll
  for (int R = 0; R != S::Tiles; ++R) {
    Sum[R][0] = Sum[R][1] = Sum[R][2] = Sum[R][3] = 0.0f;
#pragma unroll
    for (int I = 0; I != Segments<S>::Count; ++I) {
      Float4 P = Sh.Partial[I][R][J][laneOf()];
      Sum[R][0] += P.X;
      Sum[R][1] += P.Y;
      Sum[R][2] += P.Z;
      Sum[R][3] += P.W;
    }
  }
}

/// The steps of this warp's segments.
template <typename S> struct WarpSteps {
  int First, End;
  __device__ __forceinline__ WarpSteps() {
    constexpr int Count = Segments<S>::Count, Each = Segments<S>::Each;
    constexpr int Steps = Fragment<S::WType, S::K>::Steps;
    First = warpOf() * Count / S::Warps * Each;
    End = (warpOf() + 1) * Count / S::Warps * Each;
    End = End < Steps ? End : Steps;
  }
};

/// Starts the first loads of weights.
template <typename S>
__device__ __forceinline__ void
fillRing(const unsigned char *const (&Tile)[S::Tiles], const WarpSteps<S> &Own,
         typename Fragment<S::WType, S::K>::Step (&Ring)[S::Depth][S::Tiles]) {
#pragma unroll
  for (int D = 0; D != S::Depth; ++D)
    if (Own.First + D < Own.End)
#pragma unroll
      for (int R = 0; R != S::Tiles; ++R)
        Fragment<S::WType, S::K>::template load<true>(Tile[R], Own.First + D,
                                                      Ring[D][R]);
}

/// The whole product; Store(group, token row of the first of 8, last token row,
/// sums of the tiles) takes the results. Total: rows of the result.
template <typename S, typename Store>
__device__ __forceinline__ void
decodeProduct(const Store &To, int Total, const int *Remap, const float *X,
              const float *__restrict__ Gain,
              const float *__restrict__ NormBias,
              const unsigned char *__restrict__ W, const unsigned char *Xq) {
  using F = Fragment<S::WType, S::K>;
  __shared__ DecodeShared<S> Sh;
  int Row0 = blockIdx.y * (8 * S::TokenTiles);
  if constexpr (S::Early)
    launchDependents();
  if (Row0 >= Total) {
    if constexpr (S::Early)
      waitForEarlier();
    return;
  }
  WarpSteps<S> Own;
  const unsigned char *Tile[S::Tiles];
  typename F::Step Ring[S::Depth][S::Tiles];
#pragma unroll
  for (int R = 0; R != S::Tiles; ++R)
    Tile[R] =
        W + static_cast<size_t>(Store::tile(blockIdx.x, R)) * F::TileBytes;
  fillRing<S>(Tile, Own, Ring);
  if constexpr (S::Early)
    waitForEarlier();
  DecodeOperand<S> Rows;
  Rows.Gain = Gain;
  Rows.NormBias = NormBias;
  openRows<S>(Sh, TokenRows{Row0, Total - 1, Remap}, X, Xq, Rows);
  productSegments<S>(Sh, Tile, Ring, Own.First, Own.End, Rows);
  __syncthreads();
  for (int J = warpOf(); J < S::TokenTiles; J += S::Warps) {
    float Sum[S::Tiles][4];
    sumSegments<S>(Sh, J, Sum);
    To.store(blockIdx.x, Row0 + J * 8, Total - 1, Sum);
  }
}

} // namespace llmc
