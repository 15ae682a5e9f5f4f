// Turns weight values of the onnx graph into llm.source and llm.weight symbols.
// Nothing is read: a transposed or reshaped initializer becomes a piece.
#ifndef LLMC_PASSES_RAISE_WEIGHTS_H
#define LLMC_PASSES_RAISE_WEIGHTS_H

#include "dialects/llm/LlmDialect.h"
#include "dialects/onnx/Onnx.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringRef.h"
#include <optional>

namespace llmc::raise {

/// A value that is a tensor of the file seen through what only renames it.
struct WeightView {
  mlir::Operation *Data = nullptr;  ///< onnx.weight_data, onnx.constant or
                                    ///< llm.quantized
  llvm::SmallVector<int64_t> Shape; ///< of the value, dims of 1 removed
  bool Transposed = false;          ///< value = transpose of the data
};

class WeightMaker {
public:
  explicit WeightMaker(mlir::ModuleOp M);

  /// V as a tensor of the file: through Identity, Cast to f32, Transpose of
  /// matrices, and reshapes that only add or drop dims of 1.
  std::optional<WeightView> view(mlir::Value V);
  bool isWeight(mlir::Value V) { return view(V).has_value(); }

  /// llm.weight [out, in] of a matrix; `InOut`: V holds [in, out].
  mlir::FlatSymbolRefAttr matrix(const WeightView &View, bool InOut);
  /// llm.weight [n] of a vector.
  mlir::FlatSymbolRefAttr vector(const WeightView &View);
  /// llm.weight of these rows of a matrix or vector, in this order.
  mlir::FlatSymbolRefAttr rows(mlir::FlatSymbolRefAttr Weight,
                               llvm::ArrayRef<int64_t> Rows);
  /// llm.weight of the rows of several weights of one width, in this order.
  mlir::FlatSymbolRefAttr joined(llvm::ArrayRef<mlir::FlatSymbolRefAttr> All);
  /// V as a tensor of the file with three dims: through Identity, Cast to f32
  /// and Transpose of the last two.
  std::optional<WeightView> cube(mlir::Value V);
  /// llm.weight [experts * out, in] of a cube; `InOut`: V holds [experts, in,
  /// out].
  mlir::FlatSymbolRefAttr experts(const WeightView &View, bool InOut);
  /// llm.weight [n] of all elements of a tensor, in order.
  mlir::FlatSymbolRefAttr flat(const WeightView &View);
  /// llm.weight [Out, In] of the elements of Data (onnx.weight_data or
  /// onnx.constant) from Begin on, stored like that or, with InOut, [In, Out].
  mlir::FlatSymbolRefAttr block(mlir::Operation *Data, int64_t Begin,
                                int64_t Out, int64_t In, bool InOut);
  /// llm.weight with data of its own; equal data gives the same symbol.
  mlir::FlatSymbolRefAttr inlined(llvm::StringRef Name,
                                  llvm::ArrayRef<int64_t> Shape,
                                  llvm::ArrayRef<float> Data);

private:
  mlir::FlatSymbolRefAttr source(mlir::Operation *Data);
  /// Elements [Begin, Begin + size of Shape) of Data as a source of that shape.
  mlir::FlatSymbolRefAttr part(mlir::Operation *Data, llvm::StringRef Suffix,
                               int64_t Begin, llvm::ArrayRef<int64_t> Shape);
  mlir::FlatSymbolRefAttr make(llvm::StringRef Name,
                               llvm::ArrayRef<int64_t> Shape,
                               llvm::ArrayRef<llm::PieceAttr> Pieces);

  mlir::FlatSymbolRefAttr
  data(llvm::StringRef Name, mlir::DenseElementsAttr Data, mlir::Location Loc);

  mlir::ModuleOp Module;
  mlir::SymbolTable Symbols;
  mlir::OpBuilder Builder; ///< before the first function
  llvm::DenseMap<mlir::Attribute, mlir::FlatSymbolRefAttr> Inline;
  llvm::DenseMap<std::pair<mlir::Attribute, mlir::Type>,
                 mlir::FlatSymbolRefAttr>
      Weights;
};

} // namespace llmc::raise

#endif // LLMC_PASSES_RAISE_WEIGHTS_H
