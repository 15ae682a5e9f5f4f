// Writes the records of a row program: strided views of blocks of memory,
// nests of loops brought down to four, scratch shared by what does not live at
// once. What the operations mean is for RowProgram.cpp.
#ifndef LLMC_PASSES_RAISE_ROWCODER_H
#define LLMC_PASSES_RAISE_ROWCODER_H

#include "compiler/kernels/RowCode.h"
#include "passes/raise/RowProgram.h"

namespace llmc::raise {

/// Values of a block, each dim with its own stride.
struct RowView {
  int64_t Block = -1;
  int64_t Offset = 0;
  eval::Dims Shape, Strides;
  bool Whole = false; ///< integers or truth values

  bool present() const { return Block >= 0; }
  int64_t count() const { return eval::countOf(Shape); }
  bool isDense() const;
};

class RowCoder {
public:
  /// Blocks.
  RowView input(mlir::Value V, const eval::Dims &Shape);
  RowView constant(llvm::ArrayRef<float> Data, const eval::Dims &Shape);
  RowView constant(float C) { return constant(C, {}); }
  RowView scratch(const eval::Dims &Shape);

  /// The view with other dims; copied when its strides do not allow them.
  RowView reshape(const RowView &V, const eval::Dims &Shape);
  RowView broadcast(RowView V, const eval::Dims &Shape);
  RowView dense(const RowView &V);
  /// The view with that axis last.
  static RowView axisLast(RowView V, int64_t Axis);

  /// Elementwise; operands are broadcast.
  RowView map(kernels::RowOp Op, const RowView &A, const RowView &B = {},
              const RowView &C = {});
  /// Into D, of its shape.
  void mapTo(const RowView &D, kernels::RowOp Op, const RowView &A,
             const RowView &B = {}, const RowView &C = {});
  /// Over one axis, which stays with one element.
  RowView reduce(kernels::RowOp Op, const RowView &A, int64_t Axis);
  /// Any record: operands have the dims of Loops; with Axis the last of them
  /// is loop 3.
  void emit(kernels::RowOp Op, const eval::Dims &Loops, const RowView &D,
            const RowView &A, const RowView &B, const RowView &C, bool Axis,
            int64_t Extra0 = 0, int64_t Extra1 = 0);

  /// Makes V the result and fills Out; why not, or empty.
  std::string finish(const RowView &V, RowProgram &Out);

private:
  struct Step {
    kernels::RowStep S;          ///< spaces are block numbers
    std::array<int64_t, 4> Used; ///< blocks, or -1
  };
  struct Block {
    int64_t Space = 0, Size = 0, Offset = 0;
    int64_t First = -1, Last = -1; ///< steps that use it
  };

  void emitLoops(kernels::RowOp Op, eval::Dims Loops, std::array<RowView, 4> V,
                 bool Axis, int64_t Extra0, int64_t Extra1);
  void placeScratch(int64_t &Total);

  std::vector<Block> Blocks;
  std::vector<Step> Steps;
  std::vector<float> Constants;
  std::vector<std::pair<std::vector<float>, int64_t>> Known;
  llvm::SmallVector<mlir::Value> Inputs;
  llvm::SmallVector<int64_t> Widths;
  bool TooLong = false;
};

} // namespace llmc::raise

#endif // LLMC_PASSES_RAISE_ROWCODER_H
