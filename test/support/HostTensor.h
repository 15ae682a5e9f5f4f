// Host twins of compiler/kernels/cuda/arch/Tensor.cuh: the lanes of a warp
// meet, show their operands and compute their own elements. Copies are done at
// once. Sums of a product are made in double and rounded once.
#ifndef LLMC_TEST_SUPPORT_HOSTTENSOR_H
#define LLMC_TEST_SUPPORT_HOSTTENSOR_H

namespace hostcuda {
struct Exchange {
  unsigned Word[32][8];
  const void *Row[32];
};
inline Exchange Shown[MaxThreads / 32][2];

/// Shows 8 words and a row of this lane; yields what all lanes showed.
inline const Exchange &show(const unsigned (&Words)[8], const void *Row) {
  unsigned Warp = threadIdx.x / 32, Lane = threadIdx.x % 32;
  Meeting &W = Warps[Warp];
  Exchange &E = Shown[Warp][W.Generation & 1];
  memcpy(E.Word[Lane], Words, sizeof(Words));
  E.Row[Lane] = Row;
  unsigned Met = meet(W, 32);
  return Shown[Warp][Met & 1];
}

inline double halfAt(unsigned Pair, unsigned High) {
  unsigned short Bits = static_cast<unsigned short>(Pair >> (16 * High));
  _Float16 H;
  memcpy(&H, &Bits, 2);
  return static_cast<double>(H);
}
} // namespace hostcuda

namespace llmc {
inline unsigned char *dynamicShared() {
  alignas(128) static unsigned char Bytes[256 * 1024];
  return Bytes;
}

inline void mmaF16(float (&D)[4], const unsigned (&A)[4], unsigned B0,
                   unsigned B1) {
  unsigned Words[8] = {A[0], A[1], A[2], A[3], B0, B1, 0, 0};
  const hostcuda::Exchange &E = hostcuda::show(Words, nullptr);
  unsigned G = threadIdx.x % 32 / 4, C = threadIdx.x % 4;
  for (unsigned I = 0; I != 4; ++I) {
    unsigned Low = I / 2; // row G or G + 8
    unsigned Column = 2 * C + I % 2;
    double Sum = D[I];
    for (unsigned K = 0; K != 16; ++K) {
      unsigned Pair = K % 8 / 2, Upper = K / 8;
      Sum += hostcuda::halfAt(E.Word[G * 4 + Pair][Low + 2 * Upper], K % 2) *
             hostcuda::halfAt(E.Word[Column * 4 + Pair][4 + Upper], K % 2);
    }
    D[I] = static_cast<float>(Sum);
  }
}

inline void ldmatrix4(unsigned (&R)[4], const void *Row) {
  const hostcuda::Exchange &E = hostcuda::show({}, Row);
  unsigned G = threadIdx.x % 32 / 4, C = threadIdx.x % 4;
  for (unsigned M = 0; M != 4; ++M)
    memcpy(&R[M], static_cast<const char *>(E.Row[M * 8 + G]) + C * 4, 4);
}

inline void ldmatrix4Trans(unsigned (&R)[4], const void *Row) {
  const hostcuda::Exchange &E = hostcuda::show({}, Row);
  unsigned G = threadIdx.x % 32 / 4, C = threadIdx.x % 4;
  for (unsigned M = 0; M != 4; ++M) {
    unsigned short Pair[2];
    for (unsigned I = 0; I != 2; ++I)
      memcpy(&Pair[I],
             static_cast<const char *>(E.Row[M * 8 + 2 * C + I]) + G * 2, 2);
    R[M] = Pair[0] | static_cast<unsigned>(Pair[1]) << 16;
  }
}

inline void copyAsync16(void *Shared, const void *Global) {
  memcpy(Shared, Global, 16);
}
inline void copyAsync16OrZero(void *Shared, const void *Global, bool Valid) {
  if (Valid)
    memcpy(Shared, Global, 16);
  else
    memset(Shared, 0, 16);
}
inline void copyAsync4OrZero(void *Shared, const void *Global, bool Valid) {
  if (Valid)
    memcpy(Shared, Global, 4);
  else
    memset(Shared, 0, 4);
}
inline void commitCopies() {}
template <int Left> inline void waitCopies() {}

inline unsigned packHalves(float Low, float High) {
  return floatToHalf(Low) | static_cast<unsigned>(floatToHalf(High)) << 16;
}
inline float exp2Fast(float X) { return exp2f(X); }
inline float inverseFast(float X) { return 1.0f / X; }
inline unsigned countUp(unsigned *Counter) { return (*Counter)++; }
} // namespace llmc

#endif // LLMC_TEST_SUPPORT_HOSTTENSOR_H
