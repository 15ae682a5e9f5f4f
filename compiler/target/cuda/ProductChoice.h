// Block shapes of the decode form by an analytical model of the target's chip.
// The order of sums is the same for all of them, so a wrong guess costs time,
// never bits.
#ifndef LLMC_COMPILER_TARGET_CUDA_PRODUCTCHOICE_H
#define LLMC_COMPILER_TARGET_CUDA_PRODUCTCHOICE_H

#include "compiler/target/cuda/KernelText.h"
#include "runtime/base/GpuModel.h"

namespace llmc::cuda {

/// What the choice depends on.
struct DecodeProblem {
  int64_t RowTiles = 0; ///< of 16 rows
  int64_t Cols = 0;
  int64_t WType = 0;
  bool Pairs = false;    ///< a block needs two tiles: GLU, rope
  bool Prepared = false; ///< reads rows of f16
  bool Norm = false;     ///< norms rows as it reads them
  unsigned TokenTiles = 1;
  int64_t Tokens = 1; ///< rows that costs are counted for
};

/// What one launch of the form is and does, with estimated registers.
LaunchFacts decodeFacts(const DecodeProblem &P, const ProductForm &F);
/// The same of the tile form, for Tokens rows.
LaunchFacts tileFacts(const DecodeProblem &P, const ProductForm &F);

/// The fastest form by that model, over all chips of the target.
ProductForm chooseDecode(const DecodeProblem &P, std::string_view Target);

/// Segments of a product: the most warps that can share K.
int64_t segmentsOf(int64_t Cols);

} // namespace llmc::cuda

#endif // LLMC_COMPILER_TARGET_CUDA_PRODUCTCHOICE_H
