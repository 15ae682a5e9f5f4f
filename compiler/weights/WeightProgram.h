// The weight program: what the packer must do for every packed tensor, as
// plain data. exe.packed_weight mirrors it; the driver converts.
#ifndef LLMC_COMPILER_WEIGHTS_WEIGHTPROGRAM_H
#define LLMC_COMPILER_WEIGHTS_WEIGHTPROGRAM_H

#include "compiler/weights/Encoding.h"
#include "compiler/weights/Layout.h"
#include "runtime/base/DType.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace llmc {

/// Where the bytes of a tensor are: a range of a file of the WeightStore, or
/// inline data.
struct WeightBytes {
  uint32_t File = 0;
  uint64_t Offset = 0, Length = 0;
  std::vector<uint8_t> Data;
  bool IsInline = false;
};

/// What a source of codes has besides them.
struct QuantizedParts {
  Encoding How;
  WeightBytes Scales, Zeros, Groups; ///< Zeros, Groups: as How says
};

/// Bytes of a tensor, row-major: a range of a file of the WeightStore, or
/// inline data. With Quantized they are its codes and Shape is that of the
/// matrix they stand for.
struct WeightSource {
  std::string Name;           ///< for messages
  uint32_t File = 0;          ///< index into the WeightStore
  uint64_t Offset = 0;        ///< bytes
  uint64_t Length = 0;        ///< bytes
  DType Type = DType::F32;    ///< f32, f16, bf16 or f64; of no use for codes
  std::vector<int64_t> Shape; ///< rank 1 (a vector, cols = 1) or 2
  std::vector<uint8_t> Data;  ///< inline bytes; used when IsInline
  bool IsInline = false;
  std::optional<QuantizedParts> Quantized;

  WeightBytes bytes() const { return {File, Offset, Length, Data, IsInline}; }
};

/// Rows of a source, in logical order. The rows of a transposed source are its
/// columns.
struct WeightPiece {
  uint32_t Source = 0;   ///< index into PackedTensor::Sources
  uint64_t RowBegin = 0; ///< of the source after transposition
  uint64_t RowCount = 0;
  bool Transposed = false;
};

/// One tensor of the packed segment.
struct PackedTensor {
  std::string Name;
  Layout Form = Layout::VecF32;
  uint64_t Rows = 0; ///< logical, before padding
  uint64_t Cols = 0;
  uint64_t Offset = 0; ///< in the segment, by plan-weights
  uint64_t Bytes = 0;  ///< packedBytes(Form, Rows, Cols)
  std::vector<WeightSource> Sources;
  std::vector<WeightPiece> Pieces; ///< their RowCounts add up to Rows
};

/// The packed segment of one layout family. Tensors ascend by offset and do
/// not overlap; equal offsets are one tensor under several names.
struct WeightProgram {
  uint64_t Bytes = 0; ///< of the segment
  std::vector<PackedTensor> Tensors;
};

} // namespace llmc

#endif // LLMC_COMPILER_WEIGHTS_WEIGHTPROGRAM_H
