// kv_write: rounds each row's keys and values into the KV pool, unfused.
#include "compiler/kernels/cpu/Kv.h"

using namespace llmc::kernels;

namespace {
template <typename T>
LLMC_INLINE void writeRows(const LlmcCtx *C, const float *K, const float *V,
                           uint8_t *Kv, int64_t KvHeads, int64_t HeadDim,
                           int64_t VHeadDim, int64_t PageStride) {
  Range Mine = share(C, C->counts->tokens);
  for (int64_t Row = Mine.Begin; Row < Mine.End; ++Row)
    for (int64_t H = 0; H < KvHeads; ++H) {
      writeKey<T>(C, Row, Kv, PageStride, H, HeadDim, VHeadDim,
                  K + (Row * KvHeads + H) * HeadDim);
      writeValue<T>(C, Row, Kv, PageStride, H, HeadDim, VHeadDim,
                    V + (Row * KvHeads + H) * VHeadDim);
    }
}
} // namespace

extern "C" void LLMC_KERNEL(kv_write)(const LlmcCtx *C, const float *K,
                                      const float *V, uint8_t *Kv,
                                      int64_t KvHeads, int64_t HeadDim,
                                      int64_t VHeadDim, int64_t KvKind,
                                      int64_t PageStride) {
  if (KvKind == KvF32)
    writeRows<float>(C, K, V, Kv, KvHeads, HeadDim, VHeadDim, PageStride);
  else
    writeRows<_Float16>(C, K, V, Kv, KvHeads, HeadDim, VHeadDim, PageStride);
}
