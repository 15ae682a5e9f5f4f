// select_by_length: rows of b where the sequence is longer than threshold.
#include "compiler/kernels/cpu/Step.h"

using namespace llmc::kernels;

extern "C" void LLMC_KERNEL(select_by_length)(const LlmcCtx *C, const float *A,
                                              const float *B, float *Out,
                                              int64_t N, int64_t Threshold) {
  const int32_t *Lengths =
      static_cast<const int32_t *>(C->args->ptr[LLMC_ARG_LENGTHS]);
  Range Mine = share(C, C->counts->tokens);
  for (int64_t T = Mine.Begin; T < Mine.End; ++T) {
    const float *From = Lengths[T] > Threshold ? B : A;
    for (int64_t I = 0; I < N; ++I)
      Out[T * N + I] = From[T * N + I];
  }
}
