// Reading of constants in the onnx dialect.
#ifndef LLMC_PASSES_UTIL_CONSTANTS_H
#define LLMC_PASSES_UTIL_CONSTANTS_H

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Value.h"
#include "llvm/ADT/SmallVector.h"

#include <optional>

namespace llmc {

/// The elements of an `onnx.constant`; null for anything else.
mlir::DenseElementsAttr constantOf(mlir::Value V);
/// The value that all elements of a constant (of floats, integers or bools)
/// have, as double. Nothing for other values and for empty ones.
std::optional<double> splatOf(mlir::Value V);
/// The elements of a constant of integers or bools.
std::optional<llvm::SmallVector<int64_t>> integersOf(mlir::Value V);
/// The elements of a constant of floats, as double.
std::optional<llvm::SmallVector<double>> floatsOf(mlir::Value V);
/// The only element of a constant of integers, of any rank.
std::optional<int64_t> integerOf(mlir::Value V);

/// Whether the value is a constant or a weight.
bool isStatic(mlir::Value V);

} // namespace llmc

#endif // LLMC_PASSES_UTIL_CONSTANTS_H
