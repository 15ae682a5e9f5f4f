// experts: rows by the matrices of the experts that they are routed to. Two
// ways with the same sums.
//
// A few rows (experts): a warp computes two outputs of one row as in linear,
// one expert after the other. Without combine a block works on one slot of a
// row (its Slot-th expert), with combine on all of them. Grid: x = pairs of an
// expert's outputs / 4, y = token rows, z = slots (combine: 1).
//
// Many rows (expertRows): a block is of one expert and takes up to RowTile of
// its rows at a time, so that a weight is read once for them. Grid: x as above,
// y = experts and, without combine, one more block for slots without an expert.
// With combine the products go to scratch, from where expertSums adds them.
//
// Sums over experts are fma chains in ascending order from 0.
namespace llmc {

/// Number of the Slot-th expert whose weight is not 0; Experts: no such one.
/// Called by whole warps.
template <typename S>
__device__ __forceinline__ int routedExpert(const float *Route, int Slot) {
  for (int Base = 0; Base < S::Experts; Base += 32) {
    int E = Base + laneOf();
    bool Chosen = E < S::Experts && Route[E] != 0.0f;
    unsigned Mask = __ballot_sync(FullWarp, Chosen);
    int Count = __popc(Mask);
    if (Slot >= Count) {
      Slot -= Count;
      continue;
    }
    for (; Slot != 0; --Slot)
      Mask &= Mask - 1;
    return Base + __ffs(static_cast<int>(Mask)) - 1;
  }
  return S::Experts;
}

/// Number of the experts before End whose weight is not 0.
template <typename S>
__device__ __forceinline__ int routedBefore(const float *Route, int End) {
  int Count = 0;
  for (int Base = 0; Base < End; Base += 32) {
    int E = Base + laneOf();
    bool Chosen = E < End && Route[E] != 0.0f;
    Count += __popc(__ballot_sync(FullWarp, Chosen));
  }
  return Count;
}

/// The constants of the product of an expert: N rows of all experts' matrices.
template <typename S> struct ExpertProduct : S {
  enum : int {
    N = S::Experts * S::N,
    Each = S::N,
    Pairs = (S::N + 1) / 2,
    Norm = 0
  };
};

/// The two outputs of an expert that this warp has, as packed rows.
template <typename S> struct ExpertPair {
  bool Own;
  int First, Second;

  __device__ __forceinline__ ExpertPair() {
    using P = ExpertProduct<S>;
    int Pair = blockIdx.x * ProductWarps + warpOf();
    Own = Pair < P::Pairs;
    First = 2 * (Own ? Pair : P::Pairs - 1);
    Second = First + 1 < P::Each ? First + 1 : First;
  }
  __device__ __forceinline__ void store(float *To, float A, float B) const {
    To[First] = A;
    if (Second != First)
      To[Second] = B;
  }
};

template <typename S>
__device__ __forceinline__ void
experts(const Counts *C, const float *X, const float *Route,
        const unsigned char *__restrict__ W, const float *__restrict__ Bias,
        float *Out, float *) {
  using P = ExpertProduct<S>;
  __shared__ ProductShared<P> Sh;
  int Row = blockIdx.y, Slot = blockIdx.z;
  if (Row >= static_cast<int>(C->Tokens))
    return;
  const float *Shares = Route + static_cast<size_t>(Row) * S::Experts;
  ExpertPair<S> Pair;
  float A = 0.0f, B = 0.0f;
  for (int I = Slot; I < (S::Combine ? S::Slots : Slot + 1); ++I) {
    int Expert = routedExpert<S>(Shares, I);
    if (Expert == S::Experts)
      break;
    int RowOf[2] = {Expert * P::Each + Pair.First,
                    Expert * P::Each + Pair.Second};
    int SourceOf[RowTile];
#pragma unroll
    for (int T = 0; T != RowTile; ++T)
      SourceOf[T] = S::Combine ? Row * S::Slots + I : Row;
    float Sum[2][RowTile];
    product<P, 1>(Sh, X, SourceOf, nullptr, nullptr, W, RowOf, Sum);
    if constexpr (S::HasBias) {
      Sum[0][0] += Bias[RowOf[0]];
      Sum[1][0] += Bias[RowOf[1]];
    }
    A = S::Combine ? fmaf(Shares[Expert], Sum[0][0], A) : Sum[0][0];
    B = S::Combine ? fmaf(Shares[Expert], Sum[1][0], B) : Sum[1][0];
  }
  size_t To = S::Combine ? Row : static_cast<size_t>(Row) * S::Slots + Slot;
  if (Pair.Own && laneOf() == 0)
    Pair.store(Out + To * P::Each, A, B);
}

/// Zeros where rows have fewer experts than slots.
template <typename S>
__device__ __forceinline__ void expertZeros(const Counts *C, const float *Route,
                                            const ExpertPair<S> &Pair,
                                            float *Out) {
  for (int Row = 0; Row < static_cast<int>(C->Tokens); ++Row) {
    int Count = routedBefore<S>(Route + static_cast<size_t>(Row) * S::Experts,
                                S::Experts);
    if (Pair.Own)
      for (int Slot = Count + laneOf(); Slot < S::Slots; Slot += 32)
        Pair.store(Out + (static_cast<size_t>(Row) * S::Slots + Slot) * S::N,
                   0.0f, 0.0f);
  }
}

/// Up to RowTile rows of one expert: To[Places[t]] gets the outputs of those
/// that are Valid.
template <typename S, int Tile>
__device__ __forceinline__ void
expertTile(ProductShared<ExpertProduct<S>> &Sh, int Expert, unsigned Valid,
           const int (&Places)[RowTile], const ExpertPair<S> &Pair,
           const float *X, const unsigned char *__restrict__ W,
           const float *__restrict__ Bias, float *To) {
  using P = ExpertProduct<S>;
  int RowOf[2] = {Expert * P::Each + Pair.First,
                  Expert * P::Each + Pair.Second};
  int SourceOf[RowTile];
#pragma unroll
  for (int T = 0; T != RowTile; ++T)
    SourceOf[T] = S::Combine ? Places[T] : Places[T] / S::Slots;
  float Sum[2][RowTile];
  product<P, Tile>(Sh, X, SourceOf, nullptr, nullptr, W, RowOf, Sum);
#pragma unroll
  for (int T = 0; T != Tile; ++T) {
    if constexpr (S::HasBias) {
      Sum[0][T] += Bias[RowOf[0]];
      Sum[1][T] += Bias[RowOf[1]];
    }
    if (Pair.Own && (Valid >> T & 1) != 0 && laneOf() == T)
      Pair.store(To + static_cast<size_t>(Places[T]) * P::Each, Sum[0][T],
                 Sum[1][T]);
  }
}

template <typename S>
__device__ __forceinline__ void
expertRows(const Counts *C, const float *X, const float *Route,
           const unsigned char *__restrict__ W, const float *__restrict__ Bias,
           float *Out, float *Scratch) {
  using P = ExpertProduct<S>;
  __shared__ ProductShared<P> Sh;
  ExpertPair<S> Pair;
  int Expert = blockIdx.y, Tokens = static_cast<int>(C->Tokens);
  if (Expert == S::Experts)
    return expertZeros<S>(C, Route, Pair, Out);
  float *To = S::Combine ? Scratch : Out;
  for (int Base = 0; Base < Tokens; Base += 32) {
    int Row = Base + laneOf();
    bool Mine = Row < Tokens &&
                Route[static_cast<size_t>(Row) * S::Experts + Expert] != 0.0f;
    unsigned Left = __ballot_sync(FullWarp, Mine);
    while (Left != 0) { // the same in all warps
      int Places[RowTile] = {};
      unsigned Valid = 0;
#pragma unroll
      for (int T = 0; T != RowTile; ++T) {
        if (Left != 0) {
          int Next = Base + __ffs(static_cast<int>(Left)) - 1;
          int Slot = routedBefore<S>(
              Route + static_cast<size_t>(Next) * S::Experts, Expert);
          Places[T] = Next * S::Slots + Slot;
          Valid |= Slot < S::Slots ? 1u << T : 0u;
        } else {
          Places[T] = Places[0];
        }
        Left &= Left - 1;
      }
      if (Valid == 1)
        expertTile<S, 1>(Sh, Expert, 1, Places, Pair, X, W, Bias, To);
      else
        expertTile<S, RowTile>(Sh, Expert, Valid, Places, Pair, X, W, Bias, To);
    }
  }
}

/// Grid: x = outputs / 128, y = token rows.
template <typename S>
__device__ __forceinline__ void
expertSums(const Counts *C, const float *, const float *Route,
           const unsigned char *__restrict__, const float *__restrict__,
           float *Out, float *Scratch) {
  int Row = blockIdx.y, I = blockIdx.x * blockDim.x + threadIdx.x;
  if (Row >= static_cast<int>(C->Tokens))
    return;
  const float *Shares = Route + static_cast<size_t>(Row) * S::Experts;
  float Sum = 0.0f;
  for (int Slot = 0; Slot != S::Slots; ++Slot) {
    int Expert = routedExpert<S>(Shares, Slot);
    if (Expert == S::Experts)
      break;
    if (I < S::N)
      Sum =
          fmaf(Shares[Expert],
               Scratch[(static_cast<size_t>(Row) * S::Slots + Slot) * S::N + I],
               Sum);
  }
  if (I < S::N)
    Out[static_cast<size_t>(Row) * S::N + I] = Sum;
}

} // namespace llmc
