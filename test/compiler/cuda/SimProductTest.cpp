// The mma products on the simulator: every form against double precision on odd
// shapes, and bit for bit against one another: a row's bits depend neither on
// the rows beside it nor on the form that its bucket takes.
#include "compiler/target/cuda/EarlyLaunch.h"
#include "test/compiler/cuda/SimRun.h"

#include "tools/cudasim/exec/Machine.h"
#include "tools/cudasim/profile/Profile.h"

#include <cstdlib>

using namespace llmc;
using namespace llmc::cuda;
using namespace llmc::test;

namespace {
using kernels::CodeKind;
using kernels::ZeroKind;

constexpr int64_t codes(int Bits, bool Half, ZeroKind Zero, uint32_t Block) {
  return kernels::numberOf({CodeKind::Integer, static_cast<uint8_t>(Bits), Half,
                            Zero, Block}) |
         kernels::FragmentFlag;
}
constexpr int64_t floats(CodeKind Kind, bool Half, uint32_t Block) {
  return kernels::numberOf({Kind, 8, Half, ZeroKind::None, Block}) |
         kernels::FragmentFlag;
}
constexpr int64_t F16 = kernels::WM16F16, BF16 = kernels::WM16BF16;
constexpr int64_t W8 = codes(8, true, ZeroKind::Middle, 32);

struct Case {
  int64_t K, N, WType, Norm, Glu, Act;
  bool Bias, Residual;
  int Number = 0;
};

KernelRequest linearRequest(const Case &C) {
  KernelRequest R = linear({C.K, C.N, C.WType, C.Norm, C.Glu, C.Act}, 1e-5f);
  R.Present[1] = C.Norm != 0;
  R.Present[2] = C.Norm == kernels::NormLayer;
  R.Present[4] = C.Bias;
  R.Present[5] = C.Residual;
  R.Present[7] = true;
  return R;
}

/// The row as the product sees it: normed in double, rounded once.
std::vector<double> operandRow(const Case &C, const float *X, const float *Gain,
                               const float *NormBias) {
  std::vector<double> Row =
      normRow(C.Norm, X, C.K, Gain,
              C.Norm == kernels::NormLayer ? NormBias : nullptr, 1e-5);
  for (double &V : Row) {
    float F = static_cast<float>(V);
    V = C.WType == BF16 ? bf16ToFloat(floatToBf16(F))
                        : f16ToFloat(floatToF16(F));
  }
  return Row;
}

/// The fast set (LLMC_SLOW unset) takes a part of the shapes.
bool skipped(int Number, int FastOnes) {
  const char *V = std::getenv("LLMC_SLOW");
  return !(V && *V) && Number >= FastOnes;
}

class LinearSim : public testing::TestWithParam<Case> {};

TEST_P(LinearSim, AllFormsMatchDoubleAndOneAnother) {
  if (!hasNvrtc())
    GTEST_SKIP() << "no NVRTC";
  const Case &C = GetParam();
  if (skipped(C.Number, 4))
    GTEST_SKIP() << "slow";
  constexpr uint32_t Rows = 65;
  SimContext Context;
  KernelRequest R = linearRequest(C);
  SimPhase Phase(R, {8, 32, 64, 128});
  if (HasFatalFailure())
    return;
  int64_t Outputs = C.Glu ? C.N / 2 : C.N;
  size_t OutCount = static_cast<size_t>(Rows * Outputs);
  FragmentWeights W(C.WType, C.N, C.K, 3);
  Floats X = randomFloats(static_cast<size_t>(Rows * C.K), 1),
         Gain = randomFloats(static_cast<size_t>(C.K), 5),
         NormBias = randomFloats(static_cast<size_t>(C.K), 6),
         Bias = randomFloats(static_cast<size_t>(C.N), 7),
         Residual = randomFloats(OutCount, 8);
  SimBuffer DX(X), DGain(Gain), DNormBias(NormBias), DW(W.Bytes), DBias(Bias),
      DResidual(Residual),
      DXq(std::vector<uint8_t>(
          static_cast<size_t>(128 * ((C.K + 63) / 64 * 128)), 0xff));
  Floats First;
  Phase.runAll(Rows, Outputs, First, [&](const SimPhase::Piece &P) {
    return std::vector<DeviceAddress>{
        P.Counts,
        DX.row(P.Begin, C.K),
        R.Present[1] ? DGain.Address : 0,
        R.Present[2] ? DNormBias.Address : 0,
        DW.Address,
        C.Bias ? DBias.Address : 0,
        C.Residual ? DResidual.row(P.Begin, Outputs) : 0,
        P.Out,
        DXq.Address};
  });
  if (HasFatalFailure())
    return;
  double Worst = 0;
  for (uint32_t T = 0; T != Rows; ++T) {
    std::vector<double> Row = operandRow(C, &X[static_cast<size_t>(T * C.K)],
                                         Gain.data(), NormBias.data());
    auto Dot = [&](int64_t N, double &Size) {
      double Sum = C.Bias ? Bias[static_cast<size_t>(N)] : 0;
      for (int64_t K = 0; K != C.K; ++K) {
        double P = Row[static_cast<size_t>(K)] * W.at(N, K);
        Sum += P;
        Size += std::fabs(P);
      }
      return Sum;
    };
    for (int64_t N = 0; N != Outputs; ++N) {
      double Size = 1, Expected;
      if (C.Glu) {
        int64_t Gate = N / 16 * 32 + N % 16;
        Expected = act(C.Glu, Dot(Gate, Size)) * Dot(Gate + 16, Size);
      } else {
        Expected = act(C.Act, Dot(N, Size));
      }
      size_t At = static_cast<size_t>(T * Outputs + N);
      Expected += C.Residual ? Residual[At] : 0;
      Worst = std::max(Worst, std::fabs(First[At] - Expected) / Size);
    }
  }
  // One value of a row may round to its neighbour in f16 (2^-11) or bf16.
  EXPECT_LT(Worst, C.Norm == 0 ? 2e-6 : C.WType == BF16 ? 4e-4 : 6e-5);
}

INSTANTIATE_TEST_SUITE_P(
    Shapes, LinearSim,
    testing::Values(Case{100, 33, F16, 2, 0, 2, true, true},
                    Case{640, 160, W8, 1, 1, 0, false, true},
                    Case{192, 96, codes(4, true, ZeroKind::Minimum, 32), 1, 3,
                         0, true, false},
                    Case{320, 80, codes(4, true, ZeroKind::Byte, 64), 0, 0, 0,
                         false, true},
                    Case{64, 32, F16, 0, 0, 0, false, false, 4},
                    Case{99, 7, BF16, 1, 0, 4, true, false, 5},
                    Case{1224, 48, W8, 0, 0, 3, true, true, 6},
                    Case{256, 40, codes(4, false, ZeroKind::Middle, 128), 0, 0,
                         0, true, false, 7},
                    Case{136, 48, codes(8, false, ZeroKind::Middle, 0), 0, 0, 0,
                         false, false, 8},
                    Case{130, 20, codes(8, true, ZeroKind::Byte, 32), 0, 0, 7,
                         true, false, 9},
                    Case{96, 32, codes(4, false, ZeroKind::Float, 32), 0, 0, 0,
                         false, false, 10},
                    Case{128, 16, codes(8, false, ZeroKind::None, 64), 0, 0, 0,
                         false, true, 11},
                    Case{128, 24, codes(4, false, ZeroKind::Byte, 0), 0, 0, 0,
                         false, false, 12},
                    Case{4096, 64, codes(4, true, ZeroKind::Minimum, 32), 2, 0,
                         0, true, true, 13},
                    Case{200, 40, codes(2, true, ZeroKind::Byte, 64), 1, 0, 0,
                         true, false, 0},
                    Case{160, 32, codes(2, false, ZeroKind::Minimum, 32), 0, 0,
                         0, false, true, 14},
                    Case{128, 32, codes(2, true, ZeroKind::Middle, 0), 0, 1, 0,
                         false, false, 15},
                    Case{144, 48, codes(4, false, ZeroKind::Byte, 16), 1, 0, 0,
                         false, true, 0},
                    Case{80, 16, codes(2, true, ZeroKind::Float, 16), 0, 0, 0,
                         true, false, 19},
                    Case{96, 32, codes(8, true, ZeroKind::Minimum, 16), 1, 1, 0,
                         false, false, 20},
                    Case{160, 48, floats(CodeKind::F8E4M3, false, 128), 1, 0, 0,
                         false, true, 0},
                    Case{128, 16, floats(CodeKind::F8E5M2, false, 0), 0, 0, 0,
                         true, false, 16},
                    Case{96, 33, floats(CodeKind::F8E4M3Z, true, 32), 0, 0, 0,
                         false, false, 17},
                    Case{64, 16, floats(CodeKind::F8E5M2Z, false, 64), 0, 0, 0,
                         false, false, 18}));

TEST(ProductSim, TheTextUsesTensorCoresAndAsynchronousCopies) {
  if (!hasNvrtc())
    GTEST_SKIP() << "no NVRTC";
  SimContext Context;
  SimPhase Phase(linearRequest({640, 160, W8, 1, 1, 0, false, true}), {8, 128});
  for (const char *Part : {"mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32",
                           "cp.async.cg.shared.global", "ld.global.cs.v4",
                           "prmt.b32", "sub.rn.f16x2"})
    EXPECT_NE(Phase.Ptx.find(Part), std::string::npos) << Part;
}

struct Heads {
  int64_t Dim, VDim, Half, Interleaved;
  int Number = 0;
};
constexpr int64_t QHeads = 4, KvHeads = 2, QkvK = 96, Page = 32;

class QkvSim : public testing::TestWithParam<Heads> {
protected:
  /// Q or cached value I of head H (0, 1: q; 2: k; 3: v) of KV head G.
  float found(int64_t T, int64_t G, int64_t H, int64_t I) const {
    const Heads &P = GetParam();
    if (H < 2)
      return Q[static_cast<size_t>((T * QHeads + G * 2 + H) * P.Dim + I)];
    int64_t In = Positions[static_cast<size_t>(T)] % Page;
    int64_t Element = H == 2 ? In * P.Dim + I : P.Dim * Page + In * P.VDim + I;
    size_t Base = PageOf(T) * Stride +
                  static_cast<size_t>(G * (P.Dim + P.VDim) * Page * 2);
    uint16_t Half;
    std::memcpy(&Half, &Pool[Base + static_cast<size_t>(Element * 2)], 2);
    return f16ToFloat(Half);
  }
  size_t PageOf(int64_t T) const {
    return Pages[static_cast<size_t>(Seq[static_cast<size_t>(T)] * 2 +
                                     Positions[static_cast<size_t>(T)] / Page)];
  }
  std::vector<int32_t> Positions = {0, 33, 34, 7, 31}, Seq = {0, 0, 0, 1, 1};
  std::vector<uint32_t> Pages = {2, 0, 1, 3};
  size_t Stride = 0;
  Floats Q;
  std::vector<uint8_t> Pool;
};

TEST_P(QkvSim, RopeAndCacheInAllForms) {
  if (!hasNvrtc())
    GTEST_SKIP() << "no NVRTC";
  const Heads &P = GetParam();
  if (skipped(P.Number, 2))
    GTEST_SKIP() << "slow";
  SimContext Context;
  Stride = static_cast<size_t>(KvHeads * (P.Dim + P.VDim) * Page * 2);
  KernelRequest R =
      request("qkv",
              {{"k", QkvK},
               {"heads", QHeads},
               {"kv_heads", KvHeads},
               {"head_dim", P.Dim},
               {"v_head_dim", P.VDim},
               {"rotary_half", P.Half},
               {"interleaved", P.Interleaved},
               {"wtype", F16},
               {"xpolicy", 0},
               {"norm", 1},
               {"kvtype", 1}},
              {{"eps", 1e-6f}}, {"norm_bias"}, static_cast<int64_t>(Stride));
  R.Present.back() = true;
  SimPhase Phase(R, {8, 32, 64});
  if (HasFatalFailure())
    return;
  int64_t GroupRows = 3 * P.Dim + P.VDim, N = KvHeads * GroupRows;
  FragmentWeights W(F16, N, QkvK, 21);
  Floats X = randomFloats(5 * QkvK, 1), Gain = randomFloats(QkvK, 2),
         Bias = randomFloats(static_cast<size_t>(N), 3),
         Rope = randomFloats(static_cast<size_t>(5 * 2 * P.Half + 1), 4);
  SimBuffer DX(X), DGain(Gain), DBias(Bias), DRope(Rope), DW(W.Bytes),
      DPositions(Positions), DSeq(Seq), DPages(Pages);
  SimBuffer DXq(nullptr, static_cast<size_t>(64 * (256 + N * 4 + 16)));
  LlmcCounts Counts{5, 5, 2, 0, 2, 0};
  SimBuffer DCounts(&Counts, sizeof(Counts));
  Floats First;
  for (size_t Bucket = 0; Bucket != 3; ++Bucket) {
    SimBuffer DPool(std::vector<uint8_t>(4 * Stride, 0xee)),
        DQ(Floats(static_cast<size_t>(5 * QHeads * P.Dim)));
    Phase.run(Bucket, {DCounts.Address, DPositions.Address, DSeq.Address,
                       DPages.Address, DX.Address, DGain.Address, 0, DW.Address,
                       DBias.Address, P.Half ? DRope.Address : 0, DPool.Address,
                       DQ.Address, DXq.Address});
    if (HasFatalFailure())
      return;
    Q = DQ.read<float>();
    Pool = DPool.read<uint8_t>();
    Floats All;
    for (int64_t T = 0; T != 5; ++T) {
      std::vector<double> Row =
          operandRow({QkvK, N, F16, 1, 0, 0, true, false},
                     &X[static_cast<size_t>(T * QkvK)], Gain.data(), nullptr);
      for (int64_t G = 0; G != KvHeads; ++G)
        for (int64_t H = 0; H != 4; ++H) {
          std::vector<double> Head(
              static_cast<size_t>(H == 3 ? P.VDim : P.Dim));
          for (size_t I = 0; I != Head.size(); ++I) {
            int64_t Packed =
                G * GroupRows + H * P.Dim + static_cast<int64_t>(I);
            Head[I] = Bias[static_cast<size_t>(Packed)];
            for (int64_t C = 0; C != QkvK; ++C)
              Head[I] += Row[static_cast<size_t>(C)] * W.at(Packed, C);
          }
          if (H != 3)
            rotate(Head, &Rope[static_cast<size_t>(T * 2 * P.Half)], P.Half,
                   P.Interleaved);
          for (size_t I = 0; I != Head.size(); ++I) {
            float Found = found(T, G, H, static_cast<int64_t>(I));
            All.push_back(Found);
            ASSERT_NEAR(Found, Head[I], 2e-2)
                << "row " << T << " head " << G << "." << H << " at " << I;
          }
        }
    }
    if (First.empty())
      First = All;
    EXPECT_EQ(First, All) << "bucket " << Phase.Buckets[Bucket];
  }
}

INSTANTIATE_TEST_SUITE_P(
    Shapes, QkvSim,
    testing::Values(Heads{64, 64, 32, 0}, Heads{12, 9, 6, 0, 1},
                    Heads{48, 32, 16, 0, 2}, Heads{32, 32, 8, 0, 3},
                    Heads{32, 16, 16, 1, 4}, Heads{48, 48, 10, 1, 5},
                    Heads{32, 32, 0, 0, 6}, Heads{40, 40, 20, 0, 7},
                    Heads{20, 20, 6, 1, 8}));

TEST(ProductSim, LogitsOfChosenRows) {
  if (!hasNvrtc())
    GTEST_SKIP() << "no NVRTC";
  SimContext Context;
  constexpr int64_t K = 200, N = 45;
  KernelRequest R = request(
      "logits",
      {{"k", K}, {"n", N}, {"wtype", W8}, {"xpolicy", 0}, {"norm", 1}},
      {{"eps", 1e-5f}, {"multiplier", 0.5f}, {"softcap", 3.0f}}, {"norm_bias"});
  R.Present.back() = true;
  R.MaxSequences = 16;
  // The larger bucket prepares its rows.
  SimPhase Phase(R, {8, 64});
  if (HasFatalFailure())
    return;
  FragmentWeights W(W8, N, K, 11);
  Floats X = randomFloats(20 * K, 1), Gain = randomFloats(K, 2),
         Bias = randomFloats(N, 3), Out(12 * N, 5.0f);
  std::vector<int32_t> Rows = {0, 1, 3, 4, 7, 8, 9, 12, 13, 19};
  LlmcCounts Counts{20, 0, 1, 10, 0, 0};
  SimBuffer DCounts(&Counts, sizeof(Counts)), DX(X), DGain(Gain), DBias(Bias),
      DW(W.Bytes), DRows(Rows), DOut(Out),
      DXq(std::vector<uint8_t>(64 * 512, 0xff));
  std::vector<DeviceAddress> Arguments = {
      DCounts.Address, DX.Address,    DGain.Address, 0,          DW.Address,
      DBias.Address,   DRows.Address, DOut.Address,  DXq.Address};
  Phase.run(1, Arguments);
  Out = DOut.read<float>();
  LlmcCounts Few = Counts;
  Few.logit_rows = 8;
  DCounts.write(&Few);
  DOut.write(Floats(12 * N, 5.0f).data());
  Phase.run(0, Arguments);
  EXPECT_EQ(std::memcmp(Out.data(), DOut.read<float>().data(), 8 * N * 4), 0);
  for (size_t I = 0; I != 12; ++I) {
    if (I >= 10) {
      EXPECT_EQ(Out[I * N], 5.0f) << "a row past R was written";
      continue;
    }
    std::vector<double> Row =
        operandRow({K, N, W8, 1, 0, 0, true, false},
                   &X[static_cast<size_t>(Rows[I] * K)], Gain.data(), nullptr);
    for (int64_t J = 0; J != N; ++J) {
      double Sum = Bias[static_cast<size_t>(J)];
      for (int64_t C = 0; C != K; ++C)
        Sum += Row[static_cast<size_t>(C)] * W.at(J, C);
      EXPECT_NEAR(Out[I * N + static_cast<size_t>(J)],
                  3 * std::tanh(0.5 * Sum / 3), 2e-3);
    }
  }
}

TEST(ProductSim, EmbedReadsWhatProductsRead) {
  if (!hasNvrtc())
    GTEST_SKIP() << "no NVRTC";
  SimContext Context;
  for (int64_t Type : {F16, BF16, W8, codes(4, true, ZeroKind::Minimum, 32),
                       codes(4, false, ZeroKind::Byte, 128),
                       codes(2, true, ZeroKind::Byte, 32),
                       floats(CodeKind::F8E4M3, false, 0)}) {
    constexpr int64_t Hidden = 100, Vocab = 50;
    SimPhase Phase(
        request("embed",
                {{"vocab", Vocab}, {"hidden", Hidden}, {"wtype", Type}},
                {{"scale", 2.0f}}),
        {4});
    if (HasFatalFailure())
      return;
    FragmentWeights W(Type, Vocab, Hidden, 4);
    std::vector<int32_t> Ids = {49, 0, 7};
    LlmcCounts Counts{3, 0, 1, 0, 0, 0};
    SimBuffer DCounts(&Counts, sizeof(Counts)), DIds(Ids), DW(W.Bytes),
        DOut(Floats(4 * Hidden, 9.0f));
    Phase.run(0, {DCounts.Address, DIds.Address, DW.Address, DOut.Address});
    Floats Out = DOut.read<float>();
    for (size_t T = 0; T != 3; ++T)
      for (int64_t I = 0; I != Hidden; ++I)
        EXPECT_NEAR(Out[T * Hidden + static_cast<size_t>(I)],
                    2 * W.at(Ids[T], I), 1e-6);
    EXPECT_EQ(Out[3 * Hidden], 9.0f) << "a row past T was written";
  }
}

TEST(ProductSim, Sm90FetchesWeightsBeforeItWaits) {
  if (!hasNvrtc())
    GTEST_SKIP() << "no NVRTC";
  SimContext Context;
  SimPhase Phase(linearRequest({640, 160, W8, 1, 1, 0, false, true}),
                 {8, 32, 64}, "sm_90");
  for (const KernelInstance &I : Phase.Kernels) {
    // Counts, gain, norm_bias, weight and bias are written by no launch.
    Status S = checkEarlyLaunch(Phase.Ptx, I.Entry, {0, 2, 3, 4, 5});
    EXPECT_TRUE(S.ok()) << S.message();
    size_t At = Phase.Ptx.find(".entry " + I.Entry + "("),
           Wait = Phase.Ptx.find("griddepcontrol.wait", At),
           Load = Phase.Ptx.find("ld.global.cs.v4", At);
    if (I.Entry.find("_rows8_") != std::string::npos) {
      // The early exit has a wait of its own in front.
      Wait = Phase.Ptx.find("griddepcontrol.wait", Wait + 1);
      EXPECT_LT(Load, Wait) << I.Entry;
    }
  }
}

/// Sectors and wavefronts of the kernels of a product, as a GPU would count
/// them: the layouts leave nothing to gain.
TEST(ProductSim, LoadsWholeSectorsWithoutBankConflicts) {
  if (!hasNvrtc())
    GTEST_SKIP() << "no NVRTC";
  setenv("LLMC_CUDASIM_PROFILE", "/dev/null", 1);
  cudasim::reloadSettings();
  for (int64_t Type : {W8, codes(2, true, ZeroKind::None, 128)}) {
    SimContext Context;
    Case C{512, 128, Type, 0, 0, 0, false, false};
    SimPhase Phase(linearRequest(C), {8, 32, 64});
    if (HasFatalFailure())
      return;
    FragmentWeights W(Type, C.N, C.K, 3);
    SimBuffer DX(randomFloats(static_cast<size_t>(64 * C.K), 1)), DW(W.Bytes),
        DOut(nullptr, static_cast<size_t>(64 * C.N * 4)),
        DXq(nullptr, static_cast<size_t>(64 * C.K * 2));
    for (size_t Bucket = 0; Bucket != 3; ++Bucket) {
      LlmcCounts Counts{Phase.Buckets[Bucket], 0, 1, 0, 0, 0};
      SimBuffer DCounts(&Counts, sizeof(Counts));
      Phase.run(Bucket, {DCounts.Address, DX.Address, 0, 0, DW.Address, 0, 0,
                         DOut.Address, DXq.Address});
    }
    for (const auto &[Name, Of] : cudasim::profileCounters()) {
      SCOPED_TRACE(Name);
      EXPECT_EQ(Of.SharedConflicts, 0u);
      // Every sector that a warp touches is used whole, but for scales (each
      // lane of four reads the same 8 bytes) and the counts.
      EXPECT_GE(static_cast<double>(Of.LoadBytes) /
                    static_cast<double>(Of.LoadSectors * 32),
                0.9);
    }
  }
  unsetenv("LLMC_CUDASIM_PROFILE");
  cudasim::reloadSettings();
}
} // namespace
