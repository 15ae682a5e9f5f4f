// What needs no NVRTC: emitted text and names, checks of requests, grids, the
// reader of ptxas' log and the relabelling of PTX.
#include "compiler/target/cuda/Nvrtc.h"
#include "compiler/target/cuda/PtxVersion.h"
#include "test/compiler/cuda/Requests.h"

#include <gtest/gtest.h>

using namespace llmc;
using namespace llmc::cuda;

namespace {

KernelRequest smallLinear() {
  return test::linear({64, 32, kernels::WI8B32, kernels::NormRms, 0, 0}, 1e-5f,
                      {"norm_bias", "bias"});
}

bool has(const std::string &Text, std::string_view Part) {
  return Text.find(Part) != std::string::npos;
}

TEST(KernelText, ConstantsAndEntry) {
  Result<KernelInstance> I = instantiate(smallLinear(), "sm_80");
  ASSERT_TRUE(I.ok()) << I.status().message();
  EXPECT_TRUE(has(I->Text, "enum : int { N = 32 };"));
  EXPECT_TRUE(has(I->Text, "float Eps() { return 9.99999975e-06f; }"));
  EXPECT_TRUE(has(I->Text, "enum : bool { HasGain = true };"));
  EXPECT_TRUE(has(I->Text, "enum : bool { HasBias = false };"));
  EXPECT_TRUE(has(I->Text, "extern \"C\" __global__ void "
                           "__launch_bounds__(128, 1)"));
  EXPECT_EQ(I->Entry.rfind("linear_w8b32_n32_k64_", 0), 0u);
  EXPECT_TRUE(I->Entry.ends_with("_sm_80"));
  EXPECT_TRUE(has(I->Text, I->Entry + "("));
  // Counts and the seven buffers without xq.
  EXPECT_EQ(I->Params.size(), 8u);
}

TEST(KernelText, NameFollowsContentNotTarget) {
  KernelRequest Other = smallLinear();
  Other.Floats["eps"] = 1e-6f;
  std::string A = instantiate(smallLinear(), "sm_80")->Entry;
  std::string B = instantiate(Other, "sm_80")->Entry;
  std::string C = instantiate(smallLinear(), "sm_90")->Entry;
  EXPECT_NE(A, B);
  EXPECT_EQ(A.substr(0, A.size() - 5), C.substr(0, C.size() - 5));
}

TEST(KernelText, ModuleIsHermetic) {
  std::string Text =
      moduleText({*instantiate(smallLinear(), "sm_80")}, "sm_80");
  EXPECT_FALSE(has(Text, "#include"));
  EXPECT_FALSE(has(Text, "__fdividef"));
}

TEST(KernelText, RefusesWhatNoTemplateDoes) {
  KernelRequest R = smallLinear();
  R.Ints["wtype"] = 9;
  Result<KernelInstance> I = instantiate(R, "sm_80");
  ASSERT_FALSE(I.ok());
  EXPECT_EQ(I.status().code(), StatusCode::Unsupported);
  EXPECT_EQ(I.status().message(),
            "cuda kernel linear takes wtype from 0 to 3, found 9");
  R = smallLinear();
  R.Ints["glu"] = kernels::ActSilu;
  R.Ints["n"] = 48;
  EXPECT_EQ(instantiate(R, "sm_80").status().code(), StatusCode::Internal);
  R = smallLinear();
  R.Ints.erase("k");
  EXPECT_EQ(instantiate(R, "sm_80").status().message(),
            "kernel linear lacks the constant k");
  R = smallLinear();
  R.Kernel = "conv";
  EXPECT_EQ(instantiate(R, "sm_80").status().message(), "unknown kernel conv");
}

TEST(KernelText, GridsAreFunctionsOfTheBucket) {
  Grid G = gridOf(smallLinear(), 1);
  EXPECT_EQ(G.X, 4u); // 16 pairs by 4 warps
  EXPECT_EQ(G.Y, 1u);
  EXPECT_EQ(gridOf(smallLinear(), 512).Y, 128u);
  KernelRequest L = test::request(
      "logits",
      {{"k", 64}, {"n", 33}, {"wtype", 1}, {"xpolicy", 0}, {"norm", 0}},
      {{"eps", 0.0f}, {"multiplier", 1.0f}, {"softcap", 0.0f}});
  EXPECT_EQ(gridOf(L, 512).X, 5u);
  EXPECT_EQ(gridOf(L, 512).Y, 8u); // LLMC_CUDA_LOGIT_ROWS rows
}

TEST(PtxasLog, ReadsResources) {
  std::vector<KernelFacts> K = parsePtxasLog(
      "ptxas info    : 0 bytes gmem\n"
      "ptxas info    : Compiling entry function 'a' for 'sm_80'\n"
      "ptxas info    : Function properties for a\n"
      "    16 bytes stack frame, 4 bytes spill stores, 8 bytes spill loads\n"
      "ptxas info    : Used 36 registers, used 1 barriers, 16 bytes "
      "cumulative stack size, 1152 bytes smem, 400 bytes cmem[0]\n"
      "ptxas info    : Compiling entry function 'b' for 'sm_80'\n"
      "    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n"
      "ptxas info    : Used 8 registers, used 0 barriers");
  ASSERT_EQ(K.size(), 2u);
  EXPECT_EQ(K[0].Name, "a");
  EXPECT_EQ(K[0].Registers, 36u);
  EXPECT_EQ(K[0].SharedBytes, 1152u);
  EXPECT_EQ(K[0].SpillBytes, 12u);
  EXPECT_EQ(K[0].LocalBytes, 16u);
  EXPECT_EQ(K[1].Registers, 8u);
  EXPECT_EQ(checkResources(K).message(),
            "kernel a spills 12 bytes of registers, expected 0");
  EXPECT_TRUE(parsePtxasLog("").empty());
}

std::string ptx(const std::string &Target, const std::string &Body) {
  return "//\n// Generated\n//\n\n.version 9.0\n.target " + Target +
         "\n.address_size 64\n\n.visible .entry k(\n  .param .u64 p\n)\n{\n" +
         "  .reg .b32 %r<4>;\n" + Body + "\n$L__BB0_1:\n  ret;\n}\n";
}

std::string versionOf(const std::string &Ptx) {
  Result<PtxVersion> V = neededPtxVersion(Ptx);
  return V.ok() ? std::to_string(V->Major) + "." + std::to_string(V->Minor)
                : V.status().message();
}

TEST(PtxVersion, ByTarget) {
  EXPECT_EQ(versionOf(ptx("sm_80", "")), "7.0");
  EXPECT_EQ(versionOf(ptx("sm_86", "")), "7.1");
  EXPECT_EQ(versionOf(ptx("sm_90", "")), "7.8");
  EXPECT_EQ(versionOf(ptx("sm_100", "")), "8.6");
  EXPECT_EQ(versionOf(ptx("sm_120", "")), "8.7");
  EXPECT_EQ(versionOf(ptx("sm_999", "")), "9.0");
}

TEST(PtxVersion, ByInstruction) {
  EXPECT_EQ(versionOf(ptx("sm_80", "  @%p1 bra $L__BB0_1;")), "7.0");
  EXPECT_EQ(versionOf(ptx("sm_80", "  ld.global.L2::128B.f32 %f1, [%rd1];")),
            "7.4");
  EXPECT_EQ(versionOf(ptx("sm_90", "  cp.async.bulk.commit_group;")), "8.0");
  EXPECT_EQ(versionOf(ptx("sm_90", "  @!%p2 wgmma.fence.sync.aligned;")),
            "8.0");
  EXPECT_EQ(versionOf(ptx("sm_80", "  // wgmma.fence.sync.aligned;")), "7.0");
  // Unknown opcodes keep the version of the file.
  EXPECT_EQ(versionOf(ptx("sm_80", "  brandnew.f32 %f1, %f2;")), "9.0");
}

TEST(PtxVersion, Relabel) {
  Result<std::string> Out = relabelPtx(ptx("sm_80", "  add.s32 %r1, %r1, 1;"));
  ASSERT_TRUE(Out.ok());
  EXPECT_TRUE(has(*Out, "\n.version 7.0\n.target sm_80\n"));
  EXPECT_FALSE(has(*Out, "9.0"));
  EXPECT_EQ(relabelPtx("ret;\n").status().code(), StatusCode::Malformed);
  EXPECT_EQ(relabelPtx(".version x\n.target sm_80\n").status().code(),
            StatusCode::Malformed);
}

} // namespace
