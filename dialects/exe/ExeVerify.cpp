// Verifiers of the exe dialect. Every message carries the number of the
// constraint in ExeOps.td; the tests are named after it.
#include "compiler/kernels/Catalogue.h"
#include "dialects/exe/ExeDialect.h"

using namespace mlir;
using namespace llmc::exe;

LogicalResult ProgramOp::verify() {
  int64_t Last = 0;
  for (int64_t B : getBuckets()) {
    if (B <= Last)
      return emitOpError("C1: buckets must ascend from 1, found ")
             << B << " after " << Last;
    Last = B;
  }
  if (getBuckets().empty())
    return emitOpError("C1: needs a bucket");
  if (!getArenaBytes().empty() && getArenaBytes().size() != getBuckets().size())
    return emitOpError("C2: expected ")
           << getBuckets().size() << " arena sizes, found "
           << getArenaBytes().size();
  if (getPageTokens() < 1 || getMaxContext() < 1 || getMaxSequences() < 1)
    return emitOpError(
        "C3: page_tokens, max_context and max_sequences must be positive");
  return success();
}

LogicalResult SlotOp::verify() {
  if (getPerToken() < 0 || getFixed() < 0 ||
      (getPerToken() == 0 && getFixed() == 0))
    return emitOpError("C1: expected a positive size, found per_token ")
           << getPerToken() << " and fixed " << getFixed();
  if (getOffsets().empty())
    return success();
  ProgramOp Program = (*this)->getParentOfType<ProgramOp>();
  if (Program && Program.getBuckets().size() != getOffsets().size())
    return emitOpError("C2: expected ")
           << Program.getBuckets().size() << " offsets, found "
           << getOffsets().size();
  for (int64_t Offset : getOffsets())
    if (Offset < 0 || Offset % 64 != 0)
      return emitOpError("C2: offset ") << Offset << " is no multiple of 64";
  return success();
}

LogicalResult PackedWeightOp::verify() {
  if (getRows() < 1 || getCols() < 1)
    return emitOpError("C1: expected positive rows and cols, found ")
           << getRows() << " x " << getCols();
  int64_t Rows = 0;
  for (SourceAttr Step : getProgram().getAsRange<SourceAttr>())
    Rows += Step.getCount();
  if (Rows != getRows())
    return emitOpError("C2: expected ")
           << getRows() << " rows from the program, found " << Rows;
  if ((getOffset() == -1) != (getBytes() == -1) || getOffset() < -1 ||
      getBytes() < -1)
    return emitOpError("C3: offset ")
           << getOffset() << " and bytes " << getBytes()
           << " must be planned together";
  return success();
}

LogicalResult StateOp::verify() {
  if (getLayers() < 1 || getKvHeads() < 1 || getHeadDim() < 1 ||
      getVHeadDim() < 1)
    return emitOpError(
        "C1: layers, kv_heads, head_dim and v_head_dim must be positive");
  if (!getDtype().isF32() && !getDtype().isF16() && !getDtype().isInteger(8))
    return emitOpError("C2: expected dtype f32, f16 or i8, found ")
           << getDtype();
  return success();
}

LogicalResult StepOp::verify() {
  for (Operation &Op : getBody().front())
    if (!isa<PhaseOp, LayersOp>(Op))
      return emitOpError("C1: holds ") << Op.getName();
  return success();
}

LogicalResult LayersOp::verify() {
  if (getCount() < 1 || getFirst() < 0 || getStride() < 0)
    return emitOpError("C1: expected a positive count, found first ")
           << getFirst() << ", count " << getCount() << " and stride "
           << getStride();
  ProgramOp Program = (*this)->getParentOfType<ProgramOp>();
  for (NamedAttribute Entry : getWeights()) {
    ArrayAttr Symbols = dyn_cast<ArrayAttr>(Entry.getValue());
    if (!Symbols || static_cast<int64_t>(Symbols.size()) != getCount())
      return emitOpError("C2: role '") << Entry.getName().strref() << "' needs "
                                       << getCount() << " symbols";
    for (Attribute A : Symbols) {
      FlatSymbolRefAttr Ref = dyn_cast<FlatSymbolRefAttr>(A);
      if (!Ref || !Program ||
          !isa_and_nonnull<PackedWeightOp>(
              SymbolTable::lookupSymbolIn(Program, Ref)))
        return emitOpError("C2: role '")
               << Entry.getName().strref() << "' names " << A
               << ", which is no packed weight";
    }
  }
  if (getNames() && static_cast<int64_t>(getNames()->size()) != getCount())
    return emitOpError("C3: expected ")
           << getCount() << " names, found " << getNames()->size();
  if (getNodes() && static_cast<int64_t>(getNodes()->size()) != getCount())
    return emitOpError("C3: expected nodes of ")
           << getCount() << " rounds, found " << getNodes()->size();
  for (Operation &Op : getBody().front())
    if (!isa<PhaseOp>(Op))
      return emitOpError("C4: holds ") << Op.getName();
  return success();
}

LogicalResult PhaseOp::verify() {
  const llmc::kernels::KernelInfo *Info =
      llmc::kernels::findKernel(getKernel().str());
  if (!Info)
    return emitOpError("C1: unknown kernel '") << getKernel() << "'";
  if (getBuffers().size() != Info->Buffers.size())
    return emitOpError("C2: kernel '")
           << getKernel() << "' has " << Info->Buffers.size()
           << " buffers, found " << getBuffers().size();
  size_t Known = 0;
  for (std::string_view Name : Info->Ints) {
    IntegerAttr A = getConsts().getAs<IntegerAttr>(Name);
    if (!A || !A.getType().isSignlessInteger(64))
      return emitOpError("C3: kernel '")
             << getKernel() << "' needs the i64 constant '" << Name << "'";
    ++Known;
  }
  for (std::string_view Name : Info->Floats) {
    FloatAttr A = getConsts().getAs<FloatAttr>(Name);
    if (!A || !A.getType().isF32())
      return emitOpError("C3: kernel '")
             << getKernel() << "' needs the f32 constant '" << Name << "'";
    ++Known;
  }
  if (Known != getConsts().size())
    return emitOpError("C3: kernel '")
           << getKernel() << "' has " << Known << " constants, found "
           << getConsts().size();
  return success();
}

/// True when the buffer names something of its kind.
static bool resolves(PhaseOp Phase, BufferAttr Buffer,
                     SymbolTableCollection &Tables) {
  if (Buffer.getKind() == BufferKind::none)
    return !Buffer.getSym();
  if (!Buffer.getSym())
    return false;
  llvm::StringRef Name = Buffer.getSym().getValue();
  if (Buffer.getKind() == BufferKind::arg)
    return Name == "ids" || Name == "positions" || Name == "logit_rows" ||
           Name == "logits";
  if (Buffer.getKind() == BufferKind::layer) {
    LayersOp Layers = Phase->getParentOfType<LayersOp>();
    return Layers && Layers.getWeights().get(Name);
  }
  ProgramOp Program = Phase->getParentOfType<ProgramOp>();
  if (!Program)
    return false;
  Operation *Symbol = Tables.lookupSymbolIn(Program, Buffer.getSym());
  switch (Buffer.getKind()) {
  case BufferKind::slot:
    return isa_and_nonnull<SlotOp>(Symbol);
  case BufferKind::weight:
    return isa_and_nonnull<PackedWeightOp>(Symbol);
  case BufferKind::state:
    return isa_and_nonnull<StateOp>(Symbol);
  default:
    return false;
  }
}

LogicalResult PhaseOp::verifySymbolUses(SymbolTableCollection &Tables) {
  for (BufferAttr Buffer : getBuffers().getAsRange<BufferAttr>())
    if (!resolves(*this, Buffer, Tables))
      return emitOpError("C4: nothing of its kind is named by ") << Buffer;
  return success();
}
