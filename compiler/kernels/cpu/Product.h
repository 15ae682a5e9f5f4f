// A product of rows with a packed matrix: prologue, order of the loops, split
// over threads. Shared by linear, logits and qkv, which differ in what they do
// with a finished tile of 16 outputs.
//
// Panels are the outer loop and rows the inner one, so that a line of weights
// comes from memory once per block of rows; a block is as many rows as fit into
// about half of the second-level cache, and not more than 64, so that the rows
// of the output that a block writes stay there, too. A thread owns whole
// panels.
#ifndef LLMC_COMPILER_KERNELS_CPU_PRODUCT_H
#define LLMC_COMPILER_KERNELS_CPU_PRODUCT_H

#include "compiler/kernels/cpu/Math.h"
#include "compiler/kernels/cpu/TileCodes.h"

namespace llmc::kernels {

struct PackedMatrix {
  const uint8_t *Data;
  int64_t K, N, Type;
  int64_t Policy; ///< of the rows it is multiplied with
};

/// Rows that every thread packs for itself instead of sharing the work, since a
/// barrier would cost more; they must fit into PrivateBytes of its stack.
constexpr int64_t PrivateRows = 4;
constexpr int64_t PrivateBytes = 48 * 1024;
constexpr int64_t RowBlockBytes = 640 * 1024;
constexpr int64_t RowBlockUnits = 16;

/// Packs all rows; the result is readable by this thread when it returns.
/// Weights is where this thread starts to read.
LLMC_INLINE const uint8_t *packRows(const LlmcCtx *C, RowSet Rows,
                                    const RowSource &S, const uint8_t *Weights,
                                    uint8_t *Shared, uint8_t *Private) {
  int64_t RowBytes = xqBytesPerToken(S.K, S.Policy);
  bool Alone =
      Rows.Count <= PrivateRows && Rows.Count * RowBytes <= PrivateBytes;
  uint8_t *To = Alone ? Private : Shared;
  int64_t Units = unitsOf(Rows);
  Range Mine = Alone ? Range{0, Units} : share(C, Units);
  for (int64_t U = Mine.Begin; U < Mine.End; ++U) {
    Unit Un = unitAt(Rows, U);
    packUnit(S, Un, Alone ? Weights : nullptr, To + Un.Row * RowBytes);
  }
  if (!Alone)
    barrier(C);
  return To;
}

/// One unit of rows with Panels (1 or 2) panels
/// from P on; hands each vector of 16 outputs to Epi(panel, row, value), or
/// with Pairs both panels' at once to Epi(panel, row, value, value of the next
/// panel).
template <bool Pairs, typename Epilogue>
LLMC_INLINE void runUnit(PackedMatrix M, int64_t P, int64_t Panels, Unit U,
                         const uint8_t *X, bool Fetch, Epilogue Epi) {
  int64_t Bytes = panelBytes(M.K, M.Type);
  const uint8_t *W = M.Data + headerBytes(M.Type) + P * Bytes;
  VF Out[2 * UnitRows];
  if (M.Policy == XF32)
    tilesExact(M.Type, M.Data, W, Bytes, X, M.K, U.Rows, Panels, Out);
  else
    tilesInt8(M.Type, M.Data, W, Bytes, X, M.K, U.Two, U.Rows, Panels,
              Fetch ? Panels * Bytes : 0, Out);
  if constexpr (Pairs) {
#pragma clang loop unroll(disable)
    for (int64_t R = 0; R < U.Rows; ++R)
      Epi(P, U.Row + R, Out[R], Out[U.Rows + R]);
  } else {
#pragma clang loop unroll(disable)
    for (int64_t I = 0; I < Panels * U.Rows; ++I) {
      bool Next = I >= U.Rows;
      Epi(P + Next, U.Row + I - (Next ? U.Rows : 0), Out[I]);
    }
  }
}

/// All rows with the panels of Mine.
template <bool Pairs, typename Epilogue>
LLMC_INLINE void product(RowSet Rows, PackedMatrix M, int64_t Policy,
                         Range Mine, const uint8_t *Xq, Epilogue Epi) {
  int64_t RowBytes = xqBytesPerToken(M.K, Policy);
  int64_t Units = unitsOf(Rows);
  int64_t Block = RowBlockBytes / (RowBytes * UnitRows);
  Block = Block < 4 ? 4 : (Block > RowBlockUnits ? RowBlockUnits : Block);
  for (int64_t U0 = 0; U0 < Units; U0 += Block) {
    int64_t U1 = U0 + Block < Units ? U0 + Block : Units;
    // A single unit gains nothing from two panels at once: one stream.
    int64_t Step = Pairs || U1 - U0 > 1 ? 2 : 1;
    for (int64_t P = Mine.Begin; P < Mine.End; P += Step) {
      int64_t Panels = Mine.End - P < Step ? Mine.End - P : Step;
      for (int64_t I = U0; I < U1; ++I) {
        Unit U = unitAt(Rows, I);
        const uint8_t *X = Xq + U.Row * RowBytes;
        // One or two rows keep up with memory, whose own prefetcher is enough.
        bool Fetch = I + 1 == U1 && (U1 - U0 > 1 || U.Rows > 2);
        runUnit<Pairs>(M, P, Panels, U, X, Fetch, Epi);
      }
    }
  }
}

/// Sixteen values of a packed-order vector (bias) that may end inside.
LLMC_INLINE VF panelVector(const float *V, int64_t Panel, int64_t N) {
  return loadRow(V, Panel * 16, N);
}
LLMC_INLINE void storePanel(float *Row, int64_t Panel, int64_t N, VF V) {
  if (Panel * 16 + 16 <= N)
    store(Row + Panel * 16, V);
  else
    storePart(Row + Panel * 16, V, N - Panel * 16);
}

} // namespace llmc::kernels

#endif // LLMC_COMPILER_KERNELS_CPU_PRODUCT_H
