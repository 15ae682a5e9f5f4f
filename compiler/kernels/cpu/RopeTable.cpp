// rope_table: cos and sin of every row's angles, or rows of given tables. The
// angle is position * freq in f32, as the graph does; its cosine is taken in
// double after an exact reduction by pi/2, right to the last bit or so for
// every angle a context can reach.
#include "compiler/kernels/cpu/Step.h"

using namespace llmc::kernels;

namespace {
struct SinCos {
  float Sin, Cos;
};

LLMC_INLINE SinCos sinCos(float Angle) {
  double A = Angle;
  double N = __builtin_elementwise_roundeven(A * 0.63661977236758134308);
  double R = __builtin_elementwise_fma(N, -1.5707963267948965580, A);
  R = __builtin_elementwise_fma(N, -6.1232339957367660359e-17, R);
  double Z = R * R;
  double S = -2.5052108385441718775e-8;
  S = __builtin_elementwise_fma(S, Z, 2.7557319223985890653e-6);
  S = __builtin_elementwise_fma(S, Z, -1.9841269841269841270e-4);
  S = __builtin_elementwise_fma(S, Z, 8.3333333333333333333e-3);
  S = __builtin_elementwise_fma(S, Z, -1.6666666666666666667e-1);
  S = __builtin_elementwise_fma(S * Z, R, R);
  double Q = 2.0876756987868098979e-9;
  Q = __builtin_elementwise_fma(Q, Z, -2.7557319223985890653e-7);
  Q = __builtin_elementwise_fma(Q, Z, 2.4801587301587301587e-5);
  Q = __builtin_elementwise_fma(Q, Z, -1.3888888888888888889e-3);
  Q = __builtin_elementwise_fma(Q, Z, 4.1666666666666666667e-2);
  Q = __builtin_elementwise_fma(Q, Z, -0.5);
  Q = __builtin_elementwise_fma(Q, Z, 1.0);
  int64_t Quadrant = static_cast<int64_t>(N) & 3;
  double Sin = Quadrant & 1 ? Q : S, Cos = Quadrant & 1 ? S : Q;
  Sin = Quadrant & 2 ? -Sin : Sin;
  Cos = (Quadrant + 1) & 2 ? -Cos : Cos;
  return {static_cast<float>(Sin), static_cast<float>(Cos)};
}
} // namespace

extern "C" void
LLMC_KERNEL(rope_table)(const LlmcCtx *C, const int32_t *Positions,
                        const float *Freq, const float *CosTable,
                        const float *SinTable, float *Out, int64_t Half,
                        int64_t TableRows, float Scaling) {
  Range Mine = share(C, C->counts->tokens);
  for (int64_t T = Mine.Begin; T < Mine.End; ++T) {
    float *To = Out + T * 2 * Half;
    int64_t Pos = Positions[T];
    if (CosTable) {
      // The runtime refuses positions beyond the context; a table is as long.
      int64_t Row = Pos < TableRows ? Pos : TableRows - 1;
      for (int64_t I = 0; I < Half; ++I) {
        To[I] = CosTable[Row * Half + I] * Scaling;
        To[Half + I] = SinTable[Row * Half + I] * Scaling;
      }
      continue;
    }
    for (int64_t I = 0; I < Half; ++I) {
      SinCos V = sinCos(static_cast<float>(Pos) * Freq[I]);
      To[I] = V.Cos * Scaling;
      To[Half + I] = V.Sin * Scaling;
    }
  }
}
