// Plain products and tables with the codes of a file, compiled for the host:
// the packer's rows against the numbers that they stand for.
#include "compiler/weights/Encoding.h"
#include "compiler/weights/PackCodes.h"
#include "compiler/weights/RowFormat.h"
#include "test/compiler/cuda/HostRun.h"

using namespace llmc;
using namespace llmc::cuda;
using namespace llmc::test;
using kernels::CodeKind;
using kernels::WeightFormat;
using kernels::ZeroKind;

namespace {

/// Random codes with their values, packed by the packer.
struct Codes {
  Floats Value;
  std::vector<uint8_t> Bytes;

  Codes(WeightFormat F, int64_t Rows, int64_t Cols) : Value(Rows * Cols) {
    uint64_t Block = F.Block ? F.Block : Cols,
             Blocks = (Cols + Block - 1) / Block;
    Encoding Table;
    Table.Table = CodeTable::Nf4;
    Bytes.assign(F.headerBytes() +
                     Rows *
                         RowFormat{F, static_cast<uint64_t>(Cols)}.rowBytes(),
                 0);
    if (F.Kind == CodeKind::Table)
      std::memcpy(Bytes.data(), codebookOf(Table), 64);
    Floats Scales = randomFloats(Rows * Blocks, 7), Raw = randomFloats(64, 8);
    for (int64_t Row = 0; Row < Rows; Row += 16) {
      CodePanel P;
      P.Codes.resize(Cols * 16);
      P.Scales.resize(Blocks * 16);
      P.Zeros.resize(Blocks * 16);
      int64_t Count = std::min<int64_t>(16, Rows - Row);
      for (int64_t R = 0; R != Count; ++R)
        for (int64_t C = 0; C != Cols; ++C) {
          uint64_t B = C / Block, I = (Row + R) * Blocks + B;
          unsigned Code =
              (C * 73 + (Row + R) * 29 + C / 7) & ((1 << F.Bits) - 1);
          float S = f16ToFloat(floatToF16(Scales[I] * 0.1f));
          float Z = F.Zero == ZeroKind::Byte    ? static_cast<float>(I % 4)
                    : F.Zero == ZeroKind::Float ? Raw[I % 64]
                    : F.Zero == ZeroKind::Middle
                        ? static_cast<float>(1 << (F.Bits - 1))
                    : F.Zero == ZeroKind::Minimum
                        ? f16ToFloat(floatToF16(Raw[I % 64]))
                        : 0.0f;
          if (F.Kind == CodeKind::F8E4M3 && (Code & 0x7f) == 0x7f)
            Code ^= 1; // NaN
          P.Codes[C * 16 + R] = static_cast<uint8_t>(Code);
          P.Scales[B * 16 + R] = S;
          P.Zeros[B * 16 + R] = Z;
          float V = static_cast<float>(Code);
          if (F.Kind == CodeKind::Table)
            V = codebookOf(Table)[Code];
          else if (F.Kind != CodeKind::Integer)
            V = elementValue(F.Kind == CodeKind::F8E4M3 ? DType::F8E4M3
                                                        : DType::F8E5M2,
                             Code);
          if (!std::isfinite(V)) {
            P.Codes[C * 16 + R] = 0;
            V = 0;
          }
          Value[(Row + R) * Cols + C] =
              F.Zero == ZeroKind::Minimum ? V * S + Z : (V - Z) * S;
        }
      putRows(F, Cols, P, Count,
              Bytes.data() + F.headerBytes() +
                  Row * RowFormat{F, static_cast<uint64_t>(Cols)}.rowBytes());
    }
  }
};

class CodesHost
    : public testing::TestWithParam<std::pair<WeightFormat, int64_t>> {};

TEST_P(CodesHost, ProductAndTable) {
  auto [F, K] = GetParam();
  constexpr int64_t N = 19, Tokens = 5;
  Codes W(F, N, K);
  int64_t WType = kernels::numberOf(F);
  KernelRequest R = linear({K, N, WType, 0, 0, 0}, 0.0f,
                           {"gain", "norm_bias", "bias", "residual"});
  Floats X = randomFloats(Tokens * K, 1), Out(Tokens * N), One(N);
  LlmcCounts Counts{Tokens, 0, 1, 0, 1, 0};
  Library::get().run(R, 8,
                     {&Counts, X.data(), nullptr, nullptr, W.Bytes.data(),
                      nullptr, nullptr, Out.data()});
  for (int64_t T = 0; T != Tokens; ++T)
    for (int64_t I = 0; I != N; ++I) {
      double Sum = 0, Size = 0;
      for (int64_t J = 0; J != K; ++J) {
        double P = static_cast<double>(W.Value[I * K + J]) * X[T * K + J];
        Sum += P;
        Size += std::fabs(P);
      }
      EXPECT_NEAR(Out[T * N + I], Sum, 1e-6 * Size) << T << ", " << I;
    }
  Counts.tokens = 1;
  Library::get().run(R, 1,
                     {&Counts, &X[3 * K], nullptr, nullptr, W.Bytes.data(),
                      nullptr, nullptr, One.data()});
  EXPECT_EQ(std::memcmp(One.data(), &Out[3 * N], N * 4), 0);

  KernelRequest E = request(
      "embed", {{"vocab", N}, {"hidden", K}, {"wtype", WType}}, {{"scale", 1}});
  std::vector<int32_t> Ids = {18, 0, 7};
  Floats Rows(3 * K);
  Counts.tokens = 3;
  Library::get().run(E, 8, {&Counts, Ids.data(), W.Bytes.data(), Rows.data()});
  for (int64_t T = 0; T != 3; ++T)
    for (int64_t J = 0; J != K; ++J) // the very numbers
      EXPECT_EQ(Rows[T * K + J], W.Value[Ids[T] * K + J]) << T << ", " << J;
}

INSTANTIATE_TEST_SUITE_P(
    Formats, CodesHost,
    testing::Values(
        std::pair{WeightFormat{CodeKind::Integer, 4, true, ZeroKind::Byte, 32},
                  96},
        std::pair{
            WeightFormat{CodeKind::Integer, 4, true, ZeroKind::Minimum, 32},
            70},
        std::pair{
            WeightFormat{CodeKind::Integer, 2, false, ZeroKind::Float, 16}, 50},
        std::pair{
            WeightFormat{CodeKind::Integer, 8, false, ZeroKind::Middle, 0},
            512},
        std::pair{WeightFormat{CodeKind::Table, 4, false, ZeroKind::None, 64},
                  256},
        std::pair{WeightFormat{CodeKind::F8E4M3, 8, true, ZeroKind::None, 128},
                  2100},
        std::pair{WeightFormat{CodeKind::F8E5M2, 8, false, ZeroKind::Float, 0},
                  33}));

TEST(HostCodes, WholeNumbersOfTheFile) {
  for (int64_t WType : {kernels::WF32, kernels::WBF16}) {
    constexpr int64_t K = 36, N = 5;
    Floats Value = randomFloats(N * K, 3, 1e6f);
    std::vector<uint8_t> Bytes(N * K * (WType == kernels::WF32 ? 4 : 2));
    for (size_t I = 0; I != Value.size(); ++I) {
      uint16_t H = floatToBf16(Value[I]);
      if (WType == kernels::WBF16)
        Value[I] = bf16ToFloat(H);
      std::memcpy(&Bytes[I * (WType == kernels::WF32 ? 4 : 2)],
                  WType == kernels::WF32 ? static_cast<void *>(&Value[I]) : &H,
                  WType == kernels::WF32 ? 4 : 2);
    }
    KernelRequest E =
        request("embed", {{"vocab", N}, {"hidden", K}, {"wtype", WType}},
                {{"scale", 1}});
    std::vector<int32_t> Ids = {4, 0};
    Floats Rows(2 * K);
    LlmcCounts Counts{2, 0, 1, 0, 1, 0};
    Library::get().run(E, 8, {&Counts, Ids.data(), Bytes.data(), Rows.data()});
    for (int64_t J = 0; J != K; ++J) {
      EXPECT_EQ(Rows[J], Value[4 * K + J]);
      EXPECT_EQ(Rows[K + J], Value[J]);
    }
  }
}
} // namespace
