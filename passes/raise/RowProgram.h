// The program of an llm.rowwise from a subgraph. A function of single rows is
// the same function for a batch of one token, where every shape is a number:
// the subgraph is written down for that one token, and raise-rowwise proves
// afterwards that it is the same for many.
#ifndef LLMC_PASSES_RAISE_ROWPROGRAM_H
#define LLMC_PASSES_RAISE_ROWPROGRAM_H

#include "passes/raise/Probe.h"

#include "llvm/ADT/STLFunctionalExtras.h"
#include <string>
#include <vector>

namespace llmc::raise {

struct RowProgram {
  llvm::SmallVector<mlir::Value> Inputs; ///< in order of the op's operands
  llvm::SmallVector<int64_t> Widths;     ///< features of each input
  int64_t Count = 0, Scratch = 0;        ///< records; floats per row
  int64_t Width = 0;                     ///< features of the result
  std::vector<float> Table;              ///< as compiler/kernels/RowCode.h says
};

/// Writes V down for one token. `One` is a sample of one token; IsLeaf tells
/// which values are inputs. Returns why it cannot be done, or an empty text.
std::string buildRowProgram(mlir::Value V, Probe &One, const Roles &R,
                            llvm::function_ref<bool(mlir::Value)> IsLeaf,
                            RowProgram &Out);

/// The result for Rows rows; Inputs[i] holds Rows * Widths[i] values.
std::vector<float> runRowProgram(const RowProgram &P,
                                 llvm::ArrayRef<std::vector<float>> Inputs,
                                 int64_t Rows);

} // namespace llmc::raise

#endif // LLMC_PASSES_RAISE_ROWPROGRAM_H
