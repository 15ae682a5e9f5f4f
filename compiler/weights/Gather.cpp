// Reading of source rows. The rows that a chunk needs from one source are
// sorted and merged into runs when the gap between them is small, so that
// interleaved tensors (gate and up, q and k and v) read each source in a few
// large pieces.
#include "compiler/weights/Gather.h"

#include "runtime/base/Half.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <tuple>

namespace llmc {
namespace {

/// Rows between two needed ones that are read along with them.
constexpr uint64_t MergeGap = 8;

uint64_t bytesOfElement(DType T) { return bitsOf(T) / 8; }

template <typename T> T loadRaw(const uint8_t *P) {
  T V;
  std::memcpy(&V, P, sizeof V);
  return V;
}

/// Copies Count elements, StepBytes apart, to every 16th float of Out: a row
/// into a lane of a panel.
template <typename Load>
void copyRow(const uint8_t *P, uint64_t Count, uint64_t StepBytes, float *Out,
             Load LoadOne) {
  for (uint64_t K = 0; K < Count; ++K)
    Out[K * PanelRows] = LoadOne(P + K * StepBytes);
}

void copyRowOf(DType T, const uint8_t *P, uint64_t Count, uint64_t StepBytes,
               float *Out) {
  switch (T) {
  case DType::F16:
    return copyRow(P, Count, StepBytes, Out, [](const uint8_t *P) {
      return f16ToFloat(loadRaw<uint16_t>(P));
    });
  case DType::BF16:
    return copyRow(P, Count, StepBytes, Out, [](const uint8_t *P) {
      return bf16ToFloat(loadRaw<uint16_t>(P));
    });
  case DType::F64:
    return copyRow(P, Count, StepBytes, Out, [](const uint8_t *P) {
      return static_cast<float>(loadRaw<double>(P));
    });
  default:
    return copyRow(P, Count, StepBytes, Out, loadRaw<float>);
  }
}

/// Copies 16 neighbouring f32 columns of a transposed source: a panel as it
/// lies in memory.
void copyColumns(const uint8_t *P, uint64_t Count, uint64_t StepBytes,
                 float *Out) {
  for (uint64_t K = 0; K < Count; ++K)
    std::memcpy(Out + K * PanelRows, P + K * StepBytes,
                PanelRows * sizeof(float));
}

/// Whether no value is infinite or NaN.
bool allFinite(const float *P, uint64_t Count) {
  uint32_t Bad = 0;
  for (uint64_t I = 0; I < Count; ++I) {
    uint32_t Exponent = std::bit_cast<uint32_t>(P[I]) & 0x7f800000u;
    Bad |= Exponent == 0x7f800000u ? 1u : 0u;
  }
  return Bad == 0;
}
} // namespace

SourceMatrix matrixOf(const WeightSource &S) {
  std::span<const int64_t> Shape(S.Shape);
  while (Shape.size() > 2 && Shape.front() == 1)
    Shape = Shape.subspan(1);
  if (Shape.size() > 2 ||
      std::any_of(Shape.begin(), Shape.end(), [](int64_t D) { return D < 1; }))
    return {};
  if (Shape.empty())
    return {1, 1};
  return {static_cast<uint64_t>(Shape[0]),
          Shape.size() == 2 ? static_cast<uint64_t>(Shape[1]) : 1};
}

/// Finds the runs of rows [Begin, End) and where each row lies in them.
void Gather::collect(uint64_t Begin, uint64_t End) {
  struct Need {
    uint32_t Source;
    bool Transposed;
    uint64_t Begin, End, Row; ///< Row: first logical row
    auto key() const { return std::tuple(Source, Transposed, Begin); }
  };
  std::vector<Need> Needs;
  uint64_t At = 0; // first logical row of the piece
  for (const WeightPiece &P : Tensor->Pieces) {
    uint64_t Low = std::max(At, Begin), High = std::min(At + P.RowCount, End);
    if (Low < High)
      Needs.push_back({P.Source, P.Transposed, P.RowBegin + Low - At,
                       P.RowBegin + High - At, Low});
    At += P.RowCount;
    if (At >= End)
      break;
  }
  std::stable_sort(Needs.begin(), Needs.end(),
                   [](auto &A, auto &B) { return A.key() < B.key(); });
  for (const Need &N : Needs) {
    Run *Last = Runs.empty() ? nullptr : &Runs.back();
    if (Last && Last->Source == N.Source && Last->Transposed == N.Transposed &&
        N.Begin <= Last->End + MergeGap)
      Last->End = std::max(Last->End, N.End);
    else
      Runs.push_back({N.Source, N.Transposed, N.Begin, N.End, {}});
    const Run &R = Runs.back();
    for (uint64_t I = 0; I < N.End - N.Begin; ++I)
      RowMap[N.Row - Begin + I] = {static_cast<uint32_t>(Runs.size() - 1),
                                   N.Begin - R.Begin + I};
  }
}

/// Reads a run: whole rows at once, or the columns of each row of a transposed
/// source.
Status Gather::readRun(Run &R, const WeightStore &Store) const {
  const WeightSource &S = Tensor->Sources[R.Source];
  if (S.Quantized)
    return R.Codes.read(S, R.Transposed, R.Begin, R.End, Store);
  uint64_t Element = bytesOfElement(S.Type), Count = R.End - R.Begin;
  uint64_t Width = matrixOf(S).Cols * Element;
  uint64_t From = R.Begin * (R.Transposed ? Element : Width);
  R.RowStep = R.Transposed ? Element : Width;
  R.ColStep = R.Transposed ? Width : Element;
  if (S.IsInline) {
    R.Data = S.Data.data() + From;
    return Status::success();
  }
  R.Raw.resize(Count * Tensor->Cols * Element);
  R.Data = R.Raw.data();
  uint64_t Strip = Count * Element;
  if (!R.Transposed || Strip == Width)
    return Store.read(S.File, S.Offset + From, R.Raw, S.Name);
  R.ColStep = Strip;
  for (uint64_t K = 0; K < Tensor->Cols; ++K)
    LLMC_RETURN_IF_ERROR(Store.read(S.File, S.Offset + K * Width + From,
                                    std::span(R.Raw).subspan(K * Strip, Strip),
                                    S.Name));
  return Status::success();
}

Status Gather::read(const PackedTensor &T, const WeightStore &Store,
                    uint64_t Begin, uint64_t End) {
  Tensor = &T;
  First = Begin;
  for (Run &R : Runs)
    Spare.push_back(std::move(R.Raw));
  Runs.clear();
  RowMap.assign(End - Begin, {});
  collect(Begin, End);
  for (Run &R : Runs) {
    if (!Spare.empty()) {
      R.Raw = std::move(Spare.back());
      Spare.pop_back();
    }
    LLMC_RETURN_IF_ERROR(readRun(R, Store));
  }
  Spare.clear();
  return Status::success();
}

/// Copies rows into the lanes of a panel.
void Gather::copyRows(std::span<const RowSource> Rows, float *Out) const {
  const Run &R0 = Runs[Rows[0].Run];
  bool Quantized = Tensor->Sources[R0.Source].Quantized.has_value();
  bool Neighbours = !Quantized && Rows.size() == PanelRows &&
                    Rows.back().Run == Rows[0].Run &&
                    Rows.back().Index == Rows[0].Index + PanelRows - 1;
  if (Neighbours && R0.Transposed &&
      Tensor->Sources[R0.Source].Type == DType::F32)
    return copyColumns(R0.Data + Rows[0].Index * R0.RowStep, Tensor->Cols,
                       R0.ColStep, Out);
  for (size_t I = 0; I < Rows.size(); ++I) {
    const Run &R = Runs[Rows[I].Run];
    if (Tensor->Sources[R.Source].Quantized) {
      R.Codes.values(Rows[I].Index, Out + I, PanelRows);
      continue;
    }
    copyRowOf(Tensor->Sources[R.Source].Type,
              R.Data + Rows[I].Index * R.RowStep, Tensor->Cols, R.ColStep,
              Out + I);
  }
}

/// The message for the first value that is not finite.
Status Gather::notFinite(std::span<const RowSource> Rows, uint64_t Row,
                         const float *Panel) const {
  for (size_t I = 0; I < Rows.size(); ++I)
    for (uint64_t K = 0; K < Tensor->Cols; ++K)
      if (!std::isfinite(Panel[K * PanelRows + I]))
        return malformedError(
            "weight " + Tensor->Sources[Runs[Rows[I].Run].Source].Name +
            " is not finite at row " + std::to_string(Row + I) + ", column " +
            std::to_string(K) + " of packed tensor " + Tensor->Name);
  return internalError("a value was not finite and then was");
}

Status Gather::panel(uint64_t Row, float *Out) const {
  std::span<const RowSource> Rows = std::span(RowMap).subspan(Row - First);
  Rows = Rows.first(std::min<size_t>(PanelRows, Rows.size()));
  if (Rows.size() < PanelRows)
    std::fill_n(Out, Tensor->Cols * PanelRows, 0.0f);
  copyRows(Rows, Out);
  if (allFinite(Out, Tensor->Cols * PanelRows))
    return Status::success();
  return notFinite(Rows, Row, Out);
}

Status Gather::codePanel(uint64_t Row, uint64_t BlockCols,
                         CodePanel &Out) const {
  std::span<const RowSource> Rows = std::span(RowMap).subspan(Row - First);
  Rows = Rows.first(std::min<size_t>(PanelRows, Rows.size()));
  uint64_t Cols = Tensor->Cols, Blocks = (Cols + BlockCols - 1) / BlockCols;
  Out.Codes.assign(Cols * PanelRows, 0);
  Out.Scales.assign(Blocks * PanelRows, 0.0f);
  Out.Zeros.assign(Blocks * PanelRows, 0.0f);
  for (size_t I = 0; I < Rows.size(); ++I) {
    const QuantizedRows &R = Runs[Rows[I].Run].Codes;
    R.codes(Rows[I].Index, Out.Codes.data() + I, PanelRows);
    for (uint64_t B = 0; B < Blocks; ++B) {
      float Scale = R.scale(Rows[I].Index, B * BlockCols);
      float Zero = R.zero(Rows[I].Index, B * BlockCols);
      if (!std::isfinite(Scale) || !std::isfinite(Zero))
        return malformedError(
            "weight " + Tensor->Sources[Runs[Rows[I].Run].Source].Name +
            ": a scale or zero point is not finite at row " +
            std::to_string(Row + I) + " of packed tensor " + Tensor->Name);
      Out.Scales[B * PanelRows + I] = Scale;
      Out.Zeros[B * PanelRows + I] = Zero;
    }
  }
  return Status::success();
}

} // namespace llmc
