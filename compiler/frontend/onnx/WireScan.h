// First look at an ONNX file: walks its protobuf wire format, takes the data
// out of every tensor and leaves a slim message for the protobuf library, so
// that weights are never copied. In the slim message each TensorProto has, as
// its raw_data, four bytes: its number among the scanned tensors.
#ifndef LLMC_COMPILER_FRONTEND_ONNX_WIRESCAN_H
#define LLMC_COMPILER_FRONTEND_ONNX_WIRESCAN_H

#include "compiler/weights/WeightStore.h"

#include <cstdint>
#include <string>
#include <vector>

namespace llmc {

/// Numbers of TensorProto's data fields.
enum class TensorField : uint8_t {
  None = 0,
  Float = 4,
  Int32 = 5,
  String = 6,
  Int64 = 7,
  Raw = 9,
  Double = 10,
  Uint64 = 11
};

/// Where the data of a TensorProto lies in the model file.
struct ScannedTensor {
  uint64_t Begin = 0, End = 0; ///< the message
  TensorField Field = TensorField::None;
  bool Mixed = false;     ///< more than one kind of data field
  bool Packed = false;    ///< the only piece is length-delimited
  uint32_t Pieces = 0;    ///< occurrences of the field
  uint64_t DataBegin = 0; ///< payload of the first piece
  uint64_t DataBytes = 0; ///< of all pieces
};

struct ScannedModel {
  std::string Slim;
  std::vector<ScannedTensor> Tensors;
};

/// Number of the tensor that a slim raw_data names; -1 when it is none.
int64_t tensorNumber(const std::string &RawData);

/// Scans file 0 of the store.
Result<ScannedModel> scanModel(const WeightStore &Store);

/// Reads the store's file 0 through a window: nothing is mapped, and skipped
/// bytes are not read.
class ByteReader {
public:
  ByteReader(const WeightStore &Store, uint64_t Pos, uint64_t End)
      : Store(Store), Pos(Pos), End(End) {}
  uint64_t pos() const { return Pos; }
  uint64_t end() const { return End; }
  bool done() const { return Pos >= End || !Failure.ok(); }
  const Status &status() const { return Failure; }
  void seek(uint64_t NewPos) { Pos = NewPos; }
  void setEnd(uint64_t NewEnd) { End = NewEnd; }

  /// A varint of at most ten bytes; false at the end or when it is too long.
  bool varint(uint64_t &Value);
  /// Little-endian, `N` at most 8 bytes.
  bool fixed(unsigned N, uint64_t &Value);
  /// Appends `N` bytes to `Out`.
  bool copy(uint64_t N, std::string &Out);

private:
  bool byte(uint8_t &B);
  bool refill();
  const WeightStore &Store;
  uint64_t Pos, End;
  uint64_t WindowBegin = 0;
  std::vector<uint8_t> Window;
  Status Failure;
};

} // namespace llmc

#endif // LLMC_COMPILER_FRONTEND_ONNX_WIRESCAN_H
