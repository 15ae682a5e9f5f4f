// Element types, sizes against declared dims, external data, typed fields.
#include "compiler/frontend/onnx/TensorData.h"

#include "compiler/frontend/onnx/onnx-ml.pb.h"
#include "dialects/support/Verify.h"
#include "runtime/base/Quote.h"
#include "llvm/ADT/StringExtras.h"

#include <bit>

using namespace llmc;
using mlir::DenseElementsAttr;
using mlir::RankedTensorType;
using mlir::Type;
using ::onnx::TensorProto;

namespace {
constexpr int64_t MaxRank = 32;
/// Contract: what has more elements is an onnx.weight.
constexpr int64_t MaxConstantElements = 64;
/// Bytes that typed fields of one model may decode to. Large tensors are
/// written as raw data by every exporter.
constexpr uint64_t MaxDecodedBytes = 256u << 20;

std::string tensorText(const std::string &Name) {
  return "tensor " + quoted(Name);
}

std::string dimsText(const TensorProto &T) {
  std::string Out = dataTypeName(T.data_type()) + " [";
  for (int I = 0; I < T.dims_size() && I <= MaxRank; ++I)
    Out += (I ? "," : "") + std::to_string(T.dims(I));
  return Out + "]";
}

/// A decimal number of an external_data entry.
Result<uint64_t> parseNumber(const std::string &Text, const char *Key,
                             const std::string &Name) {
  uint64_t Value;
  if (llvm::StringRef(Text).getAsInteger(10, Value) ||
      Value > static_cast<uint64_t>(INT64_MAX))
    return malformedError(tensorText(Name) + ": " + Key + " " + quoted(Text) +
                          " is not a number in [0, 2^63)");
  return Value;
}

Status sizeError(const TensorProto &T, const std::string &Name,
                 const std::string &What, uint64_t Found, uint64_t Need) {
  return malformedError(tensorText(Name) + " has " + std::to_string(Found) +
                        " bytes of " + What + ", " + dimsText(T) + " needs " +
                        std::to_string(Need) + " bytes");
}
} // namespace

std::string llmc::dataTypeName(int32_t DataType) {
  static constexpr const char *Names[] = {
      "undefined",      "float32",    "uint8",
      "int8",           "uint16",     "int16",
      "int32",          "int64",      "string",
      "bool",           "float16",    "float64",
      "uint32",         "uint64",     "complex64",
      "complex128",     "bfloat16",   "float8e4m3fn",
      "float8e4m3fnuz", "float8e5m2", "float8e5m2fnuz",
      "uint4",          "int4",       "float4e2m1",
      "float8e8m0",     "uint2",      "int2"};
  if (DataType < 0 || DataType >= static_cast<int32_t>(std::size(Names)))
    return "type " + std::to_string(DataType);
  return Names[DataType];
}

Type llmc::elementType(mlir::MLIRContext &Context, int32_t DataType) {
  const auto Int = [&](unsigned Bits) -> Type {
    return mlir::IntegerType::get(&Context, Bits);
  };
  const auto Unsigned = [&](unsigned Bits) -> Type {
    return mlir::IntegerType::get(&Context, Bits, mlir::IntegerType::Unsigned);
  };
  switch (DataType) {
  case TensorProto::FLOAT:
    return mlir::Float32Type::get(&Context);
  case TensorProto::UINT8:
    return Unsigned(8);
  case TensorProto::INT8:
    return Int(8);
  case TensorProto::UINT16:
    return Unsigned(16);
  case TensorProto::INT16:
    return Int(16);
  case TensorProto::INT32:
    return Int(32);
  case TensorProto::INT64:
    return Int(64);
  case TensorProto::BOOL:
    return Int(1);
  case TensorProto::FLOAT16:
    return mlir::Float16Type::get(&Context);
  case TensorProto::DOUBLE:
    return mlir::Float64Type::get(&Context);
  case TensorProto::UINT32:
    return Unsigned(32);
  case TensorProto::UINT64:
    return Unsigned(64);
  case TensorProto::BFLOAT16:
    return mlir::BFloat16Type::get(&Context);
  case TensorProto::FLOAT8E4M3FN:
    return mlir::Float8E4M3FNType::get(&Context);
  case TensorProto::FLOAT8E4M3FNUZ:
    return mlir::Float8E4M3FNUZType::get(&Context);
  case TensorProto::FLOAT8E5M2:
    return mlir::Float8E5M2Type::get(&Context);
  case TensorProto::FLOAT8E5M2FNUZ:
    return mlir::Float8E5M2FNUZType::get(&Context);
  case TensorProto::UINT4:
    return Unsigned(4);
  case TensorProto::INT4:
    return Int(4);
  case TensorProto::FLOAT4E2M1:
    return mlir::Float4E2M1FNType::get(&Context);
  case TensorProto::FLOAT8E8M0:
    return mlir::Float8E8M0FNUType::get(&Context);
  case TensorProto::UINT2:
    return Unsigned(2);
  case TensorProto::INT2:
    return Int(2);
  default:
    return nullptr;
  }
}

Result<TensorRef> TensorReader::resolve(const TensorProto &T,
                                        const std::string &Name) {
  int64_t Number = tensorNumber(T.raw_data());
  if (Number < 0 || Number >= static_cast<int64_t>(Scanned.size()))
    return internalError(tensorText(Name) + " was not scanned");
  std::map<int64_t, TensorRef>::iterator It = Known.find(Number);
  if (It != Known.end())
    return It->second;
  LLMC_ASSIGN_OR_RETURN(TensorRef Ref,
                        find(T, Scanned[static_cast<size_t>(Number)], Name));
  return Known[Number] = std::move(Ref);
}

Result<TensorRef> TensorReader::find(const TensorProto &T,
                                     const ScannedTensor &Where,
                                     const std::string &Name) {
  Type Element = elementType(Context, T.data_type());
  if (!Element)
    return unsupportedError(tensorText(Name) + " has element type " +
                            dataTypeName(T.data_type()) +
                            ", which llmc does not have");
  if (T.dims_size() > MaxRank)
    return malformedError(tensorText(Name) + " has " +
                          std::to_string(T.dims_size()) +
                          " dims, expected at most " + std::to_string(MaxRank));
  llvm::SmallVector<int64_t> Dims(T.dims().begin(), T.dims().end());
  for (int64_t Dim : Dims)
    if (Dim < 0)
      return malformedError(tensorText(Name) + " has the negative dim " +
                            std::to_string(Dim));
  TensorRef Ref;
  Ref.Type = RankedTensorType::get(Dims, Element);
  std::optional<int64_t> Bytes = tensorBytes(Ref.Type);
  if (!Bytes)
    return malformedError(tensorText(Name) + ": the size in bytes of " +
                          dimsText(T) + " overflows");
  Ref.Length = static_cast<uint64_t>(*Bytes);
  if (T.data_location() == TensorProto::EXTERNAL) {
    if (Where.Pieces > 0)
      return malformedError(tensorText(Name) +
                            " has both inline and external data");
    LLMC_RETURN_IF_ERROR(findExternal(T, Name, Ref));
  } else {
    LLMC_RETURN_IF_ERROR(findInline(T, Where, Name, Ref));
  }
  return Ref;
}

Status TensorReader::findExternal(const TensorProto &T, const std::string &Name,
                                  TensorRef &Ref) {
  const std::string *Location = nullptr;
  std::optional<uint64_t> Length;
  for (const ::onnx::StringStringEntryProto &Entry : T.external_data()) {
    if (Entry.key() == "location") {
      Location = &Entry.value();
    } else if (Entry.key() == "offset") {
      LLMC_ASSIGN_OR_RETURN(Ref.Offset,
                            parseNumber(Entry.value(), "offset", Name));
    } else if (Entry.key() == "length") {
      LLMC_ASSIGN_OR_RETURN(Length, parseNumber(Entry.value(), "length", Name));
    }
  }
  if (!Location)
    return malformedError(tensorText(Name) +
                          " is external but names no location");
  if (Length && *Length != Ref.Length)
    return sizeError(T, Name, "external data", *Length, Ref.Length);
  if (Ref.Length == 0)
    return Status::success();
  LLMC_ASSIGN_OR_RETURN(Ref.File, Store.addFile(*Location, Name));
  return Store.checkRange(Ref.File, Ref.Offset, Ref.Length, Name);
}

Status TensorReader::findInline(const TensorProto &T,
                                const ScannedTensor &Where,
                                const std::string &Name, TensorRef &Ref) {
  if (Where.Mixed)
    return malformedError(tensorText(Name) +
                          " has data in two fields, expected one");
  if (Ref.Length == 0 && Where.DataBytes == 0)
    return Status::success();
  if (Where.Field == TensorField::None)
    return sizeError(T, Name, "data", 0, Ref.Length);
  bool Addressable = Where.Pieces == 1 && Where.Packed &&
                     (Where.Field == TensorField::Raw ||
                      (Where.Field == TensorField::Float &&
                       T.data_type() == TensorProto::FLOAT) ||
                      (Where.Field == TensorField::Double &&
                       T.data_type() == TensorProto::DOUBLE));
  if (!Addressable) {
    if (Where.Field == TensorField::Raw)
      return malformedError(tensorText(Name) + " has raw data " +
                            std::to_string(Where.Pieces) +
                            " times, expected once");
    return decodeTyped(T, Where, Name, Ref);
  }
  if (Where.DataBytes != Ref.Length)
    return sizeError(T, Name,
                     Where.Field == TensorField::Raw ? "raw data" : "data",
                     Where.DataBytes, Ref.Length);
  Ref.File = 0;
  Ref.Offset = Where.DataBegin;
  return Status::success();
}

namespace {
/// How a typed field holds the elements of a type.
struct Typed {
  TensorField Field;
  unsigned EntryBytes; ///< bytes of raw data that one entry makes
  unsigned Elements;   ///< per entry
};

Typed typedForm(int32_t DataType) {
  switch (DataType) {
  case TensorProto::FLOAT:
    return {TensorField::Float, 4, 1};
  case TensorProto::DOUBLE:
    return {TensorField::Double, 8, 1};
  case TensorProto::INT64:
    return {TensorField::Int64, 8, 1};
  case TensorProto::UINT64:
    return {TensorField::Uint64, 8, 1};
  case TensorProto::UINT32:
    return {TensorField::Uint64, 4, 1};
  case TensorProto::INT32:
    return {TensorField::Int32, 4, 1};
  case TensorProto::INT16:
  case TensorProto::UINT16:
  case TensorProto::FLOAT16:
  case TensorProto::BFLOAT16:
    return {TensorField::Int32, 2, 1};
  case TensorProto::INT4:
  case TensorProto::UINT4:
  case TensorProto::FLOAT4E2M1:
    return {TensorField::Int32, 1, 2};
  case TensorProto::INT2:
  case TensorProto::UINT2:
    return {TensorField::Int32, 1, 4};
  default:
    return {TensorField::Int32, 1, 1};
  }
}

/// Decodes the entries of one field of a TensorProto to raw data.
class EntryDecoder {
public:
  EntryDecoder(ByteReader &In, const Typed &Form, std::vector<uint8_t> &Out)
      : In(In), Form(Form), Out(Out) {}

  /// False when the message is damaged or has more than `Max` entries.
  bool run(uint64_t Max) {
    while (!In.done()) {
      uint64_t Tag, Length;
      if (!In.varint(Tag))
        return false;
      unsigned Wire = Tag & 7;
      bool Ours = Tag >> 3 == static_cast<uint64_t>(Form.Field);
      if (Ours && Wire != 2) {
        if (!entry(Wire, Max))
          return false;
        continue;
      }
      if (Wire == 0) {
        if (!In.varint(Length))
          return false;
        continue;
      }
      Length = Wire == 1 ? 8 : 4;
      if (Wire == 2 && !In.varint(Length))
        return false;
      uint64_t Next = In.pos() + Length;
      if (Ours && !packed(Next, Max))
        return false;
      In.seek(Next);
    }
    return In.status().ok();
  }
  uint64_t count() const { return Count; }

private:
  unsigned wire() const {
    return Form.Field == TensorField::Float    ? 5
           : Form.Field == TensorField::Double ? 1
                                               : 0;
  }
  bool packed(uint64_t Next, uint64_t Max) {
    uint64_t End = In.end();
    In.setEnd(Next);
    while (!In.done())
      if (!entry(wire(), Max))
        return false;
    In.setEnd(End);
    return true;
  }
  bool entry(unsigned Wire, uint64_t Max) {
    uint64_t Value;
    if (Wire != wire() || ++Count > Max)
      return false;
    bool Good = Wire == 0   ? In.varint(Value)
                : Wire == 1 ? In.fixed(8, Value)
                            : In.fixed(4, Value);
    if (!Good)
      return false;
    for (unsigned I = 0; I < Form.EntryBytes; ++I)
      Out.push_back(static_cast<uint8_t>(Value >> (8 * I)));
    return true;
  }

  ByteReader &In;
  const Typed &Form;
  std::vector<uint8_t> &Out;
  uint64_t Count = 0;
};
} // namespace

Status TensorReader::decodeTyped(const TensorProto &T,
                                 const ScannedTensor &Where,
                                 const std::string &Name, TensorRef &Ref) {
  Typed Form = typedForm(T.data_type());
  if (Form.Field != Where.Field)
    return malformedError(
        tensorText(Name) + " has " + dataTypeName(T.data_type()) +
        " data in field " + std::to_string(static_cast<int>(Where.Field)) +
        ", expected field " + std::to_string(static_cast<int>(Form.Field)));
  uint64_t Elements = static_cast<uint64_t>(Ref.Type.getNumElements());
  uint64_t Entries = Elements / Form.Elements + (Elements % Form.Elements != 0);
  // An entry takes a byte at least, so this bounds the allocation below.
  if (Entries > Where.DataBytes)
    return malformedError(tensorText(Name) + " has at most " +
                          std::to_string(Where.DataBytes) + " entries, " +
                          dimsText(T) + " needs " + std::to_string(Entries));
  DecodedBytes += Ref.Length;
  if (DecodedBytes > MaxDecodedBytes)
    return unsupportedError(tensorText(Name) +
                            " brings the data in typed fields to " +
                            std::to_string(DecodedBytes) + " bytes, at most " +
                            std::to_string(MaxDecodedBytes) +
                            " are read; save the model with raw data");
  std::vector<uint8_t> Bytes;
  Bytes.reserve(Ref.Length);
  ByteReader In(Store, Where.Begin, Where.End);
  EntryDecoder Decoder(In, Form, Bytes);
  if (!Decoder.run(Entries) || Decoder.count() != Entries) {
    LLMC_RETURN_IF_ERROR(In.status());
    return malformedError(tensorText(Name) + " has " +
                          (Decoder.count() > Entries ? "more than " : "") +
                          std::to_string(std::min(Decoder.count(), Entries)) +
                          " entries of data, " + dimsText(T) + " needs " +
                          std::to_string(Entries));
  }
  Ref = keep(Ref.Type, std::move(Bytes));
  return Status::success();
}

TensorRef TensorReader::keep(RankedTensorType T, std::vector<uint8_t> Bytes) {
  TensorRef Ref{T, 0, 0, Bytes.size(), std::nullopt};
  if (T.getNumElements() <= MaxConstantElements)
    Ref.Bytes = std::move(Bytes);
  else
    Ref.File = Store.addMemory(std::move(Bytes));
  return Ref;
}

bool TensorReader::isSmall(const TensorRef &T) const {
  int64_t Elements = T.Type.getNumElements();
  if (Elements > MaxConstantElements)
    return false;
  bool IsFloat = mlir::isa<mlir::FloatType>(T.Type.getElementType());
  bool InFile = T.Length > 0 && !T.Bytes;
  return !(IsFloat && InFile && T.Type.getRank() >= 1 && Elements > 1);
}

Result<DenseElementsAttr> TensorReader::load(const TensorRef &T,
                                             const std::string &Name) {
  size_t Elements = static_cast<size_t>(T.Type.getNumElements());
  if (Elements > static_cast<size_t>(MaxConstantElements))
    return internalError(tensorText(Name) + " is too large for a constant");
  std::vector<uint8_t> Bytes =
      T.Bytes ? *T.Bytes : std::vector<uint8_t>(T.Length);
  if (T.Length > 0 && !T.Bytes)
    LLMC_RETURN_IF_ERROR(Store.read(T.File, T.Offset, Bytes, Name));
  unsigned Bits = elementBits(T.Type.getElementType());
  if (Elements == 0)
    return DenseElementsAttr::get(T.Type, llvm::ArrayRef<mlir::Attribute>());
  if (Bits == 1) {
    llvm::SmallVector<bool> Flags;
    for (uint8_t B : Bytes)
      Flags.push_back(B != 0);
    return DenseElementsAttr::get(T.Type, Flags);
  }
  // MLIR holds an element of less than a byte in a byte.
  std::vector<char> Raw(Bytes.begin(), Bytes.end());
  if (Bits < 8) {
    unsigned PerByte = 8 / Bits;
    Raw.assign(Elements, 0);
    for (size_t I = 0; I < Elements; ++I)
      Raw[I] = static_cast<char>(Bytes[I / PerByte] >> (Bits * (I % PerByte)) &
                                 ((1u << Bits) - 1));
  }
  return DenseElementsAttr::getFromRawBuffer(T.Type, Raw);
}
