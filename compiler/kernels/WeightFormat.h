// The packed form of quantised weights, in panels of 16 rows, as a number: it
// is the `wtype` constant of kernels and the layout id of packed tensors. Codes
// of 2, 4 or 8 bits with a scale and a zero point per block of columns (or per
// row). Apart from the catalogue, so that freestanding kernels, the packer and
// the planner can include it.
//
// A panel is a list of records of RecordCols columns (all of K with one block
// per row): first the codes, then per block 16 scales, then per block 16 zero
// points. Codes lie in lines of 64 bytes, 4 bytes per row; the bytes j of a
// line hold columns j, 4 + j, 8 + j, … from the lowest bits up, so that a line
// is 4 columns of 8 bits, 8 of 4 or 16 of 2, and the bits of one column of 16
// rows are one shift and mask of 16 dwords. Signed codes have half their range
// added. Columns behind K have code 0.
//
//   weight = (code - zero) * scale, each operation rounded to f32,
//            with a minimum instead of a zero point code * scale + minimum
#ifndef LLMC_COMPILER_KERNELS_WEIGHTFORMAT_H
#define LLMC_COMPILER_KERNELS_WEIGHTFORMAT_H

#include <stdint.h>

namespace llmc::kernels {

/// What a code stands for.
enum class CodeKind : uint8_t {
  Integer = 0,
  Table = 1, ///< one of 16 values, in front of the first panel (64 bytes)
  F8E4M3 = 2,
  F8E5M2 = 3,
  F8E4M3Z = 4, ///< bias one higher
  F8E5M2Z = 5
};
enum class ZeroKind : uint8_t {
  None = 0,
  Middle = 1, ///< 2^(bits - 1)
  Byte = 2,   ///< u8 per block and row
  Float = 3,  ///< f32 per block and row
  Minimum = 4 ///< no zero point; an addend of the type of the scales
};

struct WeightFormat {
  CodeKind Kind;
  uint8_t Bits;   ///< 2, 4 or 8
  bool HalfScale; ///< f16, else f32
  ZeroKind Zero;
  uint32_t Block; ///< columns, a multiple of 16; 0: the whole row

  /// Columns of a record; Block 0: as many as K.
  constexpr int64_t recordCols(int64_t K) const {
    if (Block == 0)
      return (K + 63) / 64 * 64;
    return Block >= 64 ? int64_t(Block) : 64 / Block * int64_t(Block);
  }
  constexpr int64_t blocksPerRecord() const {
    return Block == 0 || Block >= 64 ? 1 : 64 / int64_t(Block);
  }
  constexpr int64_t records(int64_t K) const {
    return (K + recordCols(K) - 1) / recordCols(K);
  }
  constexpr int64_t codeBytes(int64_t K) const {
    // Whole lines: 64 columns of any width are whole lines, blocks of a
    // multiple of 16, too.
    return recordCols(K) * Bits * 2;
  }
  constexpr int64_t scaleBytes() const { return HalfScale ? 32 : 64; }
  constexpr int64_t zeroBytes() const {
    if (Zero == ZeroKind::Minimum)
      return scaleBytes();
    return Zero == ZeroKind::Byte ? 16 : (Zero == ZeroKind::Float ? 64 : 0);
  }
  constexpr int64_t recordBytes(int64_t K) const {
    return codeBytes(K) + blocksPerRecord() * (scaleBytes() + zeroBytes());
  }
  constexpr int64_t panelBytes(int64_t K) const {
    return records(K) * recordBytes(K);
  }
  /// Bytes in front of the first panel.
  constexpr int64_t headerBytes() const {
    return Kind == CodeKind::Table ? 64 : 0;
  }
};

/// Marks numbers of formats among those of WeightType.
constexpr int64_t QuantizedFlag = int64_t(1) << 30;
constexpr bool isQuantized(int64_t WType) { return WType & QuantizedFlag; }

/// Added to the number of a format: the same codes in the order of mma
/// fragments instead of panels (FragmentFormat.h).
constexpr int64_t FragmentFlag = int64_t(1) << 7;

constexpr int64_t numberOf(WeightFormat F) {
  int64_t Log = F.Bits == 2 ? 1 : (F.Bits == 4 ? 2 : 3);
  return QuantizedFlag | int64_t(F.Kind) | Log << 4 |
         int64_t(F.HalfScale ? 1 : 0) << 8 | int64_t(F.Zero) << 9 |
         int64_t(F.Block / 16) << 12;
}
constexpr WeightFormat formatOf(int64_t WType) {
  return {static_cast<CodeKind>(WType & 15),
          static_cast<uint8_t>(1 << (WType >> 4 & 7)), (WType >> 8 & 1) == 1,
          static_cast<ZeroKind>(WType >> 9 & 7),
          static_cast<uint32_t>((WType >> 12 & 0x3ffff) * 16)};
}
/// Largest block that the number of a format can hold.
constexpr uint32_t MaxFormatBlock = 0x3ffff * 16;

/// p16.w8b32: bytes with 128 added, f16 scales of blocks of 32.
constexpr WeightFormat Int8Format = {CodeKind::Integer, 8, true,
                                     ZeroKind::Middle, 32};

/// What --int4 makes of floats: a scale and a minimum per block of 32.
constexpr WeightFormat Int4Format = {CodeKind::Integer, 4, true,
                                     ZeroKind::Minimum, 32};

/// Whether the kernels multiply this weight type with int8 activations, too:
/// integer codes whose blocks are made of whole blocks of activations (32).
constexpr bool hasIntegerDot(int64_t WType) {
  constexpr int64_t Int8 = 1; // WI8B32
  if (!isQuantized(WType))
    return WType == Int8;
  WeightFormat F = formatOf(WType);
  return F.Kind == CodeKind::Integer && F.Block % 32 == 0 &&
         F.Zero != ZeroKind::Float;
}

} // namespace llmc::kernels

#endif // LLMC_COMPILER_KERNELS_WEIGHTFORMAT_H
