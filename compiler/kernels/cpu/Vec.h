// Vectors of 16 lanes, the one width that all CPU kernels are written in. The
// compiler's vector extension maps them to one zmm or two ymm registers; only
// what it cannot express (the integer dot product, rounding conversion) is
// written per instruction set. Lane order and the order of every sum are part
// of the numerics, so both instruction sets give the same bits.
#ifndef LLMC_COMPILER_KERNELS_CPU_VEC_H
#define LLMC_COMPILER_KERNELS_CPU_VEC_H

#include <immintrin.h>
#include <stdint.h>

namespace llmc::kernels {

#if defined(LLMC_ISA_avx512vnni)
#define LLMC_ISA avx512vnni
#define LLMC_KERNEL(Name) k_##Name##_avx512vnni
#elif defined(LLMC_ISA_avx2)
#define LLMC_ISA avx2
#define LLMC_KERNEL(Name) k_##Name##_avx2
#else
#error "compile kernels with -DLLMC_ISA_<isa>"
#endif
#define LLMC_INLINE static inline __attribute__((always_inline))
#define LLMC_MEMBER inline __attribute__((always_inline))
// A function that stays one: its copies in several kernels become one when the
// kernels are linked. To be defined in the inline namespace LLMC_ISA.
#define LLMC_SHARED __attribute__((noinline))

typedef float VF __attribute__((ext_vector_type(16)));
typedef int32_t VI __attribute__((ext_vector_type(16)));
typedef uint8_t VB __attribute__((ext_vector_type(64)));
typedef _Float16 VH __attribute__((ext_vector_type(16)));
typedef float VFUnaligned __attribute__((ext_vector_type(16), aligned(4)));
typedef _Float16 VHUnaligned __attribute__((ext_vector_type(16), aligned(2)));

LLMC_INLINE VF splat(float X) { return (VF)(X); }
LLMC_INLINE VI splatInt(int32_t X) { return (VI)(X); }
LLMC_INLINE VF fma(VF A, VF B, VF C) {
  return __builtin_elementwise_fma(A, B, C);
}
LLMC_INLINE float fma(float A, float B, float C) {
  return __builtin_elementwise_fma(A, B, C);
}
LLMC_INLINE VF abs(VF X) { return __builtin_elementwise_abs(X); }
/// X < Y ? Y : X: one instruction, and a NaN in X stays.
LLMC_INLINE VF max(VF X, VF Y) { return X < Y ? Y : X; }
LLMC_INLINE VF min(VF X, VF Y) { return X > Y ? Y : X; }
LLMC_INLINE VF toFloat(VI X) { return __builtin_convertvector(X, VF); }
LLMC_INLINE VF asFloat(VI X) { return (VF)X; }
LLMC_INLINE VF roundEven(VF X) { return __builtin_elementwise_roundeven(X); }

LLMC_INLINE VF load(const float *P) {
  return *reinterpret_cast<const VFUnaligned *>(P);
}
LLMC_INLINE void store(float *P, VF X) {
  *reinterpret_cast<VFUnaligned *>(P) = X;
}
LLMC_INLINE VF load(const _Float16 *P) {
  return __builtin_convertvector(
      (VH) * reinterpret_cast<const VHUnaligned *>(P), VF);
}
/// The first N < 16 values, zeros behind them. Loops that stay loops: ends of
/// rows are rare.
template <typename T> LLMC_INLINE VF loadPart(const T *P, int64_t N) {
  alignas(64) float Values[16] = {};
#pragma clang loop unroll(disable) vectorize(disable)
  for (int64_t I = 0; I < N; ++I)
    Values[I] = static_cast<float>(P[I]);
  return load(Values);
}
LLMC_INLINE void storePart(float *P, VF X, int64_t N) {
  alignas(64) float Values[16];
  store(Values, X);
#pragma clang loop unroll(disable) vectorize(disable)
  for (int64_t I = 0; I < N; ++I)
    P[I] = Values[I];
}
/// Values [K, K + 16) of a row of N values, zeros behind the end.
template <typename T> LLMC_INLINE VF loadRow(const T *P, int64_t K, int64_t N) {
  return K + 16 <= N ? load(P + K) : loadPart(P + K, N - K);
}

/// Sum of all lanes, pairwise: 8, 4, 2, 1.
LLMC_INLINE float sumLanes(VF X) {
  typedef float V8 __attribute__((ext_vector_type(8)));
  typedef float V4 __attribute__((ext_vector_type(4)));
  V8 A = X.lo + X.hi;
  V4 B = A.lo + A.hi;
  return (B.x + B.z) + (B.y + B.w);
}
LLMC_INLINE float maxLanes(VF X) {
  typedef float V8 __attribute__((ext_vector_type(8)));
  typedef float V4 __attribute__((ext_vector_type(4)));
  V8 A = X.lo < X.hi ? X.hi : X.lo;
  V4 B = A.lo < A.hi ? A.hi : A.lo;
  float L = B.x < B.z ? B.z : B.x, R = B.y < B.w ? B.w : B.y;
  return L < R ? R : L;
}

#if defined(LLMC_ISA_avx512vnni)
/// Value[Index[i]], indices in [0, 16).
LLMC_INLINE VF lookup(VF Values, VI Index) {
  return (VF)_mm512_permutexvar_ps((__m512i)Index, (__m512)Values);
}
/// Round to nearest even; what does not fit is INT_MIN.
LLMC_INLINE VI toInt(VF X) { return (VI)_mm512_cvtps_epi32((__m512)X); }
/// Acc[i] + sum of W[4i+j] (u8) * byte j of X (s8): 16 rows, 4 k each.
LLMC_INLINE VI dot(VI Acc, VB W, int32_t X) {
  return (VI)_mm512_dpbusd_epi32((__m512i)Acc, (__m512i)W,
                                 _mm512_set1_epi32(X));
}
/// The same where W may be any byte, with nothing to take out but 128.
LLMC_INLINE VI dotByte(VI Acc, VB W, int32_t X) { return dot(Acc, W, X); }
/// The same for W below 16.
LLMC_INLINE VI dotSmall(VI Acc, VB W, int32_t X) { return dot(Acc, W, X); }
/// Weights are stored with 128 added; the start value takes it out again.
LLMC_INLINE VI dotStart(int32_t Compensation) { return splatInt(Compensation); }
#else
LLMC_INLINE VF lookup(VF Values, VI Index) {
  typedef float V8 __attribute__((ext_vector_type(8)));
  typedef int32_t I8 __attribute__((ext_vector_type(8)));
  V8 Low = Values.lo, High = Values.hi;
  VF R;
  for (int Half = 0; Half < 2; ++Half) {
    I8 I = Half ? Index.hi : Index.lo;
    __m256 A = _mm256_permutevar8x32_ps((__m256)Low, (__m256i)I);
    __m256 B = _mm256_permutevar8x32_ps((__m256)High, (__m256i)I);
    // Bit 3 of the index becomes the sign that blends.
    V8 V = (V8)_mm256_blendv_ps(A, B, (__m256)(I << 28));
    if (Half)
      R.hi = V;
    else
      R.lo = V;
  }
  return R;
}
LLMC_INLINE VI toInt(VF X) {
  typedef float V8 __attribute__((ext_vector_type(8)));
  typedef int32_t I8 __attribute__((ext_vector_type(8)));
  V8 L = X.lo, H = X.hi;
  VI R;
  R.lo = (I8)_mm256_cvtps_epi32((__m256)L);
  R.hi = (I8)_mm256_cvtps_epi32((__m256)H);
  return R;
}
/// Eight rows: |x| (u8) times w with the sign of x (s8). 2 * 127 * 127 fits in
/// 16 bits, so that nothing saturates.
LLMC_INLINE __m256i dotHalf(__m256i Acc, __m256i W, int32_t X) {
  __m256i S = _mm256_xor_si256(W, _mm256_set1_epi8(-128));
  __m256i B = _mm256_set1_epi32(X);
  __m256i P = _mm256_maddubs_epi16(_mm256_abs_epi8(B), _mm256_sign_epi8(S, B));
  return _mm256_add_epi32(Acc, _mm256_madd_epi16(P, _mm256_set1_epi16(1)));
}
LLMC_INLINE VI dot(VI Acc, VB W, int32_t X) {
  typedef int32_t I8 __attribute__((ext_vector_type(8)));
  VI V = (VI)W;
  VI R;
  R.lo = (I8)dotHalf((__m256i)(I8)Acc.lo, (__m256i)(I8)V.lo, X);
  R.hi = (I8)dotHalf((__m256i)(I8)Acc.hi, (__m256i)(I8)V.hi, X);
  return R;
}
/// Even and odd bytes in 16 bits each: exact for every byte, where dotHalf
/// would lose the sign of -128.
LLMC_INLINE __m256i dotByteHalf(__m256i Acc, __m256i W, int32_t X) {
  __m256i B = _mm256_set1_epi32(X);
  __m256i Even =
      _mm256_madd_epi16(_mm256_and_si256(W, _mm256_set1_epi16(0xff)),
                        _mm256_srai_epi16(_mm256_slli_epi16(B, 8), 8));
  __m256i Odd =
      _mm256_madd_epi16(_mm256_srli_epi16(W, 8), _mm256_srai_epi16(B, 8));
  return _mm256_add_epi32(Acc, _mm256_add_epi32(Even, Odd));
}
LLMC_INLINE VI dotByte(VI Acc, VB W, int32_t X) {
  typedef int32_t I8 __attribute__((ext_vector_type(8)));
  VI V = (VI)W;
  VI R;
  R.lo = (I8)dotByteHalf((__m256i)(I8)Acc.lo, (__m256i)(I8)V.lo, X);
  R.hi = (I8)dotByteHalf((__m256i)(I8)Acc.hi, (__m256i)(I8)V.hi, X);
  return R;
}
/// Four products of less than 16 * 128 in 16 bits: no sign trick needed.
LLMC_INLINE __m256i dotSmallHalf(__m256i Acc, __m256i W, int32_t X) {
  __m256i P = _mm256_maddubs_epi16(W, _mm256_set1_epi32(X));
  return _mm256_add_epi32(Acc, _mm256_madd_epi16(P, _mm256_set1_epi16(1)));
}
LLMC_INLINE VI dotSmall(VI Acc, VB W, int32_t X) {
  typedef int32_t I8 __attribute__((ext_vector_type(8)));
  VI V = (VI)W;
  VI R;
  R.lo = (I8)dotSmallHalf((__m256i)(I8)Acc.lo, (__m256i)(I8)V.lo, X);
  R.hi = (I8)dotSmallHalf((__m256i)(I8)Acc.hi, (__m256i)(I8)V.hi, X);
  return R;
}
LLMC_INLINE VI dotStart(int32_t) { return splatInt(0); }
#endif

} // namespace llmc::kernels

#endif // LLMC_COMPILER_KERNELS_CPU_VEC_H
