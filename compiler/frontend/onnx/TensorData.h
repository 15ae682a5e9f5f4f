// Tensors of an ONNX file: element types, sizes, where their bytes are. Only
// this decides whether a tensor is read (small constants) or described.
#ifndef LLMC_COMPILER_FRONTEND_ONNX_TENSORDATA_H
#define LLMC_COMPILER_FRONTEND_ONNX_TENSORDATA_H

#include "compiler/frontend/onnx/WireScan.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"

#include <map>
#include <optional>

namespace onnx {
class TensorProto;
} // namespace onnx

namespace llmc {

/// A tensor's type and the range of bytes that holds it, row-major,
/// little-endian, in ONNX's packing.
struct TensorRef {
  mlir::RankedTensorType Type;
  uint32_t File = 0;
  uint64_t Offset = 0;
  uint64_t Length = 0;
  /// The bytes of a small tensor that no file holds as they are.
  std::optional<std::vector<uint8_t>> Bytes;
};

/// MLIR's type for a TensorProto::DataType; null for those without one.
mlir::Type elementType(mlir::MLIRContext &Context, int32_t DataType);

/// "float16" for 10; for messages.
std::string dataTypeName(int32_t DataType);

class TensorReader {
public:
  TensorReader(mlir::MLIRContext &Context, WeightStore &Store,
               const std::vector<ScannedTensor> &Scanned)
      : Context(Context), Store(Store), Scanned(Scanned) {}

  /// Finds and checks a tensor's bytes, once. `Name` is for messages.
  Result<TensorRef> resolve(const ::onnx::TensorProto &T,
                            const std::string &Name);

  /// Whether the graph should hold it as an onnx.constant.
  bool isSmall(const TensorRef &T) const;

  /// Reads a small tensor.
  Result<mlir::DenseElementsAttr> load(const TensorRef &T,
                                       const std::string &Name);

  /// A tensor whose bytes no file holds: a large one goes to the store.
  TensorRef keep(mlir::RankedTensorType T, std::vector<uint8_t> Bytes);

private:
  Result<TensorRef> find(const ::onnx::TensorProto &T,
                         const ScannedTensor &Where, const std::string &Name);
  Status findExternal(const ::onnx::TensorProto &T, const std::string &Name,
                      TensorRef &Ref);
  Status findInline(const ::onnx::TensorProto &T, const ScannedTensor &Where,
                    const std::string &Name, TensorRef &Ref);
  Status decodeTyped(const ::onnx::TensorProto &T, const ScannedTensor &Where,
                     const std::string &Name, TensorRef &Ref);

  mlir::MLIRContext &Context;
  WeightStore &Store;
  const std::vector<ScannedTensor> &Scanned;
  std::map<int64_t, TensorRef> Known; ///< by number
  uint64_t DecodedBytes = 0;
};

} // namespace llmc

#endif // LLMC_COMPILER_FRONTEND_ONNX_TENSORDATA_H
