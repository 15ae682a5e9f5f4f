// Storage, element conversion and index arithmetic of evaluator tensors.
#include "compiler/eval/Tensor.h"
#include "compiler/eval/SmallFloat.h"
#include "runtime/base/Half.h"

#include <cmath>

namespace llmc::eval {

int64_t Tensor::count() const { return countOf(Shape); }

Tensor Tensor::ofFloats(DType Type, Dims Shape,
                        const std::vector<double> &Values) {
  Tensor T{Type, std::move(Shape), {}};
  T.Bytes.resize(Values.size() * storedBytes(Type));
  store(T, Values);
  return T;
}

Tensor Tensor::ofInts(DType Type, Dims Shape,
                      const std::vector<int64_t> &Values) {
  Tensor T{Type, std::move(Shape), {}};
  T.Bytes.resize(Values.size() * storedBytes(Type));
  store(T, Values);
  return T;
}

Result<Tensor> Budget::allocate(DType Type, const Dims &Shape) {
  int64_t Count = countOf(Shape);
  if (Count < 0)
    return unsupportedError("evaluation: the size of a result overflows");
  if (Count > Elements)
    return unsupportedError("evaluation: a result needs " +
                            std::to_string(Count) + " elements, " +
                            std::to_string(Elements) + " are left");
  Elements -= Count;
  LLMC_RETURN_IF_ERROR(work(Count));
  Tensor T{Type, Shape, {}};
  T.Bytes.resize(static_cast<size_t>(Count) * storedBytes(Type));
  return T;
}

Status Budget::work(int64_t Count) {
  if (Count < 0 || Count > Operations)
    return unsupportedError("evaluation: " + std::to_string(Count) +
                            " operations are needed, " +
                            std::to_string(Operations) + " are left");
  Operations -= Count;
  return Status::success();
}

bool isFloat(DType T) {
  return T == DType::F32 || T == DType::F16 || T == DType::BF16 ||
         T == DType::F64 || isSmallFloat(T);
}

bool isInteger(DType T) {
  switch (T) {
  case DType::I8:
  case DType::U8:
  case DType::I16:
  case DType::U16:
  case DType::I32:
  case DType::U32:
  case DType::I64:
  case DType::U64:
  case DType::I4:
  case DType::U4:
  case DType::I2:
  case DType::U2:
    return true;
  default:
    return false;
  }
}

bool isSigned(DType T) {
  return T == DType::I8 || T == DType::I16 || T == DType::I32 ||
         T == DType::I64 || T == DType::I4 || T == DType::I2;
}

unsigned storedBytes(DType T) {
  unsigned Bits = bitsOf(T);
  return Bits < 8 ? 1 : Bits / 8;
}

std::string describe(const Tensor &T) {
  std::string S(nameOf(T.Type));
  S += "[";
  for (size_t I = 0; I < T.Shape.size(); ++I)
    S += (I ? ", " : "") + std::to_string(T.Shape[I]);
  return S + "]";
}

//===----------------------------------------------------------------------===//
// Conversion
//===----------------------------------------------------------------------===//

/// Conversion with every case defined: a float out of range is 0, one from
/// 2^63 to 2^64 the unsigned number with its bits.
template <typename To, typename From> static To convert(From V) {
  if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To>) {
    double Wide = static_cast<double>(V);
    if (!(Wide >= -0x1p63 && Wide < 0x1p64))
      return 0;
    if (Wide >= 0x1p63)
      return static_cast<To>(static_cast<uint64_t>(Wide));
    return static_cast<To>(static_cast<int64_t>(Wide));
  } else {
    return static_cast<To>(V);
  }
}

template <typename Stored, typename Wide>
static void loadAs(const Tensor &T, std::vector<Wide> &Out) {
  const Stored *P = T.data<Stored>();
  for (size_t I = 0; I < Out.size(); ++I)
    Out[I] = convert<Wide>(P[I]);
}

template <typename Wide> std::vector<Wide> load(const Tensor &T) {
  std::vector<Wide> Out(T.Bytes.size() / storedBytes(T.Type));
  switch (T.Type) {
  case DType::F32:
    loadAs<float>(T, Out);
    break;
  case DType::F64:
    loadAs<double>(T, Out);
    break;
  case DType::F16:
    for (size_t I = 0; I < Out.size(); ++I)
      Out[I] = convert<Wide>(f16ToFloat(T.data<uint16_t>()[I]));
    break;
  case DType::BF16:
    for (size_t I = 0; I < Out.size(); ++I)
      Out[I] = convert<Wide>(bf16ToFloat(T.data<uint16_t>()[I]));
    break;
  case DType::I8:
  case DType::I4:
  case DType::I2:
    loadAs<int8_t>(T, Out);
    break;
  case DType::I16:
    loadAs<int16_t>(T, Out);
    break;
  case DType::U16:
    loadAs<uint16_t>(T, Out);
    break;
  case DType::I32:
    loadAs<int32_t>(T, Out);
    break;
  case DType::U32:
    loadAs<uint32_t>(T, Out);
    break;
  case DType::I64:
    loadAs<int64_t>(T, Out);
    break;
  case DType::U64:
    loadAs<uint64_t>(T, Out);
    break;
  default:
    if (!isSmallFloat(T.Type)) {
      loadAs<uint8_t>(T, Out);
      break;
    }
    for (size_t I = 0; I < Out.size(); ++I)
      Out[I] = convert<Wide>(smallFloatValue(T.Type, T.Bytes[I]));
    break;
  }
  return Out;
}

template <typename Stored, typename Wide>
static void storeAs(Tensor &T, const std::vector<Wide> &In) {
  Stored *P = T.data<Stored>();
  for (size_t I = 0; I < In.size(); ++I) {
    if constexpr (std::is_floating_point_v<Stored>)
      P[I] = static_cast<Stored>(In[I]);
    else
      P[I] = static_cast<Stored>(convert<int64_t>(In[I]));
  }
}

/// Double to f16/bf16 rounds twice, through float, as ONNX Runtime does.
template <typename Wide> void store(Tensor &T, const std::vector<Wide> &In) {
  switch (T.Type) {
  case DType::F32:
    storeAs<float>(T, In);
    break;
  case DType::F64:
    storeAs<double>(T, In);
    break;
  case DType::F16:
    for (size_t I = 0; I < In.size(); ++I)
      T.data<uint16_t>()[I] = floatToF16(static_cast<float>(In[I]));
    break;
  case DType::BF16:
    for (size_t I = 0; I < In.size(); ++I)
      T.data<uint16_t>()[I] = floatToBf16(static_cast<float>(In[I]));
    break;
  case DType::Bool:
    for (size_t I = 0; I < In.size(); ++I)
      T.data<uint8_t>()[I] = In[I] != 0;
    break;
  case DType::I8:
    storeAs<int8_t>(T, In);
    break;
  case DType::I16:
    storeAs<int16_t>(T, In);
    break;
  case DType::U16:
    storeAs<uint16_t>(T, In);
    break;
  case DType::I32:
    storeAs<int32_t>(T, In);
    break;
  case DType::U32:
    storeAs<uint32_t>(T, In);
    break;
  case DType::I64:
    storeAs<int64_t>(T, In);
    break;
  case DType::U64:
    storeAs<uint64_t>(T, In);
    break;
  default:
    if (!isSmallFloat(T.Type)) {
      storeAs<uint8_t>(T, In);
      break;
    }
    for (size_t I = 0; I < In.size(); ++I)
      T.Bytes[I] = toSmallFloat(T.Type, static_cast<double>(In[I]));
    return;
  }
  if (unsigned Bits = bitsOf(T.Type); Bits < 8) {
    bool Signed = T.Type == DType::I4 || T.Type == DType::I2;
    for (uint8_t &B : T.Bytes) {
      B = static_cast<uint8_t>(B & ((1u << Bits) - 1));
      if (Signed && (B >> (Bits - 1)))
        B = static_cast<uint8_t>(B | (0xffu << Bits));
    }
  }
}

template std::vector<float> load<float>(const Tensor &);
template std::vector<double> load<double>(const Tensor &);
template std::vector<int64_t> load<int64_t>(const Tensor &);
template void store<float>(Tensor &, const std::vector<float> &);
template void store<double>(Tensor &, const std::vector<double> &);
template void store<int64_t>(Tensor &, const std::vector<int64_t> &);

double roundTo(DType T, double V) {
  switch (T) {
  case DType::F32:
    return static_cast<float>(V);
  case DType::F16:
    return f16ToFloat(floatToF16(static_cast<float>(V)));
  case DType::BF16:
    return bf16ToFloat(floatToBf16(static_cast<float>(V)));
  default:
    return isSmallFloat(T) ? smallFloatValue(T, toSmallFloat(T, V)) : V;
  }
}

/// A view of one element as a tensor of its own.
static Tensor elementOf(const Tensor &T, int64_t Index) {
  unsigned Size = storedBytes(T.Type);
  const uint8_t *Begin = T.Bytes.data() + static_cast<size_t>(Index) * Size;
  return Tensor{T.Type, {}, std::vector<uint8_t>(Begin, Begin + Size)};
}

int64_t intAt(const Tensor &T, int64_t Index) {
  if (T.Type == DType::I64)
    return T.data<int64_t>()[Index];
  return load<int64_t>(elementOf(T, Index))[0];
}

double floatAt(const Tensor &T, int64_t Index) {
  return load<double>(elementOf(T, Index))[0];
}

//===----------------------------------------------------------------------===//
// Shapes
//===----------------------------------------------------------------------===//

Dims stridesOf(const Dims &Shape) {
  Dims Strides(Shape.size(), 1);
  for (size_t I = Shape.size(); I-- > 1;)
    Strides[I - 1] = static_cast<int64_t>(static_cast<uint64_t>(Strides[I]) *
                                          static_cast<uint64_t>(Shape[I]));
  return Strides;
}

int64_t countOf(const Dims &Shape) {
  int64_t Count = 1;
  bool Zero = false;
  for (int64_t D : Shape) {
    if (D < 0)
      return -1;
    Zero |= D == 0;
  }
  if (Zero)
    return 0;
  for (int64_t D : Shape)
    if (__builtin_mul_overflow(Count, D, &Count) || Count > (1ll << 48))
      return -1;
  return Count;
}

Result<int64_t> normaliseAxis(int64_t Axis, int64_t Rank) {
  int64_t N = Axis < 0 ? Axis + Rank : Axis;
  if (N < 0 || N >= Rank)
    return malformedError("axis " + std::to_string(Axis) +
                          " is out of range for rank " + std::to_string(Rank));
  return N;
}

Result<Dims> broadcastShapes(const Dims &A, const Dims &B) {
  size_t Rank = std::max(A.size(), B.size());
  Dims Out(Rank);
  for (size_t I = 0; I < Rank; ++I) {
    int64_t X = I < Rank - A.size() ? 1 : A[I - (Rank - A.size())];
    int64_t Y = I < Rank - B.size() ? 1 : B[I - (Rank - B.size())];
    if (X != Y && X != 1 && Y != 1)
      return malformedError("dims " + std::to_string(X) + " and " +
                            std::to_string(Y) + " do not broadcast");
    Out[I] = X == 1 ? Y : X;
  }
  return Out;
}

Dims broadcastStrides(const Dims &Shape, const Dims &Target) {
  Dims Own = stridesOf(Shape);
  Dims Out(Target.size(), 0);
  size_t Lead = Target.size() - Shape.size();
  for (size_t I = 0; I < Shape.size(); ++I)
    Out[Lead + I] = Shape[I] == 1 ? 0 : Own[I];
  return Out;
}

} // namespace llmc::eval
