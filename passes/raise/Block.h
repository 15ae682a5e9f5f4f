// The parts of an attention block around a softmax, found by walking outwards;
// raise-mask and raise-attention share it.
#ifndef LLMC_PASSES_RAISE_BLOCK_H
#define LLMC_PASSES_RAISE_BLOCK_H

#include "dialects/onnx/Onnx.h"
#include "passes/raise/Roles.h"

#include <string>

namespace llmc::raise {

constexpr llvm::StringLiteral WindowAttr = "llm.window";
constexpr llvm::StringLiteral MaskFailureAttr = "llm.mask_failure";

struct AttentionBlock {
  onnx::SoftmaxOp Softmax;
  onnx::MatMulOp Scores; ///< q k^T
  onnx::MatMulOp Mix;    ///< probabilities times v
  mlir::Value Output;    ///< merged heads: flat rows
  /// Empty, or the first part that was not found and why.
  std::string Failure;
};

/// The block of a softmax over token data.
AttentionBlock blockOf(onnx::SoftmaxOp Softmax, const Roles &R);

} // namespace llmc::raise

#endif // LLMC_PASSES_RAISE_BLOCK_H
