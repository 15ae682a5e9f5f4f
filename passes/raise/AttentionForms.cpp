// Other orders of the ops of an attention; see AttentionForms.h. Only values of
// token data whose last dim is a number of keys are touched: softmaxes of
// routers and norms are others' business.
#include "passes/raise/AttentionForms.h"

#include "passes/raise/Heads.h"
#include "passes/raise/Match.h"
#include "passes/raise/Roles.h"

#include "mlir/IR/Builders.h"

using namespace mlir;

namespace llmc::raise {
namespace {

class Unifier {
public:
  explicit Unifier(func::FuncOp TheMain) : Main(TheMain), R(TheMain) {}

  void run() {
    // Each may lead to the next.
    each([&](Operation *Op) { return softmaxByHand(Op); });
    each([&](Operation *Op) { return softmaxOfColumns(Op); });
    each([&](Operation *Op) { return turnedProduct(Op); });
    each([&](Operation *Op) { return turnedMix(Op); });
    each([&](Operation *Op) { return turnedTwice(Op); });
    moveFactors();
    eraseDead(Main.getBody().front());
  }

private:
  template <typename F> void each(F Rewrite) {
    for (Operation &Op : llvm::make_early_inc_range(Main.getBody().front()))
      if (isa<onnx::OnnxDialect>(Op.getDialect()) && Op.getNumResults() == 1 &&
          R.isData(Op.getResult(0)))
        if (Value New = Rewrite(&Op)) {
          R.markData(New);
          Op.getResult(0).replaceAllUsesWith(New);
          Op.erase();
        }
  }

  /// A dim that grows with the tokens.
  static bool isCount(Value V, int64_t FromEnd) {
    auto T = dyn_cast<RankedTensorType>(V.getType());
    return T && T.getRank() > FromEnd &&
           T.isDynamicDim(T.getRank() - 1 - FromEnd);
  }

  /// x of exp(x - max x) or exp(x) over the last axis.
  static Value exponentOf(Value E) {
    auto Exp = producer<onnx::ExpOp>(E);
    if (!Exp)
      return {};
    Value X = Exp.getInput();
    if (auto Sub = producer<onnx::SubOp>(X))
      if (auto Max = producer<onnx::ReduceMaxOp>(Sub.getRhs());
          Max && reducesLastAxis(Max) &&
          skip(Max.getData()) == skip(Sub.getLhs()))
        return Sub.getLhs();
    return X;
  }

  /// e / sum e, e * (1 / sum e), exp(log softmax x).
  Value softmaxByHand(Operation *Op) {
    Value X;
    if (auto Exp = dyn_cast<onnx::ExpOp>(Op)) {
      auto Log = producer<onnx::LogSoftmaxOp>(Exp.getInput());
      int64_t Rank = Log ? rankOf(Log.getInput()) : -1;
      if (Log && (Log.getAxis() == -1 || Log.getAxis() == Rank - 1))
        X = Log.getInput();
    }
    Value Num, Den;
    if (auto Div = dyn_cast<onnx::DivOp>(Op)) {
      Num = Div.getLhs();
      Den = Div.getRhs();
    } else if (auto Mul = dyn_cast<onnx::MulOp>(Op)) {
      for (unsigned I : {0u, 1u})
        if (auto Inverse = producer<onnx::ReciprocalOp>(Mul->getOperand(I))) {
          Num = Mul->getOperand(1 - I);
          Den = Inverse.getInput();
        }
    }
    if (Num)
      if (auto Sum = producer<onnx::ReduceSumOp>(Den);
          Sum && reducesLastAxis(Sum) && skip(Sum.getData()) == skip(Num))
        X = exponentOf(Num);
    if (!X || !isCount(X, 0) || X.getType() != Op->getResult(0).getType())
      return {};
    OpBuilder B(Op);
    passed("raise-latent", Op, "a softmax");
    return onnx::SoftmaxOp::create(B, Op->getLoc(), X.getType(), X, -1);
  }

  /// V with its last two dims swapped.
  Value turned(OpBuilder &B, Value V) {
    if (Value From = transposedFrom(V))
      return From;
    Value Out = transposeLast(B, V.getLoc(), V);
    R.markData(Out);
    return Out;
  }

  /// A softmax over the last axis but one.
  Value softmaxOfColumns(Operation *Op) {
    auto Softmax = dyn_cast<onnx::SoftmaxOp>(Op);
    int64_t Rank = Softmax ? rankOf(Softmax.getInput()) : -1;
    if (Rank < 3 || !isCount(Softmax.getInput(), 1) ||
        (Softmax.getAxis() != -2 && Softmax.getAxis() != Rank - 2))
      return {};
    OpBuilder B(Op);
    Value X = turned(B, Softmax.getInput());
    Value Rows = onnx::SoftmaxOp::create(B, Op->getLoc(), X.getType(), X, -1);
    R.markData(Rows);
    return turned(B, Rows);
  }

  /// (a b)^T = b^T a^T, where nothing else uses the product.
  Value turnedProduct(Operation *Op) {
    Value From =
        isa<onnx::TransposeOp>(Op) ? transposedFrom(Op->getResult(0)) : Value();
    auto Product =
        From ? From.getDefiningOp<onnx::MatMulOp>() : onnx::MatMulOp();
    if (!Product || onlyUser(From) != Op || !R.isData(Product.getA()) ||
        !R.isData(Product.getB()) || rankOf(Product.getA()) < 3 ||
        rankOf(Product.getA()) != rankOf(Product.getB()))
      return {};
    OpBuilder B(Op);
    Value X = turned(B, Product.getB()), Y = turned(B, Product.getA());
    return onnx::MatMulOp::create(B, Op->getLoc(), Op->getResult(0).getType(),
                                  X, Y);
  }

  /// v^T p^T = (p v)^T, whatever is done with it.
  Value turnedMix(Operation *Op) {
    auto Product = dyn_cast<onnx::MatMulOp>(Op);
    Value P = Product ? transposedFrom(Product.getB()) : Value();
    if (!P || !producer<onnx::SoftmaxOp>(P) || !R.isData(Product.getA()) ||
        rankOf(Product.getA()) != rankOf(P))
      return {};
    OpBuilder B(Op);
    Value V = turned(B, Product.getA()), Out = Op->getResult(0);
    // The type of the transpose is the one with its last two dims swapped.
    Value Like = turned(B, Out);
    Value Mix = onnx::MatMulOp::create(B, Op->getLoc(), Like.getType(), P, V);
    if (Like.getDefiningOp()->getOperand(0) == Out)
      Like.getDefiningOp()->erase();
    R.markData(Mix);
    return turned(B, Mix);
  }

  Value turnedTwice(Operation *Op) {
    Value From =
        isa<onnx::TransposeOp>(Op) ? transposedFrom(Op->getResult(0)) : Value();
    return From ? transposedFrom(From) : Value();
  }

  void moveFactors();

  func::FuncOp Main;
  Roles R;
};

/// The product of queries and keys that V is but for constant factors, null if
/// another value. None of those between have another user.
onnx::MatMulOp scaledProduct(Value V, const Roles &R) {
  for (int Steps = 0; Steps < 8; ++Steps) {
    Operation *Op = V.getDefiningOp();
    if (!Op || !onlyUser(V))
      return {};
    if (auto Product = dyn_cast<onnx::MatMulOp>(Op))
      return R.isData(Product.getA()) && R.isData(Product.getB())
                 ? Product
                 : onnx::MatMulOp();
    bool Right = Op->getNumOperands() == 2 && scalar(Op->getOperand(1)),
         Left = Op->getNumOperands() == 2 && scalar(Op->getOperand(0));
    if (isa<onnx::IdentityOp, onnx::CastOp>(Op) && skip(V) != V)
      V = Op->getOperand(0);
    else if (isa<onnx::MulOp, onnx::DivOp>(Op) && Right)
      V = Op->getOperand(0);
    else if (isa<onnx::MulOp>(Op) && Left)
      V = Op->getOperand(1);
    else
      return {};
  }
  return {};
}

void Unifier::moveFactors() {
  for (Operation &Op : llvm::make_early_inc_range(Main.getBody().front())) {
    bool Div = isa<onnx::DivOp>(Op);
    if (!Div && !isa<onnx::MulOp>(Op))
      continue;
    unsigned Data = !Div && R.isData(Op.getOperand(1)) ? 1 : 0;
    Value Scores = Op.getOperand(Data), Factor = Op.getOperand(1 - Data);
    if (!R.isData(Scores) || R.isData(Factor) || scalar(Factor) ||
        featuresOf(Factor) != 1)
      continue;
    onnx::MatMulOp Product = scaledProduct(Scores, R);
    auto Q = Product ? dyn_cast<RankedTensorType>(Product.getA().getType())
                     : RankedTensorType();
    if (!Q || rankOf(Product.getB()) != Q.getRank() ||
        rankOf(Factor) > Q.getRank())
      continue;
    OpBuilder B(Product);
    // Made behind the product, but of no token data.
    if (Operation *Made = Factor.getDefiningOp();
        Made && Product->isBeforeInBlock(Made)) {
      bool Alone = true;
      for (Value V = Product.getOutput(); Alone && V != Scores;
           V = onlyUser(V)->getResult(0))
        Alone = V.hasOneUse();
      if (!Alone || !Scores.hasOneUse())
        continue;
      Product->moveAfter(Made);
      for (Value V = Product.getOutput(); V != Scores;) {
        Operation *Next = onlyUser(V);
        Next->moveAfter(V.getDefiningOp());
        V = Next->getResult(0);
      }
      B.setInsertionPoint(Product);
    }
    Operation *Turned =
        Div ? onnx::DivOp::create(B, Op.getLoc(), Q, Product.getA(), Factor)
            : onnx::MulOp::create(B, Op.getLoc(), Q, Product.getA(), Factor);
    Product.getAMutable().set(Turned->getResult(0));
    Op.getResult(0).replaceAllUsesWith(Scores);
    R.markData(Turned->getResult(0));
    passed("raise-latent", Turned, "a factor of queries, not of scores");
  }
}
} // namespace

void unifyAttention(func::FuncOp Main) { Unifier(Main).run(); }
} // namespace llmc::raise
