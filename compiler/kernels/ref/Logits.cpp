// logits (reference): norm of x[logit_rows[r]] -> W^T + bias -> * multiplier ->
// softcap.
#include "compiler/kernels/ref/Product.h"
#include "compiler/kernels/ref/Ref.h"

using namespace llmc::kernels;
using namespace llmc::kernels::ref;

extern "C" void k_logits_ref(const LlmcCtx *C, const float *X,
                             const float *Gain, const float *NormBias,
                             const uint8_t *Weight, const float *Bias,
                             const int32_t *LogitRows, float *Out, uint8_t *,
                             int64_t K, int64_t N, int64_t WType,
                             int64_t XPolicy, int64_t Norm, float Eps,
                             float Multiplier, float Cap) {
  if (C->thread != 0)
    return;
  for (int64_t R = 0; R < int64_t(C->counts->logit_rows); ++R) {
    QuantRow Q =
        quantiseRow(normRow(X + LogitRows[R] * K, K, Norm, Gain, NormBias, Eps),
                    XPolicy, !isPrompt(C, RowsR, R));
    for (int64_t I = 0; I < N; ++I) {
      float V = product(Q, Weight, K, I, WType);
      if (Bias)
        V = V + Bias[I];
      if (Multiplier != 1.0f)
        V = V * Multiplier;
      Out[R * N + I] = softcap(V, Cap);
    }
  }
}
