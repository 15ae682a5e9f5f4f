// The walk over exe.step. A phase in exe.layers becomes a launch per layer; the
// launches of identical layers share their kernels, because everything that
// differs between layers is an argument.
#include "compiler/target/cuda/ExportLaunches.h"

#include "compiler/kernels/Catalogue.h"
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
  Result<KernelRequest> requestOf(exe::PhaseOp Phase);
  Result<uint32_t> kernelFor(exe::PhaseOp Phase, const KernelRequest &R);
  Result<LaunchArg> argOf(exe::PhaseOp Phase, const Param &P, Place At);
  Result<LaunchArg> weightArg(exe::PhaseOp Phase, unsigned Buffer,
                              llvm::StringRef Symbol);
  Status checkWeight(exe::PhaseOp Phase, unsigned Buffer,
                     exe::PackedWeightOp W);
  Result<LaunchArg> stateArg(exe::PhaseOp Phase, llvm::StringRef Symbol,
                             Place At);
  void noteModelFacts(const KernelRequest &R);

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
    L.Type = S.getDtype().isF32() ? DType::F32 : DType::F16;
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
void Exporter::noteModelFacts(const KernelRequest &R) {
  if (R.Kernel == "embed") {
    Out.Program.Vocab = static_cast<uint32_t>(R.Ints.at("vocab"));
    Out.Program.Hidden = static_cast<uint32_t>(R.Ints.at("hidden"));
  } else if (R.Kernel == "logits") {
    Out.Program.Vocab = static_cast<uint32_t>(R.Ints.at("n"));
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
    Out.Program.Kernels.push_back(std::move(K));
    Out.Kernels.push_back(std::move(I));
  } else if (Out.Kernels[It->second].Text != I.Text) {
    return phaseError(Phase, "two kernels have the name " + I.Entry);
  }
  return It->second;
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
    Expected = Phase.getInt("wtype") == kernels::WI8B32 ? "n.w8b32" : "n.f16";
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

Result<LaunchArg> Exporter::argOf(exe::PhaseOp Phase, const Param &P,
                                  Place At) {
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
  case ParamKind::Buffer:
    break;
  }
  BufferAttr B = bufferOf(Phase, P.Buffer);
  if (B.getKind() == BufferKind::none)
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
    return weightArg(Phase, P.Buffer, Symbol);
  case BufferKind::layer: {
    mlir::ArrayAttr Table =
        At.Layers ? At.Layers.getWeights().getAs<mlir::ArrayAttr>(Symbol)
                  : mlir::ArrayAttr();
    int64_t Row = At.Round;
    if (!Table || Row >= static_cast<int64_t>(Table.size()))
      return phaseError(Phase, "no layer role is called " + Symbol.str());
    return weightArg(
        Phase, P.Buffer,
        llvm::cast<mlir::FlatSymbolRefAttr>(Table[Row]).getValue());
  }
  case BufferKind::state:
    return stateArg(Phase, Symbol, At);
  case BufferKind::none:
    break;
  }
  return LaunchArg{};
}

Status Exporter::addPhase(exe::PhaseOp Phase, Place At) {
  LLMC_ASSIGN_OR_RETURN(KernelRequest R, requestOf(Phase));
  noteModelFacts(R);
  LLMC_ASSIGN_OR_RETURN(uint32_t Kernel, kernelFor(Phase, R));
  Launch L;
  L.Kernel = Kernel;
  for (uint32_t Bucket : Out.Program.Buckets)
    L.Grids.push_back(gridOf(R, Bucket));
  for (const Param &P : Out.Kernels[Kernel].Params) {
    LLMC_ASSIGN_OR_RETURN(LaunchArg A, argOf(Phase, P, At));
    L.Args.push_back(std::move(A));
  }
  if (At.Layers)
    L.Layer = static_cast<int32_t>(At.Layers.layerOf(Phase, At.Round));
  std::vector<std::string> Nodes;
  mlir::ArrayAttr Sources = Phase.getSourceNodesAttr();
  if (At.Layers && At.Layers.getNodes())
    Sources = At.Layers.nodesOf(At.Round, At.Index);
  if (Sources)
    for (mlir::StringAttr S : Sources.getAsRange<mlir::StringAttr>())
      Nodes.push_back(S.getValue().str());
  LaunchKernel &K = Out.Program.Kernels[Kernel];
  for (const std::string &N : Nodes)
    if (std::find(K.SourceNodes.begin(), K.SourceNodes.end(), N) ==
        K.SourceNodes.end())
      K.SourceNodes.push_back(N);
  // Without a list, the body's nodes are those of the first round.
  if (At.Round != 0 && !At.Layers.getNodes())
    Nodes.clear();
  if (At.Layers && At.Layers.getNames() &&
      At.Round < static_cast<int64_t>(At.Layers.getNames()->size()))
    Nodes.push_back(
        llvm::cast<mlir::StringAttr>((*At.Layers.getNames())[At.Round])
            .getValue()
            .str());
  L.SourceNodes = std::move(Nodes);
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
