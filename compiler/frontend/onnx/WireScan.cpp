// The scan: one pass over the wire format, by a table of what to do per field.
#include "compiler/frontend/onnx/WireScan.h"

#include "runtime/base/Quote.h"

#include <algorithm>

using namespace llmc;

namespace {
// What one file may ask of us before it is understood. A graph of 100,000
// nodes stays far below; a small file cannot unfold into much memory.
constexpr uint64_t MaxSlimBytes = 64u << 20;
constexpr uint64_t MaxFields = 2u << 20;
constexpr unsigned MaxDepth = 60;

enum class Kind : uint8_t {
  Drop,
  Copy,
  Data, ///< a data field of a tensor
  Model,
  Graph,
  Node,
  Attribute,
  Tensor,
  Sparse,
  Function,
  ValueInfo,
  Type,
  TensorType,
  Shape,
  Dim
};

struct Rule {
  Kind In;
  uint32_t Field;
  Kind What;
};

/// Fields that are not copied as they are: messages that hold tensors or can
/// unfold, and what the importer does not use.
constexpr Rule Rules[] = {
    {Kind::Model, 6, Kind::Drop},          {Kind::Model, 7, Kind::Graph},
    {Kind::Model, 14, Kind::Drop},         {Kind::Model, 20, Kind::Drop},
    {Kind::Model, 25, Kind::Function},     {Kind::Model, 26, Kind::Drop},
    {Kind::Graph, 1, Kind::Node},          {Kind::Graph, 5, Kind::Tensor},
    {Kind::Graph, 10, Kind::Drop},         {Kind::Graph, 11, Kind::ValueInfo},
    {Kind::Graph, 12, Kind::ValueInfo},    {Kind::Graph, 13, Kind::Drop},
    {Kind::Graph, 14, Kind::Drop},         {Kind::Graph, 15, Kind::Sparse},
    {Kind::Graph, 16, Kind::Drop},         {Kind::Node, 5, Kind::Attribute},
    {Kind::Node, 6, Kind::Drop},           {Kind::Node, 9, Kind::Drop},
    {Kind::Node, 10, Kind::Drop},          {Kind::Attribute, 5, Kind::Tensor},
    {Kind::Attribute, 6, Kind::Graph},     {Kind::Attribute, 10, Kind::Tensor},
    {Kind::Attribute, 11, Kind::Graph},    {Kind::Attribute, 13, Kind::Drop},
    {Kind::Attribute, 14, Kind::Drop},     {Kind::Attribute, 15, Kind::Drop},
    {Kind::Attribute, 22, Kind::Sparse},   {Kind::Attribute, 23, Kind::Sparse},
    {Kind::Tensor, 3, Kind::Drop},         {Kind::Tensor, 4, Kind::Data},
    {Kind::Tensor, 5, Kind::Data},         {Kind::Tensor, 6, Kind::Data},
    {Kind::Tensor, 7, Kind::Data},         {Kind::Tensor, 9, Kind::Data},
    {Kind::Tensor, 10, Kind::Data},        {Kind::Tensor, 11, Kind::Data},
    {Kind::Tensor, 12, Kind::Drop},        {Kind::Tensor, 16, Kind::Drop},
    {Kind::Sparse, 1, Kind::Tensor},       {Kind::Sparse, 2, Kind::Tensor},
    {Kind::Function, 7, Kind::Node},       {Kind::Function, 8, Kind::Drop},
    {Kind::Function, 11, Kind::Attribute}, {Kind::Function, 12, Kind::Drop},
    {Kind::Function, 14, Kind::Drop},      {Kind::ValueInfo, 2, Kind::Type},
    {Kind::ValueInfo, 3, Kind::Drop},      {Kind::ValueInfo, 4, Kind::Drop},
    {Kind::Type, 1, Kind::TensorType},     {Kind::Type, 4, Kind::Drop},
    {Kind::Type, 5, Kind::Drop},           {Kind::Type, 7, Kind::Drop},
    {Kind::Type, 8, Kind::Drop},           {Kind::Type, 9, Kind::Drop},
    {Kind::TensorType, 2, Kind::Shape},    {Kind::Shape, 1, Kind::Dim},
};

/// The top-level message is checked more strictly, to tell a damaged model
/// from a file that never was one.
constexpr uint32_t MaxModelField = 64;

Kind ruleFor(Kind In, uint32_t Field) {
  for (const Rule &R : Rules)
    if (R.In == In && R.Field == Field)
      return R.What;
  return Kind::Copy;
}

void putVarint(std::string &Out, uint64_t Value) {
  for (; Value >= 0x80; Value >>= 7)
    Out += static_cast<char>(Value | 0x80);
  Out += static_cast<char>(Value);
}

class Scanner {
public:
  Scanner(const WeightStore &Store)
      : Store(Store), In(Store, 0, Store.size(0)) {}
  Status run() { return message(Kind::Model, 0); }
  ScannedModel take() { return std::move(Out); }

private:
  struct Field {
    uint32_t Number;
    unsigned Wire;
    uint64_t Start;  ///< of the tag
    uint64_t Value;  ///< wire type 0
    uint64_t Length; ///< bytes of the payload
  };

  Status message(Kind K, unsigned Depth);
  Status nested(Kind K, const Field &F, unsigned Depth);
  Status readField(Kind K, Field &F);
  Status copyField(const Field &F);
  void recordData(ScannedTensor &T, const Field &F);
  Status damaged(Kind K, uint64_t At, const std::string &What);

  const WeightStore &Store;
  ByteReader In;
  ScannedModel Out;
  uint64_t Fields = 0;
};

Status Scanner::damaged(Kind K, uint64_t At, const std::string &What) {
  if (!In.status().ok())
    return In.status();
  std::string Name = quoted(Store.name(0));
  if (K == Kind::Model)
    return malformedError(Name + " is truncated or not an ONNX model: " + What +
                          " at byte " + std::to_string(At));
  return malformedError(Name + " is malformed: " + What + " at byte " +
                        std::to_string(At));
}

Status Scanner::readField(Kind K, Field &F) {
  F.Start = In.pos();
  uint64_t Tag;
  if (!In.varint(Tag))
    return damaged(K, F.Start, "bad tag");
  F.Wire = Tag & 7;
  if ((Tag >> 3) == 0 || (Tag >> 3) > 0x1fffffff ||
      (K == Kind::Model && (Tag >> 3) > MaxModelField))
    return damaged(K, F.Start, "bad field number " + std::to_string(Tag >> 3));
  F.Number = static_cast<uint32_t>(Tag >> 3);
  F.Value = 0;
  uint64_t Left = In.end() - In.pos();
  switch (F.Wire) {
  case 0: {
    uint64_t At = In.pos();
    if (!In.varint(F.Value))
      return damaged(K, F.Start, "bad number");
    F.Length = In.pos() - At;
    return Status::success();
  }
  case 1:
  case 5:
    F.Length = F.Wire == 1 ? 8 : 4;
    break;
  case 2:
    if (!In.varint(F.Length))
      return damaged(K, F.Start, "bad length");
    break;
  default:
    return damaged(K, F.Start, "wire type " + std::to_string(F.Wire));
  }
  Left = In.end() - In.pos();
  if (F.Length > Left)
    return damaged(K, F.Start,
                   "field " + std::to_string(F.Number) + " needs " +
                       std::to_string(F.Length) + " bytes, " +
                       std::to_string(Left) + " are left");
  return Status::success();
}

Status Scanner::copyField(const Field &F) {
  putVarint(Out.Slim, static_cast<uint64_t>(F.Number) << 3 | F.Wire);
  if (F.Wire == 0) {
    putVarint(Out.Slim, F.Value);
    return Status::success();
  }
  if (F.Wire == 2)
    putVarint(Out.Slim, F.Length);
  if (F.Length > MaxSlimBytes || Out.Slim.size() + F.Length > MaxSlimBytes)
    return malformedError(quoted(Store.name(0)) +
                          " holds more than 64 MiB besides its weights");
  if (!In.copy(F.Length, Out.Slim))
    return damaged(Kind::Copy, F.Start, "unreadable bytes");
  return Status::success();
}

void Scanner::recordData(ScannedTensor &T, const Field &F) {
  TensorField Which = static_cast<TensorField>(F.Number);
  if (T.Pieces > 0 && T.Field != Which)
    T.Mixed = true;
  if (T.Pieces == 0) {
    T.Field = Which;
    T.DataBegin = In.pos();
    T.Packed = F.Wire == 2;
  }
  ++T.Pieces;
  T.DataBytes += F.Length;
}

/// A length-delimited message inside another; its length in the slim message
/// is a varint padded to five bytes, filled in afterwards.
Status Scanner::nested(Kind K, const Field &F, unsigned Depth) {
  if (F.Wire != 2)
    return damaged(K, F.Start,
                   "field " + std::to_string(F.Number) + " is not a message");
  if (Depth >= MaxDepth)
    return malformedError(quoted(Store.name(0)) +
                          " nests messages deeper than " +
                          std::to_string(MaxDepth));
  putVarint(Out.Slim, static_cast<uint64_t>(F.Number) << 3 | 2);
  size_t LengthAt = Out.Slim.size();
  Out.Slim.append(5, '\0');
  uint64_t OuterEnd = In.end();
  In.setEnd(In.pos() + F.Length);
  LLMC_RETURN_IF_ERROR(message(K, Depth + 1));
  In.setEnd(OuterEnd);
  uint64_t Length = Out.Slim.size() - LengthAt - 5;
  for (unsigned I = 0; I < 5; ++I)
    Out.Slim[LengthAt + I] =
        static_cast<char>((Length >> (7 * I) & 0x7f) | (I < 4 ? 0x80 : 0));
  return Status::success();
}

Status Scanner::message(Kind K, unsigned Depth) {
  ScannedTensor T;
  T.Begin = In.pos();
  while (!In.done()) {
    Field F;
    LLMC_RETURN_IF_ERROR(readField(K, F));
    uint64_t Next = F.Wire == 0 ? In.pos() : In.pos() + F.Length;
    Kind What = ruleFor(K, F.Number);
    // Pieces of tensor data cost nothing; all else is counted.
    if (What != Kind::Data && What != Kind::Drop && ++Fields > MaxFields)
      return malformedError(quoted(Store.name(0)) + " has more than " +
                            std::to_string(MaxFields) + " fields");
    if (What == Kind::Data)
      recordData(T, F);
    else if (What == Kind::Copy)
      LLMC_RETURN_IF_ERROR(copyField(F));
    else if (What != Kind::Drop)
      LLMC_RETURN_IF_ERROR(nested(What, F, Depth));
    In.seek(Next);
  }
  if (!In.status().ok())
    return In.status();
  if (K != Kind::Tensor)
    return Status::success();
  T.End = In.pos();
  uint32_t Number = static_cast<uint32_t>(Out.Tensors.size());
  Out.Tensors.push_back(T);
  putVarint(Out.Slim, 9 << 3 | 2);
  Out.Slim += '\4';
  for (unsigned I = 0; I < 4; ++I)
    Out.Slim += static_cast<char>(Number >> (8 * I));
  return Status::success();
}
} // namespace

int64_t llmc::tensorNumber(const std::string &RawData) {
  if (RawData.size() != 4)
    return -1;
  uint32_t Number = 0;
  for (unsigned I = 0; I < 4; ++I)
    Number |= static_cast<uint32_t>(static_cast<uint8_t>(RawData[I]))
              << (8 * I);
  return Number;
}

Result<ScannedModel> llmc::scanModel(const WeightStore &Store) {
  if (Store.size(0) == 0)
    return malformedError("model " + quoted(Store.name(0)) +
                          " is empty: 0 bytes");
  Scanner S(Store);
  LLMC_RETURN_IF_ERROR(S.run());
  return S.take();
}
