// rowwise (reference): the program's records one after another, per row.
#include "compiler/kernels/RowMachine.h"
#include "compiler/kernels/ref/Ref.h"

using namespace llmc::kernels;

extern "C" void
k_rowwise_ref(const LlmcCtx *C, const float *In0, const float *In1,
              const float *In2, const float *In3, const float *In4,
              const float *In5, const float *In6, const float *In7,
              const float *Program, float *Out, float *Scratch, int64_t Count,
              int64_t ScratchN, int64_t N, int64_t N0, int64_t N1, int64_t N2,
              int64_t N3, int64_t N4, int64_t N5, int64_t N6, int64_t N7) {
  if (C->thread != 0)
    return;
  const float *In[RowInputs] = {In0, In1, In2, In3, In4, In5, In6, In7};
  const int64_t Width[RowInputs] = {N0, N1, N2, N3, N4, N5, N6, N7};
  for (int64_t T = 0; T < int64_t(C->counts->tokens); ++T) {
    row::Spaces M;
    M.Base[RowScratch] = Scratch + T * ScratchN;
    M.Base[RowConstant] = const_cast<float *>(Program) + Count * RowRecord;
    M.Base[RowResult] = Out + T * N;
    for (int64_t I = 0; I < RowInputs; ++I)
      M.Base[RowInput + I] = const_cast<float *>(In[I]) + T * Width[I];
    for (int64_t I = 0; I < Count; ++I)
      row::execute(decodeRowStep(Program + I * RowRecord), M);
  }
}
