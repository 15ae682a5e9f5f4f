// See PackedFormat.h.
#include "compiler/weights/PackedFormat.h"

#include <cmath>
#include <numeric>

namespace llmc {
namespace {

using kernels::CodeKind;
using kernels::ZeroKind;

std::optional<CodeKind> kindOf(const Encoding &E) {
  if (codebookOf(E))
    return CodeKind::Table;
  switch (E.Code) {
  case DType::F8E4M3:
    return CodeKind::F8E4M3;
  case DType::F8E5M2:
    return CodeKind::F8E5M2;
  case DType::F8E4M3FNUZ:
    return CodeKind::F8E4M3Z;
  case DType::F8E5M2FNUZ:
    return CodeKind::F8E5M2Z;
  default:
    if (isInteger(E) && packedBits(E) <= 8)
      return CodeKind::Integer;
    return std::nullopt;
  }
}

/// Columns of a row that have one scale; 0: all, nothing: no whole blocks.
std::optional<uint64_t> blockOf(const Encoding &E, uint64_t Rows, uint64_t Cols,
                                bool Transposed) {
  if (E.Groups || (E.Flat && Transposed))
    return std::nullopt;
  uint64_t Block = Transposed ? E.BlockRows : E.BlockCols;
  uint64_t Width = Transposed ? Rows : Cols;
  if (E.Flat)
    Block = E.Flat % Width == 0 ? Width : std::gcd(E.Flat, Width);
  if (Block >= Width)
    return 0;
  if (Block % 16 != 0 || Block > kernels::MaxFormatBlock)
    return std::nullopt;
  return Block;
}

ZeroKind zeroOf(const Encoding &E) {
  if (!isInteger(E))
    return E.Zero == DType::None && E.ZeroValue == 0 ? ZeroKind::None
                                                     : ZeroKind::Float;
  if (E.Zero != DType::None)
    return E.Zero >= DType::I8 && bitsOf(E.Zero) <= 8 &&
                   E.Zero != DType::Bool && E.Zero <= DType::U2
               ? ZeroKind::Byte
               : ZeroKind::Float;
  bool Signed =
      E.Code == DType::I8 || E.Code == DType::I4 || E.Code == DType::I2;
  float Middle = std::ldexp(1.0f, static_cast<int>(packedBits(E)) - 1);
  float Zero = E.ZeroValue + (Signed ? Middle : 0);
  if (Zero == 0 || Zero == Middle)
    return Zero == 0 ? ZeroKind::None : ZeroKind::Middle;
  return Zero == std::floor(Zero) && Zero > 0 && Zero < 256 ? ZeroKind::Byte
                                                            : ZeroKind::Float;
}
} // namespace

std::optional<kernels::WeightFormat> packedFormatOf(const Encoding &E,
                                                    uint64_t Rows,
                                                    uint64_t Cols,
                                                    bool Transposed) {
  std::optional<CodeKind> Kind = kindOf(E);
  std::optional<uint64_t> Block = blockOf(E, Rows, Cols, Transposed);
  if (!Kind || !Block)
    return std::nullopt;
  return kernels::WeightFormat{*Kind, static_cast<uint8_t>(packedBits(E)),
                               E.Scale == DType::F16 && E.Times == 1, zeroOf(E),
                               static_cast<uint32_t>(*Block)};
}

} // namespace llmc
