// Scratch of the CUDA kernels that is sized outside of them. Freestanding: the
// numbers are repeated in compiler/kernels/cuda, where texts have no includes.
#ifndef LLMC_COMPILER_KERNELS_CUDASCRATCH_H
#define LLMC_COMPILER_KERNELS_CUDASCRATCH_H

#include <cstdint>

namespace llmc::kernels {

/// Rows of a step whose attention may be split by segments: PartialRows of
/// AttentionDecode.cuh.
constexpr int64_t CudaPartialRows = 8;
constexpr int64_t CudaSegmentTokens = 256;

/// Bytes of `partial`, whatever T (an exe.slot with per_token = 0): for every
/// row, segment and head the maximum, the sum, two unused and the values.
constexpr int64_t cudaPartialBytes(int64_t Heads, int64_t VHeadDim,
                                   int64_t MaxContext) {
  int64_t Segments = (MaxContext + CudaSegmentTokens - 1) / CudaSegmentTokens;
  return CudaPartialRows * Segments * Heads * (VHeadDim + 4) * 4;
}

/// Bytes of the keys and values of one head in a page. A cache of codes (8
/// bits) has an f32 per token for each half.
constexpr int64_t kvBlockBytes(int64_t Dim, int64_t VDim, int64_t Tokens,
                               int64_t Bits) {
  return (Dim + VDim) * Tokens * Bits / 8 + (Bits == 8 ? 2 * 4 * Tokens : 0);
}

} // namespace llmc::kernels

#endif // LLMC_COMPILER_KERNELS_CUDASCRATCH_H
