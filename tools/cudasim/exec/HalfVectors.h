// Vectors as wide as those of the other loops, since a narrow store in front of
// a wide load would have to wait. Conversions between f16 and f32 by the
// instructions of the host (F16C), with the bits of Numeric.h: a NaN keeps its
// payload on the way up and becomes 0x7fff on the way down.
#ifndef LLMC_TOOLS_CUDASIM_EXEC_HALFVECTORS_H
#define LLMC_TOOLS_CUDASIM_EXEC_HALFVECTORS_H

#if defined(__AVX512F__) && defined(__AVX512BW__) && defined(__AVX512VL__)
#define LLMC_SIM_HALF_VECTORS 1
#include "tools/cudasim/exec/Handlers.h"
#include "tools/cudasim/exec/Numeric.h"

// The compiler's own headers leave a register undefined on purpose.
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#pragma GCC diagnostic ignored "-Wuninitialized"
#include <immintrin.h>

namespace llmc::cudasim::SIM_ISA {
namespace {

constexpr unsigned VectorLanes = 16;

/// Stores lanes Lane … Lane + 15 of D where the mask has them.
SIM_INLINE void storeLanes(const Warp &W, unsigned Lane, __m512i New, u32 *D) {
  if (W.Mask == AllLanes)
    _mm512_store_si512(D + Lane, New);
  else
    _mm512_mask_store_epi32(D + Lane, static_cast<__mmask16>(W.Mask >> Lane),
                            New);
}

void halvesToFloats(Warp &W, const Inst &I) {
  u32 *D = W.slot<u32>(I.D);
  const u32 *A = W.slot<u32>(I.A);
  for (unsigned Lane = 0; Lane != LaneCount; Lane += VectorLanes) {
    __m512i V = _mm512_load_si512(A + Lane);
    __m512i Up = _mm512_castps_si512(_mm512_cvtph_ps(_mm512_cvtepi32_epi16(V)));
    // A NaN: the same bits without the one that makes it quiet.
    __m512i Abs = _mm512_and_si512(V, _mm512_set1_epi32(0x7fff));
    __m512i Sign = _mm512_and_si512(V, _mm512_set1_epi32(0x8000));
    __mmask16 Nan = _mm512_cmpgt_epi32_mask(Abs, _mm512_set1_epi32(0x7c00));
    __m512i Kept =
        _mm512_or_si512(_mm512_or_si512(_mm512_slli_epi32(Abs, 13),
                                        _mm512_set1_epi32(0x7f800000)),
                        _mm512_slli_epi32(Sign, 16));
    storeLanes(W, Lane, _mm512_mask_mov_epi32(Up, Nan, Kept), D);
  }
}

void floatsToHalves(Warp &W, const Inst &I) {
  u32 *D = W.slot<u32>(I.D);
  const f32 *A = W.slot<f32>(I.A);
  for (unsigned Lane = 0; Lane != LaneCount; Lane += VectorLanes) {
    __m512 V = _mm512_load_ps(A + Lane);
    __m512i Down = _mm512_cvtepu16_epi32(
        _mm512_cvtps_ph(V, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
    __mmask16 Nan = _mm512_cmp_ps_mask(V, V, _CMP_UNORD_Q);
    storeLanes(W, Lane,
               _mm512_mask_mov_epi32(Down, Nan, _mm512_set1_epi32(0x7fff)), D);
  }
}
} // namespace

} // namespace llmc::cudasim::SIM_ISA
#endif

#endif // LLMC_TOOLS_CUDASIM_EXEC_HALFVECTORS_H
