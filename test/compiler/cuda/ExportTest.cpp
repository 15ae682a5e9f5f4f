// exe.program to launches: arguments, grids, shared kernels, FlatBuffer form,
// and errors for programs that contradict themselves.
#include "compiler/target/cuda/EmitCuda.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"
#include "runtime/artifact/Program_generated.h"
#include "runtime/device/StepAbi.h"
#include "test/support/TinyModel.h"

#include <gtest/gtest.h>

using namespace llmc;
using namespace llmc::cuda;

namespace {

class Export : public testing::Test {
protected:
  Export() { Context.loadDialect<exe::ExeDialect>(); }
  exe::ProgramOp parse(const std::string &Text) {
    Module = mlir::parseSourceString<mlir::ModuleOp>(Text, &Context);
    EXPECT_TRUE(Module);
    return *Module->getOps<exe::ProgramOp>().begin();
  }
  /// The tiny program with From replaced by To.
  exe::ProgramOp changed(const std::string &From, const std::string &To) {
    std::string Text = test::TinyModel({}).mlir();
    size_t At = Text.find(From);
    EXPECT_NE(At, std::string::npos) << From;
    return parse(Text.replace(At, From.size(), To));
  }
  std::string errorOf(exe::ProgramOp P) {
    Result<ExportedLaunches> E = exportLaunches(P);
    return E.ok() ? "no error" : E.status().message();
  }

  mlir::MLIRContext Context;
  mlir::OwningOpRef<mlir::ModuleOp> Module;
};

TEST_F(Export, LaunchesOfTwoLayersShareKernels) {
  Result<ExportedLaunches> E =
      exportLaunches(parse(test::TinyModel({}).mlir()));
  ASSERT_TRUE(E.ok()) << E.status().message();
  const LaunchProgram &P = E->Program;
  EXPECT_EQ(P.Launches.size(), 2u + 2 * 5 + 1);
  EXPECT_EQ(P.Kernels.size(), 2u + 5 + 1);
  EXPECT_EQ(P.Vocab, 96u);
  EXPECT_EQ(P.Hidden, 64u);
  EXPECT_EQ(P.PageBytes, 2u * 2 * 32 * 32 * 4);
  // qkv of layer 0 and 1: same kernel, other weights, other part of the page.
  const Launch &A = P.Launches[2], &B = P.Launches[7];
  EXPECT_EQ(A.Kernel, B.Kernel);
  EXPECT_EQ(A.Layer, 0);
  EXPECT_EQ(B.Layer, 1);
  ASSERT_EQ(A.Args.size(), B.Args.size());
  EXPECT_EQ(A.Args[0].Kind, LaunchArgKind::Step);
  EXPECT_EQ(A.Args[0].Index, uint32_t(LLMC_ARG_COUNTS));
  EXPECT_NE(A.Args[7].Offsets, B.Args[7].Offsets); // weight
  EXPECT_EQ(A.Args[10].Kind, LaunchArgKind::Kv);
  EXPECT_EQ(A.Args[10].Offsets, std::vector<uint64_t>{0});
  EXPECT_EQ(B.Args[10].Offsets, std::vector<uint64_t>{2 * 32 * 32 * 4});
  EXPECT_EQ(A.Args[8].Kind, LaunchArgKind::Null); // bias
  EXPECT_EQ(A.Grids.size(), 3u);
  EXPECT_EQ(A.Grids[0].Y, 1u);
  EXPECT_EQ(A.Grids[2].Y, 16u);
  // Nodes of the body are those of the first layer.
  EXPECT_EQ(P.Launches[4].SourceNodes,
            std::vector<std::string>{"/layer/MatMul_64"});
  EXPECT_TRUE(P.Launches[9].SourceNodes.empty());
}

TEST_F(Export, FlatBufferHoldsTheSame) {
  Result<ExportedLaunches> E =
      exportLaunches(parse(test::TinyModel({}).mlir()));
  ASSERT_TRUE(E.ok());
  std::vector<uint8_t> Bytes = toFlatBuffer(E->Program);
  flatbuffers::Verifier V(Bytes.data(), Bytes.size());
  ASSERT_TRUE(fb::VerifyProgramBuffer(V));
  const fb::Program *P = fb::GetProgram(Bytes.data());
  EXPECT_EQ(P->target()->str(), "sm_80");
  EXPECT_EQ(P->layout()->str(), "cuda");
  EXPECT_EQ(P->max_tokens(), 64u);
  ASSERT_EQ(P->launches()->size(), E->Program.Launches.size());
  const fb::Launch *L = P->launches()->Get(2);
  EXPECT_EQ(L->args()->Get(10)->kind(), fb::ArgKind::Kv);
  EXPECT_EQ(L->args()->Get(4)->kind(), fb::ArgKind::Arena);
  EXPECT_EQ(L->args()->Get(4)->offsets()->size(), 3u);
  EXPECT_EQ(L->grid_y()->Get(2), 16u);
  EXPECT_EQ(P->kernels()->Get(L->kernel())->kernel()->str(), "qkv");
  EXPECT_EQ(P->states()->Get(0)->v_head_dim(), 16u);
}

TEST_F(Export, Int8HasItsOwnKernels) {
  test::TinyOptions O;
  O.Kind = test::TinyKind::CudaI8;
  Result<ExportedLaunches> E = exportLaunches(parse(test::TinyModel(O).mlir()));
  ASSERT_TRUE(E.ok()) << E.status().message();
  EXPECT_NE(E->Kernels[2].Entry.find("qkv_w8b32_kvf32_h4_g2_d16_k64_"),
            std::string::npos)
      << E->Kernels[2].Entry;
}

TEST_F(Export, ContradictionsAreNamed) {
  EXPECT_EQ(errorOf(changed("rows = 128, cols = 64, layout = \"n.f16\"",
                            "rows = 128, cols = 64, layout = \"n.w8b32\"")),
            "phase qkv: weight l0_qkv has layout n.w8b32, expected n.f16");
  EXPECT_EQ(errorOf(changed("page_tokens = 32", "page_tokens = 64")),
            "CUDA pages have 32 tokens, found 64");
  EXPECT_EQ(errorOf(changed("buckets = array<i64: 1, 8, 64>",
                            "buckets = array<i64: 1, 8, 65536>")),
            "CUDA steps take at most 65535 tokens, found 65536");
  EXPECT_EQ(errorOf(changed("target = \"sm_80\"", "target = \"x86-64-v3\"")),
            "target x86-64-v3 is no CUDA target");
  EXPECT_EQ(errorOf(changed("kv {layers = 2", "kv {layers = 1")),
            "state kv is planned with 16384 bytes a page, needs 8192");
  EXPECT_EQ(errorOf(changed("half = 8", "half = 0")),
            "cuda kernel rope_table takes half from 1 to 16777216, found 0");
  EXPECT_EQ(errorOf(changed("vocab = 96", "vocab = 95")),
            "phase embed: weight embed is 96 x 64, expected 95 x 64");
}

TEST_F(Export, EmitsCubinAndPtx) {
  if (Result<std::shared_ptr<const Nvrtc>> N = Nvrtc::open(""); !N.ok())
    GTEST_SKIP() << N.status().message();
  Result<CudaProgram> P = emitCuda(parse(test::TinyModel({}).mlir()), {});
  ASSERT_TRUE(P.ok()) << P.status().message();
  EXPECT_FALSE(P->Cubin.empty());
  EXPECT_NE(P->Ptx.find(".version 7.0\n.target sm_80"), std::string::npos);
  for (const LaunchKernel &K : P->Launches.Kernels) {
    EXPECT_GT(K.Registers, 0u) << K.Entry;
    EXPECT_EQ(K.SpillBytes, 0u) << K.Entry;
    EXPECT_NE(P->Ptx.find(".entry " + K.Entry + "("), std::string::npos);
  }
}

TEST_F(Export, TextOnlyNeedsNoNvrtc) {
  CudaTargetOptions O;
  O.TextOnly = true;
  O.NvrtcPath = "/nowhere";
  Result<CudaProgram> P = emitCuda(parse(test::TinyModel({}).mlir()), O);
  ASSERT_TRUE(P.ok());
  EXPECT_TRUE(P->Cubin.empty());
  EXPECT_NE(P->Text.find("__global__"), std::string::npos);
}

} // namespace
