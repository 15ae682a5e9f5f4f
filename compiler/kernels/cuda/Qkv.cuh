// qkv: norm -> product -> rope on q and k -> q_out, k and v into the KV pool.
// Packed rows are ordered per KV group: its q heads, k, v. A warp owns a pair
// of rows of one head, chosen so that rope turns the two into each other; a
// head of odd size has a last pair of one row.
namespace llmc {

/// Which head and which two of its dimensions a pair is.
struct QkvPair {
  int Group; // KV head
  int Head;  // q head in the group; Heads: k; Heads + 1: v
  int A, B;  // dimensions; B == A: only one
  int Rope;  // index into the table; -1: not rotated
};

template <typename S> struct QkvShape {
  enum : int {
    GroupHeads = S::Heads / S::KvHeads,
    PairsQk = (S::HeadDim + 1) / 2,
    PairsV = (S::VHeadDim + 1) / 2,
    PairsGroup = (GroupHeads + 1) * PairsQk + PairsV,
    Pairs = S::KvHeads * PairsGroup,
    GroupRows = (GroupHeads + 1) * S::HeadDim + S::VHeadDim
  };

  static __device__ __forceinline__ QkvPair pair(int Index) {
    QkvPair Q;
    Q.Group = Index / PairsGroup;
    int In = Index % PairsGroup;
    bool IsV = In >= (GroupHeads + 1) * PairsQk;
    Q.Head = IsV ? GroupHeads + 1 : In / PairsQk;
    int P = IsV ? In - (GroupHeads + 1) * PairsQk : In % PairsQk;
    int Dim = IsV ? S::VHeadDim : S::HeadDim;
    Q.Rope = !IsV && P < S::RotaryHalf ? P : -1;
    if (S::Interleaved || IsV || S::RotaryHalf == 0) {
      Q.A = 2 * P;
      Q.B = Q.A + 1;
    } else if (P < S::RotaryHalf) {
      Q.A = P;
      Q.B = P + S::RotaryHalf;
    } else {
      Q.A = 2 * P;
      Q.B = Q.A + 1;
    }
    Q.B = Q.B < Dim ? Q.B : Q.A;
    return Q;
  }
  static __device__ __forceinline__ int row(const QkvPair &Q, int D) {
    return Q.Group * GroupRows + Q.Head * S::HeadDim + D;
  }
};

template <typename S>
__device__ __forceinline__ void
qkvStore(const QkvPair &Q, int Row, float A, float B, const int *Positions,
         const int *RowSeq, const unsigned *PageTable, unsigned Pages,
         const float *__restrict__ Bias, const int (&RowOf)[2],
         const float *Rope, unsigned char *Kv, float *QOut) {
  using Shape = QkvShape<S>;
  using Block = KvBlock<S>;
  if constexpr (S::HasBias) {
    A += Bias[RowOf[0]];
    B += Bias[RowOf[1]];
  }
  if (S::RotaryHalf != 0 && Q.Rope >= 0) {
    const float *Table = Rope + static_cast<size_t>(Row) * 2 * S::RotaryHalf;
    float Cos = Table[Q.Rope], Sin = Table[S::RotaryHalf + Q.Rope];
    float A0 = A;
    A = fmaf(A0, Cos, -(B * Sin));
    B = fmaf(B, Cos, A0 * Sin);
  }
  if (Q.Head < Shape::GroupHeads) {
    float *Out = QOut + (static_cast<size_t>(Row) * S::Heads +
                         Q.Group * Shape::GroupHeads + Q.Head) *
                            S::HeadDim;
    Out[Q.A] = A;
    if (Q.B != Q.A)
      Out[Q.B] = B;
    return;
  }
  int Position = Positions[Row];
  unsigned Page = PageTable[static_cast<size_t>(RowSeq[Row]) * Pages +
                            Position / PageTokens];
  int Token = Position % PageTokens;
  bool IsK = Q.Head == Shape::GroupHeads;
  unsigned char *At =
      Kv + static_cast<size_t>(Page) * S::KvPageStride + Q.Group * Block::Head;
  Block::store(At + (IsK ? Block::key(Token, Q.A) : Block::value(Token, Q.A)),
               A);
  if (Q.B != Q.A)
    Block::store(At + (IsK ? Block::key(Token, Q.B) : Block::value(Token, Q.B)),
                 B);
}

template <typename S, int Tile>
__device__ __forceinline__ void
qkvTile(ProductShared<S> &Sh, int Row0, int Rows, const Counts *C,
        const int *Positions, const int *RowSeq, const unsigned *PageTable,
        const float *X, const float *__restrict__ Gain,
        const float *__restrict__ NormBias, const unsigned char *__restrict__ W,
        const float *__restrict__ Bias, const float *Rope, unsigned char *Kv,
        float *QOut) {
  using Shape = QkvShape<S>;
  int Index = blockIdx.x * ProductWarps + warpOf();
  bool Own = Index < Shape::Pairs;
  QkvPair Q = Shape::pair(Own ? Index : Shape::Pairs - 1);
  int RowOf[2] = {Shape::row(Q, Q.A), Shape::row(Q, Q.B)}, SourceOf[RowTile];
#pragma unroll
  for (int T = 0; T != RowTile; ++T)
    SourceOf[T] = Row0 + (T < Rows ? T : 0);
  float Sum[2][RowTile];
  product<S, Tile>(Sh, X, SourceOf, Gain, NormBias, W, RowOf, Sum);
#pragma unroll
  for (int T = 0; T != Tile; ++T)
    if (Own && T < Rows && laneOf() == T)
      qkvStore<S>(Q, Row0 + T, Sum[0][T], Sum[1][T], Positions, RowSeq,
                  PageTable, C->PagesPerSequence, Bias, RowOf, Rope, Kv, QOut);
}

template <typename S>
__device__ __forceinline__ void
qkv(const Counts *C, const int *Positions, const int *RowSeq,
    const unsigned *PageTable, const float *X, const float *__restrict__ Gain,
    const float *__restrict__ NormBias, const unsigned char *__restrict__ W,
    const float *__restrict__ Bias, const float *Rope, unsigned char *Kv,
    float *QOut) {
  __shared__ ProductShared<S> Sh;
  int Row0 = blockIdx.y * RowTile;
  int Rows = static_cast<int>(C->Tokens) - Row0;
  if (Rows <= 0)
    return;
  if (Rows == 1)
    qkvTile<S, 1>(Sh, Row0, 1, C, Positions, RowSeq, PageTable, X, Gain,
                  NormBias, W, Bias, Rope, Kv, QOut);
  else
    qkvTile<S, RowTile>(Sh, Row0, Rows < RowTile ? Rows : RowTile, C, Positions,
                        RowSeq, PageTable, X, Gain, NormBias, W, Bias, Rope, Kv,
                        QOut);
}

} // namespace llmc
