// outline-layers: a run of equal layers becomes one exe.layers with a table of
// weights, so that code and compile time grow with the kinds of layers, not
// with their number. The search is in LayerRuns; here the body is built and the
// slots between layers are joined.
#include "compiler/kernels/Catalogue.h"
#include "passes/lowering/LayerRuns.h"
#include "passes/lowering/Passes.h"
#include "passes/lowering/PhaseBuilder.h"
#include "passes/util/NodeNames.h"

#include "dialects/exe/ExeDialect.h"
#include "mlir/IR/SymbolTable.h"

using namespace mlir;

namespace llmc {
#define GEN_PASS_DEF_OUTLINELAYERS
#include "passes/lowering/Passes.h.inc"

namespace {
using exe::BufferAttr;
using exe::BufferKind;

bool isWritten(exe::PhaseOp Phase, size_t Buffer) {
  const kernels::KernelInfo *Info =
      kernels::findKernel(Phase.getKernel().str());
  return kernels::isWritten(Info->Buffers[Buffer]);
}

std::string bufferName(exe::PhaseOp Phase, size_t Buffer) {
  const kernels::KernelInfo *Info =
      kernels::findKernel(Phase.getKernel().str());
  return std::string(Info->Buffers[Buffer]);
}

class ProgramOutliner {
public:
  explicit ProgramOutliner(exe::ProgramOp Program)
      : Program(Program), Symbols(Program), B(Program.getContext()) {}

  void run();

private:
  PhaseFacts factsOf(exe::PhaseOp Phase);
  Attribute keyOf(exe::PhaseOp Phase);
  void outline(const LayerRun &Run);
  void carry(const LayerRun &Run, const CarriedSlot &Carried);
  void copy(Location Loc, StringAttr From, StringAttr To);
  ArrayAttr nodeTable(const LayerRun &Run);
  void makeBody(const LayerRun &Run);
  void joinOutputs(const LayerRun &Run);
  std::string layerName(ArrayRef<exe::PhaseOp> Layer, int64_t Number);
  void eraseUnusedSlots();

  BufferAttr slotBuffer(StringAttr Name) {
    return BufferAttr::get(Program.getContext(), BufferKind::slot, Name);
  }
  StringAttr slotOf(exe::PhaseOp Phase, size_t Output);
  void setRead(exe::PhaseOp Phase, size_t Read, StringAttr Slot);
  bool isRead(int Slot, size_t FromPhase) const;

  exe::ProgramOp Program;
  SymbolTable Symbols;
  OpBuilder B;
  std::vector<exe::PhaseOp> Phases;
  std::vector<PhaseFacts> Facts;
  llvm::DenseMap<StringAttr, int> SlotIds;
  std::vector<StringAttr> SlotNames;
  /// Slots that got another name, applied to all phases at the end.
  llvm::DenseMap<StringAttr, StringAttr> Renamed;
  /// Copies at the end of the body that is being built.
  llvm::SmallVector<std::pair<StringAttr, StringAttr>> EndCopies;
  exe::LayersOp Layers;
};

/// Everything of a phase that is in its code.
Attribute ProgramOutliner::keyOf(exe::PhaseOp Phase) {
  llvm::SmallVector<Attribute> Key{Phase.getKernelAttr(), Phase.getConsts()};
  for (BufferAttr Buffer : Phase.getBuffers().getAsRange<BufferAttr>()) {
    Key.push_back(B.getI64IntegerAttr(static_cast<int64_t>(Buffer.getKind())));
    if (Buffer.getKind() == BufferKind::arg ||
        Buffer.getKind() == BufferKind::state)
      Key.push_back(Buffer.getSym());
    if (Buffer.getKind() == BufferKind::slot) {
      exe::SlotOp Slot = Symbols.lookup<exe::SlotOp>(Buffer.getSym());
      Key.push_back(
          B.getDenseI64ArrayAttr({Slot.getPerToken(), Slot.getFixed()}));
    }
    if (Buffer.getKind() == BufferKind::weight) {
      exe::PackedWeightOp W =
          Symbols.lookup<exe::PackedWeightOp>(Buffer.getSym());
      Key.push_back(W.getLayoutAttr());
      Key.push_back(B.getDenseI64ArrayAttr({W.getRows(), W.getCols()}));
    }
  }
  return B.getArrayAttr(Key);
}

PhaseFacts ProgramOutliner::factsOf(exe::PhaseOp Phase) {
  PhaseFacts Facts;
  Facts.Key = keyOf(Phase).getAsOpaquePointer();
  for (auto [I, Buffer] :
       llvm::enumerate(Phase.getBuffers().getAsRange<BufferAttr>())) {
    if (Buffer.getKind() == BufferKind::state)
      Facts.Layer = Phase.getLayer();
    if (Buffer.getKind() != BufferKind::slot)
      continue;
    auto [It, New] = SlotIds.try_emplace(Buffer.getSym(), SlotNames.size());
    if (New)
      SlotNames.push_back(Buffer.getSym());
    (isWritten(Phase, I) ? Facts.Writes : Facts.Reads).push_back(It->second);
  }
  return Facts;
}

StringAttr ProgramOutliner::slotOf(exe::PhaseOp Phase, size_t Output) {
  for (auto [I, Buffer] :
       llvm::enumerate(Phase.getBuffers().getAsRange<BufferAttr>()))
    if (Buffer.getKind() == BufferKind::slot && isWritten(Phase, I) &&
        Output-- == 0)
      return Buffer.getSym();
  return nullptr;
}

/// Makes the phase's slot number Read (of those that it reads) another one.
void ProgramOutliner::setRead(exe::PhaseOp Phase, size_t Read,
                              StringAttr Slot) {
  llvm::SmallVector<Attribute> Buffers(Phase.getBuffers().getValue());
  for (auto [I, A] : llvm::enumerate(Buffers))
    if (cast<BufferAttr>(A).getKind() == BufferKind::slot &&
        !isWritten(Phase, I) && Read-- == 0)
      A = slotBuffer(Slot);
  Phase.setBuffersAttr(B.getArrayAttr(Buffers));
}

/// True when a phase from FromPhase on reads the slot (as it was before any
/// outlining).
bool ProgramOutliner::isRead(int Slot, size_t FromPhase) const {
  return llvm::any_of(
      ArrayRef(Facts).drop_front(FromPhase),
      [&](const PhaseFacts &F) { return llvm::is_contained(F.Reads, Slot); });
}

/// A phase that copies a slot: scale by one is exact.
void ProgramOutliner::copy(Location Loc, StringAttr From, StringAttr To) {
  exe::SlotOp Slot = Symbols.lookup<exe::SlotOp>(From);
  PhaseBuilder(B.getContext(), "scale")
      .buffer("x", slotBuffer(From))
      .buffer("out", slotBuffer(To))
      .integer("n", Slot.getPerToken() / 4)
      .real("factor", llvm::APFloat(1.0f))
      .build(B, Loc);
}

/// Gives a value between layers one slot. The builder stands before the run.
void ProgramOutliner::carry(const LayerRun &Run, const CarriedSlot &Carried) {
  StringAttr Initial = SlotNames[Carried.Initial];
  StringAttr Next = slotOf(Phases[Run.First + Carried.Writer], Carried.Output);
  StringAttr Slot = Initial;
  // Whoever else reads the initial slot must not find a later layer's value.
  if (isRead(Carried.Initial, Run.First + Run.Period)) {
    exe::SlotOp Old = Symbols.lookup<exe::SlotOp>(Initial);
    exe::SlotOp New = cast<exe::SlotOp>(OpBuilder(Old).clone(*Old));
    New->remove();
    Slot = Symbols.insert(New, std::next(Old->getIterator()));
    copy(Phases[Run.First].getLoc(), Initial, Slot);
    for (auto [Phase, Read] : Carried.Reads)
      setRead(Phases[Run.First + Phase], Read, Slot);
  }
  if (Carried.Writer > Carried.lastRead())
    Renamed[Next] = Slot;
  else
    EndCopies.push_back({Next, Slot});
}

/// The layer's ONNX name: what the names of its nodes have in common.
std::string ProgramOutliner::layerName(ArrayRef<exe::PhaseOp> Layer,
                                       int64_t Number) {
  std::optional<StringRef> Prefix;
  for (exe::PhaseOp Phase : Layer) {
    if (!Phase.getSourceNodes())
      continue;
    for (StringAttr Name : Phase.getSourceNodes()->getAsRange<StringAttr>()) {
      StringRef Other = Name.getValue();
      if (!Prefix)
        Prefix = Other;
      size_t N = 0;
      while (N < Prefix->size() && N < Other.size() && (*Prefix)[N] == Other[N])
        ++N;
      Prefix = Prefix->take_front(N);
    }
  }
  size_t End = Prefix ? Prefix->find_last_of("./") : StringRef::npos;
  if (End == StringRef::npos || End == 0)
    return "layer" + std::to_string(Number);
  return Prefix->take_front(End).str();
}

/// The ONNX nodes of every phase in every layer; null when no phase has any.
ArrayAttr ProgramOutliner::nodeTable(const LayerRun &Run) {
  bool Any = false;
  llvm::SmallVector<Attribute> Rounds;
  for (size_t L = 0; L != Run.Count; ++L) {
    llvm::SmallVector<Attribute> Round;
    for (size_t J = 0; J != Run.Period; ++J) {
      exe::PhaseOp Phase = Phases[Run.First + L * Run.Period + J];
      ArrayAttr Nodes = Phase.getSourceNodesAttr();
      Any |= Nodes != nullptr;
      Round.push_back(Nodes ? Nodes : B.getArrayAttr({}));
    }
    Rounds.push_back(B.getArrayAttr(Round));
  }
  return Any ? B.getArrayAttr(Rounds) : nullptr;
}

/// The body: the first layer's phases, their weights by role.
void ProgramOutliner::makeBody(const LayerRun &Run) {
  llvm::SmallVector<NamedAttribute> Table;
  llvm::SmallVector<StringRef> NameRefs;
  std::vector<std::string> Names;
  for (size_t L = 0; L != Run.Count; ++L)
    Names.push_back(layerName(
        ArrayRef(Phases).slice(Run.First + L * Run.Period, Run.Period),
        Run.FirstLayer + static_cast<int64_t>(L) * Run.Stride));
  NameRefs.assign(Names.begin(), Names.end());

  Location Loc = Phases[Run.First].getLoc();
  Layers = exe::LayersOp::create(B, Loc, Run.FirstLayer,
                                 static_cast<int64_t>(Run.Count),
                                 B.getDictionaryAttr({}), Run.Stride,
                                 B.getStrArrayAttr(NameRefs), nodeTable(Run));
  B.setInsertionPointToEnd(&Layers.getBody().emplaceBlock());
  for (size_t J = 0; J != Run.Period; ++J) {
    exe::PhaseOp Phase = Phases[Run.First + J];
    llvm::SmallVector<Attribute> Buffers(Phase.getBuffers().getValue());
    for (auto [I, A] : llvm::enumerate(Buffers)) {
      if (cast<BufferAttr>(A).getKind() != BufferKind::weight)
        continue;
      StringAttr Role = B.getStringAttr(Phase.getKernel() + Twine(J) + "." +
                                        bufferName(Phase, I));
      llvm::SmallVector<Attribute> Column;
      for (size_t L = 0; L != Run.Count; ++L) {
        exe::PhaseOp Same = Phases[Run.First + L * Run.Period + J];
        Column.push_back(FlatSymbolRefAttr::get(
            cast<BufferAttr>(Same.getBuffers()[I]).getSym()));
      }
      Table.push_back({Role, B.getArrayAttr(Column)});
      A = BufferAttr::get(B.getContext(), BufferKind::layer, Role);
    }
    exe::PhaseOp New = cast<exe::PhaseOp>(B.clone(*Phase));
    New.setBuffersAttr(B.getArrayAttr(Buffers));
    if (Phase.getLayer())
      New.setLayer(Phase.getLayer() - Run.FirstLayer);
  }
  Layers.setWeightsAttr(B.getDictionaryAttr(Table));
}

/// Who reads a result of the last layer finds it in the body's slot.
void ProgramOutliner::joinOutputs(const LayerRun &Run) {
  for (size_t J = 0; J != Run.Period; ++J) {
    exe::PhaseOp First = Phases[Run.First + J];
    exe::PhaseOp Last = Phases[Run.First + (Run.Count - 1) * Run.Period + J];
    for (size_t Output = 0; StringAttr Slot = slotOf(Last, Output); ++Output)
      Renamed[Slot] = slotOf(First, Output);
  }
}

void ProgramOutliner::outline(const LayerRun &Run) {
  EndCopies.clear();
  joinOutputs(Run);
  B.setInsertionPoint(Phases[Run.First]);
  for (const CarriedSlot &Carried : Run.Carried)
    carry(Run, Carried);
  makeBody(Run);
  for (auto [From, To] : EndCopies)
    copy(Layers.getLoc(), From, To);
  for (size_t I = Run.First; I != Run.end(); ++I)
    Phases[I].erase();
}

void ProgramOutliner::eraseUnusedSlots() {
  llvm::DenseSet<StringAttr> Used;
  Program.walk([&](exe::PhaseOp Phase) {
    for (BufferAttr Buffer : Phase.getBuffers().getAsRange<BufferAttr>())
      if (Buffer.getKind() == BufferKind::slot)
        Used.insert(Buffer.getSym());
  });
  for (exe::SlotOp Slot :
       llvm::make_early_inc_range(Program.getBody().getOps<exe::SlotOp>()))
    if (!Used.contains(Slot.getSymNameAttr()))
      Slot.erase();
}

void ProgramOutliner::run() {
  for (Operation &Op : Program.getStep().getBody().front()) {
    exe::PhaseOp Phase = dyn_cast<exe::PhaseOp>(Op);
    if (!Phase)
      return; // outlined before
    Phases.push_back(Phase);
    Facts.push_back(factsOf(Phase));
  }
  std::vector<LayerRun> Runs = findLayerRuns(Facts);
  // The last run first: runs before it still see whole phases behind them.
  for (const LayerRun &Run : llvm::reverse(Runs))
    outline(Run);
  auto FinalName = [&](StringAttr Name) {
    for (auto It = Renamed.find(Name);
         It != Renamed.end() && It->second != Name; It = Renamed.find(Name))
      Name = It->second;
    return Name;
  };
  Program.walk([&](exe::PhaseOp Phase) {
    llvm::SmallVector<Attribute> Buffers(Phase.getBuffers().getValue());
    for (Attribute &A : Buffers)
      if (cast<BufferAttr>(A).getKind() == BufferKind::slot)
        A = slotBuffer(FinalName(cast<BufferAttr>(A).getSym()));
    Phase.setBuffersAttr(B.getArrayAttr(Buffers));
  });
  eraseUnusedSlots();
}

class OutlineLayers : public impl::OutlineLayersBase<OutlineLayers> {
public:
  void runOnOperation() override {
    for (exe::ProgramOp Program : getOperation().getOps<exe::ProgramOp>())
      if (Program.getStep())
        ProgramOutliner(Program).run();
  }
};
} // namespace
} // namespace llmc
