// Quantised activations: the float value that a quantised value of the graph
// stands for.
#ifndef LLMC_PASSES_RAISE_QUANTIZEDACTIVATIONS_H
#define LLMC_PASSES_RAISE_QUANTIZEDACTIVATIONS_H

#include "passes/raise/StaticRounding.h"

namespace llmc::raise {

/// How a quantised value became one.
struct QuantizedBy {
  mlir::Value Scale, Zero; ///< Zero may be null
  BlockAxis Blocks;
};

class QuantizedActivations {
public:
  explicit QuantizedActivations(QuantizedMaker &M) : Maker(M), Static(M) {}

  /// The float value of a quantised activation, made once and placed where it
  /// is defined; null when V is none that this knows.
  mlir::Value exact(mlir::Value V);
  /// The float value of a quantised operand: of codes of the file by those
  /// scales, else exact(V).
  mlir::Value operand(mlir::Operation *At, mlir::Value V, const QuantizedBy &By,
                      double Times = 1);
  /// The scale that an activation was quantised with; null when unknown.
  mlir::Value scaleOf(mlir::Value V);

private:
  mlir::Value make(mlir::Value V);
  mlir::Value moved(mlir::Operation *Op, mlir::Value V);
  mlir::Value quantized(mlir::Operation *Op, mlir::Value X, mlir::Value Scale,
                        mlir::Value Zero);

  QuantizedMaker &Maker;
  StaticRounding Static;
  llvm::DenseMap<mlir::Value, mlir::Value> Exact;
};

/// V with f32 elements and the shape of Like.
mlir::Type floatLike(mlir::Value Like);

} // namespace llmc::raise

#endif // LLMC_PASSES_RAISE_QUANTIZEDACTIVATIONS_H
