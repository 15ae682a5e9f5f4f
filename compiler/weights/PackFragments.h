// Weights in the order of mma fragments (compiler/kernels/FragmentFormat.h).
#ifndef LLMC_COMPILER_WEIGHTS_PACKFRAGMENTS_H
#define LLMC_COMPILER_WEIGHTS_PACKFRAGMENTS_H

#include "compiler/weights/Gather.h"
#include "compiler/weights/Layout.h"

#include <cstdint>

namespace llmc {

/// Writes one tile of 16 rows of codes to zeroed bytes,
/// fragmentTileBytes(fragmentNumber(L), Cols) of them.
void putFragments(Layout L, uint64_t Cols, const CodePanel &Panel, uint8_t *To);

/// The same for Halves[Cols][16], f16 or bf16 bits.
void putHalfFragments(uint64_t Cols, const uint16_t *Halves, uint8_t *To);

} // namespace llmc

#endif // LLMC_COMPILER_WEIGHTS_PACKFRAGMENTS_H
