// Frame of the elementwise kernels: this thread's rows, 16 values at a time.
#ifndef LLMC_COMPILER_KERNELS_CPU_ELEMENTWISE_H
#define LLMC_COMPILER_KERNELS_CPU_ELEMENTWISE_H

#include "compiler/kernels/cpu/Math.h"
#include "compiler/kernels/cpu/Step.h"

namespace llmc::kernels {

/// Out = Fn(A, B) for all values of this thread's rows; B may be null.
template <typename Function>
LLMC_INLINE void mapRows(const LlmcCtx *C, const float *A, const float *B,
                         float *Out, int64_t N, Function Fn) {
  Range Rows = share(C, C->counts->tokens);
  int64_t End = Rows.End * N;
  for (int64_t I = Rows.Begin * N; I < End; I += 16) {
    VF V = Fn(loadRow(A, I, End), B ? loadRow(B, I, End) : splat(0));
    if (I + 16 <= End)
      store(Out + I, V);
    else
      storePart(Out + I, V, End - I);
  }
}

} // namespace llmc::kernels

#endif // LLMC_COMPILER_KERNELS_CPU_ELEMENTWISE_H
