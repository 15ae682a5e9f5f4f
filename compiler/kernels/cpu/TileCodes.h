// The inner loops for weights that are no f32: halves and codes. Exact rows
// meet weights that are made in registers; int8 rows meet integer codes in dot
// products. Sums have the order of Tile.h.
#ifndef LLMC_COMPILER_KERNELS_CPU_TILECODES_H
#define LLMC_COMPILER_KERNELS_CPU_TILECODES_H

#include "compiler/kernels/cpu/Decode.h"
#include "compiler/kernels/cpu/Tile.h"

namespace llmc::kernels {
inline namespace LLMC_ISA {

/// Weights of one column: with Min, Zero holds the minimum.
template <bool Min> LLMC_INLINE VF weightOf(VF Code, VF Scale, VF Zero) {
  return Min ? Code * Scale + Zero : (Code - Zero) * Scale;
}

/// The columns [0, Count) of a line of codes. Count is Line::Columns but at the
/// end of a row.
template <CodeClass Class, bool Min, int Rows, int Panels>
LLMC_INLINE void lineOfCodes(const VI (&Codes)[Panels], int Count,
                             const Decoder &D, const VF (&Scale)[Panels],
                             const VF (&Zero)[Panels], const float *X,
                             VF (&Out)[Panels][Rows]) {
#pragma clang loop unroll(disable)
  for (int C = 0; C < Count; ++C)
    for (int P = 0; P < Panels; ++P) {
      VF Weight =
          weightOf<Min>(decode<Class>(Codes[P], C, D), Scale[P], Zero[P]);
      for (int R = 0; R < Rows; ++R)
        Out[P][R] = fma(Weight, splat(X[C * Rows + R]), Out[P][R]);
    }
}

/// Product with quantised weights and exact rows: weights are made in
/// registers, then as tileFloats, with the same bits as if the matrix had been
/// packed in f32.
template <CodeClass Class, bool Min, int Rows, int Panels>
LLMC_SHARED void tileCodes(const uint8_t *W, int64_t PanelBytes,
                           const uint8_t *X, int64_t K, const Decoder *How,
                           VF *Result) {
  constexpr int Columns = lineColumns(Class);
  const Decoder D = *How;
  VF Out[Panels][Rows];
  for (int P = 0; P < Panels; ++P)
    for (int R = 0; R < Rows; ++R)
      Out[P][R] = splat(0);
  const float *Xs = reinterpret_cast<const float *>(X);
#pragma clang loop unroll(disable)
  for (int64_t B = 0, Column = 0; Column < K; ++B) {
    VF Scale[Panels], Zero[Panels];
    const uint8_t *Lines = W + D.codesOf(B);
    for (int P = 0; P < Panels; ++P) {
      Scale[P] = D.scale(W + P * PanelBytes, B);
      Zero[P] = Min ? D.minimum(W + P * PanelBytes, B)
                    : D.zero(W + P * PanelBytes, B);
    }
    int64_t End = Column + D.Block < K ? Column + D.Block : K;
#pragma clang loop unroll(disable)
    for (; Column < End; Column += Columns, Lines += 64) {
      VI Codes[Panels];
      for (int P = 0; P < Panels; ++P)
        Codes[P] = loadInts(Lines + P * PanelBytes);
      if (Column + Columns <= End) {
#pragma clang loop unroll(full)
        for (int C = 0; C < Columns; ++C)
          for (int P = 0; P < Panels; ++P) {
            VF Weight =
                weightOf<Min>(decode<Class>(Codes[P], C, D), Scale[P], Zero[P]);
            for (int R = 0; R < Rows; ++R)
              Out[P][R] =
                  fma(Weight, splat(Xs[(Column + C) * Rows + R]), Out[P][R]);
          }
      } else {
        lineOfCodes<Class, Min, Rows, Panels>(
            Codes, int(End - Column), D, Scale, Zero, Xs + Column * Rows, Out);
      }
    }
    Column = End;
  }
  for (int P = 0; P < Panels; ++P)
    for (int R = 0; R < Rows; ++R)
      Result[P * Rows + R] = Out[P][R];
}

/// One block of 32 columns with int8 rows: exact integer sums in VI Sum[panel *
/// Rows + row]. Small codes (4 and 2 bits) need no sign trick on AVX2.
template <CodeClass Class, int Rows, int Panels, bool Two>
LLMC_INLINE void dotBlock(const uint8_t *Lines, int64_t PanelBytes,
                          const int32_t *X, const VI (&Offset)[Panels],
                          bool HasOffset, VI (&Sum)[Panels][Rows]) {
  constexpr int Columns = Two ? 2 * Rows : Rows;
  constexpr int Groups = 8 / (32 / lineColumns(Class)); // dwords of k per line
  constexpr int Bits = 4 * 8 / lineColumns(Class);
  // Start is -128 * the sum of a column of values.
  const int32_t *Start = X + 8 * Columns;
  VI Acc[Panels][Columns];
#pragma clang loop unroll(full)
  for (int P = 0; P < Panels; ++P)
#pragma clang loop unroll(full)
    for (int C = 0; C < Columns; ++C)
      Acc[P][C] = splatInt(Start[C] >> (8 - Bits));
#pragma clang loop unroll(full)
  for (int I = 0; I < 8 / Groups; ++I)
#pragma clang loop unroll(full)
    for (int P = 0; P < Panels; ++P) {
      VI Line = loadInts(Lines + P * PanelBytes + I * 64);
#pragma clang loop unroll(full)
      for (int G = 0; G < Groups; ++G) {
        constexpr int32_t Mask = Bits == 4 ? 0x0f0f0f0f : 0x03030303;
        VB Codes = Bits == 8
                       ? (VB)Line
                       : (VB)((Line >> splatInt(G * Bits)) & splatInt(Mask));
#pragma clang loop unroll(full)
        for (int C = 0; C < Columns; ++C) {
          int32_t Xs = X[(I * Groups + G) * Columns + C];
          Acc[P][C] = Bits == 8 ? dotByte(Acc[P][C], Codes, Xs)
                                : dotSmall(Acc[P][C], Codes, Xs);
        }
      }
    }
  if (HasOffset)
#pragma clang loop unroll(full)
    for (int C = 0; C < Columns; ++C) {
      VI Ones = splatInt(-(Start[C] >> 7));
#pragma clang loop unroll(full)
      for (int P = 0; P < Panels; ++P)
        Acc[P][C] -= Offset[P] * Ones;
    }
#pragma clang loop unroll(full)
  for (int P = 0; P < Panels; ++P)
#pragma clang loop unroll(full)
    for (int R = 0; R < Rows; ++R)
      Sum[P][R] =
          Two ? Acc[P][2 * R] * splatInt(254) + Acc[P][2 * R + 1] : Acc[P][R];
}

/// Product of integer codes with int8 rows: per block of 32 exact integers,
/// then one fma per output (and one for a minimum), ascending.
template <CodeClass Class, int Rows, int Panels, bool Two>
LLMC_SHARED void tileDot(const uint8_t *W, int64_t PanelBytes, const uint8_t *X,
                         int64_t K, const Decoder *How, int64_t Ahead,
                         VF *Result) {
  constexpr int Columns = Two ? 2 * Rows : Rows;
  constexpr int64_t XRecord = Columns * 36 + Rows * 4;
  constexpr int Bits = 4 * 8 / lineColumns(Class);
  const Decoder D = *How;
  bool Min = D.Zero == ZeroKind::Minimum;
  bool HasOffset = D.Zero != ZeroKind::Middle;
  VF Out[Panels][Rows];
  for (int P = 0; P < Panels; ++P)
    for (int R = 0; R < Rows; ++R)
      Out[P][R] = splat(0);
#pragma clang loop unroll(disable)
  for (int64_t B = 0, Column = 0; Column < K; ++B) {
    VF Scale[Panels], Minimum[Panels];
    VI Offset[Panels];
    const uint8_t *Lines = W + D.codesOf(B);
    for (int P = 0; P < Panels; ++P) {
      Scale[P] = D.scale(W + P * PanelBytes, B);
      Minimum[P] = Min ? D.minimum(W + P * PanelBytes, B) : splat(0);
      Offset[P] = D.zeroOffset(W + P * PanelBytes, B, 1 << (Bits - 1));
    }
    int64_t End = Column + D.Block < K ? Column + D.Block : K;
#pragma clang loop unroll(disable)
    for (; Column < End; Column += 32) {
      if (Ahead)
        for (int P = 0; P < Panels; ++P)
#pragma clang loop unroll(full)
          for (int I = 0; I < Bits; ++I)
            __builtin_prefetch(Lines + Ahead + P * PanelBytes + I * 64, 0, 2);
      VI Sum[Panels][Rows];
      const int32_t *Xs = reinterpret_cast<const int32_t *>(X);
      dotBlock<Class, Rows, Panels, Two>(Lines, PanelBytes, Xs, Offset,
                                         HasOffset, Sum);
      const int32_t *Start = Xs + 8 * Columns;
      const float *XScale = reinterpret_cast<const float *>(Start + Columns);
      for (int P = 0; P < Panels; ++P)
        for (int R = 0; R < Rows; ++R) {
          Out[P][R] =
              fma(toFloat(Sum[P][R]), Scale[P] * splat(XScale[R]), Out[P][R]);
          if (Min) {
            int32_t Ones =
                Two ? -((Start[2 * R] >> 7) * 254 + (Start[2 * R + 1] >> 7))
                    : -(Start[R] >> 7);
            Out[P][R] = fma(splat(static_cast<float>(Ones)),
                            Minimum[P] * splat(XScale[R]), Out[P][R]);
          }
        }
      Lines += Bits * 64;
      X += XRecord;
    }
    Column = End;
  }
  for (int P = 0; P < Panels; ++P)
    for (int R = 0; R < Rows; ++R)
      Result[P * Rows + R] = Out[P][R];
}

/// Calls Tile(rows constant, panels constant, W, Result) for the shapes that
/// tiles exist in: 4 x 2, else panel by panel.
template <typename Call>
LLMC_INLINE void byShape(const uint8_t *W, int64_t PanelBytes, int64_t Rows,
                         int64_t Panels, VF *Result, Call Tile) {
  if (Rows == 4 && Panels == 2)
    return Tile(Int<4>(), Int<2>(), W, Result);
#pragma clang loop unroll(disable)
  for (int64_t I = 0; I < Panels; ++I) {
    switch (Rows) {
    case 1:
      Tile(Int<1>(), Int<1>(), W, Result);
      break;
    case 2:
      Tile(Int<2>(), Int<1>(), W, Result);
      break;
    case 3:
      Tile(Int<3>(), Int<1>(), W, Result);
      break;
    default:
      Tile(Int<4>(), Int<1>(), W, Result);
    }
    W += PanelBytes;
    Result += Rows;
  }
}

template <typename Half>
LLMC_SHARED void tilesHalf(const uint8_t *W, int64_t PanelBytes,
                           const uint8_t *X, int64_t K, int64_t Rows,
                           int64_t Panels, VF *Result) {
  byShape(W, PanelBytes, Rows, Panels, Result,
          [=](auto R, auto P, const uint8_t *At, VF *To)
              __attribute__((always_inline)) {
                tileFloats<Half, R.Value, P.Value>(At, PanelBytes, X, K, To);
              });
}

template <CodeClass Class, bool Min = false>
LLMC_SHARED void tilesCodes(const uint8_t *W, int64_t PanelBytes,
                            const uint8_t *X, int64_t K, int64_t Rows,
                            int64_t Panels, const Decoder *How, VF *Result) {
  byShape(W, PanelBytes, Rows, Panels, Result,
          [=](auto R, auto P, const uint8_t *At, VF *To)
              __attribute__((always_inline)) {
                tileCodes<Class, Min, R.Value, P.Value>(At, PanelBytes, X, K,
                                                        How, To);
              });
}

template <CodeClass Class>
LLMC_SHARED void tilesDot(const uint8_t *W, int64_t PanelBytes,
                          const uint8_t *X, int64_t K, bool Two, int64_t Rows,
                          int64_t Panels, const Decoder *How, int64_t Ahead,
                          VF *Result) {
  byShape(W, PanelBytes, Rows, Panels, Result,
          [=](auto R, auto P, const uint8_t *At, VF *To)
              __attribute__((always_inline)) {
                if (Two)
                  tileDot<Class, R.Value, P.Value, true>(At, PanelBytes, X, K,
                                                         How, Ahead, To);
                else
                  tileDot<Class, R.Value, P.Value, false>(At, PanelBytes, X, K,
                                                          How, Ahead, To);
              });
}

/// int8 rows with a packed matrix of a type that has integer products.
LLMC_INLINE void tilesInt8(int64_t WType, const uint8_t *Header,
                           const uint8_t *W, int64_t PanelBytes,
                           const uint8_t *X, int64_t K, bool Two, int64_t Rows,
                           int64_t Panels, int64_t Ahead, VF *Result) {
  if (WType == WI8B32)
    return tiles<WI8B32>(W, PanelBytes, X, K, Two, Rows, Panels, Ahead, Result);
  WeightFormat F = formatOfType(WType);
  Decoder D = decoderOf(F, K, Header);
  if (F.Bits == 8)
    return tilesDot<CodeClass::Bits8>(W, PanelBytes, X, K, Two, Rows, Panels,
                                      &D, Ahead, Result);
  if (F.Bits == 4)
    return tilesDot<CodeClass::Bits4>(W, PanelBytes, X, K, Two, Rows, Panels,
                                      &D, Ahead, Result);
  return tilesDot<CodeClass::Bits2>(W, PanelBytes, X, K, Two, Rows, Panels, &D,
                                    Ahead, Result);
}

/// Exact rows with a packed matrix of that type; Header is where it starts.
LLMC_INLINE void tilesExact(int64_t WType, const uint8_t *Header,
                            const uint8_t *W, int64_t PanelBytes,
                            const uint8_t *X, int64_t K, int64_t Rows,
                            int64_t Panels, VF *Result) {
  if (WType == WF32)
    return tiles<WF32>(W, PanelBytes, X, K, false, Rows, Panels, 0, Result);
  if (WType == WF16)
    return tilesHalf<_Float16>(W, PanelBytes, X, K, Rows, Panels, Result);
  if (WType == WBF16)
    return tilesHalf<BFloat>(W, PanelBytes, X, K, Rows, Panels, Result);
  WeightFormat F = formatOfType(WType);
  Decoder D = decoderOf(F, K, Header);
  bool Min = F.Zero == ZeroKind::Minimum;
  if (Min && F.Bits == 4)
    return tilesCodes<CodeClass::Bits4, true>(W, PanelBytes, X, K, Rows, Panels,
                                              &D, Result);
  if (Min)
    return tilesCodes<CodeClass::Bits8, true>(W, PanelBytes, X, K, Rows, Panels,
                                              &D, Result);
  switch (classOf(F)) {
  case CodeClass::Bits8:
    return tilesCodes<CodeClass::Bits8>(W, PanelBytes, X, K, Rows, Panels, &D,
                                        Result);
  case CodeClass::Bits4:
    return tilesCodes<CodeClass::Bits4>(W, PanelBytes, X, K, Rows, Panels, &D,
                                        Result);
  case CodeClass::Bits2:
    return tilesCodes<CodeClass::Bits2>(W, PanelBytes, X, K, Rows, Panels, &D,
                                        Result);
  case CodeClass::Table:
    return tilesCodes<CodeClass::Table>(W, PanelBytes, X, K, Rows, Panels, &D,
                                        Result);
  case CodeClass::Float8:
    return tilesCodes<CodeClass::Float8>(W, PanelBytes, X, K, Rows, Panels, &D,
                                         Result);
  }
}

} // namespace LLMC_ISA
} // namespace llmc::kernels

#endif // LLMC_COMPILER_KERNELS_CPU_TILECODES_H
