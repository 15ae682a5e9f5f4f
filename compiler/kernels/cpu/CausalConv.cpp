// causal_conv: every row goes to its page; behind a barrier each row is
// computed from its own and those before it, 16 features at a time.
#include "compiler/kernels/cpu/Kv.h"
#include "compiler/kernels/cpu/Math.h"

using namespace llmc::kernels;

namespace {
template <typename T>
LLMC_INLINE T *pageRow(const LlmcCtx *C, uint8_t *Kv, int64_t PageStride,
                       int64_t Row, int64_t Pos, int64_t N) {
  return reinterpret_cast<T *>(Kv + pageOf(C, Row, Pos) * PageStride) +
         Pos % PageTokens * N;
}

template <typename T>
LLMC_INLINE void run(const LlmcCtx *C, const float *X, uint8_t *Kv,
                     const float *Weight, const float *Bias, float *Out,
                     int64_t N, int64_t Taps, int64_t Activation,
                     int64_t PageStride) {
  Range Mine = share(C, C->counts->tokens);
  for (int64_t Row = Mine.Begin; Row < Mine.End; ++Row) {
    T *To = pageRow<T>(C, Kv, PageStride, Row, positions(C)[Row], N);
    for (int64_t I = 0; I < N; ++I)
      To[I] = static_cast<T>(X[Row * N + I]);
  }
  barrier(C);
  for (int64_t Row = Mine.Begin; Row < Mine.End; ++Row)
    for (int64_t I = 0; I < N; I += 16) {
      int64_t Lanes = N - I < 16 ? N - I : 16;
      VF Sum = Bias ? loadRow(Bias, I, N) : splat(0);
      for (int64_t J = 0; J < Taps; ++J) {
        int64_t Pos = positions(C)[Row] - Taps + 1 + J;
        if (Pos < 0)
          continue;
        VF W = splat(0);
        for (int64_t L = 0; L < Lanes; ++L)
          W[L] = Weight[(I + L) * Taps + J];
        Sum = fma(W, loadRow(pageRow<T>(C, Kv, PageStride, Row, Pos, N), I, N),
                  Sum);
      }
      Sum = activate(Sum, Activation);
      if (Lanes == 16)
        store(Out + Row * N + I, Sum);
      else
        storePart(Out + Row * N + I, Sum, Lanes);
    }
}
} // namespace

extern "C" void LLMC_KERNEL(causal_conv)(const LlmcCtx *C, const float *X,
                                         uint8_t *Kv, const float *Weight,
                                         const float *Bias, float *Out,
                                         int64_t N, int64_t Taps,
                                         int64_t Activation, int64_t KvKind,
                                         int64_t PageStride) {
  if (KvKind == KvF32)
    run<float>(C, X, Kv, Weight, Bias, Out, N, Taps, Activation, PageStride);
  else
    run<_Float16>(C, X, Kv, Weight, Bias, Out, N, Taps, Activation, PageStride);
}
