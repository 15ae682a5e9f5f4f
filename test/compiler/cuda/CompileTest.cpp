// Every kernel of the catalogue through NVRTC for every target: it compiles,
// spills nothing, uses no local memory, and its PTX is relabelled to the lowest
// version of its target. Skipped with the reason where there is no NVRTC.
// The fast set (LLMC_SLOW unset) compiles the kernels of an int8 model for
// sm_80 and sm_90, and for sm_80 one form of each other kernel; the slow one
// everything for three targets and for the other three what might spill.
#include "compiler/target/cuda/Nvrtc.h"
#include "compiler/target/cuda/ProductForms.h"
#include "test/compiler/cuda/Requests.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <set>
#include <unistd.h>

using namespace llmc;
using namespace llmc::cuda;

namespace {

bool isSlow() {
  const char *V = std::getenv("LLMC_SLOW");
  return V && *V;
}

/// Kernels that need so many registers that targets differ. The others are
/// compiled for the oldest target, the newest one and the first with early
/// launches.
bool isHeavy(const KernelRequest &R) {
  return isMmaProduct(R) || R.Kernel == "attention" || R.Kernel == "experts" ||
         R.Kernel == "rowwise";
}

/// The int8 model's, and for sm_80 one of each other kernel.
std::vector<KernelRequest> fastOnes(const std::vector<KernelRequest> &All,
                                    const std::string &Target) {
  std::vector<KernelRequest> Some(All.begin(), All.begin() + 6);
  std::set<std::string_view> Seen;
  for (const KernelRequest &R : Some)
    Seen.insert(R.Kernel);
  for (const KernelRequest &R : All)
    if (Target == "sm_80" && Seen.insert(R.Kernel).second)
      Some.push_back(R);
  return Some;
}

std::vector<KernelInstance> allInstances(const std::string &Target) {
  std::vector<KernelInstance> All;
  bool LikeSm80 = Target == "sm_86" || Target == "sm_89";
  std::vector<KernelRequest> Requests = test::allKernels(isSlow() && !LikeSm80);
  if (!isSlow())
    Requests = fastOnes(Requests, Target);
  else if (LikeSm80 || Target == "sm_100")
    std::erase_if(Requests, [](const KernelRequest &R) { return !isHeavy(R); });
  const std::vector<uint32_t> Buckets =
      isSlow() ? std::vector<uint32_t>{1, 8, 32, 128}
               : std::vector<uint32_t>{8, 128};
  for (const KernelRequest &R : Requests)
    for (const KernelForm &F : formsOf(R, Buckets, Target)) {
      Result<KernelInstance> I = instantiate(F.Request, Target);
      EXPECT_TRUE(I.ok()) << R.Kernel << ": " << I.status().message();
      if (I.ok())
        All.push_back(I.take());
    }
  return All;
}

/// Assembles the relabelled PTX with the toolkit's ptxas, if there is one
/// beside NVRTC: a version that is too low for an instruction fails here.
void assemble(const Nvrtc &N, const std::string &Ptx,
              const std::string &Target) {
  std::filesystem::path Lib(N.path());
  std::filesystem::path Tool =
      Lib.parent_path().parent_path() / "bin" / "ptxas";
  if (!std::filesystem::exists(Tool))
    return;
  std::string Name = testing::TempDir() + "llmc-" + Target + "-" +
                     std::to_string(getpid()) + ".ptx";
  std::ofstream(Name) << Ptx;
  std::string Command =
      Tool.string() + " -arch=" + Target + " -O0 " + Name + " -o /dev/null";
  EXPECT_EQ(std::system(Command.c_str()), 0) << Command;
  std::remove(Name.c_str());
}

struct TargetCase {
  const char *Target;
  const char *Version;
};

class CompileAll : public testing::TestWithParam<TargetCase> {};

TEST_P(CompileAll, NoSpillsNoLocalMemoryLowestPtx) {
  Result<std::shared_ptr<const Nvrtc>> N = Nvrtc::open("");
  if (!N.ok())
    GTEST_SKIP() << N.status().message();
  std::string Target = GetParam().Target;
  if (!isSlow() && Target != "sm_80" && Target != "sm_90")
    GTEST_SKIP() << "slow: ./dev test --all";
  std::vector<KernelInstance> All = allInstances(Target);
  Result<CompiledModule> M = (*N)->compile(moduleText(All, Target), Target);
  ASSERT_TRUE(M.ok()) << M.status().message() << "\n"
                      << (M.status().notes().empty()
                              ? ""
                              : M.status().notes().front());
  EXPECT_FALSE(M->Cubin.empty());
  EXPECT_NE(M->Ptx.find(std::string("\n.version ") + GetParam().Version),
            std::string::npos)
      << M->Ptx.substr(0, 400);
  std::set<std::string> Found;
  for (const KernelFacts &K : M->Kernels) {
    Found.insert(K.Name);
    EXPECT_EQ(K.SpillBytes, 0u) << K.Name;
    EXPECT_EQ(K.LocalBytes, 0u) << K.Name;
    EXPECT_GT(K.Registers, 0u) << K.Name;
    // Sums of prompt attention fill the registers; two blocks still fit.
    EXPECT_LE(K.Registers, K.Name.starts_with("attention_prefill") ||
                                   K.Name.find("_rows") != std::string::npos
                               ? 255u
                               : 168u)
        << K.Name;
    EXPECT_LE(K.SharedBytes, 48u * 1024) << K.Name;
  }
  for (const KernelInstance &I : All)
    EXPECT_TRUE(Found.count(I.Entry)) << I.Entry;
  EXPECT_EQ(M->Ptx.find("ld.local"), std::string::npos);
  assemble(**N, M->Ptx, Target);
}

INSTANTIATE_TEST_SUITE_P(
    Targets, CompileAll,
    testing::Values(TargetCase{"sm_80", "7.0"}, TargetCase{"sm_86", "7.1"},
                    TargetCase{"sm_89", "7.8"}, TargetCase{"sm_90", "7.8"},
                    TargetCase{"sm_100", "8.6"}, TargetCase{"sm_120", "8.7"}),
    [](const testing::TestParamInfo<TargetCase> &I) {
      return std::string(I.param.Target);
    });

TEST(Nvrtc, SameTextSameBytes) {
  Result<std::shared_ptr<const Nvrtc>> N = Nvrtc::open("");
  if (!N.ok())
    GTEST_SKIP() << N.status().message();
  std::vector<KernelInstance> One = {
      *instantiate(test::request("add", {{"n", 8}}), "sm_80")};
  std::string Text = moduleText(One, "sm_80");
  Result<CompiledModule> A = (*N)->compile(Text, "sm_80");
  Result<CompiledModule> B = (*N)->compile(Text, "sm_80");
  ASSERT_TRUE(A.ok() && B.ok());
  EXPECT_EQ(A->Cubin, B->Cubin);
  EXPECT_EQ(A->Ptx, B->Ptx);
}

TEST(Nvrtc, UnknownTargetNamesItAndTheVersion) {
  Result<std::shared_ptr<const Nvrtc>> N = Nvrtc::open("");
  if (!N.ok())
    GTEST_SKIP() << N.status().message();
  Result<CompiledModule> M = (*N)->compile("", "sm_37");
  ASSERT_FALSE(M.ok());
  EXPECT_EQ(M.status().code(), StatusCode::Unsupported);
  EXPECT_NE(M.status().message().find("sm_37"), std::string::npos);
  EXPECT_NE(M.status().message().find((*N)->version()), std::string::npos);
}

TEST(Nvrtc, BrokenTextGivesTheLog) {
  Result<std::shared_ptr<const Nvrtc>> N = Nvrtc::open("");
  if (!N.ok())
    GTEST_SKIP() << N.status().message();
  Result<CompiledModule> M = (*N)->compile("__global__ void f( {", "sm_80");
  ASSERT_FALSE(M.ok());
  EXPECT_EQ(M.status().code(), StatusCode::Internal);
  EXPECT_FALSE(M.status().notes().empty());
}

TEST(Nvrtc, LocalMemoryIsAnError) {
  Result<std::shared_ptr<const Nvrtc>> N = Nvrtc::open("");
  if (!N.ok())
    GTEST_SKIP() << N.status().message();
  Result<CompiledModule> M = (*N)->compile(
      "__device__ __noinline__ void fill(float *A, float *P, int I) {\n"
      "  for (int J = 0; J != I; ++J) A[P[J] > 0 ? J : I] = P[J]; }\n"
      "extern \"C\" __global__ void greedy(float *P, int I) {\n"
      "  float A[64]; fill(A, P, I); P[0] = A[I & 63]; }",
      "sm_80");
  ASSERT_FALSE(M.ok());
  EXPECT_NE(M.status().message().find("kernel greedy uses "), std::string::npos)
      << M.status().message();
}

TEST(Nvrtc, MissingLibraryListsWhatWasTried) {
  Result<std::shared_ptr<const Nvrtc>> N = Nvrtc::open("/nowhere/nvrtc");
  ASSERT_FALSE(N.ok());
  EXPECT_EQ(N.status().code(), StatusCode::DoesNotFit);
  EXPECT_EQ(N.status().message(), "nvrtc not found at /nowhere/nvrtc");
  ASSERT_FALSE(N.status().notes().empty());
  EXPECT_EQ(N.status().notes().front().rfind("tried /nowhere/nvrtc", 0), 0u);
}

} // namespace
