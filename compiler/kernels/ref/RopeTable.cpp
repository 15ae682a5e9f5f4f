// rope_table (reference): the angle is position * freq in f32; its cosine is
// taken in double and rounded once.
#include "compiler/kernels/ref/Ref.h"

#include <algorithm>
#include <cmath>

extern "C" void k_rope_table_ref(const LlmcCtx *C, const int32_t *Positions,
                                 const float *Freq, const float *CosTable,
                                 const float *SinTable, float *Out,
                                 int64_t Half, int64_t TableRows,
                                 float Scaling) {
  if (C->thread != 0)
    return;
  for (int64_t T = 0; T < int64_t(C->counts->tokens); ++T)
    for (int64_t I = 0; I < Half; ++I) {
      float *To = Out + T * 2 * Half + I;
      if (CosTable) {
        int64_t Row = std::min<int64_t>(Positions[T], TableRows - 1);
        To[0] = CosTable[Row * Half + I] * Scaling;
        To[Half] = SinTable[Row * Half + I] * Scaling;
        continue;
      }
      float Angle = static_cast<float>(Positions[T]) * Freq[I];
      To[0] = static_cast<float>(std::cos(double(Angle))) * Scaling;
      To[Half] = static_cast<float>(std::sin(double(Angle))) * Scaling;
    }
}
