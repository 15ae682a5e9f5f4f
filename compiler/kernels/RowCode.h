// The code of the rowwise kernel: what llm.rowwise computes for one token row,
// as numbers. Made by passes/raise (RowProgram), executed by the kernels of all
// targets. Apart from the catalogue and freestanding, so that kernel sources
// can include it.
//
// A program is a table of floats: `count` records of RowRecord numbers (whole
// numbers below 2^24, exact in f32), then its constants. All operands are
// strided views of memory of f32 values: the row's scratch, the constants, the
// row's result, or a row of one of the inputs. Truth values are 0 and 1,
// integers are whole floats.
//
// Every record works on a nest of four loops of Dim[0..3]. Elementwise
// operations do D[i] = op(A[i], B[i], C[i]); the others treat loop 3 as an axis
// (see RowOp).
#ifndef LLMC_COMPILER_KERNELS_ROWCODE_H
#define LLMC_COMPILER_KERNELS_ROWCODE_H

#include <stdint.h>

namespace llmc::kernels {

#include "compiler/kernels/RowOps.inc"

/// Memory of an operand; inputs follow from RowInput on.
enum RowSpace : int64_t {
  RowScratch = 0,
  RowConstant = 1,
  RowResult = 2,
  RowInput = 3
};

constexpr int64_t RowRecord = 32; ///< numbers per record
constexpr int64_t RowInputs = 8;  ///< inputs of a program, at most

struct RowOperand {
  int64_t Space = 0, Offset = 0;
  int64_t Stride[4] = {0, 0, 0, 0};
};

struct RowStep {
  int64_t Op = 0;
  RowOperand D, A, B, C;
  int64_t Dim[4] = {1, 1, 1, 1};
  int64_t Extra[2] = {0, 0};
};

/// The record at Code. Order: Op, D, A, B, C (space, offset, four strides
/// each), Dim, Extra.
static inline RowStep decodeRowStep(const float *Code) {
  RowStep S;
  S.Op = static_cast<int64_t>(*Code++);
  RowOperand *Operands[4] = {&S.D, &S.A, &S.B, &S.C};
  for (RowOperand *O : Operands) {
    O->Space = static_cast<int64_t>(*Code++);
    O->Offset = static_cast<int64_t>(*Code++);
    for (int64_t &Stride : O->Stride)
      Stride = static_cast<int64_t>(*Code++);
  }
  for (int64_t &N : S.Dim)
    N = static_cast<int64_t>(*Code++);
  for (int64_t &E : S.Extra)
    E = static_cast<int64_t>(*Code++);
  return S;
}

} // namespace llmc::kernels

#endif // LLMC_COMPILER_KERNELS_ROWCODE_H
