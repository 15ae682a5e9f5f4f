// The kernels that write a cache of codes, compiled for the host.
#include "compiler/kernels/CudaScratch.h"
#include "test/compiler/cuda/HostRun.h"

using namespace llmc;
using namespace llmc::cuda;
using namespace llmc::test;

namespace {
constexpr int64_t Page = 32, D = 40, V = 70, KvHeads = 2, Group = 3;
constexpr int64_t HeadBytes = kernels::kvBlockBytes(D, V, Page, 8);
constexpr int64_t Stride = KvHeads * HeadBytes;
const std::vector<int32_t> Positions = {0, 5, 40}, Seq = {0, 0, 0};
const std::vector<uint32_t> Pages = {2, 1};
const LlmcCounts Counts{3, 0, 1, 0, 2, 0};

/// The codes and the scale of a token's head are those of Exact.
void expectCodes(const std::vector<uint8_t> &Pool, int64_t Row, int64_t Head,
                 bool Value, const std::vector<double> &Exact) {
  int64_t Dim = Value ? V : D, Token = Positions[Row] % Page;
  const uint8_t *At =
      &Pool[Pages[Positions[Row] / Page] * Stride + Head * HeadBytes];
  float Scale;
  std::memcpy(&Scale, At + (D + V) * Page + ((Value ? Page : 0) + Token) * 4,
              4);
  double Max = 0;
  for (double X : Exact)
    Max = std::max(Max, std::abs(X));
  EXPECT_NEAR(Scale, Max / 127, 1e-6 * Max);
  for (int64_t I = 0; I != Dim; ++I) {
    int8_t Code =
        static_cast<int8_t>(At[(Value ? D * Page : 0) + Token * Dim + I]);
    EXPECT_LE(std::abs(Code), 127);
    EXPECT_NEAR(Code * Scale, Exact[I], 0.5001 * Scale + 1e-9)
        << "row " << Row << " head " << Head << " feature " << I;
  }
}

TEST(HostKvCodes, KvWrite) {
  Floats K = randomFloats(3 * KvHeads * D, 1, 3.0f),
         W = randomFloats(3 * KvHeads * V, 2, 0.01f);
  std::fill_n(W.begin(), V, 0.0f); // a head of zeros
  std::vector<uint8_t> Pool(3 * Stride, 0xff);
  Library::get().run(request("kv_write",
                             {{"kv_heads", KvHeads},
                              {"head_dim", D},
                              {"v_head_dim", V},
                              {"kvtype", kernels::KvI8}},
                             {}, {}, Stride),
                     3,
                     {&Counts, Positions.data(), Seq.data(), Pages.data(),
                      K.data(), W.data(), Pool.data()});
  for (int64_t R = 0; R != 3; ++R)
    for (int64_t H = 0; H != KvHeads; ++H) {
      const float *Key = &K[(R * KvHeads + H) * D];
      const float *Value = &W[(R * KvHeads + H) * V];
      expectCodes(Pool, R, H, false, {Key, Key + D});
      expectCodes(Pool, R, H, true, {Value, Value + V});
    }
}

TEST(HostKvCodes, QkvFinish) {
  constexpr int64_t GroupRows = (Group + 1) * D + V, Half = 12;
  for (int64_t Interleaved : {0, 1}) {
    Floats X = randomFloats(3 * KvHeads * GroupRows, 3),
           Rope = randomFloats(3 * 2 * Half, 4), Q(3 * Group * KvHeads * D);
    std::vector<uint8_t> Pool(3 * Stride, 0xff);
    Library::get().run(request("qkv_finish",
                               {{"heads", Group * KvHeads},
                                {"kv_heads", KvHeads},
                                {"head_dim", D},
                                {"v_head_dim", V},
                                {"rotary_half", Half},
                                {"interleaved", Interleaved},
                                {"kvtype", kernels::KvI8}},
                               {}, {}, Stride),
                       3,
                       {&Counts, Positions.data(), Seq.data(), Pages.data(),
                        X.data(), Rope.data(), Pool.data(), Q.data()});
    for (int64_t R = 0; R != 3; ++R)
      for (int64_t H = 0; H != KvHeads; ++H)
        for (int64_t I = 0; I != Group + 2; ++I) {
          const float *From = &X[(R * KvHeads + H) * GroupRows + I * D];
          std::vector<double> Head(From, From + (I == Group + 1 ? V : D));
          if (I != Group + 1)
            rotate(Head, &Rope[R * 2 * Half], Half, Interleaved);
          if (I >= Group) {
            expectCodes(Pool, R, H, I != Group, Head);
            continue;
          }
          for (int64_t E = 0; E != D; ++E)
            near(Q[((R * KvHeads + H) * Group + I) * D + E], Head[E], 1, "q",
                 E);
        }
  }
}
} // namespace
