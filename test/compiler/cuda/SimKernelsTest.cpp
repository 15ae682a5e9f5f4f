// All kernels of the CUDA target under the simulator's sanitizer: every request
// of ShippedKernels.h in buckets of 8, 32 and 128 rows, with five seeds for the
// order of lanes, warps, blocks and copies. Nothing may be found, the bits must
// not depend on the order, and every function of the kernel text must have been
// executed (for sm_80, which runs all requests), so that a new kernel without a
// request here fails. What the numbers are is for other tests. LLMC_SLOW=1; the
// fast set checks the list alone.
#include "test/compiler/cuda/ShippedKernels.h"
#include "test/compiler/cuda/SimRun.h"

#include "tools/cudasim/exec/Machine.h"
#include "tools/cudasim/sanitize/Findings.h"

#include <cstdlib>
#include <ctime>
#include <set>
#include <sstream>

extern "C" int cuLaunchKernelEx(const void *, void *, void **, void **);

using namespace llmc;
using namespace llmc::cuda;
using namespace llmc::test;

namespace {
constexpr uint32_t Buckets[] = {8, 32, 128};
constexpr int Seeds = 5;

/// A request with its launches.
struct Phase {
  KernelRequest Request;
  std::vector<KernelForm> Forms;
  std::vector<KernelInstance> Kernels;
};

/// Processor time of the program so far.
long seconds() { return static_cast<long>(std::clock() / CLOCKS_PER_SEC); }

/// What is compiled apart from types of weights: template, cache, norm.
std::string kindOf(const KernelRequest &R, const KernelInstance &I) {
  size_t At = I.Text.rfind("  llmc::");
  std::string Kind = I.Text.substr(At, I.Text.find('<', At) - At);
  for (const char *Name : {"kvtype", "norm", "decay_dim", "interleaved"})
    if (auto It = R.Ints.find(Name); It != R.Ints.end())
      Kind += " " + std::to_string(It->second);
  return Kind;
}

/// All requests for sm_80. For others, whose text differs in how launches wait
/// for each other, those with a kind of kernel that those before have not.
std::vector<Phase> allPhases(const std::string &Target) {
  std::vector<Phase> Out;
  std::set<std::string> Kinds;
  for (const KernelRequest &R : shippedKernels()) {
    Phase P{R, formsOf(R, Buckets, Target), {}};
    for (const KernelForm &F : P.Forms) {
      Result<KernelInstance> I = instantiate(F.Request, Target);
      EXPECT_TRUE(I.ok()) << R.Kernel << ": " << I.status().message();
      if (!I.ok())
        return {};
      P.Kernels.push_back(I.take());
    }
    size_t Before = Kinds.size();
    for (size_t I = 0; I != P.Kernels.size(); ++I)
      Kinds.insert(kindOf(P.Forms[I].Request, P.Kernels[I]));
    if (Target == "sm_80" || Kinds.size() != Before)
      Out.push_back(std::move(P));
  }
  return Out;
}

std::vector<KernelInstance> distinct(const std::vector<Phase> &Phases) {
  std::vector<KernelInstance> Out;
  std::set<std::string> Known;
  for (const Phase &P : Phases)
    for (const KernelInstance &I : P.Kernels)
      if (Known.insert(I.Entry).second)
        Out.push_back(I);
  return Out;
}

/// CUlaunchConfig of cuda.h, with one attribute.
struct LaunchConfig {
  unsigned Grid[3], Block[3], Shared;
  void *Stream;
  const void *Attributes;
  unsigned Count;
};
struct LaunchAttribute {
  int Id; ///< 6: programmatic stream serialization
  char Pad[4];
  char Value[64];
};

/// The buffers of a phase on the device for one step.
class PhaseMemory {
public:
  PhaseMemory(const KernelRequest &R, const KernelStep &S)
      : Request(R), Names(kernels::findKernel(R.Kernel)->Buffers) {
    LlmcCounts Counts = S.counts();
    add(ParamKind::Counts, &Counts, sizeof(Counts));
    addBytes(ParamKind::Positions, bytesOf(S.Positions));
    addBytes(ParamKind::RowSeq, bytesOf(S.Seq));
    addBytes(ParamKind::PageTable, bytesOf(S.Pages));
    addBytes(ParamKind::Lengths, bytesOf(S.Lengths));
    addBytes(ParamKind::Tickets,
             std::vector<uint8_t>(uint64_t{LLMC_CUDA_TICKETS} * 4));
    for (size_t I = 0; I != Names.size(); ++I)
      if (R.Present[I])
        Buffers[I] = std::make_unique<SimBuffer>(memoryOf(R, Names[I], S));
  }
  /// The value of a parameter of an entry.
  DeviceAddress valueOf(const Param &P) const {
    if (P.Kind == ParamKind::Integer)
      return static_cast<DeviceAddress>(Request.Ints.at(
          std::string(kernels::findKernel(Request.Kernel)->Ints[P.Index])));
    if (P.Kind != ParamKind::Buffer)
      return Inputs.at(P.Kind)->Address;
    auto It = Buffers.find(P.Index);
    return It == Buffers.end() ? 0 : It->second->Address;
  }
  /// What the launches have written, in the order of the catalogue.
  std::vector<std::vector<uint8_t>> results() const {
    std::vector<std::vector<uint8_t>> Out;
    for (const auto &[Index, Buffer] : Buffers)
      if (kernels::isWritten(Names[Index]) && Names[Index] != "partial")
        Out.push_back(Buffer->read<uint8_t>());
    return Out;
  }

private:
  void add(ParamKind Kind, const void *Data, size_t Bytes) {
    Inputs[Kind] = std::make_unique<SimBuffer>(Data, Bytes);
  }
  void addBytes(ParamKind Kind, const std::vector<uint8_t> &Bytes) {
    add(Kind, Bytes.data(), Bytes.size());
  }
  const KernelRequest &Request;
  std::span<const std::string_view> Names;
  std::map<ParamKind, std::unique_ptr<SimBuffer>> Inputs;
  std::map<size_t, std::unique_ptr<SimBuffer>> Buffers;
};

class Suite : public testing::TestWithParam<const char *> {
protected:
  void TearDown() override {
    unsetenv("LLMC_CUDASIM_SANITIZE");
    unsetenv("LLMC_CUDASIM_SEED");
    llmc::cudasim::reloadSettings();
    llmc::cudasim::findings().clear();
  }
  void build() {
    Result<std::shared_ptr<const Nvrtc>> N = Nvrtc::open("");
    ASSERT_TRUE(N.ok()) << N.status().message();
    Phases = allPhases(GetParam());
    std::vector<KernelInstance> All = distinct(Phases);
    Text = moduleText(All, GetParam());
    Result<CompiledModule> M =
        (*N)->compile(Text, GetParam(), {"--generate-line-info"});
    ASSERT_TRUE(M.ok()) << M.status().message();
    Ptx = M->Ptx;
    std::printf("%zu requests, %zu kernels, %ld s of processor time\n",
                Phases.size(), All.size(), seconds());
  }
  /// The launches of a bucket, in the order of the program, then a wait.
  void launch(const Phase &P, size_t Bucket, const PhaseMemory &Memory) {
    for (size_t I = 0; I != P.Kernels.size(); ++I) {
      const Grid &G = P.Forms[I].Grids[Bucket];
      if (G.X == 0)
        continue;
      const KernelInstance &K = P.Kernels[I];
      std::vector<DeviceAddress> Values;
      for (const Param &One : K.Params)
        Values.push_back(Memory.valueOf(One));
      std::vector<void *> Params;
      for (DeviceAddress &V : Values)
        Params.push_back(&V);
      void *F = nullptr;
      ASSERT_EQ(cuModuleGetFunction(&F, Module, K.Entry.c_str()), 0);
      if (K.DynamicShared > 48u * 1024) {
        ASSERT_EQ(cuFuncSetAttribute(F, 8, static_cast<int>(K.DynamicShared)),
                  0);
      }
      LaunchAttribute Early{6, {}, {1}};
      LaunchConfig C{{G.X, G.Y, G.Z}, {K.Block, 1, 1},
                     K.DynamicShared, nullptr,
                     &Early,          beginsEarly(GetParam()) ? 1u : 0u};
      ASSERT_EQ(cuLaunchKernelEx(&C, F, Params.data(), nullptr), 0) << K.Entry;
    }
    ASSERT_EQ(cuCtxSynchronize(), 0) << P.Kernels[0].Entry;
  }
  /// Everything with one seed; results in a fixed order.
  void run(int Seed, std::vector<std::vector<uint8_t>> &Results) {
    setenv("LLMC_CUDASIM_SANITIZE", "1", 1);
    setenv("LLMC_CUDASIM_SEED", std::to_string(Seed).c_str(), 1);
    llmc::cudasim::reloadSettings();
    SimContext Context;
    ASSERT_EQ(cuModuleLoadData(&Module, Ptx.c_str()), 0);
    for (const Phase &P : Phases)
      for (size_t Bucket = 0; Bucket != std::size(Buckets); ++Bucket) {
        PhaseMemory Memory(P.Request, KernelStep(Buckets[Bucket]));
        launch(P, Bucket, Memory);
        if (HasFatalFailure())
          return;
        for (std::vector<uint8_t> &R : Memory.results())
          Results.push_back(std::move(R));
      }
    EXPECT_EQ(cuModuleUnload(Module), 0);
  }
  /// Lines of the CUDA text whose instructions were executed, from 1.
  std::set<unsigned> executedLines() const;

  std::vector<Phase> Phases;
  std::string Text, Ptx;
  void *Module = nullptr;
};

std::set<unsigned> Suite::executedLines() const {
  std::set<unsigned> Out, Lines;
  for (const KernelInstance &I : distinct(Phases)) {
    const std::vector<uint8_t> &Flags =
        llmc::cudasim::findings().executed(I.Entry, 0);
    for (unsigned Line = 0; Line != Flags.size(); ++Line)
      if (Flags[Line])
        Lines.insert(Line);
  }
  // An inlined instruction has a .loc for each function around it.
  std::istringstream In(Ptx);
  std::set<unsigned> Here;
  std::string Line;
  unsigned Number = 0;
  bool AfterLoc = false;
  while (std::getline(In, Line)) {
    ++Number;
    unsigned File = 0, At = 0;
    bool IsLoc = std::sscanf(Line.c_str(), " .loc %u %u", &File, &At) == 2;
    if (IsLoc && !AfterLoc)
      Here.clear();
    AfterLoc = IsLoc;
    if (!IsLoc) {
      if (Lines.count(Number))
        Out.insert(Here.begin(), Here.end());
      continue;
    }
    Here.insert(At);
    size_t Around = Line.find("inlined_at ");
    if (Around != std::string::npos &&
        std::sscanf(Line.c_str() + Around, "inlined_at %u %u", &File, &At) == 2)
      Here.insert(At);
  }
  return Out;
}

/// A function or class at the outermost level of the kernel text that holds
/// code: constant expressions and declarations are none.
struct TextBlock {
  std::string Name;
  unsigned First, Last;
};
std::vector<TextBlock> functionsOf(const std::string &Text) {
  std::vector<TextBlock> Out;
  std::istringstream In(Text);
  std::string Line, Head;
  unsigned Number = 0, First = 0;
  bool Inside = false;
  while (std::getline(In, Line)) {
    ++Number;
    bool Outer = !Line.empty() && Line[0] != ' ' && Line[0] != '}' &&
                 Line[0] != '/' && Line[0] != '#';
    if (Outer && !Inside) {
      Inside = true;
      Head.clear();
      First = Number;
    }
    if (Inside && Head.find('{') == std::string::npos)
      Head += Line + " ";
    bool OneLine = Outer && (Line.back() == ';' || Line.back() == '}');
    if (Inside && (OneLine || Line == "}" || Line == "};")) {
      Inside = false;
      if (Head.find("__device__ __forceinline__") != std::string::npos &&
          Head.find("constexpr") == std::string::npos &&
          Head.find('(') != std::string::npos)
        Out.push_back({Head.substr(0, Head.find('{')), First, Number});
    }
    if (Line.rfind("namespace", 0) == 0 || Line.rfind("} // namespace", 0) == 0)
      Inside = false;
  }
  return Out;
}

/// Whether a function must have been executed: for sm_80 all that are more than
/// a constant, elsewhere those by which launches wait.
bool mustRun(const std::string &Head, const std::string &Target) {
  auto Is = [&](const char *Name) { return Head.find(Name) != Head.npos; };
  bool Waits = Is("launchDependents(") || Is("waitForEarlier(");
  if (Target != "sm_80")
    return Waits;
  return !Waits && !Is("dynamicShared(") && !Is("minusInfinity(") &&
         !Is("log2E(") && !Is("infinity(") && !Is("notANumber(");
}

TEST_P(Suite, FiveSeedsFindNothing) {
  if (!hasNvrtc())
    GTEST_SKIP() << "no NVRTC";
  if (const char *V = std::getenv("LLMC_SLOW"); !(V && *V))
    GTEST_SKIP() << "slow";
  build();
  if (HasFatalFailure())
    return;
  std::vector<std::vector<uint8_t>> First;
  for (int Seed = 1; Seed <= Seeds; ++Seed) {
    std::vector<std::vector<uint8_t>> Results;
    run(Seed, Results);
    std::printf("seed %d: %ld s of processor time\n", Seed, seconds());
    for (const llmc::cudasim::Finding &F : llmc::cudasim::findings().all())
      ADD_FAILURE() << "seed " << Seed << ": " << F.Kind << ": " << F.Text;
    if (HasFailure())
      return;
    if (Seed == 1)
      First = std::move(Results);
    else
      EXPECT_TRUE(First == Results) << "other bits with seed " << Seed;
  }
  std::set<unsigned> Executed = executedLines();
  size_t Reached = 0;
  std::vector<TextBlock> Functions =
      functionsOf(Text.substr(0, Text.find("\nstruct Of_") + 1));
  for (const TextBlock &F : Functions) {
    auto At = Executed.lower_bound(F.First);
    bool Ran = At != Executed.end() && *At <= F.Last;
    EXPECT_TRUE(Ran || !mustRun(F.Name, GetParam()))
        << "no request of ShippedKernels.h executes: " << F.Name;
    Reached += Ran;
  }
  std::printf("%zu of %zu functions executed, %ld s of processor time\n",
              Reached, Functions.size(), seconds());
  EXPECT_GT(Functions.size(), 100u);
}

INSTANTIATE_TEST_SUITE_P(Targets, Suite, testing::Values("sm_80", "sm_90"),
                         [](const testing::TestParamInfo<const char *> &I) {
                           return std::string(I.param);
                         });

TEST(ShippedKernels, AreThoseOfTheCatalogue) {
  std::map<std::string, std::set<int64_t>> Values;
  std::set<std::string> Kernels;
  for (const char *Target : {"sm_80", "sm_90"})
    for (const Phase &P : allPhases(Target)) {
      Kernels.insert(P.Request.Kernel);
      for (const auto &[Name, Value] : P.Request.Ints)
        Values[P.Request.Kernel + "." + Name].insert(Value);
      KernelStep Step(8);
      std::span<const std::string_view> Names =
          kernels::findKernel(P.Request.Kernel)->Buffers;
      for (size_t I = 0; I != Names.size(); ++I)
        if (P.Request.Present[I]) {
          EXPECT_FALSE(memoryOf(P.Request, Names[I], Step).empty())
              << P.Request.Kernel << " " << Names[I];
        }
    }
  for (const kernels::KernelInfo &K : kernels::catalogue())
    EXPECT_TRUE(Kernels.count(std::string(K.Name))) << K.Name;
  // Every value of what selects code.
  auto All = [&](const char *Name, int64_t Last) {
    for (int64_t V = 0; V <= Last; ++V)
      EXPECT_TRUE(Values[Name].count(V)) << Name << " " << V;
  };
  All("linear.norm", kernels::NormLayer);
  All("linear.activation", kernels::ActRelu2);
  All("linear.rows", kernels::RowsR);
  All("qkv.interleaved", 1);
  All("qkv.norm", kernels::NormLayer);
  All("activation.activation", kernels::ActRelu2);
  All("attention.kvtype", kernels::KvI8);
  All("kv_write.kvtype", kernels::KvI8);
  All("qkv_finish.kvtype", kernels::KvI8);
  All("experts.combine", 1);
  for (const char *Name : {"linear.wtype", "embed.wtype", "qkv.wtype",
                           "logits.wtype", "experts.wtype"})
    All(Name, kernels::WBF16);
  for (int64_t W : plainTypes())
    EXPECT_TRUE(Values["experts.wtype"].count(W)) << W;
}

} // namespace
