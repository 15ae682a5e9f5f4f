// llmc-canonicalize-graph: fewer spellings of the same thing, so that
// recognisers have fewer forms to know. Every rewrite is exact, bit for bit.
#include "compiler/eval/Convert.h"
#include "dialects/onnx/Onnx.h"
#include "passes/import/Passes.h"
#include "passes/import/ShapeAnalysis.h"
#include "passes/import/ShapeRules.h"
#include "passes/util/Constants.h"
#include "passes/util/DeadCode.h"

#include "mlir/IR/Dominance.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/CSE.h"

#include <cmath>

namespace llmc {
#define GEN_PASS_DEF_CANONICALIZEGRAPH
#include "passes/import/Passes.h.inc"

using namespace mlir;

namespace {
class Canonicalizer {
public:
  explicit Canonicalizer(func::FuncOp F) : F(F), Shapes(F) {}

  int64_t run() {
    F.walk<WalkOrder::PreOrder>([&](Operation *Op) {
      if (Op->getNumResults() == 1 && !Op->use_empty())
        visit(Op);
    });
    DominanceInfo Dominance(F);
    IRRewriter Rewriter(F.getContext());
    eliminateCommonSubExpressions(Rewriter, Dominance, F);
    eraseDeadOps(F.getBody());
    updateResultTypes(F);
    return Rewritten;
  }

private:
  void visit(Operation *Op) {
    if (isa<onnx::AddOp, onnx::MulOp, onnx::AndOp, onnx::OrOp, onnx::EqualOp>(
            Op) &&
        isStatic(Op->getOperand(0)) && !isStatic(Op->getOperand(1))) {
      Value First = Op->getOperand(0);
      Op->setOperand(0, Op->getOperand(1));
      Op->setOperand(1, First);
      ++Rewritten;
    }
    if (onnx::ConcatOp Concat = dyn_cast<onnx::ConcatOp>(Op))
      dropEmptyParts(Concat);
    Value Same = identityOf(Op);
    if (!Same)
      Same = selected(Op);
    if (!Same)
      Same = doubled(Op);
    if (!Same && isa<onnx::ConcatOp>(Op) && Op->getNumOperands() == 1)
      Same = Op->getOperand(0);
    if (!Same)
      Same = regrouped(Op);
    if (!Same)
      Same = written(Op);
    if (!Same)
      Same = gathered(Op);
    if (Same) {
      Op->getResult(0).replaceAllUsesWith(Same);
      ++Rewritten;
      return;
    }
    if (onnx::DivOp Div = dyn_cast<onnx::DivOp>(Op))
      multiplyInstead(Div);
  }

  /// Whether V stands for the result of Op: same type and dims.
  bool fits(Value V, Operation *Op) {
    const ValueInfo &From = Shapes.of(V), &To = Shapes.of(Op->getResult(0));
    return From.Element == To.Element && sameShape(From, To);
  }

  /// x * 1, x / 1, x - 0, And(x, true), Or(x, false).
  Value identityOf(Operation *Op) {
    std::optional<double> Neutral;
    if (isa<onnx::MulOp, onnx::DivOp, onnx::AndOp>(Op))
      Neutral = 1;
    else if (isa<onnx::SubOp, onnx::OrOp>(Op))
      Neutral = 0;
    else if (isa<onnx::AddOp>(Op) && isInteger(Op))
      Neutral = 0; // in floats, -0 + 0 is 0
    if (!Neutral || splatOf(Op->getOperand(1)) != Neutral ||
        std::signbit(*splatOf(Op->getOperand(1))) ||
        !fits(Op->getOperand(0), Op))
      return {};
    return Op->getOperand(0);
  }

  bool isInteger(Operation *Op) {
    Type T = Shapes.of(Op->getResult(0)).Element;
    return T && T.isInteger();
  }

  /// The operand that a Where with a known condition takes.
  Value selected(Operation *Op) {
    onnx::WhereOp Where = dyn_cast<onnx::WhereOp>(Op);
    if (!Where)
      return {};
    Value Taken;
    if (Where.getX() == Where.getY())
      Taken = Where.getX();
    else if (std::optional<double> Condition = splatOf(Where.getCondition()))
      Taken = *Condition != 0 ? Where.getX() : Where.getY();
    return Taken && fits(Taken, Op) ? Taken : Value();
  }

  /// A tensor of the file in another shape is another tensor of the same bytes.
  /// Not where dims of 1 come or go: recognisers know those.
  Value regrouped(Operation *Op) {
    auto Reshape = dyn_cast<onnx::ReshapeOp>(Op);
    auto Weight = Reshape ? Reshape.getData().getDefiningOp<onnx::WeightOp>()
                          : onnx::WeightOp();
    auto Type = Weight ? dyn_cast<RankedTensorType>(Op->getResult(0).getType())
                       : RankedTensorType();
    if (!Type || !Type.hasStaticShape() ||
        !isa<FloatType>(Type.getElementType()))
      return {};
    auto From = cast<RankedTensorType>(Weight.getOutput().getType());
    auto Wide = [](RankedTensorType T) {
      SmallVector<int64_t> Out(T.getShape());
      llvm::erase(Out, 1);
      return Out;
    };
    if (!From.hasStaticShape() || Wide(From) == Wide(Type))
      return {};
    auto Data = SymbolTable::lookupNearestSymbolFrom<onnx::WeightDataOp>(
        Op, Weight.getDataAttr());
    if (!Data || Data.getType() != From)
      return {};
    std::string Name = Data.getSymName().str();
    for (int64_t N : Type.getShape())
      Name += "." + std::to_string(N);
    auto Symbol = FlatSymbolRefAttr::get(Op->getContext(), Name);
    auto Plain = RankedTensorType::get(Type.getShape(), Type.getElementType());
    if (!SymbolTable::lookupNearestSymbolFrom(Op, Symbol)) {
      OpBuilder B(Data);
      auto New = cast<onnx::WeightDataOp>(B.clone(*Data));
      New.setSymName(Name);
      New.setTypeAttr(TypeAttr::get(Plain));
    }
    OpBuilder B(Weight);
    Value Out = onnx::WeightOp::create(B, Weight.getLoc(), Plain, Symbol);
    Shapes.set(Out, Shapes.of(Op->getResult(0)));
    return Out;
  }

  /// Parts of no elements: what a partial rotation leaves of a whole one.
  void dropEmptyParts(onnx::ConcatOp Concat) {
    SmallVector<Value> Parts;
    for (Value Part : Concat.getInputs()) {
      const ValueInfo &Info = Shapes.of(Part);
      std::optional<size_t> Axis =
          Info.Ranked ? axisOf(Concat.getAxis(), Info.rank()) : std::nullopt;
      if (!Axis || !isNumber(Info.Shape[*Axis], 0))
        Parts.push_back(Part);
    }
    if (Parts.empty() || Parts.size() == Concat.getInputs().size())
      return;
    Concat->setOperands(Parts);
    ++Rewritten;
  }

  /// Not(Not(x)), Neg(Neg(x)); Transpose of Transpose becomes one.
  Value doubled(Operation *Op) {
    Operation *Inner =
        Op->getNumOperands() ? Op->getOperand(0).getDefiningOp() : nullptr;
    if (!Inner || Inner->getName() != Op->getName())
      return {};
    if (isa<onnx::NotOp, onnx::NegOp>(Op))
      return Inner->getOperand(0);
    onnx::TransposeOp Outer = dyn_cast<onnx::TransposeOp>(Op);
    if (!Outer)
      return {};
    onnx::TransposeOp First = cast<onnx::TransposeOp>(Inner);
    std::optional<ArrayRef<int64_t>> P = First.getPerm(), Q = Outer.getPerm();
    if (!P || !Q || P->size() != Q->size())
      return {};
    SmallVector<int64_t> Both;
    for (int64_t Axis : *Q)
      Both.push_back((*P)[static_cast<size_t>(Axis)]);
    if (llvm::is_sorted(Both))
      return First.getData();
    Outer.getDataMutable().assign(First.getData());
    Outer.setPerm(Both);
    ++Rewritten;
    return {};
  }

  /// Rows of a tensor that are written at once.
  struct Piece {
    int64_t Begin = 0, End = 0;
    Value Rows;
  };

  /// Constant indices [n, 1] that count up by one.
  std::optional<Piece> pieceOf(onnx::ScatterNDOp Scatter) {
    auto Type = dyn_cast<RankedTensorType>(Scatter.getIndices().getType());
    std::optional<SmallVector<int64_t>> At = integersOf(Scatter.getIndices());
    if (Scatter.getReduction() != "none" || !At || At->empty() || !Type ||
        Type.getRank() != 2 || Type.getDimSize(1) != 1)
      return std::nullopt;
    for (size_t I = 1; I < At->size(); ++I)
      if ((*At)[I] != At->front() + int64_t(I))
        return std::nullopt;
    if (At->front() < 0)
      return std::nullopt;
    return Piece{At->front(), At->back() + 1, Scatter.getUpdates()};
  }

  /// A tensor whose first dim is written piece by piece, each row once, is a
  /// Concat of the pieces: what assignments to slices become.
  Value written(Operation *Op) {
    auto At = dyn_cast<onnx::ScatterNDOp>(Op);
    const ValueInfo &Info = Shapes.of(Op->getResult(0));
    if (!At || !Info.Ranked || Info.rank() == 0)
      return {};
    SmallVector<Piece> Pieces;
    int64_t Rows = 0;
    for (; At; At = At.getData().getDefiningOp<onnx::ScatterNDOp>()) {
      std::optional<Piece> Next = pieceOf(At);
      if (!Next)
        break;
      Rows += Next->End - Next->Begin;
      Pieces.push_back(*Next);
      if (isNumber(Info.Shape[0], Rows))
        break;
    }
    if (Pieces.empty())
      return {};
    llvm::sort(Pieces, [](const Piece &X, const Piece &Y) {
      return X.Begin < Y.Begin;
    });
    int64_t End = 0;
    SmallVector<Value> Parts;
    for (const Piece &P : Pieces) {
      if (P.Begin != End)
        return {};
      End = P.End;
      Parts.push_back(P.Rows);
    }
    return isNumber(Info.Shape[0], End) ? joined(Op, Parts) : Value();
  }

  /// Parts side by side on the first dim in place of Op, before the Transpose
  /// that all of them come out of, if there is one.
  Value joined(Operation *Op, SmallVector<Value> Parts) {
    std::optional<SmallVector<int64_t>> Perm;
    for (Value &Part : Parts) {
      auto Turn = Part.getDefiningOp<onnx::TransposeOp>();
      if (!Turn || !Turn.getPerm() ||
          (Perm && ArrayRef<int64_t>(*Perm) != *Turn.getPerm()))
        return typed(concat(Op, Parts, 0), Shapes.of(Op->getResult(0)));
      Perm = SmallVector<int64_t>(*Turn.getPerm());
    }
    for (Value &Part : Parts)
      Part = Part.getDefiningOp<onnx::TransposeOp>().getData();
    return turned(Op, concat(Op, Parts, (*Perm)[0]), *Perm);
  }

  Value typed(Value V, ValueInfo Info) {
    Shapes.set(V, std::move(Info));
    return V;
  }

  /// In place of Op: what it gives is Before transposed by Perm.
  Value turned(Operation *Op, Value Before, ArrayRef<int64_t> Perm) {
    ValueInfo Info = Shapes.of(Op->getResult(0)), Inner = Info;
    for (auto [D, From] : llvm::enumerate(Perm))
      Inner.Shape[size_t(From)] = Info.Shape[D];
    OpBuilder B(Op);
    Value Out = onnx::TransposeOp::create(
        B, Op->getLoc(), Op->getResult(0).getType(),
        typed(Before, std::move(Inner)), B.getDenseI64ArrayAttr(Perm));
    return typed(Out, std::move(Info));
  }

  Value concat(Operation *Op, ArrayRef<Value> Parts, int64_t Axis) {
    OpBuilder B(Op);
    Type Element = Shapes.of(Op->getResult(0)).Element;
    return onnx::ConcatOp::create(
        B, Op->getLoc(), UnrankedTensorType::get(Element), Parts, Axis);
  }

  /// GatherND of whole rows by constants [n, 1] is a Gather of the first dim,
  /// which may as well come before a Transpose: what a list of indices becomes.
  Value gathered(Operation *Op) {
    auto At = dyn_cast<onnx::GatherNDOp>(Op);
    const ValueInfo &Info = Shapes.of(Op->getResult(0));
    auto Type = At ? dyn_cast<RankedTensorType>(At.getIndices().getType())
                   : RankedTensorType();
    std::optional<SmallVector<int64_t>> Rows =
        At ? integersOf(At.getIndices()) : std::nullopt;
    if (!Rows || At.getBatchDims() != 0 || !Type || Type.getRank() != 2 ||
        Type.getDimSize(1) != 1 || !Info.Ranked)
      return {};
    auto Turn = At.getData().getDefiningOp<onnx::TransposeOp>();
    std::optional<ArrayRef<int64_t>> Perm =
        Turn ? Turn.getPerm() : std::nullopt;
    OpBuilder B(Op);
    auto Plain = RankedTensorType::get({int64_t(Rows->size())}, B.getI64Type());
    Value Indices = onnx::ConstantOp::create(
        B, Op->getLoc(), Plain, DenseIntElementsAttr::get(Plain, *Rows));
    Value Out = onnx::GatherOp::create(
        B, Op->getLoc(), UnrankedTensorType::get(Info.Element),
        Perm ? Turn.getData() : At.getData(), Indices, Perm ? (*Perm)[0] : 0);
    return Perm ? turned(Op, Out, *Perm) : typed(Out, Info);
  }

  /// x / 2^k is x * 2^-k exactly, as long as 2^-k is a normal number.
  void multiplyInstead(onnx::DivOp Div) {
    DenseElementsAttr Divisor = constantOf(Div.getRhs());
    std::optional<double> Value = splatOf(Div.getRhs());
    if (!Divisor || !Value || !isa<FloatType>(Divisor.getElementType()))
      return;
    int Exponent;
    if (std::frexp(std::fabs(*Value), &Exponent) != 0.5 || Exponent < -12 ||
        Exponent > 14)
      return;
    eval::Budget Limit(64, 1024);
    Result<eval::Tensor> T = eval::fromAttribute(Limit, Divisor);
    if (!T)
      return;
    eval::store(
        *T, std::vector<double>(static_cast<size_t>(T->count()), 1 / *Value));
    OpBuilder B(Div);
    mlir::Value Factor = onnx::ConstantOp::create(
        B, Div.getRhs().getLoc(), eval::toAttribute(*T, B.getContext()));
    mlir::Value Product = onnx::MulOp::create(B, Div.getLoc(), Div.getType(),
                                              Div.getLhs(), Factor);
    Shapes.set(Product, Shapes.of(Div.getOutput()));
    Div.getOutput().replaceAllUsesWith(Product);
    ++Rewritten;
  }

  func::FuncOp F;
  ShapeAnalysis Shapes;
  int64_t Rewritten = 0;
};

class CanonicalizeGraphPass
    : public impl::CanonicalizeGraphBase<CanonicalizeGraphPass> {
public:
  void runOnOperation() override {
    for (func::FuncOp F : getOperation().getOps<func::FuncOp>())
      if (!F.isExternal())
        NumRewritten += static_cast<unsigned>(Canonicalizer(F).run());
  }
};
} // namespace
} // namespace llmc
