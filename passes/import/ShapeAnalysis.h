// Symbolic shapes of all values of an onnx function, with the elements of
// small integer tensors carried along (data propagation): what Shape, Gather,
// Concat and their like compute is known as expressions of the dims of the
// arguments. Declared shapes of inner values are not believed.
#ifndef LLMC_PASSES_IMPORT_SHAPEANALYSIS_H
#define LLMC_PASSES_IMPORT_SHAPEANALYSIS_H

#include "passes/import/DimExpr.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallVector.h"

#include <memory>

namespace llmc {

using DimList = llvm::SmallVector<Dim, 4>;

/// What is known of a value.
struct ValueInfo {
  mlir::Type Element;  ///< null when the value is no tensor
  bool Ranked = false; ///< whether Shape is known
  bool HasData = false;
  DimList Shape; ///< unknown dims are empty
  DimList Data;  ///< elements in row-major order, unknown ones empty

  size_t rank() const { return Shape.size(); }
  void setShape(DimList S) {
    Ranked = true;
    Shape = std::move(S);
  }
  void setData(DimList D) {
    HasData = true;
    Data = std::move(D);
  }
  /// All dims as numbers.
  std::optional<llvm::SmallVector<int64_t>> staticShape() const;
  /// All elements as numbers.
  std::optional<llvm::SmallVector<int64_t>> constants() const;
};

class ShapeAnalysis {
public:
  /// Elements of larger tensors are not carried along.
  static constexpr int64_t MaxData = 64;

  explicit ShapeAnalysis(mlir::func::FuncOp F);
  /// Constants made after the analysis are known, too; other new values are
  /// unknown unless told.
  const ValueInfo &of(mlir::Value V);
  void set(mlir::Value V, ValueInfo Info);

private:
  void visit(mlir::Block &Block);
  void visitOp(mlir::Operation *Op);

  llvm::DenseMap<mlir::Value, std::unique_ptr<ValueInfo>> Infos;
};

/// The type with which infer-shapes marks a value.
mlir::Type typeOf(const ValueInfo &Info);
/// The dims that a type spells: numbers, `#onnx.dims` expressions, unknown.
/// Nothing for an unranked type.
std::optional<DimList> dimsOfType(mlir::Type T);

/// Shapes provably equal in all dims.
bool sameShape(const ValueInfo &A, const ValueInfo &B);
/// The dim that broadcasting gives, where it is certain.
Dim broadcastDim(const Dim &A, const Dim &B);
/// The same for operands of one op. A dim that is not known is 1 or that of the
/// symbol it meets: otherwise the graph would run for one value of the symbol
/// only. Not for Expand, which may be made for that one value.
Dim operandDim(const Dim &A, const Dim &B);
/// Product of dims.
Dim productOf(llvm::ArrayRef<Dim> Dims);

} // namespace llmc

#endif // LLMC_PASSES_IMPORT_SHAPEANALYSIS_H
