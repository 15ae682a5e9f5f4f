// barrier: what the emitted step calls after every phase.
#include "compiler/kernels/cpu/Step.h"

extern "C" void LLMC_KERNEL(barrier)(const LlmcCtx *C) {
  llmc::kernels::barrier(C);
}
