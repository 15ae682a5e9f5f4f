// linear: norm -> x W^T + bias -> activation or GLU -> + residual -> out.
#include "compiler/kernels/cpu/Product.h"

using namespace llmc::kernels;

extern "C" void LLMC_KERNEL(linear)(
    const LlmcCtx *C, const float *X, const float *Gain, const float *NormBias,
    const uint8_t *Weight, const float *Bias, const float *Residual, float *Out,
    uint8_t *Xq, int64_t K, int64_t N, int64_t WType, int64_t XPolicy,
    int64_t Norm, int64_t Glu, int64_t Activation, int64_t Domain, float Eps) {
  alignas(64) uint8_t Private[PrivateBytes];
  RowSet Rows = rowsOf(C, Domain);
  RowSource S{X, nullptr, K, Norm, Gain, NormBias, Eps, XPolicy};
  PackedMatrix M{Weight, K, N, WType, XPolicy};
  int64_t Panels = (N + 15) / 16;
  Range Mine = share(C, Panels);
  if (Glu != ActNone) {
    Mine = share(C, Panels / 2);
    Mine = {2 * Mine.Begin, 2 * Mine.End};
  }
  const uint8_t *Packed = packRows(
      C, Rows, S, Weight + Mine.Begin * panelBytes(K, WType), Xq, Private);

  if (Glu != ActNone) {
    int64_t Half = N / 2;
    auto Epi = [=](int64_t P, int64_t R, VF Gate, VF Up)
                   __attribute__((always_inline)) {
                     if (Bias) {
                       Gate = Gate + panelVector(Bias, P, N);
                       Up = Up + panelVector(Bias, P + 1, N);
                     }
                     VF V = activate(Gate, Glu) * Up;
                     if (Residual)
                       V = V + loadRow(Residual + R * Half, P * 8, Half);
                     storePanel(Out + R * Half, P / 2, Half, V);
                   };
    product<true>(Rows, M, XPolicy, Mine, Packed, Epi);
    return;
  }
  auto Epi = [=](int64_t P, int64_t R, VF V) __attribute__((always_inline)) {
    if (Bias)
      V = V + panelVector(Bias, P, N);
    V = activate(V, Activation);
    if (Residual)
      V = V + loadRow(Residual + R * N, P * 16, N);
    storePanel(Out + R * N, P, N, V);
  };
  product<false>(Rows, M, XPolicy, Mine, Packed, Epi);
}
