// Writes panels of 16 rows in the packed layouts and measures what rounding
// costs. One file per layout family would repeat the loop over panels; the
// layouts differ in a few lines each.
#ifndef LLMC_COMPILER_WEIGHTS_PACKPANELS_H
#define LLMC_COMPILER_WEIGHTS_PACKPANELS_H

#include "compiler/weights/Gather.h"
#include "compiler/weights/WeightProgram.h"

#include <cstdint>
#include <vector>

namespace llmc {

/// Error of one panel against its source.
struct PanelError {
  double Signal = 0; ///< sum of squares of the weights
  double Noise = 0;  ///< sum of squared errors
  float Largest = 0; ///< largest absolute error
};

/// Packed rows of a part of a tensor. Data and Scales follow one another in
/// the file only for a whole tensor (n.w8b32), so they are kept apart.
struct PackedRows {
  std::vector<uint8_t> Data;
  std::vector<uint8_t> Scales;    ///< n.w8b32 only
  std::vector<PanelError> Errors; ///< one per panel
};

/// Packs rows [Begin, End) that Rows has read; Begin is a multiple of 16.
/// Buffers of Out are reused.
Status packRows(const PackedTensor &T, const Gather &Rows, uint64_t Begin,
                uint64_t End, PackedRows &Out);

} // namespace llmc

#endif // LLMC_COMPILER_WEIGHTS_PACKPANELS_H
