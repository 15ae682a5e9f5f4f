// Access to the KV pool and rope of the reference kernels.
#ifndef LLMC_COMPILER_KERNELS_REF_KV_H
#define LLMC_COMPILER_KERNELS_REF_KV_H

#include "compiler/kernels/ref/Product.h"

namespace llmc::kernels::ref {

/// One layer's part of the pool: K transposed [head_dim][64], V [64][v].
struct KvPool {
  const LlmcCtx *Ctx;
  uint8_t *Base;
  int64_t PageStride, HeadDim, VHeadDim, Kind;

  /// Element number Index of the block of (the page of Pos, Head).
  uint8_t *at(int64_t Row, int64_t Pos, int64_t Head, int64_t Index) const {
    const int32_t *Seq =
        static_cast<const int32_t *>(Ctx->args->ptr[LLMC_ARG_ROW_SEQ]);
    const uint32_t *Table =
        static_cast<const uint32_t *>(Ctx->args->ptr[LLMC_ARG_PAGE_TABLE]);
    uint32_t Page = Table[Seq[Row] * Ctx->counts->pages_per_sequence +
                          Pos / LLMC_CPU_PAGE_TOKENS];
    int64_t Block = (HeadDim + VHeadDim) * LLMC_CPU_PAGE_TOKENS;
    return Base + Page * PageStride +
           (Head * Block + Index) * (Kind == KvF32 ? 4 : 2);
  }
  uint8_t *key(int64_t Row, int64_t Pos, int64_t Head, int64_t D) const {
    return at(Row, Pos, Head,
              D * LLMC_CPU_PAGE_TOKENS + Pos % LLMC_CPU_PAGE_TOKENS);
  }
  uint8_t *value(int64_t Row, int64_t Pos, int64_t Head, int64_t D) const {
    return at(Row, Pos, Head,
              HeadDim * LLMC_CPU_PAGE_TOKENS +
                  Pos % LLMC_CPU_PAGE_TOKENS * VHeadDim + D);
  }
  void put(uint8_t *To, float V) const {
    uint16_t H = toHalf(V);
    if (Kind == KvF32)
      std::memcpy(To, &V, 4);
    else
      std::memcpy(To, &H, 2);
  }
  float get(const uint8_t *From) const {
    float V;
    uint16_t H;
    if (Kind == KvF32) {
      std::memcpy(&V, From, 4);
      return V;
    }
    std::memcpy(&H, From, 2);
    return fromHalf(H);
  }
  void writeRow(int64_t Row, int64_t Head, const float *K,
                const float *V) const {
    int64_t Pos =
        static_cast<const int32_t *>(Ctx->args->ptr[LLMC_ARG_POSITIONS])[Row];
    for (int64_t D = 0; D < HeadDim; ++D)
      put(key(Row, Pos, Head, D), K[D]);
    for (int64_t D = 0; D < VHeadDim; ++D)
      put(value(Row, Pos, Head, D), V[D]);
  }
};

/// Rotates the first 2 * Half values; Table is cos[Half], sin[Half].
inline void rotate(float *X, const float *Table, int64_t Half,
                   int64_t Interleaved) {
  for (int64_t I = 0; I < Half; ++I) {
    int64_t A = Interleaved ? 2 * I : I, B = Interleaved ? 2 * I + 1 : I + Half;
    float Xa = X[A], Xb = X[B], Cos = Table[I], Sin = Table[Half + I];
    X[A] = Xa * Cos - Xb * Sin;
    X[B] = Xb * Cos + Xa * Sin;
  }
}

} // namespace llmc::kernels::ref

#endif // LLMC_COMPILER_KERNELS_REF_KV_H
