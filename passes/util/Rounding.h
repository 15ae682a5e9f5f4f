// Roundings of activations to codes that a file asks for: how they are noted on
// ops of attention, from raising to lowering.
#ifndef LLMC_PASSES_UTIL_ROUNDING_H
#define LLMC_PASSES_UTIL_ROUNDING_H

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Operation.h"

#include <algorithm>
#include <cmath>

namespace llmc {

/// On onnx.softmax, in units of the raw products of queries and keys, and on
/// llm.padded_attention and llm.attention, in those of scaled scores before the
/// softcap.
inline constexpr llvm::StringLiteral ScoreRoundingAttr = "llmc.score_rounding";
/// Likewise for the probabilities.
inline constexpr llvm::StringLiteral ProbRoundingAttr = "llmc.prob_rounding";

/// x becomes Step * clamp(round to even(x / Step), Low, High); Step 0: x.
struct Rounding {
  double Step = 0, Low = 0, High = 0;

  double operator()(double X) const {
    return Step > 0 ? Step * std::clamp(std::nearbyint(X / Step), Low, High)
                    : X;
  }
};

inline Rounding roundingAt(mlir::Operation *Op, llvm::StringRef Name) {
  auto A = Op->getAttrOfType<mlir::DenseF64ArrayAttr>(Name);
  return A && A.size() == 3 ? Rounding{A[0], A[1], A[2]} : Rounding();
}

inline void setRounding(mlir::Operation *Op, llvm::StringRef Name,
                        const Rounding &By) {
  if (By.Step > 0)
    Op->setAttr(Name, mlir::DenseF64ArrayAttr::get(Op->getContext(),
                                                   {By.Step, By.Low, By.High}));
}

} // namespace llmc

#endif // LLMC_PASSES_UTIL_ROUNDING_H
