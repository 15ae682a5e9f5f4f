// experts as mma products. A row's bits are those of one token by one expert's
// matrix, whatever rows are beside it; sums over experts are fma chains in
// ascending order from 0, as in Experts.cuh.
//
// Few rows (expertsDecode): a block has one row, and without combine one of its
// slots; the row fills the side of 8 alone, which costs nothing where weights
// are read once per row anyway. Grid: x = groups of tiles of an expert, y =
// token rows, z = slots (combine: 1).
//
// Many rows: expertsPrepare rounds them, notes the expert of each slot and
// clears slots without one; expertsTile (grid: x = rows of an expert / 128, y =
// experts) gathers the rows of its expert, 32 at a time; with combine
// expertsFinish adds the products of a row.
//
// Scratch of a token: prepared rows (combine: of each slot), experts of the
// slots, with combine products of the slots in f32 (kernels/ProductShape.h).
namespace llmc {

template <typename S> struct ExpertScratch {
  enum : int {
    RowBytes = Prepared<S>::Columns * 2,
    Rows = S::Combine ? S::Slots : 1,
    ExpertAt = Rows * RowBytes,
    SumAt = ExpertAt + (S::Slots * 4 + 15) / 16 * 16
  };
  static_assert(S::XqStride >= SumAt, "the plan gives what is used");

  /// Place: token * Slots + slot.
  static __device__ __forceinline__ const unsigned char *
  row(const unsigned char *Xq, int Place) {
    const unsigned char *Token =
        Xq + static_cast<size_t>(Place / S::Slots) * S::XqStride;
    return S::Combine ? Token + Place % S::Slots * RowBytes : Token;
  }
  static __device__ __forceinline__ int *expert(unsigned char *Xq, int Place) {
    return reinterpret_cast<int *>(
               Xq + static_cast<size_t>(Place / S::Slots) * S::XqStride +
               ExpertAt) +
           Place % S::Slots;
  }
  static __device__ __forceinline__ float *sums(unsigned char *Xq, int Place) {
    return reinterpret_cast<float *>(
               Xq + static_cast<size_t>(Place / S::Slots) * S::XqStride +
               SumAt) +
           static_cast<size_t>(Place % S::Slots) * S::N;
  }
};

/// Tiles of one expert; blocks own S::Tiles of them.
template <typename S> struct ExpertTiles {
  enum : int {
    TileCount = S::N / 16,
    Groups = (TileCount + S::Tiles - 1) / S::Tiles
  };
  static_assert(S::N % 16 == 0, "experts begin with a tile");
  static __device__ __forceinline__ int tile(int Group, int R) {
    int T = Group * S::Tiles + R;
    return T < TileCount ? T : TileCount - 1;
  }
  /// Weights of an expert.
  static __device__ __forceinline__ const unsigned char *
  weights(const unsigned char *__restrict__ W, int Expert) {
    return W + static_cast<size_t>(Expert) * TileCount *
                   Fragment<S::WType, S::K>::TileBytes;
  }
};

/// The block's sums of one row and one expert, in warp 0; ends with a barrier.
template <typename S>
__device__ __forceinline__ void
expertProduct(DecodeShared<S> &Sh, const float *X,
              const unsigned char *__restrict__ W, float (&Sum)[S::Tiles][4]) {
  using F = Fragment<S::WType, S::K>;
  WarpSteps<S> Own;
  const unsigned char *Tile[S::Tiles];
  typename F::Step Ring[S::Depth][S::Tiles];
#pragma unroll
  for (int R = 0; R != S::Tiles; ++R)
    Tile[R] = W + static_cast<size_t>(ExpertTiles<S>::tile(blockIdx.x, R)) *
                      F::TileBytes;
  fillRing<S>(Tile, Own, Ring);
  DecodeOperand<S> Rows;
  Rows.Gain = Rows.NormBias = nullptr;
  Rows.At[0] = reinterpret_cast<const unsigned char *>(X);
  Rows.Mean[0] = 0.0f;
  Rows.Inv[0] = 1.0f;
  productSegments<S>(Sh, Tile, Ring, Own.First, Own.End, Rows);
  __syncthreads();
  if (warpOf() == 0)
    sumSegments<S>(Sh, 0, Sum);
  __syncthreads();
}

template <typename S>
__device__ __forceinline__ void
expertsDecode(const Counts *C, const float *X, const float *Route,
              const unsigned char *__restrict__ W,
              const float *__restrict__ Bias, float *Out, unsigned char *) {
  using Tiles = ExpertTiles<S>;
  __shared__ DecodeShared<S> Sh;
  int Row = blockIdx.y, Slot = blockIdx.z;
  if (Row >= static_cast<int>(C->Tokens))
    return;
  const float *Shares = Route + static_cast<size_t>(Row) * S::Experts;
  float Result[S::Tiles][4] = {};
  for (int I = Slot; I < (S::Combine ? S::Slots : Slot + 1); ++I) {
    int Expert = routedExpert<S>(Shares, I); // the same in all warps
    if (Expert == S::Experts)
      break;
    size_t Source = S::Combine ? static_cast<size_t>(Row) * S::Slots + I : Row;
    float Sum[S::Tiles][4];
    expertProduct<S>(Sh, X + Source * S::K, Tiles::weights(W, Expert), Sum);
    if (warpOf() != 0)
      continue;
    float Share = Shares[Expert];
#pragma unroll
    for (int R = 0; R != S::Tiles; ++R)
#pragma unroll
      for (int J = 0; J != 4; ++J) {
        float V = Sum[R][J];
        if constexpr (S::HasBias)
          V += Bias[static_cast<size_t>(Expert) * S::N +
                    Tiles::tile(blockIdx.x, R) * 16 + laneRow(J)];
        Result[R][J] = S::Combine ? fmaf(Share, V, Result[R][J]) : V;
      }
  }
  size_t To = S::Combine ? Row : static_cast<size_t>(Row) * S::Slots + Slot;
  if (warpOf() != 0 || (laneOf() & 3) != 0)
    return; // all eight tokens are the row: the first one is stored
#pragma unroll
  for (int R = 0; R != S::Tiles; ++R)
    if (S::N % (16 * S::Tiles) == 0 ||
        static_cast<int>(blockIdx.x) * S::Tiles + R < Tiles::TileCount)
#pragma unroll
      for (int J = 0; J != 4; J += 2)
        Out[To * S::N + Tiles::tile(blockIdx.x, R) * 16 + laneRow(J)] =
            Result[R][J];
}

/// A block of 256 threads per token row and, with combine, slot (grid y).
template <typename S>
__device__ __forceinline__ void
expertsPrepare(const Counts *C, const float *X, const float *Route,
               const unsigned char *__restrict__, const float *__restrict__,
               float *Out, unsigned char *Xq) {
  using Scratch = ExpertScratch<S>;
  int Row = blockIdx.x;
  if (Row >= static_cast<int>(C->Tokens))
    return;
  int Source = Row * Scratch::Rows + blockIdx.y;
  prepareRow<S>(X + static_cast<size_t>(Source) * S::K, 0.0f, 1.0f, nullptr,
                nullptr,
                Xq + static_cast<size_t>(Row) * S::XqStride +
                    blockIdx.y * Scratch::RowBytes);
  if (blockIdx.y != 0)
    return;
  const float *Shares = Route + static_cast<size_t>(Row) * S::Experts;
  for (int Slot = warpOf(); Slot < S::Slots; Slot += 8) {
    int Expert = routedExpert<S>(Shares, Slot);
    if (laneOf() == 0)
      *Scratch::expert(Xq, Row * S::Slots + Slot) = Expert;
    if (!S::Combine && Expert == S::Experts)
      for (int I = laneOf(); I < S::N; I += 32)
        Out[(static_cast<size_t>(Row) * S::Slots + Slot) * S::N + I] = 0.0f;
  }
}

/// The places (token * Slots + slot) of one expert, GroupTokens at a time.
template <typename S> struct ExpertList {
  enum : int { Threads = TileShared<S>::Threads };
  int Place[TileShared<S>::Tokens];
  int Matches[Threads / 32];
};

/// Where the search for places is: all before Start are Rank places.
struct ExpertSearch {
  int Start = 0, Rank = 0;
};

/// Fills List with places number First …; yields how many there are.
template <typename S>
__device__ __forceinline__ int
gatherPlaces(ExpertList<S> &List, ExpertSearch &At, int Total, int Expert,
             int First, unsigned char *Xq) {
  constexpr int Threads = ExpertList<S>::Threads, Most = TileShared<S>::Tokens;
  __syncthreads(); // the list may still be read
  while (At.Start < Total && At.Rank < First + Most) {
    int Place = At.Start + threadIdx.x;
    bool Mine = Place < Total && *ExpertScratch<S>::expert(Xq, Place) == Expert;
    unsigned Mask = __ballot_sync(FullWarp, Mine);
    if (laneOf() == 0)
      List.Matches[warpOf()] = __popc(Mask);
    __syncthreads();
    int Before = At.Rank - First, All = 0;
#pragma unroll
    for (int W = 0; W != Threads / 32; ++W) {
      Before += W < warpOf() ? List.Matches[W] : 0;
      All += List.Matches[W];
    }
    Before += __popc(Mask & ((1u << laneOf()) - 1));
    if (Mine && Before >= 0 && Before < Most)
      List.Place[Before] = Place;
    __syncthreads();
    if (At.Rank + All > First + Most)
      return Most; // the rest of these is for the next list
    At.Start += Threads;
    At.Rank += All;
  }
  return At.Rank - First;
}

template <typename S> struct ExpertStore : ExpertTiles<S> {
  const ExpertList<S> &List;
  const float *Bias; // of the expert
  float *Out;
  unsigned char *Xq;

  __device__ __forceinline__ ExpertStore(const ExpertList<S> &List,
                                         const float *Bias, float *Out,
                                         unsigned char *Xq)
      : List(List), Bias(Bias), Out(Out), Xq(Xq) {}
  __device__ __forceinline__ void store(int Group, int Token0, int Last,
                                        const float (&C)[S::Tiles][4]) const {
#pragma unroll
    for (int I = 0; I != 4; ++I) {
      int Token = Token0 + laneToken(I);
      if (Token > Last)
        continue;
      int Place = List.Place[Token];
      float *To = S::Combine ? ExpertScratch<S>::sums(Xq, Place)
                             : Out + static_cast<size_t>(Place) * S::N;
      storeFeatures<S>(Bias, Group, I, C,
                       [&](int Feature, float V) { To[Feature] = V; });
    }
  }
};

template <typename S>
__device__ __forceinline__ void
expertsTile(const Counts *C, const float *, const float *,
            const unsigned char *__restrict__ W, const float *__restrict__ Bias,
            float *Out, unsigned char *Xq) {
  using F = Fragment<S::WType, S::K>;
  __shared__ TileShared<S> Sh;
  __shared__ ExpertList<S> List;
  int Expert = blockIdx.y, Total = static_cast<int>(C->Tokens) * S::Slots;
  ExpertStore<S> To(
      List, S::HasBias ? Bias + static_cast<size_t>(Expert) * S::N : Bias, Out,
      Xq);
  TileGroup<S> G(To, ExpertTiles<S>::weights(W, Expert));
  ExpertSearch At;
  for (int First = 0;; First += TileShared<S>::Tokens) {
    int Count = gatherPlaces<S>(List, At, Total, Expert, First, Xq);
    if (Count <= 0)
      break;
    typename F::Step Next[2];
    G.loadFirst(Next);
    tileTokens<S>(To, Sh, G, Next, 0, Count, [&](int Token) {
      return ExpertScratch<S>::row(Xq, List.Place[Token < Count ? Token : 0]);
    });
    waitCopies<0>();
  }
}

/// Grid: x = outputs / 128, y = token rows.
template <typename S>
__device__ __forceinline__ void
expertsFinish(const Counts *C, const float *, const float *Route,
              const unsigned char *__restrict__, const float *__restrict__,
              float *Out, unsigned char *Xq) {
  int Row = blockIdx.y, I = blockIdx.x * blockDim.x + threadIdx.x;
  if (Row >= static_cast<int>(C->Tokens) || I >= S::N)
    return;
  const float *Shares = Route + static_cast<size_t>(Row) * S::Experts;
  float Sum = 0.0f;
  for (int Slot = 0; Slot != S::Slots; ++Slot) {
    int Place = Row * S::Slots + Slot;
    int Expert = *ExpertScratch<S>::expert(Xq, Place);
    if (Expert == S::Experts)
      break;
    Sum = fmaf(Shares[Expert], ExpertScratch<S>::sums(Xq, Place)[I], Sum);
  }
  Out[static_cast<size_t>(Row) * S::N + I] = Sum;
}

} // namespace llmc
