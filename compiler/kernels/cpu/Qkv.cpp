// qkv: norm -> x Wqkv + bias -> rope on q and k -> q_out, KV pool.
//
// Packed rows go per KV group: its q heads, k, v. The unit of work is a head,
// so that rope and the KV write stay with the thread that made the head, one
// unit of rows at a time. A head whose size is no multiple of 16 shares panels
// with its neighbours; both compute them.
#include "compiler/kernels/cpu/Kv.h"
#include "compiler/kernels/cpu/Product.h"

using namespace llmc::kernels;

namespace {
struct QkvShape {
  int64_t K, Heads, KvHeads, HeadDim, VHeadDim, Half, Interleaved, KvKind;
  int64_t PageStride;
};

/// Head number I of the packed order: its first row and what it is.
struct PackedHead {
  int64_t Row, Size, Group, Query; ///< Query: q head, -1 key, -2 value
};

LLMC_INLINE PackedHead packedHead(const QkvShape &S, int64_t I) {
  int64_t Per = S.Heads / S.KvHeads, Group = I / (Per + 2), J = I % (Per + 2);
  int64_t Row = Group * ((Per + 1) * S.HeadDim + S.VHeadDim) + J * S.HeadDim;
  if (J < Per)
    return {Row, S.HeadDim, Group, Group * Per + J};
  return {Row, J == Per ? S.HeadDim : S.VHeadDim, Group, J == Per ? -1 : -2};
}

/// Rope and store of one row of a finished head.
LLMC_INLINE void finishHead(const LlmcCtx *C, const QkvShape &S, PackedHead H,
                            int64_t Row, float *X, const float *Rope,
                            uint8_t *Kv, float *QOut) {
  if (H.Query != -2 && Rope && S.Half)
    rotate(X, Rope + Row * 2 * S.Half, S.Half, S.Interleaved);
  if (H.Query >= 0) {
    float *To = QOut + (Row * S.Heads + H.Query) * S.HeadDim;
    for (int64_t I = 0; I < S.HeadDim; ++I)
      To[I] = X[I];
  } else if (H.Query == -1) {
    if (S.KvKind == KvF32)
      writeKey<float>(C, Row, Kv, S.PageStride, H.Group, S.HeadDim, S.VHeadDim,
                      X);
    else
      writeKey<_Float16>(C, Row, Kv, S.PageStride, H.Group, S.HeadDim,
                         S.VHeadDim, X);
  } else {
    if (S.KvKind == KvF32)
      writeValue<float>(C, Row, Kv, S.PageStride, H.Group, S.HeadDim,
                        S.VHeadDim, X);
    else
      writeValue<_Float16>(C, Row, Kv, S.PageStride, H.Group, S.HeadDim,
                           S.VHeadDim, X);
  }
}
} // namespace

extern "C" void
LLMC_KERNEL(qkv)(const LlmcCtx *C, const float *X, const float *Gain,
                 const float *NormBias, const uint8_t *Weight,
                 const float *Bias, const float *Rope, uint8_t *Kv, float *QOut,
                 uint8_t *Xq, int64_t K, int64_t Heads, int64_t KvHeads,
                 int64_t HeadDim, int64_t VHeadDim, int64_t RotaryHalf,
                 int64_t Interleaved, int64_t WType, int64_t XPolicy,
                 int64_t Norm, int64_t KvKind, int64_t PageStride, float Eps) {
  alignas(64) uint8_t Private[PrivateBytes];
  // One unit of rows of one head, with the foreign ends of its panels.
  alignas(64) float Temp[UnitRows * (MaxHeadDim + 32)];
  RowSet Rows = rowsOf(C, RowsT);
  RowSource S{X, nullptr, K, Norm, Gain, NormBias, Eps, XPolicy};
  QkvShape Shape{K,          Heads,       KvHeads, HeadDim,   VHeadDim,
                 RotaryHalf, Interleaved, KvKind,  PageStride};
  int64_t N = Heads * HeadDim + KvHeads * (HeadDim + VHeadDim);
  PackedMatrix M{Weight, K, N, WType, XPolicy};
  Range Mine = share(C, Heads + 2 * KvHeads);
  const uint8_t *First =
      Weight + packedHead(Shape, Mine.Begin).Row / 16 * panelBytes(K, WType);
  const uint8_t *Packed = packRows(C, Rows, S, First, Xq, Private);
  int64_t RowBytes = xqBytesPerToken(K, XPolicy), Units = unitsOf(Rows);

  for (int64_t I = Mine.Begin; I < Mine.End; ++I) {
    PackedHead H = packedHead(Shape, I);
    int64_t P0 = H.Row / 16, P1 = (H.Row + H.Size + 15) / 16;
    int64_t Width = (P1 - P0) * 16;
    for (int64_t J = 0; J < Units; ++J) {
      Unit U = unitAt(Rows, J);
      float *Out = Temp;
      auto Epi = [=](int64_t P, int64_t R, VF V)
                     __attribute__((always_inline)) {
                       if (Bias)
                         V = V + panelVector(Bias, P, N);
                       store(Out + (R - U.Row) * Width + (P - P0) * 16, V);
                     };
      const uint8_t *Xs = Packed + U.Row * RowBytes;
      for (int64_t P = P0; P < P1; P += 2) {
        int64_t Panels = P1 - P < 2 ? P1 - P : 2;
        runUnit<false>(M, P, Panels, U, Xs, J + 1 == Units && Rows.Count > 2,
                       Epi);
      }
      for (int64_t R = 0; R < U.Rows; ++R)
        finishHead(C, Shape, H, U.Row + R, Temp + R * Width + (H.Row - P0 * 16),
                   Rope, Kv, QOut);
    }
  }
}
