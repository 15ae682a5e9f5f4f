// llm-to-exe: the step function becomes an exe.program. One llm op is one
// phase; what fusion has not joined runs as a phase of its own, correct but
// slower. Nothing is decided here: layouts, numerics and cache type come from
// choose-precision, scratch sizes from the kernels. Long because every op has a
// few lines here.
#include "compiler/kernels/CudaScratch.h"
#include "compiler/kernels/ProductShape.h"
#include "compiler/kernels/RowCode.h"
#include "compiler/kernels/cpu/Scratch.h"
#include "compiler/weights/Layout.h"
#include "passes/lowering/ExeSymbols.h"
#include "passes/lowering/Passes.h"
#include "passes/lowering/PhaseBuilder.h"
#include "passes/quant/TargetDesc.h"
#include "passes/util/Rounding.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace llmc {
#define GEN_PASS_DEF_LLMTOEXE
#include "passes/lowering/Passes.h.inc"

namespace {
/// Context when neither the user nor the model says a smaller one.
constexpr int64_t DefaultContext = 8192;

/// Limits far beyond any use that keep all products of sizes in 64 bits.
constexpr int64_t MaxContextLimit = int64_t(1) << 24;
constexpr int64_t MaxBatchLimit = 4096;
constexpr int64_t MaxTokensLimit = 65536;

int64_t features(Value V) {
  return cast<RankedTensorType>(V.getType()).getShape().back();
}

/// Lowers the ops of one step function in order.
class StepLowering {
public:
  StepLowering(ModuleOp Module, exe::ProgramOp Program,
               const TargetDesc &Target)
      : Module(Module), Program(Program), Target(Target),
        Symbols(Module, Program),
        B(OpBuilder::atBlockEnd(&Program.getStep().getBody().front())) {}

  LogicalResult run(func::FuncOp Step);

private:
  LogicalResult lower(Operation *Op);
  LogicalResult lower(llm::EmbedOp Op);
  LogicalResult lower(llm::RopeTableOp Op);
  LogicalResult lower(llm::NormOp Op);
  LogicalResult lower(llm::LinearOp Op);
  LogicalResult lower(llm::QkvOp Op);
  LogicalResult lower(llm::RopeOp Op);
  LogicalResult lower(llm::KvWriteOp Op);
  LogicalResult lower(llm::AttentionOp Op);
  void lowerRounded(llm::AttentionOp Op);
  LogicalResult lower(llm::ActivationOp Op);
  LogicalResult lower(llm::GluOp Op);
  LogicalResult lower(llm::AddOp Op);
  LogicalResult lower(llm::ScaleOp Op);
  LogicalResult lower(llm::RowwiseOp Op);
  LogicalResult lower(llm::ExpertsOp Op);
  LogicalResult lower(llm::TakeRowsOp Op);
  LogicalResult lower(llm::SelectByLengthOp Op);
  LogicalResult lower(llm::CausalConvOp Op);
  LogicalResult lower(llm::LinearAttentionOp Op);
  LogicalResult lower(llm::LogitsOp Op);

  PhaseBuilder phase(StringRef Kernel) {
    return PhaseBuilder(Module.getContext(), Kernel);
  }
  exe::BufferAttr arg(StringRef Name) {
    return exe::BufferAttr::get(Module.getContext(), exe::BufferKind::arg,
                                B.getStringAttr(Name));
  }
  exe::BufferAttr in(Value V) { return V ? Buffers.lookup(V) : nullptr; }
  /// A new slot for an op's result.
  exe::BufferAttr out(Operation *Op, StringRef Hint) {
    Value V = Op->getResult(0);
    return Buffers[V] = Symbols.slot(Op->getLoc(), Hint, features(V) * 4);
  }
  /// The buffer of a weight; sets Failed when it cannot be packed.
  exe::BufferAttr weight(std::optional<StringRef> Name);
  /// Number of the weight's type in the catalogue.
  int64_t weightType(StringRef Name);
  int64_t policy(Operation *Op);
  exe::BufferAttr scratch(Operation *Op, int64_t K);
  exe::BufferAttr qkvRows(llm::QkvOp Op);
  template <typename OpTy> void product(PhaseBuilder &P, OpTy Op, int64_t K);
  int64_t kvType() {
    Type T = cast<TypeAttr>(Module->getAttr("llm.kv_cache")).getValue();
    return T.isF32()        ? kernels::KvF32
           : T.isInteger(8) ? kernels::KvI8
                            : kernels::KvF16;
  }
  /// Of rows that are no keys or values: never codes.
  int64_t rowType() {
    return kvType() == kernels::KvF32 ? kernels::KvF32 : kernels::KvF16;
  }

  ModuleOp Module;
  exe::ProgramOp Program;
  const TargetDesc &Target;
  ExeSymbols Symbols;
  OpBuilder B;
  llvm::DenseMap<Value, exe::BufferAttr> Buffers;
  bool Failed = false;
};

exe::BufferAttr StepLowering::weight(std::optional<StringRef> Name) {
  if (!Name)
    return nullptr;
  exe::PackedWeightOp Op = Symbols.weight(*Name);
  if (!Op) {
    Failed = true;
    return nullptr;
  }
  return exe::BufferAttr::get(Module.getContext(), exe::BufferKind::weight,
                              Op.getSymNameAttr());
}

int64_t StepLowering::weightType(StringRef Name) {
  exe::PackedWeightOp Op = Symbols.weight(Name);
  StringRef Layout = Op ? Op.getLayout() : StringRef();
  std::optional<llmc::Layout> Form = layoutOf(Layout.str());
  if (Form && isFragment(*Form))
    return fragmentNumber(*Form);
  if (Form && isQuantized(*Form)) // panels or rows: of each target its own
    return kernels::numberOf(formatOf(*Form));
  if (Layout.ends_with(".w8b32"))
    return kernels::WI8B32;
  if (Layout.ends_with(".bf16"))
    return kernels::WBF16;
  return Layout.ends_with(".f16") ? kernels::WF16 : kernels::WF32;
}

int64_t StepLowering::policy(Operation *Op) {
  StringAttr A = Op->getAttrOfType<StringAttr>("llm.activations");
  return A && A.getValue() == "int8" ? kernels::XI8 : kernels::XF32;
}

/// Raw sums of a qkv that mma products cannot rotate themselves.
static int64_t rawRows(llm::QkvOp Op, llm::StateOp State) {
  int64_t Dim = State.getHeadDim(), VDim = State.getVHeadDim();
  if (kernels::hasTileHeads(Dim, VDim, Op.getRotaryHalf(), Op.getInterleaved()))
    return 0;
  return (Op.getHeads() + State.getKvHeads()) * Dim + State.getKvHeads() * VDim;
}

exe::BufferAttr StepLowering::scratch(Operation *Op, int64_t K) {
  if (Target.Kind != TargetKind::Cpu) {
    // Prepared rows of mma products.
    FlatSymbolRefAttr W = Op->getAttrOfType<FlatSymbolRefAttr>("weight");
    if (!W || !kernels::isFragment(weightType(W.getValue())))
      return nullptr;
    llm::QkvOp Qkv = dyn_cast<llm::QkvOp>(Op);
    int64_t Raw = Qkv ? rawRows(Qkv, Symbols.stateOf(Qkv.getState())) : 0;
    return Symbols.slot(Op->getLoc(), "xq", kernels::fragmentXqBytes(K, Raw));
  }
  return Symbols.slot(Op->getLoc(), "xq",
                      kernels::xqBytesPerToken(K, policy(Op)));
}

/// What linear, qkv and logits have in common.
template <typename OpTy>
void StepLowering::product(PhaseBuilder &P, OpTy Op, int64_t K) {
  P.buffer("x", in(Op.getX()))
      .buffer("gain", weight(Op.getGain()))
      .buffer("norm_bias", weight(Op.getNormBias()))
      .buffer("weight", weight(Op.getWeight()))
      .buffer("bias", weight(Op.getBias()))
      .buffer("xq", scratch(Op, K))
      .integer("k", K)
      .integer("wtype", weightType(Op.getWeight()))
      .integer("xpolicy", policy(Op))
      .integer("norm", static_cast<int64_t>(Op.getNorm()))
      .real("eps", Op.getEps());
}

LogicalResult StepLowering::lower(llm::EmbedOp Op) {
  exe::BufferAttr W = weight(Op.getWeight());
  if (!W)
    return failure();
  phase("embed")
      .buffer("ids", in(Op.getIds()))
      .buffer("weight", W)
      .buffer("out", out(Op, "x"))
      .integer("vocab", Symbols.weight(Op.getWeight()).getRows())
      .integer("hidden", features(Op.getResult()))
      .integer("wtype", weightType(Op.getWeight()))
      .real("scale", Op.getScale())
      .build(B, Op.getLoc());
  return success();
}

LogicalResult StepLowering::lower(llm::RopeTableOp Op) {
  int64_t Rows = 0;
  if (Op.getCos()) {
    exe::PackedWeightOp Table = Symbols.weight(*Op.getCos());
    if (!Table)
      return failure();
    Rows = Table.getRows();
    if (Program.getMaxContext() > Rows)
      return Op.emitError("the rope table has ")
             << Rows << " positions, the context " << Program.getMaxContext();
  }
  phase("rope_table")
      .buffer("positions", in(Op.getPositions()))
      .buffer("freq", weight(Op.getFreq()))
      .buffer("cos_table", weight(Op.getCos()))
      .buffer("sin_table", weight(Op.getSin()))
      .buffer("out", out(Op, "rope"))
      .integer("half", features(Op.getResult()) / 2)
      .integer("table_rows", Rows)
      .real("scaling", Op.getScaling())
      .build(B, Op.getLoc());
  return success();
}

LogicalResult StepLowering::lower(llm::NormOp Op) {
  int64_t Heads = Op.getHeads();
  phase("norm")
      .buffer("x", in(Op.getX()))
      .buffer("gain", weight(Op.getGain()))
      .buffer("norm_bias", weight(Op.getBias()))
      .buffer("out", out(Op, "norm"))
      .integer("n", features(Op.getX()) / Heads)
      .integer("norm", static_cast<int64_t>(Op.getKind()))
      .integer("heads", Heads)
      .real("eps", Op.getEps())
      .build(B, Op.getLoc());
  return success();
}

LogicalResult StepLowering::lower(llm::LinearOp Op) {
  bool Glu = Op.getGlu() != llm::ActivationKind::none;
  PhaseBuilder P = phase("linear");
  product(P, Op, features(Op.getX()));
  P.buffer("residual", in(Op.getResidual()))
      .buffer("out", out(Op, "h"))
      .integer("n", features(Op.getResult()) * (Glu ? 2 : 1))
      .integer("glu", static_cast<int64_t>(Op.getGlu()))
      .integer("activation", static_cast<int64_t>(Op.getActivation()))
      .integer("rows", kernels::RowsT)
      .build(B, Op.getLoc());
  return success();
}

/// The product of a qkv alone, where heads are rounded as a whole.
exe::BufferAttr StepLowering::qkvRows(llm::QkvOp Op) {
  exe::PackedWeightOp W = Symbols.weight(Op.getWeight());
  if (!W)
    return nullptr;
  exe::BufferAttr Rows = Symbols.slot(Op.getLoc(), "qkv", W.getRows() * 4);
  PhaseBuilder P = phase("linear");
  product(P, Op, features(Op.getX()));
  P.buffer("residual", nullptr)
      .buffer("out", Rows)
      .integer("n", W.getRows())
      .integer("glu", 0)
      .integer("activation", 0)
      .integer("rows", kernels::RowsT)
      .build(B, Op.getLoc());
  return Rows;
}

LogicalResult StepLowering::lower(llm::QkvOp Op) {
  llm::StateOp State = Symbols.stateOf(Op.getState());
  bool Codes = kvType() == kernels::KvI8;
  PhaseBuilder P = phase(Codes ? "qkv_finish" : "qkv");
  if (Codes)
    P.buffer("x", qkvRows(Op));
  else
    product(P, Op, features(Op.getX()));
  P.buffer("rope", in(Op.getTable()))
      .buffer("kv", Symbols.state(Op.getState()))
      .buffer("q_out", out(Op, "q"))
      .integer("heads", Op.getHeads())
      .integer("kv_heads", State.getKvHeads())
      .integer("head_dim", State.getHeadDim())
      .integer("v_head_dim", State.getVHeadDim())
      .integer("rotary_half", Op.getRotaryHalf())
      .integer("interleaved", Op.getInterleaved())
      .integer("kvtype", kvType())
      .build(B, Op.getLoc(), Symbols.layerOf(Op.getState()));
  return success();
}

LogicalResult StepLowering::lower(llm::RopeOp Op) {
  phase("rope")
      .buffer("x", in(Op.getX()))
      .buffer("rope", in(Op.getTable()))
      .buffer("out", out(Op, "rope"))
      .integer("heads", Op.getHeads())
      .integer("head_dim", Op.getHeadDim())
      .integer("rotary_half", Op.getRotaryHalf())
      .integer("interleaved", Op.getInterleaved())
      .build(B, Op.getLoc());
  return success();
}

LogicalResult StepLowering::lower(llm::KvWriteOp Op) {
  llm::StateOp State = Symbols.stateOf(Op.getState());
  phase("kv_write")
      .buffer("k", in(Op.getK()))
      .buffer("v", in(Op.getV()))
      .buffer("kv", Symbols.state(Op.getState()))
      .integer("kv_heads", State.getKvHeads())
      .integer("head_dim", State.getHeadDim())
      .integer("v_head_dim", State.getVHeadDim())
      .integer("kvtype", kvType())
      .build(B, Op.getLoc(), Symbols.layerOf(Op.getState()));
  return success();
}

/// With the file's roundings: a kernel of its own, that splits no sequences.
void StepLowering::lowerRounded(llm::AttentionOp Op) {
  llm::StateOp State = Symbols.stateOf(Op.getState());
  Rounding Scores = roundingAt(Op, ScoreRoundingAttr),
           Probabilities = roundingAt(Op, ProbRoundingAttr);
  phase("attention_rounded")
      .buffer("q", in(Op.getQ()))
      .buffer("kv", Symbols.state(Op.getState()))
      .buffer("out", out(Op, "a"))
      .buffer("slopes", weight(Op.getSlopes()))
      .buffer("sinks", weight(Op.getSinks()))
      .integer("heads", Op.getHeads())
      .integer("kv_heads", State.getKvHeads())
      .integer("head_dim", State.getHeadDim())
      .integer("v_head_dim", State.getVHeadDim())
      .integer("window", Op.getWindow())
      .integer("chunk", Op.getChunk())
      .integer("kvtype", kvType())
      .real("scale", Op.getScale())
      .real("softcap", Op.getSoftcap())
      .real("score_step", APFloat(float(Scores.Step)))
      .real("score_low", APFloat(float(Scores.Low)))
      .real("score_high", APFloat(float(Scores.High)))
      .real("prob_step", APFloat(float(Probabilities.Step)))
      .real("prob_low", APFloat(float(Probabilities.Low)))
      .real("prob_high", APFloat(float(Probabilities.High)))
      .build(B, Op.getLoc(), Symbols.layerOf(Op.getState()));
}

LogicalResult StepLowering::lower(llm::AttentionOp Op) {
  if (Op->hasAttr(ScoreRoundingAttr) || Op->hasAttr(ProbRoundingAttr)) {
    lowerRounded(Op);
    return success();
  }
  llm::StateOp State = Symbols.stateOf(Op.getState());
  int64_t Dim = State.getHeadDim(), VDim = State.getVHeadDim(),
          Heads = Op.getHeads();
  if (std::max(Dim, VDim) > kernels::MaxHeadDim)
    return Op.emitError("a head of ")
           << std::max(Dim, VDim) << " is not supported, at most "
           << kernels::MaxHeadDim;
  int64_t Context = Program.getMaxContext();
  exe::BufferAttr Partial =
      Symbols.slot(Op.getLoc(), "partial", 0,
                   Target.Kind == TargetKind::Cpu
                       ? kernels::attentionPartialBytes(Heads, VDim, Context)
                       : kernels::cudaPartialBytes(Heads, VDim, Context));
  phase("attention")
      .buffer("q", in(Op.getQ()))
      .buffer("kv", Symbols.state(Op.getState()))
      .buffer("out", out(Op, "a"))
      .buffer("partial", Partial)
      .buffer("slopes", weight(Op.getSlopes()))
      .buffer("sinks", weight(Op.getSinks()))
      .integer("heads", Heads)
      .integer("kv_heads", State.getKvHeads())
      .integer("head_dim", Dim)
      .integer("v_head_dim", VDim)
      .integer("window", Op.getWindow())
      .integer("chunk", Op.getChunk())
      .integer("kvtype", kvType())
      .real("scale", Op.getScale())
      .real("softcap", Op.getSoftcap())
      .build(B, Op.getLoc(), Symbols.layerOf(Op.getState()));
  return success();
}

LogicalResult StepLowering::lower(llm::ActivationOp Op) {
  phase("activation")
      .buffer("x", in(Op.getX()))
      .buffer("out", out(Op, "act"))
      .integer("n", features(Op.getX()))
      .integer("activation", static_cast<int64_t>(Op.getKind()))
      .build(B, Op.getLoc());
  return success();
}

LogicalResult StepLowering::lower(llm::GluOp Op) {
  phase("glu")
      .buffer("gate", in(Op.getGate()))
      .buffer("up", in(Op.getUp()))
      .buffer("out", out(Op, "glu"))
      .integer("n", features(Op.getUp()))
      .integer("activation", static_cast<int64_t>(Op.getKind()))
      .build(B, Op.getLoc());
  return success();
}

LogicalResult StepLowering::lower(llm::AddOp Op) {
  phase("add")
      .buffer("a", in(Op.getA()))
      .buffer("b", in(Op.getB()))
      .buffer("out", out(Op, "sum"))
      .integer("n", features(Op.getA()))
      .build(B, Op.getLoc());
  return success();
}

LogicalResult StepLowering::lower(llm::ScaleOp Op) {
  phase("scale")
      .buffer("x", in(Op.getX()))
      .buffer("out", out(Op, "scaled"))
      .integer("n", features(Op.getX()))
      .real("factor", Op.getFactor())
      .build(B, Op.getLoc());
  return success();
}

LogicalResult StepLowering::lower(llm::RowwiseOp Op) {
  PhaseBuilder P = phase("rowwise");
  for (int64_t I = 0; I < kernels::RowInputs; ++I) {
    bool Given = I < int64_t(Op.getInputs().size());
    std::string N = std::to_string(I);
    if (Given)
      P.buffer("in" + N, in(Op.getInputs()[I]));
    P.integer("n" + N, Given ? features(Op.getInputs()[I]) : 0);
  }
  int64_t Scratch = Op.getScratch();
  P.buffer("program", weight(Op.getProgram()))
      .buffer("out", out(Op, "row"))
      .buffer("xq", Scratch ? Symbols.slot(Op.getLoc(), "xq", Scratch * 4)
                            : exe::BufferAttr())
      .integer("count", Op.getCount())
      .integer("scratch", Scratch)
      .integer("n", features(Op.getResult()))
      .build(B, Op.getLoc());
  return success();
}

LogicalResult StepLowering::lower(llm::ExpertsOp Op) {
  int64_t Experts = features(Op.getRoute()), Slots = Op.getSlots();
  exe::PackedWeightOp W = Symbols.weight(Op.getWeight());
  if (!W)
    return failure();
  int64_t K = W.getCols(), Each = Op.getCombine() ? Slots : 1;
  exe::BufferAttr Xq;
  if (Target.Kind == TargetKind::Cpu)
    Xq = Symbols.slot(Op.getLoc(), "xq",
                      Each * kernels::xqBytesPerToken(K, policy(Op)));
  else if (kernels::isFragment(weightType(Op.getWeight())))
    Xq = Symbols.slot(
        Op.getLoc(), "xq",
        kernels::fragmentExpertBytes(K, int64_t(W.getRows()) / Experts, Slots,
                                     Op.getCombine()));
  else if (Op.getCombine()) // products before they are added
    Xq = Symbols.slot(Op.getLoc(), "xq",
                      Slots * (int64_t(W.getRows()) / Experts) * 4);
  phase("experts")
      .buffer("x", in(Op.getX()))
      .buffer("route", in(Op.getRoute()))
      .buffer("weight", weight(Op.getWeight()))
      .buffer("bias", weight(Op.getBias()))
      .buffer("out", out(Op, "experts"))
      .buffer("xq", Xq)
      .integer("k", K)
      .integer("n", int64_t(W.getRows()) / Experts)
      .integer("experts", Experts)
      .integer("slots", Slots)
      .integer("combine", Op.getCombine())
      .integer("wtype", weightType(Op.getWeight()))
      .integer("xpolicy", policy(Op))
      .build(B, Op.getLoc());
  return success();
}

LogicalResult StepLowering::lower(llm::SelectByLengthOp Op) {
  phase("select_by_length")
      .buffer("a", in(Op.getA()))
      .buffer("b", in(Op.getB()))
      .buffer("out", out(Op, "rope"))
      .integer("n", features(Op.getA()))
      .integer("threshold", Op.getThreshold())
      .build(B, Op.getLoc());
  return success();
}

LogicalResult StepLowering::lower(llm::CausalConvOp Op) {
  phase("causal_conv")
      .buffer("x", in(Op.getX()))
      .buffer("kv", Symbols.state(Op.getState()))
      .buffer("weight_vector", weight(Op.getWeight()))
      .buffer("bias", weight(Op.getBias()))
      .buffer("out", out(Op, "conv"))
      .integer("n", features(Op.getX()))
      .integer("taps", Op.getTaps())
      .integer("activation", static_cast<int64_t>(Op.getActivation()))
      .integer("kvtype", rowType())
      .build(B, Op.getLoc(), Symbols.layerOf(Op.getState()));
  return success();
}

LogicalResult StepLowering::lower(llm::LinearAttentionOp Op) {
  llm::StateOp State = Symbols.stateOf(Op.getState());
  int64_t KvHeads = State.getKvHeads(),
          Decay = Op.getDecay() ? features(Op.getDecay()) / KvHeads : 0;
  phase("linear_attention")
      .buffer("q", in(Op.getQ()))
      .buffer("k", in(Op.getK()))
      .buffer("v", in(Op.getV()))
      .buffer("decay", in(Op.getDecay()))
      .buffer("beta", in(Op.getBeta()))
      .buffer("kv", Symbols.state(Op.getState()))
      .buffer("out", out(Op, "a"))
      .integer("heads", Op.getHeads())
      .integer("kv_heads", KvHeads)
      .integer("head_dim", State.getHeadDim())
      .integer("v_head_dim", State.getVHeadDim())
      .integer("decay_dim", Decay)
      .integer("delta", Op.getDelta())
      .integer("block", Symbols.blockBytes(Op.getState()))
      .real("scale", Op.getScale())
      .build(B, Op.getLoc(), Symbols.layerOf(Op.getState()));
  return success();
}

/// The rows of a graph without a head take the place of logits.
LogicalResult StepLowering::lower(llm::TakeRowsOp Op) {
  phase("take_rows")
      .buffer("x", in(Op.getX()))
      .buffer("gain", weight(Op.getGain()))
      .buffer("norm_bias", weight(Op.getNormBias()))
      .buffer("logit_rows", arg("logit_rows"))
      .buffer("out", arg("logits"))
      .integer("n", features(Op.getX()))
      .integer("norm", static_cast<int64_t>(Op.getNorm()))
      .real("eps", Op.getEps())
      .build(B, Op.getLoc());
  return success();
}

LogicalResult StepLowering::lower(llm::LogitsOp Op) {
  if (!llvm::all_of(Op->getUsers(),
                    [](Operation *U) { return isa<func::ReturnOp>(U); }))
    return Op.emitError("logits are read by another op");
  PhaseBuilder P = phase("logits");
  product(P, Op, features(Op.getX()));
  P.buffer("logit_rows", arg("logit_rows"))
      .buffer("out", arg("logits"))
      .integer("n", features(Op.getResult()))
      .real("multiplier", Op.getMultiplier())
      .real("softcap", Op.getSoftcap())
      .build(B, Op.getLoc());
  return success();
}

LogicalResult StepLowering::lower(Operation *Op) {
  for (Value V : Op->getResults()) {
    RankedTensorType Type = dyn_cast<RankedTensorType>(V.getType());
    if (!Type || Type.getRank() != 2 || Type.isDynamicDim(1))
      return Op->emitError("'") << Op->getName() << "' makes " << V.getType()
                                << ", expected token rows (raise-model)";
  }
  return llvm::TypeSwitch<Operation *, LogicalResult>(Op)
      .Case<llm::EmbedOp, llm::RopeTableOp, llm::NormOp, llm::LinearOp,
            llm::QkvOp, llm::RopeOp, llm::KvWriteOp, llm::AttentionOp,
            llm::ActivationOp, llm::GluOp, llm::AddOp, llm::ScaleOp,
            llm::RowwiseOp, llm::ExpertsOp, llm::TakeRowsOp,
            llm::SelectByLengthOp, llm::CausalConvOp, llm::LinearAttentionOp,
            llm::LogitsOp>([&](auto Known) { return lower(Known); })
      .Default([](Operation *Other) {
        return Other->emitError("'")
               << Other->getName() << "' is not supported by llm-to-exe";
      });
}

LogicalResult StepLowering::run(func::FuncOp Step) {
  if (Step.getNumArguments() != 2 || !Step.getBody().hasOneBlock())
    return Step.emitError("step has ")
           << Step.getNumArguments()
           << " arguments, expected ids and positions";
  Operation *Return = Step.getBody().front().getTerminator();
  if (Return->getNumOperands() != 1 ||
      !isa_and_nonnull<llm::LogitsOp, llm::TakeRowsOp>(
          Return->getOperand(0).getDefiningOp()))
    return Step.emitError(
        "step must return the result of one llm.logits or llm.take_rows");
  Buffers[Step.getArgument(0)] = arg("ids");
  Buffers[Step.getArgument(1)] = arg("positions");
  Type Kv = cast<TypeAttr>(Module->getAttr("llm.kv_cache")).getValue();
  Symbols.makeStates(Kv);
  for (Operation &Op : Step.getBody().front().without_terminator())
    if (failed(lower(&Op)) || Failed)
      return failure();
  return success();
}

class LlmToExe : public impl::LlmToExeBase<LlmToExe> {
public:
  using LlmToExeBase::LlmToExeBase;

  void runOnOperation() override {
    ModuleOp Module = getOperation();
    StringAttr Name = Module->getAttrOfType<StringAttr>("llm.target");
    std::optional<TargetDesc> Target =
        Name ? describeTarget(Name.getValue()) : std::nullopt;
    if (!Target || !Module->getAttrOfType<TypeAttr>("llm.kv_cache")) {
      Module.emitError("needs choose-precision to run before");
      return signalPassFailure();
    }
    func::FuncOp Step = Module.lookupSymbol<func::FuncOp>("step");
    if (!Step) {
      Module.emitError("has no function 'step' (raise-model)");
      return signalPassFailure();
    }
    exe::ProgramOp Program;
    if (failed(makeProgram(*Target, Step, Program)) ||
        failed(StepLowering(Module, Program, *Target).run(Step)))
      return signalPassFailure();
    for (Operation &Op : llvm::make_early_inc_range(*Module.getBody()))
      if (&Op != Program.getOperation())
        Op.erase();
  }

private:
  LogicalResult makeProgram(const TargetDesc &Target, func::FuncOp Step,
                            exe::ProgramOp &Program);
  int64_t defaultContext(func::FuncOp Step);
};

/// The model's context, the rope tables' length or the default: the smallest.
int64_t LlmToExe::defaultContext(func::FuncOp Step) {
  int64_t Context = DefaultContext;
  if (DictionaryAttr Model =
          getOperation()->getAttrOfType<DictionaryAttr>("llm.model"))
    if (IntegerAttr Max = Model.getAs<IntegerAttr>("max_positions"))
      if (Max.getInt() > 0)
        Context = std::min(Context, Max.getInt());
  Step.walk([&](llm::RopeTableOp Op) {
    if (!Op.getCos())
      return;
    llm::WeightOp W = getOperation().lookupSymbol<llm::WeightOp>(*Op.getCos());
    Context =
        std::min(Context, cast<RankedTensorType>(W.getType()).getDimSize(0));
  });
  return Context;
}

LogicalResult LlmToExe::makeProgram(const TargetDesc &Target, func::FuncOp Step,
                                    exe::ProgramOp &Program) {
  if (maxContext < 0 || maxContext > MaxContextLimit)
    return getOperation().emitError("max-context is ")
           << maxContext << ", expected at most " << MaxContextLimit;
  if (maxBatch < 1 || maxBatch > MaxBatchLimit)
    return getOperation().emitError("max-batch is ")
           << maxBatch << ", expected 1 to " << MaxBatchLimit;
  if (maxTokens < 1 || maxTokens > MaxTokensLimit)
    return getOperation().emitError("max-tokens is ")
           << maxTokens << ", expected 1 to " << MaxTokensLimit;
  int64_t Context = maxContext ? maxContext : defaultContext(Step);
  OpBuilder B = OpBuilder::atBlockEnd(getOperation().getBody());
  Program = exe::ProgramOp::create(
      B, getOperation().getLoc(), "program", Target.Name,
      llvm::ArrayRef<int64_t>{maxTokens}, Target.PageTokens, Context, maxBatch,
      llvm::ArrayRef<int64_t>(), /*weight_bytes=*/0, /*kv_pages=*/0);
  B.setInsertionPointToEnd(&Program.getBody().emplaceBlock());
  exe::StepOp StepOp = exe::StepOp::create(B, Step.getLoc());
  StepOp.getBody().emplaceBlock();
  return success();
}
} // namespace
} // namespace llmc
