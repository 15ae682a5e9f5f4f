// The packed layouts, panel by panel. A panel is X[K][16] f32; K is padded
// with zeros to whole records, N to whole panels.
#include "compiler/weights/PackPanels.h"

#include "compiler/weights/PackCodes.h"
#include "compiler/weights/PackFragments.h"
#include "compiler/weights/QuantizeInt4.h"
#include "compiler/weights/QuantizeInt8.h"
#include "compiler/weights/RowFormat.h"
#include "runtime/base/Half.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace llmc {
namespace {

constexpr uint64_t LineBytes = 64; ///< 16 rows x 4 columns

/// What the writers of the layouts share.
struct Context {
  const PackedTensor &T;
  PackedRows &Out;
  uint64_t PaddedCols;
  std::vector<float> Panel; ///< [PaddedCols][16]
  uint64_t Rows = 0;        ///< of the present panel, the rest is padding
};

void append(std::vector<uint8_t> &Out, const void *Data, size_t Bytes) {
  const uint8_t *P = static_cast<const uint8_t *>(Data);
  Out.insert(Out.end(), P, P + Bytes);
}

Status tooLarge(const Context &C, float Limit) {
  return unsupportedError("packed tensor " + C.T.Name + " holds values above " +
                          std::to_string(Limit) + ", the largest that layout " +
                          std::string(nameOf(C.T.Form)) +
                          " can hold; compile with --f32");
}

bool within(const Context &C, float Limit) {
  bool Ok = true;
  for (float V : C.Panel)
    Ok &= std::fabs(V) <= Limit;
  return Ok;
}

PanelError sumOf(const Int8Error &E) {
  PanelError Sum;
  for (int R = 0; R < 16; ++R) {
    Sum.Signal += E.Signal[R];
    Sum.Noise += E.Noise[R];
    Sum.Largest = std::max(Sum.Largest, E.Largest[R]);
  }
  return Sum;
}

Status packP16F32(Context &C) {
  append(C.Out.Data, C.Panel.data(), C.Panel.size() * sizeof(float));
  C.Out.Errors.push_back({});
  return Status::success();
}

/// Two blocks of 32 columns per record: 16 lines of 64 bytes, 2 x 16 scales.
Status packP16W8B32(Context &C) {
  if (!within(C, MaxInt8Weight))
    return tooLarge(C, MaxInt8Weight);
  Int8Error Error;
  Int8Block Block;
  size_t At = C.Out.Data.size();
  C.Out.Data.resize(At + C.PaddedCols / RecordCols * RecordBytes);
  for (uint64_t K = 0; K < C.PaddedCols; K += BlockCols) {
    quantizeBlock(C.Panel.data() + K * PanelRows, Block, Error);
    uint8_t *Record = C.Out.Data.data() + At + K / RecordCols * RecordBytes;
    uint64_t Half = K / BlockCols % 2;
    uint8_t *Line = Record + Half * (BlockCols / 4) * LineBytes;
    for (uint64_t I = 0; I < BlockCols; ++I)
      for (uint64_t R = 0; R < PanelRows; ++R)
        Line[I / 4 * LineBytes + R * 4 + I % 4] =
            static_cast<uint8_t>(Block.Q[I][R] + 128);
    std::memcpy(Record + RecordCols * PanelRows + Half * sizeof Block.Scale,
                Block.Scale, sizeof Block.Scale);
  }
  C.Out.Errors.push_back(sumOf(Error));
  return Status::success();
}

/// Two bytes per weight. f16 and bf16 of the file come back exactly.
template <typename ToHalf, typename ToFloat>
Status packHalf(Context &C, float Limit, ToHalf Round, ToFloat Widen) {
  if (!within(C, Limit))
    return tooLarge(C, Limit);
  PanelError Error;
  std::vector<uint16_t> Halves(C.Panel.size());
  for (size_t I = 0; I < C.Panel.size(); ++I) {
    float V = C.Panel[I];
    Halves[I] = Round(V);
    float E = V - Widen(Halves[I]);
    Error.Signal += static_cast<double>(V * V);
    Error.Noise += static_cast<double>(E * E);
    Error.Largest = std::max(Error.Largest, std::fabs(E));
  }
  if (isFragment(C.T.Form)) {
    size_t At = C.Out.Data.size();
    C.Out.Data.resize(At + packedBytes(C.T.Form, PanelRows, C.T.Cols));
    putHalfFragments(C.PaddedCols, Halves.data(), C.Out.Data.data() + At);
  } else {
    append(C.Out.Data, Halves.data(), Halves.size() * sizeof(uint16_t));
  }
  C.Out.Errors.push_back(Error);
  return Status::success();
}

/// Searched codes of 4 bits.
Status packInt4(Context &C) {
  if (!within(C, MaxInt4Weight))
    return tooLarge(C, MaxInt4Weight);
  constexpr uint64_t Block = 32;
  uint64_t Blocks = (C.T.Cols + Block - 1) / Block;
  CodePanel Panel;
  Panel.Codes.resize(C.PaddedCols * PanelRows);
  Panel.Scales.resize(Blocks * PanelRows);
  Panel.Zeros.resize(Blocks * PanelRows);
  Int8Error Error;
  Int4Block Codes;
  for (uint64_t B = 0; B < Blocks; ++B) {
    quantizeInt4(C.Panel.data() + B * Block * PanelRows, Codes, Error);
    std::memcpy(Panel.Codes.data() + B * Block * PanelRows, Codes.Q,
                sizeof Codes.Q);
    std::memcpy(Panel.Scales.data() + B * PanelRows, Codes.Scale,
                sizeof Codes.Scale);
    std::memcpy(Panel.Zeros.data() + B * PanelRows, Codes.Minimum,
                sizeof Codes.Minimum);
  }
  size_t At = C.Out.Data.size();
  bool ByRow = isRows(C.T.Form);
  uint64_t RowBytes = RowFormat{kernels::Int4Format, C.T.Cols}.rowBytes();
  C.Out.Data.resize(At + (ByRow ? C.Rows * RowBytes
                                : packedBytes(C.T.Form, PanelRows, C.T.Cols)));
  if (ByRow)
    putRows(kernels::Int4Format, C.T.Cols, Panel, C.Rows,
            C.Out.Data.data() + At);
  else if (isFragment(C.T.Form))
    putFragments(C.T.Form, C.T.Cols, Panel, C.Out.Data.data() + At);
  else
    putPanel(kernels::Int4Format, C.T.Cols, Panel, C.Out.Data.data() + At);
  C.Out.Errors.push_back(sumOf(Error));
  return Status::success();
}

/// Searched int8 as fragments: bytes with 128 added.
Status packM16Int8(Context &C) {
  if (!within(C, MaxInt8Weight))
    return tooLarge(C, MaxInt8Weight);
  Int8Error Error;
  Int8Block Block;
  CodePanel Panel;
  Panel.Codes.resize(C.PaddedCols * PanelRows);
  for (uint64_t K = 0; K < C.PaddedCols; K += BlockCols) {
    quantizeBlock(C.Panel.data() + K * PanelRows, Block, Error);
    for (uint64_t I = 0; I < BlockCols; ++I)
      for (uint64_t R = 0; R < PanelRows; ++R)
        Panel.Codes[(K + I) * PanelRows + R] =
            static_cast<uint8_t>(Block.Q[I][R] + 128);
    for (uint16_t Scale : Block.Scale)
      Panel.Scales.push_back(f16ToFloat(Scale));
  }
  size_t At = C.Out.Data.size();
  C.Out.Data.resize(At + packedBytes(C.T.Form, PanelRows, C.T.Cols));
  putFragments(C.T.Form, C.PaddedCols, Panel, C.Out.Data.data() + At);
  C.Out.Errors.push_back(sumOf(Error));
  return Status::success();
}

/// Row by row, two bytes per weight.
template <typename ToHalf, typename ToFloat>
Status packNHalf(Context &C, float Limit, ToHalf Round, ToFloat Widen) {
  if (!within(C, Limit))
    return tooLarge(C, Limit);
  PanelError Error;
  for (uint64_t R = 0; R < C.Rows; ++R)
    for (uint64_t K = 0; K < C.T.Cols; ++K) {
      float V = C.Panel[K * PanelRows + R];
      uint16_t H = Round(V);
      float E = V - Widen(H);
      append(C.Out.Data, &H, sizeof H);
      Error.Signal += static_cast<double>(V * V);
      Error.Noise += static_cast<double>(E * E);
      Error.Largest = std::max(Error.Largest, std::fabs(E));
    }
  C.Out.Errors.push_back(Error);
  return Status::success();
}

Status packNW8B32(Context &C) {
  if (!within(C, MaxInt8Weight))
    return tooLarge(C, MaxInt8Weight);
  Int8Error Error;
  Int8Block Block;
  uint64_t Blocks = C.PaddedCols / BlockCols;
  size_t Data = C.Out.Data.size(), Scales = C.Out.Scales.size();
  C.Out.Data.resize(Data + C.Rows * C.PaddedCols);
  C.Out.Scales.resize(Scales + C.Rows * Blocks * 2);
  for (uint64_t B = 0; B < Blocks; ++B) {
    quantizeBlock(C.Panel.data() + B * BlockCols * PanelRows, Block, Error);
    for (uint64_t R = 0; R < C.Rows; ++R) {
      uint8_t *Q = C.Out.Data.data() + Data + R * C.PaddedCols + B * BlockCols;
      for (uint64_t I = 0; I < BlockCols; ++I)
        Q[I] = static_cast<uint8_t>(Block.Q[I][R]);
      std::memcpy(C.Out.Scales.data() + Scales + (R * Blocks + B) * 2,
                  &Block.Scale[R], 2);
    }
  }
  C.Out.Errors.push_back(sumOf(Error));
  return Status::success();
}

Status packVecF32(Context &C) {
  for (uint64_t R = 0; R < C.Rows; ++R)
    for (uint64_t K = 0; K < C.T.Cols; ++K)
      append(C.Out.Data, &C.Panel[K * PanelRows + R], sizeof(float));
  C.Out.Errors.push_back({});
  return Status::success();
}

Status packPanel(Context &C) {
  switch (C.T.Form) {
  case Layout::P16F32:
    return packP16F32(C);
  case Layout::P16W8B32:
    return packP16W8B32(C);
  case Layout::NF16:
    return packNHalf(C, 65504.0f, floatToF16, f16ToFloat);
  case Layout::NBF16:
    return packNHalf(C, 3.38953139e38f, floatToBf16, bf16ToFloat);
  case Layout::NW8B32:
    return packNW8B32(C);
  case Layout::VecF32:
  case Layout::NF32:
    return packVecF32(C);
  case Layout::P16F16:
    return packHalf(C, 65504.0f, floatToF16, f16ToFloat);
  case Layout::P16BF16:
    return packHalf(C, 3.38953139e38f, floatToBf16, bf16ToFloat);
  case Layout::M16F16:
    return packHalf(C, 65504.0f, floatToF16, f16ToFloat);
  case Layout::M16BF16:
    return packHalf(C, 3.38953139e38f, floatToBf16, bf16ToFloat);
  }
  if (C.T.Form == layoutOf(kernels::Int4Format) ||
      C.T.Form == rowsOf(kernels::Int4Format) ||
      C.T.Form == fragmentLayoutOf(layoutOf(kernels::Int4Format)))
    return packInt4(C);
  if (C.T.Form == fragmentLayoutOf(Layout::P16W8B32))
    return packM16Int8(C);
  return internalError("layout " + nameOf(C.T.Form) +
                       " holds codes of the file only");
}

uint64_t paddedCols(const PackedTensor &T) {
  uint64_t Unit = T.Form == Layout::P16W8B32 || isFragment(T.Form)  ? RecordCols
                  : T.Form == Layout::NW8B32 || isQuantized(T.Form) ? BlockCols
                                                                    : 1;
  return (T.Cols + Unit - 1) / Unit * Unit;
}
} // namespace

Status packRows(const PackedTensor &T, const Gather &Rows, uint64_t Begin,
                uint64_t End, PackedRows &Out) {
  Out.Data.clear();
  Out.Scales.clear();
  Out.Errors.clear();
  if (isQuantized(T.Form) && !T.Sources.empty() && T.Sources[0].Quantized)
    return packCodes(T, Rows, Begin, End, Out);
  Context C{T, Out, paddedCols(T), {}};
  C.Panel.resize(C.PaddedCols * PanelRows); // padding stays zero
  for (uint64_t Row = Begin; Row < End; Row += PanelRows) {
    LLMC_RETURN_IF_ERROR(Rows.panel(Row, C.Panel.data()));
    C.Rows = std::min<uint64_t>(PanelRows, End - Row);
    LLMC_RETURN_IF_ERROR(packPanel(C));
  }
  return Status::success();
}

} // namespace llmc
