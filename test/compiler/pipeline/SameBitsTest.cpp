// What fusion and outlining may not change: a program runs with the same bits
// whether its layers are outlined or not, and computes the same as without any
// fusion (row B82 of the known failures). On the CPU, on the target that this
// machine has.
#include "compiler/driver/ProgramExport.h"
#include "compiler/pipeline/PassErrors.h"
#include "compiler/pipeline/Pipeline.h"
#include "compiler/target/cpu/CpuTarget.h"
#include "compiler/weights/Pack.h"
#include "passes/lowering/Passes.h"
#include "runtime/device/Device.h"
#include "test/compiler/pipeline/SmallModel.h"

#include "dialects/llm/LlmDialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <new>
#include <numeric>
#include <random>

using namespace mlir;

namespace llmc {
namespace {

constexpr int64_t Tokens = 40, Vocab = 48;

/// Bytes at an address that is a multiple of 64.
struct Aligned {
  void operator()(uint8_t *P) const { std::free(P); }
};

struct Variant {
  bool Fuse = true, Outline = true;
  std::string Precision = "f32";
};

class SameBitsTest : public testing::Test {
protected:
  void SetUp() override {
    // Flat and unfused programs take seconds to compile.
    const char *Slow = std::getenv("LLMC_SLOW");
    if (!Slow || !*Slow)
      GTEST_SKIP() << "slow: ./dev test --all";
    Result<std::string> Native = cpu::nativeTarget();
    if (!Native.ok())
      GTEST_SKIP() << Native.status().message();
    Target = *Native;
    Context.loadDialect<func::FuncDialect, llm::LlmDialect, exe::ExeDialect>();
    SmallModel Small = smallModel(4, /*Window=*/9);
    Model = parseSourceString<ModuleOp>(Small.Text, &Context);
    ASSERT_TRUE(Model);
    std::vector<uint8_t> File(Small.FileBytes);
    std::mt19937 Random(7);
    for (int64_t I = 0; I != Small.FileBytes / 4; ++I) {
      float F = (static_cast<float>(Random() % 2001) - 1000.0f) / 3000.0f;
      std::memcpy(File.data() + 4 * I, &F, 4);
    }
    Store.addMemory({});
    Store.addMemory(std::move(File));
  }

  /// The exe program of that variant.
  Status lower(const Variant &V, OwningOpRef<ModuleOp> &Out) {
    Out = Model->clone();
    PipelineOptions O;
    O.Precision = V.Precision;
    O.KvCache = "f32";
    PassManager PM(&Context);
    TargetDesc Desc = *describeTarget(Target);
    if (V.Fuse)
      buildFusePasses(PM);
    buildQuantizePasses(PM, Desc, O);
    LlmToExeOptions L;
    L.maxContext = 256;
    L.maxTokens = 64;
    PM.addPass(createLlmToExe(L));
    PM.addPass(createMakeBuckets());
    if (V.Outline)
      PM.addPass(createOutlineLayers());
    buildPlanPasses(PM);
    return runPasses(PM, *Out, StatusCode::Internal);
  }

  /// Logits of all tokens: a prompt of 25 in one step, then one by one.
  Status run(const Variant &V, std::vector<float> &Logits) {
    OwningOpRef<ModuleOp> Module;
    LLMC_RETURN_IF_ERROR(lower(V, Module));
    exe::ProgramOp Program = *Module->getOps<exe::ProgramOp>().begin();
    Loops = 0;
    Program.walk([&](exe::LayersOp) { ++Loops; });
    LLMC_ASSIGN_OR_RETURN(std::vector<uint8_t> Image,
                          cpu::emitCpuImage(Program));
    LLMC_ASSIGN_OR_RETURN(std::string Isa, cpu::isaOfTarget(Target));
    std::vector<std::string> Features = cpu::featuresOfIsa(Isa);
    LLMC_ASSIGN_OR_RETURN(std::vector<uint8_t> Flat,
                          exportCpuProgram(Program, Features));
    LLMC_ASSIGN_OR_RETURN(WeightProgram Weights, exportWeights(Program));
    std::unique_ptr<uint8_t, Aligned> Segment(static_cast<uint8_t *>(
        std::aligned_alloc(64, (Weights.Bytes + 63) / 64 * 64)));
    size_t At = 0;
    Result<std::vector<TensorQuality>> Packed =
        packWeights(Weights, Store, {}, [&](std::span<const uint8_t> Bytes) {
          std::memcpy(Segment.get() + At, Bytes.data(), Bytes.size());
          At += Bytes.size();
          return Status::success();
        });
    if (!Packed.ok())
      return Packed.takeStatus();
    LLMC_ASSIGN_OR_RETURN(std::unique_ptr<Device> Cpu, openDevice("cpu"));
    ProgramView View{Target, Flat, Image, {}, {Segment.get(), At}};
    LLMC_ASSIGN_OR_RETURN(std::unique_ptr<Executable> E,
                          Cpu->load(View, DeviceLoadOptions{1, 0}));
    Logits.assign(Tokens * Vocab, 0.0f);
    LLMC_RETURN_IF_ERROR(step(*E, 0, 25, 25, Logits));
    for (int64_t I = 25; I != Tokens; ++I)
      LLMC_RETURN_IF_ERROR(step(*E, I, 1, 0, Logits));
    return Status::success();
  }

  static Status step(Executable &E, int64_t First, int64_t Count,
                     uint32_t Prompt, std::vector<float> &Logits) {
    std::vector<int32_t> Ids, Positions, Sequence(Count, 0), Rows(Count);
    for (int64_t I = First; I != First + Count; ++I) {
      Ids.push_back(static_cast<int32_t>((I * 37 + 5) % Vocab));
      Positions.push_back(static_cast<int32_t>(I));
    }
    std::iota(Rows.begin(), Rows.end(), 0);
    uint32_t Page = 2; // not the first, so that page numbers matter
    StepInput In;
    In.Ids = Ids;
    In.Positions = Positions;
    In.RowSequence = Sequence;
    In.PromptRows = Prompt;
    In.Sequences = 1;
    In.PagesPerSequence = 1;
    In.PageTable = {&Page, 1};
    In.LogitRows = Rows;
    In.Logits = std::span(Logits).subspan(First * Vocab, Count * Vocab);
    return E.step(In);
  }

  MLIRContext Context;
  OwningOpRef<ModuleOp> Model;
  WeightStore Store;
  std::string Target;
  int Loops = 0;
};

TEST_F(SameBitsTest, OutlinedAndFlat) {
  std::vector<float> Outlined, Flat;
  Status S = run({true, true, "int8"}, Outlined);
  ASSERT_TRUE(S.ok()) << S.message();
  EXPECT_EQ(Loops, 1); // windows alternate: two layers per round
  S = run({true, false, "int8"}, Flat);
  ASSERT_TRUE(S.ok()) << S.message();
  EXPECT_EQ(Loops, 0);
  EXPECT_EQ(Outlined, Flat);
}

TEST_F(SameBitsTest, FusedAndUnfused) {
  std::vector<float> Fused, Unfused;
  Status S = run({true, true, "f32"}, Fused);
  ASSERT_TRUE(S.ok()) << S.message();
  S = run({false, true, "f32"}, Unfused);
  ASSERT_TRUE(S.ok()) << S.message();
  EXPECT_EQ(Loops, 1);
  float Largest = 0;
  for (size_t I = 0; I != Fused.size(); ++I) {
    ASSERT_NEAR(Fused[I], Unfused[I], 1e-4) << I;
    Largest = std::max(Largest, std::abs(Fused[I]));
  }
  EXPECT_GT(Largest, 0.01f);
}

} // namespace
} // namespace llmc
