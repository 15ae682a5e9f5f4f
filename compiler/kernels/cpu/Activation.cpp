// activation: out = activation(x), unfused.
#include "compiler/kernels/cpu/Elementwise.h"

using namespace llmc::kernels;

extern "C" void LLMC_KERNEL(activation)(const LlmcCtx *C, const float *X,
                                        float *Out, int64_t N,
                                        int64_t Activation) {
  mapRows(C, X, nullptr, Out, N, [=](VF V, VF) __attribute__((always_inline)) {
    return activate(V, Activation);
  });
}
