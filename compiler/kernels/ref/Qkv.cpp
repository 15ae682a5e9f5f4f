// qkv (reference): norm -> x Wqkv + bias -> rope on q and k -> q_out, KV pool.
#include "compiler/kernels/ref/Kv.h"
#include "compiler/kernels/ref/Ref.h"

#include <algorithm>

using namespace llmc::kernels;
using namespace llmc::kernels::ref;

extern "C" void k_qkv_ref(const LlmcCtx *C, const float *X, const float *Gain,
                          const float *NormBias, const uint8_t *Weight,
                          const float *Bias, const float *Rope, uint8_t *Kv,
                          float *QOut, uint8_t *, int64_t K, int64_t Heads,
                          int64_t KvHeads, int64_t HeadDim, int64_t VHeadDim,
                          int64_t RotaryHalf, int64_t Interleaved,
                          int64_t WType, int64_t XPolicy, int64_t Norm,
                          int64_t KvKind, int64_t PageStride, float Eps) {
  if (C->thread != 0)
    return;
  KvPool Pool{C, Kv, PageStride, HeadDim, VHeadDim, KvKind};
  int64_t Per = Heads / KvHeads, GroupRows = (Per + 1) * HeadDim + VHeadDim;
  for (int64_t R = 0; R < int64_t(C->counts->tokens); ++R) {
    QuantRow Q = quantiseRow(normRow(X + R * K, K, Norm, Gain, NormBias, Eps),
                             XPolicy, !isPrompt(C, RowsT, R));
    const float *Table = Rope ? Rope + R * 2 * RotaryHalf : nullptr;
    for (int64_t G = 0; G < KvHeads; ++G) {
      std::vector<float> Y(GroupRows);
      for (int64_t I = 0; I < GroupRows; ++I) {
        Y[I] = product(Q, Weight, K, G * GroupRows + I, WType);
        if (Bias)
          Y[I] = Y[I] + Bias[G * GroupRows + I];
      }
      for (int64_t H = 0; Table && H <= Per; ++H)
        rotate(Y.data() + H * HeadDim, Table, RotaryHalf, Interleaved);
      std::copy_n(Y.data(), Per * HeadDim,
                  QOut + (R * Heads + G * Per) * HeadDim);
      Pool.writeRow(R, G, Y.data() + Per * HeadDim,
                    Y.data() + (Per + 1) * HeadDim);
    }
  }
}
