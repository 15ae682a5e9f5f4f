// add: out = a + b.
#include "compiler/kernels/cpu/Elementwise.h"

using namespace llmc::kernels;

extern "C" void LLMC_KERNEL(add)(const LlmcCtx *C, const float *A,
                                 const float *B, float *Out, int64_t N) {
  mapRows(C, A, B, Out, N,
          [](VF X, VF Y) __attribute__((always_inline)) { return X + Y; });
}
