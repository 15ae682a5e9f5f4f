// norm: RMS or layer norm of each of `heads` slices of n features, unfused.
#include "compiler/kernels/cpu/Rows.h"

using namespace llmc::kernels;

extern "C" void LLMC_KERNEL(norm)(const LlmcCtx *C, const float *X,
                                  const float *Gain, const float *NormBias,
                                  float *Out, int64_t N, int64_t Norm,
                                  int64_t Heads, float Eps) {
  RowSource S{X, nullptr, N, Norm, Gain, NormBias, Eps, XF32};
  Range Mine = share(C, C->counts->tokens * Heads);
  for (int64_t T = Mine.Begin; T < Mine.End; ++T) {
    const float *Row = X + T * N;
    NormFactors F = normFactors(Row, N, Norm, Eps);
    for (int64_t I = 0; I < N; I += 16) {
      VF V = normed(S, Row, F, I);
      if (I + 16 <= N)
        store(Out + T * N + I, V);
      else
        storePart(Out + T * N + I, V, N - I);
    }
  }
}
