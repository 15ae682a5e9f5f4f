// select_by_length (reference).
#include "compiler/kernels/ref/Ref.h"

extern "C" void k_select_by_length_ref(const LlmcCtx *C, const float *A,
                                       const float *B, float *Out, int64_t N,
                                       int64_t Threshold) {
  if (C->thread != 0)
    return;
  const int32_t *Lengths =
      static_cast<const int32_t *>(C->args->ptr[LLMC_ARG_LENGTHS]);
  for (int64_t I = 0; I < int64_t(C->counts->tokens) * N; ++I)
    Out[I] = Lengths[I / N] > Threshold ? B[I] : A[I];
}
