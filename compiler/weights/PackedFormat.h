// Which packed format holds the codes of a file as they are.
#ifndef LLMC_COMPILER_WEIGHTS_PACKEDFORMAT_H
#define LLMC_COMPILER_WEIGHTS_PACKEDFORMAT_H

#include "compiler/kernels/WeightFormat.h"
#include "compiler/weights/Encoding.h"

#include <optional>

namespace llmc {

/// The format for a matrix of Rows x Cols in that encoding, used by its rows or
/// (Transposed) by its columns. Nothing when no format has such codes or
/// blocks: wide codes, scales per input, blocks that are no multiple of 16
/// columns, columns in groups of the file's choice.
std::optional<kernels::WeightFormat> packedFormatOf(const Encoding &E,
                                                    uint64_t Rows,
                                                    uint64_t Cols,
                                                    bool Transposed);

} // namespace llmc

#endif // LLMC_COMPILER_WEIGHTS_PACKEDFORMAT_H
