// The left side of a product: rows are normed, quantised and laid out for the
// inner loops of Tile.h once, by the prologue here.
//
// Rows come in units of up to 4 of one class. Exact f32 units are [K][rows]
// floats. int8 units are one record per block of 32 inputs: [8][columns][4]
// values, then per column -128 * sum (which takes the +128 of the weights out
// again), then per row the scale; a prompt row is one column, a generated row
// two (hi, lo). So every load of the inner loop is a broadcast from one pointer
// that only moves forward. Unit u starts at (its first row) * row bytes.
#ifndef LLMC_COMPILER_KERNELS_CPU_ROWS_H
#define LLMC_COMPILER_KERNELS_CPU_ROWS_H

#include "compiler/kernels/cpu/Scratch.h"
#include "compiler/kernels/cpu/Step.h"

namespace llmc::kernels {

constexpr int64_t UnitRows = 4;
constexpr int64_t AheadBytes = 1024;

/// Where a product takes its rows from and what it does to them first.
struct RowSource {
  const float *X;
  const int32_t *Gather; ///< row r is X[Gather[r]]; null: X[r]
  int64_t K;
  int64_t Norm;
  const float *Gain, *NormBias;
  float Eps;
  int64_t Policy;
};

/// Unit of rows of one class.
struct Unit {
  int64_t Row, Rows;
  bool Two; ///< generated: two planes
};

LLMC_INLINE int64_t unitsOf(RowSet S) {
  return (S.Prompt + UnitRows - 1) / UnitRows +
         (S.Count - S.Prompt + UnitRows - 1) / UnitRows;
}
LLMC_INLINE Unit unitAt(RowSet S, int64_t U) {
  int64_t PromptUnits = (S.Prompt + UnitRows - 1) / UnitRows;
  bool Two = U >= PromptUnits;
  int64_t Row = Two ? S.Prompt + (U - PromptUnits) * UnitRows : U * UnitRows;
  int64_t End = Two ? S.Count : S.Prompt;
  return {Row, End - Row < UnitRows ? End - Row : UnitRows, Two};
}

/// Norm of one row as y = ((x - Mean) * Inv) * gain + bias.
struct NormFactors {
  float Mean, Inv;
};

LLMC_INLINE NormFactors normFactors(const float *X, int64_t K, int64_t Norm,
                                    float Eps) {
  if (Norm == NormNone)
    return {0.0f, 1.0f};
  float Mean = 0.0f;
  VF Sum = splat(0);
  if (Norm == NormLayer) {
    for (int64_t I = 0; I < K; I += 16)
      Sum += loadRow(X, I, K);
    Mean = sumLanes(Sum) / static_cast<float>(K);
  }
  Sum = splat(0);
  for (int64_t I = 0; I < K; I += 16) {
    VF D = loadRow(X, I, K) - splat(Mean);
    if (Norm == NormLayer && I + 16 > K)
      for (int64_t J = K - I; J < 16; ++J)
        D[J] = 0.0f;
    Sum = fma(D, D, Sum);
  }
  float Var = sumLanes(Sum) / static_cast<float>(K);
  return {Mean, 1.0f / __builtin_sqrtf(Var + Eps)};
}

/// Values [I, I + 16) of the normed row.
LLMC_INLINE VF normed(const RowSource &S, const float *X, NormFactors F,
                      int64_t I) {
  VF V = loadRow(X, I, S.K);
  if (S.Norm == NormNone)
    return V;
  if (S.Norm == NormLayer)
    V = V - splat(F.Mean);
  V = V * splat(F.Inv);
  if (S.Gain)
    V = V * loadRow(S.Gain, I, S.K);
  if (S.NormBias)
    V = V + loadRow(S.NormBias, I, S.K);
  if (S.Norm == NormLayer && I + 16 > S.K)
    for (int64_t J = S.K - I; J < 16; ++J)
      V[J] = 0.0f;
  return V;
}

LLMC_INLINE const float *rowAt(const RowSource &S, int64_t R) {
  return S.X + (S.Gather ? S.Gather[R] : R) * S.K;
}

/// Sixteen quantised values as four dwords of bytes.
LLMC_INLINE void storeColumn(uint8_t *To, int64_t Stride, VI Q) {
  typedef int8_t B16 __attribute__((ext_vector_type(16)));
  typedef int32_t D4 __attribute__((ext_vector_type(4)));
  D4 D = (D4) __builtin_convertvector(Q, B16);
  for (int64_t J = 0; J < 4; ++J)
    *reinterpret_cast<int32_t *>(To + J * Stride) = D[J];
}

LLMC_INLINE VF clamp(VF X, float Top) {
  return max(min(X, splat(Top)), splat(-Top));
}

/// One plane of 32 values: column C of a record.
LLMC_INLINE void storePlane(uint8_t *To, int64_t Columns, int64_t C, VF A,
                            VF B) {
  VI QA = toInt(A), QB = toInt(B);
  storeColumn(To + 4 * C, 4 * Columns, QA);
  storeColumn(To + 4 * C + 16 * Columns, 4 * Columns, QB);
  reinterpret_cast<int32_t *>(To + 32 * Columns)[C] =
      -128 * __builtin_reduce_add(QA + QB);
}

/// One block of 32 values of row R of an int8 unit of Rows rows.
template <bool Two>
LLMC_INLINE void quantiseBlock(VF A, VF B, int64_t Rows, int64_t R,
                               uint8_t *To) {
  const float Top = Two ? 32385.0f : 127.0f;
  int64_t Columns = Two ? 2 * Rows : Rows;
  float Scale = maxLanes(max(abs(A), abs(B))) / Top;
  reinterpret_cast<float *>(To + 36 * Columns)[R] = Scale;
  // Without a scale (all zero, or too small for one) every value is 0.
  VF Divisor = splat(Scale > 0.0f ? Scale : __builtin_inff());
  A = roundEven(clamp(A / Divisor, Top));
  B = roundEven(clamp(B / Divisor, Top));
  if constexpr (!Two) {
    storePlane(To, Columns, R, A, B);
  } else {
    // Only the ends of the range, 127.5, would round to 128.
    VF HA = clamp(roundEven(A / splat(254.0f)), 127.0f);
    VF HB = clamp(roundEven(B / splat(254.0f)), 127.0f);
    storePlane(To, Columns, 2 * R, HA, HB);
    storePlane(To, Columns, 2 * R + 1, fma(HA, splat(-254.0f), A),
               fma(HB, splat(-254.0f), B));
  }
}

inline namespace LLMC_ISA {

/// One row of an f32 unit of Rows rows.
template <int64_t Norm>
LLMC_SHARED void packRowF32(const RowSource *Source, int64_t Row, int64_t Rows,
                            int64_t R, uint8_t *To) {
  RowSource S = *Source;
  S.Norm = Norm;
  const float *X = rowAt(S, Row + R);
  NormFactors F = normFactors(X, S.K, Norm, S.Eps);
  float *Out = reinterpret_cast<float *>(To) + R;
  for (int64_t I = 0; I < S.K; I += 16) {
    VF V = normed(S, X, F, I);
    if (Rows == 1 && I + 16 <= S.K) {
      store(Out + I, V);
      continue;
    }
    for (int64_t J = 0; J < 16; ++J)
      if (I + J < S.K)
        Out[(I + J) * Rows] = V[J];
  }
}

/// One row of an int8 unit of Rows rows. Weights, unless null, is what this
/// thread reads next: memory would be idle meanwhile, so AheadBytes of it per
/// block are asked for.
template <int64_t Norm, bool Two>
LLMC_SHARED void packRowI8(const RowSource *Source, int64_t Row, int64_t Rows,
                           int64_t R, const uint8_t *Weights, uint8_t *To) {
  RowSource S = *Source;
  S.Norm = Norm;
  const float *X = rowAt(S, Row + R);
  NormFactors F = normFactors(X, S.K, Norm, S.Eps);
  int64_t Record = (Two ? 2 * Rows : Rows) * 36 + Rows * 4;
#pragma clang loop unroll(disable)
  for (int64_t I = 0; I < roundUp(S.K, 64); I += 32) {
    VF A = I < S.K ? normed(S, X, F, I) : splat(0);
    VF B = I + 16 < S.K ? normed(S, X, F, I + 16) : splat(0);
    quantiseBlock<Two>(A, B, Rows, R, To);
    To += Record;
    if (Weights) {
      for (int64_t J = 0; J < AheadBytes; J += 64)
        __builtin_prefetch(Weights + J, 0, 2);
      Weights += AheadBytes;
    }
  }
}

} // namespace LLMC_ISA

template <int64_t Norm>
LLMC_INLINE void packUnitOf(const RowSource &S, Unit U, const uint8_t *Weights,
                            uint8_t *To) {
  for (int64_t R = 0; R < U.Rows; ++R) {
    const uint8_t *Ahead = U.Row + R == 0 ? Weights : nullptr;
    if (S.Policy == XF32)
      packRowF32<Norm>(&S, U.Row, U.Rows, R, To);
    else if (U.Two)
      packRowI8<Norm, true>(&S, U.Row, U.Rows, R, Ahead, To);
    else
      packRowI8<Norm, false>(&S, U.Row, U.Rows, R, Ahead, To);
  }
}

/// Weights: what the thread reads after the first row, or null.
LLMC_INLINE void packUnit(const RowSource &S, Unit U, const uint8_t *Weights,
                          uint8_t *To) {
  if (S.Norm == NormRms)
    packUnitOf<NormRms>(S, U, Weights, To);
  else if (S.Norm == NormLayer)
    packUnitOf<NormLayer>(S, U, Weights, To);
  else
    packUnitOf<NormNone>(S, U, Weights, To);
}

} // namespace llmc::kernels

#endif // LLMC_COMPILER_KERNELS_CPU_ROWS_H
