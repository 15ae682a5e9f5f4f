// mma.sync of halves into f32 with 512-bit vectors: what Matrix.cpp does in
// general, for the shapes that kernels spend their time in. A vector holds one
// column of the sums, its 16 lanes are the rows; a step along k is one fma per
// column with the element of B broadcast, so the order of the sums is that of
// the general way and the bits are equal (a test compares them).
#ifndef LLMC_TOOLS_CUDASIM_EXEC_MATRIXVECTORS_H
#define LLMC_TOOLS_CUDASIM_EXEC_MATRIXVECTORS_H

#if defined(__AVX512F__) && defined(__AVX512BW__)
#define LLMC_SIM_MATRIX_VECTORS 1
#include "tools/cudasim/exec/Handlers.h"
#include "tools/cudasim/exec/Numeric.h"

// The compiler's own headers leave a register undefined on purpose.
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#include <immintrin.h>

namespace llmc::cudasim::SIM_ISA {
namespace {

/// Two registers whose lane 4g+t belongs to rows g and g + 8: afterwards
/// Out[t] has those of t with lane = row.
SIM_INLINE void rowsOf(const u32 *First, const u32 *Second, __m512i (&Out)[4]) {
  const __m512i Low = _mm512_setr_epi32(0, 4, 8, 12, 16, 20, 24, 28, 1, 5, 9,
                                        13, 17, 21, 25, 29);
  const __m512i High = _mm512_add_epi32(Low, _mm512_set1_epi32(2));
  __m512i F0 = _mm512_load_si512(First), F1 = _mm512_load_si512(First + 16);
  __m512i S0 = _mm512_load_si512(Second), S1 = _mm512_load_si512(Second + 16);
  __m512i FL = _mm512_permutex2var_epi32(F0, Low, F1);
  __m512i FH = _mm512_permutex2var_epi32(F0, High, F1);
  __m512i SL = _mm512_permutex2var_epi32(S0, Low, S1);
  __m512i SH = _mm512_permutex2var_epi32(S0, High, S1);
  Out[0] = _mm512_shuffle_i64x2(FL, SL, 0x44);
  Out[1] = _mm512_shuffle_i64x2(FL, SL, 0xee);
  Out[2] = _mm512_shuffle_i64x2(FH, SH, 0x44);
  Out[3] = _mm512_shuffle_i64x2(FH, SH, 0xee);
}

/// The way back.
SIM_INLINE void registersOf(const __m512i (&In)[4], u32 *First, u32 *Second) {
  const __m512i Low = _mm512_setr_epi32(0, 8, 16, 24, 1, 9, 17, 25, 2, 10, 18,
                                        26, 3, 11, 19, 27);
  const __m512i High = _mm512_add_epi32(Low, _mm512_set1_epi32(4));
  __m512i FL = _mm512_shuffle_i64x2(In[0], In[1], 0x44);
  __m512i SL = _mm512_shuffle_i64x2(In[0], In[1], 0xee);
  __m512i FH = _mm512_shuffle_i64x2(In[2], In[3], 0x44);
  __m512i SH = _mm512_shuffle_i64x2(In[2], In[3], 0xee);
  _mm512_store_si512(First, _mm512_permutex2var_epi32(FL, Low, FH));
  _mm512_store_si512(First + 16, _mm512_permutex2var_epi32(FL, High, FH));
  _mm512_store_si512(Second, _mm512_permutex2var_epi32(SL, Low, SH));
  _mm512_store_si512(Second + 16, _mm512_permutex2var_epi32(SL, High, SH));
}

/// The lower (E = 0) or upper halves of 16 registers.
template <bool BFloat, unsigned E> SIM_INLINE __m512 halves(__m512i V) {
  if constexpr (BFloat)
    return _mm512_castsi512_ps(
        E ? _mm512_and_si512(V, _mm512_set1_epi32(-0x10000))
          : _mm512_slli_epi32(V, 16));
  return _mm512_cvtph_ps(
      _mm512_cvtepi32_epi16(E ? _mm512_srli_epi32(V, 16) : V));
}

template <bool BFloat, unsigned Depth>
SIM_INLINE void multiplyHalves(Warp &W, const Inst &I) {
  constexpr unsigned Blocks = Depth / 8; // of 8 columns of A
  const u32 *List = W.Lists + I.List, *Sources = List + 4;
  alignas(64) f32 B[Blocks][2][LaneCount]; // [.][k % 2][4 * column + k / 2]
  for (unsigned H = 0; H != Blocks; ++H) {
    const u32 *R = W.slot<u32>(Sources[2 * Blocks + H]);
    for (unsigned Part = 0; Part != 2; ++Part) {
      __m512i V = _mm512_load_si512(R + 16 * Part);
      _mm512_store_ps(B[H][0] + 16 * Part, halves<BFloat, 0>(V));
      _mm512_store_ps(B[H][1] + 16 * Part, halves<BFloat, 1>(V));
    }
  }
  __m512i Raw[4];
  __m512 C[8];
  const u32 *From = Sources + 3 * Blocks;
  for (unsigned E = 0; E != 2; ++E) {
    rowsOf(W.slot<u32>(From[E]), W.slot<u32>(From[2 + E]), Raw);
    for (unsigned T = 0; T != 4; ++T)
      C[2 * T + E] = _mm512_castsi512_ps(Raw[T]);
  }
  for (unsigned H = 0; H != Blocks; ++H) {
    rowsOf(W.slot<u32>(Sources[2 * H]), W.slot<u32>(Sources[2 * H + 1]), Raw);
    for (unsigned T = 0; T != 4; ++T) {
      __m512 Even = halves<BFloat, 0>(Raw[T]), Odd = halves<BFloat, 1>(Raw[T]);
      for (unsigned N = 0; N != 8; ++N)
        C[N] = _mm512_fmadd_ps(Even, _mm512_set1_ps(B[H][0][4 * N + T]), C[N]);
      for (unsigned N = 0; N != 8; ++N)
        C[N] = _mm512_fmadd_ps(Odd, _mm512_set1_ps(B[H][1][4 * N + T]), C[N]);
    }
  }
  for (unsigned E = 0; E != 2; ++E) {
    for (unsigned T = 0; T != 4; ++T) {
      __m512 V = C[2 * T + E];
      Raw[T] = _mm512_castps_si512(
          _mm512_mask_mov_ps(V, _mm512_cmp_ps_mask(V, V, _CMP_UNORD_Q),
                             _mm512_set1_ps(canonicalNan())));
    }
    registersOf(Raw, W.slot<u32>(List[E]), W.slot<u32>(List[2 + E]));
  }
}

/// True if the instruction was one of those and is done.
inline bool multiplyVectors(Warp &W, const Inst &I) {
  if (I.Elements != 0 || I.Defs != 4 || I.Of.Bits != 16 || I.With.Bits != 16)
    return false;
  bool BFloat = I.Of.Kind == Meaning::BFloat;
  if (I.Imm == 16)
    BFloat ? multiplyHalves<true, 16>(W, I) : multiplyHalves<false, 16>(W, I);
  else if (I.Imm == 8)
    BFloat ? multiplyHalves<true, 8>(W, I) : multiplyHalves<false, 8>(W, I);
  else
    return false;
  return true;
}
} // namespace

} // namespace llmc::cudasim::SIM_ISA
#endif

#endif // LLMC_TOOLS_CUDASIM_EXEC_MATRIXVECTORS_H
