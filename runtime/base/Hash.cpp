// xxh3 by the xxHash library, inlined; SHA-256 with a portable block function
// and one on the x86 SHA instructions, chosen at run time. OpenSSL would bring
// 4 MB for this one function.
#include "runtime/base/Hash.h"

#include <algorithm>
#include <bit>
#include <cstring>

#define XXH_INLINE_ALL
#include <xxhash.h>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace llmc {
namespace {

alignas(16) constexpr uint32_t RoundConstants[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1,
    0x923f82a4, 0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3,
    0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786,
    0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147,
    0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13,
    0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b,
    0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a,
    0x5b9cca4f, 0x682e6ff3, 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208,
    0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

uint32_t loadBigEndian(const uint8_t *P) {
  return uint32_t{P[0]} << 24 | uint32_t{P[1]} << 16 | uint32_t{P[2]} << 8 |
         uint32_t{P[3]};
}

} // namespace

void detail::sha256BlocksPortable(uint32_t *State, const uint8_t *P,
                                  size_t Count) {
  for (; Count != 0; --Count, P += 64) {
    uint32_t W[64];
    for (int I = 0; I < 16; ++I)
      W[I] = loadBigEndian(P + 4 * I);
    for (int I = 16; I < 64; ++I) {
      uint32_t A = W[I - 15], B = W[I - 2];
      uint32_t S0 = std::rotr(A, 7) ^ std::rotr(A, 18) ^ (A >> 3);
      uint32_t S1 = std::rotr(B, 17) ^ std::rotr(B, 19) ^ (B >> 10);
      W[I] = W[I - 16] + S0 + W[I - 7] + S1;
    }
    uint32_t V[8];
    std::copy_n(State, 8, V);
    for (int I = 0; I < 64; ++I) {
      uint32_t E = V[4], A = V[0];
      uint32_t S1 = std::rotr(E, 6) ^ std::rotr(E, 11) ^ std::rotr(E, 25);
      uint32_t T1 =
          V[7] + S1 + ((E & V[5]) ^ (~E & V[6])) + RoundConstants[I] + W[I];
      uint32_t S0 = std::rotr(A, 2) ^ std::rotr(A, 13) ^ std::rotr(A, 22);
      uint32_t T2 = S0 + ((A & V[1]) ^ (A & V[2]) ^ (V[1] & V[2]));
      std::copy_backward(V, V + 7, V + 8);
      V[4] += T1;
      V[0] = T1 + T2;
    }
    for (int I = 0; I < 8; ++I)
      State[I] += V[I];
  }
}

namespace {
#if defined(__x86_64__)
/// The state as the SHA instructions want it: ABEF and CDGH.
__attribute__((target("sha,sse4.1"))) void
blocksShaNi(uint32_t *State, const uint8_t *P, size_t Count) {
  const __m128i Swap =
      _mm_set_epi64x(0x0c0d0e0f08090a0bLL, 0x0405060700010203LL);
  __m128i Low = _mm_loadu_si128(reinterpret_cast<__m128i *>(State));
  __m128i High = _mm_loadu_si128(reinterpret_cast<__m128i *>(State + 4));
  Low = _mm_shuffle_epi32(Low, 0xb1);   // CDAB
  High = _mm_shuffle_epi32(High, 0x1b); // EFGH
  __m128i Abef = _mm_alignr_epi8(Low, High, 8);
  __m128i Cdgh = _mm_blend_epi16(High, Low, 0xf0);
  for (; Count != 0; --Count, P += 64) {
    const __m128i SavedAbef = Abef, SavedCdgh = Cdgh;
    __m128i W[4]; // the last 16 words of the schedule
    for (int I = 0; I < 4; ++I)
      W[I] = _mm_shuffle_epi8(
          _mm_loadu_si128(reinterpret_cast<const __m128i *>(P + 16 * I)), Swap);
    for (int I = 0; I < 16; ++I) {
      if (I >= 4) { // words 4I … 4I+3 from the sixteen before them
        __m128i Next = _mm_sha256msg1_epu32(W[0], W[1]);
        Next = _mm_add_epi32(Next, _mm_alignr_epi8(W[3], W[2], 4));
        Next = _mm_sha256msg2_epu32(Next, W[3]);
        W[0] = W[1], W[1] = W[2], W[2] = W[3], W[3] = Next;
      }
      const __m128i Words = I < 4 ? W[I] : W[3];
      __m128i Sum = _mm_add_epi32(
          Words, _mm_load_si128(
                     reinterpret_cast<const __m128i *>(RoundConstants) + I));
      Cdgh = _mm_sha256rnds2_epu32(Cdgh, Abef, Sum);
      Sum = _mm_shuffle_epi32(Sum, 0x0e);
      Abef = _mm_sha256rnds2_epu32(Abef, Cdgh, Sum);
    }
    Abef = _mm_add_epi32(Abef, SavedAbef);
    Cdgh = _mm_add_epi32(Cdgh, SavedCdgh);
  }
  Low = _mm_shuffle_epi32(Abef, 0x1b);  // FEBA
  High = _mm_shuffle_epi32(Cdgh, 0xb1); // DCHG
  _mm_storeu_si128(reinterpret_cast<__m128i *>(State),
                   _mm_blend_epi16(Low, High, 0xf0)); // DCBA
  _mm_storeu_si128(reinterpret_cast<__m128i *>(State + 4),
                   _mm_alignr_epi8(High, Low, 8)); // HGFE
}

bool hasShaNi() {
  // Leaf 7, EBX bit 29; GCC 12's __builtin_cpu_supports does not know "sha".
  uint32_t Eax = 7, Ebx, Ecx = 0, Edx;
  if (!__builtin_cpu_supports("sse4.1"))
    return false;
  __asm__("cpuid" : "+a"(Eax), "=b"(Ebx), "+c"(Ecx), "=d"(Edx));
  return (Ebx >> 29) & 1;
}
#endif

void blocks(uint32_t *State, const uint8_t *P, size_t Count) {
#if defined(__x86_64__)
  static const bool UseShaNi = hasShaNi();
  if (UseShaNi)
    return blocksShaNi(State, P, Count);
#endif
  detail::sha256BlocksPortable(State, P, Count);
}
} // namespace

uint64_t xxh3(std::span<const uint8_t> Data) {
  return XXH3_64bits(Data.data(), Data.size());
}

void Sha256::update(std::span<const uint8_t> Data) {
  size_t Held = Length % 64;
  Length += Data.size();
  if (Held != 0) {
    size_t Take = std::min(Data.size(), 64 - Held);
    std::copy_n(Data.data(), Take, Block.data() + Held);
    Data = Data.subspan(Take);
    if (Held + Take < 64)
      return;
    blocks(State.data(), Block.data(), 1);
  }
  blocks(State.data(), Data.data(), Data.size() / 64);
  std::span<const uint8_t> Rest = Data.last(Data.size() % 64);
  std::copy(Rest.begin(), Rest.end(), Block.begin());
}

Sha256Digest Sha256::finish() {
  uint64_t Bits = Length * 8;
  uint8_t Tail[72] = {0x80};
  size_t Zeros = (119 - Length % 64) % 64; // the length ends a block
  for (int I = 0; I < 8; ++I)
    Tail[1 + Zeros + I] = static_cast<uint8_t>(Bits >> (56 - 8 * I));
  update({Tail, 9 + Zeros});
  Sha256Digest Digest;
  for (size_t I = 0; I < 32; ++I)
    Digest[I] = static_cast<uint8_t>(State[I / 4] >> (24 - 8 * (I % 4)));
  return Digest;
}

Sha256Digest sha256(std::span<const uint8_t> Data) {
  Sha256 H;
  H.update(Data);
  return H.finish();
}

std::string hexOf(std::span<const uint8_t> Data) {
  constexpr char Hex[] = "0123456789abcdef";
  std::string Out;
  for (uint8_t B : Data) {
    Out += Hex[B >> 4];
    Out += Hex[B & 15];
  }
  return Out;
}

} // namespace llmc
