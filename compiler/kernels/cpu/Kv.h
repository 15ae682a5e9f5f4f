// The KV pool as kernels see it: `kv` points at this layer's blocks of page 0.
// A block is K transposed [head_dim][64], then V [64][v_head_dim].
#ifndef LLMC_COMPILER_KERNELS_CPU_KV_H
#define LLMC_COMPILER_KERNELS_CPU_KV_H

#include "compiler/kernels/cpu/Step.h"

namespace llmc::kernels {

constexpr int64_t PageTokens = LLMC_CPU_PAGE_TOKENS;

template <typename T> struct KvBlock {
  T *K, *V;
};

template <typename T>
LLMC_INLINE KvBlock<T> kvBlock(uint8_t *Kv, int64_t PageStride, uint32_t Page,
                               int64_t Head, int64_t HeadDim,
                               int64_t VHeadDim) {
  T *Base = reinterpret_cast<T *>(Kv + Page * PageStride) +
            Head * (HeadDim + VHeadDim) * PageTokens;
  return {Base, Base + HeadDim * PageTokens};
}

/// Rounds one row's key (values at stride 1) into its page.
template <typename T>
LLMC_INLINE void writeKey(const LlmcCtx *C, int64_t Row, uint8_t *Kv,
                          int64_t PageStride, int64_t Head, int64_t HeadDim,
                          int64_t VHeadDim, const float *Key) {
  int64_t Pos = positions(C)[Row];
  T *To =
      kvBlock<T>(Kv, PageStride, pageOf(C, Row, Pos), Head, HeadDim, VHeadDim)
          .K +
      Pos % PageTokens;
  for (int64_t I = 0; I < HeadDim; ++I)
    To[I * PageTokens] = static_cast<T>(Key[I]);
}

template <typename T>
LLMC_INLINE void writeValue(const LlmcCtx *C, int64_t Row, uint8_t *Kv,
                            int64_t PageStride, int64_t Head, int64_t HeadDim,
                            int64_t VHeadDim, const float *Value) {
  int64_t Pos = positions(C)[Row];
  T *To =
      kvBlock<T>(Kv, PageStride, pageOf(C, Row, Pos), Head, HeadDim, VHeadDim)
          .V +
      Pos % PageTokens * VHeadDim;
  for (int64_t I = 0; I < VHeadDim; ++I)
    To[I] = static_cast<T>(Value[I]);
}

/// Rotates the first 2 * Half values of a head in place. Table is the row's
/// cos[Half], sin[Half].
LLMC_INLINE void rotate(float *X, const float *Table, int64_t Half,
                        int64_t Interleaved) {
  for (int64_t I = 0; I < Half; ++I) {
    int64_t A = Interleaved ? 2 * I : I, B = Interleaved ? 2 * I + 1 : I + Half;
    float Xa = X[A], Xb = X[B], Cos = Table[I], Sin = Table[Half + I];
    X[A] = Xa * Cos - Xb * Sin;
    X[B] = Xb * Cos + Xa * Sin;
  }
}

} // namespace llmc::kernels

#endif // LLMC_COMPILER_KERNELS_CPU_KV_H
