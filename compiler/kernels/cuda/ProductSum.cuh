// Sums of the mma products, the same in all their forms: K is cut into at most
// eight segments of whole steps of 64 columns. The products of a segment are
// added in ascending order from 0 (with scales: a sum per block, at most 64,
// then one fma), the segments in ascending order from 0. This depends on K and
// the weights' format alone: not on the number of tokens, the form, the warps
// or the chip.
namespace llmc {

template <typename S> struct Segments {
  using F = Fragment<S::WType, S::K>;
  enum : int {
    Each = (F::Steps + 7) / 8, // steps
    Count = (F::Steps + Each - 1) / Each
  };
};

/// Sum += scale * Part (+ offset * sum of activations), Part of one unit.
template <typename F>
__device__ __forceinline__ void
addScaled(float (&Sum)[4], const typename F::Step &S, int Unit,
          const float (&Part)[4], const float (&Activations)[4]) {
#pragma unroll
  for (int I = 0; I != 4; ++I) {
    float P = Part[I];
    if constexpr (F::Zero == ZeroFloat)
      P = fmaf(-F::offset(S, Unit, I / 2), Activations[I], P);
    Sum[I] = fmaf(P, F::scale(S, Unit, I / 2), Sum[I]);
    if constexpr (F::Zero == ZeroMinimum)
      Sum[I] = fmaf(Activations[I], F::offset(S, Unit, I / 2), Sum[I]);
  }
}

/// One step: Sum[r][j] += tile r times tokens j. B(j, h) gives the registers of
/// half h of the tokens j.
template <typename F, int Tiles, int TokenTiles, typename Operand>
__device__ __forceinline__ void addStep(float (&Sum)[Tiles][TokenTiles][4],
                                        const typename F::Step (&S)[Tiles],
                                        const Operand &B) {
  constexpr unsigned One = 0x3c003c00u;
  const unsigned Ones[4] = {One, One, One, One};
#pragma unroll
  for (int U = 0; U != F::Together; ++U) {
    unsigned A[Tiles][F::Unit][4];
#pragma unroll
    for (int R = 0; R != Tiles; ++R) {
      unsigned Base[2];
      F::bases(S[R], U, Base);
#pragma unroll
      for (int P = 0; P != F::Unit; ++P)
        F::operand(S[R], U * F::Unit + P, Base, A[R][P]);
    }
#pragma unroll
    for (int J = 0; J != TokenTiles; ++J) {
      float Part[Tiles][4], Total[4];
#pragma unroll
      for (int I = 0; I != 4; ++I) {
        Total[I] = 0.0f;
#pragma unroll
        for (int R = 0; R != Tiles; ++R)
          Part[R][I] = 0.0f;
      }
      unsigned W[4]; // two products of a half
#pragma unroll
      for (int P = 0; P != F::Unit; ++P) {
        int Number = U * F::Unit + P, At = Number % 2 * 2;
        if (Number % 2 == 0 || F::Unit == 1)
          B(J, Number / 2, W);
        if constexpr (F::HasOffset)
          mmaTile<F::Brain>(Total, Ones, W[At], W[At + 1]);
#pragma unroll
        for (int R = 0; R != Tiles; ++R)
          if constexpr (F::Direct)
            mmaTile<F::Brain>(Sum[R][J], A[R][P], W[At], W[At + 1]);
          else
            mmaTile<F::Brain>(Part[R], A[R][P], W[At], W[At + 1]);
      }
      if constexpr (!F::Direct)
#pragma unroll
        for (int R = 0; R != Tiles; ++R)
          addScaled<F>(Sum[R][J], S[R], U, Part[R], Total);
    }
  }
}

/// What is left to do for the sum of a segment: the scale of a whole row.
template <typename F>
__device__ __forceinline__ void finishSegment(float (&Sum)[4],
                                              const typename F::Step &S) {
  if constexpr (F::Direct && !F::Halves)
#pragma unroll
    for (int I = 0; I != 4; ++I)
      Sum[I] *= F::scale(S, 0, I / 2);
}

} // namespace llmc
