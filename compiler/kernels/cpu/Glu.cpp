// glu: out = activation(gate) * up, unfused.
#include "compiler/kernels/cpu/Elementwise.h"

using namespace llmc::kernels;

extern "C" void LLMC_KERNEL(glu)(const LlmcCtx *C, const float *Gate,
                                 const float *Up, float *Out, int64_t N,
                                 int64_t Activation) {
  mapRows(C, Gate, Up, Out, N, [=](VF G, VF U) __attribute__((always_inline)) {
    return activate(G, Activation) * U;
  });
}
