// attention_rounded compiled for the host, against double precision.
#include "test/compiler/cuda/HostRun.h"

using namespace llmc;
using namespace llmc::cuda;
using namespace llmc::test;

namespace {
constexpr int64_t Page = 32, Context = 300, D = 20, V = 36, KvHeads = 2,
                  Heads = 4, HeadFloats = (D + V) * Page,
                  PagesPerSeq = (Context + Page - 1) / Page;
const std::vector<int32_t> Positions = {0, 31, 32, 255, 299},
                           Seq = {0, 0, 0, 0, 0};

struct Steps {
  float Score, Prob;
  double score(double X) const { return rounded(X, Score, -20, 90); }
  double prob(double X) const { return rounded(X, Prob, 0, 255); }
  static double rounded(double X, double Step, double Low, double High) {
    if (Step == 0)
      return X;
    return std::max(std::min(std::nearbyint(X / Step), High), Low) * Step;
  }
};

struct Cache {
  Floats Memory = Floats(PagesPerSeq * KvHeads * HeadFloats, NAN);
  std::vector<uint32_t> Table = std::vector<uint32_t>(PagesPerSeq);
  Cache() {
    Floats Random = randomFloats(Context * KvHeads * (D + V), 1);
    for (int64_t I = 0; I != PagesPerSeq; ++I)
      Table[I] = static_cast<uint32_t>((I * 7 + 3) % PagesPerSeq);
    for (int64_t T = 0; T != Context; ++T)
      for (int64_t G = 0; G != KvHeads; ++G)
        for (int64_t I = 0; I != D + V; ++I)
          at(T, G, I) = Random[(T * KvHeads + G) * (D + V) + I];
  }
  /// Features from D on are those of the value.
  float &at(int64_t T, int64_t G, int64_t I) {
    float *Block = &Memory[(Table[T / Page] * KvHeads + G) * HeadFloats];
    return I < D ? Block[T % Page * D + I]
                 : Block[Page * D + T % Page * V + I - D];
  }
};

/// What one head of a row comes to.
std::vector<double> exact(Cache &C, const float *Q, int64_t G, int64_t Last,
                          float Sink, const Steps &By) {
  int64_t First = std::max<int64_t>(0, Last - 199);
  std::vector<double> Score(Last + 1), Value(V, 0.0);
  double Max = -1e30, Sum = 0;
  for (int64_t T = First; T <= Last; ++T) {
    double X = 0;
    for (int64_t I = 0; I != D; ++I)
      X += static_cast<double>(Q[I]) * C.at(T, G, I);
    Score[T] = 5 * std::tanh(By.score(X * 0.3f) / 5);
    Max = std::max(Max, Score[T]);
  }
  for (int64_t T = First; T <= Last; ++T)
    Sum += std::exp(Score[T] - Max);
  Sum += std::exp(Sink - Max);
  for (int64_t T = First; T <= Last; ++T)
    for (int64_t I = 0; I != V; ++I)
      Value[I] += By.prob(std::exp(Score[T] - Max) / Sum) * C.at(T, G, D + I);
  return Value;
}

void check(const Steps &By, double Most, double Mean) {
  Cache C;
  Floats Q = randomFloats(5 * Heads * D, 9), Sinks = randomFloats(Heads, 4),
         Out(5 * Heads * V), One(Heads * V);
  KernelRequest R = request("attention_rounded",
                            {{"heads", Heads},
                             {"kv_heads", KvHeads},
                             {"head_dim", D},
                             {"v_head_dim", V},
                             {"window", 200},
                             {"chunk", 0},
                             {"kvtype", kernels::KvF32}},
                            {{"scale", 0.3f},
                             {"softcap", 5.0f},
                             {"score_step", By.Score},
                             {"score_low", -20.0f},
                             {"score_high", 90.0f},
                             {"prob_step", By.Prob},
                             {"prob_low", 0.0f},
                             {"prob_high", 255.0f}},
                            {"slopes"}, KvHeads * HeadFloats * 4);
  LlmcCounts Counts{5, 0, 1, 0, static_cast<uint32_t>(PagesPerSeq), 0};
  Library::get().run(R, 8,
                     {&Counts, Positions.data(), Seq.data(), C.Table.data(),
                      Q.data(), C.Memory.data(), Out.data(), nullptr,
                      Sinks.data()});
  double Sum = 0;
  for (int64_t T = 0; T != 5; ++T)
    for (int64_t H = 0; H != Heads; ++H) {
      std::vector<double> Value =
          exact(C, &Q[(T * Heads + H) * D], H / 2, Positions[T], Sinks[H], By);
      for (int64_t I = 0; I != V; ++I) {
        double Error = std::abs(Out[(T * Heads + H) * V + I] - Value[I]);
        Sum += Error;
        EXPECT_LE(Error, Most) << "row " << T << " head " << H;
      }
    }
  EXPECT_LE(Sum / static_cast<double>(Out.size()), Mean);
  // A row alone: the same bits.
  Counts.tokens = 1;
  Library::get().run(R, 1,
                     {&Counts, &Positions[3], Seq.data(), C.Table.data(),
                      &Q[3 * Heads * D], C.Memory.data(), One.data(), nullptr,
                      Sinks.data()});
  EXPECT_EQ(std::memcmp(One.data(), &Out[3 * Heads * V], One.size() * 4), 0);
}

TEST(HostRounded, ExactWithoutSteps) { check({0.0f, 0.0f}, 3e-6, 1e-6); }

/// A number between two multiples may be rounded to the other one.
TEST(HostRounded, Steps) { check({0.05f, 1.0f / 255}, 2e-2, 1e-4); }
} // namespace
