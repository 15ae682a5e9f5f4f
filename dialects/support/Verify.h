// Checks that verifiers of several dialects share. Messages: lower case, the
// attribute's name and both numbers.
#ifndef LLMC_DIALECTS_SUPPORT_VERIFY_H
#define LLMC_DIALECTS_SUPPORT_VERIFY_H

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Operation.h"
#include "llvm/ADT/StringRef.h"
#include <initializer_list>

namespace llmc {

/// Bits of one element of `T`; 0 when it is not a number type.
unsigned elementBits(mlir::Type T);

/// Bytes of a tensor with static dims: ceil(elements * bits / 8). Nothing if a
/// dim is dynamic or the product overflows.
std::optional<int64_t> tensorBytes(mlir::RankedTensorType T);

/// Whether `A` is a string attribute with one of these values.
bool isOneOf(mlir::Attribute A, std::initializer_list<llvm::StringRef> Values);

/// `Axis` counts in [-n, n) with n = rank of the first operand + `Extra`.
llvm::LogicalResult verifyAxis(mlir::Operation *Op, int64_t Axis, int Extra);

llvm::LogicalResult verifyAtLeastOneInput(mlir::Operation *Op);

} // namespace llmc

#endif // LLMC_DIALECTS_SUPPORT_VERIFY_H
