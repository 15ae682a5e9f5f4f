// Verifiers of the llm ops. Each message starts with the number of the
// constraint in LlmOps.td. Feature counts are trailing dims, so that the ops
// verify on padded and on token-major rows alike. Long because every op has
// one.
#include "dialects/llm/LlmDialect.h"

#include "mlir/IR/TypeUtilities.h"

using namespace mlir;

namespace llmc::llm {
namespace {

constexpr int64_t Dyn = ShapedType::kDynamic;

int64_t features(Value V) {
  auto Type = cast<RankedTensorType>(V.getType());
  return Type.getRank() == 0 ? 1 : Type.getShape().back();
}

/// Whether a feature count is `Want`; an unknown count passes.
bool isFeatures(Value V, int64_t Want) {
  int64_t Have = features(V);
  return Have == Dyn || Want == Dyn || Have == Want;
}

bool sameShape(Value A, Value B) {
  return succeeded(verifyCompatibleShape(A.getType(), B.getType()));
}

/// Looks symbols of one op up and reports failures with a constraint number.
class Checker {
public:
  Checker(Operation *O, SymbolTableCollection &T) : Op(O), Tables(T) {}

  template <typename SymOp>
  SymOp find(FlatSymbolRefAttr Ref, StringRef C, StringRef Kind) {
    SymOp Found = Tables.lookupNearestSymbolFrom<SymOp>(Op, Ref);
    if (!Found)
      Op->emitOpError() << C << ": " << Ref << " is not an " << Kind;
    return Found;
  }

  /// The type of an llm.source or llm.quantized, which pieces are taken from.
  RankedTensorType sourceType(FlatSymbolRefAttr Ref) {
    if (QuantizedOp Q = Tables.lookupNearestSymbolFrom<QuantizedOp>(Op, Ref))
      return cast<RankedTensorType>(Q.getType());
    SourceOp Plain = find<SourceOp>(Ref, "C1", "llm.source or llm.quantized");
    return Plain ? cast<RankedTensorType>(Plain.getType()) : RankedTensorType();
  }

  /// The shape of a weight, checked against `Want` (kDynamic: any).
  FailureOr<SmallVector<int64_t>> weight(FlatSymbolRefAttr Ref, StringRef C,
                                         StringRef What,
                                         ArrayRef<int64_t> Want) {
    WeightOp W = find<WeightOp>(Ref, C, "llm.weight");
    if (!W)
      return failure();
    ArrayRef<int64_t> Have = cast<RankedTensorType>(W.getType()).getShape();
    bool Same = Have.size() == Want.size();
    for (size_t I = 0; Same && I < Want.size(); ++I)
      Same = Want[I] == Dyn || Have[I] == Want[I];
    if (Same)
      return SmallVector<int64_t>(Have);
    InFlightDiagnostic D = Op->emitOpError();
    D << C << ": " << What << " " << Ref << " has shape [" << Have
      << "], expected [";
    llvm::interleave(
        Want,
        [&](int64_t N) {
          if (N == Dyn)
            D << "?";
          else
            D << N;
        },
        [&] { D << ", "; });
    return D << "]";
  }

  LogicalResult vector(std::optional<StringRef> Name, StringRef C,
                       StringRef What, int64_t Want) {
    if (!Name)
      return success();
    return weight(FlatSymbolRefAttr::get(Op->getContext(), *Name), C, What,
                  {Want});
  }

  LogicalResult rows(Value V, StringRef C, StringRef What, int64_t Want) {
    if (isFeatures(V, Want))
      return success();
    return Op->emitOpError() << C << ": " << What << " has " << features(V)
                             << " features, expected " << Want;
  }

private:
  Operation *Op;
  SymbolTableCollection &Tables;
};

/// The prologue attributes that linear, qkv and logits share.
template <typename OpTy>
LogicalResult checkNorm(OpTy Op, Checker &Check, StringRef C, int64_t K) {
  if (Op.getNorm() == NormKind::none && (Op.getGain() || Op.getNormBias()))
    return Op.emitOpError() << C << ": gain or norm_bias without a norm";
  if (failed(Check.vector(Op.getGain(), C, "gain", K)))
    return failure();
  return Check.vector(Op.getNormBias(), C, "norm_bias", K);
}

LogicalResult checkState(Operation *Op, Checker &Check, FlatSymbolRefAttr Ref,
                         int64_t Heads, StateOp &State) {
  State = Check.find<StateOp>(Ref, "C1", "llm.state");
  if (!State)
    return failure();
  int64_t KvHeads = State.getKvHeads();
  if (Heads <= 0 || KvHeads <= 0 || Heads % KvHeads != 0)
    return Op->emitOpError() << "C1: heads is " << Heads
                             << ", expected a positive multiple of the "
                             << KvHeads << " kv_heads of " << Ref;
  return success();
}
} // namespace

// --- symbols -----------------------------------------------------------------

LogicalResult SourceOp::verify() {
  auto Tensor = cast<RankedTensorType>(getType());
  if (!Tensor.hasStaticShape() || Tensor.getRank() < 1 || Tensor.getRank() > 2)
    return emitOpError() << "C3: expected a static shape of rank 1 or 2, found "
                         << Tensor;
  bool AnyFile = getFile() || getOffset() || getLength();
  bool AllFile = getFile() && getOffset() && getLength();
  if (AnyFile == getData().has_value() || AnyFile != AllFile)
    return emitOpError()
           << "C2: expected either file, offset and length, or data";
  if (getData()) {
    if (getData()->getShapedType() != Tensor)
      return emitOpError() << "C2: data has type " << getData()->getShapedType()
                           << ", expected " << Tensor;
    return success();
  }
  if (!Tensor.getElementType().isIntOrFloat())
    return emitOpError() << "C1: unsupported element type "
                         << Tensor.getElementType();
  uint64_t Bits = uint64_t(Tensor.getNumElements()) *
                  std::max(1u, Tensor.getElementTypeBitWidth());
  if (uint64_t(*getLength()) != (Bits + 7) / 8)
    return emitOpError() << "C1: length is " << *getLength() << ", expected "
                         << (Bits + 7) / 8 << " for " << Tensor;
  return success();
}

LogicalResult QuantizedOp::verify() {
  RankedTensorType Tensor = cast<RankedTensorType>(getType());
  if (!Tensor.hasStaticShape() || Tensor.getRank() < 1 || Tensor.getRank() > 2)
    return emitOpError() << "C2: expected a static shape of rank 1 or 2, found "
                         << Tensor;
  return success();
}

LogicalResult QuantizedOp::verifySymbolUses(SymbolTableCollection &Tables) {
  Checker Check(*this, Tables);
  for (FlatSymbolRefAttr Part :
       {getCodesAttr(), getScalesAttr(), getZerosAttr(), getGroupsAttr()})
    if (Part && !Check.find<SourceOp>(Part, "C1", "llm.source"))
      return failure();
  return success();
}

LogicalResult
QuantizedValueOp::verifySymbolUses(SymbolTableCollection &Tables) {
  Checker Check(*this, Tables);
  QuantizedOp Q =
      Check.find<QuantizedOp>(getSourceAttr(), "C1", "llm.quantized");
  if (!Q)
    return failure();
  if (Q.getType() != getResult().getType())
    return emitOpError() << "C1: the result has type " << getResult().getType()
                         << ", expected " << Q.getType();
  return success();
}

LogicalResult WeightOp::verifySymbolUses(SymbolTableCollection &Tables) {
  Checker Check(*this, Tables);
  auto Tensor = cast<RankedTensorType>(getType());
  if (!Tensor.hasStaticShape() || Tensor.getRank() < 1 || Tensor.getRank() > 2)
    return emitOpError() << "C2: expected a static shape of rank 1 or 2, found "
                         << Tensor;
  int64_t Cols = Tensor.getRank() == 2 ? Tensor.getDimSize(1) : 1, Rows = 0;
  for (PieceAttr P : getPieces().getAsRange<PieceAttr>()) {
    RankedTensorType Type = Check.sourceType(P.getSource());
    if (!Type)
      return failure();
    ArrayRef<int64_t> S = Type.getShape();
    int64_t SrcRows = S[0], SrcCols = S.size() == 2 ? S[1] : 1;
    if (P.getTransposed())
      std::swap(SrcRows, SrcCols);
    if (SrcCols != Cols)
      return emitOpError() << "C3: piece of " << P.getSource() << " has "
                           << SrcCols << " columns, expected " << Cols;
    if (P.getBegin() < 0 || P.getCount() < 1 ||
        P.getCount() > SrcRows - P.getBegin())
      return emitOpError() << "C3: piece of " << P.getSource() << " has rows ["
                           << P.getBegin() << ", +" << P.getCount()
                           << "), the source has " << SrcRows;
    Rows += P.getCount();
  }
  if (Rows != Tensor.getDimSize(0))
    return emitOpError() << "C2: pieces have " << Rows << " rows, expected "
                         << Tensor.getDimSize(0);
  return success();
}

LogicalResult StateOp::verify() {
  if (getKind() != "paged_kv" && getKind() != "paged_rows" &&
      getKind() != "record")
    return emitOpError() << "C1: unknown kind '" << getKind()
                         << "', expected paged_kv, paged_rows or record";
  int64_t Heads = getKvHeads(), Dim = getHeadDim(), VDim = getVHeadDim();
  if (Heads < 1 || Dim < 1 || VDim < 1)
    return emitOpError()
           << "C2: kv_heads, head_dim and v_head_dim must be positive, found "
           << Heads << ", " << Dim << ", " << VDim;
  if (int64_t(getIndex()) < 0)
    return emitOpError() << "C2: index is " << int64_t(getIndex())
                         << ", expected at least 0";
  return success();
}

// --- rows --------------------------------------------------------------------

LogicalResult EmbedOp::verifySymbolUses(SymbolTableCollection &Tables) {
  return Checker(*this, Tables)
      .weight(getWeightAttr(), "C1", "weight", {Dyn, features(getResult())});
}

LogicalResult RopeTableOp::verifySymbolUses(SymbolTableCollection &Tables) {
  Checker Check(*this, Tables);
  bool Tabled = getCos() && getSin();
  if (getFreq().has_value() == Tabled || getCos().has_value() != Tabled ||
      getSin().has_value() != Tabled)
    return emitOpError() << "C1: expected either freq, or cos and sin";
  int64_t Features = features(getResult());
  if (Features == Dyn || Features % 2 != 0)
    return emitOpError() << "C2: result has " << Features
                         << " features, expected an even number";
  if (getFreq())
    return Check.weight(getFreqAttr(), "C2", "freq", {Features / 2});
  FailureOr<SmallVector<int64_t>> Cos =
      Check.weight(getCosAttr(), "C2", "cos", {Dyn, Features / 2});
  if (failed(Cos))
    return failure();
  return Check.weight(getSinAttr(), "C1", "sin", *Cos);
}

LogicalResult SelectByLengthOp::verify() {
  if (!sameShape(getA(), getResult()) || !sameShape(getB(), getResult()))
    return emitOpError() << "C1: result has type " << getResult().getType()
                         << ", expected that of " << getA().getType() << " and "
                         << getB().getType();
  if (int64_t(getThreshold()) < 0)
    return emitOpError() << "C1: threshold is " << int64_t(getThreshold())
                         << ", expected at least 0";
  return success();
}

LogicalResult NormOp::verifySymbolUses(SymbolTableCollection &Tables) {
  Checker Check(*this, Tables);
  if (getKind() == NormKind::none)
    return emitOpError() << "C1: kind is none, expected rms or layer";
  int64_t F = features(getX()), Heads = getHeads();
  if (Heads < 1 || F == Dyn || F % Heads != 0)
    return emitOpError() << "C2: heads is " << Heads
                         << ", expected a divisor of the " << F << " features";
  if (failed(Check.vector(getGain(), "C2", "gain", F / Heads)) ||
      failed(Check.vector(getBias(), "C2", "bias", F / Heads)))
    return failure();
  if (!sameShape(getX(), getResult()))
    return emitOpError() << "C3: result has type " << getResult().getType()
                         << ", expected " << getX().getType();
  if (!(getEps().convertToFloat() >= 0))
    return emitOpError() << "C3: eps is negative";
  return success();
}

LogicalResult LinearOp::verifySymbolUses(SymbolTableCollection &Tables) {
  Checker Check(*this, Tables);
  FailureOr<SmallVector<int64_t>> W =
      Check.weight(getWeightAttr(), "C1", "weight", {Dyn, features(getX())});
  if (failed(W))
    return failure();
  int64_t N = W->front();
  bool Glu = getGlu() != ActivationKind::none;
  if (Glu && N % 32 != 0)
    return emitOpError() << "C1: weight has " << N
                         << " rows, expected a multiple of 32 with glu";
  if (failed(Check.rows(getResult(), "C1", "result", Glu ? N / 2 : N)) ||
      failed(Check.vector(getBias(), "C2", "bias", N)) ||
      failed(checkNorm(*this, Check, "C3", W->back())))
    return failure();
  if (Glu && getActivation() != ActivationKind::none)
    return emitOpError() << "C4: both activation and glu are given";
  if (getResidual() && !sameShape(getResidual(), getResult()))
    return emitOpError() << "C5: residual has type " << getResidual().getType()
                         << ", expected " << getResult().getType();
  return success();
}

LogicalResult RopeOp::verify() {
  int64_t Heads = getHeads(), Dim = getHeadDim(), Half = getRotaryHalf();
  if (Heads < 1 || Dim < 1 || !isFeatures(getX(), Heads * Dim))
    return emitOpError() << "C1: x has " << features(getX())
                         << " features, expected " << Heads << " heads of "
                         << Dim;
  if (!sameShape(getX(), getResult()))
    return emitOpError() << "C1: result has type " << getResult().getType()
                         << ", expected " << getX().getType();
  if (Half < 1 || Half > Dim / 2)
    return emitOpError() << "C2: rotary_half is " << Half << ", expected 1 to "
                         << Dim / 2;
  if (!isFeatures(getTable(), 2 * Half))
    return emitOpError() << "C2: table has " << features(getTable())
                         << " features, expected " << 2 * Half;
  return success();
}

LogicalResult KvWriteOp::verifySymbolUses(SymbolTableCollection &Tables) {
  Checker Check(*this, Tables);
  StateOp S = Check.find<StateOp>(getStateAttr(), "C1", "llm.state");
  if (!S ||
      failed(Check.rows(getK(), "C2", "k", S.getKvHeads() * S.getHeadDim())))
    return failure();
  return Check.rows(getV(), "C2", "v", S.getKvHeads() * S.getVHeadDim());
}

/// Rules on the scores that both forms of attention have.
template <typename OpTy>
static LogicalResult checkScores(OpTy Op, Checker &Check) {
  if (int64_t(Op.getWindow()) < 0 || int64_t(Op.getChunk()) < 0 ||
      !(Op.getSoftcap().convertToFloat() >= 0))
    return Op.emitOpError()
           << "C3: window, softcap and chunk must not be negative";
  if (failed(Check.vector(Op.getSlopes(), "C4", "slopes", Op.getHeads())))
    return failure();
  return Check.vector(Op.getSinks(), "C4", "sinks", Op.getHeads());
}

LogicalResult AttentionOp::verifySymbolUses(SymbolTableCollection &Tables) {
  Checker Check(*this, Tables);
  StateOp S;
  if (failed(checkState(*this, Check, getStateAttr(), getHeads(), S)) ||
      failed(Check.rows(getQ(), "C2", "q", getHeads() * S.getHeadDim())) ||
      failed(Check.rows(getResult(), "C2", "result",
                        getHeads() * S.getVHeadDim())))
    return failure();
  return checkScores(*this, Check);
}

LogicalResult
PaddedAttentionOp::verifySymbolUses(SymbolTableCollection &Tables) {
  Checker Check(*this, Tables);
  StateOp S;
  if (failed(checkState(*this, Check, getStateAttr(), getHeads(), S)))
    return failure();
  int64_t KvHeads = S.getKvHeads(), Dim = S.getHeadDim();
  int64_t VDim = S.getVHeadDim();
  if (failed(Check.rows(getQ(), "C2", "q", getHeads() * Dim)) ||
      failed(Check.rows(getK(), "C2", "k", KvHeads * Dim)) ||
      failed(Check.rows(getV(), "C2", "v", KvHeads * VDim)) ||
      failed(Check.rows(getResult(), "C2", "result", getHeads() * VDim)))
    return failure();
  return checkScores(*this, Check);
}

LogicalResult PaddedPositionsOp::verify() {
  if (getIds().getType() != getResult().getType())
    return emitOpError() << "C1: result has type " << getResult().getType()
                         << ", expected " << getIds().getType();
  return success();
}

LogicalResult QkvOp::verifySymbolUses(SymbolTableCollection &Tables) {
  Checker Check(*this, Tables);
  StateOp S;
  if (failed(checkState(*this, Check, getStateAttr(), getHeads(), S)))
    return failure();
  int64_t Dim = S.getHeadDim(), Half = getRotaryHalf();
  int64_t N = getHeads() * Dim + S.getKvHeads() * (Dim + S.getVHeadDim());
  FailureOr<SmallVector<int64_t>> W =
      Check.weight(getWeightAttr(), "C2", "weight", {N, features(getX())});
  if (failed(W) || failed(Check.vector(getBias(), "C2", "bias", N)) ||
      failed(checkNorm(*this, Check, "C3", W->back())))
    return failure();
  if (Half < 0 || Half > Dim / 2)
    return emitOpError() << "C4: rotary_half is " << Half << ", expected 0 to "
                         << Dim / 2;
  if ((Half > 0) != bool(getTable()))
    return emitOpError() << "C4: rotary_half is " << Half
                         << (getTable() ? " with a table" : " without a table");
  if (getTable() && failed(Check.rows(getTable(), "C4", "table", 2 * Half)))
    return failure();
  return Check.rows(getResult(), "C5", "result", getHeads() * Dim);
}

LogicalResult ActivationOp::verify() {
  if (getKind() == ActivationKind::none)
    return emitOpError() << "C1: kind is none";
  if (!sameShape(getX(), getResult()))
    return emitOpError() << "C1: result has type " << getResult().getType()
                         << ", expected " << getX().getType();
  return success();
}

LogicalResult GluOp::verify() {
  if (getKind() == ActivationKind::none)
    return emitOpError() << "C1: kind is none";
  if (!sameShape(getGate(), getUp()) || !sameShape(getGate(), getResult()))
    return emitOpError() << "C1: gate, up and result have types "
                         << getGate().getType() << ", " << getUp().getType()
                         << ", " << getResult().getType();
  return success();
}

LogicalResult AddOp::verify() {
  if (!sameShape(getA(), getB()) || !sameShape(getA(), getResult()))
    return emitOpError() << "C1: a, b and result have types "
                         << getA().getType() << ", " << getB().getType() << ", "
                         << getResult().getType();
  return success();
}

LogicalResult ScaleOp::verify() {
  if (!sameShape(getX(), getResult()))
    return emitOpError() << "C1: result has type " << getResult().getType()
                         << ", expected " << getX().getType();
  return success();
}

LogicalResult RowwiseOp::verifySymbolUses(SymbolTableCollection &Tables) {
  FailureOr<SmallVector<int64_t>> Code =
      Checker(*this, Tables).weight(getProgramAttr(), "C1", "program", {Dyn});
  if (failed(Code))
    return failure();
  int64_t Count = getCount(), Scratch = getScratch();
  if (Count < 1 || Scratch < 0)
    return emitOpError() << "C2: count is " << Count << " and scratch "
                         << Scratch << ", expected at least 1 and 0";
  if (Code->front() / 32 < Count)
    return emitOpError() << "C1: program has " << Code->front()
                         << " numbers, expected at least 32 * " << Count;
  if (getInputs().empty() || getInputs().size() > 8)
    return emitOpError() << "C2: found " << getInputs().size()
                         << " inputs, expected 1 to 8";
  for (Value V : getInputs())
    if (features(V) == Dyn)
      return emitOpError() << "C2: an input of " << V.getType()
                           << " has no static number of features";
  return success();
}

LogicalResult ExpertsOp::verifySymbolUses(SymbolTableCollection &Tables) {
  Checker Check(*this, Tables);
  int64_t Experts = features(getRoute()), Slots = getSlots();
  if (Slots < 1 || Experts == Dyn || Slots > Experts)
    return emitOpError() << "C2: slots is " << Slots << ", expected 1 to the "
                         << Experts << " experts of route";
  FailureOr<SmallVector<int64_t>> W =
      Check.weight(getWeightAttr(), "C1", "weight", {Dyn, Dyn});
  if (failed(W))
    return failure();
  if (W->front() % Experts != 0)
    return emitOpError() << "C1: weight has " << W->front()
                         << " rows, expected a multiple of the " << Experts
                         << " experts";
  int64_t N = W->front() / Experts, K = W->back();
  if (failed(Check.vector(getBias(), "C1", "bias", W->front())) ||
      failed(Check.rows(getX(), "C3", "x", getCombine() ? Slots * K : K)))
    return failure();
  return Check.rows(getResult(), "C3", "result", getCombine() ? N : Slots * N);
}

LogicalResult CausalConvOp::verifySymbolUses(SymbolTableCollection &Tables) {
  Checker Check(*this, Tables);
  StateOp State = Check.find<StateOp>(getStateAttr(), "C1", "llm.state");
  if (!State)
    return failure();
  int64_t F = features(getX()),
          Kept = int64_t(State.getKvHeads()) *
                 int64_t(State.getHeadDim() + State.getVHeadDim());
  if (State.getKind() != "paged_rows" || Kept != F)
    return emitOpError() << "C1: state " << getStateAttr() << " keeps " << Kept
                         << " values of kind " << State.getKind()
                         << ", expected paged_rows of " << F;
  int64_t Taps = getTaps();
  if (Taps < 1)
    return emitOpError() << "C2: taps is " << Taps << ", expected at least 1";
  FailureOr<SmallVector<int64_t>> W =
      Check.weight(getWeightAttr(), "C2", "weight", {F * Taps});
  if (failed(W) || failed(Check.vector(getBias(), "C2", "bias", F)))
    return failure();
  return Check.rows(getResult(), "C3", "result", F);
}

LogicalResult
LinearAttentionOp::verifySymbolUses(SymbolTableCollection &Tables) {
  Checker Check(*this, Tables);
  StateOp State = Check.find<StateOp>(getStateAttr(), "C1", "llm.state");
  if (!State)
    return failure();
  if (State.getKind() != "record")
    return emitOpError() << "C1: state " << getStateAttr() << " has kind "
                         << State.getKind() << ", expected record";
  int64_t Heads = getHeads(), Kv = State.getKvHeads(), Dk = State.getHeadDim(),
          Dv = State.getVHeadDim();
  if (Heads < 1 || Heads % Kv != 0)
    return emitOpError() << "C2: heads is " << Heads
                         << ", expected a multiple of " << Kv;
  if (failed(Check.rows(getQ(), "C2", "q", Heads * Dk)) ||
      failed(Check.rows(getK(), "C2", "k", Kv * Dk)) ||
      failed(Check.rows(getV(), "C2", "v", Kv * Dv)) ||
      failed(Check.rows(getResult(), "C2", "result", Heads * Dv)))
    return failure();
  if (getBeta() && failed(Check.rows(getBeta(), "C3", "beta", Kv)))
    return failure();
  if (getDecay() && !isFeatures(getDecay(), Kv))
    return Check.rows(getDecay(), "C3", "decay", Kv * Dk);
  return success();
}

LogicalResult TakeRowsOp::verifySymbolUses(SymbolTableCollection &Tables) {
  Checker Check(*this, Tables);
  if (failed(checkNorm(*this, Check, "C1", features(getX()))))
    return failure();
  return Check.rows(getResult(), "C2", "result", features(getX()));
}

LogicalResult LogitsOp::verifySymbolUses(SymbolTableCollection &Tables) {
  Checker Check(*this, Tables);
  FailureOr<SmallVector<int64_t>> W =
      Check.weight(getWeightAttr(), "C1", "weight", {Dyn, features(getX())});
  if (failed(W) ||
      failed(Check.rows(getResult(), "C1", "result", W->front())) ||
      failed(Check.vector(getBias(), "C1", "bias", W->front())) ||
      failed(checkNorm(*this, Check, "C2", W->back())))
    return failure();
  if (!(getSoftcap().convertToFloat() >= 0))
    return emitOpError() << "C3: softcap is negative";
  return success();
}
} // namespace llmc::llm
