// Reads the source rows of a few panels of a packed tensor and hands them out
// panel by panel as f32. Transposed sources are read in column strips, so the
// memory is that of the rows asked for, whatever the size of the source.
#ifndef LLMC_COMPILER_WEIGHTS_GATHER_H
#define LLMC_COMPILER_WEIGHTS_GATHER_H

#include "compiler/weights/QuantizedRows.h"
#include "compiler/weights/WeightProgram.h"
#include "compiler/weights/WeightStore.h"

#include <cstdint>
#include <span>
#include <vector>

namespace llmc {

/// A source seen as a matrix.
struct SourceMatrix {
  uint64_t Rows = 0;
  uint64_t Cols = 0;
};
/// Rank 1 is [n, 1]; ones in front of a rank above 2 are dropped. Rows = 0
/// when the shape is no matrix.
SourceMatrix matrixOf(const WeightSource &S);

/// Codes of 16 rows with what a packed format keeps per block of columns.
struct CodePanel {
  std::vector<uint8_t> Codes; ///< [cols][16]
  std::vector<float> Scales;  ///< [blocks][16]
  std::vector<float> Zeros;   ///< [blocks][16]; of unsigned codes
};

/// Holds the rows [begin, end) of one tensor; reused from chunk to chunk.
class Gather {
public:
  /// Reads the rows. Fails as the store does.
  Status read(const PackedTensor &T, const WeightStore &Store, uint64_t Begin,
              uint64_t End);

  /// Writes 16 rows from Row on as Out[Cols][16], zeros where there is no row.
  /// Malformed with the words "not finite" when a value is infinite or NaN.
  Status panel(uint64_t Row, float *Out) const;

  /// The codes of 16 rows from Row on, all of whose sources are quantised, and
  /// scales and zero points of blocks of BlockCols columns; zeros where there
  /// is no row. Malformed with "not finite" as panel().
  Status codePanel(uint64_t Row, uint64_t BlockCols, CodePanel &Out) const;

private:
  /// Neighbouring rows of one source, read at once.
  struct Run {
    uint32_t Source;
    bool Transposed;
    uint64_t Begin, End; ///< rows of the source after transposition
    std::vector<uint8_t> Raw;
    const uint8_t *Data = nullptr; ///< Raw, or inline bytes
    uint64_t RowStep = 0;          ///< bytes from row to row
    uint64_t ColStep = 0;          ///< bytes from column to column
    QuantizedRows Codes = {};      ///< instead, of a quantised source
  };
  /// Where a logical row comes from.
  struct RowSource {
    uint32_t Run;
    uint64_t Index; ///< row of the run
  };

  void collect(uint64_t Begin, uint64_t End);
  Status readRun(Run &R, const WeightStore &Store) const;
  void copyRows(std::span<const RowSource> Rows, float *Out) const;
  Status notFinite(std::span<const RowSource> Rows, uint64_t Row,
                   const float *Panel) const;

  const PackedTensor *Tensor = nullptr;
  uint64_t First = 0;
  std::vector<Run> Runs;
  std::vector<std::vector<uint8_t>> Spare; ///< buffers to reuse
  std::vector<RowSource> RowMap;
};

} // namespace llmc

#endif // LLMC_COMPILER_WEIGHTS_GATHER_H
