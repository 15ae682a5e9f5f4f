// Packed weights of every type, element by element and line by line: what the
// tiles and the embedding need to know of a format. All that does not depend on
// the block is in a Decoder, which is made once per product.
#ifndef LLMC_COMPILER_KERNELS_CPU_DECODE_H
#define LLMC_COMPILER_KERNELS_CPU_DECODE_H

#include "compiler/kernels/WeightFormat.h"
#include "compiler/kernels/cpu/Scratch.h"
#include "compiler/kernels/cpu/Step.h"

namespace llmc::kernels {

/// A number as a type, for lambdas that need it at compile time.
template <int N> struct Int {
  static constexpr int Value = N;
};

/// The ways in which a line of codes becomes floats.
enum class CodeClass { Bits8, Bits4, Bits2, Table, Float8 };

constexpr int lineColumns(CodeClass C) {
  return C == CodeClass::Bits2
             ? 16
             : (C == CodeClass::Bits8 || C == CodeClass::Float8 ? 4 : 8);
}

LLMC_INLINE CodeClass classOf(WeightFormat F) {
  if (F.Kind == CodeKind::Table)
    return CodeClass::Table;
  if (F.Kind != CodeKind::Integer)
    return CodeClass::Float8;
  return F.Bits == 8 ? CodeClass::Bits8
                     : (F.Bits == 4 ? CodeClass::Bits4 : CodeClass::Bits2);
}

/// The format of a weight type that has one.
LLMC_INLINE WeightFormat formatOfType(int64_t WType) {
  return WType == WI8B32 ? Int8Format : formatOf(WType);
}
LLMC_INLINE int64_t headerBytes(int64_t WType) {
  return isQuantized(WType) ? formatOf(WType).headerBytes() : 0;
}
LLMC_INLINE int64_t panelBytes(int64_t K, int64_t WType) {
  if (WType == WF32)
    return K * 64;
  if (WType == WF16 || WType == WBF16)
    return K * 32;
  return formatOfType(WType).panelBytes(K);
}

/// bf16: the upper half of an f32.
struct BFloat {
  uint16_t Bits;
};
LLMC_INLINE VF load(const BFloat *P) {
  typedef uint16_t H16 __attribute__((ext_vector_type(16), aligned(2)));
  typedef uint32_t U16 __attribute__((ext_vector_type(16)));
  U16 Wide = __builtin_convertvector(*reinterpret_cast<const H16 *>(P), U16);
  return (VF)(Wide << 16);
}

typedef int32_t VIUnaligned __attribute__((ext_vector_type(16), aligned(1)));
typedef uint8_t VB16 __attribute__((ext_vector_type(16)));
typedef uint8_t VB16Unaligned __attribute__((ext_vector_type(16), aligned(1)));
LLMC_INLINE VI loadInts(const uint8_t *P) {
  return *reinterpret_cast<const VIUnaligned *>(P);
}

struct Decoder {
  int64_t Block;     ///< columns
  int64_t PerRecord; ///< blocks
  int64_t RecordBytes, BlockCodeBytes;
  int64_t ScaleAt, ZeroAt; ///< in a record
  int64_t ScaleBytes, ZeroBytes;
  bool HalfScale;
  ZeroKind Zero;
  float Middle;
  VF Book;          ///< of a table
  int32_t Shift;    ///< of an 8-bit float to the place in an f32
  float Multiplier; ///< that corrects its exponent

  LLMC_MEMBER int64_t record(int64_t B) const {
    return PerRecord == 1 ? B * RecordBytes : B / PerRecord * RecordBytes;
  }
  LLMC_MEMBER int64_t inRecord(int64_t B) const {
    return PerRecord == 1 ? 0 : B % PerRecord;
  }
  /// Where the codes of block B start in a panel.
  LLMC_MEMBER int64_t codesOf(int64_t B) const {
    return record(B) + inRecord(B) * BlockCodeBytes;
  }
  LLMC_MEMBER VF scale(const uint8_t *Panel, int64_t B) const {
    const uint8_t *P = Panel + record(B) + ScaleAt + inRecord(B) * ScaleBytes;
    return HalfScale ? load(reinterpret_cast<const _Float16 *>(P))
                     : load(reinterpret_cast<const float *>(P));
  }
  /// The addend of formats that have one instead of a zero point.
  LLMC_MEMBER VF minimum(const uint8_t *Panel, int64_t B) const {
    const uint8_t *P = Panel + record(B) + ZeroAt + inRecord(B) * ZeroBytes;
    return HalfScale ? load(reinterpret_cast<const _Float16 *>(P))
                     : load(reinterpret_cast<const float *>(P));
  }
  /// Integer zero points less 2^(bits - 1), which dotStart takes out.
  LLMC_MEMBER VI zeroOffset(const uint8_t *Panel, int64_t B,
                            int32_t Half) const {
    if (Zero == ZeroKind::Byte) {
      const uint8_t *P = Panel + record(B) + ZeroAt + inRecord(B) * ZeroBytes;
      return __builtin_convertvector(
                 (VB16)(*reinterpret_cast<const VB16Unaligned *>(P)), VI) -
             splatInt(Half);
    }
    return splatInt(-Half);
  }
  LLMC_MEMBER VF zero(const uint8_t *Panel, int64_t B) const {
    const uint8_t *P = Panel + record(B) + ZeroAt + inRecord(B) * ZeroBytes;
    if (Zero == ZeroKind::Float)
      return load(reinterpret_cast<const float *>(P));
    if (Zero == ZeroKind::Byte)
      return __builtin_convertvector(
          (VB16)(*reinterpret_cast<const VB16Unaligned *>(P)), VF);
    return splat(Middle);
  }
};

/// Header is where the packed matrix starts.
LLMC_INLINE Decoder decoderOf(WeightFormat F, int64_t K,
                              const uint8_t *Header) {
  Decoder D;
  D.Block = F.Block ? int64_t(F.Block) : F.recordCols(K);
  D.PerRecord = F.blocksPerRecord();
  D.RecordBytes = F.recordBytes(K);
  D.BlockCodeBytes = D.Block * F.Bits * 2;
  D.ScaleAt = F.codeBytes(K);
  D.ScaleBytes = F.scaleBytes();
  D.ZeroAt = D.ScaleAt + D.PerRecord * D.ScaleBytes;
  D.ZeroBytes = F.zeroBytes();
  D.HalfScale = F.HalfScale;
  D.Zero = F.Zero;
  D.Middle = F.Zero == ZeroKind::Middle ? float(1 << (F.Bits - 1)) : 0.0f;
  D.Book = splat(0);
  if (F.Kind == CodeKind::Table)
    D.Book = load(reinterpret_cast<const float *>(Header));
  bool E4 = F.Kind == CodeKind::F8E4M3 || F.Kind == CodeKind::F8E4M3Z;
  D.Shift = E4 ? 20 : 21;
  D.Multiplier =
      F.Kind == CodeKind::F8E4M3
          ? 0x1p120f
          : (E4 ? 0x1p119f
                : (F.Kind == CodeKind::F8E5M2 ? 0x1p112f : 0x1p111f));
  return D;
}

/// Column C of a line of 16 rows as floats.
template <CodeClass Class>
LLMC_INLINE VF decode(VI Line, int C, const Decoder &D) {
  if constexpr (Class == CodeClass::Float8) {
    VI Code = Line >> splatInt(8 * C);
    VF Value = asFloat((Code & splatInt(0x7f)) << splatInt(D.Shift)) *
               splat(D.Multiplier);
    return asFloat((VI)Value | (Code & splatInt(0x80)) << splatInt(24));
  } else {
    constexpr int Bits =
        Class == CodeClass::Bits8 ? 8 : (Class == CodeClass::Bits2 ? 2 : 4);
    VI Code = (Line >> splatInt(C % 4 * 8 + C / 4 * Bits)) &
              splatInt((1 << Bits) - 1);
    if constexpr (Class == CodeClass::Table)
      return lookup(D.Book, Code);
    else
      return toFloat(Code);
  }
}

/// Element (R, Column) of a panel, as a scalar.
LLMC_INLINE float decodeOne(WeightFormat F, const Decoder &D,
                            const uint8_t *Panel, int64_t R, int64_t Column) {
  int64_t B = Column / D.Block, C = Column % D.Block;
  int64_t PerLine = 32 / F.Bits, InLine = C % PerLine;
  const uint8_t *Byte =
      Panel + D.codesOf(B) + C / PerLine * 64 + R * 4 + InLine % 4;
  int32_t Code = *Byte >> (InLine / 4 * F.Bits) & ((1 << F.Bits) - 1);
  float Value = static_cast<float>(Code);
  if (F.Kind == CodeKind::Table) {
    Value = D.Book[Code];
  } else if (F.Kind != CodeKind::Integer) {
    Value = __builtin_bit_cast(float, (Code & 0x7f) << D.Shift) * D.Multiplier;
    Value = Code & 0x80 ? -Value : Value;
  }
  if (D.Zero == ZeroKind::Minimum)
    return Value * D.scale(Panel, B)[R] + D.minimum(Panel, B)[R];
  return (Value - D.zero(Panel, B)[R]) * D.scale(Panel, B)[R];
}

} // namespace llmc::kernels

#endif // LLMC_COMPILER_KERNELS_CPU_DECODE_H
