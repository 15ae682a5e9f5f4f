// What kernels know of the step that they work on: its arrays, the class of its
// rows, the share of this thread, the barrier.
#ifndef LLMC_COMPILER_KERNELS_CPU_STEP_H
#define LLMC_COMPILER_KERNELS_CPU_STEP_H

#include "compiler/kernels/Constants.h"
#include "compiler/kernels/cpu/Vec.h"
#include "runtime/device/StepAbi.h"

namespace llmc::kernels {

LLMC_INLINE const int32_t *positions(const LlmcCtx *C) {
  return static_cast<const int32_t *>(C->args->ptr[LLMC_ARG_POSITIONS]);
}
LLMC_INLINE const int32_t *rowSequence(const LlmcCtx *C) {
  return static_cast<const int32_t *>(C->args->ptr[LLMC_ARG_ROW_SEQ]);
}
LLMC_INLINE const int32_t *logitRows(const LlmcCtx *C) {
  return static_cast<const int32_t *>(C->args->ptr[LLMC_ARG_LOGIT_ROWS]);
}

/// Page that holds position Pos of the row's sequence.
LLMC_INLINE uint32_t pageOf(const LlmcCtx *C, int64_t Row, int64_t Pos) {
  const uint32_t *Table =
      static_cast<const uint32_t *>(C->args->ptr[LLMC_ARG_PAGE_TABLE]);
  return Table[int64_t(rowSequence(C)[Row]) * C->counts->pages_per_sequence +
               Pos / LLMC_CPU_PAGE_TOKENS];
}

/// Half-open range.
struct Range {
  int64_t Begin, End;
};

/// This thread's contiguous part of Units.
LLMC_INLINE Range share(const LlmcCtx *C, int64_t Units) {
  int64_t I = C->thread, N = C->threads;
  return {Units * I / N, Units * (I + 1) / N};
}

/// Rows of a phase: all T rows, or the R logit rows. The first Prompt of them
/// have the class prompt.
struct RowSet {
  int64_t Count, Prompt;
};

LLMC_INLINE RowSet rowsOf(const LlmcCtx *C, int64_t Domain) {
  if (Domain == RowsT)
    return {C->counts->tokens, C->counts->prompt_tokens};
  int64_t R = C->counts->logit_rows, P = 0;
  while (P < R && logitRows(C)[P] < int64_t(C->counts->prompt_tokens))
    ++P;
  return {R, P};
}

/// Waits until all threads of the step are here. The last one to arrive starts
/// the next generation; the others poll a while, then sleep in the runtime.
LLMC_INLINE void barrier(const LlmcCtx *C) {
  if (C->threads == 1)
    return;
  LlmcBarrier *B = static_cast<LlmcBarrier *>(C->args->ptr[LLMC_ARG_BARRIER]);
  uint32_t Seen = __atomic_load_n(&B->generation, __ATOMIC_ACQUIRE);
  if (__atomic_add_fetch(&B->arrived, 1, __ATOMIC_ACQ_REL) == C->threads) {
    __atomic_store_n(&B->arrived, 0, __ATOMIC_RELAXED);
    __atomic_store_n(&B->generation, Seen + 1, __ATOMIC_SEQ_CST);
    B->wake(B);
    return;
  }
  for (uint32_t I = 0; I < B->spin_limit; ++I) {
    if (__atomic_load_n(&B->generation, __ATOMIC_ACQUIRE) != Seen)
      return;
    _mm_pause();
  }
  B->wait(B, Seen);
}

} // namespace llmc::kernels

#endif // LLMC_COMPILER_KERNELS_CPU_STEP_H
