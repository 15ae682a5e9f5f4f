// int8 in blocks of 32 along a row, symmetric, with searched f16 scales. Works
// on 16 rows at a time (one panel), a row per vector lane, so that no sum
// crosses lanes: the result is the same with every vector width.
#ifndef LLMC_COMPILER_WEIGHTS_QUANTIZEINT8_H
#define LLMC_COMPILER_WEIGHTS_QUANTIZEINT8_H

#include <cstdint>

namespace llmc {

/// Largest absolute weight that int8 with an f16 scale can hold.
inline constexpr float MaxInt8Weight = 65504.0f * 127.0f;

/// One block of 32 columns of 16 rows.
struct Int8Block {
  alignas(64) int8_t Q[32][16]; ///< in [-127, 127]
  uint16_t Scale[16];           ///< f16 bits
};

/// Error of a panel, per row.
struct Int8Error {
  alignas(64) double Signal[16] = {}; ///< sum of squares of the weights
  alignas(64) double Noise[16] = {};  ///< sum of squared errors
  alignas(64) float Largest[16] = {}; ///< largest absolute error
};

/// Quantises X[32][16] (finite, at most MaxInt8Weight) and adds its error.
void quantizeBlock(const float *X, Int8Block &Out, Int8Error &Error);

namespace detail {
/// The same code for the instruction sets that quantizeBlock chooses from.
/// Only for tests; the caller checks that the machine has it.
void quantizeBlockBaseline(const float *X, Int8Block &Out, Int8Error &Error);
#if defined(__x86_64__)
void quantizeBlockAvx2(const float *X, Int8Block &Out, Int8Error &Error);
#endif
} // namespace detail
} // namespace llmc

#endif // LLMC_COMPILER_WEIGHTS_QUANTIZEINT8_H
