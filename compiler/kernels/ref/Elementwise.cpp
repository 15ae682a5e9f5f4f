// glu, activation, add and scale (reference).
#include "compiler/kernels/ref/Math.h"
#include "compiler/kernels/ref/Ref.h"

using namespace llmc::kernels::ref;

namespace {
/// Values of the step that thread 0 (and nobody else) works on.
int64_t valuesOf(const LlmcCtx *C, int64_t N) {
  return C->thread == 0 ? int64_t(C->counts->tokens) * N : 0;
}
} // namespace

extern "C" void k_glu_ref(const LlmcCtx *C, const float *Gate, const float *Up,
                          float *Out, int64_t N, int64_t Activation) {
  for (int64_t I = 0; I < valuesOf(C, N); ++I)
    Out[I] = activate(Gate[I], Activation) * Up[I];
}

extern "C" void k_activation_ref(const LlmcCtx *C, const float *X, float *Out,
                                 int64_t N, int64_t Activation) {
  for (int64_t I = 0; I < valuesOf(C, N); ++I)
    Out[I] = activate(X[I], Activation);
}

extern "C" void k_add_ref(const LlmcCtx *C, const float *A, const float *B,
                          float *Out, int64_t N) {
  for (int64_t I = 0; I < valuesOf(C, N); ++I)
    Out[I] = A[I] + B[I];
}

extern "C" void k_scale_ref(const LlmcCtx *C, const float *X, float *Out,
                            int64_t N, float Factor) {
  for (int64_t I = 0; I < valuesOf(C, N); ++I)
    Out[I] = X[I] * Factor;
}
