// Quantised weights row by row, for targets whose general kernels read a row at
// a time (CUDA): what `n.i4b32.f16.z8` and its like mean. The same formats as
// in panels (compiler/kernels/WeightFormat.h), another order of the bytes.
//
// In front of the rows is the table of formats that have one (64 bytes). A row
// is a record of a multiple of 16 bytes: codes of all columns, the first in the
// lowest bits, the number of columns rounded up to 32; then a scale per block;
// then, from the next multiple of 4 on, what there is for zero points. Columns
// and blocks behind K are 0. compiler/kernels/cuda/Codes.cuh has these sizes,
// too.
#ifndef LLMC_COMPILER_WEIGHTS_ROWFORMAT_H
#define LLMC_COMPILER_WEIGHTS_ROWFORMAT_H

#include "compiler/kernels/WeightFormat.h"

namespace llmc {

struct RowFormat {
  kernels::WeightFormat F;
  uint64_t K; ///< below 2^40

  static constexpr uint64_t roundUp(uint64_t N, uint64_t To) {
    return (N + To - 1) / To * To;
  }
  constexpr uint64_t cols() const { return roundUp(K, 32); }
  constexpr uint64_t blocks() const {
    return F.Block ? roundUp(cols(), F.Block) / F.Block : 1;
  }
  constexpr uint64_t scaleBytes() const { return F.HalfScale ? 2 : 4; }
  constexpr uint64_t zeroBytes() const {
    if (F.Zero == kernels::ZeroKind::Minimum)
      return scaleBytes();
    return F.Zero == kernels::ZeroKind::Byte
               ? 1
               : (F.Zero == kernels::ZeroKind::Float ? 4 : 0);
  }
  constexpr uint64_t scaleAt() const { return cols() * F.Bits / 8; }
  constexpr uint64_t zeroAt() const {
    return roundUp(scaleAt() + blocks() * scaleBytes(), 4);
  }
  constexpr uint64_t rowBytes() const {
    return roundUp(zeroAt() + blocks() * zeroBytes(), 16);
  }
};

} // namespace llmc

#endif // LLMC_COMPILER_WEIGHTS_ROWFORMAT_H
