// The weights of the CUDA products in the order in which mma.sync.m16n8k16
// takes its first operand, so that every lane reads 16 bytes at a time and the
// warp 512 bytes in a row. The kernels (cuda/Fragment.cuh) and the packer
// (weights/PackFragments.cpp) follow this text; ids "m16.…".
//
// A tensor is a list of row tiles of 16 rows, each of tileBytes(): its codes in
// lines of 512 bytes, then its scales, then its zero points. Columns are padded
// to steps of 64. In a step lane l = 4 g + t has of the rows g and g + 8, for
// h = 0, 1 and s = 0, 1, the columns 32 h + 16 s + 4 t + j, j = 0 … 3; they are
// the operand of the k16 product number 2 h + s: registers
//   a0 = (g; j 0, 1)  a1 = (g + 8; j 0, 1)  a2 = (g; j 2, 3)  a3 = (g + 8; …)
// which is any order of columns, as long as the other operand has the same.
// Then lane l needs of a token four neighbouring columns per product: 16 bytes
// of f32, and of rows that are prepared in the order [h][t][s][j] 16 bytes of
// f16 per half.
//
//   16 bits: 4 lines, line 2 h + s: a0 … a3
//    8 bits: 2 lines, line h: words [s][g, g + 8] of bytes j = 0 … 3
//    4 bits: 1 line, word 2 h + s: nibbles from the lowest
//            a0.0 a1.0 a2.0 a3.0 a0.1 a1.1 a2.1 a3.1 (.1 is the odd j)
//    2 bits: half a line (8 bytes per lane), word h: pairs of bits from the
//            lowest s = 0: a0.0 a1.0 a2.0 a3.0, s = 1: the same; then the .1
//
// Scales: per step of 64 columns (per block, when blocks are larger)
// [g 8][blocks of 16 or 32 in the step][g, g + 8], f16 or f32. Zero points
// (Byte) and minima have the same order; a zero point is an f16 number, a float
// zero f32, a minimum has the type of the scales.
#ifndef LLMC_COMPILER_KERNELS_FRAGMENTFORMAT_H
#define LLMC_COMPILER_KERNELS_FRAGMENTFORMAT_H

#include "compiler/kernels/Constants.h"
#include "compiler/kernels/WeightFormat.h"

namespace llmc::kernels {

constexpr int64_t FragmentRows = 16;
constexpr int64_t FragmentCols = 64;

/// True for the numbers of weights in this order.
constexpr bool isFragment(int64_t WType) {
  return WType == WM16F16 || WType == WM16BF16 ||
         (isQuantized(WType) && (WType & FragmentFlag));
}

/// Which packed formats have this form.
constexpr bool hasFragments(WeightFormat F) {
  bool Float = F.Kind != CodeKind::Integer && F.Kind != CodeKind::Table &&
               F.Bits == 8 && F.Zero == ZeroKind::None;
  return (F.Kind == CodeKind::Integer || Float) &&
         (F.Block == 0 || F.Block == 16 || F.Block == 32 || F.Block % 64 == 0);
}

constexpr int64_t fragmentBits(int64_t WType) {
  return isQuantized(WType) ? formatOf(WType).Bits : 16;
}
constexpr int64_t fragmentSteps(int64_t K) {
  return (K + FragmentCols - 1) / FragmentCols;
}
/// Bytes of the codes of a step of a tile.
constexpr int64_t fragmentStepBytes(int64_t WType) {
  return fragmentBits(WType) * FragmentRows * FragmentCols / 8;
}
constexpr int64_t fragmentScaleBytes(int64_t WType) {
  return !isQuantized(WType) ? 0 : formatOf(WType).HalfScale ? 2 : 4;
}
constexpr int64_t fragmentZeroBytes(int64_t WType) {
  if (!isQuantized(WType))
    return 0;
  ZeroKind Zero = formatOf(WType).Zero;
  return Zero == ZeroKind::Byte      ? 2
         : Zero == ZeroKind::Float   ? 4
         : Zero == ZeroKind::Minimum ? fragmentScaleBytes(WType)
                                     : 0;
}
/// Scales of a row that are kept together: those of a step.
constexpr int64_t fragmentBlocksTogether(int64_t WType) {
  int64_t Block = isQuantized(WType) ? formatOf(WType).Block : 0;
  return Block == 16 ? 4 : Block == 32 ? 2 : 1;
}
/// Scales of a row, padded to whole steps.
constexpr int64_t fragmentBlocks(int64_t WType, int64_t K) {
  if (!isQuantized(WType))
    return 0;
  int64_t Block = formatOf(WType).Block;
  if (Block == 0)
    return 1;
  int64_t Together = fragmentBlocksTogether(WType);
  return Together > 1 ? fragmentSteps(K) * Together : (K + Block - 1) / Block;
}
/// Place of a block's scale of a row in the scales of its tile.
constexpr int64_t fragmentScaleIndex(int64_t WType, int64_t Block,
                                     int64_t Row) {
  int64_t Together = fragmentBlocksTogether(WType);
  return ((Block / Together * 8 + Row % 8) * Together + Block % Together) * 2 +
         Row / 8;
}
/// Where the scales of a tile begin.
constexpr int64_t fragmentScaleAt(int64_t WType, int64_t K) {
  return fragmentSteps(K) * fragmentStepBytes(WType);
}
/// Where its zero points begin.
constexpr int64_t fragmentZeroAt(int64_t WType, int64_t K) {
  int64_t Bytes =
      fragmentBlocks(WType, K) * FragmentRows * fragmentScaleBytes(WType);
  return fragmentScaleAt(WType, K) + (Bytes + 127) / 128 * 128;
}
/// Bytes of a tile of 16 rows, a multiple of 128.
constexpr int64_t fragmentTileBytes(int64_t WType, int64_t K) {
  int64_t Bytes =
      fragmentBlocks(WType, K) * FragmentRows * fragmentZeroBytes(WType);
  return fragmentZeroAt(WType, K) + (Bytes + 127) / 128 * 128;
}

} // namespace llmc::kernels

#endif // LLMC_COMPILER_KERNELS_FRAGMENTFORMAT_H
