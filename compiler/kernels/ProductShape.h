// What llm-to-exe and the CUDA back end have to agree on about mma products:
// the scratch row of a token. It holds the normed row in f16 or bf16, padded to
// steps of 64 columns, and, for qkv of head sizes that the product cannot
// rotate itself, the raw sums in f32 behind it.
#ifndef LLMC_COMPILER_KERNELS_PRODUCTSHAPE_H
#define LLMC_COMPILER_KERNELS_PRODUCTSHAPE_H

#include "compiler/kernels/FragmentFormat.h"

namespace llmc::kernels {

/// Whether mma products of qkv rotate and store heads of that size: whole tiles
/// of 16 rows, pairs of a rotation in one lane or in neighbours.
constexpr bool hasTileHeads(int64_t HeadDim, int64_t VHeadDim,
                            int64_t RotaryHalf, bool Interleaved) {
  return HeadDim % 16 == 0 && VHeadDim % 16 == 0 &&
         (RotaryHalf % 16 == 0 || RotaryHalf == 8 || Interleaved);
}

/// Bytes of the scratch row of a product with K inputs and RawRows raw sums.
constexpr int64_t fragmentXqBytes(int64_t K, int64_t RawRows) {
  return fragmentSteps(K) * FragmentCols * 2 + (RawRows * 4 + 15) / 16 * 16;
}

/// Whether experts of N rows each have mma products: they begin with a tile.
constexpr bool hasExpertTiles(int64_t N) { return N % FragmentRows == 0; }

/// Bytes of the scratch row of a product by experts: prepared rows (combine: of
/// each slot), experts of the slots, with combine their products in f32.
constexpr int64_t fragmentExpertBytes(int64_t K, int64_t N, int64_t Slots,
                                      bool Combine) {
  return (Combine ? Slots : 1) * fragmentXqBytes(K, 0) +
         (Slots * 4 + 15) / 16 * 16 + (Combine ? Slots * N * 4 : 0);
}

} // namespace llmc::kernels

#endif // LLMC_COMPILER_KERNELS_PRODUCTSHAPE_H
