// The inner loops: up to 4 rows by one or two panels of 16 outputs, over all of
// K. They are functions of their own, one copy per shape in an image, since the
// call costs nothing beside the loop. One chain of fma per output in ascending
// k (f32) or ascending block order (int8), whatever the tile, so that a tile's
// shape never shows in the bits.
#ifndef LLMC_COMPILER_KERNELS_CPU_TILE_H
#define LLMC_COMPILER_KERNELS_CPU_TILE_H

#include "compiler/kernels/cpu/Rows.h"

namespace llmc::kernels {
inline namespace LLMC_ISA {

/// Bytes of one packed int8 record: 64 k of a panel, and its two scale lines.
constexpr int64_t RecordBytes = 1088;

/// Product with weights that are floats of any type. Result[panel * Rows + row]
/// = outputs of the tile.
template <typename Float, int Rows, int Panels>
LLMC_SHARED void tileFloats(const uint8_t *W, int64_t PanelBytes,
                            const uint8_t *X, int64_t K, VF *Result) {
  VF Out[Panels][Rows];
  for (int P = 0; P < Panels; ++P)
    for (int R = 0; R < Rows; ++R)
      Out[P][R] = splat(0);
  const float *Xs = reinterpret_cast<const float *>(X);
#pragma clang loop unroll_count(2)
  for (int64_t I = 0; I < K; ++I) {
    for (int P = 0; P < Panels; ++P) {
      VF Line =
          load(reinterpret_cast<const Float *>(W + P * PanelBytes) + I * 16);
      for (int R = 0; R < Rows; ++R)
        Out[P][R] = fma(Line, splat(Xs[I * Rows + R]), Out[P][R]);
    }
  }
  for (int P = 0; P < Panels; ++P)
    for (int R = 0; R < Rows; ++R)
      Result[P * Rows + R] = Out[P][R];
}

/// One block of 32: exact integer sums, then one fma per output.
template <int Rows, int Panels, bool Two>
LLMC_INLINE void blockI8(const uint8_t *W, const uint8_t *Scales,
                         int64_t PanelBytes, const uint8_t *X,
                         VF (&Out)[Panels][Rows]) {
  constexpr int Columns = Two ? 2 * Rows : Rows;
  const int32_t *Xs = reinterpret_cast<const int32_t *>(X);
  const int32_t *Start = Xs + 8 * Columns;
  const float *XScale = reinterpret_cast<const float *>(Start + Columns);
  VI Acc[Panels][Columns];
#pragma clang loop unroll(full)
  for (int P = 0; P < Panels; ++P)
#pragma clang loop unroll(full)
    for (int C = 0; C < Columns; ++C)
      Acc[P][C] = dotStart(Start[C]);
#pragma clang loop unroll(full)
  for (int I = 0; I < 8; ++I)
#pragma clang loop unroll(full)
    for (int P = 0; P < Panels; ++P) {
      VB Line = *reinterpret_cast<const VB *>(W + P * PanelBytes + I * 64);
#pragma clang loop unroll(full)
      for (int C = 0; C < Columns; ++C)
        Acc[P][C] = dot(Acc[P][C], Line, Xs[I * Columns + C]);
    }
#pragma clang loop unroll(full)
  for (int P = 0; P < Panels; ++P) {
    VF WScale =
        load(reinterpret_cast<const _Float16 *>(Scales + P * PanelBytes));
#pragma clang loop unroll(full)
    for (int R = 0; R < Rows; ++R) {
      VI Sum = Acc[P][R];
      if constexpr (Two)
        Sum = ((Acc[P][2 * R] << 8) - (Acc[P][2 * R] << 1)) + Acc[P][2 * R + 1];
      Out[P][R] = fma(toFloat(Sum), WScale * splat(XScale[R]), Out[P][R]);
    }
  }
}

/// Asks for one record of each panel, to be in the second-level cache later.
template <int Panels>
LLMC_INLINE void fetchRecord(const uint8_t *W, int64_t PanelBytes) {
#pragma clang loop unroll(full)
  for (int P = 0; P < Panels; ++P)
#pragma clang loop unroll(full)
    for (int I = 0; I < RecordBytes / 64; ++I)
      __builtin_prefetch(W + P * PanelBytes + I * 64, 0, 2);
}

template <int Rows, int Panels, bool Two>
LLMC_SHARED void tileI8(const uint8_t *W, int64_t PanelBytes, const uint8_t *X,
                        int64_t K, int64_t Ahead, VF *Result) {
  VF Out[Panels][Rows];
  constexpr int64_t Record = (Two ? 2 * Rows : Rows) * 36 + Rows * 4;
  for (int P = 0; P < Panels; ++P)
    for (int R = 0; R < Rows; ++R)
      Out[P][R] = splat(0);
#pragma clang loop unroll(disable)
  for (int64_t I = 0; I < K; I += 64) {
    if (Ahead)
      fetchRecord<Panels>(W + Ahead, PanelBytes);
    blockI8<Rows, Panels, Two>(W, W + 1024, PanelBytes, X, Out);
    blockI8<Rows, Panels, Two>(W + 512, W + 1056, PanelBytes, X + Record, Out);
    W += RecordBytes;
    X += 2 * Record;
  }
  for (int P = 0; P < Panels; ++P)
    for (int R = 0; R < Rows; ++R)
      Result[P * Rows + R] = Out[P][R];
}

template <int64_t Type, int Rows, int Panels>
LLMC_INLINE void tile(const uint8_t *W, int64_t PanelBytes, const uint8_t *X,
                      int64_t K, bool Two, int64_t Ahead, VF *Result) {
  if constexpr (Type == WF32) {
    tileFloats<float, Rows, Panels>(W, PanelBytes, X, K, Result);
  } else {
    if (Two)
      tileI8<Rows, Panels, true>(W, PanelBytes, X, K, Ahead, Result);
    else
      tileI8<Rows, Panels, false>(W, PanelBytes, X, K, Ahead, Result);
  }
}

/// A unit of Rows <= 4 rows by 1 or 2 panels. With Ahead, int8 weights that lie
/// so many bytes further on are fetched meanwhile: the next panels while the
/// last rows work on these, so that memory and arithmetic overlap.
template <int64_t Type>
LLMC_SHARED void tiles(const uint8_t *W, int64_t PanelBytes, const uint8_t *X,
                       int64_t K, bool Two, int64_t Rows, int64_t Panels,
                       int64_t Ahead, VF *Result) {
  if (Rows == 4 && Panels == 2)
    return tile<Type, 4, 2>(W, PanelBytes, X, K, Two, Ahead, Result);
#pragma clang loop unroll(disable)
  for (int64_t I = 0; I < Panels; ++I) {
    switch (Rows) {
    case 1:
      tile<Type, 1, 1>(W, PanelBytes, X, K, Two, Ahead, Result);
      break;
    case 2:
      tile<Type, 2, 1>(W, PanelBytes, X, K, Two, Ahead, Result);
      break;
    case 3:
      tile<Type, 3, 1>(W, PanelBytes, X, K, Two, Ahead, Result);
      break;
    default:
      tile<Type, 4, 1>(W, PanelBytes, X, K, Two, Ahead, Result);
    }
    W += PanelBytes;
    Result += Rows;
  }
}

} // namespace LLMC_ISA
} // namespace llmc::kernels

#endif // LLMC_COMPILER_KERNELS_CPU_TILE_H
