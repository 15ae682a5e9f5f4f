// Attention as PTX on the simulator: right, the same in every company, without
// findings of the sanitizer in any order of lanes, warps and blocks, and with
// the memory accesses that its layouts promise.
#include "compiler/target/cuda/Nvrtc.h"
#include "test/compiler/cuda/AttentionPool.h"
#include "test/cudasim/Harness.h"
#include "tools/cudasim/exec/Machine.h"
#include "tools/cudasim/profile/Profile.h"
#include "tools/cudasim/sanitize/Findings.h"

#include <cstdlib>

using namespace llmc;
using namespace llmc::cuda;
using namespace llmc::test;

namespace {
bool isSlow() {
  const char *V = std::getenv("LLMC_SLOW");
  return V && *V;
}

/// Kernels of these tests, each compiled once and loaded into one context.
class Simulator {
public:
  static Simulator &get() {
    static Simulator S;
    return S;
  }
  void run(const KernelRequest &R, uint32_t Bucket,
           const std::vector<Argument> &Args) {
    Grid G = gridOf(R, Bucket);
    if (G.X == 0)
      return;
    Result<KernelInstance> I = instantiate(R, "sm_80");
    ASSERT_TRUE(I.ok()) << I.status().message();
    ASSERT_EQ(I->Params.size(), Args.size()) << I->Entry;
    if (!Kernels.count(I->Entry))
      load(*I);
    ASSERT_TRUE(Kernels[I->Entry]) << I->Entry;
    std::vector<DeviceAddress> Memory(Args.size(), 0);
    std::vector<void *> Params;
    for (size_t A = 0; A != Args.size(); ++A) {
      if (Args[A].Data) {
        ASSERT_EQ(cuMemAlloc_v2(&Memory[A], Args[A].Bytes), 0);
        ASSERT_EQ(cuMemcpyHtoD_v2(Memory[A], Args[A].Data, Args[A].Bytes), 0);
      }
      Params.push_back(&Memory[A]);
    }
    EXPECT_EQ(cuLaunchKernel(Kernels[I->Entry], G.X, G.Y, G.Z, I->Block, 1, 1,
                             I->DynamicShared, nullptr, Params.data(), nullptr),
              0);
    ASSERT_EQ(cuCtxSynchronize(), 0) << I->Entry;
    for (size_t A = 0; A != Args.size(); ++A) {
      if (Args[A].Written)
        cuMemcpyDtoH_v2(const_cast<void *>(Args[A].Data), Memory[A],
                        Args[A].Bytes);
      if (Memory[A])
        cuMemFree_v2(Memory[A]);
    }
  }

private:
  void load(const KernelInstance &I) {
    Result<std::shared_ptr<const Nvrtc>> N = Nvrtc::open("");
    ASSERT_TRUE(N.ok()) << N.status().message();
    Result<CompiledModule> M = (*N)->compile(moduleText({I}, "sm_80"), "sm_80");
    ASSERT_TRUE(M.ok()) << M.status().message();
    void *Module = nullptr, *Kernel = nullptr;
    ASSERT_EQ(cuModuleLoadData(&Module, M->Ptx.c_str()), 0);
    ASSERT_EQ(cuModuleGetFunction(&Kernel, Module, I.Entry.c_str()), 0);
    constexpr int MaxDynamicSharedSize = 8;
    ASSERT_EQ(cuFuncSetAttribute(Kernel, MaxDynamicSharedSize,
                                 static_cast<int>(I.DynamicShared)),
              0);
    Kernels[I.Entry] = Kernel;
  }
  SimContext Context;
  std::map<std::string, void *> Kernels;
};

void simulate(const KernelRequest &R, uint32_t Bucket,
              const std::vector<Argument> &Args) {
  Simulator::get().run(R, Bucket, Args);
}

template <typename Base> class Simulated : public Base {
protected:
  void SetUp() override {
    if (!Nvrtc::open("").ok())
      GTEST_SKIP() << "no NVRTC";
  }
  void TearDown() override {
    for (const char *Name :
         {"LLMC_CUDASIM_SANITIZE", "LLMC_CUDASIM_SEED", "LLMC_CUDASIM_PROFILE"})
      unsetenv(Name);
    cudasim::reloadSettings();
  }
};

using AttentionSim = Simulated<testing::TestWithParam<AttentionShape>>;
using AttentionSimOne = Simulated<testing::Test>;

TEST_P(AttentionSim, SameInAnyCompany) {
  AttentionPool P(GetParam());
  checkCompany(P, simulate);
  if (GetParam().Wide && isSlow())
    checkChunks(P, simulate);
}

/// Odd seeds copy as late as possible, too.
TEST_P(AttentionSim, NoFindingsInAnyOrder) {
  if (!GetParam().Wide)
    GTEST_SKIP();
  AttentionPool P(GetParam());
  AttentionStep Mixed, One;
  addRows(Mixed, 0, 250, 262);
  addRows(Mixed, 1, 0, 2);
  Mixed.Prompt = 14;
  addRows(Mixed, 2, 320, 321);
  addRows(One, 1, 520, 521);
  Floats InMixed = P.run(Mixed, 32, simulate), Alone = P.run(One, 1, simulate);
  setenv("LLMC_CUDASIM_SANITIZE", "1", 1);
  for (int Seed = 1; Seed <= (isSlow() ? 5 : 1); ++Seed) {
    setenv("LLMC_CUDASIM_SEED", std::to_string(Seed).c_str(), 1);
    cudasim::reloadSettings();
    EXPECT_EQ(P.run(Mixed, 32, simulate), InMixed);
    EXPECT_EQ(P.run(One, 1, simulate), Alone);
    for (const cudasim::Finding &F : cudasim::findings().all())
      ADD_FAILURE() << F.Text;
    cudasim::findings().clear();
  }
}

/// Heads of 64: no bank conflicts, and sectors as full as rows of 32 bytes and
/// more allow.
TEST_F(AttentionSimOne, Accesses) {
  AttentionPool P(attentionShapes().front());
  setenv("LLMC_CUDASIM_PROFILE", "/dev/null", 1);
  cudasim::reloadSettings();
  P.run(mixedStep(), 128, simulate);
  unsigned Seen = 0;
  for (const auto &[Name, C] : cudasim::profileCounters()) {
    if (!Name.starts_with("attention_"))
      continue;
    ++Seen;
    EXPECT_EQ(C.SharedConflicts, 0u) << Name;
    // Without the numbers that a warp reads together: a sector for 4 bytes.
    if (Name.starts_with("attention_prefill")) {
      EXPECT_LE(static_cast<double>(C.LoadSectors),
                1.1 * static_cast<double>(C.LoadBytes) / 32)
          << Name;
      EXPECT_EQ(C.StoreSectors * 32, C.StoreBytes) << Name;
    }
  }
  EXPECT_EQ(Seen, 2u);
}

std::vector<AttentionShape> shapes() {
  std::vector<AttentionShape> All = attentionShapes(), Some;
  if (isSlow())
    return All;
  for (const AttentionShape &S : All)
    if (S.Name == std::string("everything") || S.Name == std::string("codes"))
      Some.push_back(S);
  return Some;
}

INSTANTIATE_TEST_SUITE_P(Shapes, AttentionSim, testing::ValuesIn(shapes()),
                         [](const testing::TestParamInfo<AttentionShape> &I) {
                           return std::string(I.param.Name);
                         });

} // namespace
