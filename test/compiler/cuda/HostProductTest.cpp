// Products of the kernel text (linear, logits, qkv) and embed, compiled for the
// host, against a double-precision reference on odd shapes; and the promise
// that a row's bits do not depend on the rows beside it.
#include "test/compiler/cuda/HostRun.h"

using namespace llmc;
using namespace llmc::cuda;
using namespace llmc::test;

namespace {
constexpr int64_t F16 = kernels::WF16, I8 = kernels::WI8B32;

struct LinearCase {
  int64_t K, N, WType, Norm, Glu, Act;
  bool Bias, Residual;
  uint32_t Rows;
};

class LinearHost : public testing::TestWithParam<LinearCase> {};

TEST_P(LinearHost, MatchesDouble) {
  const LinearCase &C = GetParam();
  int64_t Outputs = C.Glu ? C.N / 2 : C.N;
  std::vector<std::string_view> Absent;
  KernelRequest R = linear({C.K, C.N, C.WType, C.Norm, C.Glu, C.Act}, 1e-5f);
  R.Present[1] = C.Norm != 0;
  R.Present[2] = C.Norm == kernels::NormLayer;
  R.Present[4] = C.Bias;
  R.Present[5] = C.Residual;
  Weights W(C.WType, C.N, C.K, 3);
  Floats X = randomFloats(C.Rows * C.K, 1), Gain = randomFloats(C.K, 5),
         NormBias = randomFloats(C.K, 6), Bias = randomFloats(C.N, 7),
         Residual = randomFloats(C.Rows * Outputs, 8);
  Floats Out(C.Rows * Outputs + 1, 77.0f), One(Outputs);
  LlmcCounts Counts{C.Rows, 0, 1, 0, 0, 0};
  Library::get().run(R, C.Rows,
                     {&Counts, X.data(), R.Present[1] ? Gain.data() : nullptr,
                      R.Present[2] ? NormBias.data() : nullptr, W.Bytes.data(),
                      C.Bias ? Bias.data() : nullptr,
                      C.Residual ? Residual.data() : nullptr, Out.data()});
  EXPECT_EQ(Out.back(), 77.0f) << "wrote past the end";
  for (uint32_t T = 0; T != C.Rows; ++T) {
    std::vector<double> Row =
        normRow(C.Norm, &X[T * C.K], C.K, Gain.data(),
                R.Present[2] ? NormBias.data() : nullptr, 1e-5);
    auto Dot = [&](int64_t N, double &Size) {
      double Sum = C.Bias ? Bias[N] : 0;
      for (int64_t K = 0; K != C.K; ++K) {
        Sum += Row[K] * W.at(N, K);
        Size += std::fabs(Row[K] * W.at(N, K));
      }
      return Sum;
    };
    for (int64_t N = 0; N != Outputs; ++N) {
      double Size = 0, Expected;
      if (C.Glu) {
        int64_t Gate = N / 16 * 32 + N % 16;
        Expected = act(C.Glu, Dot(Gate, Size)) * Dot(Gate + 16, Size);
      } else {
        Expected = act(C.Act, Dot(N, Size));
      }
      Expected += C.Residual ? Residual[T * Outputs + N] : 0;
      near(Out[T * Outputs + N], Expected, Size, "linear", T * Outputs + N);
    }
    // The row alone gives the same bits.
    LlmcCounts Alone{1, 0, 1, 0, 0, 0};
    Library::get().run(
        R, 1,
        {&Alone, &X[T * C.K], R.Present[1] ? Gain.data() : nullptr,
         R.Present[2] ? NormBias.data() : nullptr, W.Bytes.data(),
         C.Bias ? Bias.data() : nullptr,
         C.Residual ? &Residual[T * Outputs] : nullptr, One.data()});
    EXPECT_EQ(std::memcmp(One.data(), &Out[T * Outputs], Outputs * 4), 0)
        << "row " << T << " alone differs";
  }
}

INSTANTIATE_TEST_SUITE_P(
    Shapes, LinearHost,
    testing::Values(LinearCase{64, 32, F16, 0, 0, 0, false, false, 5},
                    LinearCase{99, 33, F16, 2, 0, 2, true, true, 3},
                    LinearCase{98, 7, F16, 1, 0, 4, true, false, 2},
                    LinearCase{1100, 16, F16, 1, 0, 0, false, true, 6},
                    LinearCase{576, 64, I8, 1, 1, 0, false, false, 9},
                    LinearCase{100, 33, I8, 2, 0, 3, true, true, 4},
                    LinearCase{1056, 10, I8, 0, 0, 7, false, false, 1},
                    LinearCase{2080, 96, I8, 1, 3, 0, true, true, 2}));

TEST(Host, Logits) {
  int64_t K = 96, N = 45;
  KernelRequest R = request(
      "logits",
      {{"k", K}, {"n", N}, {"wtype", I8}, {"xpolicy", 0}, {"norm", 1}},
      {{"eps", 1e-5f}, {"multiplier", 0.5f}, {"softcap", 3.0f}}, {"norm_bias"});
  Weights W(I8, N, K, 11);
  Floats X = randomFloats(9 * K, 1), Gain = randomFloats(K, 2),
         Bias = randomFloats(N, 3), Out(6 * N, 0);
  std::vector<int32_t> Rows = {0, 1, 3, 4, 7, 8};
  LlmcCounts Counts{9, 0, 1, 6, 0, 0};
  Library::get().run(R, 9,
                     {&Counts, X.data(), Gain.data(), nullptr, W.Bytes.data(),
                      Bias.data(), Rows.data(), Out.data()});
  for (int64_t I = 0; I != 6; ++I) {
    std::vector<double> Row =
        normRow(1, &X[Rows[I] * K], K, Gain.data(), nullptr, 1e-5);
    for (int64_t J = 0; J != N; ++J) {
      double Sum = Bias[J], Size = 0;
      for (int64_t C = 0; C != K; ++C) {
        Sum += Row[C] * W.at(J, C);
        Size += std::fabs(Row[C] * W.at(J, C));
      }
      near(Out[I * N + J], 3 * std::tanh(0.5 * Sum / 3), Size, "logits",
           I * N + J);
    }
  }
}

TEST(Host, EmbedBothTypes) {
  for (int64_t Type : {F16, I8})
    for (int64_t Hidden : {64, 99}) {
      KernelRequest R =
          request("embed", {{"vocab", 50}, {"hidden", Hidden}, {"wtype", Type}},
                  {{"scale", 2.0f}});
      Weights W(Type, 50, Hidden, 4);
      std::vector<int32_t> Ids = {49, 0, 7};
      Floats Out(4 * Hidden, 9.0f);
      LlmcCounts Counts{3, 0, 1, 0, 0, 0};
      Library::get().run(R, 4,
                         {&Counts, Ids.data(), W.Bytes.data(), Out.data()});
      for (int64_t T = 0; T != 3; ++T)
        for (int64_t I = 0; I != Hidden; ++I)
          EXPECT_EQ(Out[T * Hidden + I], 2.0f * W.Value[Ids[T] * Hidden + I]);
      EXPECT_EQ(Out[3 * Hidden], 9.0f) << "a row past T was written";
    }
}

TEST(Host, QkvRopeAndCache) {
  constexpr int64_t Heads = 4, KvHeads = 2, D = 12, V = 9, K = 40, Page = 32;
  for (int64_t Half : {6, 4, 0})
    for (int64_t Interleaved : {0, 1})
      for (int64_t Kv : {0, 1}) {
        int64_t Bytes = Kv ? 2 : 4;
        int64_t HeadBytes = (D + V) * Page * Bytes,
                Stride = 2 * KvHeads * HeadBytes; // two layers
        KernelRequest R = request("qkv",
                                  {{"k", K},
                                   {"heads", Heads},
                                   {"kv_heads", KvHeads},
                                   {"head_dim", D},
                                   {"v_head_dim", V},
                                   {"rotary_half", Half},
                                   {"interleaved", Interleaved},
                                   {"wtype", F16},
                                   {"xpolicy", 0},
                                   {"norm", 1},
                                   {"kvtype", Kv}},
                                  {{"eps", 1e-6f}}, {"norm_bias"}, Stride);
        int64_t GroupRows = 3 * D + V, N = KvHeads * GroupRows;
        Weights W(F16, N, K, 21);
        Floats X = randomFloats(5 * K, 1), Gain = randomFloats(K, 2),
               Bias = randomFloats(N, 3), Rope = randomFloats(5 * 2 * 6, 4),
               Q(5 * Heads * D);
        std::vector<int32_t> Positions = {0, 33, 34, 7, 31},
                             Seq = {0, 0, 0, 1, 1};
        std::vector<uint32_t> Pages = {2, 0, 1, 3};
        std::vector<uint8_t> Pool(4 * Stride, 0xee);
        LlmcCounts Counts{5, 5, 2, 0, 2, 0};
        Library::get().run(R, 8,
                           {&Counts, Positions.data(), Seq.data(), Pages.data(),
                            X.data(), Gain.data(), nullptr, W.Bytes.data(),
                            Bias.data(), Half ? Rope.data() : nullptr,
                            Pool.data(), Q.data()});
        for (int64_t T = 0; T != 5; ++T) {
          std::vector<double> Row =
              normRow(1, &X[T * K], K, Gain.data(), nullptr, 1e-6);
          uint8_t *At =
              Pool.data() + Pages[Seq[T] * 2 + Positions[T] / Page] * Stride;
          for (int64_t G = 0; G != KvHeads; ++G)
            for (int64_t H = 0; H != 4; ++H) { // 2 q heads, k, v
              int64_t Dim = H == 3 ? V : D;
              std::vector<double> Head(Dim);
              for (int64_t I = 0; I != Dim; ++I) {
                int64_t Packed = G * GroupRows + H * D + I;
                Head[I] = Bias[Packed];
                for (int64_t C = 0; C != K; ++C)
                  Head[I] += Row[C] * W.at(Packed, C);
              }
              if (H != 3)
                rotate(Head, &Rope[T * 2 * Half], Half, Interleaved);
              for (int64_t I = 0; I != Dim; ++I) {
                float Found;
                if (H < 2) {
                  Found = Q[(T * Heads + G * 2 + H) * D + I];
                } else {
                  int64_t Element =
                      H == 2 ? Positions[T] % Page * D + I
                             : D * Page + Positions[T] % Page * V + I;
                  uint8_t *P = At + G * HeadBytes + Element * Bytes;
                  uint16_t Short;
                  std::memcpy(&Short, P, 2);
                  std::memcpy(&Found, P, 4);
                  if (Kv)
                    Found = f16ToFloat(Short);
                }
                EXPECT_NEAR(Found, Head[I], H >= 2 && Kv ? 2e-2 : 1e-4)
                    << "half " << Half << " row " << T << " head " << H;
              }
            }
        }
      }
}

} // namespace
