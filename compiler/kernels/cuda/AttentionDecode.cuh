// attention of single rows: a block has one row and up to 16 query heads of one
// KV head, which are the 16 rows of the products, so that keys and values are
// read once per group. The four warps share a tile: each has 16 of its keys for
// the scores and a quarter of the features for the values.
//
// Grid: x = KV heads times groups of 16 heads, y = rows (a block takes every
// gridDim.y-th), z = splits. Split z has segments z, z + splits, … of its row
// and writes each to `partial`; the block that arrives last merges them in
// ascending order. A row with one segment, and rows behind the first
// PartialRows, are done by split 0 alone. None of this changes bits
// (AttentionTile.cuh).
namespace llmc {

/// Rows of a step that may be split (compiler/kernels/CudaScratch.h).
enum : int { PartialRows = 8 };

template <typename S> struct DecodeShape : HeadTile<S, S::VHeadDim> {
  using Tile = HeadTile<S, S::VHeadDim>;
  using Pipe = KvPipe<S, Tile>;
  enum : int {
    HeadTiles = (Tile::Group + 15) / 16,
    WarpTiles = (Tile::ValuePieces + AttentionWarps - 1) / AttentionWarps,
    Record = S::VHeadDim + 4, ///< floats of a head's segment in partial
    PRow = (TileKeys / 8 | 1) * 16,
    // Shared memory.
    Ring = 16 * Tile::KeyRow,
    P = Ring + Pipe::Bytes,
    Max = P + 16 * PRow,
    Sum = Max + AttentionWarps * 16 * 4,
    Arrived = Sum + AttentionWarps * 64 * 4,
    Bytes = Arrived + 16
  };
  static_assert(Bytes == S::SharedBytes, "the launch gives what is used");
};

/// The rows of this block: heads of one token.
template <typename S> struct DecodeRow {
  int Token, Position, First;
  int Head0; ///< query head of row 0
  int Heads; ///< rows in use
};

template <typename S>
__device__ __forceinline__ void
loadDecodeQuery(const DecodeRow<S> &D, const float *Q, unsigned char *Shared) {
  using Shape = DecodeShape<S>;
  constexpr int Pieces = 2 * Shape::Steps;
  for (int I = threadIdx.x; I < 16 * Pieces; I += AttentionWarps * 32) {
    int Row = I / Pieces, Piece = I % Pieces;
    Quad X = {0, 0, 0, 0};
    if (Row < D.Heads && Piece < Shape::KeyPieces)
      X = scaledQuery<S>(
          Q +
          (static_cast<size_t>(D.Token) * S::Heads + D.Head0 + Row) *
              S::HeadDim +
          Piece * 8);
    *reinterpret_cast<Quad *>(Shared + Row * Shape::KeyRow + Piece * 16) = X;
  }
}

/// The running softmax of one tile, shared by the warps: P becomes the
/// probabilities of all 64 keys, Old the factor of what was summed before.
template <typename S, bool Masked>
__device__ __forceinline__ void decodeScores(float (&Score)[2][4],
                                             unsigned char *Shared, int Tile,
                                             const RowRange (&Rows)[2]) {
  using Shape = DecodeShape<S>;
  float Top[2];
  exponents<S, Masked, 2>(Score, Tile * TileKeys + warpOf() * 16, Rows, Top);
  float *Max = reinterpret_cast<float *>(Shared + Shape::Max) + warpOf() * 16;
  if (laneOf() % 4 == 0) {
    Max[laneOf() / 4] = Top[0];
    Max[laneOf() / 4 + 8] = Top[1];
  }
}

template <typename S>
__device__ __forceinline__ void
decodeProbabilities(float (&Score)[2][4], unsigned char *Shared,
                    SegmentState &State, float (&Old)[2]) {
  using Shape = DecodeShape<S>;
  const float *Max = reinterpret_cast<const float *>(Shared + Shape::Max);
  int G = laneOf() / 4, C = laneOf() % 4;
  float Base[2], Sum[2] = {0.0f, 0.0f};
#pragma unroll
  for (int R = 0; R != 2; ++R) {
    float Top = State.Max[R];
#pragma unroll
    for (int W = 0; W != AttentionWarps; ++W)
      Top = fmaxf(Top, Max[W * 16 + G + 8 * R]);
    Base[R] = baseOf(Top);
    Old[R] = exp2Fast(State.Max[R] - Base[R]);
    State.Max[R] = Top;
  }
  probabilities<2>(Score, Base, Sum);
  float *Sums = reinterpret_cast<float *>(Shared + Shape::Sum) + warpOf() * 64;
#pragma unroll
  for (int R = 0; R != 2; ++R) {
    Sums[(G + 8 * R) * 4 + C] = Sum[R];
    unsigned *P = reinterpret_cast<unsigned *>(
        Shared + Shape::P + (G + 8 * R) * Shape::PRow + warpOf() * 32 + C * 4);
    P[0] = packHalves(Score[0][2 * R], Score[0][2 * R + 1]);
    P[4] = packHalves(Score[1][2 * R], Score[1][2 * R + 1]);
  }
}

/// After a barrier: this warp's features of the sum over the tile's values.
template <typename S, int Tiles>
__device__ __forceinline__ void
decodeValues(float (&Value)[Tiles][4], unsigned char *Shared,
             const unsigned char *Values, SegmentState &State,
             const float (&Old)[2]) {
  using Shape = DecodeShape<S>;
  const float *Sums = reinterpret_cast<const float *>(Shared + Shape::Sum);
#pragma unroll
  for (int R = 0; R != 2; ++R) {
    float Sum = 0.0f;
#pragma unroll
    for (int W = 0; W != AttentionWarps; ++W)
      Sum += Sums[W * 64 + R * 32 + laneOf()];
    State.Sum[R] = fmaf(State.Sum[R], Old[R], Sum);
  }
  unsigned P[4][4];
  const unsigned char *At =
      Shared + Shape::P + laneOf() % 16 * Shape::PRow + laneOf() / 16 * 16;
#pragma unroll
  for (int Step = 0; Step != 4; ++Step)
    ldmatrix4(P[Step], At + Step * 32);
  addValues<typename Shape::Tile, Tiles>(Value, P, Old, Values,
                                         warpOf() * Tiles);
}

/// Calls Each(row 0 or 8 of the lane, feature, index j, index i) for the pairs
/// of neighbouring features that this lane has.
template <typename S, typename F>
__device__ __forceinline__ void eachPair(const DecodeRow<S> &D, F Each) {
  using Shape = DecodeShape<S>;
#pragma unroll
  for (int J = 0; J != Shape::WarpTiles; ++J) {
    int Tile = warpOf() * Shape::WarpTiles + J;
    if (Shape::ValuePieces != AttentionWarps * Shape::WarpTiles &&
        Tile >= Shape::ValuePieces)
      break;
#pragma unroll
    for (int R = 0; R != 2; ++R) {
      int Row = laneOf() / 4 + 8 * R;
      if (Row < D.Heads)
        Each(Row, Tile * 8 + laneOf() % 4 * 2, J, R);
    }
  }
}

/// This block's segments of a row. Begin and End are segments, Step the splits;
/// Partial (the row's records, or null) gets each segment, else they are merged
/// into Out.
template <typename S>
__device__ __forceinline__ void
decodeSegments(const DecodeRow<S> &D, const unsigned *Pages,
               const unsigned char *Kv, float *Out, float *Partial,
               int PartialBegin, const float *Slopes, const float *Sinks,
               int Begin, int Step, unsigned char *Shared) {
  using Shape = DecodeShape<S>;
  constexpr int Tiles = Shape::WarpTiles;
  RowRange Rows[2];
#pragma unroll
  for (int R = 0; R != 2; ++R) {
    int Row = laneOf() / 4 + 8 * R;
    Rows[R] = {D.First, D.Position, 0.0f};
    if constexpr (S::HasSlopes)
      Rows[R].Slope = Row < D.Heads ? Slopes[D.Head0 + Row] * log2E() : 0.0f;
  }
  typename Shape::Pipe Pipe(
      Shared + Shape::Ring,
      Kv + static_cast<size_t>(D.Head0 / Shape::Group) * KvBlock<S>::Head, 0);
  int LastTile = D.Position / TileKeys, Tile = D.First / TileKeys;
  constexpr int PerSegment = Segment / TileKeys;
  Tile = Begin * PerSegment > Tile ? Begin * PerSegment : Tile;
  Pipe.start(Pages, Tile, D.First, D.Position, Step);
  SegmentState State;
  State.reset();
  float Value[Tiles][4], Total[Tiles][4];
  float TotalMax[2] = {minusInfinity(), minusInfinity()};
  float TotalSum[2] = {0.0f, 0.0f};
#pragma unroll
  for (int J = 0; J != Tiles; ++J)
#pragma unroll
    for (int I = 0; I != 4; ++I)
      Value[J][I] = Total[J][I] = 0.0f;
  for (; Tile <= LastTile; Tile = Pipe.next(Tile)) {
    float Score[2][4], Old[2];
    waitCopies<Shape::Pipe::InFlight>();
    Pipe.openKeys();
    __syncthreads();
    Pipe.issueValues();
    scoreTile<typename Shape::Tile, 2>(
        Score, Shared, Pipe.keys() + warpOf() * 16 * Shape::KeyRow);
    if (Tile * TileKeys < D.First || (Tile + 1) * TileKeys > D.Position + 1)
      decodeScores<S, true>(Score, Shared, Tile, Rows);
    else
      decodeScores<S, false>(Score, Shared, Tile, Rows);
    waitCopies<Shape::Pipe::InFlight>();
    Pipe.openValues();
    __syncthreads();
    Pipe.issueKeys();
    decodeProbabilities<S>(Score, Shared, State, Old);
    __syncthreads();
    decodeValues<S, Tiles>(Value, Shared, Pipe.values(), State, Old);
    Pipe.advance();
    if (Tile % PerSegment != PerSegment - 1 && Tile != LastTile)
      continue;
    float Sum[2] = {quadSum(State.Sum[0]), quadSum(State.Sum[1])};
    if (Partial) {
      float *To =
          Partial + static_cast<size_t>(Tile / PerSegment - PartialBegin) *
                        S::Heads * Shape::Record;
      eachPair<S>(D, [&](int Row, int Feature, int J, int R) {
        float *Record = To + (D.Head0 + Row) * Shape::Record;
        *reinterpret_cast<Float2 *>(Record + 4 + Feature) = {
            Value[J][2 * R], Value[J][2 * R + 1]};
        if (Feature == 0)
          *reinterpret_cast<Float2 *>(Record) = {State.Max[R], Sum[R]};
      });
    } else {
      Merge M[2] = {{TotalMax[0], TotalSum[0], State.Max[0], Sum[0]},
                    {TotalMax[1], TotalSum[1], State.Max[1], Sum[1]}};
#pragma unroll
      for (int J = 0; J != Tiles; ++J)
#pragma unroll
        for (int I = 0; I != 4; ++I)
          Total[J][I] = M[I / 2](Total[J][I], Value[J][I]);
    }
    State.reset();
#pragma unroll
    for (int J = 0; J != Tiles; ++J)
#pragma unroll
      for (int I = 0; I != 4; ++I)
        Value[J][I] = 0.0f;
  }
  waitCopies<0>();
  if (Partial)
    return;
  eachPair<S>(D, [&](int Row, int Feature, int J, int R) {
    float Sink = 0.0f;
    if constexpr (S::HasSinks)
      Sink = Sinks[D.Head0 + Row];
    float Factor = lastFactor(TotalMax[R], TotalSum[R], S::HasSinks, Sink);
    *reinterpret_cast<Float2 *>(
        Out +
        (static_cast<size_t>(D.Token) * S::Heads + D.Head0 + Row) *
            S::VHeadDim +
        Feature) = {Total[J][2 * R] * Factor, Total[J][2 * R + 1] * Factor};
  });
}

/// Merges the records of all segments of the block's heads. A thread has four
/// features of a head at a time.
template <typename S>
__device__ __forceinline__ void
mergePartials(const DecodeRow<S> &D, const float *Partial, int Segments,
              float *Out, const float *Sinks) {
  using Shape = DecodeShape<S>;
  constexpr int Quads = S::VHeadDim / 4;
  for (int I = threadIdx.x; I < D.Heads * Quads; I += AttentionWarps * 32) {
    int Head = D.Head0 + I / Quads, Feature = I % Quads * 4;
    const float *From = Partial + static_cast<size_t>(Head) * Shape::Record;
    float Max = minusInfinity(), Sum = 0.0f;
    Float4 Total = {0.0f, 0.0f, 0.0f, 0.0f};
#pragma unroll 4
    for (int At = 0; At < Segments; ++At) {
      Float2 Of = *reinterpret_cast<const Float2 *>(From);
      Float4 V = *reinterpret_cast<const Float4 *>(From + 4 + Feature);
      From += static_cast<size_t>(S::Heads) * Shape::Record;
      Merge M(Max, Sum, Of.X, Of.Y);
      Total = {M(Total.X, V.X), M(Total.Y, V.Y), M(Total.Z, V.Z),
               M(Total.W, V.W)};
    }
    float Sink = 0.0f;
    if constexpr (S::HasSinks)
      Sink = Sinks[Head];
    float Factor = lastFactor(Max, Sum, S::HasSinks, Sink);
    *reinterpret_cast<Float4 *>(
        Out + (static_cast<size_t>(D.Token) * S::Heads + Head) * S::VHeadDim +
        Feature) = {Total.X * Factor, Total.Y * Factor, Total.Z * Factor,
                    Total.W * Factor};
  }
}

/// Row number Row of those of this form.
template <typename S>
__device__ __forceinline__ void
decodeToken(int Row, int Token, const Counts *C, const int *Positions,
            const int *RowSeq, const unsigned *PageTable, unsigned *Tickets,
            const float *Q, const unsigned char *Kv, float *Out, float *Partial,
            const float *Slopes, const float *Sinks) {
  using Shape = DecodeShape<S>;
  unsigned char *Shared = dynamicShared();
  DecodeRow<S> D;
  D.Token = Token;
  D.Position = Positions[Token];
  const unsigned *Pages = // on its way together with the position
      PageTable + static_cast<size_t>(RowSeq[Token]) * C->PagesPerSequence;
  D.First = firstVisible<S>(D.Position);
  int Tile = blockIdx.x % Shape::HeadTiles;
  D.Head0 = blockIdx.x / Shape::HeadTiles * Shape::Group + Tile * 16;
  D.Heads = Shape::Group - Tile * 16 < 16 ? Shape::Group - Tile * 16 : 16;
  int Begin = D.First / Segment, Segments = D.Position / Segment - Begin + 1;
  int Splits = gridDim.z, Split = blockIdx.z;
  if (Segments == 1 || Row >= PartialRows)
    Splits = 1;
  Splits = Splits > Segments ? Segments : Splits;
  if (Split >= Splits)
    return;
  constexpr int PagesPerSegment = Segment / PageTokens;
  int Stride = (static_cast<int>(C->PagesPerSequence) + PagesPerSegment - 1) /
               PagesPerSegment; // segments of a row in partial
  float *Mine =
      Partial + static_cast<size_t>(Row) * Stride * S::Heads * Shape::Record;
  __syncthreads(); // shared memory may still be read for the row before
  loadDecodeQuery<S>(D, Q, Shared);
  Shape::Pipe::clear(Shared + Shape::Ring);
  decodeSegments<S>(D, Pages, Kv, Out, Splits == 1 ? nullptr : Mine, Begin,
                    Slopes, Sinks, Begin + Split, Splits, Shared);
  if (Splits == 1)
    return;
  unsigned *Ticket = Tickets + Row * gridDim.x + blockIdx.x;
  int *Arrived = reinterpret_cast<int *>(Shared + Shape::Arrived);
  __syncthreads();
  if (threadIdx.x == 0) {
    *Arrived = static_cast<int>(countUp(Ticket));
    if (*Arrived == Splits - 1)
      *Ticket = 0; // for the next layer
  }
  __syncthreads();
  if (*Arrived == Splits - 1)
    mergePartials<S>(D, Mine, Segments, Out, Sinks);
}

template <typename S>
__device__ __forceinline__ void
attentionDecode(const Counts *C, const int *Positions, const int *RowSeq,
                const unsigned *PageTable, unsigned *Tickets, const float *Q,
                const unsigned char *Kv, float *Out, float *Partial,
                const float *Slopes, const float *Sinks) {
  // In larger buckets the prompt rows are those of the other form.
  int Row0 =
      C->Bucket < S::SmallBuckets ? 0 : static_cast<int>(C->PromptTokens);
  int Rows = static_cast<int>(C->Tokens) - Row0;
  for (int Row = blockIdx.y; Row < Rows; Row += gridDim.y)
    decodeToken<S>(Row, Row0 + Row, C, Positions, RowSeq, PageTable, Tickets, Q,
                   Kv, Out, Partial, Slopes, Sinks);
}

} // namespace llmc
