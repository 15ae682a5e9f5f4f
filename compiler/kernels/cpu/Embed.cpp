// embed: out[t] = scale * row ids[t] of a packed matrix. A row lies in its
// panel at stride 64 bytes, four values (int8) or one (f32) per line.
#include "compiler/kernels/cpu/Tile.h"

using namespace llmc::kernels;

extern "C" void LLMC_KERNEL(embed)(const LlmcCtx *C, const int32_t *Ids,
                                   const uint8_t *Weight, float *Out,
                                   int64_t Vocab, int64_t Hidden, int64_t WType,
                                   float Scale) {
  Range Mine = share(C, C->counts->tokens);
  int64_t Bytes = panelBytes(Hidden, WType);
  for (int64_t T = Mine.Begin; T < Mine.End; ++T) {
    int64_t Id = Ids[T], R = Id % 16;
    const uint8_t *Panel = Weight + Id / 16 * Bytes;
    float *To = Out + T * Hidden;
    if (WType == WF32) {
      const float *W = reinterpret_cast<const float *>(Panel) + R;
      for (int64_t I = 0; I < Hidden; ++I)
        To[I] = W[I * 16] * Scale;
      continue;
    }
    for (int64_t I = 0; I < Hidden; ++I) {
      const uint8_t *Record = Panel + I / 64 * RecordBytes;
      const _Float16 *Scales =
          reinterpret_cast<const _Float16 *>(Record + 1024) + I % 64 / 32 * 16;
      int32_t Q = Record[I % 64 / 4 * 64 + R * 4 + I % 4] - 128;
      To[I] = (static_cast<float>(Q) * static_cast<float>(Scales[R])) * Scale;
    }
  }
}
