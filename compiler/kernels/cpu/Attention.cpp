// attention: softmax(scale * q k^T) v over the visible keys of a row.
//
// The unit of work is (a run of rows of one sequence, a KV head) with all query
// heads of the group. A few rows with a long context are split by segments of
// 256 positions into `partial`, merged after a barrier in ascending order by
// one thread per column: the same operations in the same order as when one
// thread walks all segments, so the same bits.
#include "compiler/kernels/cpu/AttentionTile.h"

using namespace llmc::kernels;

namespace {
constexpr int64_t MaxColumns = 12;

struct AttentionArgs {
  const float *Q;
  uint8_t *Kv;
  float *Out, *Partial;
  const float *Slopes, *Sinks; ///< [heads] or null
  int64_t Heads, KvHeads, Window, Chunk, PageStride;
  HeadShape Shape;
};

LLMC_INLINE int64_t widthOf(const AttentionArgs &A) {
  return roundUp(A.Shape.VHeadDim, 16);
}
LLMC_INLINE int64_t endOf(const LlmcCtx *C, int64_t Row) {
  return int64_t(positions(C)[Row]) + 1;
}
LLMC_INLINE int64_t beginOf(const LlmcCtx *C, const AttentionArgs &A,
                            int64_t Row) {
  int64_t End = endOf(C, Row);
  int64_t Begin = A.Window > 0 && End > A.Window ? End - A.Window : 0;
  int64_t Chunk = A.Chunk > 0 ? (End - 1) / A.Chunk * A.Chunk : 0;
  return Begin < Chunk ? Chunk : Begin;
}

/// Starts a segment: nothing seen yet.
LLMC_INLINE void resetColumn(Column &Col, int64_t Width) {
  Col.Max = MinusInf;
  Col.Sum = 0.0f;
  for (int64_t I = 0; I < Width; I += 16)
    store(Col.O + I, splat(0));
}

/// Positions [From, To) of one segment, all columns of rows of one sequence.
template <typename T>
LLMC_INLINE void attendSegment(const LlmcCtx *C, const AttentionArgs &A,
                               int64_t Row, int64_t Group, Column *Cols,
                               int64_t Count, int64_t From, int64_t To) {
  int64_t Tile = From / PageTokens * PageTokens;
  auto BlockAt = [&](int64_t Pos) __attribute__((always_inline)) {
    return kvBlock<T>(A.Kv, A.PageStride, pageOf(C, Row, Pos), Group,
                      A.Shape.HeadDim, A.Shape.VHeadDim);
  };
  KvBlock<T> B = BlockAt(Tile);
  while (Tile < To) {
    bool More = Tile + PageTokens < To;
    KvBlock<T> Next = More ? BlockAt(Tile + PageTokens) : B;
    attendColumns<T>(Cols, Count, B, More ? Next.K : nullptr, A.Shape, Tile);
    B = Next;
    Tile += PageTokens;
  }
}

LLMC_INLINE void writeOut(const AttentionArgs &A, int64_t Row, int64_t Head,
                          const float *O, float Max, float Sum) {
  int64_t N = A.Shape.VHeadDim;
  float *To = A.Out + (Row * A.Heads + Head) * N;
  float Factor = 1.0f;
  if (A.Sinks) { // merged like a segment of one key whose value is 0
    float New = Max < A.Sinks[Head] ? A.Sinks[Head] : Max;
    Factor = exp(splat(Max - New))[0];
    Sum = fma(Sum, Factor, exp(splat(A.Sinks[Head] - New))[0]);
  }
  for (int64_t I = 0; I < N; I += 16) {
    VF V = load(O + I);
    V = (A.Sinks ? V * splat(Factor) : V) / splat(Sum);
    if (I + 16 <= N)
      store(To + I, V);
    else
      storePart(To + I, V, N - I);
  }
}

/// Columns of Rows x Heads, segment by segment, merged in ascending order.
template <typename T>
LLMC_INLINE void attendRows(const LlmcCtx *C, const AttentionArgs &A,
                            int64_t Row, int64_t Rows, int64_t Group,
                            int64_t Head, int64_t Heads) {
  alignas(64) float O[MaxColumns * MaxHeadDim];
  alignas(64) float Totals[MaxColumns * MaxHeadDim];
  Column Cols[MaxColumns];
  float TotalMax[MaxColumns], TotalSum[MaxColumns];
  bool Started[MaxColumns];
  int64_t Count = Rows * Heads, Width = widthOf(A);
  int64_t First = endOf(C, Row), Last = 0;
  for (int64_t I = 0; I < Count; ++I) {
    int64_t R = Row + I / Heads, H = Head + I % Heads;
    Cols[I] = {A.Q + (R * A.Heads + H) * A.Shape.HeadDim,
               O + I * Width,
               beginOf(C, A, R),
               endOf(C, R),
               A.Slopes ? A.Slopes[H] : 0.0f,
               MinusInf,
               0.0f};
    Started[I] = false;
    First = Cols[I].Begin < First ? Cols[I].Begin : First;
    Last = Cols[I].End > Last ? Cols[I].End : Last;
  }
  for (int64_t S = First / SegmentTokens; S * SegmentTokens < Last; ++S) {
    int64_t From = S * SegmentTokens, To = From + SegmentTokens;
    for (int64_t I = 0; I < Count; ++I)
      resetColumn(Cols[I], Width);
    attendSegment<T>(C, A, Row, Group, Cols, Count, From < First ? First : From,
                     To < Last ? To : Last);
    for (int64_t I = 0; I < Count; ++I) {
      float *Total = Totals + I * Width;
      if (Cols[I].Begin >= To || Cols[I].End <= From)
        continue;
      if (Started[I]) {
        mergeSegment(TotalMax[I], TotalSum[I], Total, Cols[I].Max, Cols[I].Sum,
                     Cols[I].O, Width);
        continue;
      }
      Started[I] = true;
      TotalMax[I] = Cols[I].Max;
      TotalSum[I] = Cols[I].Sum;
      for (int64_t J = 0; J < Width; J += 16)
        store(Total + J, load(Cols[I].O + J));
    }
  }
  for (int64_t I = 0; I < Count; ++I)
    writeOut(A, Row + I / Heads, Head + I % Heads, Totals + I * Width,
             TotalMax[I], TotalSum[I]);
}

/// All rows, in runs of one sequence; unit u belongs to thread u mod threads.
template <typename T>
LLMC_INLINE void attendAll(const LlmcCtx *C, const AttentionArgs &A) {
  int64_t T0 = 0, Count = C->counts->tokens, Unit = 0;
  int64_t PerGroup = A.Heads / A.KvHeads;
  int64_t RunRows = PerGroup < MaxColumns ? MaxColumns / PerGroup : 1;
  while (T0 < Count) {
    int64_t T1 = T0 + 1;
    while (T1 < Count && T1 - T0 < RunRows &&
           rowSequence(C)[T1] == rowSequence(C)[T0])
      ++T1;
    for (int64_t G = 0; G < A.KvHeads; ++G, ++Unit) {
      if (Unit % C->threads != C->thread)
        continue;
      for (int64_t H = 0; H < PerGroup; H += MaxColumns) {
        int64_t N = PerGroup - H < MaxColumns ? PerGroup - H : MaxColumns;
        attendRows<T>(C, A, T0, T1 - T0, G, G * PerGroup + H, N);
      }
    }
    T0 = T1;
  }
}

/// Number of segments that the row sees.
LLMC_INLINE Range segmentsOf(const LlmcCtx *C, const AttentionArgs &A,
                             int64_t Row) {
  return {beginOf(C, A, Row) / SegmentTokens,
          (endOf(C, Row) + SegmentTokens - 1) / SegmentTokens};
}

/// One segment of one row and KV head into its records of `partial`.
template <typename T>
LLMC_INLINE void attendPartial(const LlmcCtx *C, const AttentionArgs &A,
                               int64_t Row, int64_t Group, int64_t Segment,
                               float *Records, int64_t RecordStride) {
  int64_t PerGroup = A.Heads / A.KvHeads, Width = widthOf(A);
  int64_t From = Segment * SegmentTokens, To = From + SegmentTokens;
  int64_t Begin = beginOf(C, A, Row), End = endOf(C, Row);
  for (int64_t H = 0; H < PerGroup; H += MaxColumns) {
    int64_t N = PerGroup - H < MaxColumns ? PerGroup - H : MaxColumns;
    Column Cols[MaxColumns];
    for (int64_t I = 0; I < N; ++I) {
      int64_t Head = Group * PerGroup + H + I;
      Cols[I] = {A.Q + (Row * A.Heads + Head) * A.Shape.HeadDim,
                 Records + Head * RecordStride + 16,
                 Begin,
                 End,
                 A.Slopes ? A.Slopes[Head] : 0.0f,
                 MinusInf,
                 0.0f};
      resetColumn(Cols[I], Width);
    }
    attendSegment<T>(C, A, Row, Group, Cols, N, From < Begin ? Begin : From,
                     To < End ? To : End);
    for (int64_t I = 0; I < N; ++I) {
      Cols[I].O[-16] = Cols[I].Max;
      Cols[I].O[-15] = Cols[I].Sum;
    }
  }
}

/// Rows split by segments. Records: [row][segment][head] (max, sum, 14 unused,
/// weighted sum).
template <typename T>
LLMC_INLINE void attendSplit(const LlmcCtx *C, const AttentionArgs &A) {
  int64_t Record = widthOf(A) + 16, Unit = 0;
  float *Records = A.Partial;
  for (int64_t Row = 0; Row < C->counts->tokens; ++Row) {
    Range S = segmentsOf(C, A, Row);
    for (int64_t I = S.Begin; I < S.End; ++I, Records += A.Heads * Record)
      for (int64_t G = 0; G < A.KvHeads; ++G, ++Unit)
        if (Unit % C->threads == C->thread)
          attendPartial<T>(C, A, Row, G, I, Records, Record);
  }
  barrier(C);
  Records = A.Partial;
  Unit = 0;
  for (int64_t Row = 0; Row < C->counts->tokens; ++Row) {
    Range S = segmentsOf(C, A, Row);
    for (int64_t H = 0; H < A.Heads; ++H, ++Unit) {
      if (Unit % C->threads != C->thread)
        continue;
      float *Total = Records + H * Record + 16;
      float Max = Total[-16], Sum = Total[-15];
      for (int64_t I = 1; I < S.End - S.Begin; ++I) {
        const float *O = Total + I * A.Heads * Record;
        mergeSegment(Max, Sum, Total, O[-16], O[-15], O, widthOf(A));
      }
      writeOut(A, Row, H, Total, Max, Sum);
    }
    Records += (S.End - S.Begin) * A.Heads * Record;
  }
}

/// Whether splitting by segments gives idle threads something to do.
LLMC_INLINE bool worthSplitting(const LlmcCtx *C, const AttentionArgs &A) {
  int64_t Rows = C->counts->tokens;
  if (!A.Partial || C->threads == 1 || Rows > PartialRows)
    return false;
  for (int64_t Row = 0; Row < Rows; ++Row) {
    Range S = segmentsOf(C, A, Row);
    if (S.End - S.Begin > 1)
      return true;
  }
  return false;
}

template <typename T>
LLMC_INLINE void attend(const LlmcCtx *C, const AttentionArgs &A) {
  if (worthSplitting(C, A))
    attendSplit<T>(C, A);
  else
    attendAll<T>(C, A);
}
} // namespace

extern "C" void LLMC_KERNEL(attention)(
    const LlmcCtx *C, const float *Q, uint8_t *Kv, float *Out, float *Partial,
    const float *Slopes, const float *Sinks, int64_t Heads, int64_t KvHeads,
    int64_t HeadDim, int64_t VHeadDim, int64_t Window, int64_t Chunk,
    int64_t KvKind, int64_t PageStride, float Scale, float Cap) {
  AttentionArgs A{
      Q,       Kv,         Out,
      Partial, Slopes,     Sinks,
      Heads,   KvHeads,    Window,
      Chunk,   PageStride, {HeadDim, VHeadDim, Scale, Cap, Slopes != nullptr}};
  if (KvKind == KvF32)
    attend<float>(C, A);
  else
    attend<_Float16>(C, A);
}
