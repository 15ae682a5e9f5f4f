// Decoding for the evaluator, with the code that the packer decodes with.
#include "compiler/eval/QuantizedValue.h"

#include "compiler/eval/Convert.h"
#include "compiler/weights/QuantizedRows.h"
#include "dialects/onnx/Onnx.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/SymbolTable.h"

using namespace mlir;

namespace llmc::eval {
namespace {

Result<WeightBytes> bytesOf(Operation *From, FlatSymbolRefAttr Ref,
                            const SourceReader &Reader) {
  WeightBytes Out;
  Out.IsInline = true;
  if (!Ref)
    return Out;
  llm::SourceOp Source =
      SymbolTable::lookupNearestSymbolFrom<llm::SourceOp>(From, Ref);
  if (!Source)
    return internalError("quantised weight without its sources");
  if (Source.getData()) {
    Out.Data = packedElements(cast<DenseElementsAttr>(*Source.getData()));
    return Out;
  }
  LLMC_RETURN_IF_ERROR(Reader(Source, Out.Data));
  return Out;
}
} // namespace

Result<std::vector<float>> dequantized(llm::QuantizedOp Op,
                                       const SourceReader &Reader) {
  RankedTensorType Type = cast<RankedTensorType>(Op.getType());
  WeightSource S;
  S.Name = Op.getSymName().str();
  S.Shape.assign(Type.getShape().begin(), Type.getShape().end());
  QuantizedParts Parts;
  LLMC_ASSIGN_OR_RETURN(Parts.How, encodingOf(Op.getEncoding().str()));
  LLMC_ASSIGN_OR_RETURN(WeightBytes Codes,
                        bytesOf(Op, Op.getCodesAttr(), Reader));
  LLMC_ASSIGN_OR_RETURN(Parts.Scales, bytesOf(Op, Op.getScalesAttr(), Reader));
  LLMC_ASSIGN_OR_RETURN(Parts.Zeros, bytesOf(Op, Op.getZerosAttr(), Reader));
  LLMC_ASSIGN_OR_RETURN(Parts.Groups, bytesOf(Op, Op.getGroupsAttr(), Reader));
  S.Data = std::move(Codes.Data);
  S.IsInline = true;
  S.Quantized = std::move(Parts);
  uint64_t Rows = static_cast<uint64_t>(Type.getDimSize(0));
  uint64_t Cols = static_cast<uint64_t>(Type.getNumElements()) / Rows;
  QuantizedRows Decoder;
  WeightStore Nothing;
  LLMC_RETURN_IF_ERROR(Decoder.read(S, /*Transposed=*/false, 0, Rows, Nothing));
  std::vector<float> Out(Rows * Cols);
  for (uint64_t R = 0; R < Rows; ++R)
    Decoder.values(R, Out.data() + R * Cols, 1);
  return Out;
}

Result<Tensor> quantizedValue(llm::QuantizedValueOp Op,
                              const WeightReader &Reader, Budget &Limit) {
  llm::QuantizedOp Q = SymbolTable::lookupNearestSymbolFrom<llm::QuantizedOp>(
      Op, Op.getSourceAttr());
  ModuleOp Module = Op->getParentOfType<ModuleOp>();
  if (!Q || !Module)
    return internalError("a quantised value without its weight");
  RankedTensorType Type = cast<RankedTensorType>(Q.getType());
  LLMC_ASSIGN_OR_RETURN(
      Tensor Out, Limit.allocate(DType::F32, Dims(Type.getShape().begin(),
                                                  Type.getShape().end())));
  const auto Read = [&](llm::SourceOp Source,
                        std::vector<uint8_t> &Bytes) -> Status {
    // The whole of a tensor of the graph, or a part of one.
    uint64_t Begin = *Source.getOffset(), Size = *Source.getLength();
    for (onnx::WeightDataOp Data : Module.getOps<onnx::WeightDataOp>()) {
      if (Data.getFile() != *Source.getFile() || Data.getOffset() > Begin ||
          Size > Data.getLength() ||
          Begin - Data.getOffset() > Data.getLength() - Size)
        continue;
      if (!Reader)
        return unsupportedError("evaluation: weights cannot be read here");
      LLMC_RETURN_IF_ERROR(Reader(Data, Bytes));
      size_t Skip = static_cast<size_t>(Begin - Data.getOffset());
      Bytes.erase(Bytes.begin(), Bytes.begin() + static_cast<ptrdiff_t>(Skip));
      Bytes.resize(static_cast<size_t>(Size));
      return Status::success();
    }
    return internalError("source " + Source.getSymName().str() +
                         " is not in the graph");
  };
  LLMC_ASSIGN_OR_RETURN(std::vector<float> Values, dequantized(Q, Read));
  std::memcpy(Out.Bytes.data(), Values.data(), Out.Bytes.size());
  return Out;
}

} // namespace llmc::eval
