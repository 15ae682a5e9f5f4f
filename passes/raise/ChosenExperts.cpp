// Experts as gathered matrices: each token is repeated for each of its k
// choices, and every copy is multiplied with the matrix of its expert, which a
// Gather takes from the tensor of all. Weighed results are added up over the k.
// They become llm.experts, so that no matrix is copied.
//
// Structure gives the gathers, the products, what is between them and the sum.
// That the choice of the router is what all gathers take, that copy t * k + j
// is row t, that a bias is the chosen expert's, and that the end is the
// weighted sum is proved on samples with the choice and the results bound.
#include "passes/raise/ChosenExperts.h"

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

/// One product with gathered matrices, and its bias.
struct Gathered {
  onnx::MatMulOp MatMul;
  WeightView Weight; ///< of all experts, as the product takes it
  bool InOut = false;
  Value Rows;    ///< the other side of the product
  Value Indices; ///< of the gather
  std::optional<WeightView> Bias;
  Value BiasData, BiasIndices;
  Value Result; ///< with bias
  int64_t Experts = 0, N = 0, D = 0;
};

class Layer {
public:
  Layer(func::FuncOp TheMain, Roles &TheRoles, WeightMaker &TheWeights,
        const eval::WeightReader &TheReader)
      : Main(TheMain), R(TheRoles), Weights(TheWeights), Reader(TheReader),
        Rows(R), B(TheMain.getContext()) {}

  /// Why not, or empty; Near tells whether it looked like a last product.
  std::string run(const Gathered &Last, bool &Near);
  std::optional<Gathered> productOf(onnx::MatMulOp MatMul);

private:
  void findBias(Gathered &G);
  std::string findSum();
  std::string findFirst(Value V);
  std::string findChoice();
  std::string findRows();
  std::string proveChoice(Gathered &G);
  std::string proveChoice(Gathered &G, int64_t Part);
  std::string proveSum();
  std::string build();
  eval::Tensor choice(int64_t Part = 0) const;
  int64_t choiceParts() const;
  void bindEnds(Probe &P);

  func::FuncOp Main;
  Roles &R;
  WeightMaker &Weights;
  const eval::WeightReader &Reader;
  TokenRows Rows;
  OpBuilder B;

  Gathered Up, Down;
  Value X, Choice, Share, Sum;
  eval::Dims ChoiceShape;
  DType ChoiceType = DType::I64;
  int64_t K = 0;
};

/// The data and the indices of a gather of whole rows of the first dim.
std::pair<Value, Value> gatherOf(Value V) {
  if (auto G = producer<onnx::GatherOp>(V); G && G.getAxis() == 0)
    return {G->getOperand(0), G->getOperand(1)};
  if (auto G = producer<onnx::GatherNDOp>(V);
      G && G.getBatchDims() == 0 && featuresOf(G->getOperand(1)) == 1)
    return {G->getOperand(0), G->getOperand(1)};
  return {};
}

/// Whether Op swaps the last two dims.
bool turnsLast(onnx::TransposeOp Op) {
  if (!Op || !Op.getPerm())
    return false;
  ArrayRef<int64_t> Perm = *Op.getPerm();
  int64_t Rank = int64_t(Perm.size());
  for (int64_t I = 0; I + 2 < Rank; ++I)
    if (Perm[size_t(I)] != I)
      return false;
  return Rank >= 2 && Perm[size_t(Rank) - 1] == Rank - 2;
}

/// V without what only moves elements or changes their type.
Value beforeMoves(Value V) {
  for (Operation *Op = V.getDefiningOp(); Op; Op = V.getDefiningOp()) {
    if (isa<onnx::ConcatOp>(Op) || (!isMovement(Op) && !isa<onnx::CastOp>(Op)))
      break;
    V = Op->getOperand(0);
  }
  return V;
}

/// Size of the dim before the last, or -1.
int64_t rowsOf(Value V) {
  auto Type = dyn_cast<RankedTensorType>(V.getType());
  if (!Type || Type.getRank() < 2 || Type.isDynamicDim(Type.getRank() - 2))
    return -1;
  return Type.getDimSize(Type.getRank() - 2);
}

std::optional<Gathered> Layer::productOf(onnx::MatMulOp MatMul) {
  for (bool InOut : {false, true}) {
    Value W = MatMul->getOperand(InOut), Other = MatMul->getOperand(!InOut);
    auto Turn = producer<onnx::TransposeOp>(W);
    bool Turned = turnsLast(Turn);
    auto [Data, Indices] = gatherOf(Turned ? Turn.getData() : W);
    if (!Data || !R.isData(Indices) || !R.isData(Other) ||
        (InOut ? rowsOf(Other) : featuresOf(Other)) != 1)
      continue;
    std::optional<WeightView> View = Weights.cube(Data);
    if (!View || View->Shape[0] < 2)
      continue;
    if (Turned) {
      std::swap(View->Shape[1], View->Shape[2]);
      View->Transposed = !View->Transposed;
    }
    Gathered Out;
    Out.MatMul = MatMul;
    Out.Weight = *View;
    Out.InOut = InOut;
    Out.Rows = Other;
    Out.Indices = Indices;
    Out.Experts = View->Shape[0];
    Out.N = View->Shape[InOut ? 2 : 1];
    Out.D = View->Shape[InOut ? 1 : 2];
    Out.Result = MatMul.getResult();
    findBias(Out);
    return Out;
  }
  return std::nullopt;
}

/// A following sum with gathered rows of a matrix of the file.
void Layer::findBias(Gathered &G) {
  Value V = G.Result;
  for (int Steps = 0; Steps < 4; ++Steps) {
    Operation *User = onlyUser(V);
    if (!User)
      return;
    auto Add = dyn_cast<onnx::AddOp>(User);
    if (!Add && !isMovement(User))
      return;
    if (!Add) {
      V = User->getResult(0);
      continue;
    }
    Value Other = other(Add, [&](Value W) { return skip(W) == skip(V); });
    Operation *Op = Other ? Other.getDefiningOp() : nullptr;
    while (Op && isMovement(Op) && !gatherOf(Op->getResult(0)).first)
      Op = Op->getOperand(0).getDefiningOp();
    auto [Data, Indices] =
        Op ? gatherOf(Op->getResult(0)) : std::pair<Value, Value>();
    std::optional<WeightView> Bias =
        Data ? Weights.view(Data) : std::optional<WeightView>();
    if (!Bias || Bias->Transposed ||
        ArrayRef<int64_t>(Bias->Shape) != ArrayRef<int64_t>{G.Experts, G.N})
      return;
    G.Bias = Bias;
    G.BiasData = Data;
    G.BiasIndices = Indices;
    G.Result = Add.getResult();
    return;
  }
}

/// From Down to the sum over choices, with the router's weights on the way.
std::string Layer::findSum() {
  Value V = Down.Result;
  for (int Steps = 0; Steps < 16; ++Steps) {
    Operation *User = onlyUser(V);
    if (!User)
      break;
    if (auto Mul = dyn_cast<onnx::MulOp>(User)) {
      Value Weight = other(Mul, [&](Value W) { return skip(W) == skip(V); });
      if (!Weight || Share)
        return "its results are weighed twice";
      Share = beforeMoves(Weight);
    } else if (isa<onnx::ReduceSumOp>(User)) {
      Sum = User->getResult(0);
      return Share ? "" : "its results are not weighed";
    } else if (!isMovement(User) && !isa<onnx::CastOp>(User)) {
      return "'" + nodeName(User) + "' follows it";
    }
    V = User->getResult(0);
  }
  return "its results are not added up";
}

/// The other product, from which Down's rows come.
std::string Layer::findFirst(Value V) {
  llvm::SetVector<Value> Work;
  Work.insert(V);
  for (size_t I = 0; I < Work.size(); ++I) {
    Operation *Op = Work[I].getDefiningOp();
    if (!Op || Work.size() > 256)
      return "its rows come from elsewhere";
    if (Up.Result && Work[I] == Up.Result)
      continue;
    if (auto MatMul = dyn_cast<onnx::MatMulOp>(Op)) {
      std::optional<Gathered> Here = productOf(MatMul);
      if (!Here || Here->Experts != Down.Experts ||
          (Up.MatMul && Up.MatMul != MatMul))
        return "its rows come from other products";
      Up = *Here;
      continue;
    }
    bool Bias = bool(gatherOf(Work[I]).first);
    if (!Bias && !isElementwiseOp(Op) && !isMovement(Op))
      return "'" + nodeName(Op) + "' is between its products";
    if (!Bias)
      for (Value Operand : Op->getOperands())
        if (R.isData(Operand))
          Work.insert(Operand);
  }
  return Up.MatMul ? "" : "there is no first product";
}

/// What the router chose: [.., k], as are its weights.
std::string Layer::findChoice() {
  Choice = beforeMoves(Down.Indices);
  K = featuresOf(Choice);
  auto Type = dyn_cast<RankedTensorType>(Choice.getType());
  if (K < 1 || featuresOf(Share) != K || rankOf(Share) != rankOf(Choice) ||
      !Type.getElementType().isInteger())
    return "its choice is no row of integers beside as many weights";
  ChoiceType = Type.getElementType().isInteger(32) ? DType::I32 : DType::I64;
  ChoiceShape.assign(size_t(Type.getRank()), 1);
  ChoiceShape[size_t(Type.getRank()) - 2] = Tokens;
  ChoiceShape.back() = K;
  for (Gathered *G : {&Up, &Down})
    if (std::string Why = proveChoice(*G); !Why.empty())
      return Why;
  return {};
}

/// How many choices it takes until each expert was chosen.
int64_t Layer::choiceParts() const {
  return (Down.Experts + Tokens * K - 1) / (Tokens * K);
}

/// All experts in a shuffled order, of which this is a part.
eval::Tensor Layer::choice(int64_t Part) const {
  std::vector<int64_t> Ids;
  for (int64_t I = 0; I < choiceParts() * Tokens * K; ++I)
    Ids.push_back(I % Down.Experts);
  uint64_t State = 1;
  for (size_t I = Ids.size(); I > 1; --I) {
    State = State * 6364136223846793005U + 1442695040888963407U;
    std::swap(Ids[I - 1], Ids[(State >> 33) % I]);
  }
  auto Begin = Ids.begin() + Part * Tokens * K;
  return eval::Tensor::ofInts(ChoiceType, ChoiceShape,
                              {Begin, Begin + Tokens * K});
}

/// What a layer starts from, of which shapes are asked.
void Layer::bindEnds(Probe &P) {
  P.bind(Choice, choice());
  eval::Dims Shape;
  if (P.shapeOf(X, Shape))
    P.bind(X, randomTensor(Shape, 10));
}

/// G must take the matrices, and the bias, that the choice names, in its order,
/// whichever expert that is.
std::string Layer::proveChoice(Gathered &G) {
  std::string Why;
  for (int64_t Part = 0; Why.empty() && Part < choiceParts(); ++Part)
    Why = proveChoice(G, Part);
  return Why;
}

std::string Layer::proveChoice(Gathered &G, int64_t Part) {
  Probe P(Main, R, Reader, Sample{0, Tokens, {}, 0});
  eval::Tensor Want = choice(Part);
  P.bind(Choice, Want);
  for (Value Indices : {G.Indices, G.BiasIndices}) {
    if (!Indices)
      continue;
    Result<const eval::Tensor *> Got = P.evaluate(Indices);
    if (!Got)
      return Got.status().message();
    bool Same = (*Got)->count() == Want.count();
    for (int64_t I = 0; Same && I < Want.count(); ++I)
      Same = eval::intAt(**Got, I) == eval::intAt(Want, I);
    if (!Same)
      return "a gather does not take what the router chose";
  }
  if (!G.Bias)
    return {};
  // Zeros go in: what comes out is the bias alone.
  eval::Dims Shape;
  if (!P.shapeOf(G.MatMul.getResult(), Shape))
    return "its products have no known shape";
  P.bind(G.MatMul.getResult(), zeroTensor(DType::F32, Shape));
  Result<const eval::Tensor *> Got = P.evaluate(G.Result);
  Result<const eval::Tensor *> All = P.evaluate(G.BiasData);
  if (!Got || !All || (*Got)->count() != Tokens * K * G.N)
    return "its bias cannot be evaluated";
  for (int64_t I = 0; I < (*Got)->count(); ++I)
    if (eval::floatAt(**Got, I) !=
        eval::floatAt(**All, eval::intAt(Want, I / G.N) * G.N + I % G.N))
      return "its bias is not that of the chosen expert";
  return {};
}

/// Copy t * K + j of the first product's rows must be row t of X, and its
/// results must be as many.
std::string Layer::findRows() {
  Cone C = coneOf(Up.Rows, R, Mixing::None);
  Value Root = C.root(R);
  if (!Root || !Rows.has(Root))
    return "its rows are not token rows";
  X = TokenRows::origin(Root);
  Probe P(Main, R, Reader, Sample{0, Tokens, {}, 0});
  eval::Dims Shape;
  if (!P.shapeOf(Root, Shape) || eval::countOf(Shape) != Tokens * Up.D)
    return "its rows have no known shape";
  eval::Tensor T = randomTensor(Shape, 3);
  P.bind(Root, T);
  Result<const eval::Tensor *> Got = P.evaluate(Up.Rows);
  if (!Got)
    return Got.status().message();
  bool Same = (*Got)->count() == Tokens * K * Up.D;
  for (int64_t I = 0; Same && I < (*Got)->count(); ++I)
    Same = eval::floatAt(**Got, I) ==
           eval::floatAt(T, I / (K * Up.D) * Up.D + I % Up.D);
  return Same ? "" : "its rows are not those of tokens, once per choice";
}

/// Sum must be the weighted sum for random results and weights.
std::string Layer::proveSum() {
  Probe P(Main, R, Reader, Sample{0, Tokens, {}, 0});
  eval::Tensor W = randomTensor(ChoiceShape, 8);
  bindEnds(P);
  P.bind(Share, W);
  eval::Dims Shape;
  int64_t N = Down.N;
  if (!P.shapeOf(Down.Result, Shape) || eval::countOf(Shape) != Tokens * K * N)
    return "its products have no known shape";
  eval::Tensor Y = randomTensor(Shape, 9);
  P.bind(Down.Result, Y);
  Result<const eval::Tensor *> Got = P.evaluate(Sum);
  if (!Got)
    return Got.status().message();
  if ((*Got)->count() != Tokens * N)
    return "its sum has shape " + eval::describe(**Got);
  for (int64_t I = 0; I < Tokens * N; ++I) {
    double Want = 0;
    for (int64_t J = I / N * K; J < I / N * K + K; ++J)
      Want += eval::floatAt(W, J) * eval::floatAt(Y, J * N + I % N);
    if (!(std::abs(eval::floatAt(**Got, I) - Want) <= 1e-4))
      return "its sum is not that of weighed results";
  }
  return {};
}

/// The layer as llm.experts in place of Sum.
std::string Layer::build() {
  Probe P(Main, R, Reader, Sample{0, Tokens, {}, 0});
  bindEnds(P);
  eval::Dims Shape;
  if (!P.shapeOf(Up.Result, Shape) || eval::countOf(Shape) != Tokens * K * Up.N)
    return "its first products have no known shape";
  B.setInsertionPoint(Sum.getDefiningOp());
  Location Loc = Down.MatMul.getLoc();
  Value Route = makeRoute(B, Loc, Choice, Share, Down.Experts, R);
  auto BiasOf = [&](const Gathered &G) {
    return G.Bias ? Weights.flat(*G.Bias) : FlatSymbolRefAttr();
  };
  FirstProduct First{Up.Result,
                     Shape,
                     Tokens,
                     Up.N,
                     X,
                     Route,
                     Up.Experts,
                     K,
                     Weights.experts(Up.Weight, Up.InOut),
                     BiasOf(Up),
                     Up.MatMul.getLoc()};
  FlatSymbolRefAttr DownWeight = Weights.experts(Down.Weight, Down.InOut);
  FlatSymbolRefAttr DownBias = BiasOf(Down);
  if (!First.Weight || !DownWeight || (Up.Bias && !First.Bias) ||
      (Down.Bias && !DownBias))
    return "its codes cannot be cut into experts";
  ExpertBody Body(First, Main, R, Weights, Reader, B);
  Value H = Body.rows(Down.Rows);
  if (!H)
    return Body.why();
  Value Out =
      makeExperts(B, Loc, H, Route, DownWeight, DownBias, K, Down.N, true, R);
  auto Type = cast<RankedTensorType>(Sum.getType());
  if (Type.getRank() == 2 && rankOf(Out) == 3) {
    Out = flattenRows(B, Out, Type);
    R.markData(Out);
  }
  Sum.replaceAllUsesWith(Out);
  passed("raise-moe", Down.MatMul,
         "llm.experts of " + Twine(Down.Experts) + " experts");
  return {};
}

std::string Layer::run(const Gathered &Last, bool &Near) {
  Down = Last;
  std::string Why = findSum();
  Near = Why.empty();
  if (Why.empty())
    Why = findFirst(Down.Rows);
  if (Why.empty())
    Why = findChoice();
  if (Why.empty())
    Why = findRows();
  if (Why.empty())
    Why = proveSum();
  return Why.empty() ? build() : Why;
}
} // namespace

void raiseChosenExperts(func::FuncOp Main, Roles &R, WeightMaker &Weights,
                        const eval::WeightReader &Reader) {
  SmallVector<onnx::MatMulOp> All(
      Main.getBody().front().getOps<onnx::MatMulOp>());
  // Last products first: what they are made of is gone with them.
  for (onnx::MatMulOp MatMul : llvm::reverse(All)) {
    Layer L(Main, R, Weights, Reader);
    std::optional<Gathered> Last = L.productOf(MatMul);
    if (!Last || MatMul->use_empty())
      continue;
    bool Near = false;
    if (std::string Why = L.run(*Last, Near); !Why.empty() && Near)
      missed("raise-moe", MatMul, Why);
  }
}
} // namespace llmc::raise
