// linear_attention (reference): row after row, each row's sequence has its
// matrices in the page of the row's position.
#include "compiler/kernels/ref/Kv.h"
#include "compiler/kernels/ref/Ref.h"

#include <algorithm>

using namespace llmc::kernels;
using namespace llmc::kernels::ref;

namespace {
/// Matrix of one head in the page of that position.
float *matrixAt(const LlmcCtx *C, uint8_t *Kv, int64_t PageStride, int64_t T,
                int64_t Pos, int64_t Head, int64_t Block) {
  KvPool P{C, Kv + Head * Block, PageStride, 0, 0, KvF32};
  return reinterpret_cast<float *>(P.at(T, Pos, 0, 0));
}
} // namespace

extern "C" void k_linear_attention_ref(const LlmcCtx *C, const float *Q,
                                       const float *K, const float *V,
                                       const float *Decay, const float *Beta,
                                       uint8_t *Kv, float *Out, int64_t Heads,
                                       int64_t KvHeads, int64_t HeadDim,
                                       int64_t VHeadDim, int64_t DecayDim,
                                       int64_t Delta, int64_t Block,
                                       int64_t PageStride, float Scale) {
  if (C->thread != 0)
    return;
  const int32_t *Positions =
      static_cast<const int32_t *>(C->args->ptr[LLMC_ARG_POSITIONS]);
  int64_t Group = Heads / KvHeads, Size = HeadDim * VHeadDim;
  for (int64_t T = 0; T < int64_t(C->counts->tokens); ++T)
    for (int64_t H = 0; H < KvHeads; ++H) {
      int64_t Pos = Positions[T];
      float *S = matrixAt(C, Kv, PageStride, T, Pos, H, Block);
      if (Pos == 0)
        std::fill_n(S, Size, 0.0f);
      else if (Pos % LLMC_CPU_PAGE_TOKENS == 0)
        std::copy_n(matrixAt(C, Kv, PageStride, T, Pos - 1, H, Block), Size, S);
      const float *Key = K + (T * KvHeads + H) * HeadDim;
      for (int64_t I = 0; I < HeadDim && DecayDim; ++I) {
        float G =
            exp(Decay[(T * KvHeads + H) * DecayDim + (DecayDim > 1 ? I : 0)]);
        for (int64_t J = 0; J < VHeadDim; ++J)
          S[I * VHeadDim + J] *= G;
      }
      for (int64_t J = 0; J < VHeadDim; ++J) {
        float New = V[(T * KvHeads + H) * VHeadDim + J], Sum = 0.0f;
        for (int64_t I = 0; I < HeadDim; ++I)
          Sum = std::fmaf(Key[I], S[I * VHeadDim + J], Sum);
        if (Delta)
          New = New - Sum;
        if (Beta)
          New = New * Beta[T * KvHeads + H];
        for (int64_t I = 0; I < HeadDim; ++I)
          S[I * VHeadDim + J] = std::fmaf(Key[I], New, S[I * VHeadDim + J]);
        for (int64_t G = 0; G < Group; ++G) {
          const float *Query = Q + (T * Heads + H * Group + G) * HeadDim;
          float O = 0.0f;
          for (int64_t I = 0; I < HeadDim; ++I)
            O = std::fmaf(Query[I], S[I * VHeadDim + J], O);
          Out[(T * Heads + H * Group + G) * VHeadDim + J] = O * Scale;
        }
      }
    }
}
