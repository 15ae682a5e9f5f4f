// Products of many tokens: a block of 4 * S::TokenGroups warps owns 128 rows
// (two tiles per warp) and 32 tokens per group (64 would need more registers
// than there are: the sums of segments are kept twice). Rows of prepared
// activations come through S::Stages buffers of shared memory by cp.async, a
// step of 64 columns each; weights go straight into the registers of the only
// warp (or two warps) that needs them, one step ahead, since they lie in
// fragment order.
//
// A buffer is [half of the step][token][32 columns]: a token's 64 bytes, and
// those of the next one, are all 32 banks, so both the copies of 16 bytes and
// the operands' loads of 16 bytes take the fewest possible cycles without a
// swizzle. Grid: x = rows / 128, y = tokens / (32 * TokenGroups).
namespace llmc {

enum : int { GroupTokens = 32, GroupTiles = GroupTokens / 8 };

template <typename S> struct TileShared {
  enum : int {
    Threads = 128 * S::TokenGroups,
    Tokens = GroupTokens * S::TokenGroups,
    HalfBytes = Tokens * 64
  };
  alignas(16) unsigned char Stage[S::Stages][2][HalfBytes];
};

/// Starts the copies of a step; RowOf(token of the block) is a prepared row.
template <typename S, typename Rows>
__device__ __forceinline__ void copyStep(TileShared<S> &Sh, int Step,
                                         const Rows &RowOf) {
  using Shared = TileShared<S>;
  if (Step < Fragment<S::WType, S::K>::Steps) {
#pragma unroll
    for (int I = threadIdx.x; I < Shared::Tokens * 8; I += Shared::Threads) {
      int Chunk = I % 4, Token = I / 4 % Shared::Tokens;
      int Half = I / 4 / Shared::Tokens;
      copyAsync16(Sh.Stage[Step % S::Stages][Half] + Token * 64 + Chunk * 16,
                  RowOf(Token) + Step * 128 + Half * 64 + Chunk * 16);
    }
  }
  commitCopies(); // an empty group behind the last step
}

/// Row tiles of a warp: the group of its pair, whether it is one, and weights.
template <typename S> struct TileGroup {
  int Group;
  bool Own;
  const unsigned char *Tile[2];

  template <typename Store>
  __device__ __forceinline__ TileGroup(const Store &,
                                       const unsigned char *__restrict__ W)
      : Group(blockIdx.x * 4 + warpOf() % 4), Own(Group < Store::Groups) {
#pragma unroll
    for (int R = 0; R != 2; ++R)
      Tile[R] = W + static_cast<size_t>(
                        Store::tile(Own ? Group : Store::Groups - 1, R)) *
                        Fragment<S::WType, S::K>::TileBytes;
  }
  using F = Fragment<S::WType, S::K>;
  /// Four scales of each row and step leave no registers to load them ahead:
  /// sm_120 would spill.
  enum : bool { Ahead = F::Together < 4 };
  __device__ __forceinline__ void load(int Step,
                                       typename F::Step (&To)[2]) const {
    F::template load<false>(Tile[0], Step, To[0]);
    F::template load<false>(Tile[1], Step, To[1]);
  }
  /// The weights of the first step, when they are loaded ahead.
  __device__ __forceinline__ void loadFirst(typename F::Step (&To)[2]) const {
    if constexpr (Ahead)
      load(0, To);
  }
};

/// Products of the warp's tiles with tokens 0 … Count - 1 of the block, whose
/// numbers for To begin with Row0. Next is what G.loadFirst gave.
template <typename S, typename Store, typename Rows>
__device__ __forceinline__ void
tileTokens(const Store &To, TileShared<S> &Sh, const TileGroup<S> &G,
           typename Fragment<S::WType, S::K>::Step (&Next)[2], int Row0,
           int Count, const Rows &RowOf) {
  using F = Fragment<S::WType, S::K>;
  int Token0 = warpOf() / 4 * GroupTokens;
  constexpr bool Ahead = TileGroup<S>::Ahead;
  typename F::Step Now[2];
#pragma unroll
  for (int I = 0; I != S::Stages - 1; ++I)
    copyStep<S>(Sh, I, RowOf);
  float Sum[2][GroupTiles][4] = {}, Whole[2][GroupTiles][4] = {};
#pragma unroll 1
  for (int Step = 0; Step != F::Steps; ++Step) {
    if constexpr (!Ahead)
      G.load(Step, Now);
    waitCopies<S::Stages - 2>();
    __syncthreads();
    copyStep<S>(Sh, Step + S::Stages - 1, RowOf);
    if constexpr (Ahead) {
      Now[0] = Next[0];
      Now[1] = Next[1];
    }
    if (Ahead && Step + 1 < F::Steps)
      G.load(Step + 1, Next);
    const unsigned char *Stage =
        &Sh.Stage[Step % S::Stages][0][0] + Token0 * 64 + laneOf() * 16;
    addStep<F, 2, GroupTiles>(Sum, Now, [&](int J, int H, unsigned (&B)[4]) {
      Quad Q = *reinterpret_cast<const Quad *>(
          Stage + H * TileShared<S>::HalfBytes + J * 512);
      B[0] = Q.X;
      B[1] = Q.Y;
      B[2] = Q.Z;
      B[3] = Q.W;
    });
    if ((Step + 1) % Segments<S>::Each == 0 || Step + 1 == F::Steps)
#pragma unroll
      for (int R = 0; R != 2; ++R)
#pragma unroll
        for (int J = 0; J != GroupTiles; ++J) {
          finishSegment<F>(Sum[R][J], Now[R]);
#pragma unroll
          for (int I = 0; I != 4; ++I) {
            Whole[R][J][I] += Sum[R][J][I];
            Sum[R][J][I] = 0.0f;
          }
        }
  }
#pragma unroll
  for (int J = 0; J != GroupTiles; ++J) {
    float Result[2][4];
#pragma unroll
    for (int I = 0; I != 4; ++I) {
      Result[0][I] = Whole[0][J][I];
      Result[1][I] = Whole[1][J][I];
    }
    int Token = Token0 + J * 8;
    if (G.Own && Token < Count)
      To.store(G.Group, Row0 + Token, Row0 + Count - 1, Result);
  }
}

template <typename S, typename Store>
__device__ __forceinline__ void tileProduct(const Store &To, int Total,
                                            const unsigned char *__restrict__ W,
                                            const unsigned char *Xq) {
  using F = Fragment<S::WType, S::K>;
  __shared__ TileShared<S> Sh;
  int Row0 = blockIdx.y * TileShared<S>::Tokens;
  if constexpr (S::Early)
    launchDependents();
  if (Row0 >= Total) {
    if constexpr (S::Early)
      waitForEarlier();
    return;
  }
  TileGroup<S> G(To, W);
  typename F::Step Next[2];
  G.loadFirst(Next);
  if constexpr (S::Early)
    waitForEarlier();
  int Last = Total - 1;
  tileTokens<S>(To, Sh, G, Next, Row0, Total - Row0, [&](int Token) {
    int Row = Row0 + Token < Last ? Row0 + Token : Last;
    return Xq + static_cast<size_t>(Row) * S::XqStride;
  });
}

} // namespace llmc
