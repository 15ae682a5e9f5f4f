// experts (reference): a product per row and chosen expert; combined in
// ascending order of experts.
#include "compiler/kernels/ref/Product.h"
#include "compiler/kernels/ref/Ref.h"

#include <algorithm>

using namespace llmc::kernels;
using namespace llmc::kernels::ref;

extern "C" void k_experts_ref(const LlmcCtx *C, const float *X,
                              const float *Route, const uint8_t *Weight,
                              const float *Bias, float *Out, uint8_t *,
                              int64_t K, int64_t N, int64_t Experts,
                              int64_t Slots, int64_t Combine, int64_t WType,
                              int64_t XPolicy) {
  if (C->thread != 0)
    return;
  int64_t Width = Combine ? N : Slots * N;
  for (int64_t T = 0; T < int64_t(C->counts->tokens); ++T) {
    std::fill_n(Out + T * Width, Width, 0.0f);
    for (int64_t E = 0, Slot = 0; E < Experts && Slot < Slots; ++E) {
      float Share = Route[T * Experts + E];
      if (Share == 0.0f)
        continue;
      const float *Row = X + (Combine ? T * Slots + Slot : T) * K;
      QuantRow Q = quantiseRow(std::vector<float>(Row, Row + K), XPolicy,
                               !isPrompt(C, RowsT, T));
      for (int64_t I = 0; I < N; ++I) {
        float V = product(Q, Weight, K, E * N + I, WType);
        if (Bias)
          V = V + Bias[E * N + I];
        if (Combine)
          Out[T * N + I] = std::fmaf(Share, V, Out[T * N + I]);
        else
          Out[(T * Slots + Slot) * N + I] = V;
      }
      ++Slot;
    }
  }
}
