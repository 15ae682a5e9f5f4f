// Attention, rotary embedding and recurrent mixers of the evaluator, with the
// semantics of the standard ops (opsets 23 to 28). Vendor ops use them, too.
#ifndef LLMC_COMPILER_EVAL_ATTENTION_H
#define LLMC_COMPILER_EVAL_ATTENTION_H

#include "compiler/eval/Ops.h"

#include <optional>

namespace llmc::eval {

/// Absent operands are tensors of type None.
struct AttentionInputs {
  const Tensor &Q, &K, &V, &Mask, &PastKey, &PastValue, &NonpadLength;
};
struct AttentionOptions {
  bool Causal = false;
  int64_t QueryHeads = 0, KeyHeads = 0; ///< for packed operands
  std::optional<double> Scale;          ///< 1 / sqrt(head size)
  double Softcap = 0;                   ///< 0: none
  DType SoftmaxType = DType::F32;
  int64_t OutputMode = 0;
  int64_t Left = -1, Right = -1; ///< window, -1: no bound
  bool WantScores = false;       ///< else the last result is empty
};
/// Result, present key, present value, scores.
Result<std::vector<Tensor>> attention(Budget &B, const AttentionInputs &In,
                                      const AttentionOptions &O);

/// Positions may be absent. Heads is read for X of rank 3; Rotated 0 is all.
Result<Tensor> rotaryEmbedding(Budget &B, const Tensor &X, const Tensor &Cos,
                               const Tensor &Sin, const Tensor &Positions,
                               int64_t Heads, int64_t Rotated,
                               bool Interleaved);

struct LinearAttentionInputs {
  const Tensor &Query, &Key, &Value, &PastState, &Decay, &Beta;
};
/// Result and present state. Scale 0 is 1 / sqrt(key size).
Result<std::vector<Tensor>>
linearAttention(Budget &B, const LinearAttentionInputs &In, int64_t QueryHeads,
                int64_t KeyHeads, bool Gated, bool Delta, double Scale);

/// Result and present state; Bias and Past may be absent.
Result<std::vector<Tensor>> causalConv(Budget &B, const Tensor &X,
                                       const Tensor &W, const Tensor &Bias,
                                       const Tensor &Past, bool Silu);

} // namespace llmc::eval

#endif // LLMC_COMPILER_EVAL_ATTENTION_H
