// What happens to the sums of an mma product: bias, activation or GLU,
// residual; multiplier and softcap of logits; rope and the cache for qkv. A
// lane holds of tile r the rows g and g + 8 of the tokens 2 t and 2 t + 1:
// C[r][i] is row g + 8 * (i / 2), token 2 t + i % 2.
namespace llmc {

__device__ __forceinline__ int laneRow(int I) {
  return (laneOf() >> 2) + 8 * (I / 2);
}
__device__ __forceinline__ int laneToken(int I) {
  return (laneOf() & 3) * 2 + I % 2;
}

/// Calls To(feature, sum with bias) for what a lane holds of one token: number I
/// of each tile of a group.
template <typename S, typename Put>
__device__ __forceinline__ void
storeFeatures(const float *__restrict__ Bias, int Group, int I,
              const float (&C)[S::Tiles][4], const Put &To) {
#pragma unroll
  for (int R = 0; R != S::Tiles; ++R) {
    int Feature = (Group * S::Tiles + R) * 16 + laneRow(I);
    if (S::N % (16 * S::Tiles) != 0 && Feature >= S::N)
      continue;
    float V = C[R][I];
    if constexpr (S::HasBias)
      V += Bias[Feature];
    To(Feature, V);
  }
}

template <typename S> struct LinearStore {
  enum : int {
    TileCount = (S::N + 15) / 16,
    Groups = (TileCount + S::Tiles - 1) / S::Tiles,
    Outputs = S::Glu ? S::N / 2 : S::N
  };
  const float *__restrict__ Bias;
  const float *Residual;
  float *Out;

  static __device__ __forceinline__ int tile(int Group, int R) {
    int T = Group * S::Tiles + R;
    return T < TileCount ? T : TileCount - 1;
  }
  __device__ __forceinline__ void put(int Token, int Feature, float V) const {
    size_t At = static_cast<size_t>(Token) * Outputs + Feature;
    if constexpr (S::HasResidual)
      V += Residual[At];
    Out[At] = V;
  }
  __device__ __forceinline__ void store(int Group, int Token0, int Last,
                                        const float (&C)[S::Tiles][4]) const {
#pragma unroll
    for (int I = 0; I != 4; ++I) {
      int Token = Token0 + laneToken(I);
      if (Token > Last)
        continue;
      if constexpr (S::Glu != 0) {
        int Feature = Group * 16 + laneRow(I);
        float Gate = C[0][I], Up = C[1][I];
        if constexpr (S::HasBias) {
          Gate += Bias[Group * 32 + laneRow(I)];
          Up += Bias[Group * 32 + 16 + laneRow(I)];
        }
        put(Token, Feature, activate<S::Glu>(Gate) * Up);
      } else {
        storeFeatures<S>(Bias, Group, I, C, [&](int Feature, float V) {
          put(Token, Feature, activate<S::Act>(V));
        });
      }
    }
  }
};

template <typename S> struct LogitsStore {
  enum : int {
    TileCount = (S::N + 15) / 16,
    Groups = (TileCount + S::Tiles - 1) / S::Tiles
  };
  const float *__restrict__ Bias;
  float *Out;

  static __device__ __forceinline__ int tile(int Group, int R) {
    int T = Group * S::Tiles + R;
    return T < TileCount ? T : TileCount - 1;
  }
  __device__ __forceinline__ void store(int Group, int Token0, int Last,
                                        const float (&C)[S::Tiles][4]) const {
#pragma unroll
    for (int R = 0; R != S::Tiles; ++R)
#pragma unroll
      for (int I = 0; I != 4; ++I) {
        int Token = Token0 + laneToken(I);
        int Row = (Group * S::Tiles + R) * 16 + laneRow(I);
        if (Token > Last || Row >= S::N)
          continue;
        float V = C[R][I];
        if constexpr (S::HasBias)
          V += Bias[Row];
        if constexpr (S::HasMultiplier)
          V *= S::Multiplier();
        if constexpr (S::HasSoftcap)
          V = S::Softcap() * tanhOf(V * (1.0f / S::Softcap()));
        Out[static_cast<size_t>(Token) * S::N + Row] = V;
      }
  }
};

/// Pairs of tiles of one head, so that rope turns values of one lane (or of two
/// neighbours, when interleaved) into each other. Needs heads of whole tiles
/// and a rotated half of whole tiles, of 8, interleaved pairs or no rope.
template <typename S> struct QkvStore {
  enum : int {
    HeadTiles = S::HeadDim / 16,
    VTiles = S::VHeadDim / 16,
    HalfTiles = S::Interleaved ? 0 : S::RotaryHalf / 16,
    HeadGroups = (HeadTiles + 1) / 2,
    VGroups = (VTiles + 1) / 2,
    GroupHeads = S::Heads / S::KvHeads,
    PerKv = (GroupHeads + 1) * HeadGroups + VGroups,
    Groups = S::KvHeads * PerKv,
    KvTiles = (GroupHeads + 1) * HeadTiles + VTiles
  };
  /// Head (GroupHeads: k, GroupHeads + 1: v) of a KV head, and its tiles.
  struct Pair {
    int Kv, Head;
    int Tile[2]; // the second may be the first
  };
  const Counts *C;
  const int *Positions, *RowSeq;
  const unsigned *PageTable;
  const float *__restrict__ Bias;
  const float *Rope;
  unsigned char *Kv;
  float *QOut;

  static __device__ __forceinline__ Pair pair(int Group) {
    Pair P;
    P.Kv = Group / PerKv;
    int In = Group % PerKv;
    bool IsV = In >= (GroupHeads + 1) * HeadGroups;
    P.Head = IsV ? GroupHeads + 1 : In / HeadGroups;
    int G = IsV ? In - (GroupHeads + 1) * HeadGroups : In % HeadGroups;
    int Count = IsV ? VTiles : HeadTiles;
    if (!IsV && G < HalfTiles) {
      P.Tile[0] = G;
      P.Tile[1] = G + HalfTiles;
    } else {
      P.Tile[0] = 2 * G;
      P.Tile[1] = 2 * G + 1 < Count ? 2 * G + 1 : 2 * G;
    }
    return P;
  }
  static __device__ __forceinline__ int tile(int Group, int R) {
    Pair P = pair(Group);
    return P.Kv * KvTiles + P.Head * HeadTiles + P.Tile[R];
  }

  /// Rotates what this lane holds of one token; Row: of the table.
  __device__ __forceinline__ void turn(const Pair &P, int Row, int I,
                                       float (&V)[2], float Other) const {
    const float *Table = Rope + static_cast<size_t>(Row) * 2 * S::RotaryHalf;
    if constexpr (S::Interleaved || S::RotaryHalf == 8) {
      // Other is the partner of V[0]; tiles behind the rotated part stay.
      int D = P.Tile[0] * 16 + laneRow(I);
      if (D >= 2 * S::RotaryHalf)
        return;
      int At = S::Interleaved ? D / 2 : D % 8;
      bool Second = S::Interleaved ? D & 1 : D >= 8;
      float Cos = Table[At], Sin = Table[S::RotaryHalf + At];
      V[0] = Second ? fmaf(V[0], Cos, Other * Sin)
                    : fmaf(V[0], Cos, -(Other * Sin));
    } else {
      int At = P.Tile[0] * 16 + laneRow(I);
      float Cos = Table[At], Sin = Table[S::RotaryHalf + At], A = V[0];
      V[0] = fmaf(A, Cos, -(V[1] * Sin));
      V[1] = fmaf(V[1], Cos, A * Sin);
    }
  }

  __device__ __forceinline__ void put(const Pair &P, int Token, int D,
                                      float V) const {
    using Block = KvBlock<S>;
    if (P.Head < GroupHeads) {
      QOut[(static_cast<size_t>(Token) * S::Heads + P.Kv * GroupHeads +
            P.Head) *
               S::HeadDim +
           D] = V;
      return;
    }
    int Position = Positions[Token];
    unsigned Page =
        PageTable[static_cast<size_t>(RowSeq[Token]) * C->PagesPerSequence +
                  Position / PageTokens];
    unsigned char *At =
        Kv + static_cast<size_t>(Page) * S::KvPageStride + P.Kv * Block::Head;
    int In = Position % PageTokens;
    Block::store(
        At + (P.Head == GroupHeads ? Block::key(In, D) : Block::value(In, D)),
        V);
  }

  __device__ __forceinline__ void store(int Group, int Token0, int Last,
                                        const float (&Sum)[2][4]) const {
    Pair P = pair(Group);
    bool IsV = P.Head == GroupHeads + 1;
    float V[2][4];
#pragma unroll
    for (int R = 0; R != 2; ++R)
#pragma unroll
      for (int I = 0; I != 4; ++I) {
        V[R][I] = Sum[R][I];
        if constexpr (S::HasBias)
          V[R][I] +=
              Bias[(P.Kv * KvTiles + P.Head * HeadTiles + P.Tile[R]) * 16 +
                   laneRow(I)];
      }
    float Other[2][4] = {};
    if constexpr (S::RotaryHalf != 0 && (S::Interleaved || S::RotaryHalf == 8))
#pragma unroll
      for (int R = 0; R != 2; ++R)
#pragma unroll
        for (int I = 0; I != 4; ++I)
          Other[R][I] = S::Interleaved ? __shfl_xor_sync(FullWarp, V[R][I], 4)
                                       : V[R][I ^ 2];
#pragma unroll
    for (int I = 0; I != 4; ++I) {
      int Token = Token0 + laneToken(I);
      if (Token > Last)
        continue;
      float Two[2] = {V[0][I], V[1][I]};
      if constexpr (S::RotaryHalf != 0) {
        if constexpr (S::Interleaved || S::RotaryHalf == 8) {
          if (!IsV) {
            float Next[2] = {V[1][I], 0.0f};
            Pair Upper = P;
            Upper.Tile[0] = P.Tile[1];
            turn(P, Token, I, Two, Other[0][I]);
            turn(Upper, Token, I, Next, Other[1][I]);
            Two[1] = Next[0];
          }
        } else if (!IsV && P.Tile[0] < HalfTiles) {
          turn(P, Token, I, Two, 0.0f);
        }
      }
      put(P, Token, P.Tile[0] * 16 + laneRow(I), Two[0]);
      if (P.Tile[1] != P.Tile[0])
        put(P, Token, P.Tile[1] * 16 + laneRow(I), Two[1]);
    }
  }
};

/// Sums as they are into the rows behind the prepared activations, for qkv of
/// head sizes that have no tiles; qkvRawFinish does the rest.
template <typename S> struct RawStore {
  enum : int {
    TileCount = (S::N + 15) / 16,
    Groups = (TileCount + S::Tiles - 1) / S::Tiles
  };
  unsigned char *Xq;

  static __device__ __forceinline__ int tile(int Group, int R) {
    int T = Group * S::Tiles + R;
    return T < TileCount ? T : TileCount - 1;
  }
  static __device__ __forceinline__ float *row(unsigned char *Xq, int Token) {
    return reinterpret_cast<float *>(Xq +
                                     static_cast<size_t>(Token) * S::XqStride +
                                     Prepared<S>::Columns * 2);
  }
  __device__ __forceinline__ void store(int Group, int Token0, int Last,
                                        const float (&C)[S::Tiles][4]) const {
#pragma unroll
    for (int R = 0; R != S::Tiles; ++R)
#pragma unroll
      for (int I = 0; I != 4; ++I) {
        int Token = Token0 + laneToken(I);
        int Row = (Group * S::Tiles + R) * 16 + laneRow(I);
        if (Token <= Last && Row < S::N)
          row(Xq, Token)[Row] = C[R][I];
      }
  }
};

} // namespace llmc
