// kv_write (reference): rounds each row's keys and values into the KV pool.
#include "compiler/kernels/ref/Kv.h"
#include "compiler/kernels/ref/Ref.h"

using namespace llmc::kernels::ref;

extern "C" void k_kv_write_ref(const LlmcCtx *C, const float *K, const float *V,
                               uint8_t *Kv, int64_t KvHeads, int64_t HeadDim,
                               int64_t VHeadDim, int64_t KvKind,
                               int64_t PageStride) {
  if (C->thread != 0)
    return;
  KvPool P{C, Kv, PageStride, HeadDim, VHeadDim, KvKind};
  for (int64_t R = 0; R < int64_t(C->counts->tokens); ++R)
    for (int64_t H = 0; H < KvHeads; ++H)
      P.writeRow(R, H, K + (R * KvHeads + H) * HeadDim,
                 V + (R * KvHeads + H) * VHeadDim);
}
