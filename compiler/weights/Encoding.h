// How a file holds a quantised matrix: codes, scales and zero points in tensors
// of their own. One description for all forms that ONNX files have (operators
// of blocks, DequantizeLinear, codebooks), so that passes, the packer and the
// evaluator agree. The text form stands in the IR. No MLIR here.
//
// Element (r, c) of the matrix [rows, cols] is
//   (code(r, c) - zero(b)) * (scale(b) * Times)        in f32,
// b the block of (r, c). Codes are packed without gaps, Pitch elements from row
// to row; low bits first unless HighFirst.
#ifndef LLMC_COMPILER_WEIGHTS_ENCODING_H
#define LLMC_COMPILER_WEIGHTS_ENCODING_H

#include "runtime/base/DType.h"
#include "runtime/base/Status.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace llmc {

/// What a code stands for before zero point and scale.
enum class CodeTable : uint8_t {
  None,  ///< the number of the element type
  Nf4,   ///< 16 quantiles of the normal distribution (bitsandbytes NF4)
  BnbFp4 ///< sign and 8 magnitudes (bitsandbytes FP4)
};

struct Encoding {
  DType Code = DType::U8; ///< element type of the codes (u4 in bytes: u4)
  /// Bits of a code where they are not those of Code: a row of codes is a
  /// stream of bits then, low ones first, and so is a row of zero points of the
  /// type of the codes (Code is U8, Bits 3, 5, 6 or 7). 0: those of Code.
  uint8_t Bits = 0;
  CodeTable Table = CodeTable::None;
  bool HighFirst = false; ///< the first element of a byte is in its high bits
  uint64_t Pitch = 0;     ///< elements of the codes from row to row
  /// Blocks of scales. Scale (r / BlockRows) * ScalePitch + c / BlockCols, with
  /// Groups the block group[c] instead of c / BlockCols, with Flat > 0 scale
  /// (r * cols + c) / Flat.
  uint64_t BlockRows = 1, BlockCols = 1;
  uint64_t Flat = 0;
  bool Groups = false;
  DType Scale = DType::F32;
  uint64_t ScalePitch = 1; ///< scales from block row to block row
  /// Scales lie the other way round than codes: scale (c / BlockCols) *
  /// ScalePitch + r / BlockRows. Without zero points, Groups and Flat.
  bool Turned = false;
  float Times = 1; ///< factor of all scales
  /// Zero points: a tensor of this type indexed as the scales (a row of it
  /// starts at a multiple of ZeroPitch elements), or None: ZeroValue.
  DType Zero = DType::None;
  uint64_t ZeroPitch = 0;
  float ZeroValue = 0;

  bool operator==(const Encoding &) const = default;
};

/// "u4 pitch 64 block 1x32 scale f32 2 zero 8"; what has its default is left
/// out but for the code and its pitch.
std::string toText(const Encoding &E);
/// The inverse; malformed text is an internal error.
Result<Encoding> encodingOf(std::string_view Text);

/// Bits of a code as the file holds it, and in a packed layout.
unsigned codeBits(const Encoding &E);
unsigned packedBits(const Encoding &E);
/// Bits of a zero point as the file holds it.
unsigned zeroBits(const Encoding &E);

/// Bits from row to row of codes and of zero points.
uint64_t codeRowBits(const Encoding &E);
uint64_t zeroRowBits(const Encoding &E);

/// Bytes that the tensors must have for a matrix of rows x cols; the largest
/// number where that does not fit.
uint64_t codeBytes(const Encoding &E, uint64_t Rows);
uint64_t scaleBytes(const Encoding &E, uint64_t Rows, uint64_t Cols);
uint64_t zeroBytes(const Encoding &E, uint64_t Rows);

/// The 16 values of a codebook of 4-bit codes: a table, or f4e2m1.
const float *codebookOf(const Encoding &E);
/// Whether codes are integers with an affine zero point.
inline bool isInteger(const Encoding &E) {
  return E.Table == CodeTable::None && E.Code >= DType::I8 &&
         E.Code <= DType::U2 && E.Code != DType::Bool;
}

} // namespace llmc

#endif // LLMC_COMPILER_WEIGHTS_ENCODING_H
