// rope_table: cos and sin of each row's position, once per step, and rope: the
// rotation of the heads of rows (unfused form).
//
// Angles are position * freq in f32, as the graph computes them. sin and cos
// are our own: the library's large-argument path needs local memory, which our
// kernels never use. The angle is reduced by pi/2 in three parts with fma;
// exact enough for angles up to 2^22.
namespace llmc {

__device__ __forceinline__ void sinCos(float Angle, float &Sin, float &Cos) {
  float N = rintf(Angle * 0.636619772f);
  float R = fmaf(N, -1.57079637f, Angle);
  R = fmaf(N, 4.37113883e-8f, R);
  R = fmaf(N, 1.71512489e-15f, R);
  float S = R * R;
  float P = 2.75573192e-6f;
  P = fmaf(P, S, -1.98412698e-4f);
  P = fmaf(P, S, 8.33333333e-3f);
  P = fmaf(P, S, -0.166666667f);
  float SinR = fmaf(P * S, R, R);
  float Q = 2.48015873e-5f;
  Q = fmaf(Q, S, -1.38888889e-3f);
  Q = fmaf(Q, S, 4.16666667e-2f);
  Q = fmaf(Q, S, -0.5f);
  float CosR = fmaf(Q, S, 1.0f);
  int Quadrant = static_cast<int>(N) & 3;
  Sin = Quadrant & 1 ? CosR : SinR;
  Cos = Quadrant & 1 ? SinR : CosR;
  Sin = Quadrant & 2 ? -Sin : Sin;
  Cos = Quadrant == 1 || Quadrant == 2 ? -Cos : Cos;
}

template <typename S>
__device__ __forceinline__ void
ropeTable(const Counts *C, const int *Positions, const float *__restrict__ Freq,
          const float *__restrict__ CosTable,
          const float *__restrict__ SinTable, float *Out) {
  int Row = blockIdx.x;
  if (Row >= static_cast<int>(C->Tokens))
    return;
  int Position = Positions[Row];
  float *To = Out + static_cast<size_t>(Row) * 2 * S::Half;
  for (int I = threadIdx.x; I < S::Half; I += blockDim.x) {
    float Sin, Cos;
    if constexpr (S::HasTable) {
      int At = Position < S::TableRows ? Position : S::TableRows - 1;
      Cos = CosTable[static_cast<size_t>(At) * S::Half + I];
      Sin = SinTable[static_cast<size_t>(At) * S::Half + I];
    } else {
      sinCos(static_cast<float>(Position) * Freq[I], Sin, Cos);
    }
    To[I] = Cos * S::Scaling();
    To[S::Half + I] = Sin * S::Scaling();
  }
}

template <typename S>
__device__ __forceinline__ void rope(const Counts *C, const float *X,
                                     const float *Table, float *Out) {
  int Row = blockIdx.x;
  if (Row >= static_cast<int>(C->Tokens))
    return;
  const float *Cos = Table + static_cast<size_t>(Row) * 2 * S::RotaryHalf;
  const float *Sin = Cos + S::RotaryHalf;
  constexpr int Pairs = (S::HeadDim + 1) / 2;
  for (int I = threadIdx.x; I < S::Heads * Pairs; I += blockDim.x) {
    size_t Base =
        (static_cast<size_t>(Row) * S::Heads + I / Pairs) * S::HeadDim;
    int P = I % Pairs;
    bool Turned = P < S::RotaryHalf;
    int A = Turned && !S::Interleaved ? P : 2 * P;
    int B = Turned && !S::Interleaved ? P + S::RotaryHalf : 2 * P + 1;
    B = B < S::HeadDim ? B : A;
    float XA = X[Base + A], XB = X[Base + B];
    float OutA = XA, OutB = XB;
    if (Turned) {
      OutA = fmaf(XA, Cos[P], -(XB * Sin[P]));
      OutB = fmaf(XB, Cos[P], XA * Sin[P]);
    }
    Out[Base + A] = OutA;
    if (B != A)
      Out[Base + B] = OutB;
  }
}

} // namespace llmc
