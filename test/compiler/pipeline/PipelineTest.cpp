// The pipeline behind raising on a small two-layer model: what comes out per
// target, what is refused and with which code, and what the export makes of it.
#include "compiler/pipeline/Pipeline.h"
#include "compiler/driver/ProgramExport.h"
#include "compiler/target/cuda/EmitCuda.h"
#include "dialects/exe/ExeDialect.h"
#include "dialects/llm/LlmDialect.h"
#include "passes/memory/MemoryPlan.h"
#include "runtime/artifact/Program_generated.h"
#include "test/compiler/pipeline/SmallModel.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

#include <algorithm>
#include <cstring>

using namespace mlir;

namespace llmc {
namespace {

class PipelineTest : public testing::Test {
protected:
  PipelineTest() {
    Context.loadDialect<func::FuncDialect, llm::LlmDialect, exe::ExeDialect>();
    Module = parseSourceString<ModuleOp>(smallModel(2).Text, &Context);
  }

  exe::ProgramOp lower(const std::string &Target, const PipelineOptions &O) {
    Result<OwningOpRef<ModuleOp>> R =
        lowerForTarget(*Module, *describeTarget(Target), O);
    if (!R.ok()) {
      ADD_FAILURE() << R.status().message();
      return nullptr;
    }
    Lowered = R.take();
    return *Lowered->getOps<exe::ProgramOp>().begin();
  }

  Status refuse(const PipelineOptions &O, const char *Target = "x86-64-v3") {
    Result<OwningOpRef<ModuleOp>> R =
        lowerForTarget(*Module, *describeTarget(Target), O);
    EXPECT_FALSE(R.ok());
    return R.ok() ? Status::success() : R.takeStatus();
  }

  MLIRContext Context;
  OwningOpRef<ModuleOp> Module, Lowered;
};

std::vector<std::string> kernelsOf(exe::ProgramOp Program) {
  std::vector<std::string> Names;
  Program.walk<WalkOrder::PreOrder>([&](Operation *Op) {
    if (exe::PhaseOp P = dyn_cast<exe::PhaseOp>(Op))
      Names.push_back(P.getKernel().str());
    if (isa<exe::LayersOp>(Op))
      Names.push_back("layers");
  });
  return Names;
}

TEST_F(PipelineTest, FivePhasesPerLayer) {
  PipelineOptions O;
  O.Precision = "int8";
  exe::ProgramOp P = lower("x86-64-avx512vnni", O);
  ASSERT_TRUE(P);
  EXPECT_EQ(kernelsOf(P),
            (std::vector<std::string>{"embed", "rope_table", "layers", "qkv",
                                      "attention", "linear", "linear", "linear",
                                      "logits"}));
  EXPECT_EQ(P.getMaxContext(), 1024);
  EXPECT_EQ(P.getKvPages(), 16);
  EXPECT_TRUE(succeeded(mlir::verify(*Lowered)));
  // The model is as it was: another target starts from the same.
  EXPECT_TRUE(Module->lookupSymbol("l0.q"));
  ASSERT_TRUE(lower("sm_80", O));
  EXPECT_EQ(kernelsOf(*Lowered->getOps<exe::ProgramOp>().begin()).size(), 9u);
}

TEST_F(PipelineTest, CudaTargetsBecomeLaunches) {
  for (const char *Precision : {"f16", "int8"}) {
    PipelineOptions O;
    O.Precision = Precision;
    exe::ProgramOp P = lower("sm_90", O);
    ASSERT_TRUE(P);
    cuda::CudaTargetOptions TextOnly;
    TextOnly.TextOnly = true;
    Result<cuda::CudaProgram> C = cuda::emitCuda(P, TextOnly);
    ASSERT_TRUE(C.ok()) << C.status().message();
    // A step of one token: two layers of five phases. Other forms of a phase
    // have an empty grid in this bucket.
    auto InFirstBucket = [](const cuda::Launch &L) {
      return L.Grids.front().X != 0;
    };
    EXPECT_EQ(llvm::count_if(C->Launches.Launches, InFirstBucket),
              2 + 2 * 5 + 1);
    // The manifest's plan and the launches agree.
    ManifestPlan Plan = exportPlan(P);
    EXPECT_EQ(C->Launches.PageBytes, Plan.PageBytes);
    EXPECT_EQ(C->Launches.ArenaBytes, Plan.ArenaBytes);
    EXPECT_EQ(C->Launches.Pages, Plan.Pages);
  }
}

TEST_F(PipelineTest, SameTwice) {
  PipelineOptions O;
  std::string First, Second;
  llvm::raw_string_ostream A(First), B(Second);
  ASSERT_TRUE(lower("x86-64-v3", O));
  Lowered->print(A);
  ASSERT_TRUE(lower("x86-64-v3", O));
  Lowered->print(B);
  EXPECT_EQ(First, Second);
}

TEST_F(PipelineTest, CodeGrowsWithKindsOfLayersOnly) {
  PipelineOptions O;
  exe::ProgramOp Two = lower("x86-64-v3", O);
  ASSERT_TRUE(Two);
  std::vector<std::string> Phases = kernelsOf(Two);
  std::vector<uint64_t> Arena = memoryPlanOf(Two).ArenaBytes;
  Module = parseSourceString<ModuleOp>(smallModel(9).Text, &Context);
  exe::ProgramOp Nine = lower("x86-64-v3", O);
  ASSERT_TRUE(Nine);
  EXPECT_EQ(kernelsOf(Nine), Phases);
  EXPECT_EQ(memoryPlanOf(Nine).ArenaBytes, Arena);
}

TEST_F(PipelineTest, ContextEndsWithTheModel) {
  PipelineOptions O;
  O.MaxContext = 2000;
  std::string Warning;
  ScopedDiagnosticHandler Handler(&Context, [&](Diagnostic &D) {
    Warning = D.str();
    return success();
  });
  exe::ProgramOp P = lower("x86-64-v3", O);
  ASSERT_TRUE(P);
  EXPECT_EQ(P.getMaxContext(), 1024);
  EXPECT_EQ(Warning, "max-context is 2000, the model has 1024 positions: "
                     "compiled for 1024");
}

TEST_F(PipelineTest, StopsAfter) {
  PipelineOptions O;
  std::vector<std::string> Seen;
  O.AfterPhase = [&](Phase P, ModuleOp) {
    Seen.emplace_back(nameOf(P));
    return Status::success();
  };
  O.StopAfter = Phase::Quantize;
  Result<OwningOpRef<ModuleOp>> R =
      lowerForTarget(*Module, *describeTarget("x86-64-v3"), O);
  ASSERT_TRUE(R.ok());
  EXPECT_EQ(Seen, (std::vector<std::string>{"fuse", "quantize"}));
  EXPECT_TRUE((*R)->lookupSymbol("step"));
  EXPECT_TRUE(phaseOf("plan").ok());
  EXPECT_EQ(phaseOf("planning").status().code(), StatusCode::Usage);
}

TEST_F(PipelineTest, Refusals) {
  PipelineOptions O;
  O.MemoryBudget = 40000;
  Status S = refuse(O);
  EXPECT_EQ(S.code(), StatusCode::DoesNotFit);
  EXPECT_NE(S.message().find("the memory budget is 40000"), std::string::npos)
      << S.message();

  O = {};
  O.Precision = "f8";
  S = refuse(O, "sm_80");
  EXPECT_EQ(S.code(), StatusCode::Usage);
  EXPECT_TRUE(S.notes().empty()) << "no dump of the module";
  EXPECT_EQ(
      S.message(),
      "target sm_80 has no precision 'f8', expected file, f32, f16, bf16, "
      "int8 or int4");
}

TEST_F(PipelineTest, ErrorsNameNodes) {
  Module = parseSourceString<ModuleOp>(
      "llm.source @s : tensor<8x8xf32> {file = 0, offset = 0, length = 256}\n"
      "llm.weight @w : tensor<8x8xf32> [#llm.piece<source = @s, begin = 0, "
      "count = 8>]\n"
      "func.func @step(%ids: tensor<?xi32>, %pos: tensor<?xi32>) -> "
      "tensor<?x8xf32> {\n"
      "  %x = llm.embed %ids, @w : (tensor<?xi32>) -> tensor<1x?x8xf32> "
      "loc(\"/model/Gather\")\n"
      "  %y = llm.embed %ids, @w : (tensor<?xi32>) -> tensor<?x8xf32>\n"
      "  %l = llm.logits %y, @w : (tensor<?x8xf32>) -> tensor<?x8xf32>\n"
      "  return %l : tensor<?x8xf32>\n}\n",
      &Context);
  Status S = refuse({});
  EXPECT_EQ(S.code(), StatusCode::Unsupported);
  EXPECT_NE(S.message().find("(at '/model/Gather')"), std::string::npos)
      << S.message();
}

TEST_F(PipelineTest, ExportsWeights) {
  PipelineOptions O;
  O.Precision = "int8";
  exe::ProgramOp P = lower("x86-64-avx512vnni", O);
  ASSERT_TRUE(P);
  Result<WeightProgram> R = exportWeights(P);
  ASSERT_TRUE(R.ok()) << R.status().message();
  // emb (also the head), freq, norm, and per layer two gains and four matrices.
  ASSERT_EQ(R->Tensors.size(), 15u);
  uint64_t End = 0;
  for (const PackedTensor &T : R->Tensors) {
    EXPECT_GE(T.Offset, End) << T.Name;
    EXPECT_EQ(T.Offset % 64, 0u);
    EXPECT_EQ(T.Bytes, packedBytes(T.Form, T.Rows, T.Cols));
    End = T.Offset + T.Bytes;
    uint64_t Rows = 0;
    for (const WeightPiece &Piece : T.Pieces) {
      ASSERT_LT(Piece.Source, T.Sources.size());
      Rows += Piece.RowCount;
    }
    EXPECT_EQ(Rows, T.Rows) << T.Name;
  }
  EXPECT_LE(End, R->Bytes);
  const PackedTensor &Freq = R->Tensors[1];
  EXPECT_EQ(Freq.Name, "freq");
  ASSERT_TRUE(Freq.Sources[0].IsInline);
  float Values[8];
  ASSERT_EQ(Freq.Sources[0].Data.size(), sizeof(Values));
  std::memcpy(Values, Freq.Sources[0].Data.data(), sizeof(Values));
  EXPECT_EQ(Values[1], 0.5f);
  const PackedTensor &Qkv = R->Tensors[3];
  EXPECT_EQ(Qkv.Name, "l0.qkv");
  EXPECT_EQ(Qkv.Sources.size(), 3u);
  EXPECT_EQ(Qkv.Rows, 64u);
}

TEST_F(PipelineTest, ExportsCpuProgram) {
  exe::ProgramOp P = lower("x86-64-v3", {});
  ASSERT_TRUE(P);
  std::vector<std::string> Features = {"avx2", "fma"};
  Result<std::vector<uint8_t>> R = exportCpuProgram(P, Features);
  ASSERT_TRUE(R.ok()) << R.status().message();
  flatbuffers::Verifier V(R->data(), R->size());
  ASSERT_TRUE(fb::VerifyProgramBuffer(V));
  const fb::Program *Out = fb::GetProgram(R->data());
  EXPECT_EQ(Out->target()->str(), "x86-64-v3");
  EXPECT_EQ(Out->vocab(), 48u);
  EXPECT_EQ(Out->hidden(), 32u);
  EXPECT_EQ(Out->max_tokens(), 512u);
  EXPECT_EQ(Out->arena_bytes()->size(), Out->buckets()->size());
  EXPECT_EQ(Out->pages(), 16u);
  EXPECT_EQ(Out->page_bytes(), 2u * 32 * 64 * 4);
  EXPECT_EQ(Out->states()->size(), 1u);
  EXPECT_EQ(Out->cpu_features()->size(), 2u);
  EXPECT_EQ(exportPlan(P).WeightBytes, Out->weight_bytes());
}

} // namespace
} // namespace llmc
