// Reading and decoding of quantised rows; see QuantizedRows.h. Every value is
// one subtraction and one product in f32, in the order that Encoding.h gives:
// the same numbers as ONNX Runtime's dequantisation.
#include "compiler/weights/QuantizedRows.h"

#include "compiler/weights/Gather.h"
#include "runtime/base/Half.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

namespace llmc {
namespace {

/// An 8-bit float: Mantissa bits and bias; e4m3 has no infinities.
float smallFloat(uint32_t Bits, int Mantissa, int Bias, bool Unsigned0) {
  uint32_t Magnitude = Bits & 0x7f;
  // As the bits of an f32 whose exponent is off by 127 - Bias; denormals, too.
  float F = std::bit_cast<float>(Magnitude << (23 - Mantissa));
  F = std::ldexp(F, 127 - Bias);
  bool Nan = Unsigned0 ? Bits == 0x80
                       : (Mantissa == 3 ? Magnitude == 0x7f : Magnitude > 0x7c);
  if (Nan)
    return std::nanf("");
  if (!Unsigned0 && Mantissa == 2 && Magnitude == 0x7c)
    F = INFINITY;
  return Bits & 0x80 ? -F : F;
}

bool isSigned(DType T) {
  return T == DType::I8 || T == DType::I16 || T == DType::I32 ||
         T == DType::I64 || T == DType::I4 || T == DType::I2;
}

float integerValue(DType T, uint32_t Bits) {
  unsigned Width = std::min(bitsOf(T), 32u);
  if (!isSigned(T) || !(Bits >> (Width - 1) & 1))
    return static_cast<float>(Bits);
  uint32_t Extended = Width == 32 ? Bits : Bits | ~uint32_t{0} << Width;
  return static_cast<float>(static_cast<int32_t>(Extended));
}
} // namespace

float elementValue(DType Type, uint32_t Bits) {
  switch (Type) {
  case DType::F32:
    return std::bit_cast<float>(Bits);
  case DType::F16:
    return f16ToFloat(static_cast<uint16_t>(Bits));
  case DType::BF16:
    return bf16ToFloat(static_cast<uint16_t>(Bits));
  case DType::F8E4M3:
    return smallFloat(Bits, 3, 7, false);
  case DType::F8E4M3FNUZ:
    return smallFloat(Bits, 3, 8, true);
  case DType::F8E5M2:
    return smallFloat(Bits, 2, 15, false);
  case DType::F8E5M2FNUZ:
    return smallFloat(Bits, 2, 16, true);
  case DType::F8E8M0:
    return Bits == 0xff ? std::nanf("")
                        : std::ldexp(1.0f, static_cast<int>(Bits) - 127);
  default:
    return integerValue(Type, Bits);
  }
}

Status ElementStrip::read(const WeightBytes &From, const Form &How,
                          uint64_t Row, uint64_t Rows, uint64_t Col,
                          uint64_t Cols, const WeightStore &Store,
                          const std::string &Name) {
  F = How;
  FirstRow = Row;
  FirstCol = Col;
  Step = 0;
  if (From.IsInline) {
    FirstRow = FirstCol = 0;
    Raw = From.Data; // few elements
    return Status::success();
  }
  const auto ByteOf = [&](uint64_t R, uint64_t C) {
    return (R * F.RowBits + C * F.Width) / 8;
  };
  const auto EndOf = [&](uint64_t R, uint64_t C) {
    return std::min((R * F.RowBits + C * F.Width + 7) / 8, From.Length);
  };
  if (Col == 0 && Cols * F.Width + 7 >= F.RowBits) {
    uint64_t Start = ByteOf(Row, 0);
    Raw.resize(EndOf(Row + Rows - 1, Cols) - Start);
    return Store.read(From.File, From.Offset + Start, Raw, Name);
  }
  Step = (Cols * F.Width + 7) / 8 + 1;
  Raw.assign(Rows * Step, 0);
  for (uint64_t R = 0; R < Rows; ++R) {
    uint64_t Start = ByteOf(Row + R, Col);
    LLMC_RETURN_IF_ERROR(Store.read(
        From.File, From.Offset + Start,
        std::span(Raw).subspan(R * Step, EndOf(Row + R, Col + Cols) - Start),
        Name));
  }
  return Status::success();
}

uint32_t ElementStrip::bits(uint64_t Row, uint64_t Col) const {
  uint64_t Bit;
  const uint8_t *From = Raw.data();
  if (Step) {
    From += (Row - FirstRow) * Step;
    Bit =
        (Row * F.RowBits + FirstCol * F.Width) % 8 + (Col - FirstCol) * F.Width;
  } else {
    Bit = Row * F.RowBits + Col * F.Width - FirstRow * F.RowBits / 8 * 8;
  }
  From += Bit / 8;
  switch (F.Width) {
  case 8:
    if (Bit % 8 == 0)
      return *From;
    break;
  case 16: {
    uint16_t V;
    std::memcpy(&V, From, sizeof V);
    return V;
  }
  case 32: {
    uint32_t V;
    std::memcpy(&V, From, sizeof V);
    return V;
  }
  default:
    break;
  }
  uint32_t Mask = (1u << F.Width) - 1;
  if (F.HighFirst)
    return *From >> (8 - F.Width - Bit % 8) & Mask;
  uint32_t Two = *From;
  if (Bit % 8 + F.Width > 8)
    Two |= uint32_t{From[1]} << 8;
  return Two >> Bit % 8 & Mask;
}

float ElementStrip::number(uint64_t Row, uint64_t Col) const {
  return elementValue(F.Type, bits(Row, Col));
}

Status QuantizedRows::read(const WeightSource &S, bool Transposed,
                           uint64_t TheBegin, uint64_t End,
                           const WeightStore &Store) {
  const QuantizedParts &Q = *S.Quantized;
  Source = &S;
  How = &Q.How;
  Begin = TheBegin;
  Swapped = Transposed;
  SourceMatrix M = matrixOf(S);
  SourceCols = M.Cols;
  Cols = Transposed ? M.Rows : M.Cols;
  uint64_t Row = Transposed ? 0 : Begin, Rows = Transposed ? M.Rows : End;
  uint64_t Col = Transposed ? Begin : 0, ColEnd = Transposed ? End : M.Cols;
  const ElementStrip::Form CodeForm = {How->Code, codeBits(*How),
                                       codeRowBits(*How), How->HighFirst};
  bool AllCols = Col == 0 && ColEnd == M.Cols;
  LLMC_RETURN_IF_ERROR(Codes.read(S.bytes(), CodeForm, Row, Rows - Row, Col,
                                  AllCols ? How->Pitch : ColEnd - Col, Store,
                                  S.Name));
  if (How->Flat) {
    uint64_t First = (Row * M.Cols + Col) / How->Flat;
    uint64_t Last = ((Rows - 1) * M.Cols + ColEnd - 1) / How->Flat;
    return Scales.read(Q.Scales, ElementStrip::formOf(How->Scale, Last + 1), 0,
                       1, First, Last + 1 - First, Store, S.Name);
  }
  LLMC_RETURN_IF_ERROR(readGroups(Q, M.Cols, Store));
  uint64_t BlockRow = Row / How->BlockRows,
           BlockRows = (Rows - 1) / How->BlockRows + 1 - BlockRow;
  uint64_t BlockCol = How->Groups ? 0 : Col / How->BlockCols;
  uint64_t BlockCols = How->Groups
                           ? How->ScalePitch
                           : (ColEnd - 1) / How->BlockCols + 1 - BlockCol;
  if (How->Turned) {
    std::swap(BlockRow, BlockCol);
    std::swap(BlockRows, BlockCols);
  }
  LLMC_RETURN_IF_ERROR(
      Scales.read(Q.Scales, ElementStrip::formOf(How->Scale, How->ScalePitch),
                  BlockRow, BlockRows, BlockCol, BlockCols, Store, S.Name));
  if (How->Zero == DType::None)
    return Status::success();
  const ElementStrip::Form ZeroForm = {How->Zero, zeroBits(*How),
                                       zeroRowBits(*How), false};
  bool AllZeros = BlockCol == 0 && BlockCols == How->ScalePitch;
  return Zeros.read(Q.Zeros, ZeroForm, BlockRow, BlockRows, BlockCol,
                    AllZeros ? How->ZeroPitch : BlockCols, Store, S.Name);
}

/// The block of scales of each column, where the file chooses it.
Status QuantizedRows::readGroups(const QuantizedParts &Q, uint64_t Width,
                                 const WeightStore &Store) {
  Groups.clear();
  if (!How->Groups)
    return Status::success();
  ElementStrip G;
  LLMC_RETURN_IF_ERROR(G.read(Q.Groups, ElementStrip::formOf(DType::I32, Width),
                              0, 1, 0, Width, Store, Source->Name));
  for (uint64_t C = 0; C < Width; ++C) {
    Groups.push_back(G.bits(0, C));
    if (Groups.back() >= How->ScalePitch)
      return malformedError("weight " + Source->Name +
                            ": a column is in group " +
                            std::to_string(Groups.back()) + " of " +
                            std::to_string(How->ScalePitch));
  }
  return Status::success();
}

QuantizedRows::Place QuantizedRows::blockOf(Place P) const {
  if (How->Flat)
    return {0, (P.Row * SourceCols + P.Col) / How->Flat};
  if (How->Turned)
    return {P.Col / How->BlockCols, P.Row / How->BlockRows};
  return {P.Row / How->BlockRows,
          How->Groups ? Groups[P.Col] : P.Col / How->BlockCols};
}

float QuantizedRows::codeValue(uint32_t Bits) const {
  if (const float *Book = codebookOf(*How))
    return Book[Bits & 15];
  return elementValue(How->Code, Bits);
}

/// What is added to codes to make them unsigned.
float QuantizedRows::codeOffset() const {
  return isInteger(*How) && isSigned(How->Code)
             ? std::ldexp(1.0f, static_cast<int>(bitsOf(How->Code)) - 1)
             : 0.0f;
}

float QuantizedRows::scale(uint64_t Row, uint64_t Col) const {
  Place B = blockOf(placeOf(Row, Col));
  return Scales.number(B.Row, B.Col) * How->Times;
}

float QuantizedRows::zero(uint64_t Row, uint64_t Col) const {
  if (How->Zero == DType::None)
    return How->ZeroValue + codeOffset();
  Place B = blockOf(placeOf(Row, Col));
  return Zeros.number(B.Row, B.Col) + codeOffset();
}

void QuantizedRows::values(uint64_t Row, float *Out, uint64_t Stride) const {
  float Offset = codeOffset(), Scale = 0, Zero = 0;
  Place Last{~uint64_t{0}, ~uint64_t{0}};
  for (uint64_t C = 0; C < Cols; ++C) {
    Place P = placeOf(Row, C), B = blockOf(P);
    if (B.Row != Last.Row || B.Col != Last.Col) {
      Scale = scale(Row, C);
      Zero = zero(Row, C) - Offset;
      Last = B;
    }
    Out[C * Stride] = (codeValue(Codes.bits(P.Row, P.Col)) - Zero) * Scale;
  }
}

void QuantizedRows::codes(uint64_t Row, uint8_t *Out, uint64_t Stride) const {
  uint32_t Flip = codeOffset() != 0 ? 1u << (bitsOf(How->Code) - 1) : 0;
  for (uint64_t C = 0; C < Cols; ++C) {
    Place P = placeOf(Row, C);
    Out[C * Stride] = static_cast<uint8_t>(Codes.bits(P.Row, P.Col) ^ Flip);
  }
}

} // namespace llmc
