// Products with weights of every packed type: with exact rows they have the
// bits of the same product with the dequantised matrix, on every instruction
// set, for every shape of tiles; embeddings too.
#include "compiler/kernels/WeightFormat.h"
#include "test/kernels/Harness.h"

#include <gtest/gtest.h>

using namespace llmc::test;
using namespace llmc::kernels;

namespace {

/// A random matrix of a type, and its values as p16.f32.
struct Packed {
  Buffer Bytes, Values;
};

int randomCode(Rng &R, WeightFormat F) {
  int Code = static_cast<int>(R() % (1u << F.Bits));
  // No NaN and no infinity among 8-bit floats.
  if (F.Kind != CodeKind::Integer && F.Kind != CodeKind::Table)
    return (Code & 0x7f) > 0x7b || Code == 0x80 ? 1 : Code;
  return Code;
}

float valueOf(int Code, WeightFormat F, const float *Book) {
  if (F.Kind == CodeKind::Integer)
    return static_cast<float>(Code);
  if (F.Kind == CodeKind::Table)
    return Book[Code];
  bool E4 = F.Kind == CodeKind::F8E4M3 || F.Kind == CodeKind::F8E4M3Z;
  bool Higher = F.Kind == CodeKind::F8E4M3Z || F.Kind == CodeKind::F8E5M2Z;
  int M = E4 ? 3 : 2, Bias = (E4 ? 7 : 15) + Higher;
  int Exponent = (Code & 0x7f) >> M, Fraction = Code & ((1 << M) - 1);
  double V = Exponent ? std::ldexp((1 << M) + Fraction, Exponent - Bias - M)
                      : std::ldexp(Fraction, 1 - Bias - M);
  return static_cast<float>(Code & 0x80 ? -V : V);
}

Packed makeCodes(WeightFormat F, int64_t N, int64_t K, uint32_t Seed) {
  Rng R(Seed);
  int64_t Panels = (N + 15) / 16, Block = F.Block ? F.Block : K;
  Packed Out{Buffer(F.headerBytes() + Panels * F.panelBytes(K)),
             Buffer(Panels * K * 64)};
  std::vector<float> Book = randomFloats(R, 16);
  if (F.headerBytes())
    std::memcpy(Out.Bytes.bytes(), Book.data(), 64);
  for (int64_t Row = 0; Row < N; ++Row)
    for (int64_t C = 0; C < K; ++C) {
      uint8_t *Record = Out.Bytes.bytes() + F.headerBytes() +
                        Row / 16 * F.panelBytes(K) +
                        C / F.recordCols(K) * F.recordBytes(K);
      int64_t In = C % F.recordCols(K), B = In / Block, Lane = Row % 16;
      uint8_t *Scales = Record + F.codeBytes(K) + B * F.scaleBytes();
      uint8_t *Zeros = Record + F.codeBytes(K) +
                       F.blocksPerRecord() * F.scaleBytes() + B * F.zeroBytes();
      if (In % Block == 0) {
        float S = 0.01f + static_cast<float>(R() % 100) * 0.001f;
        uint16_t H = llmc::floatToF16(S);
        std::memcpy(Scales + Lane * (F.HalfScale ? 2 : 4),
                    F.HalfScale ? static_cast<void *>(&H) : &S,
                    F.HalfScale ? 2 : 4);
        float Z = static_cast<float>(R() % 16) + 0.5f;
        if (F.Zero == ZeroKind::Byte)
          Zeros[Lane] = static_cast<uint8_t>(R() % (1u << F.Bits));
        else if (F.Zero == ZeroKind::Float)
          std::memcpy(Zeros + Lane * 4, &Z, 4);
        uint16_t HalfMin = llmc::floatToF16(-S * Z);
        float Min = -S * Z;
        if (F.Zero == ZeroKind::Minimum)
          std::memcpy(Zeros + Lane * (F.HalfScale ? 2 : 4),
                      F.HalfScale ? static_cast<void *>(&HalfMin) : &Min,
                      F.HalfScale ? 2 : 4);
      }
      float S = 0, Z = 0;
      uint16_t H;
      std::memcpy(&H, Scales + Lane * 2, 2);
      std::memcpy(&S, Scales + Lane * (F.HalfScale ? 0 : 4), 4);
      S = F.HalfScale ? llmc::f16ToFloat(H) : S;
      if (F.Zero == ZeroKind::Middle)
        Z = static_cast<float>(1 << (F.Bits - 1));
      else if (F.Zero == ZeroKind::Byte)
        Z = Zeros[Lane];
      else if (F.Zero == ZeroKind::Float)
        std::memcpy(&Z, Zeros + Lane * 4, 4);
      int Code = randomCode(R, F);
      int64_t PerLine = 32 / F.Bits, L = In % PerLine;
      uint8_t &Byte = Record[In / PerLine * 64 + Lane * 4 + L % 4];
      Byte = static_cast<uint8_t>(Byte | Code << (L / 4 * F.Bits));
      float &Value = Out.Values.floats()[(Row / 16 * K + C) * 16 + Lane];
      Value = valueOf(Code, F, Book.data());
      if (F.Zero == ZeroKind::Minimum) {
        std::memcpy(&H, Zeros + Lane * 2, 2);
        std::memcpy(&Z, Zeros + Lane * (F.HalfScale ? 0 : 4), 4);
        Value = Value * S + (F.HalfScale ? llmc::f16ToFloat(H) : Z);
      } else {
        Value = (Value - Z) * S;
      }
    }
  return Out;
}

Packed makeHalves(int64_t Type, int64_t N, int64_t K) {
  Rng R(7);
  int64_t Panels = (N + 15) / 16;
  Packed Out{Buffer(Panels * K * 32), Buffer(Panels * K * 64)};
  for (int64_t I = 0; I < Panels * K * 16; ++I) {
    float V = randomFloats(R, 1)[0];
    uint16_t H = Type == WF16 ? llmc::floatToF16(V) : llmc::floatToBf16(V);
    std::memcpy(Out.Bytes.bytes() + I * 2, &H, 2);
    Out.Values.floats()[I] =
        Type == WF16 ? llmc::f16ToFloat(H) : llmc::bf16ToFloat(H);
  }
  return Out;
}

const WeightFormat Formats[] = {
    {CodeKind::Integer, 4, true, ZeroKind::Middle, 32},
    {CodeKind::Integer, 4, false, ZeroKind::Byte, 32},
    {CodeKind::Integer, 4, false, ZeroKind::Float, 16},
    {CodeKind::Integer, 4, true, ZeroKind::None, 128},
    {CodeKind::Integer, 8, true, ZeroKind::Middle, 32},
    {CodeKind::Integer, 8, false, ZeroKind::Byte, 0},
    {CodeKind::Integer, 8, false, ZeroKind::Middle, 48},
    {CodeKind::Integer, 2, false, ZeroKind::Byte, 16},
    {CodeKind::Integer, 2, true, ZeroKind::Middle, 64},
    {CodeKind::Integer, 4, true, ZeroKind::Minimum, 32},
    {CodeKind::Integer, 8, false, ZeroKind::Minimum, 64},
    {CodeKind::Integer, 4, true, ZeroKind::Byte, 96},
    {CodeKind::Table, 4, false, ZeroKind::None, 64},
    {CodeKind::Table, 4, true, ZeroKind::None, 0},
    {CodeKind::F8E4M3, 8, false, ZeroKind::None, 128},
    {CodeKind::F8E5M2, 8, false, ZeroKind::None, 0},
    {CodeKind::F8E4M3Z, 8, false, ZeroKind::None, 32},
    {CodeKind::F8E5M2Z, 8, false, ZeroKind::None, 32},
};

std::vector<float> product(const KernelSet &Set, Buffer &W, int64_t Type,
                           const std::vector<float> &X, int64_t N, int64_t K,
                           uint32_t Threads, int64_t Policy = XF32) {
  uint32_t Rows = static_cast<uint32_t>(X.size() / static_cast<size_t>(K));
  Step S(Rows, Rows / 2);
  std::vector<float> Out(Rows * static_cast<size_t>(N), NAN);
  Buffer Xq(Rows * xqBytesPerToken(K, Policy));
  S.run(Threads, [&](const LlmcCtx *C) {
    Set.linear(C, X.data(), nullptr, nullptr, W.bytes(), nullptr, nullptr,
               Out.data(), Xq.bytes(), K, N, Type, Policy, NormNone, 0, 0,
               RowsT, 0.0f);
  });
  return Out;
}

void expectSameProducts(Packed &P, int64_t Type, int64_t N, int64_t K,
                        const std::string &What) {
  for (uint32_t Rows : {1u, 2u, 3u, 9u}) {
    Rng R(Rows);
    std::vector<float> X = randomFloats(R, Rows * static_cast<size_t>(K));
    std::vector<float> Want = product(Reference, P.Values, WF32, X, N, K, 1);
    EXPECT_EQ(
        firstDifference(Want, product(Reference, P.Bytes, Type, X, N, K, 1)),
        -1)
        << What << " ref rows " << Rows;
    for (const KernelSet *Set : runnableSets())
      EXPECT_EQ(firstDifference(Want, product(*Set, P.Bytes, Type, X, N, K, 2)),
                -1)
          << What << " " << Set->Name << " rows " << Rows;
  }
}

TEST(QuantizedKernel, ProductEqualsThatOfTheValues) {
  for (const WeightFormat &F : Formats)
    for (auto [N, K] : {std::pair<int64_t, int64_t>{48, 256}, {35, 144}}) {
      Packed P = makeCodes(F, N, K, 3);
      expectSameProducts(P, numberOf(F), N, K,
                         "kind " + std::to_string(int(F.Kind)) + " bits " +
                             std::to_string(F.Bits) + " block " +
                             std::to_string(F.Block) + " k " +
                             std::to_string(K));
    }
}

/// int8 rows: the reference bit for bit; and near the product of the values.
TEST(QuantizedKernel, IntegerProductsEqualTheReference) {
  for (const WeightFormat &F : Formats) {
    int64_t Type = numberOf(F);
    if (!hasIntegerDot(Type))
      continue;
    for (auto [N, K] :
         {std::pair<int64_t, int64_t>{48, 256}, {35, 144}, {20, 77}}) {
      Packed P = makeCodes(F, N, K, 3);
      for (uint32_t Rows : {1u, 2u, 3u, 9u, 20u}) {
        Rng R(Rows);
        std::vector<float> X = randomFloats(R, Rows * static_cast<size_t>(K));
        std::vector<float> Want =
            product(Reference, P.Bytes, Type, X, N, K, 1, XI8);
        std::vector<float> Exact =
            product(Reference, P.Values, WF32, X, N, K, 1);
        double Error = 0, Size = 0;
        for (size_t I = 0; I < Want.size(); ++I) {
          Error += std::pow(Want[I] - Exact[I], 2);
          Size += std::pow(Exact[I], 2);
        }
        EXPECT_LT(Error, 1e-4 * Size) << "type " << Type;
        for (const KernelSet *Set : runnableSets())
          EXPECT_EQ(firstDifference(
                        Want, product(*Set, P.Bytes, Type, X, N, K, 2, XI8)),
                    -1)
              << Set->Name << " bits " << int(F.Bits) << " block " << F.Block
              << " zero " << int(F.Zero) << " k " << K << " rows " << Rows;
      }
    }
  }
}

/// K that ends inside a line of codes.
TEST(QuantizedKernel, OddWidths) {
  for (int64_t K : {1, 5, 33, 77})
    for (int Bits : {2, 4, 8}) {
      WeightFormat F = {CodeKind::Integer, static_cast<uint8_t>(Bits), false,
                        ZeroKind::Byte, 0};
      Packed P = makeCodes(F, 20, K, 5);
      expectSameProducts(P, numberOf(F), 20, K, "bits " + std::to_string(Bits));
    }
}

TEST(QuantizedKernel, HalvesAndInt8WithExactRows) {
  for (int64_t Type : {WF16, WBF16}) {
    Packed P = makeHalves(Type, 40, 100);
    expectSameProducts(P, Type, 40, 100, "type " + std::to_string(Type));
  }
  Packed P = makeCodes(Int8Format, 40, 160, 1);
  expectSameProducts(P, WI8B32, 40, 160, "int8");
}

TEST(QuantizedKernel, EmbeddingIsARowOfTheValues) {
  int64_t N = 40, K = 100;
  const auto Check = [&](Packed &P, int64_t Type) {
    for (const KernelSet *Set : {&Reference, &Avx2, &Avx512Vnni}) {
      std::vector<const KernelSet *> Able = runnableSets();
      if (Set != &Reference && std::count(Able.begin(), Able.end(), Set) == 0)
        continue;
      Step S(3, 0);
      S.Ids = {39, 0, 17};
      std::vector<float> Out(3 * static_cast<size_t>(K), NAN);
      S.run(1, [&](const LlmcCtx *C) {
        Set->embed(C, S.Ids.data(), P.Bytes.bytes(), Out.data(), N, K, Type,
                   2.0f);
      });
      for (int64_t T = 0; T < 3; ++T)
        for (int64_t C = 0; C < K; ++C)
          ASSERT_EQ(Out[T * K + C],
                    2.0f * P.Values.floats()[(S.Ids[T] / 16 * K + C) * 16 +
                                             S.Ids[T] % 16])
              << Set->Name << " type " << Type;
    }
  };
  for (const WeightFormat &F : Formats)
    if (F.Block != 48) {
      Packed P = makeCodes(F, N, K, 9);
      Check(P, numberOf(F));
    }
  for (int64_t Type : {WF16, WBF16}) {
    Packed P = makeHalves(Type, N, K);
    Check(P, Type);
  }
}
} // namespace
