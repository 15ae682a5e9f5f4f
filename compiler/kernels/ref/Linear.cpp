// linear (reference): norm -> x W^T + bias -> activation or GLU -> + residual.
#include "compiler/kernels/ref/Product.h"
#include "compiler/kernels/ref/Ref.h"

using namespace llmc::kernels;
using namespace llmc::kernels::ref;

extern "C" void k_linear_ref(const LlmcCtx *C, const float *X,
                             const float *Gain, const float *NormBias,
                             const uint8_t *Weight, const float *Bias,
                             const float *Residual, float *Out, uint8_t *,
                             int64_t K, int64_t N, int64_t WType,
                             int64_t XPolicy, int64_t Norm, int64_t Glu,
                             int64_t Activation, int64_t Domain, float Eps) {
  if (C->thread != 0)
    return;
  int64_t Rows = Domain == RowsT ? C->counts->tokens : C->counts->logit_rows;
  int64_t Features = Glu != ActNone ? N / 2 : N;
  for (int64_t R = 0; R < Rows; ++R) {
    QuantRow Q = quantiseRow(normRow(X + R * K, K, Norm, Gain, NormBias, Eps),
                             XPolicy, !isPrompt(C, Domain, R));
    for (int64_t F = 0; F < Features; ++F) {
      int64_t Row = Glu != ActNone ? F / 16 * 32 + F % 16 : F;
      float V = product(Q, Weight, K, Row, WType);
      if (Bias)
        V = V + Bias[Row];
      if (Glu != ActNone) {
        float Up = product(Q, Weight, K, Row + 16, WType);
        if (Bias)
          Up = Up + Bias[Row + 16];
        V = activate(V, Glu) * Up;
      } else {
        V = activate(V, Activation);
      }
      if (Residual)
        V = V + Residual[R * Features + F];
      Out[R * Features + F] = V;
    }
  }
}
