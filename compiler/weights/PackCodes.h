// Codes of a file in the packed formats; see PackCodes.cpp.
#ifndef LLMC_COMPILER_WEIGHTS_PACKCODES_H
#define LLMC_COMPILER_WEIGHTS_PACKCODES_H

#include "compiler/weights/PackPanels.h"

namespace llmc {

/// Appends rows [Begin, End) that Rows has read to Out. All sources of T are
/// quantised and have what its format holds; Begin is a multiple of 16.
Status packCodes(const PackedTensor &T, const Gather &Rows, uint64_t Begin,
                 uint64_t End, PackedRows &Out);

/// Writes the first Rows rows of a panel, row by row (RowFormat.h), to zeroed
/// bytes.
void putRows(kernels::WeightFormat F, uint64_t Cols, const CodePanel &Panel,
             uint64_t Rows, uint8_t *To);

/// Writes one panel of Cols columns to zeroed bytes.
void putPanel(kernels::WeightFormat F, uint64_t Cols, const CodePanel &Panel,
              uint8_t *To);

} // namespace llmc

#endif // LLMC_COMPILER_WEIGHTS_PACKCODES_H
