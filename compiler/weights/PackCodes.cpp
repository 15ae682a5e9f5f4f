// Repacks codes of the file into the packed formats of
// compiler/kernels/WeightFormat.h: the same codes, scales and zero points in
// another order, so nothing is rounded. (A scale that the format holds as f16
// was f16 in the file.)
#include "compiler/weights/PackCodes.h"

#include "runtime/base/Half.h"

#include <cstring>

namespace llmc {
namespace {

using kernels::WeightFormat;
using kernels::ZeroKind;

constexpr uint64_t LineBytes = 64;

void put(uint8_t *To, const void *From, size_t Bytes) {
  std::memcpy(To, From, Bytes);
}

/// Sets the bits of one column of 16 rows.
void putColumn(uint8_t *Record, uint64_t Bits, uint64_t Col,
               const uint8_t *Codes) {
  uint64_t LineCols = 32 / Bits; // 4 bytes per row
  uint8_t *Line = Record + Col / LineCols * LineBytes + Col % 4;
  uint64_t Shift = Col % LineCols / 4 * Bits;
  for (uint64_t R = 0; R < PanelRows; ++R)
    Line[R * 4] = static_cast<uint8_t>(Line[R * 4] | Codes[R] << Shift);
}

void putScales(uint8_t *To, const float *Scales, bool Half) {
  if (!Half)
    return put(To, Scales, PanelRows * sizeof(float));
  uint16_t Halves[PanelRows];
  for (uint64_t R = 0; R < PanelRows; ++R)
    Halves[R] = floatToF16(Scales[R]);
  put(To, Halves, sizeof Halves);
}

void putZeros(uint8_t *To, const float *Zeros, ZeroKind Kind) {
  if (Kind == ZeroKind::Float)
    return put(To, Zeros, PanelRows * sizeof(float));
  if (Kind == ZeroKind::Byte)
    for (uint64_t R = 0; R < PanelRows; ++R)
      To[R] = static_cast<uint8_t>(Zeros[R]);
}
} // namespace

void putPanel(WeightFormat F, uint64_t Cols, const CodePanel &Panel,
              uint8_t *To) {
  uint64_t RecordCols =
      static_cast<uint64_t>(F.recordCols(static_cast<int64_t>(Cols)));
  uint64_t RecordBytes =
      static_cast<uint64_t>(F.recordBytes(static_cast<int64_t>(Cols)));
  uint64_t CodeBytes =
      static_cast<uint64_t>(F.codeBytes(static_cast<int64_t>(Cols)));
  uint64_t PerRecord = static_cast<uint64_t>(F.blocksPerRecord());
  uint64_t ScaleBytes = static_cast<uint64_t>(F.scaleBytes());
  uint64_t ZeroBytes = static_cast<uint64_t>(F.zeroBytes());
  for (uint64_t C = 0; C < Cols; ++C)
    putColumn(To + C / RecordCols * RecordBytes, F.Bits, C % RecordCols,
              Panel.Codes.data() + C * PanelRows);
  for (uint64_t B = 0; B < Panel.Scales.size() / PanelRows; ++B) {
    uint8_t *Scales = To + B / PerRecord * RecordBytes + CodeBytes;
    uint8_t *Zeros = Scales + PerRecord * ScaleBytes;
    putScales(Scales + B % PerRecord * ScaleBytes,
              Panel.Scales.data() + B * PanelRows, F.HalfScale);
    if (F.Zero == ZeroKind::Minimum)
      putScales(Zeros + B % PerRecord * ZeroBytes,
                Panel.Zeros.data() + B * PanelRows, F.HalfScale);
    else
      putZeros(Zeros + B % PerRecord * ZeroBytes,
               Panel.Zeros.data() + B * PanelRows, F.Zero);
  }
}

Status packCodes(const PackedTensor &T, const Gather &Rows, uint64_t Begin,
                 uint64_t End, PackedRows &Out) {
  WeightFormat F = formatOf(T.Form);
  uint64_t Block = F.Block ? F.Block : T.Cols;
  uint64_t PanelBytes =
      static_cast<uint64_t>(F.panelBytes(static_cast<int64_t>(T.Cols)));
  if (Begin == 0 && F.headerBytes()) {
    const float *Book = codebookOf(T.Sources.front().Quantized->How);
    Out.Data.resize(static_cast<size_t>(F.headerBytes()));
    put(Out.Data.data(), Book, Out.Data.size());
  }
  CodePanel Panel;
  for (uint64_t Row = Begin; Row < End; Row += PanelRows) {
    LLMC_RETURN_IF_ERROR(Rows.codePanel(Row, Block, Panel));
    size_t At = Out.Data.size();
    Out.Data.resize(At + PanelBytes, 0);
    putPanel(F, T.Cols, Panel, Out.Data.data() + At);
    Out.Errors.push_back({});
  }
  return Status::success();
}

} // namespace llmc
