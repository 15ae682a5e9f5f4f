// Rows of a matrix that a file holds as codes, scales and zero points: reads
// the ranges of the three tensors that the rows need and gives codes, scales,
// zero points or the values themselves. Transposed sources are read in column
// strips, so that memory is that of the rows asked for.
#ifndef LLMC_COMPILER_WEIGHTS_QUANTIZEDROWS_H
#define LLMC_COMPILER_WEIGHTS_QUANTIZEDROWS_H

#include "compiler/weights/WeightProgram.h"
#include "compiler/weights/WeightStore.h"

#include <cstdint>
#include <vector>

namespace llmc {

/// A rectangle of packed elements of a row-major tensor.
class ElementStrip {
public:
  /// How the elements of a tensor lie.
  struct Form {
    DType Type = DType::None;
    uint64_t Width = 0;   ///< bits of an element
    uint64_t RowBits = 0; ///< from row to row
    bool HighFirst = false;
  };
  static Form formOf(DType Type, uint64_t Pitch) {
    return {Type, bitsOf(Type), Pitch * bitsOf(Type), false};
  }

  /// Reads rows [Row, Row + Rows) and columns [Col, Col + Cols) of a tensor.
  /// Malformed when it is not in its file.
  Status read(const WeightBytes &From, const Form &How, uint64_t Row,
              uint64_t Rows, uint64_t Col, uint64_t Cols,
              const WeightStore &Store, const std::string &Name);
  /// Bits of an element of the rectangle, by its place in the tensor.
  uint32_t bits(uint64_t Row, uint64_t Col) const;
  /// The element as a number.
  float number(uint64_t Row, uint64_t Col) const;

private:
  Form F;
  uint64_t FirstRow = 0, FirstCol = 0;
  uint64_t Step = 0; ///< bytes from row to row of Raw; 0: Raw has no gaps
  std::vector<uint8_t> Raw;
};

/// The value of an element of that type from its bits.
float elementValue(DType Type, uint32_t Bits);

class QuantizedRows {
public:
  /// Reads rows [Begin, End) of the source, of its columns when Transposed. The
  /// source must live as long as this.
  Status read(const WeightSource &S, bool Transposed, uint64_t Begin,
              uint64_t End, const WeightStore &Store);

  /// Values of a row into every Stride-th float of Out.
  void values(uint64_t Row, float *Out, uint64_t Stride) const;
  /// Codes of a row, signed ones with half their range added; at most 8 bits.
  void codes(uint64_t Row, uint8_t *Out, uint64_t Stride) const;
  /// Scale and zero point of the block of element (Row, Col); the zero point as
  /// if codes were unsigned.
  float scale(uint64_t Row, uint64_t Col) const;
  float zero(uint64_t Row, uint64_t Col) const;

private:
  /// Row and column of the tensors in the source's own order.
  struct Place {
    uint64_t Row, Col;
  };
  Place placeOf(uint64_t Row, uint64_t Col) const {
    return Swapped ? Place{Col, Begin + Row} : Place{Begin + Row, Col};
  }
  Place blockOf(Place P) const;
  Status readGroups(const QuantizedParts &Q, uint64_t Width,
                    const WeightStore &Store);
  float codeValue(uint32_t Bits) const;
  float codeOffset() const;

  const WeightSource *Source = nullptr;
  const Encoding *How = nullptr;
  uint64_t Begin = 0, Cols = 0;
  uint64_t SourceCols = 0;
  bool Swapped = false;
  ElementStrip Codes, Scales, Zeros;
  std::vector<uint64_t> Groups; ///< block of scales of each column
};

} // namespace llmc

#endif // LLMC_COMPILER_WEIGHTS_QUANTIZEDROWS_H
