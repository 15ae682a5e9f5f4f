// Elements of packed matrices of every type, one at a time.
#include "compiler/kernels/WeightFormat.h"
#include "compiler/kernels/ref/Product.h"

namespace llmc::kernels::ref {
namespace {

template <typename T> T read(const uint8_t *P) {
  T V;
  std::memcpy(&V, P, sizeof V);
  return V;
}

float fromBits(uint32_t Bits) {
  float F;
  std::memcpy(&F, &Bits, sizeof F);
  return F;
}

/// An 8-bit float that is neither infinite nor NaN.
float fromFloat8(int32_t Code, CodeKind Kind) {
  bool E4 = Kind == CodeKind::F8E4M3 || Kind == CodeKind::F8E4M3Z;
  bool Higher = Kind == CodeKind::F8E4M3Z || Kind == CodeKind::F8E5M2Z;
  int Mantissa = E4 ? 3 : 2, Bias = (E4 ? 7 : 15) + Higher;
  int Exponent = Code >> Mantissa & (E4 ? 15 : 31);
  int Fraction = Code & ((1 << Mantissa) - 1);
  float V = Exponent == 0
                ? std::ldexp(static_cast<float>(Fraction), 1 - Bias - Mantissa)
                : std::ldexp(static_cast<float>((1 << Mantissa) + Fraction),
                             Exponent - Bias - Mantissa);
  return Code & 0x80 ? -V : V;
}
} // namespace

CodeElement codeElement(const uint8_t *W, int64_t K, int64_t Row, int64_t Col,
                        int64_t WType) {
  WeightFormat F = WType == WI8B32 ? Int8Format : formatOf(WType);
  int64_t Block = F.Block ? int64_t(F.Block) : F.recordCols(K);
  int64_t Record = Col / F.recordCols(K), InRecord = Col % F.recordCols(K);
  int64_t B = InRecord / Block, R = Row % 16;
  const uint8_t *At = W + F.headerBytes() + Row / 16 * F.panelBytes(K) +
                      Record * F.recordBytes(K);
  int64_t PerLine = 32 / F.Bits, InLine = InRecord % PerLine;
  CodeElement E;
  E.Code = At[InRecord / PerLine * 64 + R * 4 + InLine % 4] >>
               (InLine / 4 * F.Bits) &
           ((1 << F.Bits) - 1);
  const uint8_t *Scale = At + F.codeBytes(K) + B * F.scaleBytes();
  const uint8_t *Zero = At + F.codeBytes(K) +
                        F.blocksPerRecord() * F.scaleBytes() +
                        B * F.zeroBytes();
  E.Scale = F.HalfScale ? fromHalf(read<uint16_t>(Scale + R * 2))
                        : read<float>(Scale + R * 4);
  E.Minimum = 0.0f;
  if (F.Zero == ZeroKind::Minimum)
    E.Minimum = F.HalfScale ? fromHalf(read<uint16_t>(Zero + R * 2))
                            : read<float>(Zero + R * 4);
  E.HasMinimum = F.Zero == ZeroKind::Minimum;
  E.Zero = F.Zero == ZeroKind::Middle  ? static_cast<float>(1 << (F.Bits - 1))
           : F.Zero == ZeroKind::Byte  ? static_cast<float>(Zero[R])
           : F.Zero == ZeroKind::Float ? read<float>(Zero + R * 4)
                                       : 0.0f;
  E.Value = static_cast<float>(E.Code);
  if (F.Kind == CodeKind::Table)
    E.Value = read<float>(W + E.Code * 4);
  else if (F.Kind != CodeKind::Integer)
    E.Value = fromFloat8(E.Code, F.Kind);
  return E;
}

float packedValue(const uint8_t *W, int64_t K, int64_t Row, int64_t Col,
                  int64_t WType) {
  int64_t At = (Row / 16 * K + Col) * 16 + Row % 16;
  if (WType == WF32)
    return read<float>(W + At * 4);
  if (WType == WF16)
    return fromHalf(read<uint16_t>(W + At * 2));
  if (WType == WBF16)
    return fromBits(uint32_t(read<uint16_t>(W + At * 2)) << 16);
  CodeElement E = codeElement(W, K, Row, Col, WType);
  if (E.HasMinimum)
    return E.Value * E.Scale + E.Minimum;
  return (E.Value - E.Zero) * E.Scale;
}

} // namespace llmc::kernels::ref
