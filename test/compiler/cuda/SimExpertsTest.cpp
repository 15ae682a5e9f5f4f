// experts as mma products on the simulator: both forms against double precision
// and bit for bit against one another, with rows that have fewer experts than
// slots and experts without rows.
#include "test/compiler/cuda/SimRun.h"
#include "tools/cudasim/exec/Machine.h"
#include "tools/cudasim/profile/Profile.h"

#include <cstdlib>

using namespace llmc;
using namespace llmc::cuda;
using namespace llmc::test;

namespace {

struct Case {
  int64_t K, N, WType, Experts, Slots;
  bool Combine, Bias;
};
constexpr uint32_t Tokens = 75;
constexpr int64_t W8 =
    kernels::numberOf(kernels::Int8Format) | kernels::FragmentFlag;
constexpr int64_t W4 =
    kernels::numberOf(kernels::Int4Format) | kernels::FragmentFlag;

KernelRequest requestOf(const Case &C) {
  KernelRequest R = experts({C.K, C.N, C.Experts, C.Slots, C.Combine, C.WType});
  R.Present[3] = C.Bias;
  return R;
}

/// Most rows have all their slots, some fewer; the last expert has no rows.
Floats routes(const Case &C) {
  Floats Route(static_cast<size_t>(Tokens * C.Experts), 0.0f);
  for (int64_t T = 0; T != Tokens; ++T)
    for (int64_t S = 0; S != (T % 7 == 3 ? C.Slots - 1 : C.Slots); ++S)
      Route[static_cast<size_t>(T * C.Experts +
                                (T % 5 + S * 3) % (C.Experts - 1))] =
          0.25f * static_cast<float>(S + 1);
  return Route;
}

class ExpertsSim : public testing::TestWithParam<Case> {};

TEST_P(ExpertsSim, BothFormsMatchDoubleAndEachOther) {
  if (!hasNvrtc())
    GTEST_SKIP() << "no NVRTC";
  const Case &C = GetParam();
  SimContext Context;
  SimPhase Phase(requestOf(C), {8, 128});
  if (HasFatalFailure())
    return;
  int64_t XRow = C.K * (C.Combine ? C.Slots : 1);
  int64_t OutRow = C.N * (C.Combine ? 1 : C.Slots);
  FragmentWeights W(C.WType, C.Experts * C.N, C.K, 3);
  Floats X = randomFloats(static_cast<size_t>(Tokens * XRow), 1),
         Bias = randomFloats(static_cast<size_t>(C.Experts * C.N), 2),
         Route = routes(C);
  SimBuffer DX(X), DRoute(Route), DW(W.Bytes), DBias(Bias),
      DXq(std::vector<uint8_t>(
          static_cast<size_t>(
              128 * kernels::fragmentExpertBytes(C.K, C.N, C.Slots, C.Combine)),
          0xff));
  Floats First;
  Phase.runAll(Tokens, OutRow, First, [&](const SimPhase::Piece &P) {
    return std::vector<DeviceAddress>{
        P.Counts,   DX.row(P.Begin, XRow),      DRoute.row(P.Begin, C.Experts),
        DW.Address, C.Bias ? DBias.Address : 0, P.Out,
        DXq.Address};
  });
  if (HasFatalFailure())
    return;
  for (int64_t T = 0; T != Tokens; ++T) {
    std::vector<double> Want(static_cast<size_t>(OutRow), 0.0);
    int64_t Slot = 0;
    for (int64_t E = 0; E != C.Experts; ++E) {
      float Share = Route[static_cast<size_t>(T * C.Experts + E)];
      if (Share == 0)
        continue;
      const float *Row = &X[static_cast<size_t>(T * XRow) +
                            static_cast<size_t>(C.Combine ? Slot * C.K : 0)];
      for (int64_t N = 0; N != C.N; ++N) {
        double Sum = C.Bias ? Bias[static_cast<size_t>(E * C.N + N)] : 0;
        for (int64_t K = 0; K != C.K; ++K)
          Sum += static_cast<double>(C.WType == kernels::WM16BF16
                                         ? bf16ToFloat(floatToBf16(Row[K]))
                                         : f16ToFloat(floatToF16(Row[K]))) *
                 W.at(E * C.N + N, K);
        if (C.Combine)
          Want[static_cast<size_t>(N)] += static_cast<double>(Share) * Sum;
        else
          Want[static_cast<size_t>(Slot * C.N + N)] = Sum;
      }
      ++Slot;
    }
    for (int64_t I = 0; I != OutRow; ++I)
      ASSERT_NEAR(First[static_cast<size_t>(T * OutRow + I)],
                  Want[static_cast<size_t>(I)], 2e-4)
          << "row " << T << " at " << I;
  }
}

/// Counters as a GPU would have them: nothing waits for a bank.
TEST(ProductSim, ExpertsHaveNoBankConflicts) {
  if (!hasNvrtc())
    GTEST_SKIP() << "no NVRTC";
  setenv("LLMC_CUDASIM_PROFILE", "/dev/null", 1);
  cudasim::reloadSettings();
  {
    SimContext Context;
    Case C{128, 128, W8, 4, 2, true, false};
    SimPhase Phase(requestOf(C), {8, 128});
    if (HasFatalFailure())
      return;
    FragmentWeights W(C.WType, C.Experts * C.N, C.K, 3);
    SimBuffer DX(randomFloats(static_cast<size_t>(Tokens * C.K * 2), 1)),
        DRoute(routes(C)), DW(W.Bytes),
        DOut(nullptr, static_cast<size_t>(Tokens * C.N * 4)),
        DXq(nullptr, static_cast<size_t>(128 * kernels::fragmentExpertBytes(
                                                   C.K, C.N, C.Slots, true)));
    for (size_t Bucket = 0; Bucket != 2; ++Bucket) {
      LlmcCounts Counts{Bucket == 0 ? 8u : Tokens, 0, 1, 0, 0, 0};
      SimBuffer DCounts(&Counts, sizeof(Counts));
      Phase.run(Bucket, {DCounts.Address, DX.Address, DRoute.Address,
                         DW.Address, 0, DOut.Address, DXq.Address});
    }
    for (const auto &[Name, Of] : cudasim::profileCounters())
      EXPECT_EQ(Of.SharedConflicts, 0u) << Name;
  }
  unsetenv("LLMC_CUDASIM_PROFILE");
  cudasim::reloadSettings();
}

INSTANTIATE_TEST_SUITE_P(
    Shapes, ExpertsSim,
    testing::Values(Case{70, 48, W8, 8, 2, false, true},
                    Case{96, 16, W4, 5, 3, true, true},
                    Case{128, 80, kernels::WM16F16, 6, 2, true, false},
                    Case{64, 32, kernels::WM16BF16, 40, 2, false, false}));
} // namespace
