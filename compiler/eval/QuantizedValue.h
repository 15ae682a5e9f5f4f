// The values of matrices that a file holds as codes and scales.
#ifndef LLMC_COMPILER_EVAL_QUANTIZEDVALUE_H
#define LLMC_COMPILER_EVAL_QUANTIZEDVALUE_H

#include "compiler/eval/Evaluator.h"
#include "dialects/llm/LlmDialect.h"

namespace llmc::eval {

/// Fills the bytes of a source that lies in a file.
using SourceReader =
    std::function<Status(llm::SourceOp, std::vector<uint8_t> &)>;

/// All elements, row by row, as f32.
Result<std::vector<float>> dequantized(llm::QuantizedOp Op,
                                       const SourceReader &Reader);

/// The tensor that the op stands for. Bytes are read through the reader of the
/// onnx.weight_data with the same place in the file.
Result<Tensor> quantizedValue(llm::QuantizedValueOp Op,
                              const WeightReader &Reader, Budget &Limit);

} // namespace llmc::eval

#endif // LLMC_COMPILER_EVAL_QUANTIZEDVALUE_H
