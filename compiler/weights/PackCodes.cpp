// Repacks codes of the file into the packed formats of
// compiler/kernels/WeightFormat.h, in panels or row by row: the same codes,
// scales and zero points in another order, so nothing is rounded. (A scale that
// the format holds as f16 was f16 in the file.)
#include "compiler/weights/PackCodes.h"

#include "compiler/kernels/FragmentFormat.h"
#include "compiler/weights/PackFragments.h"
#include "compiler/weights/RowFormat.h"
#include "runtime/base/Half.h"

#include <algorithm>
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

void putNumber(uint8_t *To, float V, bool Half) {
  uint16_t H = floatToF16(V);
  if (Half)
    put(To, &H, sizeof H);
  else
    put(To, &V, sizeof V);
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

void putRows(WeightFormat F, uint64_t Cols, const CodePanel &Panel,
             uint64_t Rows, uint8_t *To) {
  RowFormat Form{F, Cols};
  for (uint64_t R = 0; R < Rows; ++R, To += Form.rowBytes()) {
    for (uint64_t C = 0; C < Cols; ++C)
      To[C * F.Bits / 8] = static_cast<uint8_t>(To[C * F.Bits / 8] |
                                                Panel.Codes[C * PanelRows + R]
                                                    << C * F.Bits % 8);
    for (uint64_t B = 0; B < Panel.Scales.size() / PanelRows; ++B) {
      float Scale = Panel.Scales[B * PanelRows + R],
            Zero = Panel.Zeros[B * PanelRows + R];
      uint8_t *ZeroAt = To + Form.zeroAt() + B * Form.zeroBytes();
      putNumber(To + Form.scaleAt() + B * Form.scaleBytes(), Scale,
                F.HalfScale);
      if (F.Zero == ZeroKind::Byte)
        *ZeroAt = static_cast<uint8_t>(Zero);
      else if (Form.zeroBytes() != 0)
        putNumber(ZeroAt, Zero, Form.zeroBytes() == 2);
    }
  }
}

Status packCodes(const PackedTensor &T, const Gather &Rows, uint64_t Begin,
                 uint64_t End, PackedRows &Out) {
  WeightFormat F = formatOf(T.Form);
  uint64_t Block = F.Block ? F.Block : T.Cols;
  uint64_t PanelBytes =
      isFragment(T.Form)
          ? packedBytes(T.Form, PanelRows, T.Cols)
          : static_cast<uint64_t>(F.panelBytes(static_cast<int64_t>(T.Cols)));
  uint64_t RowBytes = RowFormat{F, T.Cols}.rowBytes();
  if (Begin == 0 && F.headerBytes()) {
    const float *Book = codebookOf(T.Sources.front().Quantized->How);
    Out.Data.resize(static_cast<size_t>(F.headerBytes()));
    put(Out.Data.data(), Book, Out.Data.size());
  }
  CodePanel Panel;
  for (uint64_t Row = Begin; Row < End; Row += PanelRows) {
    LLMC_RETURN_IF_ERROR(Rows.codePanel(Row, Block, Panel));
    size_t At = Out.Data.size();
    uint64_t Count = std::min<uint64_t>(PanelRows, End - Row);
    Out.Data.resize(At + (isRows(T.Form) ? Count * RowBytes : PanelBytes), 0);
    if (isRows(T.Form))
      putRows(F, T.Cols, Panel, Count, Out.Data.data() + At);
    else if (isFragment(T.Form))
      putFragments(T.Form, T.Cols, Panel, Out.Data.data() + At);
    else
      putPanel(F, T.Cols, Panel, Out.Data.data() + At);
    Out.Errors.push_back({});
  }
  return Status::success();
}

} // namespace llmc
