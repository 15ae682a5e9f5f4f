// What the two tensor core forms of attention share, and what makes their bits
// equal: tiles of 64 keys at absolute positions, segments of 256.
//
// Canonical order. q * scale is rounded once to f16. A score is a chain of
// m16n8k16 over ascending features, a tile's probabilities are relative to the
// running maximum of the segment and rounded to f16 for the product with the
// values, a chain of m16n8k16 over ascending keys. The sum of probabilities is
// four chains: lane c of a quad adds the keys 2c, 2c + 1, 2c + 8, 2c + 9 of
// every 16 in ascending order; they meet at the end of the segment. Segments
// are merged in ascending order. A tile or segment of which a row sees nothing
// changes nothing, so company, chunks and splits do not show. Exponents are of
// base 2.
namespace llmc {

struct alignas(8) Float2 {
  float X, Y;
};

enum : int { AttentionWarps = 4, Segment = 256, TileKeys = 64 };

__device__ __forceinline__ float minusInfinity() {
  return -__int_as_float(0x7f800000);
}
__device__ __forceinline__ float log2E() { return 1.44269504f; }

/// Sizes of one head in shared memory. Rows are an odd number of 16-byte
/// pieces apart: eight rows read by ldmatrix lie in different banks.
template <typename S, int Columns_> struct HeadTile {
  enum : int {
    Group = S::Heads / S::KvHeads,
    Steps = (S::HeadDim + 15) / 16,
    KeyPieces = S::HeadDim / 8,
    KeyRow = (2 * Steps | 1) * 16,
    Columns = Columns_,
    ValuePieces = Columns / 8,
    ValueRow = (ValuePieces | 1) * 16,
    KeyBytes = TileKeys * KeyRow,
    ValueBytes = TileKeys * ValueRow
  };
};

/// First position that a row at Position sees.
template <typename S>
__device__ __forceinline__ int firstVisible(int Position) {
  int First =
      S::Window != 0 && Position >= S::Window ? Position - S::Window + 1 : 0;
  if constexpr (S::Chunk != 0) {
    int Start = Position / S::Chunk * S::Chunk;
    First = First < Start ? Start : First;
  }
  return First;
}

/// Eight features of q, times the factor of scores, as f16.
template <typename S>
__device__ __forceinline__ Quad scaledQuery(const float *Q) {
  float Factor =
      S::HasSoftcap ? S::Scale() / S::Softcap() : S::Scale() * log2E();
  const Float4 *From = reinterpret_cast<const Float4 *>(Q);
  Float4 A = From[0], B = From[1];
  return {packHalves(A.X * Factor, A.Y * Factor),
          packHalves(A.Z * Factor, A.W * Factor),
          packHalves(B.X * Factor, B.Y * Factor),
          packHalves(B.Z * Factor, B.W * Factor)};
}

/// Sums of products of 16 rows of Q with Tiles * 8 keys.
template <typename T, int Tiles>
__device__ __forceinline__ void scoreTile(float (&Score)[Tiles][4],
                                          const unsigned char *Q,
                                          const unsigned char *Keys) {
  int Lane = laneOf();
  const unsigned char *QAt = Q + Lane % 16 * T::KeyRow + Lane / 16 * 16;
  const unsigned char *KAt =
      Keys + (Lane / 16 * 8 + Lane % 8) * T::KeyRow + Lane / 8 % 2 * 16;
#pragma unroll
  for (int J = 0; J != Tiles; ++J)
#pragma unroll
    for (int I = 0; I != 4; ++I)
      Score[J][I] = 0.0f;
#pragma unroll 2
  for (int Step = 0; Step != T::Steps; ++Step) {
    unsigned A[4], B[4];
    ldmatrix4(A, QAt + Step * 32);
#pragma unroll
    for (int J = 0; J != Tiles; J += 2) {
      ldmatrix4(B, KAt + J * 8 * T::KeyRow + Step * 32);
      mmaF16(Score[J], A, B[0], B[1]);
      mmaF16(Score[J + 1], A, B[2], B[3]);
    }
  }
}

/// What a row needs to turn sums into exponents of 2.
struct RowRange {
  int First, Last; ///< visible positions, the last is the query's own;
                   ///< First > Last: none
  float Slope;     ///< times log2(e)
};

/// An exponent of the sum X of the key at Position Key.
template <typename S, bool Masked>
__device__ __forceinline__ float exponentOf(float X, int Key,
                                            const RowRange &Row) {
  if constexpr (S::HasSoftcap) {
    // tanh by 2^x: an absolute error of 2^-23 is enough below a cap.
    float E = exp2Fast(X * (2.0f * log2E()));
    X = fmaf(-2.0f, inverseFast(E + 1.0f), 1.0f) * (S::Softcap() * log2E());
  }
  if constexpr (S::HasSlopes)
    X = fmaf(Row.Slope, static_cast<float>(Key - Row.Last), X);
  if constexpr (Masked)
    X = Key >= Row.First && Key <= Row.Last ? X : minusInfinity();
  return X;
}

/// Running softmax of the two rows of a lane inside a segment. Sum is this
/// lane's chain.
struct SegmentState {
  float Max[2], Sum[2];
  __device__ __forceinline__ void reset() {
    Max[0] = Max[1] = minusInfinity();
    Sum[0] = Sum[1] = 0.0f;
  }
};

/// What exponents are taken relative to; 0 while no key was visible.
__device__ __forceinline__ float baseOf(float Max) {
  return Max == minusInfinity() ? 0.0f : Max;
}

__device__ __forceinline__ float quadMax(float X) {
  X = fmaxf(X, __shfl_xor_sync(FullWarp, X, 1));
  return fmaxf(X, __shfl_xor_sync(FullWarp, X, 2));
}
__device__ __forceinline__ float quadSum(float X) {
  X += __shfl_xor_sync(FullWarp, X, 1);
  return X + __shfl_xor_sync(FullWarp, X, 2);
}

/// Exponents of Tiles * 8 keys from key Key0 on, in place, and their largest by
/// row.
template <typename S, bool Masked, int Tiles>
__device__ __forceinline__ void exponents(float (&Score)[Tiles][4], int Key0,
                                          const RowRange (&Rows)[2],
                                          float (&Top)[2]) {
  Top[0] = Top[1] = minusInfinity();
#pragma unroll
  for (int J = 0; J != Tiles; ++J)
#pragma unroll
    for (int I = 0; I != 4; ++I) {
      int Key = Key0 + J * 8 + laneOf() % 4 * 2 + I % 2;
      Score[J][I] = exponentOf<S, Masked>(Score[J][I], Key, Rows[I / 2]);
      Top[I / 2] = fmaxf(Top[I / 2], Score[J][I]);
    }
  Top[0] = quadMax(Top[0]);
  Top[1] = quadMax(Top[1]);
}

/// Exponents to probabilities relative to Base, and this lane's part of the
/// sum: one number for every 16 keys, added in ascending order to Sum.
template <int Tiles>
__device__ __forceinline__ void probabilities(float (&Score)[Tiles][4],
                                              const float (&Base)[2],
                                              float (&Sum)[2]) {
#pragma unroll
  for (int J = 0; J != Tiles; ++J)
#pragma unroll
    for (int I = 0; I != 4; ++I)
      Score[J][I] = exp2Fast(Score[J][I] - Base[I / 2]);
#pragma unroll
  for (int R = 0; R != 2; ++R)
#pragma unroll
    for (int J = 0; J != Tiles; J += 2)
      Sum[R] += (Score[J][2 * R] + Score[J][2 * R + 1]) +
                (Score[J + 1][2 * R] + Score[J + 1][2 * R + 1]);
}

/// Value[j] = Value[j] * Old + P V of column tile Tile0 + j, j < Count.
template <typename T, int Tiles>
__device__ __forceinline__ void
addValues(float (&Value)[Tiles][4], const unsigned (&P)[4][4],
          const float (&Old)[2], const unsigned char *Values, int Tile0) {
  const unsigned char *At = Values + laneOf() * T::ValueRow + Tile0 * 16;
  // Behind the first keys the maximum seldom moves, and a factor of 1 is none.
  if (__ballot_sync(FullWarp, Old[0] != 1.0f || Old[1] != 1.0f) != 0) {
#pragma unroll
    for (int J = 0; J != Tiles; ++J)
#pragma unroll
      for (int I = 0; I != 4; ++I)
        Value[J][I] *= Old[I / 2];
  }
#pragma unroll
  for (int J = 0; J != Tiles; ++J) {
    if (T::ValuePieces != AttentionWarps * Tiles && Tile0 + J >= T::ValuePieces)
      break;
    unsigned Low[4], High[4];
    ldmatrix4Trans(Low, At + J * 16);
    ldmatrix4Trans(High, At + 32 * T::ValueRow + J * 16);
    mmaF16(Value[J], P[0], Low[0], Low[1]);
    mmaF16(Value[J], P[1], Low[2], Low[3]);
    mmaF16(Value[J], P[2], High[0], High[1]);
    mmaF16(Value[J], P[3], High[2], High[3]);
  }
}

/// Adds a segment (maximum, sum, and value by value) to what came before it.
struct Merge {
  float Old, New;
  __device__ __forceinline__ Merge(float &TotalMax, float &TotalSum, float Max,
                                   float Sum) {
    float Top = fmaxf(TotalMax, Max), Base = baseOf(Top);
    Old = exp2Fast(TotalMax - Base);
    New = exp2Fast(Max - Base);
    TotalMax = Top;
    TotalSum = fmaf(TotalSum, Old, Sum * New);
  }
  __device__ __forceinline__ float operator()(float Total, float Value) const {
    return fmaf(Total, Old, Value * New);
  }
};

/// The last factor of a row: 1 / sum, with the sink as one more key of value 0.
__device__ __forceinline__ float lastFactor(float Max, float Sum, bool HasSink,
                                            float Sink) {
  if (!HasSink)
    return inverse(Sum);
  Sink *= log2E();
  float Top = fmaxf(Max, Sink);
  float Old = exp2Fast(Max - Top);
  return Old * inverse(fmaf(Sum, Old, exp2Fast(Sink - Top)));
}

} // namespace llmc
