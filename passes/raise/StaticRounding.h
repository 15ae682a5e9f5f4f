// Activations that a file quantises with constant scales are rounded and
// saturated as it says; see StaticRounding.cpp.
#ifndef LLMC_PASSES_RAISE_STATICROUNDING_H
#define LLMC_PASSES_RAISE_STATICROUNDING_H

#include "compiler/eval/Evaluator.h"
#include "passes/raise/QuantizedMaker.h"
#include "passes/util/Rounding.h"

#include "mlir/Pass/Pass.h"

namespace llmc::raise {

/// On the last op of a rounding of rows.
inline constexpr llvm::StringLiteral RoundedAttr = "llmc.rounded";

/// What a rounding, whose last op has RoundedAttr, is made of.
mlir::Value unrounded(mlir::Operation *Last);

class StaticRounding {
public:
  explicit StaticRounding(QuantizedMaker &M) : Maker(M) {}

  /// The float value that users of the quantisation Op (its first result) see
  /// when it is made of X; null when Op is not to be kept: its scale is no
  /// constant, or no product is near.
  mlir::Value rounded(mlir::Operation *Op, mlir::Value X, mlir::Value Scale,
                      mlir::Value Zero);

private:
  /// What the quantised value is for.
  enum class Place {
    None,
    Rows,   ///< beside a product with weights
    Angles, ///< positions, frequencies and their products
    Heads,  ///< queries, keys or values
    Scores, ///< products of queries and keys
    Probabilities,
    Context ///< heads that come out of attention
  };
  Place placeOf(mlir::Operation *Op, mlir::Value X);
  std::optional<Rounding> roundingOf(mlir::Operation *Op, mlir::Value Scale,
                                     mlir::Value Zero);
  bool isWeight(mlir::Value V);
  bool isLogits(mlir::Value V);
  bool ofActivations(mlir::Operation *Op);
  mlir::Value make(mlir::Value X, const Rounding &By);
  mlir::Value ofHeads(mlir::Value X, Rounding By);
  mlir::Value ofContext(mlir::Operation *Op, mlir::Value X, const Rounding &By);
  bool mark(mlir::Operation *Op, mlir::Value X, Rounding By);

  QuantizedMaker &Maker;
  bool Fine = false; ///< of the one at hand: too fine to be rounded
};

/// raise-rowwise of roundings alone, which recognisers behind it take as rows.
std::unique_ptr<mlir::Pass> createRaiseRoundings(eval::WeightReader Reader);

} // namespace llmc::raise

#endif // LLMC_PASSES_RAISE_STATICROUNDING_H
