// The kernels of single rows, compiled for the host, against a double-precision
// reference.
#include "test/compiler/cuda/HostRun.h"

using namespace llmc;
using namespace llmc::cuda;
using namespace llmc::test;

namespace {
TEST(Host, RopeTable) {
  int64_t Half = 33;
  KernelRequest Freq =
      request("rope_table", {{"half", Half}, {"table_rows", 0}},
              {{"scaling", 1.5f}}, {"cos_table", "sin_table"});
  Floats F(Half);
  for (int64_t I = 0; I != Half; ++I)
    F[I] = std::pow(10000.0f, -static_cast<float>(I) / Half);
  std::vector<int32_t> Positions = {0, 1, 17, 1000, 8191, 131071};
  Floats Out(6 * 2 * Half);
  LlmcCounts Counts{6, 0, 1, 0, 0, 0};
  Library::get().run(
      Freq, 8,
      {&Counts, Positions.data(), F.data(), nullptr, nullptr, Out.data()});
  for (int64_t T = 0; T != 6; ++T)
    for (int64_t I = 0; I != Half; ++I) {
      double Angle = static_cast<float>(Positions[T]) * F[I]; // f32 product
      Angle = static_cast<float>(Angle);
      EXPECT_NEAR(Out[T * 2 * Half + I], 1.5 * std::cos(Angle), 3e-7);
      EXPECT_NEAR(Out[T * 2 * Half + Half + I], 1.5 * std::sin(Angle), 3e-7);
    }
  KernelRequest Table = request("rope_table", {{"half", 4}, {"table_rows", 20}},
                                {{"scaling", 1.0f}}, {"freq"});
  Floats Cos = randomFloats(80, 1), Sin = randomFloats(80, 2), Small(3 * 8);
  LlmcCounts Three{3, 0, 1, 0, 0, 0};
  Library::get().run(Table, 3,
                     {&Three, Positions.data(), nullptr, Cos.data(), Sin.data(),
                      Small.data()});
  EXPECT_EQ(Small[2 * 8 + 1], Cos[17 * 4 + 1]);
  EXPECT_EQ(Small[2 * 8 + 4 + 3], Sin[17 * 4 + 3]);
}

TEST(Host, RowKernels) {
  LlmcCounts Counts{3, 0, 1, 0, 2, 0};
  { // norm of heads
    KernelRequest R = request("norm", {{"n", 20}, {"norm", 2}, {"heads", 3}},
                              {{"eps", 1e-5f}});
    Floats X = randomFloats(3 * 60, 1), Gain = randomFloats(20, 2),
           Bias = randomFloats(20, 3), Out(180);
    Library::get().run(
        R, 3, {&Counts, X.data(), Gain.data(), Bias.data(), Out.data()});
    for (int64_t S = 0; S != 9; ++S) {
      std::vector<double> Row =
          normRow(2, &X[S * 20], 20, Gain.data(), Bias.data(), 1e-5);
      for (int64_t I = 0; I != 20; ++I)
        near(Out[S * 20 + I], Row[I], 1, "norm", S * 20 + I);
    }
  }
  for (int64_t Interleaved : {0, 1}) { // rope
    KernelRequest R = request("rope", {{"heads", 2},
                                       {"head_dim", 11},
                                       {"rotary_half", 4},
                                       {"interleaved", Interleaved}});
    Floats X = randomFloats(3 * 22, 1), Table = randomFloats(3 * 8, 2), Out(66);
    Library::get().run(R, 3, {&Counts, X.data(), Table.data(), Out.data()});
    for (int64_t T = 0; T != 3; ++T)
      for (int64_t H = 0; H != 2; ++H) {
        const float *From = &X[T * 22 + H * 11];
        std::vector<double> Head(From, From + 11);
        rotate(Head, &Table[T * 8], 4, Interleaved);
        for (int64_t I = 0; I != 11; ++I)
          near(Out[T * 22 + H * 11 + I], Head[I], 1, "rope", I);
      }
  }
  { // kv_write
    constexpr int64_t Stride = 2 * (5 + 3) * 32 * 4;
    KernelRequest R = request(
        "kv_write",
        {{"kv_heads", 2}, {"head_dim", 5}, {"v_head_dim", 3}, {"kvtype", 0}},
        {}, {}, Stride);
    Floats K = randomFloats(30, 1), V = randomFloats(18, 2),
           Pool(3 * Stride / 4, 0);
    std::vector<int32_t> Positions = {0, 5, 40}, Seq = {0, 0, 0};
    std::vector<uint32_t> Pages = {2, 1};
    Library::get().run(R, 3,
                       {&Counts, Positions.data(), Seq.data(), Pages.data(),
                        K.data(), V.data(), Pool.data()});
    // Row 2 at position 40: page 1, token 8; head 1.
    const float *Block = &Pool[1 * Stride / 4 + 8 * 32];
    EXPECT_EQ(Block[8 * 5 + 4], K[2 * 10 + 5 + 4]);
    EXPECT_EQ(Block[5 * 32 + 8 * 3 + 1], V[2 * 6 + 3 + 1]);
  }
  Floats A = randomFloats(3 * 33, 1, 12.0f), B = randomFloats(3 * 33, 2),
         Out(3 * 33);
  for (int64_t Kind = 1; Kind <= 7; ++Kind) {
    Library::get().run(request("activation", {{"n", 33}, {"activation", Kind}}),
                       3, {&Counts, A.data(), Out.data()});
    for (int64_t I = 0; I != 99; ++I)
      EXPECT_NEAR(Out[I], act(Kind, A[I]), 1e-6 * (1 + A[I] * A[I]))
          << "activation " << Kind << " of " << A[I];
  }
  Library::get().run(request("glu", {{"n", 33}, {"activation", 1}}), 3,
                     {&Counts, A.data(), B.data(), Out.data()});
  near(Out[98], act(1, A[98]) * B[98], 1, "glu", 98);
  Library::get().run(request("add", {{"n", 33}}), 3,
                     {&Counts, A.data(), B.data(), Out.data()});
  EXPECT_EQ(Out[98], A[98] + B[98]);
  Library::get().run(request("scale", {{"n", 33}}, {{"factor", 0.25f}}), 3,
                     {&Counts, A.data(), Out.data()});
  EXPECT_EQ(Out[98], A[98] * 0.25f);
}

} // namespace
