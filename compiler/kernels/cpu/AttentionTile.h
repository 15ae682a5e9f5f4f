// Inner loops of attention: a column is one query head of one row. A tile is 64
// positions, which is a page. Up to 6 columns that see the same part of a tile
// go through it together and share every load of K and V; what a column
// computes does not depend on its company.
#ifndef LLMC_COMPILER_KERNELS_CPU_ATTENTIONTILE_H
#define LLMC_COMPILER_KERNELS_CPU_ATTENTIONTILE_H

#include "compiler/kernels/cpu/Kv.h"
#include "compiler/kernels/cpu/Math.h"
#include "compiler/kernels/cpu/Scratch.h"

namespace llmc::kernels {
inline namespace LLMC_ISA {

constexpr int MaxTogether = 6;

/// Running softmax of one column inside a segment, then over segments.
struct Column {
  const float *Q;
  float *O;           ///< weighted sum of the current segment
  int64_t Begin, End; ///< visible positions; the query is at End - 1
  float Slope;        ///< added per position
  float Max, Sum;
};

struct HeadShape {
  int64_t HeadDim, VHeadDim;
  float Scale, Cap;
  bool Sloped; ///< columns have slopes
};

constexpr float MinusInf = -__builtin_inff();

/// Asks for N values of the next tile, to be there when this one is done.
template <typename T> LLMC_INLINE void fetchValues(const T *P, int64_t N) {
  constexpr int64_t PerLine = 64 / sizeof(T);
  for (int64_t I = 0; I < N; I += PerLine)
    __builtin_prefetch(P + I, 0, 2);
}

/// Scores of Count columns with all 64 keys: one chain over d per score.
template <int Count, typename T>
LLMC_INLINE void scoreTile(const Column *Cols, const T *K, const T *Next,
                           HeadShape S, float (*P)[PageTokens]) {
  VF Acc[Count][4];
  for (int C = 0; C < Count; ++C)
    for (int J = 0; J < 4; ++J)
      Acc[C][J] = splat(0);
#pragma clang loop unroll(disable)
  for (int64_t D = 0; D < S.HeadDim; ++D) {
    if (Next)
      fetchValues(Next + D * PageTokens, PageTokens);
    VF Keys[4];
    for (int J = 0; J < 4; ++J)
      Keys[J] = load(K + D * PageTokens + J * 16);
    for (int C = 0; C < Count; ++C) {
      VF Q = splat(Cols[C].Q[D]);
      for (int J = 0; J < 4; ++J)
        Acc[C][J] = fma(Keys[J], Q, Acc[C][J]);
    }
  }
  for (int C = 0; C < Count; ++C)
    for (int J = 0; J < 4; ++J)
      store(P[C] + J * 16, softcap(Acc[C][J] * splat(S.Scale), S.Cap));
}

/// Scores -> probabilities relative to the new maximum; keys outside [Lo, Hi)
/// get 0. Query is the query's position in the tile (64 or more: behind it).
/// Returns the factor for what was summed before.
LLMC_INLINE float softmaxTile(Column &Col, float *P, int64_t Lo, int64_t Hi,
                              int64_t Query, bool Sloped) {
  VI Lane = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
  VF X[4];
  VF Top = splat(MinusInf);
  for (int J = 0; J < 4; ++J) {
    VI I = Lane + splatInt(J * 16);
    VF V = load(P + J * 16);
    if (Sloped)
      V = fma(splat(Col.Slope),
              toFloat(I - splatInt(static_cast<int32_t>(Query))), V);
    V = I < splatInt(static_cast<int32_t>(Lo)) ? splat(MinusInf) : V;
    X[J] = I < splatInt(static_cast<int32_t>(Hi)) ? V : splat(MinusInf);
    Top = max(Top, X[J]);
  }
  float New = maxLanes(Top);
  New = New < Col.Max ? Col.Max : New;
  VF Sum = splat(0);
  for (int J = 0; J < 4; ++J) {
    VF E = exp(X[J] - splat(New));
    E = X[J] == splat(MinusInf) ? splat(0) : E;
    store(P + J * 16, E);
    Sum = Sum + E;
  }
  float Factor = exp(splat(Col.Max - New))[0];
  Col.Max = New;
  Col.Sum = fma(Col.Sum, Factor, sumLanes(Sum));
  return Factor;
}

/// O = O * factor + sum over keys [Lo, Hi) in order, Wide vectors from At on;
/// the last one is not full when Part.
template <int Count, int Wide, bool Part, typename T>
LLMC_INLINE void valueTile(Column *Cols, const T *V, const T *Next, HeadShape S,
                           int64_t At, const float (*P)[PageTokens],
                           const float *Factor, int64_t Lo, int64_t Hi) {
  VF Acc[Count][Wide];
  for (int C = 0; C < Count; ++C)
    for (int J = 0; J < Wide; ++J)
      Acc[C][J] = load(Cols[C].O + At + J * 16) * splat(Factor[C]);
#pragma clang loop unroll(disable)
  for (int64_t I = Lo; I < Hi; ++I) {
    if (Next)
      fetchValues(Next + I * S.VHeadDim + At, Wide * 16);
    VF Values[Wide];
    for (int J = 0; J < Wide; ++J)
      Values[J] = Part ? loadPart(V + I * S.VHeadDim + At, S.VHeadDim - At)
                       : load(V + I * S.VHeadDim + At + J * 16);
    for (int C = 0; C < Count; ++C) {
      VF W = splat(P[C][I]);
      for (int J = 0; J < Wide; ++J)
        Acc[C][J] = fma(Values[J], W, Acc[C][J]);
    }
  }
  for (int C = 0; C < Count; ++C)
    for (int J = 0; J < Wide; ++J)
      store(Cols[C].O + At + J * 16, Acc[C][J]);
}

/// One tile for Count columns. Not inlined: its shape comes in scalars, which
/// the optimiser propagates into the one copy of each Count.
template <int Count, typename T>
LLMC_SHARED void attendTile(Column *Cols, const T *K, const T *V, const T *Next,
                            int64_t HeadDim, int64_t VHeadDim, float Scale,
                            float Cap, bool Sloped, int64_t Lo, int64_t Hi,
                            int64_t Tile) {
  HeadShape S{HeadDim, VHeadDim, Scale, Cap, Sloped};
  alignas(64) float P[Count][PageTokens];
  float Factor[Count];
  const T *NextV = Next ? Next + HeadDim * PageTokens : nullptr;
  scoreTile<Count, T>(Cols, K, Next, S, P);
#pragma clang loop unroll(disable)
  for (int C = 0; C < Count; ++C)
    Factor[C] =
        softmaxTile(Cols[C], P[C], Lo, Hi, Cols[C].End - 1 - Tile, Sloped);
  int64_t At = 0;
#pragma clang loop unroll(disable)
  for (; At + 64 <= S.VHeadDim; At += 64)
    valueTile<Count, 4, false, T>(Cols, V, NextV, S, At, P, Factor, Lo, Hi);
#pragma clang loop unroll(disable)
  for (; At + 16 <= S.VHeadDim; At += 16)
    valueTile<Count, 1, false, T>(Cols, V, NextV, S, At, P, Factor, Lo, Hi);
  if (At < S.VHeadDim)
    valueTile<Count, 1, true, T>(Cols, V, NextV, S, At, P, Factor, Lo, Hi);
}

/// Positions [Tile, Tile + 64) for all columns, in runs that see the same part.
/// Next is the block of the tile after this one, or null.
template <typename T>
LLMC_INLINE void attendColumns(Column *Cols, int64_t Count, KvBlock<T> B,
                               const T *Next, HeadShape S, int64_t Tile) {
  for (int64_t C = 0; C < Count;) {
    int64_t Lo = Cols[C].Begin - Tile, Hi = Cols[C].End - Tile;
    Lo = Lo < 0 ? 0 : Lo;
    Hi = Hi > PageTokens ? PageTokens : Hi;
    int64_t N = 1;
    for (; N < MaxTogether && C + N < Count; ++N) {
      int64_t L = Cols[C + N].Begin - Tile, H = Cols[C + N].End - Tile;
      if ((L < 0 ? 0 : L) != Lo || (H > PageTokens ? PageTokens : H) != Hi)
        break;
    }
    if (Lo < Hi) {
      Column *At = Cols + C;
      const T *Ask = Next; // the first run does it for all
      Next = nullptr;
      switch (N) {
      case 1:
        attendTile<1, T>(At, B.K, B.V, Ask, S.HeadDim, S.VHeadDim, S.Scale,
                         S.Cap, S.Sloped, Lo, Hi, Tile);
        break;
      case 2:
        attendTile<2, T>(At, B.K, B.V, Ask, S.HeadDim, S.VHeadDim, S.Scale,
                         S.Cap, S.Sloped, Lo, Hi, Tile);
        break;
      case 3:
        attendTile<3, T>(At, B.K, B.V, Ask, S.HeadDim, S.VHeadDim, S.Scale,
                         S.Cap, S.Sloped, Lo, Hi, Tile);
        break;
      case 4:
        attendTile<4, T>(At, B.K, B.V, Ask, S.HeadDim, S.VHeadDim, S.Scale,
                         S.Cap, S.Sloped, Lo, Hi, Tile);
        break;
      case 5:
        attendTile<5, T>(At, B.K, B.V, Ask, S.HeadDim, S.VHeadDim, S.Scale,
                         S.Cap, S.Sloped, Lo, Hi, Tile);
        break;
      default:
        attendTile<6, T>(At, B.K, B.V, Ask, S.HeadDim, S.VHeadDim, S.Scale,
                         S.Cap, S.Sloped, Lo, Hi, Tile);
        break;
      }
    }
    C += N;
  }
}

/// Adds a finished segment (Max, Sum, O) to the total of those before it.
LLMC_INLINE void mergeSegment(float &TotalMax, float &TotalSum, float *Total,
                              float Max, float Sum, const float *O,
                              int64_t Width) {
  float New = TotalMax < Max ? Max : TotalMax;
  float A = exp(splat(TotalMax - New))[0], B = exp(splat(Max - New))[0];
  TotalMax = New;
  TotalSum = fma(TotalSum, A, Sum * B);
  for (int64_t I = 0; I < Width; I += 16)
    store(Total + I, fma(load(Total + I), splat(A), load(O + I) * splat(B)));
}

} // namespace LLMC_ISA
} // namespace llmc::kernels

#endif // LLMC_COMPILER_KERNELS_CPU_ATTENTIONTILE_H
