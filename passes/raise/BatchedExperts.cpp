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
  bool features(Value V, SmallVector<int64_t> &Out);
  Value between(Value V);
  Value chosen(ArrayRef<int64_t> Features);

  func::FuncOp Main;
  Roles &R;
  WeightMaker &Weights;
  const eval::WeightReader &Reader;
  TokenRows Rows;
  OpBuilder B;

  Batch Up, Down;
  Value X, Route, Sum;
  int64_t Slots = 0;
  FlatSymbolRefAttr UpWeight, UpBias;
  std::string Why;
  llvm::DenseMap<Value, Value> New;
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

/// The features of Up's result that V consists of, the same for every expert
/// and token; false when V is no choice of them.
bool Layer::features(Value V, SmallVector<int64_t> &Out) {
  Cone C = coneOf(V, R, Mixing::None, Up.Result);
  if (C.Leaves.size() != 1 || C.Leaves.front() != Up.Result)
    return false;
  for (Operation *Op : C.Ops)
    if (!isMovement(Op))
      return false;
  Probe P(Main, R, Reader, Sample{0, Tokens, {}, 0});
  int64_t E = Up.Experts, N = Up.N;
  std::vector<double> Ids;
  for (int64_t I = 0; I < E * Tokens * N; ++I)
    Ids.push_back(double(I));
  P.bind(Up.Result, eval::Tensor::ofFloats(DType::F64, {E, Tokens, N}, Ids));
  Result<const eval::Tensor *> Got = P.evaluate(V);
  if (!Got || (*Got)->count() % (E * Tokens) != 0)
    return false;
  int64_t Each = (*Got)->count() / (E * Tokens);
  for (int64_t I = 0; I < (*Got)->count(); ++I) {
    int64_t Id = int64_t(eval::floatAt(**Got, I));
    if (I < Each)
      Out.push_back(Id);
    if (Id - I / Each * N != Out[size_t(I % Each)] ||
        Out[size_t(I % Each)] >= N)
      return false;
  }
  return true;
}

/// The first product by these rows of every expert's matrix.
Value Layer::chosen(ArrayRef<int64_t> Features) {
  SmallVector<int64_t> All;
  bool Whole = int64_t(Features.size()) == Up.N;
  for (int64_t E = 0; E < Up.Experts; ++E)
    for (auto [I, F] : llvm::enumerate(Features)) {
      All.push_back(E * Up.N + F);
      Whole &= F == int64_t(I);
    }
  FlatSymbolRefAttr W = UpWeight, Bias = UpBias;
  if (!Whole) {
    W = Weights.rows(W, All);
    Bias = Bias ? Weights.rows(Bias, All) : Bias;
  }
  return makeExperts(B, Up.MatMul.getLoc(), X, Route, W, Bias, Slots,
                     Slots * int64_t(Features.size()), false, R);
}

/// V, between the products, as rows of the chosen experts.
Value Layer::between(Value V) {
  if (Value Known = New.lookup(V))
    return Known;
  SmallVector<int64_t> Features;
  if (features(V, Features))
    return New[V] = chosen(Features);
  Operation *Op = V.getDefiningOp();
  if (!isElementwiseOp(Op)) {
    Why = "'" + nodeName(Op) + "' is no function of single features";
    return {};
  }
  SmallVector<Value> Operands;
  int64_t Most = 0;
  for (Value Operand : Op->getOperands()) {
    if (!R.isData(Operand) && !onnx::isNone(Operand) && !scalar(Operand)) {
      Why = "'" + nodeName(Op) + "' takes a constant that is no number";
      return {};
    }
    Operands.push_back(R.isData(Operand) ? between(Operand) : Operand);
    if (!Why.empty())
      return {};
    if (R.isData(Operand))
      Most = std::max(Most, featuresOf(Operands.back()));
  }
  Operation *Copy = B.clone(*Op);
  Copy->setOperands(Operands);
  RankedTensorType Rows = rowsLike(X, Most);
  Copy->getResult(0).setType(RankedTensorType::get(
      Rows.getShape(), getElementTypeOrSelf(V), Rows.getEncoding()));
  R.markData(Copy->getResult(0));
  return New[V] = Copy->getResult(0);
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
  Slots = slotsOf(Route, Down.Experts, Main, R, Reader);
  UpWeight = Weights.experts(Up.Weight, /*InOut=*/true);
  FlatSymbolRefAttr DownWeight = Weights.experts(Down.Weight, true), DownBias;
  if (Up.Bias)
    UpBias = Weights.flat(*Up.Bias);
  if (Down.Bias)
    DownBias = Weights.flat(*Down.Bias);
  if (!UpWeight || !DownWeight || (Up.Bias && !UpBias) ||
      (Down.Bias && !DownBias))
    return "its codes cannot be cut into experts";
  Value H = between(Down.MatMul.getA());
  if (!Why.empty())
    return Why;
  Value Out = makeExperts(B, Down.MatMul.getLoc(), H, Route, DownWeight,
                          DownBias, Slots, Down.N, true, R);
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
