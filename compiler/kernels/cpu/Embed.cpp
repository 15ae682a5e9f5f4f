// embed: out[t] = scale * row ids[t] of a packed matrix. A row lies in its
// panel at a stride: one value (f32, f16, bf16) or a few codes per line.
#include "compiler/kernels/cpu/Decode.h"

using namespace llmc::kernels;

namespace {
/// Row R of a panel of values.
template <typename T>
LLMC_INLINE void embedValues(const uint8_t *Panel, int64_t R, int64_t Hidden,
                             float Scale, float *To) {
  const T *W = reinterpret_cast<const T *>(Panel) + R;
  for (int64_t I = 0; I < Hidden; ++I)
    To[I] = static_cast<float>(W[I * 16]) * Scale;
}
} // namespace

extern "C" void LLMC_KERNEL(embed)(const LlmcCtx *C, const int32_t *Ids,
                                   const uint8_t *Weight, float *Out,
                                   int64_t Vocab, int64_t Hidden, int64_t WType,
                                   float Scale) {
  Range Mine = share(C, C->counts->tokens);
  int64_t Bytes = panelBytes(Hidden, WType);
  for (int64_t T = Mine.Begin; T < Mine.End; ++T) {
    int64_t Id = Ids[T], R = Id % 16;
    const uint8_t *Panel = Weight + headerBytes(WType) + Id / 16 * Bytes;
    float *To = Out + T * Hidden;
    if (WType == WF32) {
      embedValues<float>(Panel, R, Hidden, Scale, To);
    } else if (WType == WF16) {
      embedValues<_Float16>(Panel, R, Hidden, Scale, To);
    } else if (WType == WBF16) {
      const BFloat *W = reinterpret_cast<const BFloat *>(Panel) + R;
      for (int64_t I = 0; I < Hidden; ++I)
        To[I] =
            __builtin_bit_cast(float, uint32_t(W[I * 16].Bits) << 16) * Scale;
    } else {
      WeightFormat F = formatOfType(WType);
      Decoder D = decoderOf(F, Hidden, Weight);
      for (int64_t I = 0; I < Hidden; ++I)
        To[I] = decodeOne(F, D, Panel, R, I) * Scale;
    }
  }
}
