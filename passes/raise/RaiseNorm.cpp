// Norms in every spelling become llm.norm. A decomposed norm is found from its
// ReduceMean of squares and followed outwards in both directions, step by step;
// each step that fails says which one it was.
//
//   rms:   x * rsqrt(mean(x^2) + eps) [* gain]
//   layer: d * rsqrt(mean(d^2) + eps) [* gain] [+ bias] with d = x - mean(x)
#include "passes/raise/Heads.h"
#include "passes/raise/Match.h"
#include "passes/raise/Passes.h"
#include "passes/raise/Probe.h"
#include "passes/raise/ReadingPass.h"
#include "passes/raise/Roles.h"
#include "passes/raise/Weights.h"

namespace llmc::raise {
#define GEN_PASS_DEF_RAISENORM
#include "passes/raise/Passes.h.inc"
} // namespace llmc::raise

using namespace mlir;

namespace llmc::raise {
namespace {

struct Found {
  Value X;
  llm::NormKind Kind = llm::NormKind::rms;
  double Eps = 0;
  Operation *Last = nullptr; ///< makes the normed value
};

/// The value whose square V is; null if V is no square.
Value squared(Value V) {
  if (auto Pow = producer<onnx::PowOp>(V))
    return isScalar(Pow.getRhs(), 2) ? skip(Pow.getLhs()) : Value();
  if (auto Mul = producer<onnx::MulOp>(V))
    return skip(Mul.getLhs()) == skip(Mul.getRhs()) ? skip(Mul.getLhs())
                                                    : Value();
  return {};
}

/// Follows `mean + eps` to the op that yields X / sqrt(mean + eps).
const char *followRoot(Operation *Add, Value X, Operation *&Last) {
  auto IsX = [&](Value V) { return skip(V) == X; };
  Operation *User = onlyUser(Add->getResult(0));
  Operation *Root = User;
  bool Inverse = false;
  if (auto Pow = dyn_cast_or_null<onnx::PowOp>(User)) {
    Inverse = isScalar(Pow.getRhs(), -0.5);
    if (!Inverse && !isScalar(Pow.getRhs(), 0.5))
      return "mean + eps has another power than 0.5 and -0.5";
  } else if (!isa_and_nonnull<onnx::SqrtOp>(User)) {
    return "mean + eps is not followed by a square root";
  }
  User = onlyUser(Root->getResult(0));
  if (auto Div = dyn_cast_or_null<onnx::DivOp>(User); Div && !Inverse) {
    if (IsX(Div.getLhs())) {
      Last = Div;
      return nullptr;
    }
    if (!isScalar(Div.getLhs(), 1))
      return "the root divides neither the input nor 1";
    Inverse = true;
    Root = Div;
  } else if (isa_and_nonnull<onnx::ReciprocalOp>(User) && !Inverse) {
    Inverse = true;
    Root = User;
  }
  User = onlyUser(Root->getResult(0));
  auto Mul = dyn_cast_or_null<onnx::MulOp>(User);
  if (!Inverse || !Mul || !other(Mul, IsX))
    return "the inverse root does not multiply the input";
  Last = Mul;
  return nullptr;
}

/// A norm around a mean of squares, without gain and bias; a reason if not.
const char *match(onnx::ReduceMeanOp Mean, Found &Out) {
  Value Base = squared(Mean.getData());
  if (!Base)
    return nullptr; // another mean: not a near miss
  if (!reducesLastAxis(Mean))
    return "the mean is not over the last axis, or drops it";
  Operation *Add = onlyUser(Mean.getOutput());
  std::optional<double> Eps;
  if (auto Op = dyn_cast_or_null<onnx::AddOp>(Add))
    if (Value C = other(Op, [&](Value V) { return skip(V) == Mean; }))
      Eps = scalar(C);
  if (!Eps || !(*Eps >= 0) || *Eps > 1)
    return "no constant eps is added to the mean";
  Out.Eps = *Eps;
  Out.X = Base;
  if (const char *Why = followRoot(Add, Base, Out.Last))
    return Why;
  auto Sub = Base.getDefiningOp<onnx::SubOp>();
  if (!Sub)
    return nullptr;
  auto Centre = producer<onnx::ReduceMeanOp>(Sub.getRhs());
  if (Centre && reducesLastAxis(Centre) &&
      skip(Centre.getData()) == skip(Sub.getLhs())) {
    Out.X = skip(Sub.getLhs());
    Out.Kind = llm::NormKind::layer;
  }
  return nullptr;
}

struct RaiseNorm : ReadingPass<impl::RaiseNormBase<RaiseNorm>> {
  using ReadingPass::ReadingPass;

  void runOnGraph(func::FuncOp Main) override {
    WeightMaker Weights(getOperation());
    for (Operation &Op : llvm::make_early_inc_range(Main.getBody().front())) {
      if (auto Mean = dyn_cast<onnx::ReduceMeanOp>(Op))
        raiseDecomposed(Mean, Weights);
      else if (isa<onnx::LayerNormalizationOp, onnx::RMSNormalizationOp>(Op))
        raiseWhole(Op, Weights);
    }
    eraseDead(Main.getBody().front());
  }

  void raiseDecomposed(onnx::ReduceMeanOp Mean, WeightMaker &Weights) {
    Found F;
    if (const char *Why = match(Mean, F))
      return missed("raise-norm", Mean, Why);
    if (!F.Last)
      return;
    int64_t N = featuresOf(F.X);
    if (N < 1 || !getElementTypeOrSelf(F.X).isF32())
      return missed("raise-norm", Mean,
                    "the input has no static last dim in f32");
    // Norms that differ in their gains only may share all else (CSE): each user
    // with a gain gets a norm of its own.
    if (!onlyUser(F.Last->getResult(0)))
      for (Operation *User : llvm::to_vector(F.Last->getResult(0).getUsers()))
        if (auto Mul = dyn_cast<onnx::MulOp>(User))
          if (FlatSymbolRefAttr Gain = gainOf(Mul, F.Last, N, Weights))
            finish(F, Mul, Gain, N, Weights);
    if (F.Last->use_empty())
      return;
    Operation *User = onlyUser(F.Last->getResult(0));
    auto Mul = dyn_cast_or_null<onnx::MulOp>(User);
    FlatSymbolRefAttr Gain =
        Mul ? gainOf(Mul, F.Last, N, Weights) : FlatSymbolRefAttr();
    finish(F, Gain ? User : F.Last, Gain, N, Weights);
  }

  /// The gain, if Mul multiplies Last by a vector of N elements of the file.
  FlatSymbolRefAttr gainOf(onnx::MulOp Mul, Operation *Last, int64_t N,
                           WeightMaker &Weights) {
    Value Vector = other(
        Mul, [&](Value V) { return skip(V) == skip(Last->getResult(0)); });
    return Vector ? vectorOf(Vector, N, Weights) : FlatSymbolRefAttr();
  }

  FlatSymbolRefAttr vectorOf(Value V, int64_t N, WeightMaker &Weights) {
    std::optional<WeightView> View = Weights.view(V);
    if (featuresOf(V) != N)
      return {};
    if (View && View->Shape.size() == 1 && View->Shape[0] == N)
      return Weights.vector(*View);
    return View ? FlatSymbolRefAttr() : computedVector(V, N, Weights);
  }

  /// A vector that the graph computes from weights.
  FlatSymbolRefAttr computedVector(Value V, int64_t N, WeightMaker &Weights) {
    if (!Reader || !isFixed(V))
      return {};
    eval::Evaluator Eval(Probe::defaultBudget(), Reader);
    Result<const eval::Tensor *> Got = Eval.evaluate(V);
    if (!Got || (*Got)->count() != N)
      return {};
    std::vector<float> Data;
    for (int64_t I = 0; I < N; ++I)
      Data.push_back(float(eval::floatAt(**Got, I)));
    return Weights.inlined("gain", {N}, Data);
  }

  /// Takes the bias that follows and puts the norm in place.
  void finish(const Found &F, Operation *Last, FlatSymbolRefAttr Gain,
              int64_t N, WeightMaker &Weights) {
    FlatSymbolRefAttr Bias;
    if (F.Kind == llm::NormKind::layer)
      if (auto Add =
              dyn_cast_or_null<onnx::AddOp>(onlyUser(Last->getResult(0)))) {
        Value Vector = other(
            Add, [&](Value V) { return skip(V) == skip(Last->getResult(0)); });
        if (Vector && (Bias = vectorOf(Vector, N, Weights)))
          Last = Add;
      }
    create(Last, F.X, Gain, Bias, F.Kind, F.Eps);
  }

  void raiseWhole(Operation &Op, WeightMaker &Weights) {
    Value X = Op.getOperand(0);
    int64_t N = featuresOf(X), Rank = rankOf(X);
    auto Layer = dyn_cast<onnx::LayerNormalizationOp>(Op);
    int64_t Axis =
        Layer ? Layer.getAxis() : cast<onnx::RMSNormalizationOp>(Op).getAxis();
    if (Axis != -1 && Axis != Rank - 1)
      return missed("raise-norm", &Op, "the axis is not the last");
    if (N < 1 || !getElementTypeOrSelf(X).isF32())
      return missed("raise-norm", &Op,
                    "the input has no static last dim in f32");
    FlatSymbolRefAttr Gain = vectorOf(Op.getOperand(1), N, Weights), Bias;
    bool HasBias = Layer && !onnx::isNone(Layer.getB());
    if (HasBias)
      Bias = vectorOf(Layer.getB(), N, Weights);
    if (!Gain || (HasBias && !Bias))
      return missed("raise-norm", &Op,
                    "scale or bias is no vector of the file");
    double Eps =
        Layer
            ? Layer.getEpsilon().convertToDouble()
            : cast<onnx::RMSNormalizationOp>(Op).getEpsilon().convertToDouble();
    create(&Op, X, Gain, Bias,
           Layer ? llm::NormKind::layer : llm::NormKind::rms, Eps);
  }

  void create(Operation *Last, Value X, FlatSymbolRefAttr Gain,
              FlatSymbolRefAttr Bias, llm::NormKind Kind, double Eps) {
    OpBuilder B(Last);
    Location Loc = Last->getLoc();
    Type Wanted = Last->getResult(0).getType();
    auto Make = [&](Value From, Type To) -> Value {
      Value Norm = llm::NormOp::create(B, Loc, To, From, Gain, Bias, Kind,
                                       llvm::APFloat(float(Eps)));
      passed("raise-norm", Norm.getDefiningOp(), "llm.norm");
      return Norm;
    };
    Value Norm;
    // Rows [batch, seq, heads, dim] are what others look for. Heads that were
    // moved before their norm: the norm of a row does not care.
    auto Moved = X.getDefiningOp<onnx::TransposeOp>();
    if (Moved && Moved.getPerm() && rankOf(X) > 1 &&
        Moved.getPerm()->back() == rankOf(X) - 1 && X.getType() == Wanted &&
        !headsFirst(Moved.getData()))
      Norm = onnx::TransposeOp::create(
          B, Loc, Wanted, Make(Moved.getData(), Moved.getData().getType()),
          Moved.getPermAttr());
    else if (headsFirst(X) && X.getType() == Wanted)
      Norm = heads(B, Make, X);
    else if (Value Rows = countedHeads(X); Rows && X.getType() == Wanted)
      Norm = normCounted(B, Last, Rows, Make);
    else
      Norm = Make(X, Wanted);
    Last->getResult(0).replaceAllUsesWith(Norm);
  }

  /// Whether X is [batch, heads, seq, dim].
  static bool headsFirst(Value X) {
    auto Type = dyn_cast<RankedTensorType>(X.getType());
    return Type && Type.getRank() == 4 && !Type.isDynamicDim(1) &&
           Type.isDynamicDim(2);
  }

  /// The norm of heads that come before tokens, as one of rows of heads.
  template <typename MakeFn>
  static Value heads(OpBuilder &B, MakeFn Make, Value X) {
    Value Rows = swapHeads(B, X);
    return swapHeads(B, Make(Rows, Rows.getType()));
  }

  /// The norm of heads as [batch, seq, heads, dim], for the rows or heads that
  /// users make of it, and in the form that Last has for others.
  template <typename MakeFn>
  static Value normCounted(OpBuilder &B, Operation *Last, Value Rows,
                           MakeFn Make) {
    Value Old = Last->getResult(0);
    Value Heads = splitFeatures(B, Rows, featuresOf(Old));
    Value Norm = Make(Heads, Heads.getType());
    auto From = cast<RankedTensorType>(Rows.getType());
    for (Operation *User : llvm::to_vector(Old.getUsers())) {
      auto Reshape = dyn_cast<onnx::ReshapeOp>(User);
      auto To = Reshape
                    ? dyn_cast<RankedTensorType>(Reshape.getResult().getType())
                    : RankedTensorType();
      if (!To || To.getRank() < 3)
        continue;
      int64_t Count = 1;
      for (int64_t Size : To.getShape().drop_front(2))
        Count = Size > 0 ? Count * Size : 0;
      if (Count != featuresOf(Rows) || To.getDimSize(0) != From.getDimSize(0) ||
          To.getDimSize(1) != From.getDimSize(1))
        continue;
      B.setInsertionPoint(User);
      User->getResult(0).replaceAllUsesWith(reshapeRows(B, Norm, To));
    }
    B.setInsertionPoint(Last);
    return rankOf(Old) == 2
               ? flattenRows(B, Norm, cast<RankedTensorType>(Old.getType()))
               : countHeads(B, Norm, cast<RankedTensorType>(Old.getType()));
  }
};
} // namespace

std::unique_ptr<Pass> createRaiseNorm(eval::WeightReader Reader) {
  return withReader<RaiseNorm>(std::move(Reader));
}
} // namespace llmc::raise
