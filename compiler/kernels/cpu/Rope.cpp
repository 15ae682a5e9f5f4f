// rope: rotary embedding of each head of each row, unfused.
#include "compiler/kernels/cpu/Kv.h"

using namespace llmc::kernels;

extern "C" void LLMC_KERNEL(rope)(const LlmcCtx *C, const float *X,
                                  const float *Rope, float *Out, int64_t Heads,
                                  int64_t HeadDim, int64_t RotaryHalf,
                                  int64_t Interleaved) {
  Range Mine = share(C, C->counts->tokens);
  int64_t N = Heads * HeadDim;
  for (int64_t T = Mine.Begin; T < Mine.End; ++T) {
    if (Out != X)
      for (int64_t I = 0; I < N; ++I)
        Out[T * N + I] = X[T * N + I];
    for (int64_t H = 0; H < Heads; ++H)
      rotate(Out + T * N + H * HeadDim, Rope + T * 2 * RotaryHalf, RotaryHalf,
             Interleaved);
  }
}
