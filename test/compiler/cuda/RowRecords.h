// Records of row programs (compiler/kernels/RowCode.h) for tests of rowwise.
#ifndef LLMC_TEST_COMPILER_CUDA_ROWRECORDS_H
#define LLMC_TEST_COMPILER_CUDA_ROWRECORDS_H

#include "compiler/kernels/RowCode.h"

#include <algorithm>
#include <vector>

namespace llmc::test {

/// A record as RowCode.h lays it out.
inline std::vector<float> record(int64_t Op, kernels::RowOperand D,
                                 kernels::RowOperand A, kernels::RowOperand B,
                                 kernels::RowOperand C,
                                 std::vector<int64_t> Dim, int64_t Extra0 = 0,
                                 int64_t Extra1 = 0) {
  std::vector<float> R{static_cast<float>(Op)};
  for (const kernels::RowOperand *O : {&D, &A, &B, &C}) {
    R.push_back(static_cast<float>(O->Space));
    R.push_back(static_cast<float>(O->Offset));
    for (int64_t Stride : O->Stride)
      R.push_back(static_cast<float>(Stride));
  }
  for (int64_t N : Dim)
    R.push_back(static_cast<float>(N));
  R.push_back(static_cast<float>(Extra0));
  R.push_back(static_cast<float>(Extra1));
  R.resize(kernels::RowRecord);
  return R;
}

inline kernels::RowOperand operand(int64_t Space, int64_t Offset,
                                   std::vector<int64_t> Stride) {
  kernels::RowOperand O;
  O.Space = Space;
  O.Offset = Offset;
  std::copy(Stride.begin(), Stride.end(), O.Stride);
  return O;
}

/// Every operation once, on rows of 40 values of two inputs; the result has 40
/// values, the scratch 40. The second input holds indices from -4 to 3.
inline std::vector<float> everyRowOperation() {
  std::vector<float> Code;
  auto Add = [&](const std::vector<float> &R) {
    Code.insert(Code.end(), R.begin(), R.end());
  };
  kernels::RowOperand A = operand(kernels::RowInput, 0, {0, 0, 0, 1}),
                      B = operand(kernels::RowInput + 1, 0, {0, 0, 0, 1}),
                      D = operand(kernels::RowResult, 0, {0, 0, 0, 1});
  auto Elements = [&](int64_t First, int64_t Last) {
    for (int64_t Op = First; Op <= Last; ++Op)
      Add(record(Op, D, A, B, B, {1, 1, 1, 40}));
  };
  Elements(kernels::RowCopy, kernels::RowIsInf);
  Elements(kernels::RowAdd, kernels::RowXor);
  Elements(kernels::RowSelect, kernels::RowSelect);
  // Four axes of ten values.
  kernels::RowOperand Rows = operand(kernels::RowInput, 0, {0, 0, 10, 1}),
                      Others = operand(kernels::RowInput + 1, 0, {0, 0, 10, 1}),
                      Whole = operand(kernels::RowScratch, 0, {0, 0, 10, 1});
  for (int64_t Op : {kernels::RowSum, kernels::RowMaxOf, kernels::RowMinOf,
                     kernels::RowProd, kernels::RowDot})
    Add(record(Op, operand(kernels::RowResult, 0, {0, 0, 1, 0}), Rows, Others,
               {}, {1, 1, 4, 10}));
  for (int64_t Mode : {0, 1, 2, 3})
    Add(record(kernels::RowCumSum, Whole, Rows, {}, {}, {1, 1, 4, 10}, Mode & 1,
               Mode >> 1));
  for (int64_t Largest : {0, 1})
    Add(record(kernels::RowTopK, operand(kernels::RowResult, 0, {0, 0, 10, 1}),
               Rows, {}, operand(kernels::RowResult, 5, {0, 0, 10, 1}),
               {1, 1, 4, 10}, 5, Largest));
  Add(record(kernels::RowTake, operand(kernels::RowResult, 0, {0, 0, 10, 1}),
             operand(kernels::RowScratch, 0, {0, 0, 10, 0}), Others, {},
             {1, 1, 4, 10}, 1, 10));
  for (int64_t Op : {kernels::RowPut, kernels::RowPutAdd})
    Add(record(Op, operand(kernels::RowResult, 0, {0, 0, 10, 0}), Whole, Others,
               {}, {1, 1, 4, 10}, 1, 10));
  return Code;
}

} // namespace llmc::test

#endif // LLMC_TEST_COMPILER_CUDA_ROWRECORDS_H
