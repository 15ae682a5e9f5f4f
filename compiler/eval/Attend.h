// The one attention of the evaluator: scores, soft cap, bias and masks,
// softmax with sinks, weighted values. All attention ops bring their operands
// into this form first.
#ifndef LLMC_COMPILER_EVAL_ATTEND_H
#define LLMC_COMPILER_EVAL_ATTEND_H

#include "compiler/eval/Tensor.h"

#include <functional>

namespace llmc::eval {

/// Numbers as [Batch][Heads][Rows][Size].
struct HeadTensor {
  int64_t Batch = 0, Heads = 0, Rows = 0, Size = 0;
  std::vector<double> Data;

  double *row(int64_t B, int64_t H, int64_t R) {
    return Data.data() + (((B * Heads) + H) * Rows + R) * Size;
  }
  const double *row(int64_t B, int64_t H, int64_t R) const {
    return Data.data() + (((B * Heads) + H) * Rows + R) * Size;
  }
};

/// Zeros; draws from the budget.
Result<HeadTensor> makeHeads(Budget &B, int64_t Batch, int64_t Heads,
                             int64_t Rows, int64_t Size);
/// From [B, S, Heads * Size], columns `First` to `First + Heads * Size`.
Result<HeadTensor> splitHeads(Budget &B, const Tensor &X, int64_t Heads,
                              int64_t First, int64_t Size);
/// From [B, Heads, Rows, Size].
Result<HeadTensor> fromHeads(Budget &B, const Tensor &X);
/// To [B, Heads, Rows, Size] of a type.
Result<Tensor> toTensor(Budget &B, const HeadTensor &X, DType Type);
/// Rows of A, then rows of B.
Result<HeadTensor> joinRows(Budget &L, const HeadTensor &A,
                            const HeadTensor &B);

struct Attend {
  double Scale = 0; ///< 0: 1 / sqrt(size)
  double Softcap = 0;
  bool HasSink = false;
  std::vector<double> Sinks; ///< one per head, or empty for 0
  /// What is added to a score (batch, head, query row, key row); minus infinity
  /// hides the key. May be empty.
  std::function<double(int64_t, int64_t, int64_t, int64_t)> Bias;
  /// Keys beyond these rows (per batch) do not exist; may be empty.
  std::vector<int64_t> KeyRows;
};

/// [B, S, Heads * value size] of `Type`. Query heads share key heads in groups.
/// A row without visible keys is 0.
Result<Tensor> attend(Budget &B, const Attend &How, const HeadTensor &Q,
                      const HeadTensor &K, const HeadTensor &V, DType Type);

/// Rotates the first 2 * Width elements of a row; Cos and Sin have Width.
void rotate(double *Row, const double *Cos, const double *Sin, int64_t Width,
            bool Interleaved);

} // namespace llmc::eval

#endif // LLMC_COMPILER_EVAL_ATTEND_H
