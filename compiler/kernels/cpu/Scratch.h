// Scratch sizes of the CPU kernels: what plan-arena reserves for the `xq` and
// `partial` buffers of the catalogue. Shared with the kernels themselves, so
// that a plan can never be smaller than what a kernel writes.
//
// `xq` holds the normed (and quantised) rows of a product in the order in which
// the inner loops read them: units of up to 4 rows; see Rows.h. A row may be of
// either class, so every row has room for two planes.
// `partial` holds one (max, sum, weighted sum) record per row, head and segment
// of 256 positions; only steps of at most PartialRows rows are split that way.
#ifndef LLMC_COMPILER_KERNELS_CPU_SCRATCH_H
#define LLMC_COMPILER_KERNELS_CPU_SCRATCH_H

#include "compiler/kernels/Constants.h"

#include <stdint.h>

namespace llmc::kernels {

/// Positions per attention segment (a constant of the numerics).
constexpr int64_t SegmentTokens = 256;
/// Largest number of rows of a step whose attention is split by segments.
constexpr int64_t PartialRows = 8;

constexpr int64_t roundUp(int64_t N, int64_t To) {
  return (N + To - 1) / To * To;
}

/// Bytes of `xq` per row for a product with k inputs. XPolicy as in
/// Catalogue.h: 0 exact f32, 1 int8 blocks of 32 (per block: 2 x 32 values,
/// 2 compensations, 1 scale).
constexpr int64_t xqBytesPerToken(int64_t K, int64_t XPolicy) {
  return XPolicy == 0 ? roundUp(K * 4, 64)
                      : roundUp(roundUp(K, 64) / 32 * 76, 64);
}

/// Bytes of `partial`, whatever T (an exe.slot with per_token = 0).
constexpr int64_t attentionPartialBytes(int64_t Heads, int64_t VHeadDim,
                                        int64_t MaxContext) {
  int64_t Segments = roundUp(MaxContext, SegmentTokens) / SegmentTokens;
  return PartialRows * Heads * Segments * (roundUp(VHeadDim, 16) + 16) * 4;
}

} // namespace llmc::kernels

#endif // LLMC_COMPILER_KERNELS_CPU_SCRATCH_H
