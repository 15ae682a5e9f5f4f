// linear_attention: a thread takes whole (sequence, KV head) pairs and walks
// through the sequence's rows in order, 16 value features at a time: columns of
// the matrix do not depend on each other.
#include "compiler/kernels/cpu/Kv.h"
#include "compiler/kernels/cpu/Math.h"

using namespace llmc::kernels;

namespace {
inline namespace LLMC_ISA {

struct Layer {
  const float *Q, *K, *V, *Decay, *Beta;
  uint8_t *Kv;
  float *Out;
  int64_t Heads, KvHeads, HeadDim, VHeadDim, DecayDim, Delta, Block, PageStride;
  float Scale;
};

LLMC_INLINE float *matrixAt(const LlmcCtx *C, const Layer &L, int64_t Row,
                            int64_t Pos, int64_t Head) {
  return reinterpret_cast<float *>(L.Kv + pageOf(C, Row, Pos) * L.PageStride +
                                   Head * L.Block);
}

/// exp of one number as the vectors do it.
LLMC_INLINE float expOne(float X) { return exp(splat(X))[0]; }

LLMC_SHARED void step(const LlmcCtx *C, const Layer &L, int64_t T, int64_t H) {
  int64_t Pos = positions(C)[T], D = L.VHeadDim, Unit = T * L.KvHeads + H;
  float *S = matrixAt(C, L, T, Pos, H);
  const float *Before =
      Pos % PageTokens == 0 && Pos > 0 ? matrixAt(C, L, T, Pos - 1, H) : S;
  const float *Key = L.K + Unit * L.HeadDim;
  int64_t Group = L.Heads / L.KvHeads;
  for (int64_t J = 0; J < D; J += 16) {
    int64_t N = D - J < 16 ? D - J : 16;
    auto Put = [&](float *To, VF X) __attribute__((always_inline)) {
      if (N == 16)
        store(To, X);
      else
        storePart(To, X, N);
    };
    VF Sum = splat(0);
    for (int64_t I = 0; I < L.HeadDim; ++I) {
      VF X = Pos == 0 ? splat(0) : loadRow(Before + I * D, J, D);
      if (L.DecayDim)
        X = X * splat(expOne(
                    L.Decay[Unit * L.DecayDim + (L.DecayDim > 1 ? I : 0)]));
      Put(S + I * D + J, X);
      Sum = fma(splat(Key[I]), X, Sum);
    }
    VF New = loadRow(L.V + Unit * D, J, D);
    if (L.Delta)
      New = New - Sum;
    if (L.Beta)
      New = New * splat(L.Beta[Unit]);
    for (int64_t I = 0; I < L.HeadDim; ++I)
      Put(S + I * D + J, fma(splat(Key[I]), New, loadRow(S + I * D, J, D)));
    for (int64_t G = 0; G < Group; ++G) {
      int64_t Query = T * L.Heads + H * Group + G;
      VF O = splat(0);
      for (int64_t I = 0; I < L.HeadDim; ++I)
        O = fma(splat(L.Q[Query * L.HeadDim + I]), loadRow(S + I * D, J, D), O);
      Put(L.Out + Query * D + J, O * splat(L.Scale));
    }
  }
}

} // namespace LLMC_ISA
} // namespace

extern "C" void
LLMC_KERNEL(linear_attention)(const LlmcCtx *C, const float *Q, const float *K,
                              const float *V, const float *Decay,
                              const float *Beta, uint8_t *Kv, float *Out,
                              int64_t Heads, int64_t KvHeads, int64_t HeadDim,
                              int64_t VHeadDim, int64_t DecayDim, int64_t Delta,
                              int64_t Block, int64_t PageStride, float Scale) {
  Layer L{Q,     K,     V,          Decay,   Beta,     Kv,
          Out,   Heads, KvHeads,    HeadDim, VHeadDim, DecayDim,
          Delta, Block, PageStride, Scale};
  int64_t Sequences = C->counts->sequences, Tokens = C->counts->tokens;
  Range Mine = share(C, Sequences * KvHeads);
  for (int64_t U = Mine.Begin; U < Mine.End; ++U)
    for (int64_t T = 0; T < Tokens; ++T)
      if (rowSequence(C)[T] == U / KvHeads)
        step(C, L, T, U % KvHeads);
}
