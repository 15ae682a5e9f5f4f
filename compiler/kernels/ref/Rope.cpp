// rope (reference): rotary embedding of each head of each row.
#include "compiler/kernels/ref/Kv.h"
#include "compiler/kernels/ref/Ref.h"

using namespace llmc::kernels::ref;

extern "C" void k_rope_ref(const LlmcCtx *C, const float *X, const float *Rope,
                           float *Out, int64_t Heads, int64_t HeadDim,
                           int64_t RotaryHalf, int64_t Interleaved) {
  if (C->thread != 0)
    return;
  for (int64_t T = 0; T < int64_t(C->counts->tokens); ++T)
    for (int64_t H = 0; H < Heads; ++H) {
      float *Head = Out + (T * Heads + H) * HeadDim;
      std::memmove(Head, X + (T * Heads + H) * HeadDim, HeadDim * 4);
      rotate(Head, Rope + T * 2 * RotaryHalf, RotaryHalf, Interleaved);
    }
}
