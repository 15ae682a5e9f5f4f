// logits: row r is norm of x[logit_rows[r]] -> W^T + bias -> * multiplier ->
// softcap.
#include "compiler/kernels/cpu/Product.h"

using namespace llmc::kernels;

extern "C" void LLMC_KERNEL(logits)(
    const LlmcCtx *C, const float *X, const float *Gain, const float *NormBias,
    const uint8_t *Weight, const float *Bias, const int32_t *LogitRows,
    float *Out, uint8_t *Xq, int64_t K, int64_t N, int64_t WType,
    int64_t XPolicy, int64_t Norm, float Eps, float Multiplier, float Cap) {
  alignas(64) uint8_t Private[PrivateBytes];
  RowSet Rows = rowsOf(C, RowsR);
  RowSource S{X, LogitRows, K, Norm, Gain, NormBias, Eps, XPolicy};
  PackedMatrix M{Weight, K, N, WType, XPolicy};
  Range Mine = share(C, (N + 15) / 16);
  const uint8_t *Packed = packRows(
      C, Rows, S, Weight + Mine.Begin * panelBytes(K, WType), Xq, Private);
  auto Epi = [=](int64_t P, int64_t R, VF V) __attribute__((always_inline)) {
    if (Bias)
      V = V + panelVector(Bias, P, N);
    if (Multiplier != 1.0f)
      V = V * splat(Multiplier);
    storePanel(Out + R * N, P, N, softcap(V, Cap));
  };
  product<false>(Rows, M, XPolicy, Mine, Packed, Epi);
}
