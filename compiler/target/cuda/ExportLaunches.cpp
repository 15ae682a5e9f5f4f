// The walk over exe.step. A phase in exe.layers becomes a launch per layer; the
// launches of identical layers share their kernels, because everything that
// differs between layers is an argument.
#include "compiler/target/cuda/ExportLaunches.h"

#include "compiler/kernels/Catalogue.h"
#include "compiler/kernels/FragmentFormat.h"
#include "compiler/target/cuda/AttentionForm.h"
#include "compiler/target/cuda/LaunchEffort.h"
#include "compiler/target/cuda/LaunchWork.h"
#include "compiler/target/cuda/ProductForms.h"
#include "compiler/weights/Layout.h"
#include "runtime/base/CudaTickets.h"
#include "runtime/device/StepAbi.h"

#include <algorithm>
#include <map>
#include <set>

namespace llmc::cuda {
namespace {
using exe::BufferAttr;
using exe::BufferKind;

/// Where a phase stands: the enclosing layers (or none), the round and its
/// number in the body.
struct Place {
  exe::LayersOp Layers;
  int64_t Round = 0;
  int64_t Index = 0;
};

class Exporter {
public:
  explicit Exporter(exe::ProgramOp Program) : Program(Program) {}
  Result<ExportedLaunches> run();

private:
  Status readSizes();
  Status readStates();
  Status addPhase(exe::PhaseOp Phase, Place At);
  std::vector<std::string> nodesOf(exe::PhaseOp Phase, Place At);
  std::vector<std::string> launchNodes(std::vector<std::string> Nodes,
                                       Place At);
  Result<KernelRequest> requestOf(exe::PhaseOp Phase);
  Result<uint32_t> kernelFor(exe::PhaseOp Phase, const KernelRequest &R);
  Result<LaunchArg> argOf(exe::PhaseOp Phase, const KernelRequest &R,
                          const Param &P, Place At);
  Result<LaunchArg> weightArg(exe::PhaseOp Phase, unsigned Buffer,
                              llvm::StringRef Symbol);
  Status checkWeight(exe::PhaseOp Phase, unsigned Buffer,
                     exe::PackedWeightOp W);
  Result<LaunchArg> stateArg(exe::PhaseOp Phase, llvm::StringRef Symbol,
                             Place At);
  Status addLaunch(exe::PhaseOp Phase, KernelForm Form, Place At);
  void noteModelFacts(exe::PhaseOp Phase, const KernelRequest &R);

  exe::ProgramOp Program;
  ExportedLaunches Out;
  std::map<std::string, uint32_t> KernelOfEntry;
};

Status phaseError(exe::PhaseOp Phase, const std::string &What) {
  return internalError("phase " + Phase.getKernel().str() + ": " + What);
}

BufferAttr bufferOf(exe::PhaseOp Phase, unsigned Index) {
  return llvm::cast<BufferAttr>(Phase.getBuffers()[Index]);
}

Status Exporter::readSizes() {
  LaunchProgram &P = Out.Program;
  P.Target = Program.getTarget().str();
  if (!P.Target.starts_with("sm_"))
    return internalError("target " + P.Target + " is no CUDA target");
  for (int64_t B : Program.getBuckets())
    P.Buckets.push_back(static_cast<uint32_t>(B));
  for (int64_t B : Program.getArenaBytes())
    P.ArenaBytes.push_back(static_cast<uint64_t>(B));
  if (P.ArenaBytes.size() != P.Buckets.size())
    return internalError(
        "the program is not planned: " + std::to_string(P.Buckets.size()) +
        " buckets, " + std::to_string(P.ArenaBytes.size()) + " arena sizes");
  if (Program.getPageTokens() != LLMC_CUDA_PAGE_TOKENS)
    return internalError(
        "CUDA pages have " + std::to_string(LLMC_CUDA_PAGE_TOKENS) +
        " tokens, found " + std::to_string(Program.getPageTokens()));
  constexpr uint32_t MaxGridY = 65535; // a block row per token
  if (P.Buckets.back() > MaxGridY)
    return unsupportedError("CUDA steps take at most " +
                            std::to_string(MaxGridY) + " tokens, found " +
                            std::to_string(P.Buckets.back()));
  P.PageTokens = LLMC_CUDA_PAGE_TOKENS;
  P.MaxSequences = static_cast<uint32_t>(Program.getMaxSequences());
  P.MaxContext = static_cast<uint32_t>(Program.getMaxContext());
  P.WeightBytes = static_cast<uint64_t>(Program.getWeightBytes());
  P.Pages = static_cast<uint32_t>(Program.getKvPages());
  return Status::success();
}

Status Exporter::readStates() {
  LaunchProgram &P = Out.Program;
  for (exe::StateOp S : Program.getBody().getOps<exe::StateOp>()) {
    LaunchState L;
    L.Name = S.getSymName().str();
    L.Layers = static_cast<uint32_t>(S.getLayers());
    L.KvHeads = static_cast<uint32_t>(S.getKvHeads());
    L.HeadDim = static_cast<uint32_t>(S.getHeadDim());
    L.VHeadDim = static_cast<uint32_t>(S.getVHeadDim());
    L.Type = S.getDtype().isF32()        ? DType::F32
             : S.getDtype().isInteger(8) ? DType::I8
                                         : DType::F16;
    L.PageOffset = P.PageBytes;
    P.PageBytes += L.Layers * L.layerBytes(P.PageTokens);
    uint64_t Planned = static_cast<uint64_t>(S.getPageBytes());
    if (Planned != 0 && Planned != L.Layers * L.layerBytes(P.PageTokens))
      return internalError(
          "state " + L.Name + " is planned with " + std::to_string(Planned) +
          " bytes a page, needs " +
          std::to_string(L.Layers * L.layerBytes(P.PageTokens)));
    P.States.push_back(std::move(L));
  }
  return Status::success();
}

Result<KernelRequest> Exporter::requestOf(exe::PhaseOp Phase) {
  const kernels::KernelInfo *Info =
      kernels::findKernel(Phase.getKernel().str());
  if (!Info)
    return phaseError(Phase, "no such kernel");
  KernelRequest R;
  R.Kernel = Phase.getKernel().str();
  R.MaxContext = Out.Program.MaxContext;
  R.MaxSequences = Out.Program.MaxSequences;
  for (uint32_t Bucket : Out.Program.Buckets)
    R.SmallBuckets += Bucket <= AttentionDecodeRows;
  for (std::string_view Name : Info->Ints)
    R.Ints[std::string(Name)] = Phase.getInt(llvm::StringRef(Name));
  for (std::string_view Name : Info->Floats)
    R.Floats[std::string(Name)] = Phase.getFloat(llvm::StringRef(Name));
  for (unsigned I = 0; I != Info->Buffers.size(); ++I) {
    bool Here = bufferOf(Phase, I).getKind() != BufferKind::none;
    R.Present.push_back(Here);
    if (Info->Buffers[I] == "kv" && Here)
      R.KvPageStride = static_cast<int64_t>(Out.Program.PageBytes);
  }
  return R;
}

/// Vocabulary and width are what the kernels say.
void Exporter::noteModelFacts(exe::PhaseOp Phase, const KernelRequest &R) {
  LaunchProgram &P = Out.Program;
  P.Records |= R.Kernel == "linear_attention";
  if (R.Kernel == "embed") {
    // Without a head ids are those of the embedding.
    if (bufferOf(Phase, 0).getSym().getValue() == "ids" && P.Vocab == 0)
      P.Vocab = static_cast<uint32_t>(R.Ints.at("vocab"));
    P.Hidden = static_cast<uint32_t>(R.Ints.at("hidden"));
  } else if (R.Kernel == "logits") {
    P.Vocab = static_cast<uint32_t>(R.Ints.at("n"));
  } else if (R.Kernel == "take_rows") {
    P.Outputs = P.Hidden = static_cast<uint32_t>(R.Ints.at("n"));
  }
}

Result<uint32_t> Exporter::kernelFor(exe::PhaseOp Phase,
                                     const KernelRequest &R) {
  LLMC_ASSIGN_OR_RETURN(KernelInstance I, instantiate(R, Out.Program.Target));
  uint32_t Next = static_cast<uint32_t>(Out.Kernels.size());
  auto [It, New] = KernelOfEntry.try_emplace(I.Entry, Next);
  if (New) {
    LaunchKernel K;
    K.Entry = I.Entry;
    K.Kernel = R.Kernel;
    K.Block = I.Block;
    K.DynamicBytes = I.DynamicShared;
    K.BytesInFlight = I.BytesInFlight;
    K.Early = beginsEarly(Out.Program.Target);
    Out.Program.Kernels.push_back(std::move(K));
    Out.Kernels.push_back(std::move(I));
  } else if (Out.Kernels[It->second].Text != I.Text) {
    return phaseError(Phase, "two kernels have the name " + I.Entry);
  }
  return It->second;
}

/// The layout that kernels with that weight type read.
std::string layoutOfType(int64_t WType) {
  if (WType == kernels::WM16F16)
    return nameOf(Layout::M16F16);
  if (WType == kernels::WM16BF16)
    return nameOf(Layout::M16BF16);
  if (kernels::isFragment(WType))
    return nameOf(static_cast<Layout>(WType));
  if (kernels::isQuantized(WType))
    return nameOf(rowsOf(kernels::formatOf(WType)));
  return nameOf(WType == kernels::WI8B32  ? Layout::NW8B32
                : WType == kernels::WF32  ? Layout::NF32
                : WType == kernels::WBF16 ? Layout::NBF16
                                          : Layout::NF16);
}

/// The weight's layout, size and alignment are what the kernel was made for.
Status Exporter::checkWeight(exe::PhaseOp Phase, unsigned Buffer,
                             exe::PackedWeightOp W) {
  std::string Name = "weight " + W.getSymName().str();
  const kernels::KernelInfo *Info =
      kernels::findKernel(Phase.getKernel().str());
  if (W.getOffset() < 0)
    return phaseError(Phase, Name + " has no offset, it is not planned");
  if (W.getOffset() % 256 != 0)
    return phaseError(Phase, Name + " is at offset " +
                                 std::to_string(W.getOffset()) +
                                 ", expected a multiple of 256");
  std::string Expected = "vec.f32";
  if (Info->Buffers[Buffer] == "weight")
    Expected = layoutOfType(Phase.getInt("wtype"));
  if (W.getLayout() != Expected)
    return phaseError(Phase, Name + " has layout " + W.getLayout().str() +
                                 ", expected " + Expected);
  if (Info->Buffers[Buffer] != "weight")
    return Status::success();
  int64_t Rows, Cols;
  if (Phase.getKernel() == "embed") {
    Rows = Phase.getInt("vocab");
    Cols = Phase.getInt("hidden");
  } else {
    Cols = Phase.getInt("k");
    if (Phase.getKernel() == "experts")
      Rows = Phase.getInt("experts") * Phase.getInt("n");
    else
      Rows = Phase.getKernel() == "qkv"
                 ? (Phase.getInt("heads") + Phase.getInt("kv_heads")) *
                           Phase.getInt("head_dim") +
                       Phase.getInt("kv_heads") * Phase.getInt("v_head_dim")
                 : Phase.getInt("n");
  }
  if (W.getRows() != Rows || W.getCols() != Cols)
    return phaseError(Phase, Name + " is " + std::to_string(W.getRows()) +
                                 " x " + std::to_string(W.getCols()) +
                                 ", expected " + std::to_string(Rows) + " x " +
                                 std::to_string(Cols));
  return Status::success();
}

Result<LaunchArg> Exporter::weightArg(exe::PhaseOp Phase, unsigned Buffer,
                                      llvm::StringRef Symbol) {
  exe::PackedWeightOp W = llvm::dyn_cast_or_null<exe::PackedWeightOp>(
      mlir::SymbolTable::lookupSymbolIn(Program, Symbol));
  if (!W)
    return phaseError(Phase, "no packed weight is called " + Symbol.str());
  LLMC_RETURN_IF_ERROR(checkWeight(Phase, Buffer, W));
  return LaunchArg{
      LaunchArgKind::Weight, 0, {static_cast<uint64_t>(W.getOffset())}};
}

Result<LaunchArg> Exporter::stateArg(exe::PhaseOp Phase, llvm::StringRef Symbol,
                                     Place At) {
  for (const LaunchState &S : Out.Program.States) {
    if (S.Name != Symbol)
      continue;
    int64_t Layer = At.Layers ? At.Layers.layerOf(Phase, At.Round)
                              : static_cast<int64_t>(Phase.getLayer());
    if (Layer < 0 || Layer >= S.Layers)
      return phaseError(Phase, "layer " + std::to_string(Layer) + " of state " +
                                   S.Name + ", which has " +
                                   std::to_string(S.Layers));
    return LaunchArg{LaunchArgKind::Kv,
                     0,
                     {S.PageOffset + static_cast<uint64_t>(Layer) *
                                         S.layerBytes(Out.Program.PageTokens)}};
  }
  return phaseError(Phase, "no state is called " + Symbol.str());
}

Result<LaunchArg> Exporter::argOf(exe::PhaseOp Phase, const KernelRequest &R,
                                  const Param &P, Place At) {
  auto Step = [](uint32_t Index) {
    return LaunchArg{LaunchArgKind::Step, Index, {}};
  };
  switch (P.Kind) {
  case ParamKind::Counts:
    return Step(LLMC_ARG_COUNTS);
  case ParamKind::Positions:
    return Step(LLMC_ARG_POSITIONS);
  case ParamKind::RowSeq:
    return Step(LLMC_ARG_ROW_SEQ);
  case ParamKind::PageTable:
    return Step(LLMC_ARG_PAGE_TABLE);
  case ParamKind::Tickets:
    return Step(LLMC_ARG_CUDA_TICKETS);
  case ParamKind::Lengths:
    return Step(LLMC_ARG_LENGTHS);
  case ParamKind::Integer: {
    const kernels::KernelInfo *Info = kernels::findKernel(R.Kernel);
    int64_t Value = R.Ints.at(std::string(Info->Ints[P.Index]));
    return LaunchArg{LaunchArgKind::Integer, 0, {static_cast<uint64_t>(Value)}};
  }
  case ParamKind::Buffer:
    break;
  }
  BufferAttr B = bufferOf(Phase, P.Index);
  if (B.getKind() == BufferKind::none ||
      (R.Form && !formUses(R, kernels::findKernel(R.Kernel)->Buffers[P.Index])))
    return LaunchArg{};
  llvm::StringRef Symbol = B.getSym().getValue();
  switch (B.getKind()) {
  case BufferKind::arg:
    for (auto [Name, Index] : {std::pair{"ids", LLMC_ARG_IDS},
                               {"positions", LLMC_ARG_POSITIONS},
                               {"logit_rows", LLMC_ARG_LOGIT_ROWS},
                               {"logits", LLMC_ARG_LOGITS}})
      if (Symbol == Name)
        return Step(Index);
    return phaseError(Phase, "no argument is called " + Symbol.str());
  case BufferKind::slot: {
    exe::SlotOp S = llvm::dyn_cast_or_null<exe::SlotOp>(
        mlir::SymbolTable::lookupSymbolIn(Program, Symbol));
    if (!S || S.getOffsets().size() != Out.Program.Buckets.size())
      return phaseError(Phase, "slot " + Symbol.str() + " is not planned");
    LaunchArg A{LaunchArgKind::Arena, 0, {}};
    for (int64_t Offset : S.getOffsets())
      A.Offsets.push_back(static_cast<uint64_t>(Offset));
    return A;
  }
  case BufferKind::weight:
    return weightArg(Phase, P.Index, Symbol);
  case BufferKind::layer: {
    mlir::ArrayAttr Table =
        At.Layers ? At.Layers.getWeights().getAs<mlir::ArrayAttr>(Symbol)
                  : mlir::ArrayAttr();
    int64_t Row = At.Round;
    if (!Table || Row >= static_cast<int64_t>(Table.size()))
      return phaseError(Phase, "no layer role is called " + Symbol.str());
    return weightArg(
        Phase, P.Index,
        llvm::cast<mlir::FlatSymbolRefAttr>(Table[Row]).getValue());
  }
  case BufferKind::state:
    return stateArg(Phase, Symbol, At);
  case BufferKind::none:
    break;
  }
  return LaunchArg{};
}

std::vector<std::string> Exporter::nodesOf(exe::PhaseOp Phase, Place At) {
  std::vector<std::string> Nodes;
  mlir::ArrayAttr Sources = Phase.getSourceNodesAttr();
  if (At.Layers && At.Layers.getNodes())
    Sources = At.Layers.nodesOf(At.Round, At.Index);
  if (Sources)
    for (mlir::StringAttr S : Sources.getAsRange<mlir::StringAttr>())
      Nodes.push_back(S.getValue().str());
  return Nodes;
}

/// The same for one launch: with the name of its layer.
std::vector<std::string> Exporter::launchNodes(std::vector<std::string> Nodes,
                                               Place At) {
  // Without a list, the body's nodes are those of the first round.
  if (At.Round != 0 && !At.Layers.getNodes())
    Nodes.clear();
  if (At.Layers && At.Layers.getNames() &&
      At.Round < static_cast<int64_t>(At.Layers.getNames()->size()))
    Nodes.push_back(
        llvm::cast<mlir::StringAttr>((*At.Layers.getNames())[At.Round])
            .getValue()
            .str());
  return Nodes;
}

Status Exporter::addPhase(exe::PhaseOp Phase, Place At) {
  LLMC_ASSIGN_OR_RETURN(KernelRequest R, requestOf(Phase));
  noteModelFacts(Phase, R);
  for (KernelForm &Form : formsOf(R, Out.Program.Buckets, Out.Program.Target))
    LLMC_RETURN_IF_ERROR(addLaunch(Phase, std::move(Form), At));
  return Status::success();
}

Status Exporter::addLaunch(exe::PhaseOp Phase, KernelForm Form, Place At) {
  const KernelRequest &R = Form.Request;
  LLMC_ASSIGN_OR_RETURN(uint32_t Kernel, kernelFor(Phase, R));
  Launch L;
  L.Kernel = Kernel;
  L.Grids = std::move(Form.Grids);
  for (const Param &P : Out.Kernels[Kernel].Params) {
    LLMC_ASSIGN_OR_RETURN(LaunchArg A, argOf(Phase, R, P, At));
    L.Args.push_back(std::move(A));
  }
  L.Work = workOf(Program, Phase, Out.Program, R, Out.Kernels[Kernel], L);
  for (size_t B = 0; B != L.Grids.size(); ++B)
    L.Efforts.push_back(effortOf(R, L.Grids[B], Out.Program.Buckets[B],
                                 keysOf(Out.Program, L.Work)));
  if (At.Layers)
    L.Layer = static_cast<int32_t>(At.Layers.layerOf(Phase, At.Round));
  std::vector<std::string> Nodes = nodesOf(Phase, At);
  LaunchKernel &K = Out.Program.Kernels[Kernel];
  for (const std::string &N : Nodes)
    if (std::find(K.SourceNodes.begin(), K.SourceNodes.end(), N) ==
        K.SourceNodes.end())
      K.SourceNodes.push_back(N);
  L.SourceNodes = launchNodes(std::move(Nodes), At);
  Out.Program.Launches.push_back(std::move(L));
  return Status::success();
}

Result<ExportedLaunches> Exporter::run() {
  LLMC_RETURN_IF_ERROR(readSizes());
  LLMC_RETURN_IF_ERROR(readStates());
  exe::StepOp Step = Program.getStep();
  if (!Step)
    return internalError("the program has no exe.step");
  for (mlir::Operation &Op : Step.getBody().front()) {
    if (exe::PhaseOp Phase = llvm::dyn_cast<exe::PhaseOp>(Op)) {
      LLMC_RETURN_IF_ERROR(addPhase(Phase, Place{}));
      continue;
    }
    exe::LayersOp Layers = llvm::cast<exe::LayersOp>(Op);
    for (int64_t Round = 0; Round != Layers.getCount(); ++Round) {
      int64_t Index = 0;
      for (exe::PhaseOp Phase : Layers.getBody().getOps<exe::PhaseOp>())
        LLMC_RETURN_IF_ERROR(addPhase(Phase, Place{Layers, Round, Index++}));
    }
  }
  return std::move(Out);
}

} // namespace

Result<ExportedLaunches> exportLaunches(exe::ProgramOp Program) {
  return Exporter(Program).run();
}

} // namespace llmc::cuda
