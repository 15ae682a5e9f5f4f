// embed (reference): out[t] = scale * row ids[t] of the packed matrix.
#include "compiler/kernels/ref/Product.h"
#include "compiler/kernels/ref/Ref.h"

using namespace llmc::kernels::ref;

extern "C" void k_embed_ref(const LlmcCtx *C, const int32_t *Ids,
                            const uint8_t *Weight, float *Out, int64_t,
                            int64_t Hidden, int64_t WType, float Scale) {
  if (C->thread != 0)
    return;
  for (int64_t T = 0; T < int64_t(C->counts->tokens); ++T)
    for (int64_t I = 0; I < Hidden; ++I)
      Out[T * Hidden + I] =
          packedValue(Weight, Hidden, Ids[T], I, WType) * Scale;
}
