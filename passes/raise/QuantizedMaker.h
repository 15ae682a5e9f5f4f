// Makes llm.quantized symbols of the tensors that a quantised operator has.
#ifndef LLMC_PASSES_RAISE_QUANTIZEDMAKER_H
#define LLMC_PASSES_RAISE_QUANTIZEDMAKER_H

#include "compiler/eval/Evaluator.h"
#include "compiler/weights/Encoding.h"
#include "passes/raise/Weights.h"

#include <optional>

namespace llmc::raise {

/// A tensor of the file, whatever its type, seen through what only renames it
/// (Identity, reshapes, a cast to f32).
struct RawTensor {
  mlir::Operation *Data = nullptr; ///< onnx.weight_data or onnx.constant
  mlir::Type Element;              ///< as the file holds it
  int64_t Count = 0;
};

/// The operands of a quantised matrix (or vector), as ONNX has them. Zeros and
/// Groups may be absent (null or onnx.none).
struct QuantizedOperands {
  mlir::Value Codes, Scales, Zeros, Groups;
  /// What the scales are where their bytes have another type.
  DType ScaleAs = DType::None;
  /// Of each tensor of more than one element only this one of so many equal
  /// parts.
  int64_t Part = 0, Parts = 1;
};

/// How scales lie over a matrix: DequantizeLinear's axis and block_size. Axis
/// is 0 or 1; whole: one scale.
struct BlockAxis {
  int64_t Axis = 1;
  int64_t Size = 0; ///< 0: one scale per index of the axis
};

class QuantizedMaker {
public:
  QuantizedMaker(mlir::ModuleOp M, const eval::WeightReader &TheReader);

  std::optional<RawTensor> raw(mlir::Value V);
  bool isRaw(mlir::Value V) { return raw(V).has_value(); }
  /// The elements of a constant of one element.
  std::optional<double> scalarOf(mlir::Value V);

  /// The elements of a small tensor of the file; nothing when it cannot be
  /// read.
  std::optional<std::vector<double>> numbersOf(mlir::Value V);

  /// The value of the matrix before At: an llm.quantized_value of that shape.
  /// How has all but the types of scales and zero points. Null after an error
  /// at At when a tensor has not as many elements as it needs.
  mlir::Value make(mlir::Operation *At, llvm::ArrayRef<int64_t> Shape,
                   const QuantizedOperands &Parts, Encoding How);

  /// The same for codes [Shape] of rank 1 or 2 with scales as DequantizeLinear
  /// has them.
  mlir::Value byAxis(mlir::Operation *At, llvm::ArrayRef<int64_t> Shape,
                     const QuantizedOperands &Parts, BlockAxis Blocks,
                     double Times = 1);

  /// The same for any rank: a matrix, seen with those dims. Null where no
  /// matrix has these scales.
  mlir::Value byAxisOfMany(mlir::Operation *At, llvm::ArrayRef<int64_t> Shape,
                           const QuantizedOperands &Parts, BlockAxis Blocks,
                           double Times = 1);

private:
  mlir::FlatSymbolRefAttr source(const RawTensor &T);
  mlir::FlatSymbolRefAttr partOf(const RawTensor &T,
                                 const QuantizedOperands &Of);
  mlir::Value madeBefore(mlir::Operation *At, llvm::ArrayRef<int64_t> Shape,
                         const QuantizedOperands &Taken, const Encoding &How);
  bool factor(mlir::Value V, mlir::Value &Main, double &Times);
  bool setScale(const QuantizedOperands &Parts, Encoding &How,
                QuantizedOperands &Taken);
  bool setZero(const QuantizedOperands &Parts, Encoding &How,
               QuantizedOperands &Taken);

  const eval::WeightReader &Reader;
  mlir::SymbolTable Symbols;
  llvm::DenseMap<mlir::Operation *, mlir::FlatSymbolRefAttr> Sources;
  llvm::DenseMap<mlir::Attribute, llm::QuantizedOp> Known;
  llvm::DenseMap<mlir::Operation *, QuantizedOperands> Origins;
  mlir::OpBuilder Builder; ///< before the first function
};

/// The DType of an element type of any width, 8-bit floats included.
DType elementOf(mlir::Type T);

} // namespace llmc::raise

#endif // LLMC_PASSES_RAISE_QUANTIZEDMAKER_H
