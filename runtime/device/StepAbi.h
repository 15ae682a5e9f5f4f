/* The contract between compiled code, kernels and the runtime: what one step
 * gets. Plain C without includes beyond stdint, because the kernels (compiled
 * to bitcode, freestanding) and the generated CUDA text share it.
 *
 * A step takes T tokens of S sequences and returns logits for R of the rows.
 * Rows are sorted by numerics class: rows [0, prompt_tokens) are prompt rows,
 * the rest generated rows (docs/design/0001-contracts.md, "Numerics").
 * Everything here is append-only: a field or an enum value never moves. */
#ifndef LLMC_RUNTIME_DEVICE_STEPABI_H
#define LLMC_RUNTIME_DEVICE_STEPABI_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define LLMC_STEP_ABI 1u

/* Tokens of one KV page: a constant per kind of target. */
#define LLMC_CPU_PAGE_TOKENS 64
#define LLMC_CUDA_PAGE_TOKENS 32

/* Logit rows that one CUDA launch of the logits covers, at most; for more the
 * runtime repeats the launches that write logits. */
#define LLMC_CUDA_LOGIT_ROWS 32u

typedef struct LlmcCounts {
  uint32_t tokens;             /* T */
  uint32_t prompt_tokens;      /* rows [0, prompt_tokens) have class prompt */
  uint32_t sequences;          /* S */
  uint32_t logit_rows;         /* R, may be 0 */
  uint32_t pages_per_sequence; /* row length of the page table */
  uint32_t bucket;             /* index of the bucket that holds T */
} LlmcCounts;

/* Index into LlmcStepArgs.ptr. */
enum LlmcArg {
  LLMC_ARG_COUNTS = 0,     /* const LlmcCounts * */
  LLMC_ARG_IDS = 1,        /* const int32_t [T], token ids, already checked */
  LLMC_ARG_POSITIONS = 2,  /* const int32_t [T], absolute position of the row */
  LLMC_ARG_ROW_SEQ = 3,    /* const int32_t [T], sequence index of the row */
  LLMC_ARG_PAGE_TABLE = 4, /* const uint32_t [S][pages_per_sequence] */
  LLMC_ARG_LOGIT_ROWS = 5, /* const int32_t [R], rows that get logits */
  LLMC_ARG_LOGITS = 6,     /* float [R][vocab], out */
  LLMC_ARG_WEIGHTS = 7,    /* const uint8_t *, base of the packed weights */
  LLMC_ARG_ARENA = 8,      /* uint8_t *, 64-byte aligned, size from the plan */
  LLMC_ARG_KV = 9,         /* uint8_t *, base of the KV pool */
  LLMC_ARG_BARRIER = 10,   /* LlmcBarrier *, CPU only */
  LLMC_ARG_LENGTHS = 11,   /* const int32_t [T], length of the row's sequence:
                              of its prompt for prompt rows, position + 1 for
                              generated ones */
  LLMC_ARG_COUNT = 12
};

typedef struct LlmcStepArgs {
  uint32_t abi;   /* LLMC_STEP_ABI of the caller */
  uint32_t count; /* number of valid pointers */
  void *ptr[LLMC_ARG_COUNT];
} LlmcStepArgs;

/* Barrier of one CPU step. The fast path (count, spin on generation) is
 * inlined into the compiled code; the slow path is the runtime's callback. */
typedef struct LlmcBarrier {
  uint32_t arrived; /* own cache line */
  uint32_t pad0[15];
  uint32_t generation; /* own cache line; futex word */
  uint32_t pad1[15];
  uint32_t spin_limit; /* polls before wait() is called */
  uint32_t pad2;
  void (*wait)(struct LlmcBarrier *, uint32_t seen_generation);
  void (*wake)(struct LlmcBarrier *);
} LlmcBarrier;

/* What a thread knows while it runs a step; kernels get it first. */
typedef struct LlmcCtx {
  const LlmcStepArgs *args;
  const LlmcCounts *counts;
  uint32_t thread; /* 0 … threads-1 */
  uint32_t threads;
} LlmcCtx;

typedef void (*LlmcCpuStepFn)(const LlmcStepArgs *, uint32_t thread,
                              uint32_t threads);

/* What the CPU image's one exported function
 *   const LlmcCpuImage *llmc_cpu_image(uint32_t abi)
 * returns; NULL when it does not know the caller's abi. */
typedef struct LlmcCpuImage {
  uint32_t abi;
  uint32_t struct_size;
  LlmcCpuStepFn step;
} LlmcCpuImage;

#ifdef __cplusplus
}
#endif
#endif /* LLMC_RUNTIME_DEVICE_STEPABI_H */
