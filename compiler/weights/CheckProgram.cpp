// Checks a weight program before anything is read, so that the packer itself
// needs no checks. A program is made by the compiler: what contradicts itself
// is a bug. What comes from the model's files (ranges, element types) is not.
#include "compiler/weights/Gather.h"
#include "compiler/weights/Pack.h"

namespace llmc {
namespace {

Status bug(const PackedTensor &T, const std::string &What) {
  return internalError("weight program of " + T.Name + ": " + What);
}

std::string both(std::string_view What, uint64_t Found, uint64_t Expected) {
  return std::string(What) + " is " + std::to_string(Found) + ", expected " +
         std::to_string(Expected);
}

/// One of the tensors of a quantised source against what its encoding needs.
Status checkPart(const PackedTensor &T, const WeightSource &S, const char *What,
                 const WeightBytes &Part, uint64_t Bytes,
                 const WeightStore &Store) {
  uint64_t Have = Part.IsInline ? Part.Data.size() : Part.Length;
  if (Have != Bytes)
    return malformedError(
        "weight " + S.Name + ": " +
        both("length in bytes of its " + std::string(What), Have, Bytes));
  if (Part.IsInline)
    return Status::success();
  if (Part.File >= Store.numFiles())
    return bug(T, "source " + S.Name + " is in no file");
  return Store.checkRange(Part.File, Part.Offset, Part.Length, S.Name);
}

Status checkQuantized(const PackedTensor &T, const WeightSource &S,
                      const WeightStore &Store) {
  const QuantizedParts &Q = *S.Quantized;
  SourceMatrix M = matrixOf(S);
  if (M.Rows == 0 || M.Cols > Q.How.Pitch)
    return bug(T, "source " + S.Name + " is no matrix of its encoding");
  if (!isQuantized(T.Form)) {
    // Values only: any form will do.
  } else if (packedBits(Q.How) != formatOf(T.Form).Bits || Q.How.Groups) {
    return bug(T,
               "source " + S.Name + " does not fit layout " + nameOf(T.Form));
  }
  LLMC_RETURN_IF_ERROR(
      checkPart(T, S, "codes", S.bytes(), codeBytes(Q.How, M.Rows), Store));
  LLMC_RETURN_IF_ERROR(checkPart(T, S, "scales", Q.Scales,
                                 scaleBytes(Q.How, M.Rows, M.Cols), Store));
  if (Q.How.Groups)
    LLMC_RETURN_IF_ERROR(
        checkPart(T, S, "groups", Q.Groups, M.Cols * 4, Store));
  if (Q.How.Zero == DType::None)
    return Status::success();
  return checkPart(T, S, "zero points", Q.Zeros, zeroBytes(Q.How, M.Rows),
                   Store);
}

Status checkSource(const PackedTensor &T, const WeightSource &S,
                   const WeightStore &Store) {
  if (S.Quantized)
    return checkQuantized(T, S, Store);
  if (S.Type != DType::F32 && S.Type != DType::F16 && S.Type != DType::BF16 &&
      S.Type != DType::F64)
    return unsupportedError("weight " + S.Name + " has element type " +
                            std::string(nameOf(S.Type)) +
                            ", expected f32, f16, bf16 or f64");
  SourceMatrix M = matrixOf(S);
  uint64_t Bytes;
  if (M.Rows == 0)
    return bug(T, "source " + S.Name + " is no matrix");
  if (__builtin_mul_overflow(M.Rows, M.Cols, &Bytes) ||
      __builtin_mul_overflow(Bytes, uint64_t{bitsOf(S.Type) / 8}, &Bytes))
    return bug(T, "source " + S.Name + " is too large");
  uint64_t Have = S.IsInline ? S.Data.size() : S.Length;
  if (Have != Bytes)
    return malformedError("weight " + S.Name + ": " +
                          both("its length in bytes", Have, Bytes));
  if (S.IsInline)
    return Status::success();
  if (S.File >= Store.numFiles())
    return bug(T, "source " + S.Name + " is in no file");
  return Store.checkRange(S.File, S.Offset, S.Length, S.Name);
}

Status checkPieces(const PackedTensor &T) {
  uint64_t Rows = 0;
  for (const WeightPiece &P : T.Pieces) {
    if (P.Source >= T.Sources.size())
      return bug(T, both("number of a source", P.Source, T.Sources.size()));
    SourceMatrix M = matrixOf(T.Sources[P.Source]);
    if (P.Transposed)
      std::swap(M.Rows, M.Cols);
    if (M.Cols != T.Cols)
      return bug(T,
                 both("number of columns of source " + T.Sources[P.Source].Name,
                      M.Cols, T.Cols));
    if (P.RowBegin > M.Rows || P.RowCount > M.Rows - P.RowBegin)
      return bug(T, both("end of a piece of " + T.Sources[P.Source].Name,
                         P.RowBegin + P.RowCount, M.Rows));
    Rows += P.RowCount; // no overflow: both are below 2^63
    if (Rows > T.Rows)
      break;
  }
  if (Rows != T.Rows)
    return bug(T, both("number of rows of all pieces", Rows, T.Rows));
  return Status::success();
}
} // namespace

Status checkProgram(const WeightProgram &P, const WeightStore &Store) {
  uint64_t End = 0;
  for (size_t I = 0; I < P.Tensors.size(); ++I) {
    const PackedTensor &T = P.Tensors[I];
    if (T.Rows == 0 || T.Cols == 0)
      return bug(T, "it is empty");
    uint64_t Bytes = packedBytes(T.Form, T.Rows, T.Cols);
    if (T.Bytes != Bytes)
      return bug(T, both("size", T.Bytes, Bytes));
    if (I > 0 && T.Offset == P.Tensors[I - 1].Offset) {
      if (Bytes != P.Tensors[I - 1].Bytes)
        return bug(T, "it shares its offset with another size");
      continue;
    }
    if (T.Offset < End || T.Bytes > P.Bytes || T.Offset > P.Bytes - T.Bytes)
      return bug(T, "offset " + std::to_string(T.Offset) +
                        " is not between the tensor before, which ends at " +
                        std::to_string(End) + ", and the end of the segment");
    End = T.Offset + T.Bytes;
    for (const WeightSource &S : T.Sources)
      LLMC_RETURN_IF_ERROR(checkSource(T, S, Store));
    LLMC_RETURN_IF_ERROR(checkPieces(T));
  }
  return Status::success();
}

} // namespace llmc
