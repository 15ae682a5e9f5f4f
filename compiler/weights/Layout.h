// The packed layouts: their ids and sizes (docs/design/0001-contracts.md,
// "Packed layouts"). Shared by the memory planner and the packer, so that the
// plan's offsets are exactly what the packer writes. No MLIR here.
#ifndef LLMC_COMPILER_WEIGHTS_LAYOUT_H
#define LLMC_COMPILER_WEIGHTS_LAYOUT_H

#include "compiler/kernels/Constants.h"
#include "compiler/kernels/WeightFormat.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace llmc {

/// Besides those with a name the numbers of kernels::WeightFormat, for example
/// "p16.i4b32.f16.z8": integer codes of 4 bits, blocks of 32 (or "row"), f16
/// scales, zero points as bytes (z0: none, zm: in the middle, zf: f32,
/// min: none, but an addend per block); "n.i4b32.f16.z8" the same row by row
/// (RowFormat.h), "m16.i4b32.f16.z8" as mma fragments.
enum class Layout : uint32_t {
  P16F32,   ///< "p16.f32": panels [N/16][K][16] f32
  P16W8B32, ///< "p16.w8b32": [N/16][K/64] records of 1088 bytes
  NF16,     ///< "n.f16": [N][K] f16
  NW8B32,   ///< "n.w8b32": [N][K] s8, then [N][K/32] f16 scales
  VecF32,   ///< "vec.f32": rows x cols f32 as they are
  P16F16,   ///< "p16.f16": panels [N/16][K][16] f16
  P16BF16,  ///< "p16.bf16": the same in bf16
  NF32,     ///< "n.f32": [N][K] f32
  NBF16,    ///< "n.bf16": [N][K] bf16
  M16F16,   ///< "m16.f16": mma fragments (kernels/FragmentFormat.h)
  M16BF16   ///< "m16.bf16": the same in bf16
};

/// The layout of a packed format, and back.
constexpr Layout layoutOf(kernels::WeightFormat F) {
  return static_cast<Layout>(kernels::numberOf(F));
}
/// The same row by row.
inline constexpr uint32_t RowsFlag = uint32_t{1} << 31;
constexpr Layout rowsOf(kernels::WeightFormat F) {
  return static_cast<Layout>(static_cast<uint32_t>(layoutOf(F)) | RowsFlag);
}
constexpr bool isRows(Layout L) {
  return (static_cast<uint32_t>(L) & RowsFlag) != 0;
}
constexpr bool isQuantized(Layout L) {
  return kernels::isQuantized(static_cast<int64_t>(L));
}
constexpr kernels::WeightFormat formatOf(Layout L) {
  return kernels::formatOf(static_cast<int64_t>(L));
}
/// Codes in the order of mma fragments.
constexpr bool isCodeFragment(Layout L) {
  return isQuantized(L) && (static_cast<int64_t>(L) & kernels::FragmentFlag);
}
/// Any layout in that order.
constexpr bool isFragment(Layout L) {
  return L == Layout::M16F16 || L == Layout::M16BF16 || isCodeFragment(L);
}
/// The kernels' number of a layout of fragments.
constexpr int64_t fragmentNumber(Layout L) {
  return L == Layout::M16F16    ? kernels::WM16F16
         : L == Layout::M16BF16 ? kernels::WM16BF16
                                : static_cast<int64_t>(L);
}
/// The same codes, or halves, as fragments; nothing when mma kernels have no
/// such form.
std::optional<Layout> fragmentLayoutOf(Layout L);

/// Rows of a panel of the p16 layouts.
inline constexpr uint64_t PanelRows = 16;
/// Columns of a quantisation block (one scale) of the int8 layouts.
inline constexpr uint64_t BlockCols = 32;
/// A p16.w8b32 record: 64 columns of 16 rows as bytes, then 2 x 16 f16 scales.
inline constexpr uint64_t RecordCols = 64;
inline constexpr uint64_t RecordBytes = 1088;
/// The scales of n.w8b32 start at a multiple of this.
inline constexpr uint64_t ScaleAlign = 256;

/// The layout of that id, or nothing.
std::optional<Layout> layoutOf(std::string_view Id);
/// "p16.f32", …
std::string nameOf(Layout L);

/// Bytes of a packed tensor of Rows x Cols. A vector has Cols = 1. UINT64_MAX
/// when the size does not fit 64 bits.
uint64_t packedBytes(Layout L, uint64_t Rows, uint64_t Cols);
/// The same by id; nothing when the id is unknown.
std::optional<uint64_t> packedBytes(std::string_view Id, uint64_t Rows,
                                    uint64_t Cols);
/// Offset of the scales inside an n.w8b32 tensor.
uint64_t scaleOffsetNW8B32(uint64_t Rows, uint64_t Cols);

} // namespace llmc

#endif // LLMC_COMPILER_WEIGHTS_LAYOUT_H
