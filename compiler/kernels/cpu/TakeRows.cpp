// take_rows: norm of x[logit_rows[r]], the end of a graph without a head.
#include "compiler/kernels/cpu/Rows.h"

using namespace llmc::kernels;

extern "C" void LLMC_KERNEL(take_rows)(const LlmcCtx *C, const float *X,
                                       const float *Gain, const float *NormBias,
                                       const int32_t *LogitRows, float *Out,
                                       int64_t N, int64_t Norm, float Eps) {
  RowSource S{X, LogitRows, N, Norm, Gain, NormBias, Eps, XF32};
  Range Mine = share(C, C->counts->logit_rows);
  for (int64_t R = Mine.Begin; R < Mine.End; ++R) {
    const float *Row = rowAt(S, R);
    NormFactors F = normFactors(Row, N, Norm, Eps);
    for (int64_t I = 0; I < N; I += 16) {
      VF V = normed(S, Row, F, I);
      if (I + 16 <= N)
        store(Out + R * N + I, V);
      else
        storePart(Out + R * N + I, V, N - I);
    }
  }
}
