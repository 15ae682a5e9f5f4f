// attention of prompt rows: a block has 64 packed rows (token times the query
// heads of one KV head), a warp 16 of them, and goes through the keys that any
// of them sees. Rows of several sequences are done one run after another, the
// others see nothing meanwhile. Sums of finished segments wait in the output.
//
// Grid: x = packed rows / 64, y = KV heads, z = parts of the value's features
// (above 128, where accumulators would not fit registers; scores are computed
// again in each part).
namespace llmc {

enum : int { PrefillRows = 64 };

template <typename S> struct PrefillShape {
  enum : int {
    Parts = (S::VHeadDim + 127) / 128,
    Piece = 16 / KvBlock<S>::Bytes,
    Columns = (S::VHeadDim / Piece + Parts - 1) / Parts * Piece
  };
  using Tile = HeadTile<S, Columns>;
  using Pipe = KvPipe<S, Tile>;
  enum : int { Ring = PrefillRows * Tile::KeyRow, Bytes = Ring + Pipe::Bytes };
  static_assert(Bytes == S::SharedBytes, "the launch gives what is used");
};

/// A run of rows of one sequence: tokens [Begin, End), keys [Low, High].
struct PromptRun {
  int Begin, End, Low, High;
};

/// The run that begins with token Begin and ends before token Limit, which is
/// at most 64 tokens later. Called by whole warps; all get the same.
template <typename S>
__device__ __forceinline__ PromptRun promptRun(int Begin, int Limit,
                                               const int *Positions,
                                               const int *RowSeq) {
  constexpr float Far = 16777216.0f; // positions are exact as floats below it
  float Other = Far, Low = Far, High = -1.0f;
  int Own = RowSeq[Begin];
#pragma unroll
  for (int I = 0; I != PrefillRows; I += 32) {
    int Token = Begin + I + laneOf();
    if (Token < Limit && RowSeq[Token] != Own)
      Other = fminf(Other, static_cast<float>(Token));
  }
  int First = static_cast<int>(-warpMax(-Other));
  PromptRun Run;
  Run.Begin = Begin;
  Run.End = First < Limit ? First : Limit;
#pragma unroll
  for (int I = 0; I != PrefillRows; I += 32) {
    int Token = Begin + I + laneOf();
    if (Token >= Run.End)
      continue;
    Low = fminf(Low, static_cast<float>(firstVisible<S>(Positions[Token])));
    High = fmaxf(High, static_cast<float>(Positions[Token]));
  }
  Run.Low = static_cast<int>(-warpMax(-Low));
  Run.High = static_cast<int>(warpMax(High));
  return Run;
}

/// A lane's two rows: which token and head they are.
struct PackedRow {
  int Token; ///< -1: behind the last
  int Head;
};

template <typename S>
__device__ __forceinline__ PackedRow packedRow(int Packed, int Tokens) {
  constexpr int Group = S::Heads / S::KvHeads;
  PackedRow Row = {Packed / Group,
                   static_cast<int>(blockIdx.y) * Group + Packed % Group};
  if (Row.Token >= Tokens)
    Row.Token = -1;
  return Row;
}

template <typename S>
__device__ __forceinline__ void loadPromptQuery(int Packed0, int Tokens,
                                                const float *Q,
                                                unsigned char *Shared) {
  using Tile = typename PrefillShape<S>::Tile;
  constexpr int Pieces = 2 * Tile::Steps;
  for (int I = threadIdx.x; I < PrefillRows * Pieces;
       I += AttentionWarps * 32) {
    int Piece = I % Pieces;
    PackedRow Row = packedRow<S>(Packed0 + I / Pieces, Tokens);
    Quad X = {0, 0, 0, 0};
    if (Row.Token >= 0 && Piece < Tile::KeyPieces)
      X = scaledQuery<S>(
          Q +
          (static_cast<size_t>(Row.Token) * S::Heads + Row.Head) * S::HeadDim +
          Piece * 8);
    *reinterpret_cast<Quad *>(Shared + I / Pieces * Tile::KeyRow + Piece * 16) =
        X;
  }
}

/// Scores of a tile to probabilities, and the values that they weigh.
template <typename S, bool Masked>
__device__ __forceinline__ void
promptTile(float (&Score)[8][4], unsigned (&P)[4][4], int Key0,
           const RowRange (&Rows)[2], SegmentState &State, float (&Old)[2]) {
  float Top[2], Base[2], Sum[2] = {0.0f, 0.0f};
  exponents<S, Masked, 8>(Score, Key0, Rows, Top);
#pragma unroll
  for (int R = 0; R != 2; ++R) {
    Top[R] = fmaxf(Top[R], State.Max[R]);
    Base[R] = baseOf(Top[R]);
    Old[R] = exp2Fast(State.Max[R] - Base[R]);
    State.Max[R] = Top[R];
  }
  probabilities<8>(Score, Base, Sum);
#pragma unroll
  for (int R = 0; R != 2; ++R)
    State.Sum[R] = fmaf(State.Sum[R], Old[R], Sum[R]);
#pragma unroll
  for (int Step = 0; Step != 4; ++Step)
#pragma unroll
    for (int I = 0; I != 4; ++I)
      P[Step][I] = packHalves(Score[2 * Step + I / 2][I % 2 * 2],
                              Score[2 * Step + I / 2][I % 2 * 2 + 1]);
}

/// What the finished segments of this lane's two rows come to; their values
/// wait in the output, since registers have no room for them.
struct PromptState {
  float Max[2], Sum[2];
};

/// What all threads of a block know.
struct PromptBlock {
  int Packed0, Tokens, Column0;
  float *Out;
  const float *Sinks;
};

/// Adds the segment to what came before it, and finishes the rows of the run
/// after the last one.
template <typename S, int Tiles>
__device__ __forceinline__ void
endSegment(float (&Value)[Tiles][4], SegmentState &State, PromptState &Total,
           const PromptBlock &B, const PromptRun &Run, bool First, bool Last) {
#pragma unroll
  for (int R = 0; R != 2; ++R) {
    // Looked up again: one segment is 256 keys, registers are scarce.
    PackedRow Row = packedRow<S>(
        B.Packed0 + warpOf() * 16 + laneOf() / 4 + 8 * R, B.Tokens);
    bool In = Row.Token >= Run.Begin && Row.Token < Run.End;
    Merge M(Total.Max[R], Total.Sum[R], State.Max[R], quadSum(State.Sum[R]));
    float Factor = 1.0f;
    if (Last) {
      float Sink = 0.0f;
      if constexpr (S::HasSinks)
        Sink = B.Sinks[Row.Head];
      Factor = lastFactor(Total.Max[R], Total.Sum[R], S::HasSinks, Sink);
    }
    Float2 *At = reinterpret_cast<Float2 *>(
        B.Out +
        (static_cast<size_t>(In ? Row.Token : 0) * S::Heads + Row.Head) *
            S::VHeadDim +
        B.Column0 + laneOf() % 4 * 2);
#pragma unroll
    for (int J = 0; J != Tiles; ++J) {
      if (!In ||
          (PrefillShape<S>::Parts != 1 && B.Column0 + J * 8 >= S::VHeadDim))
        continue;
      Float2 Before = {0.0f, 0.0f};
      if (!First)
        Before = At[J * 4];
      At[J * 4] = {M(Before.X, Value[J][2 * R]) * Factor,
                   M(Before.Y, Value[J][2 * R + 1]) * Factor};
    }
  }
  State.reset();
#pragma unroll
  for (int J = 0; J != Tiles; ++J)
#pragma unroll
    for (int I = 0; I != 4; ++I)
      Value[J][I] = 0.0f;
}

/// First and last position that any and that every row of the warp sees.
struct WarpRange {
  int AnyFirst, AnyLast, AllFirst, AllLast;
  __device__ __forceinline__ explicit WarpRange(const RowRange (&Rows)[2]) {
    float First[2] = {static_cast<float>(Rows[0].First),
                      static_cast<float>(Rows[1].First)};
    float Last[2] = {static_cast<float>(Rows[0].Last),
                     static_cast<float>(Rows[1].Last)};
    AnyFirst = static_cast<int>(-warpMax(fmaxf(-First[0], -First[1])));
    AnyLast = static_cast<int>(warpMax(fmaxf(Last[0], Last[1])));
    AllFirst = static_cast<int>(warpMax(fmaxf(First[0], First[1])));
    AllLast = static_cast<int>(-warpMax(fmaxf(-Last[0], -Last[1])));
  }
};

/// All keys of one run. Ranges of rows outside the run are empty.
template <typename S>
__device__ __forceinline__ void
attendRun(const PromptBlock &B, const PromptRun &Run,
          const RowRange (&Ranges)[2], const unsigned *Pages,
          typename PrefillShape<S>::Pipe &Pipe, unsigned char *Shared) {
  using Tile = typename PrefillShape<S>::Tile;
  constexpr int PerSegment = Segment / TileKeys, Tiles = Tile::ValuePieces;
  WarpRange See(Ranges);
  const unsigned char *Q = Shared + warpOf() * 16 * Tile::KeyRow;
  int LastTile = Run.High / TileKeys, At = Run.Low / TileKeys;
  SegmentState State;
  PromptState Total = {{minusInfinity(), minusInfinity()}, {0.0f, 0.0f}};
  float Value[Tiles][4];
  State.reset();
#pragma unroll
  for (int J = 0; J != Tiles; ++J)
#pragma unroll
    for (int I = 0; I != 4; ++I)
      Value[J][I] = 0.0f;
  __syncthreads(); // the ring may still be read for the run before
  Pipe.start(Pages, At, Run.Low, Run.High, 1);
  bool First = true;
  for (; At <= LastTile; ++At) {
    int Key0 = At * TileKeys;
    bool Seen = Key0 + TileKeys > See.AnyFirst && Key0 <= See.AnyLast;
    float Score[8][4], Old[2];
    unsigned P[4][4];
    waitCopies<PrefillShape<S>::Pipe::InFlight>();
    Pipe.openKeys();
    __syncthreads();
    Pipe.issueValues();
    if (Seen) {
      scoreTile<Tile, 8>(Score, Q, Pipe.keys());
      if (Key0 < See.AllFirst || Key0 + TileKeys > See.AllLast + 1)
        promptTile<S, true>(Score, P, Key0, Ranges, State, Old);
      else
        promptTile<S, false>(Score, P, Key0, Ranges, State, Old);
    }
    waitCopies<PrefillShape<S>::Pipe::InFlight>();
    Pipe.openValues();
    __syncthreads();
    Pipe.issueKeys();
    if (Seen)
      addValues<Tile, Tiles>(Value, P, Old, Pipe.values(), 0);
    Pipe.advance();
    if (At % PerSegment == PerSegment - 1 || At == LastTile) {
      endSegment<S, Tiles>(Value, State, Total, B, Run, First, At == LastTile);
      First = false;
    }
  }
  waitCopies<0>();
}

template <typename S>
__device__ __forceinline__ void
attentionPrefill(const Counts *C, const int *Positions, const int *RowSeq,
                 const unsigned *PageTable, const float *Q,
                 const unsigned char *Kv, float *Out, const float *Slopes,
                 const float *Sinks) {
  using Shape = PrefillShape<S>;
  using Tile = typename Shape::Tile;
  unsigned char *Shared = dynamicShared();
  int Tokens = static_cast<int>(C->PromptTokens);
  // Later rows see more keys: they begin first.
  int Packed0 = static_cast<int>(gridDim.x - 1 - blockIdx.x) * PrefillRows;
  int Token = Packed0 / Tile::Group;
  if (Token >= Tokens)
    return;
  int Limit = (Packed0 + PrefillRows - 1) / Tile::Group + 1;
  Limit = Limit < Tokens ? Limit : Tokens;
  loadPromptQuery<S>(Packed0, Tokens, Q, Shared);
  Shape::Pipe::clear(Shared + Shape::Ring);
  PromptBlock B = {Packed0, Tokens,
                   static_cast<int>(blockIdx.z) * Shape::Columns, Out, Sinks};
  typename Shape::Pipe Pipe(Shared + Shape::Ring,
                            Kv + blockIdx.y * KvBlock<S>::Head, B.Column0);
  while (Token < Limit) {
    PromptRun Run = promptRun<S>(Token, Limit, Positions, RowSeq);
    RowRange Ranges[2];
#pragma unroll
    for (int R = 0; R != 2; ++R) {
      PackedRow Row =
          packedRow<S>(Packed0 + warpOf() * 16 + laneOf() / 4 + 8 * R, Tokens);
      Ranges[R] = {1 << 24, -1, 0.0f};
      if (Row.Token >= Run.Begin && Row.Token < Run.End) {
        Ranges[R].Last = Positions[Row.Token];
        Ranges[R].First = firstVisible<S>(Ranges[R].Last);
      }
      if constexpr (S::HasSlopes)
        Ranges[R].Slope = Slopes[Row.Head] * log2E();
    }
    const unsigned *Pages =
        PageTable + static_cast<size_t>(RowSeq[Token]) * C->PagesPerSequence;
    attendRun<S>(B, Run, Ranges, Pages, Pipe, Shared);
    Token = Run.End;
  }
}

} // namespace llmc
