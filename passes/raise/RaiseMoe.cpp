// Mixtures of experts become llm.experts: each token is multiplied with the
// matrices of the experts that the router chose, and with no other.
//
// Four spellings: loops that gather tokens (ExpertLoops makes sums of them),
// sums over all experts, each times a weight that is 0 for most (here), batched
// products with a tensor of all experts (BatchedExperts), and products with
// matrices that the choice gathers from one (ChosenExperts). How the
// router arrives at its weights does not matter: they are a function of token
// rows, which raise-rowwise compiles, and how many are not 0 is measured.
#include "passes/raise/BatchedExperts.h"
#include "passes/raise/ChosenExperts.h"
#include "passes/raise/ExpertLoops.h"
#include "passes/raise/Experts.h"
#include "passes/raise/Heads.h"
#include "passes/raise/Match.h"
#include "passes/raise/MoeOps.h"
#include "passes/raise/Passes.h"
#include "passes/raise/ReadingPass.h"

namespace llmc::raise {
#define GEN_PASS_DEF_RAISEMOE
#include "passes/raise/Passes.h.inc"
} // namespace llmc::raise

using namespace mlir;

namespace llmc::raise {
namespace {

/// w * down(body(up(x), …)), one expert of a sum.
struct Expert {
  Value Share; ///< one feature
  llm::LinearOp Down;
  SmallVector<llm::LinearOp> Ups; ///< products of x, in order of use
  SmallVector<Operation *> Body;  ///< between them, in order
  std::string Signature;          ///< equal for experts of one form
  Value X;
};

/// Reads the body of an expert back from its last product.
class BodyReader {
public:
  explicit BodyReader(Expert &TheExpert) : E(TheExpert) {}

  bool read(Value V);

private:
  llvm::DenseMap<Value, int64_t> Numbers;
  Expert &E;
};

bool BodyReader::read(Value V) {
  V = TokenRows::origin(V);
  if (auto It = Numbers.find(V); It != Numbers.end()) {
    E.Signature += "#" + std::to_string(It->second);
    return true;
  }
  Operation *Op = V.getDefiningOp();
  if (!Op || E.Body.size() > 64)
    return false;
  if (auto Linear = dyn_cast<llm::LinearOp>(Op)) {
    Value X = TokenRows::origin(Linear.getX());
    if (E.X && E.X != X)
      return false;
    E.X = X;
    Numbers[V] = int64_t(Numbers.size());
    E.Ups.push_back(Linear);
    E.Signature += "linear:" + std::to_string(featuresOf(Linear)) +
                   (Linear.getBias() ? "b" : "");
    return true;
  }
  if (!isElementwiseOp(Op))
    return false;
  E.Signature += Op->getName().getStringRef().str() + "(";
  for (Value Operand : Op->getOperands()) {
    std::optional<double> C = scalar(Operand);
    if (onnx::isNone(Operand))
      E.Signature += "-";
    else if (C)
      E.Signature += std::to_string(*C);
    else if (!read(Operand))
      return false;
    E.Signature += ",";
  }
  std::string Attrs;
  llvm::raw_string_ostream Out(Attrs);
  Op->getAttrDictionary().print(Out);
  E.Signature += Attrs + ")";
  Numbers[V] = int64_t(Numbers.size());
  E.Body.push_back(Op);
  return true;
}

/// A term of a sum as an expert; nothing if it is none.
std::optional<Expert> expertOf(Value Term) {
  auto Mul = TokenRows::origin(Term).getDefiningOp<onnx::MulOp>();
  if (!Mul)
    return std::nullopt;
  for (unsigned I : {0u, 1u}) {
    Value Share = Mul->getOperand(I), Y = Mul->getOperand(1 - I);
    auto Down = TokenRows::origin(Y).getDefiningOp<llm::LinearOp>();
    if (featuresOf(Share) != 1 || !Down || scalar(Share))
      continue;
    Expert E;
    E.Share = Share;
    E.Down = Down;
    E.Signature = "down:" + std::to_string(featuresOf(Down)) +
                  (Down.getBias() ? "b " : " ");
    if (BodyReader(E).read(Down.getX()) && !E.Body.empty())
      return E;
  }
  return std::nullopt;
}

struct RaiseMoe : ReadingPass<impl::RaiseMoeBase<RaiseMoe>> {
  using ReadingPass::ReadingPass;

  void runOnGraph(func::FuncOp Main) override {
    Roles R(Main);
    Block &Body = Main.getBody().front();
    removeExpertLoops(Main, R, Reader);
    eraseDead(Body);
    WeightMaker Weights(getOperation());
    raiseMoeOps(Main, R, Weights);
    raiseChosenExperts(Main, R, Weights, Reader);
    raiseBatchedExperts(Main, R, Weights, Reader);
    eraseDead(Body);
    // The whole of a sum before its parts.
    for (Operation &Op : llvm::make_early_inc_range(llvm::reverse(Body)))
      if (auto Add = dyn_cast<onnx::AddOp>(Op); Add && !Add->use_empty())
        joinSum(Main, Add, R, Weights);
    eraseDead(Body);
  }

  bool isZero(Value V, func::FuncOp Main, const Roles &R) {
    Probe P(Main, R, Reader, Sample{0, 2, {}, 0});
    Result<const eval::Tensor *> T = P.evaluate(V);
    if (!T || !eval::isFloat((*T)->Type))
      return false;
    for (int64_t I = 0; I < (*T)->count(); ++I)
      if (eval::floatAt(**T, I) != 0)
        return false;
    return true;
  }

  /// What is added up.
  SmallVector<Value> termsOf(onnx::AddOp Sum, const Roles &R) {
    SmallVector<Value> Work{Sum.getRhs(), Sum.getLhs()}, Terms;
    while (!Work.empty()) {
      Value V = Work.pop_back_val();
      auto Add = V.getDefiningOp<onnx::AddOp>();
      if (Add && V.hasOneUse() && R.isData(V))
        Work.append({Add.getRhs(), Add.getLhs()});
      else
        Terms.push_back(V);
    }
    return Terms;
  }

  void joinSum(func::FuncOp Main, onnx::AddOp Sum, Roles &R,
               WeightMaker &Weights) {
    if (!R.isData(Sum.getResult()))
      return;
    if (isa_and_nonnull<onnx::AddOp>(onlyUser(Sum)))
      return; // a part of a larger sum
    SmallVector<Expert> Experts;
    SmallVector<Value> Rest;
    SmallVector<Value> Terms = termsOf(Sum, R);
    if (Terms.size() < 2)
      return;
    for (Value Term : Terms) {
      std::optional<Expert> E = expertOf(Term);
      if (E && (Experts.empty() ||
                (E->Signature == Experts[0].Signature && E->X == Experts[0].X)))
        Experts.push_back(*E);
      else
        Rest.push_back(Term);
    }
    if (Experts.size() < 2)
      return;
    // What a sum starts with.
    llvm::erase_if(Rest,
                   [&](Value V) { return !R.isData(V) && isZero(V, Main, R); });
    OpBuilder B(Sum);
    Value Out = join(Main, B, Sum.getLoc(), Experts, R, Weights);
    auto Type = cast<RankedTensorType>(Sum.getType());
    if (Type.getRank() == 2 && rankOf(Out) == 3)
      Out = flattenRows(B, Out, Type);
    R.markData(Out);
    for (Value Term : Rest) {
      Out = onnx::AddOp::create(B, Sum.getLoc(), Type, Term, Out);
      R.markData(Out);
    }
    Sum.getResult().replaceAllUsesWith(Out);
    passed("raise-moe", Sum,
           "llm.experts of " + Twine(Experts.size()) + " experts");
  }

  /// The weights of all experts, [.., E].
  Value routeOf(OpBuilder &B, Location Loc, ArrayRef<Expert> Experts,
                Roles &R) {
    SmallVector<Value> Shares;
    for (const Expert &E : Experts)
      Shares.push_back(E.Share);
    auto Type = withFeatures(cast<RankedTensorType>(Shares[0].getType()),
                             int64_t(Shares.size()));
    Value Route = onnx::ConcatOp::create(B, Loc, Type, Shares,
                                         int64_t(Type.getRank() - 1));
    R.markData(Route);
    return Route;
  }

  Value join(func::FuncOp Main, OpBuilder &B, Location Loc,
             ArrayRef<Expert> Experts, Roles &R, WeightMaker &Weights) {
    int64_t Count = int64_t(Experts.size());
    Expert First = Experts[0];
    Value Route = routeOf(B, Loc, Experts, R);
    int64_t Slots = slotsOf(Route, Count, Main, R, Reader);
    auto All = [&](auto Get) {
      SmallVector<FlatSymbolRefAttr> Refs;
      for (const Expert &E : Experts)
        if (FlatSymbolRefAttr Ref = Get(E))
          Refs.push_back(Ref);
      return Refs.empty() ? FlatSymbolRefAttr() : Weights.joined(Refs);
    };
    llvm::DenseMap<Value, Value> New;
    for (size_t I = 0; I < First.Ups.size(); ++I)
      New[First.Ups[I].getResult()] = makeExperts(
          B, Loc, First.X, Route, All([&](const Expert &E) {
            return llm::LinearOp(E.Ups[I]).getWeightAttr();
          }),
          All([&](const Expert &E) {
            return llm::LinearOp(E.Ups[I]).getBiasAttr();
          }),
          Slots, Slots * featuresOf(llm::LinearOp(First.Ups[I])), false, R);
    for (Operation *Op : First.Body) {
      Operation *Copy = B.clone(*Op);
      int64_t Features = 0;
      for (OpOperand &Operand : Copy->getOpOperands())
        if (Value To = New.lookup(TokenRows::origin(Operand.get()))) {
          Operand.set(To);
          Features = std::max(Features, featuresOf(To));
        }
      auto Element = getElementTypeOrSelf(Op->getResult(0));
      RankedTensorType Rows = rowsLike(First.X, Features);
      Copy->getResult(0).setType(
          RankedTensorType::get(Rows.getShape(), Element, Rows.getEncoding()));
      R.markData(Copy->getResult(0));
      New[Op->getResult(0)] = Copy->getResult(0);
    }
    Value H = New[TokenRows::origin(llm::LinearOp(First.Down).getX())];
    return makeExperts(B, Loc, H, Route, All([&](const Expert &E) {
                         return llm::LinearOp(E.Down).getWeightAttr();
                       }),
                       All([&](const Expert &E) {
                         return llm::LinearOp(E.Down).getBiasAttr();
                       }),
                       Slots, featuresOf(llm::LinearOp(First.Down)), true, R);
  }
};
} // namespace

std::unique_ptr<Pass> createRaiseMoe(eval::WeightReader Reader) {
  return withReader<RaiseMoe>(std::move(Reader));
}
} // namespace llmc::raise
