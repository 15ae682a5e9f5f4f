// norm (reference): each of `heads` slices of n features by itself.
#include "compiler/kernels/ref/Product.h"
#include "compiler/kernels/ref/Ref.h"

#include <algorithm>

using namespace llmc::kernels::ref;

extern "C" void k_norm_ref(const LlmcCtx *C, const float *X, const float *Gain,
                           const float *NormBias, float *Out, int64_t N,
                           int64_t Norm, int64_t Heads, float Eps) {
  if (C->thread != 0)
    return;
  for (int64_t R = 0; R < int64_t(C->counts->tokens) * Heads; ++R) {
    std::vector<float> Y = normRow(X + R * N, N, Norm, Gain, NormBias, Eps);
    std::copy(Y.begin(), Y.end(), Out + R * N);
  }
}
