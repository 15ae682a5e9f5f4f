// Experts as batched products: every token by every expert, [E, T, D] x
// [E, D, N], then weights of the router and a sum over experts. They become
// llm.experts of the chosen ones only.
//
// Structure gives the two products, what is between them (elementwise ops and
// choices of features), the router's weights and the sum. That rows of tokens
// go in, which features a choice takes, and that the end is the weighted sum is
// found and proved on samples with the products' results bound to known rows.
#include "passes/raise/BatchedExperts.h"

#include "passes/raise/Cone.h"
#include "passes/raise/ExpertBody.h"
#include "passes/raise/Experts.h"
#include "passes/raise/Heads.h"
#include "passes/raise/Match.h"

#include <cmath>

using namespace mlir;

namespace llmc::raise {
namespace {

constexpr int64_t Tokens = 3;

/// One product with all experts, and its bias.
struct Batch {
  onnx::MatMulOp MatMul;
  WeightView Weight;
  std::optional<WeightView> Bias;
  Value Result; ///< with bias
  int64_t Experts = 0, N = 0;
};

class Layer {
public:
  Layer(func::FuncOp TheMain, Roles &TheRoles, WeightMaker &TheWeights,
        const eval::WeightReader &TheReader)
      : Main(TheMain), R(TheRoles), Weights(TheWeights), Reader(TheReader),
        Rows(R), B(TheMain.getContext()) {}

  /// Why not, or empty; Near tells whether it looked like experts.
  std::string run(onnx::MatMulOp Down, bool &Near);

private:
  std::optional<Batch> batchOf(onnx::MatMulOp MatMul);
  std::string findEnds(Value V);
  std::string findRows();
  std::string findSum();
  std::string proveSum();

  func::FuncOp Main;
  Roles &R;
  WeightMaker &Weights;
  const eval::WeightReader &Reader;
  TokenRows Rows;
  OpBuilder B;

  Batch Up, Down;
  Value X, Route, Sum;
};

std::optional<Batch> Layer::batchOf(onnx::MatMulOp MatMul) {
  std::optional<WeightView> W = Weights.cube(MatMul.getB());
  if (!W || !R.isData(MatMul.getA()) || W->Shape[0] < 2)
    return std::nullopt;
  Batch Out;
  Out.MatMul = MatMul;
  Out.Weight = *W;
  Out.Result = MatMul.getResult();
  Out.Experts = W->Shape[0];
  Out.N = W->Shape[2];
  auto Add = dyn_cast_or_null<onnx::AddOp>(onlyUser(MatMul));
  Value Other =
      Add ? other(Add, [&](Value V) { return skip(V) == MatMul; }) : Value();
  if (!Other)
    return Out;
  auto Type = dyn_cast<RankedTensorType>(Other.getType());
  std::optional<WeightView> Bias = Weights.view(Other);
  if (Bias && Type.getNumElements() == Out.Experts * Out.N &&
      Type.getShape().back() == Out.N && !Bias->Transposed) {
    Out.Bias = Bias;
    Out.Result = Add.getResult();
  }
  return Out;
}

/// The other product, from which Down's rows come.
std::string Layer::findEnds(Value V) {
  llvm::SetVector<Value> Work;
  Work.insert(V);
  std::optional<Batch> Found;
  for (size_t I = 0; I < Work.size(); ++I) {
    Operation *Op = Work[I].getDefiningOp();
    if (!Op || Work.size() > 256)
      return "its rows come from elsewhere";
    if (auto MatMul = dyn_cast<onnx::MatMulOp>(Op)) {
      std::optional<Batch> Here = batchOf(MatMul);
      if (!Here || Here->Experts != Down.Experts ||
          (Found && Found->MatMul != MatMul))
        return "its rows come from other products";
      Found = Here;
      continue;
    }
    if (!isElementwiseOp(Op) && !isMovement(Op))
      return "'" + nodeName(Op) + "' is between its products";
    for (Value Operand : Op->getOperands())
      if (R.isData(Operand))
        Work.insert(Operand);
  }
  if (!Found)
    return "there is no first product";
  Up = *Found;
  return {};
}

/// Up's left side must be the rows of all tokens, once per expert.
std::string Layer::findRows() {
  Cone C = coneOf(Up.MatMul.getA(), R, Mixing::None);
  Value Root = C.root(R);
  if (!Root || !Rows.has(Root))
    return "its rows are not token rows";
  X = TokenRows::origin(Root);
  Probe P(Main, R, Reader, Sample{0, Tokens, {}, 0});
  eval::Dims Shape;
  if (!P.shapeOf(Root, Shape))
    return "its rows have no known shape";
  eval::Tensor T = randomTensor(Shape, 3);
  P.bind(Root, T);
  Result<const eval::Tensor *> Got = P.evaluate(Up.MatMul.getA());
  if (!Got)
    return Got.status().message();
  int64_t Each = T.count(), All = (*Got)->count();
  if (All % Each != 0 || (All != Each && All != Each * Up.Experts))
    return "its rows have shape " + eval::describe(**Got);
  for (int64_t I = 0; I < All; ++I)
    if (eval::floatAt(**Got, I) != eval::floatAt(T, I % Each))
      return "its rows are not the same for every expert";
  return {};
}

/// From Down to the sum over experts, with the router's weights on the way.
std::string Layer::findSum() {
  Value V = Down.Result;
  for (int Steps = 0; Steps < 16; ++Steps) {
    Operation *User = onlyUser(V);
    if (!User)
      break;
    if (auto Mul = dyn_cast<onnx::MulOp>(User)) {
      Value Share = other(Mul, [&](Value W) { return skip(W) == skip(V); });
      if (!Share || Route)
        return "its results are weighed twice";
      // Back to one row of weights per token.
      Value Back = Share;
      while (Operation *Op = Back.getDefiningOp()) {
        if (featuresOf(Back) == Down.Experts &&
            (rankOf(Back) == 2 || rankOf(Back) == 3) &&
            cast<RankedTensorType>(Back.getType()).isDynamicDim(0))
          break;
        if (!isMovement(Op) || isa<onnx::ConcatOp>(Op))
          return "its weights are no rows of " + std::to_string(Down.Experts);
        Back = Op->getOperand(0);
      }
      if (featuresOf(Back) != Down.Experts)
        return "its weights are no rows of " + std::to_string(Down.Experts);
      Route = Back;
    } else if (isa<onnx::ReduceSumOp>(User)) {
      Sum = User->getResult(0);
      return Route ? "" : "its results are not weighed";
    } else if (!isMovement(User)) {
      return "'" + nodeName(User) + "' follows it";
    }
    V = User->getResult(0);
  }
  return "its results are not added up";
}

/// Sum must be the weighted sum for random results and weights.
std::string Layer::proveSum() {
  Probe P(Main, R, Reader, Sample{0, Tokens, {}, 0});
  int64_t E = Down.Experts, N = Down.N;
  eval::Dims Shape;
  if (!P.shapeOf(Route, Shape) || eval::countOf(Shape) != Tokens * E)
    Shape = {Tokens, E};
  eval::Tensor W = randomTensor(Shape, 8);
  eval::Tensor Y = randomTensor({E, Tokens, N}, 9);
  P.bind(Route, W);
  P.bind(Down.Result, Y);
  // Shapes are asked of the rows themselves.
  if (P.shapeOf(X, Shape))
    P.bind(X, randomTensor(Shape, 10));
  Result<const eval::Tensor *> Got = P.evaluate(Sum);
  if (!Got)
    return Got.status().message();
  if ((*Got)->count() != Tokens * N)
    return "its sum has shape " + eval::describe(**Got);
  for (int64_t T = 0; T < Tokens; ++T)
    for (int64_t I = 0; I < N; ++I) {
      double Want = 0;
      for (int64_t J = 0; J < E; ++J)
        Want += eval::floatAt(W, T * E + J) *
                eval::floatAt(Y, (J * Tokens + T) * N + I);
      if (!(std::abs(eval::floatAt(**Got, T * N + I) - Want) <= 1e-4))
        return "its sum is not that of weighed results";
    }
  return {};
}

std::string Layer::run(onnx::MatMulOp MatMul, bool &Near) {
  std::optional<Batch> Last = batchOf(MatMul);
  if (!Last)
    return "no product with all experts";
  Down = *Last;
  std::string Reason = findSum();
  Near = Reason.empty();
  if (Reason.empty())
    Reason = findEnds(Down.MatMul.getA());
  if (Reason.empty())
    Reason = findRows();
  if (Reason.empty())
    Reason = proveSum();
  if (!Reason.empty())
    return Reason;
  Operation *End = Sum.getDefiningOp();
  B.setInsertionPoint(End);
  FirstProduct First{Up.Result,
                     {Up.Experts, Tokens, Up.N},
                     Tokens,
                     Up.N,
                     X,
                     Route,
                     Up.Experts,
                     slotsOf(Route, Down.Experts, Main, R, Reader),
                     Weights.experts(Up.Weight, /*InOut=*/true),
                     Up.Bias ? Weights.flat(*Up.Bias) : FlatSymbolRefAttr(),
                     Up.MatMul.getLoc()};
  FlatSymbolRefAttr DownWeight = Weights.experts(Down.Weight, true), DownBias;
  if (Down.Bias)
    DownBias = Weights.flat(*Down.Bias);
  if (!First.Weight || !DownWeight || (Up.Bias && !First.Bias) ||
      (Down.Bias && !DownBias))
    return "its codes cannot be cut into experts";
  ExpertBody Body(First, Main, R, Weights, Reader, B);
  Value H = Body.rows(Down.MatMul.getA());
  if (!H)
    return Body.why();
  Value Out = makeExperts(B, Down.MatMul.getLoc(), H, Route, DownWeight,
                          DownBias, First.Slots, Down.N, true, R);
  auto Type = cast<RankedTensorType>(Sum.getType());
  if (Type.getRank() == 2 && rankOf(Out) == 3) {
    Out = flattenRows(B, Out, Type);
    R.markData(Out);
  }
  Sum.replaceAllUsesWith(Out);
  passed("raise-moe", MatMul,
         "llm.experts of " + Twine(Down.Experts) + " experts");
  return {};
}
} // namespace

void raiseBatchedExperts(func::FuncOp Main, Roles &R, WeightMaker &Weights,
                         const eval::WeightReader &Reader) {
  SmallVector<onnx::MatMulOp> All;
  for (onnx::MatMulOp MatMul : Main.getBody().front().getOps<onnx::MatMulOp>())
    if (Weights.cube(MatMul.getB()))
      All.push_back(MatMul);
  for (onnx::MatMulOp MatMul : All) {
    bool Near = false;
    std::string Why = Layer(Main, R, Weights, Reader).run(MatMul, Near);
    if (!Why.empty() && Near)
      missed("raise-moe", MatMul, Why);
  }
}
} // namespace llmc::raise
