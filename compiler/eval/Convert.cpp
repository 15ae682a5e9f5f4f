// Between MLIR attributes and types and evaluator tensors.
#include "compiler/eval/Convert.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace llmc::eval {

static DType smallFloatOf(Type Element) {
  return TypeSwitch<Type, DType>(Element)
      .Case<Float8E4M3FNType>([](Type) { return DType::F8E4M3; })
      .Case<Float8E5M2Type>([](Type) { return DType::F8E5M2; })
      .Case<Float8E4M3FNUZType>([](Type) { return DType::F8E4M3FNUZ; })
      .Case<Float8E5M2FNUZType>([](Type) { return DType::F8E5M2FNUZ; })
      .Case<Float8E8M0FNUType>([](Type) { return DType::F8E8M0; })
      .Case<Float4E2M1FNType>([](Type) { return DType::F4E2M1; })
      .Default([](Type) { return DType::None; });
}

DType dtypeOf(Type Element) {
  if (Element.isF32())
    return DType::F32;
  if (Element.isF16())
    return DType::F16;
  if (Element.isBF16())
    return DType::BF16;
  if (Element.isF64())
    return DType::F64;
  IntegerType Integer = dyn_cast<IntegerType>(Element);
  if (!Integer)
    return smallFloatOf(Element);
  bool Unsigned = Integer.isUnsigned();
  switch (Integer.getWidth()) {
  case 1:
    return DType::Bool;
  case 2:
    return Unsigned ? DType::U2 : DType::I2;
  case 4:
    return Unsigned ? DType::U4 : DType::I4;
  case 8:
    return Unsigned ? DType::U8 : DType::I8;
  case 16:
    return Unsigned ? DType::U16 : DType::I16;
  case 32:
    return Unsigned ? DType::U32 : DType::I32;
  case 64:
    return Unsigned ? DType::U64 : DType::I64;
  default:
    return DType::None;
  }
}

Type typeOf(DType T, MLIRContext *C) {
  switch (T) {
  case DType::F32:
    return Float32Type::get(C);
  case DType::F16:
    return Float16Type::get(C);
  case DType::BF16:
    return BFloat16Type::get(C);
  case DType::F64:
    return Float64Type::get(C);
  case DType::Bool:
    return IntegerType::get(C, 1);
  case DType::I2:
  case DType::I4:
  case DType::I8:
  case DType::I16:
  case DType::I32:
  case DType::I64:
    return IntegerType::get(C, bitsOf(T));
  case DType::U2:
  case DType::U4:
  case DType::U8:
  case DType::U16:
  case DType::U32:
  case DType::U64:
    return IntegerType::get(C, bitsOf(T), IntegerType::Unsigned);
  case DType::F8E4M3:
    return Float8E4M3FNType::get(C);
  case DType::F8E5M2:
    return Float8E5M2Type::get(C);
  case DType::F8E4M3FNUZ:
    return Float8E4M3FNUZType::get(C);
  case DType::F8E5M2FNUZ:
    return Float8E5M2FNUZType::get(C);
  case DType::F8E8M0:
    return Float8E8M0FNUType::get(C);
  case DType::F4E2M1:
    return Float4E2M1FNType::get(C);
  default:
    return {};
  }
}

/// Whether an attribute does not hold its elements as bytes of their own.
static bool isPackedInteger(DType T) {
  return T == DType::Bool || (isInteger(T) && bitsOf(T) < 8);
}

/// The integer elements of an attribute whose type is not a multiple of bytes.
static std::vector<int64_t> smallElements(DenseElementsAttr Dense,
                                          bool Signed) {
  std::vector<int64_t> Values;
  for (APInt V : Dense.getValues<APInt>())
    Values.push_back(Signed ? V.getSExtValue()
                            : static_cast<int64_t>(V.getZExtValue()));
  return Values;
}

Result<Tensor> fromAttribute(Budget &B, ElementsAttr Value) {
  DenseElementsAttr Dense = dyn_cast<DenseElementsAttr>(Value);
  ShapedType Type = Value.getShapedType();
  DType T = dtypeOf(Type.getElementType());
  if (!Dense || T == DType::None)
    return unsupportedError("evaluation: a constant is not dense numbers");
  LLMC_ASSIGN_OR_RETURN(Tensor Out, B.allocate(T, Dims(Type.getShape().begin(),
                                                       Type.getShape().end())));
  if (isPackedInteger(T)) {
    store(Out, smallElements(Dense, T == DType::I4 || T == DType::I2));
    return Out;
  }
  ArrayRef<char> Raw = Dense.getRawData();
  size_t Step = Dense.isSplat() ? Raw.size() : Out.Bytes.size();
  if (Step == 0 || Out.Bytes.size() % Step || Raw.size() < Step)
    return Out.Bytes.empty() ? Result<Tensor>(Out)
                             : internalError("a constant of odd size");
  for (size_t At = 0; At < Out.Bytes.size(); At += Step)
    std::memcpy(&Out.Bytes[At], Raw.data(), Step);
  return Out;
}

DenseElementsAttr toAttribute(const Tensor &T, MLIRContext *Context) {
  RankedTensorType Type =
      RankedTensorType::get(T.Shape, typeOf(T.Type, Context));
  if (isPackedInteger(T.Type)) {
    unsigned Bits = T.Type == DType::Bool ? 1 : bitsOf(T.Type);
    SmallVector<APInt> Values;
    for (int64_t V : load<int64_t>(T))
      Values.push_back(APInt(Bits, static_cast<uint64_t>(V), false, true));
    return DenseElementsAttr::get(Type, ArrayRef<APInt>(Values));
  }
  return DenseElementsAttr::getFromRawBuffer(
      Type, ArrayRef<char>(reinterpret_cast<const char *>(T.Bytes.data()),
                           T.Bytes.size()));
}

std::vector<uint8_t> packedElements(DenseElementsAttr Data) {
  unsigned Bits = Data.getElementType().getIntOrFloatBitWidth();
  std::vector<uint8_t> Out(
      (static_cast<size_t>(Data.getNumElements()) * Bits + 7) / 8);
  size_t At = 0;
  const auto Put = [&](const APInt &V) {
    for (unsigned B = 0; B < Bits; ++B, ++At)
      Out[At / 8] |= static_cast<uint8_t>(V[B] << At % 8);
  };
  if (isa<FloatType>(Data.getElementType()))
    for (const APFloat &V : Data.getValues<APFloat>())
      Put(V.bitcastToAPInt());
  else
    for (const APInt &V : Data.getValues<APInt>())
      Put(V);
  return Out;
}

Result<Tensor> fromFileBytes(Budget &B, ShapedType Type,
                             std::vector<uint8_t> Bytes) {
  DType T = dtypeOf(Type.getElementType());
  if (T == DType::None || !Type.hasStaticShape())
    return unsupportedError("evaluation: a weight of an unknown type");
  LLMC_ASSIGN_OR_RETURN(Tensor Out, B.allocate(T, Dims(Type.getShape().begin(),
                                                       Type.getShape().end())));
  unsigned Bits = bitsOf(T);
  size_t Need = (static_cast<size_t>(Out.count()) * Bits + 7) / 8;
  if (Bytes.size() != Need)
    return malformedError("a weight has " + std::to_string(Bytes.size()) +
                          " bytes, expected " + std::to_string(Need));
  if (Bits >= 8) {
    Out.Bytes = std::move(Bytes);
    return Out;
  }
  std::vector<int64_t> Values(Out.Bytes.size());
  for (size_t I = 0; I < Values.size(); ++I) {
    size_t Bit = I * Bits;
    Values[I] = (Bytes[Bit / 8] >> (Bit % 8)) & ((1 << Bits) - 1);
  }
  if (isFloat(T)) // codes, not numbers
    Out.Bytes.assign(Values.begin(), Values.end());
  else
    store(Out, Values);
  return Out;
}

} // namespace llmc::eval
