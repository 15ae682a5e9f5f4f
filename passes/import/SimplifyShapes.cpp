// llmc-simplify-shapes: with all dims known as expressions, most of the shape
// arithmetic of an exported graph says nothing new. Removing it here leaves
// recognisers the data path only.
#include "dialects/onnx/Onnx.h"
#include "passes/import/Passes.h"
#include "passes/import/ShapeAnalysis.h"
#include "passes/util/Constants.h"
#include "passes/util/DeadCode.h"

#include "llvm/ADT/StringMap.h"

namespace llmc {
#define GEN_PASS_DEF_SIMPLIFYSHAPES
#include "passes/import/Passes.h.inc"

using namespace mlir;

namespace {

/// Equal shapes of equally many elements: one dim may be unproven, for it
/// follows from the others.
bool sameShapeOfSameCount(const ValueInfo &A, const ValueInfo &B) {
  if (!A.Ranked || !B.Ranked || A.rank() != B.rank())
    return false;
  size_t Unproven = 0;
  for (auto [X, Y] : llvm::zip(A.Shape, B.Shape)) {
    if (provablyEqual(X, Y))
      continue;
    if (provablyDifferent(X, Y) || ++Unproven > 1)
      return false;
  }
  return true;
}

bool allAre(Value V, int64_t Number) {
  std::optional<SmallVector<int64_t>> Elements = integersOf(V);
  return Elements &&
         llvm::all_of(*Elements, [&](int64_t E) { return E == Number; });
}

/// Removal of ops whose result is their operand.
class CopyFinder {
public:
  explicit CopyFinder(ShapeAnalysis &Shapes) : Shapes(Shapes) {}

  /// The value that the first result of Op equals; null if it is a new one.
  Value find(Operation *Op) {
    if (isa<onnx::IdentityOp>(Op))
      return Op->getOperand(0);
    if (onnx::DropoutOp Drop = dyn_cast<onnx::DropoutOp>(Op)) {
      bool Training = !onnx::isNone(Drop.getTrainingMode()) &&
                      !allAre(Drop.getTrainingMode(), 0);
      return Training ? Value() : Drop.getData();
    }
    if (isa<onnx::CastOp, onnx::CastLikeOp>(Op))
      return sameElement(Op) ? Op->getOperand(0) : Value();
    if (isa<onnx::ReshapeOp, onnx::FlattenOp, onnx::SqueezeOp,
            onnx::UnsqueezeOp>(Op))
      return ancestorOfSameShape(Op);
    return ofMovement(Op) ? Op->getOperand(0) : Value();
  }

private:
  bool sameElement(Operation *Op) {
    Type From = Shapes.of(Op->getOperand(0)).Element;
    return From && From == Shapes.of(Op->getResult(0)).Element;
  }

  bool unchanged(Operation *Op) {
    return sameShape(Shapes.of(Op->getOperand(0)), Shapes.of(Op->getResult(0)));
  }

  /// These ops keep the order of elements, so a chain of them that returns to
  /// a shape returns to the value.
  Value ancestorOfSameShape(Operation *Op) {
    const ValueInfo &Result = Shapes.of(Op->getResult(0));
    Value Found;
    for (int Step = 0; Step < 16 && Op; ++Step) {
      Value From = Op->getOperand(0);
      if (sameShapeOfSameCount(Shapes.of(From), Result))
        Found = From;
      Op = From.getDefiningOp();
      if (!isa_and_nonnull<onnx::ReshapeOp, onnx::FlattenOp, onnx::SqueezeOp,
                           onnx::UnsqueezeOp>(Op))
        break;
    }
    return Found;
  }

  bool ofMovement(Operation *Op) {
    if (isa<onnx::ExpandOp>(Op))
      return unchanged(Op);
    if (isa<onnx::TileOp>(Op))
      return allAre(Op->getOperand(1), 1);
    if (isa<onnx::PadOp>(Op))
      return allAre(Op->getOperand(1), 0);
    if (onnx::TransposeOp T = dyn_cast<onnx::TransposeOp>(Op)) {
      std::optional<ArrayRef<int64_t>> Perm = T.getPerm();
      if (!Perm)
        return Shapes.of(T.getData()).Ranked &&
               Shapes.of(T.getData()).rank() < 2;
      return llvm::is_sorted(*Perm);
    }
    if (onnx::SliceOp S = dyn_cast<onnx::SliceOp>(Op))
      return unchanged(Op) &&
             (onnx::isNone(S.getSteps()) || allAre(S.getSteps(), 1));
    return isa<onnx::ConcatOp, onnx::SumOp, onnx::MaxOp, onnx::MinOp,
               onnx::MeanOp, onnx::SplitOp>(Op) &&
           (Op->getNumOperands() == 1 || isa<onnx::SplitOp>(Op)) &&
           Op->getNumResults() == 1;
  }

  ShapeAnalysis &Shapes;
};

/// Dims of the arguments by expression, and the ops that read them.
class DimSource {
public:
  DimSource(func::FuncOp F, ShapeAnalysis &Shapes)
      : Body(&F.getBody().front()) {
    for (BlockArgument Arg : F.getArguments())
      for (auto [Axis, D] : llvm::enumerate(Shapes.of(Arg).Shape))
        if (D && !D->isConstant())
          Places.try_emplace(D->str(), Arg, static_cast<int64_t>(Axis));
  }

  /// i64 value of this static shape (one element) that holds the dim; null
  /// when no argument has it.
  Value get(const DimExpr &E, ArrayRef<int64_t> Shape, Location Loc) {
    std::string Text = E.str();
    auto It = Places.find(Text);
    if (It == Places.end())
      return {};
    Value &V = Made[Text + "/" + std::to_string(Shape.size())];
    if (!V)
      V = make(It->second.first, It->second.second, Shape, Loc);
    return V;
  }

  bool made(Operation *Op) const {
    return llvm::any_of(Made, [&](const auto &Entry) {
      return Entry.second && Entry.second.getDefiningOp() == Op;
    });
  }

private:
  Value make(Value Arg, int64_t Axis, ArrayRef<int64_t> Shape, Location Loc) {
    OpBuilder B = OpBuilder::atBlockBegin(Body);
    Type I64 = B.getI64Type();
    int64_t Rank = cast<RankedTensorType>(Arg.getType()).getRank();
    Value Dims = onnx::ShapeOp::create(
        B, Loc, RankedTensorType::get({Rank}, I64), Arg, 0, IntegerAttr());
    RankedTensorType T = RankedTensorType::get(Shape, I64);
    Value Index = onnx::ConstantOp::create(
        B, Loc, DenseElementsAttr::get(T, ArrayRef<int64_t>{Axis}));
    return onnx::GatherOp::create(B, Loc, T, Dims, Index, 0);
  }

  Block *Body;
  llvm::StringMap<std::pair<Value, int64_t>> Places;
  llvm::StringMap<Value> Made;
};

class Simplifier {
public:
  explicit Simplifier(func::FuncOp F)
      : F(F), Shapes(F), Copies(Shapes), Dims(F, Shapes) {}

  void run() {
    F.walk<WalkOrder::PreOrder>([&](Operation *Op) { visit(Op); });
    eraseDeadOps(F.getBody());
    updateResultTypes(F);
  }

  int64_t Removed = 0, ShapeOperands = 0, NamedDims = 0;

private:
  void visit(Operation *Op) {
    if (Op->getNumResults() == 0 || Op->use_empty() ||
        Op->getNumOperands() == 0 || Op->getNumRegions() != 0)
      return;
    Value R = Op->getResult(0);
    if (Value Same = Copies.find(Op)) {
      R.replaceAllUsesWith(Same);
      ++Removed;
      return;
    }
    if (Op->getNumResults() == 1 && nameDim(Op, R))
      return;
    if (onnx::ReshapeOp Reshape = dyn_cast<onnx::ReshapeOp>(Op))
      simplify(Reshape);
    else if (onnx::ExpandOp Expand = dyn_cast<onnx::ExpandOp>(Op))
      simplify(Expand);
  }

  /// A single i64 element that is a dim of an argument is read from there.
  bool nameDim(Operation *Op, Value R) {
    const ValueInfo &Info = Shapes.of(R);
    std::optional<SmallVector<int64_t>> Shape = Info.staticShape();
    if (!Info.HasData || Info.Data.size() != 1 || !Info.Data[0] ||
        Info.Data[0]->isConstant() || !Shape || !Info.Element.isInteger(64))
      return false;
    // What reads an argument's dim already may stay as it is.
    if (isa<onnx::ShapeOp>(Op) && isa<BlockArgument>(Op->getOperand(0)))
      return false;
    Value V = Dims.get(*Info.Data[0], *Shape, Op->getLoc());
    if (!V)
      return false;
    Shapes.set(V, Info);
    R.replaceAllUsesWith(V);
    ++NamedDims;
    return true;
  }

  /// Makes operand I the constant Wanted.
  void setShape(Operation *Op, unsigned I, ArrayRef<int64_t> Wanted) {
    std::optional<SmallVector<int64_t>> Now = integersOf(Op->getOperand(I));
    if (Now && ArrayRef<int64_t>(*Now) == Wanted)
      return;
    OpBuilder B(Op);
    RankedTensorType T = RankedTensorType::get(
        {static_cast<int64_t>(Wanted.size())}, B.getI64Type());
    Op->setOperand(I, onnx::ConstantOp::create(
                          B, Op->getLoc(), DenseElementsAttr::get(T, Wanted)));
    ++ShapeOperands;
  }

  /// The shape operand that makes Out of In: numbers, 0 to copy, one -1.
  static std::optional<SmallVector<int64_t>>
  reshapeOperand(const ValueInfo &In, const ValueInfo &Out) {
    SmallVector<int64_t> Wanted;
    bool Open = false;
    for (auto [I, D] : llvm::enumerate(Out.Shape)) {
      int64_t Number = D ? D->constant().value_or(-1) : -1;
      bool Copy = I < In.rank() && provablyEqual(D, In.Shape[I]);
      if (Number == 0 || (Number < 0 && !Copy && std::exchange(Open, true)))
        return std::nullopt;
      Wanted.push_back(Number > 0 ? Number : Copy ? 0 : -1);
    }
    return Wanted;
  }

  /// Reads from behind other ops of its kind where only that makes the shape
  /// constant.
  void simplify(onnx::ReshapeOp Op) {
    const ValueInfo &Out = Shapes.of(Op.getOutput());
    Value From = Op.getData();
    for (int Step = 0; Step < 8 && Out.Ranked; ++Step) {
      if (std::optional<SmallVector<int64_t>> Wanted =
              reshapeOperand(Shapes.of(From), Out)) {
        Op.getDataMutable().assign(From);
        setShape(Op, 1, *Wanted);
        Op.setAllowzero(0);
        return;
      }
      Operation *Source = From.getDefiningOp();
      if (!isa_and_nonnull<onnx::ReshapeOp, onnx::FlattenOp, onnx::SqueezeOp,
                           onnx::UnsqueezeOp>(Source))
        return;
      From = Source->getOperand(0);
    }
  }

  void simplify(onnx::ExpandOp Op) {
    const ValueInfo &In = Shapes.of(Op.getInput());
    const ValueInfo &Out = Shapes.of(Op.getOutput());
    if (!In.Ranked || !Out.Ranked)
      return;
    SmallVector<int64_t> Wanted;
    size_t Lead = Out.rank() - In.rank();
    for (auto [I, D] : llvm::enumerate(Out.Shape)) {
      int64_t Number = D ? D->constant().value_or(-1) : -1;
      bool Keep = I >= Lead && provablyEqual(D, In.Shape[I - Lead]);
      if (!Keep && Number < 0)
        return;
      Wanted.push_back(Keep ? 1 : Number);
    }
    setShape(Op, 1, Wanted);
  }

  func::FuncOp F;
  ShapeAnalysis Shapes;
  CopyFinder Copies;
  DimSource Dims;
};

class SimplifyShapesPass : public impl::SimplifyShapesBase<SimplifyShapesPass> {
public:
  void runOnOperation() override {
    for (func::FuncOp F : getOperation().getOps<func::FuncOp>()) {
      if (F.isExternal())
        continue;
      Simplifier S(F);
      S.run();
      NumRemoved += static_cast<unsigned>(S.Removed);
      NumShapes += static_cast<unsigned>(S.ShapeOperands);
      NumDims += static_cast<unsigned>(S.NamedDims);
    }
  }
};
} // namespace
} // namespace llmc
