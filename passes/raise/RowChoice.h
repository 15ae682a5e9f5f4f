// Which rows of the sequence a Gather or Slice keeps. Rows that a decoder asks
// for are the last ones; the step function picks them itself, so that only
// those nodes may disappear from the graph.
#ifndef LLMC_PASSES_RAISE_ROWCHOICE_H
#define LLMC_PASSES_RAISE_ROWCHOICE_H

#include "mlir/IR/Operation.h"

#include <string>

namespace llmc::raise {

struct RowChoice {
  enum class Kind {
    None,  ///< no Gather or Slice along the sequence
    All,   ///< everything, along whatever axis
    Last,  ///< the last row or rows
    Other, ///< rows that no step function gives
  };
  Kind What = Kind::None;
  std::string Rows; ///< Other: says which
};

RowChoice rowChoiceOf(mlir::Operation *Op);

} // namespace llmc::raise

#endif // LLMC_PASSES_RAISE_ROWCHOICE_H
