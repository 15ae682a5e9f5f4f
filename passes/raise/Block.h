// The parts of an attention block around a softmax, found by walking outwards;
// raise-mask and raise-attention share it.
#ifndef LLMC_PASSES_RAISE_BLOCK_H
#define LLMC_PASSES_RAISE_BLOCK_H

#include "compiler/eval/Tensor.h"
#include "dialects/onnx/Onnx.h"
#include "passes/raise/Probe.h"

#include "llvm/ADT/SetVector.h"
#include <string>

namespace llmc::raise {

/// What raise-mask leaves on a softmax for raise-attention.
constexpr llvm::StringLiteral WindowAttr = "llm.window"; ///< i64, 0: none
constexpr llvm::StringLiteral ChunkAttr = "llm.chunk";   ///< i64, if any
constexpr llvm::StringLiteral SlopesAttr = "llm.slopes"; ///< f64 per head
constexpr llvm::StringLiteral SinksAttr = "llm.sinks";   ///< f64 per head
/// i64: the mask is right only when so many tokens come at once (1: files for
/// single steps); absent: any number.
constexpr llvm::StringLiteral StepAttr = "llm.step_tokens";
constexpr llvm::StringLiteral MaskFailureAttr = "llm.mask_failure";

/// What raise-rope leaves on the end of what looked like a rotation: why it is
/// none that can be compiled.
constexpr llvm::StringLiteral RopeFailureAttr = "llm.rope_failure";

struct AttentionBlock {
  onnx::SoftmaxOp Softmax;
  onnx::MatMulOp Scores; ///< q k^T
  onnx::MatMulOp Mix;    ///< probabilities times v
  mlir::Value Output;    ///< merged heads: flat rows
  /// Ops from the scores to the softmax, in no order.
  llvm::SetVector<mlir::Operation *> Between;
  /// Empty, or the first part that was not found and why.
  std::string Failure;
};

/// The block of a softmax over token data.
AttentionBlock blockOf(onnx::SoftmaxOp Softmax, const Roles &R);

/// Dims of scores on a sample. Gives P what queries and keys are made of, as
/// zeros: what is between scores and softmax asks the shapes of heads for
/// lengths that no type tells. Empty when the rank is not known.
eval::Dims shapeOfScores(onnx::MatMulOp Scores, const Roles &R, Probe &P);

/// Dims of scores [.., queries, keys] whose type does not tell them all: dims
/// in front count heads where they are static and are a batch of one otherwise.
eval::Dims scoresLike(mlir::Value Scores, int64_t Seq, int64_t Total);

} // namespace llmc::raise

#endif // LLMC_PASSES_RAISE_BLOCK_H
