// The equation of Einsum, read once for shapes and values.
#ifndef LLMC_COMPILER_EVAL_EINSUM_H
#define LLMC_COMPILER_EVAL_EINSUM_H

#include "runtime/base/Status.h"

#include <cstdint>
#include <string_view>
#include <vector>

namespace llmc::eval {

/// One label per dim; equal labels are equal dims. Dims that an ellipsis
/// stands for have labels of their own, counted from the last one.
struct EinsumLabels {
  std::vector<std::vector<int>> Inputs;
  std::vector<int> Output;
};

/// Reads "ab,bc->ac" for operands of these ranks; without an arrow the output
/// has the ellipsis and then, in the order of the alphabet, what occurs once.
/// An equation that does not fit the operands is an error.
Result<EinsumLabels> parseEinsum(std::string_view Equation,
                                 const std::vector<int64_t> &Ranks);

} // namespace llmc::eval

#endif // LLMC_COMPILER_EVAL_EINSUM_H
