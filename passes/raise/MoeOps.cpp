// com.microsoft.MoE and QMoE: a router (softmax over all experts, the k
// largest, renormalised or not) and experts of one or two first products and a
// last one. Semantics: ONNX Runtime's ContribOperators.md, measured where that
// is silent: `router_probs` are logits, SwiGLU is min(g, limit) *
// sigmoid(alpha g) * (clamp(l, limit) + beta), gelu is the one with tanh. The
// weights of QMoE are values by then (canonicalize-quantized).
#include "passes/raise/MoeOps.h"

#include "passes/raise/Experts.h"
#include "passes/raise/Heads.h"
#include "passes/raise/Match.h"

#include <cfloat>
#include <cmath>

using namespace mlir;

namespace llmc::raise {
namespace {

constexpr unsigned Input = 0, Router = 1;

/// Where ms_moe and ms_q_moe have the operands of one layer.
struct LayerAt {
  unsigned Weights, Bias;
};
constexpr LayerAt MoeLayers[] = {{2, 3}, {4, 5}, {6, 7}},
                  QMoeLayers[] = {{2, 4}, {5, 7}, {8, 10}};
constexpr unsigned RouterWeights = 14; ///< of ms_q_moe

class MoeOp {
public:
  MoeOp(Operation *TheOp, Roles &TheRoles, WeightMaker &TheWeights)
      : Op(TheOp), R(TheRoles), Weights(TheWeights), B(TheOp),
        Loc(TheOp->getLoc()),
        Quantized(TheOp->getName().stripDialect() == "ms_q_moe"),
        At(Quantized ? QMoeLayers : MoeLayers) {}

  /// Why not, or empty when the op is gone.
  std::string run();

private:
  bool has(unsigned I) {
    return I < Op->getNumOperands() && !onnx::isNone(Op->getOperand(I));
  }
  int64_t attr(StringRef Name, int64_t Default) {
    auto A = Op->getAttrOfType<IntegerAttr>(Name);
    return A ? A.getInt() : Default;
  }
  double real(StringRef Name, double Default) {
    auto A = Op->getAttrOfType<FloatAttr>(Name);
    return A ? A.getValueAsDouble() : Default;
  }
  Value add(Value V) {
    R.markData(V);
    return V;
  }
  Value number(double C) {
    auto Type = RankedTensorType::get({}, B.getF32Type());
    return onnx::ConstantOp::create(B, Loc, Type,
                                    DenseElementsAttr::get(Type, float(C)));
  }
  Value integers(ArrayRef<int64_t> Values) {
    auto Type = RankedTensorType::get({int64_t(Values.size())}, B.getI64Type());
    return onnx::ConstantOp::create(B, Loc, Type,
                                    DenseIntElementsAttr::get(Type, Values));
  }
  Value integer(int64_t C) { return integers({C}); }
  std::string findShapes();
  void makeRouter();
  void makeSparseRouter();
  Value nearby(Value Logits, Value Max, Value Hidden);
  std::string weightsOf(LayerAt L, int64_t N, int64_t K, FlatSymbolRefAttr &W,
                        FlatSymbolRefAttr &Bias);
  std::string biasOf(unsigned At, int64_t N, FlatSymbolRefAttr &Bias);
  Value leg(FlatSymbolRefAttr W, FlatSymbolRefAttr Bias, int64_t Rows,
            int64_t Begin, int64_t Step);
  std::string gated(Value Gate, Value Up, Value &Out);
  Value activated(Value V);

  Operation *Op;
  Roles &R;
  WeightMaker &Weights;
  OpBuilder B;
  Location Loc;
  bool Quantized;
  ArrayRef<LayerAt> At; ///< first, second and third products
  StringRef Kind;
  Value X, Route;
  int64_t Experts = 0, D = 0, Inner = 0, Fusion = 0, K = 1;
};

std::string MoeOp::findShapes() {
  TokenRows Rows(R);
  X = TokenRows::origin(Op->getOperand(Input));
  if (!Rows.has(X))
    return "its input is not made of token rows";
  D = featuresOf(X);
  Experts = featuresOf(Op->getOperand(Router));
  K = attr("k", 1);
  if (K < 1 || K > Experts)
    return "k is " + std::to_string(K) + " of " + std::to_string(Experts) +
           " experts";
  auto Name = Op->getAttrOfType<StringAttr>("activation_type");
  Kind = Name ? Name.getValue() : StringRef("relu");
  Fusion = Kind == "swiglu" || Kind == "geglu" ? attr("swiglu_fusion", 0) : 0;
  auto Last =
      dyn_cast<RankedTensorType>(Op->getOperand(At[1].Weights).getType());
  if (!Last || !Last.hasStaticShape() ||
      Last.getNumElements() % (Experts * D) != 0)
    return "the last weights are not " + std::to_string(Experts) +
           " matrices of " + std::to_string(D) + " rows or columns";
  Inner = Last.getNumElements() / (Experts * D);
  if (attr("use_sparse_mixer", 0) && K != 2)
    return "use_sparse_mixer with k " + std::to_string(K) + ", expected 2";
  return {};
}

/// softmax, the k largest, their sum 1 if asked for. With weights of their own
/// the experts are only chosen by the logits.
void MoeOp::makeRouter() {
  Value Logits = Op->getOperand(Router);
  auto Type = cast<RankedTensorType>(Logits.getType());
  bool Own = Quantized && has(RouterWeights);
  Value Soft =
      Own ? Logits : add(onnx::SoftmaxOp::create(B, Loc, Type, Logits, -1));
  RankedTensorType Few = withFeatures(Type, K), One = withFeatures(Type, 1);
  auto Indices =
      RankedTensorType::get(Few.getShape(), B.getI64Type(), Few.getEncoding());
  auto Chosen =
      onnx::TopKOp::create(B, Loc, Few, Indices, Soft, integer(K), -1, 1, 1);
  add(Chosen->getResult(0));
  add(Chosen->getResult(1));
  Value Share = Chosen->getResult(0);
  if (Own)
    Share = add(onnx::GatherElementsOp::create(
        B, Loc, Few, Op->getOperand(RouterWeights), Chosen->getResult(1), -1));
  if (attr("normalize_routing_weights", 0)) {
    Value Sum =
        add(onnx::ReduceSumOp::create(B, Loc, One, Share, integer(-1), 1, 0));
    Share = add(onnx::DivOp::create(B, Loc, Few, Share, Sum));
  }
  Route = makeRoute(B, Loc, Chosen->getResult(1), Share, Experts, R);
}

/// The softmax weight of the largest logit Max among those that are less than
/// 2 % below it, and not Hidden (null: none is).
Value MoeOp::nearby(Value Logits, Value Max, Value Hidden) {
  Type T = Logits.getType();
  auto Flags = RankedTensorType::get(cast<RankedTensorType>(T).getShape(),
                                     B.getI1Type());
  Value Below = add(onnx::SubOp::create(B, Loc, T, Max, Logits));
  Value Size = add(onnx::AbsOp::create(B, Loc, T, Logits));
  Size = add(onnx::MaxOp::create(B, Loc, T, ValueRange{Size, Max}));
  Value Share = add(onnx::DivOp::create(B, Loc, T, Below, Size));
  Value Far = add(onnx::GreaterOp::create(B, Loc, Flags, Share, number(0.02)));
  if (Hidden)
    Far = add(onnx::OrOp::create(B, Loc, Flags, Far, Hidden));
  Value Rest =
      add(onnx::WhereOp::create(B, Loc, T, Far, number(-FLT_MAX), Logits));
  Value Soft = add(onnx::SoftmaxOp::create(B, Loc, T, Rest, -1));
  return add(onnx::ReduceMaxOp::create(
      B, Loc, withFeatures(cast<RankedTensorType>(T), 1), Soft, integer(-1), 1,
      0));
}

/// The sparse mixer (Phi-3.5-MoE, jitter 0.01): the largest logit, then the
/// largest without it, each weighed among its own neighbours.
void MoeOp::makeSparseRouter() {
  Value Logits = Op->getOperand(Router);
  auto Type = cast<RankedTensorType>(Logits.getType());
  RankedTensorType One = withFeatures(Type, 1);
  auto Index =
      RankedTensorType::get(One.getShape(), B.getI64Type(), One.getEncoding());
  auto Flags = RankedTensorType::get(Type.getShape(), B.getI1Type());
  Value Left = Logits, Hidden;
  SmallVector<Value> Shares, Choices;
  for (int Round = 0; Round < 2; ++Round) {
    auto Best =
        onnx::TopKOp::create(B, Loc, One, Index, Left, integer(1), -1, 1, 1);
    Value Max = add(Best->getResult(0));
    Choices.push_back(add(Best->getResult(1)));
    Shares.push_back(nearby(Logits, Max, Hidden));
    if (Round)
      break;
    Hidden = add(onnx::EqualOp::create(
        B, Loc, Flags, Choices[0],
        integers(llvm::to_vector(llvm::seq<int64_t>(0, Experts)))));
    Left = add(
        onnx::WhereOp::create(B, Loc, Type, Hidden, number(-FLT_MAX), Logits));
  }
  int64_t Axis = Type.getRank() - 1;
  RankedTensorType Two = withFeatures(Type, 2);
  auto TwoIndices =
      RankedTensorType::get(Two.getShape(), B.getI64Type(), Two.getEncoding());
  Value Choice = add(onnx::ConcatOp::create(B, Loc, TwoIndices, Choices, Axis));
  Value Share = add(onnx::ConcatOp::create(B, Loc, Two, Shares, Axis));
  Route = makeRoute(B, Loc, Choice, Share, Experts, R);
}

/// All experts' matrices [E * N, K] and biases.
std::string MoeOp::weightsOf(LayerAt L, int64_t N, int64_t In,
                             FlatSymbolRefAttr &W, FlatSymbolRefAttr &Bias) {
  // Quantised experts are one matrix, row after row, seen as a cube: never by
  // columns.
  Value Matrix = TokenRows::origin(Op->getOperand(L.Weights));
  onnx::ReshapeOp Cube = Matrix.getDefiningOp<onnx::ReshapeOp>();
  bool Coded = Quantized && Cube;
  if (Cube)
    Matrix = Cube.getData();
  if (std::optional<WeightView> Flat = Weights.view(Matrix);
      Flat && !Flat->Transposed &&
      ArrayRef<int64_t>(Flat->Shape) == ArrayRef<int64_t>{Experts * N, In}) {
    W = Weights.matrix(*Flat, /*InOut=*/false);
    return biasOf(L.Bias, N, Bias);
  }
  // Or one matrix per expert.
  if (onnx::ConcatOp All = Matrix.getDefiningOp<onnx::ConcatOp>()) {
    SmallVector<FlatSymbolRefAttr> Each;
    for (Value One : All->getOperands())
      if (std::optional<WeightView> V = Weights.view(One);
          V && V->Shape == SmallVector<int64_t>{N, In})
        Each.push_back(Weights.matrix(*V, /*InOut=*/false));
    if (int64_t(Each.size()) == Experts) {
      W = Weights.joined(Each);
      return biasOf(L.Bias, N, Bias);
    }
  }
  std::optional<WeightView> View = Weights.cube(Op->getOperand(L.Weights));
  bool OutIn = View && View->Shape[1] == N && View->Shape[2] == In;
  bool InOut = View && !Coded && View->Shape[1] == In && View->Shape[2] == N;
  if (!OutIn && !InOut)
    return "weights number " + std::to_string(L.Weights) + " are not " +
           std::to_string(N) + " by " + std::to_string(In) + " per expert";
  W = Weights.experts(*View, !OutIn);
  if (!W)
    return "codes number " + std::to_string(L.Weights) +
           " cannot be cut into experts";
  return biasOf(L.Bias, N, Bias);
}

std::string MoeOp::biasOf(unsigned BiasAt, int64_t N, FlatSymbolRefAttr &Bias) {
  if (!has(BiasAt))
    return {};
  std::optional<WeightView> Vector = Weights.view(Op->getOperand(BiasAt));
  int64_t Have = 1;
  for (int64_t S : Vector ? Vector->Shape : SmallVector<int64_t>{0})
    Have *= S;
  if (!Vector || Vector->Transposed || Have != Experts * N)
    return "bias number " + std::to_string(BiasAt) + " has " +
           std::to_string(Have) + " values, expected " +
           std::to_string(Experts * N);
  Bias = Weights.flat(*Vector);
  return Bias ? std::string() : "a bias is a matrix of codes";
}

/// Products with rows Begin, Begin + Step, … of every expert, Inner of them.
Value MoeOp::leg(FlatSymbolRefAttr W, FlatSymbolRefAttr Bias, int64_t Rows,
                 int64_t Begin, int64_t Step) {
  if (Rows != Inner) {
    SmallVector<int64_t> All;
    for (int64_t E = 0; E < Experts; ++E)
      for (int64_t I = 0; I < Inner; ++I)
        All.push_back(E * Rows + Begin + I * Step);
    W = Weights.rows(W, All);
    Bias = Bias ? Weights.rows(Bias, All) : Bias;
  }
  return makeExperts(B, Loc, X, Route, W, Bias, K, K * Inner, false, R);
}

Value MoeOp::activated(Value V) {
  using llm::ActivationKind;
  std::optional<ActivationKind> To =
      Kind == "relu"     ? std::optional(ActivationKind::relu)
      : Kind == "gelu"   ? std::optional(ActivationKind::gelu_tanh)
      : Kind == "silu"   ? std::optional(ActivationKind::silu)
      : Kind == "relu2"  ? std::optional(ActivationKind::relu2)
      : Kind == "swiglu" ? std::optional(ActivationKind::silu)
      : Kind == "geglu"  ? std::optional(ActivationKind::gelu_tanh)
                         : std::nullopt;
  return To ? add(llm::ActivationOp::create(B, Loc, V.getType(), V, *To)) : V;
}

std::string MoeOp::gated(Value Gate, Value Up, Value &Out) {
  double Alpha = real("activation_alpha", 1), Beta = real("activation_beta", 0),
         Limit = real("swiglu_limit", INFINITY);
  Type T = Gate.getType();
  if (Kind != "swiglu") {
    Value Act = activated(Gate);
    Out = add(onnx::MulOp::create(B, Loc, T, Act, Up));
    return {};
  }
  bool After = attr("swiglu_limit_after_activation", 0) != 0;
  const auto AtMostLimit = [&](Value V) {
    return add(onnx::ClipOp::create(
        B, Loc, T, V, onnx::NoneOp::create(B, Loc, B.getNoneType()),
        number(Limit)));
  };
  bool Limited = std::isfinite(Limit);
  if (Limited && !After)
    Gate = AtMostLimit(Gate);
  if (Limited)
    Up =
        add(onnx::ClipOp::create(B, Loc, T, Up, number(-Limit), number(Limit)));
  if (Alpha == 1 && Beta == 0 && !(Limited && After)) {
    Out =
        add(llm::GluOp::create(B, Loc, T, Gate, Up, llm::ActivationKind::silu));
    return {};
  }
  Value Scaled = add(onnx::MulOp::create(B, Loc, T, Gate, number(Alpha)));
  Value Soft = add(onnx::SigmoidOp::create(B, Loc, T, Scaled));
  Value Act = add(onnx::MulOp::create(B, Loc, T, Gate, Soft));
  if (Limited && After)
    Act = AtMostLimit(Act);
  if (Beta != 0)
    Up = add(onnx::AddOp::create(B, Loc, T, Up, number(Beta)));
  Out = add(onnx::MulOp::create(B, Loc, T, Act, Up));
  return {};
}

std::string MoeOp::run() {
  std::string Why = findShapes();
  if (!Why.empty())
    return Why;
  int64_t Rows = Fusion ? 2 * Inner : Inner;
  FlatSymbolRefAttr W1, B1, W2, B2, W3, B3;
  Why = weightsOf(At[0], Rows, D, W1, B1);
  if (Why.empty())
    Why = weightsOf(At[1], D, Inner, W2, B2);
  if (Why.empty() && has(At[2].Weights))
    Why = weightsOf(At[2], Inner, D, W3, B3);
  if (!Why.empty())
    return Why;
  if (attr("use_sparse_mixer", 0))
    makeSparseRouter();
  else
    makeRouter();
  Value H;
  if (Fusion) {
    bool Alternate = Fusion == 1;
    int64_t Step = Alternate ? 2 : 1;
    Value Gate = leg(W1, B1, Rows, 0, Step);
    Value Up = leg(W1, B1, Rows, Alternate ? 1 : Inner, Step);
    Why = gated(Gate, Up, H);
  } else if (W3) {
    Value Gate = leg(W1, B1, Inner, 0, 1), Up = leg(W3, B3, Inner, 0, 1);
    Why = gated(Gate, Up, H);
  } else {
    H = activated(leg(W1, B1, Inner, 0, 1));
  }
  if (!Why.empty())
    return Why;
  Value Out = makeExperts(B, Loc, H, Route, W2, B2, K, D, true, R);
  auto Type = cast<RankedTensorType>(Op->getResult(0).getType());
  if (Type.getRank() == 2 && rankOf(Out) == 3)
    Out = add(flattenRows(B, Out, Type));
  Op->getResult(0).replaceAllUsesWith(Out);
  passed("raise-moe", Op, "llm.experts of " + Twine(Experts) + " experts");
  return {};
}
} // namespace

void raiseMoeOps(func::FuncOp Main, Roles &R, WeightMaker &Weights) {
  for (Operation &Op : llvm::make_early_inc_range(Main.getBody().front()))
    if (StringRef Name = Op.getName().getStringRef();
        Name == "onnx.ms_moe" || Name == "onnx.ms_q_moe")
      if (std::string Why = MoeOp(&Op, R, Weights).run(); !Why.empty()) {
        missed("raise-moe", &Op, Why);
        Op.setAttr(WhyNot, StringAttr::get(Op.getContext(), Why));
      }
}
} // namespace llmc::raise
