// Inline PTX of the matrix products: conversions between codes and f16, mma,
// loads of weights.
namespace llmc {

/// Two numbers rounded to nearest even; Low is the lower half. The clamp keeps
/// what is too large finite.
__device__ __forceinline__ unsigned packHalvesClamped(float Low, float High) {
  unsigned Out;
  asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(Out) : "f"(High), "f"(Low));
  asm("min.f16x2 %0, %0, %1;" : "+r"(Out) : "r"(0x7bff7bffu));
  asm("max.f16x2 %0, %0, %1;" : "+r"(Out) : "r"(0xfbfffbffu));
  return Out;
}
__device__ __forceinline__ unsigned packBrains(float Low, float High) {
  unsigned Out;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(Out) : "f"(High), "f"(Low));
  return Out;
}

/// Pairs of f16: difference, sum and A * B + C, rounded once.
__device__ __forceinline__ unsigned subHalves(unsigned A, unsigned B) {
  unsigned Out;
  asm("sub.rn.f16x2 %0, %1, %2;" : "=r"(Out) : "r"(A), "r"(B));
  return Out;
}
__device__ __forceinline__ unsigned addHalves(unsigned A, unsigned B) {
  unsigned Out;
  asm("add.rn.f16x2 %0, %1, %2;" : "=r"(Out) : "r"(A), "r"(B));
  return Out;
}
__device__ __forceinline__ unsigned fmaHalves(unsigned A, unsigned B,
                                              unsigned C) {
  unsigned Out;
  asm("fma.rn.f16x2 %0, %1, %2, %3;" : "=r"(Out) : "r"(A), "r"(B), "r"(C));
  return Out;
}

/// The bytes of {A, B} that the nibbles of Selector name.
template <unsigned Selector>
__device__ __forceinline__ unsigned selectBytes(unsigned A, unsigned B) {
  unsigned Out;
  asm("prmt.b32 %0, %1, %2, %3;" : "=r"(Out) : "r"(A), "r"(B), "n"(Selector));
  return Out;
}
/// (A & Mask) | Set in one instruction.
template <unsigned Mask, unsigned Set>
__device__ __forceinline__ unsigned maskAndSet(unsigned A) {
  unsigned Out;
  asm("lop3.b32 %0, %1, %2, %3, 0xea;"
      : "=r"(Out)
      : "r"(A), "n"(Mask), "n"(Set));
  return Out;
}

/// (A & Mask) | B.
template <unsigned Mask>
__device__ __forceinline__ unsigned maskAndOr(unsigned A, unsigned B) {
  unsigned Out;
  asm("lop3.b32 %0, %1, %2, %3, 0xea;" : "=r"(Out) : "r"(A), "n"(Mask), "r"(B));
  return Out;
}

/// C += A * B: m16n8k16, f16 or bf16 to f32.
template <bool Brain>
__device__ __forceinline__ void mmaTile(float (&C)[4], const unsigned (&A)[4],
                                        unsigned B0, unsigned B1) {
  if constexpr (Brain)
    asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
        "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+f"(C[0]), "+f"(C[1]), "+f"(C[2]), "+f"(C[3])
        : "r"(A[0]), "r"(A[1]), "r"(A[2]), "r"(A[3]), "r"(B0), "r"(B1));
  else
    asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
        "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+f"(C[0]), "+f"(C[1]), "+f"(C[2]), "+f"(C[3])
        : "r"(A[0]), "r"(A[1]), "r"(A[2]), "r"(A[3]), "r"(B0), "r"(B1));
}

/// Loads of weights: volatile, so that they stay where they are written, ahead
/// of their use. Once: read by one block only, first to be evicted.
template <bool Once>
__device__ __forceinline__ void loadWords(const unsigned char *At,
                                          unsigned (&W)[4]) {
  if constexpr (Once)
    asm volatile("ld.global.cs.v4.u32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(W[0]), "=r"(W[1]), "=r"(W[2]), "=r"(W[3])
                 : "l"(At));
  else
    asm volatile("ld.global.v4.u32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(W[0]), "=r"(W[1]), "=r"(W[2]), "=r"(W[3])
                 : "l"(At));
}
template <bool Once>
__device__ __forceinline__ void loadWords(const unsigned char *At,
                                          unsigned (&W)[2]) {
  if constexpr (Once)
    asm volatile("ld.global.cs.v2.u32 {%0, %1}, [%2];"
                 : "=r"(W[0]), "=r"(W[1])
                 : "l"(At));
  else
    asm volatile("ld.global.v2.u32 {%0, %1}, [%2];"
                 : "=r"(W[0]), "=r"(W[1])
                 : "l"(At));
}
template <bool Once>
__device__ __forceinline__ void loadWords(const unsigned char *At,
                                          unsigned (&W)[1]) {
  static_assert(!Once, "numbers of blocks are read by many lanes");
  asm volatile("ld.global.u32 %0, [%1];" : "=r"(W[0]) : "l"(At));
}

/// From sm_90 on: lets the next launch begin when all blocks are here.
__device__ __forceinline__ void launchDependents() {
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
}
/// Until all earlier launches are done and their results visible. Nothing that
/// they write may be read before.
__device__ __forceinline__ void waitForEarlier() {
  asm volatile("griddepcontrol.wait;" ::: "memory");
}

} // namespace llmc
