// int4 in blocks of 32 along a row: code * scale + minimum, both f16, searched.
// Works on 16 rows at a time (one panel), a row per lane, so that no sum
// crosses lanes: the result is the same with every vector width.
#ifndef LLMC_COMPILER_WEIGHTS_QUANTIZEINT4_H
#define LLMC_COMPILER_WEIGHTS_QUANTIZEINT4_H

#include "compiler/kernels/WeightFormat.h"
#include "compiler/weights/QuantizeInt8.h"

#include <cstdint>

namespace llmc {

/// Largest absolute weight that the format can hold.
inline constexpr float MaxInt4Weight = 32752.0f;

/// One block of 32 columns of 16 rows.
struct Int4Block {
  uint8_t Q[32][16]; ///< in [0, 15]
  float Scale[16];   ///< an f16 value
  float Minimum[16]; ///< an f16 value
};

/// Quantises X[32][16] (finite, at most MaxInt4Weight) and adds its error.
/// Weights that lie on at most 16 equal steps whose step and start are f16
/// values come back exactly.
void quantizeInt4(const float *X, Int4Block &Out, Int8Error &Error);

} // namespace llmc

#endif // LLMC_COMPILER_WEIGHTS_QUANTIZEINT4_H
