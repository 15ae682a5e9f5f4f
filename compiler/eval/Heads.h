// How tensors hold heads: split or packed. Attention ops of all domains use it.
#ifndef LLMC_COMPILER_EVAL_HEADS_H
#define LLMC_COMPILER_EVAL_HEADS_H

#include "compiler/eval/Tensor.h"

namespace llmc::eval {

/// Heads of a tensor [batch, heads, seq, size] or [batch, seq, heads * size].
struct HeadView {
  int64_t Batch, Heads, Length, Size;
  bool Packed;

  size_t at(int64_t B, int64_t H, int64_t T, int64_t D = 0) const {
    return static_cast<size_t>(Packed
                                   ? ((B * Length + T) * Heads + H) * Size + D
                                   : ((B * Heads + H) * Length + T) * Size + D);
  }
  Dims shape() const {
    return Packed ? Dims{Batch, Length, Heads * Size}
                  : Dims{Batch, Heads, Length, Size};
  }
};

/// Heads is read for X of rank 3 only. Name is for the message.
inline Result<HeadView> viewHeads(const Tensor &X, int64_t Heads,
                                  const char *Name) {
  if (X.rank() == 4)
    return HeadView{X.Shape[0], X.Shape[1], X.Shape[2], X.Shape[3], false};
  if (X.rank() != 3 || Heads <= 0 || X.Shape[2] % Heads)
    return malformedError("attention: " + std::string(Name) + " is " +
                          describe(X) + ", heads " + std::to_string(Heads));
  return HeadView{X.Shape[0], Heads, X.Shape[1], X.Shape[2] / Heads, true};
}

} // namespace llmc::eval

#endif // LLMC_COMPILER_EVAL_HEADS_H
