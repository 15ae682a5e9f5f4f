// Kernels of model families (rows, experts, states, selection), compiled for
// the host, against references in double or the scalar row machine; rows and
// chunks alone give the same bits.
#include "compiler/kernels/RowMachine.h"
#include "test/compiler/cuda/HostRun.h"
#include "test/compiler/cuda/RowRecords.h"

#include <bit>
#include <limits>

using namespace llmc;
using namespace llmc::cuda;
using namespace llmc::test;

namespace {

/// Rows of two inputs of N values through a program whose result has Width.
struct RowRun {
  Floats Code, X, Y;
  int64_t N, Width, Scratch = 64;

  uint32_t rows() const { return static_cast<uint32_t>(X.size()) / N; }
  int64_t count() const { return Code.size() / kernels::RowRecord; }

  Floats reference() const {
    Floats Out(rows() * Width, 0.0f), Space(Scratch);
    for (uint32_t T = 0; T != rows(); ++T) {
      kernels::row::Spaces M{};
      M.Base[kernels::RowScratch] = Space.data();
      M.Base[kernels::RowResult] = &Out[T * Width];
      M.Base[kernels::RowInput] = const_cast<float *>(&X[T * N]);
      M.Base[kernels::RowInput + 1] = const_cast<float *>(&Y[T * N]);
      for (int64_t I = 0; I != count(); ++I)
        kernels::row::execute(
            kernels::decodeRowStep(&Code[I * kernels::RowRecord]), M);
    }
    return Out;
  }

  Floats cuda() const {
    KernelRequest R = request("rowwise",
                              {{"count", count()},
                               {"scratch", Scratch},
                               {"n", Width},
                               {"n0", N},
                               {"n1", N},
                               {"n2", 0},
                               {"n3", 0},
                               {"n4", 0},
                               {"n5", 0},
                               {"n6", 0},
                               {"n7", 0}},
                              {}, {"in2", "in3", "in4", "in5", "in6", "in7"});
    Floats Out(rows() * Width, 0.0f), Space(rows() * Scratch);
    LlmcCounts Counts{rows(), 0, 1, 0, 1, 0};
    auto Number = [](int64_t V) { return reinterpret_cast<const void *>(V); };
    Library::get().run(
        R, rows(),
        {&Counts,         X.data(),        Y.data(),      nullptr,
         nullptr,         nullptr,         nullptr,       nullptr,
         nullptr,         Code.data(),     Out.data(),    Space.data(),
         Number(count()), Number(Scratch), Number(Width), Number(N),
         Number(N),       nullptr,         nullptr,       nullptr,
         nullptr,         nullptr,         nullptr});
    return Out;
  }
};

/// Equal to the scalar machine up to a few last bits.
void sameRows(const RowRun &R, const std::string &What, double Bound = 4e-7) {
  Floats Want = R.reference(), Got = R.cuda();
  for (size_t I = 0; I != Want.size(); ++I) {
    if (Want[I] == Got[I] || (Want[I] != Want[I] && Got[I] != Got[I]))
      continue;
    EXPECT_LE(std::fabs(static_cast<double>(Got[I]) - Want[I]),
              Bound * std::fmax(std::fabs(Want[I]), 1.0))
        << What << " at " << I << ": " << Got[I] << ", expected " << Want[I];
  }
}

TEST(HostRowwise, Elementwise) {
  constexpr float Inf = std::numeric_limits<float>::infinity();
  Floats X = randomFloats(40, 3, 4.0f), Y = randomFloats(40, 4, 3.0f);
  for (float V : {0.0f, -0.0f, 1.0f, -1.0f, 2.0f, 0.5f, -2.5f, 1e-30f, -1e25f,
                  3e38f, 1e-40f, Inf, -Inf, std::nanf("")})
    for (float W : {0.0f, 1.0f, -3.0f, 1e-20f, 1e30f, Inf}) {
      X.push_back(V);
      Y.push_back(W);
    }
  int64_t N = static_cast<int64_t>(X.size());
  for (int64_t Op = kernels::RowCopy; Op <= kernels::RowSelect; ++Op) {
    // The scalar machine has no remainder for an infinite divisor.
    for (float &V : Y)
      if (Op == kernels::RowMod && V == Inf)
        V = 7.0f;
    RowRun R{record(Op, operand(kernels::RowResult, 0, {0, 0, 0, 1}),
                    operand(kernels::RowInput, 0, {0, 0, 0, 1}),
                    operand(kernels::RowInput + 1, 0, {0, 0, 0, 1}),
                    operand(kernels::RowInput + 1, 0, {0, 0, 0, 1}),
                    {1, 1, 1, N}),
             X, Y, N, N};
    sameRows(R, "op " + std::to_string(Op), 3e-6);
  }
}

TEST(HostRowwise, Axes) {
  Floats X = randomFloats(2 * 210, 5), Y = randomFloats(2 * 210, 6);
  X[7] = X[9]; // equal values, for the order of a choice
  X[20] = std::nanf("");
  for (int64_t Op : {kernels::RowSum, kernels::RowMaxOf, kernels::RowMinOf,
                     kernels::RowProd, kernels::RowDot})
    for (bool Last : {false, true}) // axis of 70 (stride 1) or of 3
      sameRows({record(Op, operand(kernels::RowResult, 0, {0, 0, 1, 0}),
                       operand(kernels::RowInput, 0,
                               {0, 0, Last ? 70 : 1, Last ? 1 : 70}),
                       operand(kernels::RowInput + 1, 0,
                               {0, 0, Last ? 70 : 1, Last ? 1 : 70}),
                       {}, {1, 1, Last ? 3 : 70, Last ? 70 : 3}),
                X, Y, 210, 70},
               "op " + std::to_string(Op), 2e-6);
  for (int64_t Mode : {0, 1, 2, 3})
    sameRows({record(kernels::RowCumSum,
                     operand(kernels::RowResult, 0, {0, 0, 70, 1}),
                     operand(kernels::RowInput, 0, {0, 0, 70, 1}), {}, {},
                     {1, 1, 3, 70}, Mode & 1, Mode >> 1),
              X, Y, 210, 210},
             "running sums");
  for (int64_t Largest : {0, 1})
    sameRows(
        {record(kernels::RowTopK, operand(kernels::RowResult, 0, {0, 0, 10, 1}),
                operand(kernels::RowInput, 0, {0, 0, 70, 1}), {},
                operand(kernels::RowResult, 5, {0, 0, 10, 1}), {1, 1, 3, 70}, 5,
                Largest),
         X, Y, 210, 30},
        "choice", 0);
}

TEST(HostRowwise, IndicesAndSeveralRecords) {
  Floats X = randomFloats(3 * 12, 7), Y(3 * 12);
  for (size_t I = 0; I != Y.size(); ++I)
    Y[I] = static_cast<float>(static_cast<int>(I * 7 % 16) - 8);
  for (int64_t Op : {kernels::RowTake, kernels::RowPut, kernels::RowPutAdd}) {
    // Twice the input into scratch, then by index, then a sum over all of it.
    Floats Code =
        record(kernels::RowAdd, operand(kernels::RowScratch, 0, {0, 0, 0, 1}),
               operand(kernels::RowInput, 0, {0, 0, 0, 1}),
               operand(kernels::RowInput, 0, {0, 0, 0, 1}), {}, {1, 1, 1, 12});
    bool Take = Op == kernels::RowTake;
    Floats Second =
        record(Op, operand(kernels::RowResult, 0, {0, 0, 6, Take ? 1 : 0}),
               operand(kernels::RowScratch, 0, {0, 0, 6, Take ? 0 : 1}),
               operand(kernels::RowInput + 1, 0, {0, 0, 6, 1}), {},
               {1, 1, 2, 6}, 1, 6);
    Floats Third = record(
        kernels::RowSum, operand(kernels::RowResult, 12, {0, 0, 0, 0}),
        operand(kernels::RowResult, 0, {0, 0, 0, 1}), {}, {}, {1, 1, 1, 12});
    Code.insert(Code.end(), Second.begin(), Second.end());
    Code.insert(Code.end(), Third.begin(), Third.end());
    sameRows({Code, X, Y, 12, 13}, "op " + std::to_string(Op), 2e-6);
  }
}

TEST(HostSelect, ByLength) {
  KernelRequest R = request("select_by_length", {{"n", 3}, {"threshold", 32}});
  Floats A = randomFloats(9, 1), B = randomFloats(9, 2), Out(9);
  std::vector<int32_t> Lengths = {32, 33, 5};
  LlmcCounts Counts{3, 2, 1, 0, 1, 0};
  Library::get().run(R, 8,
                     {&Counts, Lengths.data(), A.data(), B.data(), Out.data()});
  for (size_t I = 0; I != 9; ++I)
    EXPECT_EQ(Out[I], I / 3 == 1 ? B[I] : A[I]) << I;
}

TEST(HostSelect, TakeRows) {
  KernelRequest R = request(
      "take_rows", {{"n", 45}, {"norm", kernels::NormLayer}}, {{"eps", 1e-5f}});
  Floats X = randomFloats(7 * 45, 1), Gain = randomFloats(45, 2),
         Bias = randomFloats(45, 3), Out(3 * 45);
  std::vector<int32_t> Rows = {1, 2, 6};
  LlmcCounts Counts{7, 7, 1, 3, 1, 0};
  Library::get().run(
      R, 8,
      {&Counts, X.data(), Gain.data(), Bias.data(), Rows.data(), Out.data()});
  for (int64_t I = 0; I != 3; ++I) {
    std::vector<double> Want = normRow(kernels::NormLayer, &X[Rows[I] * 45], 45,
                                       Gain.data(), Bias.data(), 1e-5);
    for (int64_t J = 0; J != 45; ++J)
      near(Out[I * 45 + J], Want[J], 1, "take_rows", I * 45 + J);
  }
}

class ExpertsHost
    : public testing::TestWithParam<std::tuple<int64_t, bool, int64_t>> {};

TEST_P(ExpertsHost, IsTheWeighedSum) {
  auto [WType, Combine, N] = GetParam();
  constexpr int64_t K = 70, Experts = 37, Slots = 3, Tokens = 7;
  Weights W(WType, Experts * N, K, 1);
  Floats Bias = randomFloats(Experts * N, 2), Route(Tokens * Experts, 0.0f);
  Floats X = randomFloats(Tokens * K * (Combine ? Slots : 1), 3);
  for (int64_t T = 0; T != Tokens; ++T) // row 0 has one expert, others three
    for (int64_t S = 0; S != (T == 0 ? 1 : Slots); ++S)
      Route[T * Experts + (T % 2 * 11 + S * 17) % Experts] = 0.25f * (S + 1);
  KernelRequest R = experts({K, N, Experts, Slots, Combine, WType});
  int64_t Width = Combine ? N : Slots * N;
  Floats Out(Tokens * Width, NAN), Many(Tokens * Width, NAN), One(Width),
      Scratch(Tokens * Slots * N);
  LlmcCounts Counts{Tokens, 0, 1, 0, 1, 0};
  Library::get().run(R, 8,
                     {&Counts, X.data(), Route.data(), W.Bytes.data(),
                      Bias.data(), Out.data(), nullptr});
  std::vector<double> Want(Out.size(), 0.0);
  for (int64_t T = 0; T != Tokens; ++T) {
    int64_t Slot = 0;
    for (int64_t E = 0; E != Experts; ++E) {
      float Share = Route[T * Experts + E];
      if (Share == 0.0f)
        continue;
      const float *Row = &X[(Combine ? T * Slots + Slot : T) * K];
      for (int64_t I = 0; I != N; ++I) {
        double Sum = Bias[E * N + I];
        for (int64_t J = 0; J != K; ++J)
          Sum += W.at(E * N + I, J) * Row[J];
        Want[T * Width + (Combine ? 0 : Slot * N) + I] +=
            Combine ? Share * Sum : Sum;
      }
      ++Slot;
    }
  }
  for (size_t I = 0; I != Out.size(); ++I)
    near(Out[I], Want[I], 10, "experts", I);
  Counts.tokens = 1; // a row alone: the same bits
  Library::get().run(R, 1,
                     {&Counts, &X[2 * K * (Combine ? Slots : 1)],
                      &Route[2 * Experts], W.Bytes.data(), Bias.data(),
                      One.data(), nullptr});
  EXPECT_EQ(std::memcmp(One.data(), &Out[2 * Width], Width * 4), 0);
  // As many rows of a large bucket: the same bits, another way.
  Counts.tokens = Tokens;
  EXPECT_EQ(gridOf(R, 32).X, 0u);
  for (R.Stage = 1; R.Stage != stagesOf(R); ++R.Stage)
    Library::get().run(R, 32,
                       {&Counts, X.data(), Route.data(), W.Bytes.data(),
                        Bias.data(), Many.data(), Scratch.data()});
  EXPECT_EQ(std::memcmp(Many.data(), Out.data(), Out.size() * 4), 0);
}

INSTANTIATE_TEST_SUITE_P(Shapes, ExpertsHost,
                         testing::Values(std::tuple{kernels::WF16, false, 16},
                                         std::tuple{kernels::WF16, true, 19},
                                         std::tuple{kernels::WI8B32, true, 8}));

/// Runs Tokens tokens of one sequence in steps of Chunk through Fn(counts,
/// positions, sequences, pages, first token).
template <typename Function>
void steps(uint32_t Tokens, uint32_t Chunk, Function Fn) {
  std::vector<uint32_t> Pages = {2, 0, 1};
  for (uint32_t At = 0; At < Tokens; At += Chunk) {
    uint32_t Count = std::min(Chunk, Tokens - At);
    std::vector<int32_t> Positions(Count), Seq(Count, 0);
    for (uint32_t I = 0; I != Count; ++I)
      Positions[I] = static_cast<int32_t>(At + I);
    LlmcCounts Counts{Count, Count, 1, 0, 3, 0};
    Fn(Counts, Positions, Seq, Pages, At);
  }
}

class ConvHost : public testing::TestWithParam<int64_t> {};

TEST_P(ConvHost, AnyChunks) {
  constexpr uint32_t Tokens = 70;
  constexpr int64_t N = 37, Taps = 4;
  int64_t Kv = GetParam(), Stride = N * 32 * (Kv == kernels::KvF32 ? 4 : 2);
  KernelRequest R = request("causal_conv",
                            {{"n", N},
                             {"taps", Taps},
                             {"activation", kernels::ActSilu},
                             {"kvtype", Kv}},
                            {}, {}, Stride);
  Floats X = randomFloats(Tokens * N, 1), W = randomFloats(N * Taps, 2),
         Bias = randomFloats(N, 3);
  std::vector<Floats> Results;
  for (uint32_t Chunk : {70u, 1u, 9u}) {
    std::vector<uint8_t> Pool(3 * Stride, 0xff); // NaN where unwritten
    Floats Out(Tokens * N);
    steps(Tokens, Chunk,
          [&](LlmcCounts &C, std::vector<int32_t> &P, std::vector<int32_t> &S,
              std::vector<uint32_t> &Pages, uint32_t At) {
            for (R.Stage = 0; R.Stage != stagesOf(R); ++R.Stage)
              Library::get().run(R, Chunk,
                                 {&C, P.data(), S.data(), Pages.data(),
                                  &X[At * N], Pool.data(), W.data(),
                                  Bias.data(), &Out[At * N]});
          });
    Results.push_back(Out);
  }
  for (int64_t T = 0; T != Tokens; ++T)
    for (int64_t I = 0; I != N; ++I) {
      double Sum = Bias[I];
      for (int64_t J = 0; J != Taps; ++J)
        if (T - Taps + 1 + J >= 0) {
          float V = X[(T - Taps + 1 + J) * N + I];
          if (Kv != kernels::KvF32)
            V = f16ToFloat(floatToF16(V));
          Sum += static_cast<double>(W[I * Taps + J]) * V;
        }
      near(Results[0][T * N + I], act(kernels::ActSilu, Sum), 1, "conv",
           T * N + I);
    }
  EXPECT_EQ(Results[0], Results[1]);
  EXPECT_EQ(Results[0], Results[2]);
}

INSTANTIATE_TEST_SUITE_P(Caches, ConvHost,
                         testing::Values(kernels::KvF32, kernels::KvF16));

struct LinearCase {
  int64_t Dk, Dv, DecayDim;
  bool Delta, Beta;
};

class LinearAttentionHost : public testing::TestWithParam<LinearCase> {};

TEST_P(LinearAttentionHost, AnyChunks) {
  const LinearCase &C = GetParam();
  constexpr uint32_t Tokens = 70;
  constexpr int64_t Heads = 4, Kv = 2;
  int64_t Block = C.Dk * C.Dv * 4 + 64, Stride = Kv * Block;
  KernelRequest R = request("linear_attention",
                            {{"heads", Heads},
                             {"kv_heads", Kv},
                             {"head_dim", C.Dk},
                             {"v_head_dim", C.Dv},
                             {"decay_dim", C.DecayDim},
                             {"delta", C.Delta},
                             {"block", Block}},
                            {{"scale", 0.35f}}, {}, Stride);
  std::span<const std::string_view> Names =
      kernels::findKernel("linear_attention")->Buffers;
  for (size_t I = 0; I != Names.size(); ++I)
    if ((Names[I] == "decay" && !C.DecayDim) || (Names[I] == "beta" && !C.Beta))
      R.Present[I] = false;
  Floats Q = randomFloats(Tokens * Heads * C.Dk, 1),
         K = randomFloats(Tokens * Kv * C.Dk, 2, 0.3f),
         V = randomFloats(Tokens * Kv * C.Dv, 3),
         G = randomFloats(Tokens * Kv * std::max<int64_t>(C.DecayDim, 1), 4),
         B = randomFloats(Tokens * Kv, 5, 0.3f);
  for (float &X : G)
    X = -0.1f * std::fabs(X);
  std::vector<Floats> Results;
  for (uint32_t Chunk : {70u, 1u, 9u}) {
    std::vector<uint8_t> Pool(3 * Stride, 0xff);
    Floats Out(Tokens * Heads * C.Dv);
    steps(Tokens, Chunk,
          [&](LlmcCounts &Counts, std::vector<int32_t> &P,
              std::vector<int32_t> &S, std::vector<uint32_t> &Pages,
              uint32_t At) {
            Library::get().run(R, Chunk,
                               {&Counts, P.data(), S.data(), Pages.data(),
                                &Q[At * Heads * C.Dk], &K[At * Kv * C.Dk],
                                &V[At * Kv * C.Dv],
                                C.DecayDim ? &G[At * Kv * C.DecayDim] : nullptr,
                                C.Beta ? &B[At * Kv] : nullptr, Pool.data(),
                                &Out[At * Heads * C.Dv]});
          });
    Results.push_back(Out);
  }
  for (int64_t H = 0; H != Kv; ++H) {
    std::vector<double> S(C.Dk * C.Dv, 0.0);
    for (int64_t T = 0; T != Tokens; ++T) {
      int64_t Unit = T * Kv + H;
      for (int64_t J = 0; J != C.Dv; ++J) {
        double Sum = 0;
        for (int64_t I = 0; I != C.Dk; ++I) {
          if (C.DecayDim)
            S[I * C.Dv + J] *= std::exp(static_cast<double>(
                G[Unit * C.DecayDim + (C.DecayDim > 1 ? I : 0)]));
          Sum += K[Unit * C.Dk + I] * S[I * C.Dv + J];
        }
        double New = V[Unit * C.Dv + J] - (C.Delta ? Sum : 0);
        New *= C.Beta ? B[Unit] : 1;
        for (int64_t I = 0; I != C.Dk; ++I)
          S[I * C.Dv + J] += K[Unit * C.Dk + I] * New;
        for (int64_t Query = Unit * 2; Query != Unit * 2 + 2; ++Query) {
          double O = 0;
          for (int64_t I = 0; I != C.Dk; ++I)
            O += Q[Query * C.Dk + I] * S[I * C.Dv + J];
          near(Results[0][Query * C.Dv + J], O * 0.35f, 3, "linear attention",
               Query * C.Dv + J);
        }
      }
    }
  }
  EXPECT_EQ(Results[0], Results[1]);
  EXPECT_EQ(Results[0], Results[2]);
}

INSTANTIATE_TEST_SUITE_P(Forms, LinearAttentionHost,
                         testing::Values(LinearCase{8, 20, 0, false, false},
                                         LinearCase{16, 40, 1, true, true},
                                         LinearCase{24, 33, 24, true, true},
                                         LinearCase{260, 17, 1, false, true}));
} // namespace
