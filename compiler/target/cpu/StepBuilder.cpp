// Builds the LLVM module of a program: `step` runs the phases in order, each a
// call of its kernel with literal constants and then the barrier. exe.layers
// becomes a function of the layer number that a loop calls; what differs
// between layers (weights) comes from constant tables of offsets.
#include "compiler/target/cpu/StepBuilder.h"

#include "compiler/kernels/Catalogue.h"
#include "runtime/device/StepAbi.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/IR/IRBuilder.h"

#include <cstddef>

namespace llmc::cpu {
namespace {
using llvm::Value;

class Builder {
public:
  Builder(exe::ProgramOp P, const std::string &Isa, llvm::LLVMContext &C)
      : Program(P), Isa(Isa), Context(C), B(C),
        M(std::make_unique<llvm::Module>("llmc", C)), Ptr(B.getPtrTy()),
        I32(B.getInt32Ty()), I64(B.getInt64Ty()) {}

  Status build();
  StepModule take() { return {std::move(M), std::move(Kernels)}; }

private:
  /// Where a phase is: which context, which layer.
  struct Place {
    Value *Ctx, *Args, *Counts;
    exe::LayersOp Layers; ///< null outside
    Value *Layer;         ///< number within Layers, i64
  };

  Place makePlace(Value *Ctx, exe::LayersOp Layers, Value *Layer);
  Status emitStep(exe::StepOp Step);
  Result<llvm::Function *> emitLayers(exe::LayersOp Layers);
  Status emitPhase(exe::PhaseOp Phase, Place &At);
  void emitBarrier(Value *Ctx);
  void emitQuery(llvm::Function *Step);

  Result<Value *> buffer(exe::PhaseOp Phase, exe::BufferAttr Buf, Place &At);
  Result<Value *> slot(llvm::StringRef Name, Place &At);
  Result<int64_t> weightOffset(llvm::StringRef Name);
  Result<Value *> layerWeight(llvm::StringRef Role, Place &At);
  Value *state(exe::StateOp State, exe::PhaseOp Phase, Place &At);

  Value *argument(Place &At, unsigned Index) {
    Value *Slot = B.CreateConstGEP1_64(B.getInt8Ty(), At.Args,
                                       offsetof(LlmcStepArgs, ptr) +
                                           Index * sizeof(void *));
    return B.CreateLoad(Ptr, Slot);
  }
  Value *advance(Value *Base, Value *Bytes) {
    return B.CreateInBoundsGEP(B.getInt8Ty(), Base, Bytes);
  }
  /// Constant table of numbers, and the entry at Index.
  Value *tableEntry(llvm::ArrayRef<int64_t> Values, Value *Index,
                    const llvm::Twine &Name);
  int64_t elementBytes(exe::StateOp S) { return S.getDtype().isF32() ? 4 : 2; }
  int64_t layerBytes(exe::StateOp S) {
    return S.getKvHeads() * (S.getHeadDim() + S.getVHeadDim()) *
           Program.getPageTokens() * elementBytes(S);
  }
  int64_t pageStride() {
    int64_t Sum = 0;
    for (exe::StateOp S : Program.getBody().getOps<exe::StateOp>())
      Sum += layerBytes(S) * S.getLayers();
    return Sum;
  }

  exe::ProgramOp Program;
  std::string Isa;
  llvm::LLVMContext &Context;
  llvm::IRBuilder<> B;
  std::unique_ptr<llvm::Module> M;
  llvm::Type *Ptr, *I32, *I64;
  std::set<std::string> Kernels;
  unsigned LayerFunctions = 0;
};

Value *Builder::tableEntry(llvm::ArrayRef<int64_t> Values, Value *Index,
                           const llvm::Twine &Name) {
  if (llvm::all_equal(Values))
    return B.getInt64(Values.front());
  llvm::SmallVector<uint64_t> Words(Values.begin(), Values.end());
  llvm::Constant *Data = llvm::ConstantDataArray::get(Context, Words);
  auto *Table = new llvm::GlobalVariable(
      *M, Data->getType(), true, llvm::GlobalValue::PrivateLinkage, Data, Name);
  Table->setUnnamedAddr(llvm::GlobalValue::UnnamedAddr::Global);
  return B.CreateLoad(I64, B.CreateInBoundsGEP(I64, Table, Index));
}

Builder::Place Builder::makePlace(Value *Ctx, exe::LayersOp Layers,
                                  Value *Layer) {
  auto Field = [&](size_t Offset) {
    return B.CreateLoad(Ptr, B.CreateConstGEP1_64(B.getInt8Ty(), Ctx, Offset));
  };
  return {Ctx, Field(offsetof(LlmcCtx, args)), Field(offsetof(LlmcCtx, counts)),
          Layers, Layer};
}

Result<Value *> Builder::slot(llvm::StringRef Name, Place &At) {
  auto Slot = mlir::dyn_cast_or_null<exe::SlotOp>(
      mlir::SymbolTable::lookupSymbolIn(Program, Name));
  if (!Slot)
    return internalError("phase names slot @" + Name.str() +
                         ", which the program does not have");
  if (Slot.getOffsets().size() != Program.getBuckets().size())
    return internalError("slot @" + Name.str() + ": expected " +
                         std::to_string(Program.getBuckets().size()) +
                         " planned offsets, found " +
                         std::to_string(Slot.getOffsets().size()));
  Value *Bucket =
      B.CreateLoad(I32, B.CreateConstGEP1_64(B.getInt8Ty(), At.Counts,
                                             offsetof(LlmcCounts, bucket)));
  Value *Offset =
      tableEntry(Slot.getOffsets(), B.CreateZExt(Bucket, I64), "slot." + Name);
  return advance(argument(At, LLMC_ARG_ARENA), Offset);
}

Result<int64_t> Builder::weightOffset(llvm::StringRef Name) {
  auto W = mlir::dyn_cast_or_null<exe::PackedWeightOp>(
      mlir::SymbolTable::lookupSymbolIn(Program, Name));
  if (!W)
    return internalError("phase names weight @" + Name.str() +
                         ", which the program does not have");
  if (W.getOffset() < 0)
    return internalError("weight @" + Name.str() + " has no planned offset");
  return static_cast<int64_t>(W.getOffset());
}

Result<Value *> Builder::layerWeight(llvm::StringRef Role, Place &At) {
  if (!At.Layers)
    return internalError("role '" + Role.str() + "' outside exe.layers");
  auto Names = At.Layers.getWeights().getAs<mlir::ArrayAttr>(Role);
  if (!Names || static_cast<int64_t>(Names.size()) != At.Layers.getCount())
    return internalError("role '" + Role.str() + "' has no symbol per layer");
  llvm::SmallVector<int64_t> Offsets;
  for (mlir::Attribute A : Names) {
    LLMC_ASSIGN_OR_RETURN(
        int64_t Offset,
        weightOffset(mlir::cast<mlir::FlatSymbolRefAttr>(A).getValue()));
    Offsets.push_back(Offset);
  }
  return advance(argument(At, LLMC_ARG_WEIGHTS),
                 tableEntry(Offsets, At.Layer, "layers." + Role));
}

Value *Builder::state(exe::StateOp State, exe::PhaseOp Phase, Place &At) {
  int64_t Base = 0;
  for (exe::StateOp S : Program.getBody().getOps<exe::StateOp>()) {
    if (S == State)
      break;
    Base += layerBytes(S) * S.getLayers();
  }
  // In a loop: where its first round is, then a stride per round.
  Value *Layer = B.getInt64(Phase.getLayer());
  if (At.Layers)
    Layer =
        B.CreateAdd(B.CreateMul(At.Layer, B.getInt64(At.Layers.getStride())),
                    B.getInt64(At.Layers.layerOf(Phase, 0)));
  Value *Offset = B.CreateAdd(B.CreateMul(Layer, B.getInt64(layerBytes(State))),
                              B.getInt64(Base));
  return advance(argument(At, LLMC_ARG_KV), Offset);
}

Result<Value *> Builder::buffer(exe::PhaseOp Phase, exe::BufferAttr Buf,
                                Place &At) {
  llvm::StringRef Name = Buf.getSym() ? Buf.getSym().getValue() : "";
  switch (Buf.getKind()) {
  case exe::BufferKind::none:
    return static_cast<Value *>(llvm::ConstantPointerNull::get(B.getPtrTy()));
  case exe::BufferKind::arg: {
    int Index = llvm::StringSwitch<int>(Name)
                    .Case("ids", LLMC_ARG_IDS)
                    .Case("positions", LLMC_ARG_POSITIONS)
                    .Case("logit_rows", LLMC_ARG_LOGIT_ROWS)
                    .Case("logits", LLMC_ARG_LOGITS)
                    .Default(-1);
    if (Index < 0)
      return internalError("phase names argument '" + Name.str() +
                           "', which a step does not have");
    return argument(At, Index);
  }
  case exe::BufferKind::slot:
    return slot(Name, At);
  case exe::BufferKind::weight: {
    LLMC_ASSIGN_OR_RETURN(int64_t Offset, weightOffset(Name));
    return advance(argument(At, LLMC_ARG_WEIGHTS), B.getInt64(Offset));
  }
  case exe::BufferKind::layer:
    return layerWeight(Name, At);
  case exe::BufferKind::state: {
    auto State = mlir::dyn_cast_or_null<exe::StateOp>(
        mlir::SymbolTable::lookupSymbolIn(Program, Name));
    if (!State)
      return internalError("phase names state @" + Name.str() +
                           ", which the program does not have");
    int64_t Last = At.Layers
                       ? At.Layers.layerOf(Phase, At.Layers.getCount() - 1)
                       : static_cast<int64_t>(Phase.getLayer());
    if (Last < 0 || Last >= State.getLayers())
      return internalError("state @" + Name.str() +
                           ": expected a layer below " +
                           std::to_string(State.getLayers()) + ", found " +
                           std::to_string(Last));
    return state(State, Phase, At);
  }
  }
  return internalError("unknown kind of buffer");
}

Status Builder::emitPhase(exe::PhaseOp Phase, Place &At) {
  LLMC_RETURN_IF_ERROR(checkPhase(Phase));
  const kernels::KernelInfo *Info = kernels::findKernel(Phase.getKernel());
  if (!Info || Info->Buffers.size() != Phase.getBuffers().size())
    return internalError("phase of kernel '" + Phase.getKernel().str() +
                         "' does not fit the catalogue");
  llvm::SmallVector<Value *> Operands = {At.Ctx};
  llvm::SmallVector<llvm::Type *> Types = {Ptr};
  auto Add = [&](Value *V) {
    Operands.push_back(V);
    Types.push_back(V->getType());
  };
  bool HasKv = false;
  for (auto [Name, Attr] : llvm::zip_equal(Info->Buffers, Phase.getBuffers())) {
    HasKv |= Name == "kv";
    LLMC_ASSIGN_OR_RETURN(Value * V,
                          buffer(Phase, mlir::cast<exe::BufferAttr>(Attr), At));
    Add(V);
  }
  for (std::string_view Name : Info->Ints)
    Add(B.getInt64(Phase.getConsts().getAs<mlir::IntegerAttr>(Name).getInt()));
  if (HasKv)
    Add(B.getInt64(pageStride()));
  for (std::string_view Name : Info->Floats)
    Add(llvm::ConstantFP::get(
        B.getFloatTy(),
        Phase.getConsts().getAs<mlir::FloatAttr>(Name).getValueAsDouble()));
  std::string Name = "k_" + std::string(Info->Name) + "_" + Isa;
  Kernels.insert(std::string(Info->Name));
  B.CreateCall(M->getOrInsertFunction(
                   Name, llvm::FunctionType::get(B.getVoidTy(), Types, false)),
               Operands);
  emitBarrier(At.Ctx);
  return Status::success();
}

void Builder::emitBarrier(Value *Ctx) {
  Kernels.insert("barrier");
  B.CreateCall(M->getOrInsertFunction("k_barrier_" + Isa, B.getVoidTy(), Ptr),
               {Ctx});
}

Result<llvm::Function *> Builder::emitLayers(exe::LayersOp Layers) {
  llvm::Function *F = llvm::Function::Create(
      llvm::FunctionType::get(B.getVoidTy(), {Ptr, I64}, false),
      llvm::GlobalValue::InternalLinkage,
      "layers" + std::to_string(LayerFunctions++), *M);
  llvm::IRBuilderBase::InsertPointGuard Guard(B);
  B.SetInsertPoint(llvm::BasicBlock::Create(Context, "entry", F));
  Place At = makePlace(F->getArg(0), Layers, F->getArg(1));
  for (exe::PhaseOp Phase : Layers.getBody().getOps<exe::PhaseOp>())
    LLMC_RETURN_IF_ERROR(emitPhase(Phase, At));
  B.CreateRetVoid();
  return F;
}

Status Builder::emitStep(exe::StepOp Step) {
  llvm::Function *F = llvm::Function::Create(
      llvm::FunctionType::get(B.getVoidTy(), {Ptr, I32, I32}, false),
      llvm::GlobalValue::InternalLinkage, "step", *M);
  B.SetInsertPoint(llvm::BasicBlock::Create(Context, "entry", F));
  llvm::AllocaInst *Ctx =
      B.CreateAlloca(llvm::ArrayType::get(I64, sizeof(LlmcCtx) / 8));
  Ctx->setAlignment(llvm::Align(16));
  auto Field = [&](size_t Offset) {
    return B.CreateConstGEP1_64(B.getInt8Ty(), Ctx, Offset);
  };
  Value *Counts =
      B.CreateLoad(Ptr, B.CreateConstGEP1_64(B.getInt8Ty(), F->getArg(0),
                                             offsetof(LlmcStepArgs, ptr)));
  B.CreateStore(F->getArg(0), Field(offsetof(LlmcCtx, args)));
  B.CreateStore(Counts, Field(offsetof(LlmcCtx, counts)));
  B.CreateStore(F->getArg(1), Field(offsetof(LlmcCtx, thread)));
  B.CreateStore(F->getArg(2), Field(offsetof(LlmcCtx, threads)));
  Place At = makePlace(Ctx, {}, nullptr);

  for (mlir::Operation &Op : Step.getBody().front()) {
    if (auto Phase = mlir::dyn_cast<exe::PhaseOp>(Op)) {
      LLMC_RETURN_IF_ERROR(emitPhase(Phase, At));
      continue;
    }
    auto Layers = mlir::dyn_cast<exe::LayersOp>(Op);
    if (!Layers)
      return internalError("exe.step holds " +
                           Op.getName().getStringRef().str());
    LLMC_ASSIGN_OR_RETURN(llvm::Function * Body, emitLayers(Layers));
    llvm::BasicBlock *Before = B.GetInsertBlock();
    auto *Loop = llvm::BasicBlock::Create(Context, "layer", F);
    auto *After = llvm::BasicBlock::Create(Context, "after", F);
    B.CreateBr(Loop);
    B.SetInsertPoint(Loop);
    llvm::PHINode *I = B.CreatePHI(I64, 2);
    I->addIncoming(B.getInt64(0), Before);
    B.CreateCall(Body, {Ctx, I});
    Value *Next = B.CreateAdd(I, B.getInt64(1));
    I->addIncoming(Next, Loop);
    B.CreateCondBr(B.CreateICmpULT(Next, B.getInt64(Layers.getCount())), Loop,
                   After);
    B.SetInsertPoint(After);
  }
  B.CreateRetVoid();
  emitQuery(F);
  return Status::success();
}

/// const LlmcCpuImage *llmc_cpu_image(uint32_t abi)
void Builder::emitQuery(llvm::Function *Step) {
  auto *Type = llvm::StructType::get(Context, {I32, I32, Ptr});
  llvm::Constant *Image =
      llvm::ConstantStruct::get(Type, {B.getInt32(LLMC_STEP_ABI),
                                       B.getInt32(sizeof(LlmcCpuImage)), Step});
  auto *Global = new llvm::GlobalVariable(
      *M, Type, true, llvm::GlobalValue::PrivateLinkage, Image, "image");
  llvm::Function *F = llvm::Function::Create(
      llvm::FunctionType::get(Ptr, {I32}, false),
      llvm::GlobalValue::ExternalLinkage, "llmc_cpu_image", *M);
  B.SetInsertPoint(llvm::BasicBlock::Create(Context, "entry", F));
  Value *Known = B.CreateICmpEQ(F->getArg(0), B.getInt32(LLMC_STEP_ABI));
  B.CreateRet(B.CreateSelect(Known, Global,
                             llvm::ConstantPointerNull::get(B.getPtrTy())));
}

Status Builder::build() {
  if (Program.getPageTokens() != LLMC_CPU_PAGE_TOKENS)
    return internalError("program @" + Program.getSymName().str() +
                         ": expected page_tokens " +
                         std::to_string(LLMC_CPU_PAGE_TOKENS) + ", found " +
                         std::to_string(Program.getPageTokens()));
  for (exe::StateOp S : Program.getBody().getOps<exe::StateOp>())
    if (S.getPageBytes() != 0 &&
        S.getPageBytes() != layerBytes(S) * S.getLayers())
      return internalError("state @" + S.getSymName().str() + ": expected " +
                           std::to_string(layerBytes(S) * S.getLayers()) +
                           " bytes per page, found " +
                           std::to_string(S.getPageBytes()));
  exe::StepOp Step = Program.getStep();
  if (!Step)
    return internalError("program @" + Program.getSymName().str() +
                         " has no exe.step");
  return emitStep(Step);
}
} // namespace

Result<StepModule> buildStep(exe::ProgramOp Program, const std::string &Isa,
                             llvm::LLVMContext &Context) {
  Builder B(Program, Isa, Context);
  LLMC_RETURN_IF_ERROR(B.build());
  return B.take();
}

} // namespace llmc::cpu
