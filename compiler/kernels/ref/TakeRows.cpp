// take_rows (reference): norm of x[logit_rows[r]].
#include "compiler/kernels/ref/Product.h"
#include "compiler/kernels/ref/Ref.h"

#include <algorithm>

using namespace llmc::kernels::ref;

extern "C" void k_take_rows_ref(const LlmcCtx *C, const float *X,
                                const float *Gain, const float *NormBias,
                                const int32_t *LogitRows, float *Out, int64_t N,
                                int64_t Norm, float Eps) {
  if (C->thread != 0)
    return;
  for (int64_t R = 0; R < int64_t(C->counts->logit_rows); ++R) {
    std::vector<float> Y =
        normRow(X + LogitRows[R] * N, N, Norm, Gain, NormBias, Eps);
    std::copy(Y.begin(), Y.end(), Out + R * N);
  }
}
