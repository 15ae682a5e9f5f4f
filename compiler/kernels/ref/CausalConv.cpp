// causal_conv (reference): all rows go to their pages, then each is computed
// from its own and the rows before it.
#include "compiler/kernels/ref/Kv.h"
#include "compiler/kernels/ref/Ref.h"

using namespace llmc::kernels;
using namespace llmc::kernels::ref;

extern "C" void k_causal_conv_ref(const LlmcCtx *C, const float *X, uint8_t *Kv,
                                  const float *Weight, const float *Bias,
                                  float *Out, int64_t N, int64_t Taps,
                                  int64_t Activation, int64_t KvKind,
                                  int64_t PageStride) {
  if (C->thread != 0)
    return;
  const int32_t *Positions =
      static_cast<const int32_t *>(C->args->ptr[LLMC_ARG_POSITIONS]);
  // One head whose block holds the rows of a page.
  KvPool P{C, Kv, PageStride, N, 0, KvKind};
  auto At = [&](int64_t T, int64_t Pos, int64_t I) {
    return P.at(T, Pos, 0, Pos % LLMC_CPU_PAGE_TOKENS * N + I);
  };
  int64_t Tokens = C->counts->tokens;
  for (int64_t T = 0; T < Tokens; ++T)
    for (int64_t I = 0; I < N; ++I)
      P.put(At(T, Positions[T], I), X[T * N + I]);
  for (int64_t T = 0; T < Tokens; ++T)
    for (int64_t I = 0; I < N; ++I) {
      float Sum = Bias ? Bias[I] : 0.0f;
      for (int64_t J = 0; J < Taps; ++J) {
        int64_t Pos = Positions[T] - Taps + 1 + J;
        if (Pos >= 0)
          Sum = std::fmaf(Weight[I * Taps + J], P.get(At(T, Pos, I)), Sum);
      }
      Out[T * N + I] = activate(Sum, Activation);
    }
}
