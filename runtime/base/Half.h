// 16-bit floats in software: exact widening, narrowing with round to nearest,
// ties to even, NaN kept a NaN. The same bits on every machine, with or
// without hardware support; branch-free enough for compilers to vectorise.
#ifndef LLMC_RUNTIME_BASE_HALF_H
#define LLMC_RUNTIME_BASE_HALF_H

#include <bit>
#include <cstdint>

namespace llmc {

/// bf16 bits -> f32.
constexpr float bf16ToFloat(uint16_t B) {
  return std::bit_cast<float>(static_cast<uint32_t>(B) << 16);
}

/// f32 -> bf16 bits.
constexpr uint16_t floatToBf16(float F) {
  uint32_t U = std::bit_cast<uint32_t>(F);
  if ((U & 0x7fffffffu) > 0x7f800000u)
    return static_cast<uint16_t>((U >> 16) | 0x40u);
  return static_cast<uint16_t>((U + 0x7fffu + ((U >> 16) & 1u)) >> 16);
}

/// f16 bits -> f32.
constexpr float f16ToFloat(uint16_t H) {
  uint32_t Sign = static_cast<uint32_t>(H & 0x8000u) << 16;
  uint32_t Rest = H & 0x7fffu;
  if (Rest >= 0x7c00u) // infinity, NaN
    return std::bit_cast<float>(Sign | 0x7f800000u | ((Rest & 0x3ffu) << 13));
  if (Rest >= 0x0400u) // normal: rebias the exponent by 112
    return std::bit_cast<float>(Sign | ((Rest << 13) + (112u << 23)));
  // Subnormal: Rest * 2^-24 is exact in f32.
  float Value = static_cast<float>(Rest) * 0x1p-24f;
  return std::bit_cast<float>(Sign | std::bit_cast<uint32_t>(Value));
}

/// f32 -> f16 bits. Values from 65520 on become infinity.
constexpr uint16_t floatToF16(float F) {
  uint32_t U = std::bit_cast<uint32_t>(F);
  uint16_t Sign = static_cast<uint16_t>((U >> 16) & 0x8000u);
  U &= 0x7fffffffu;
  if (U >= 0x47800000u) { // at least 65536, infinity or NaN
    bool IsNaN = U > 0x7f800000u;
    return static_cast<uint16_t>(Sign | 0x7c00u |
                                 (IsNaN ? 0x200u | ((U >> 13) & 0x3ffu) : 0u));
  }
  if (U < 0x38800000u) { // below 2^-14: subnormal or zero
    // Adding 0.5 puts the 10 bits that f16 keeps at the end of the mantissa;
    // the addition itself rounds to nearest even.
    float Shifted = std::bit_cast<float>(U) + 0.5f;
    return static_cast<uint16_t>(
        Sign | (std::bit_cast<uint32_t>(Shifted) - 0x3f000000u));
  }
  uint32_t Odd = (U >> 13) & 1u;
  uint32_t Rounded = U - (112u << 23) + 0xfffu + Odd;
  return static_cast<uint16_t>(Sign | (Rounded >> 13));
}

} // namespace llmc

#endif // LLMC_RUNTIME_BASE_HALF_H
