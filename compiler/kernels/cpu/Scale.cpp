// scale: out = x * factor.
#include "compiler/kernels/cpu/Elementwise.h"

using namespace llmc::kernels;

extern "C" void LLMC_KERNEL(scale)(const LlmcCtx *C, const float *X, float *Out,
                                   int64_t N, float Factor) {
  mapRows(C, X, nullptr, Out, N, [=](VF V, VF) __attribute__((always_inline)) {
    return V * splat(Factor);
  });
}
