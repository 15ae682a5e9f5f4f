// Backward walks over token data; see Cone.h.
#include "passes/raise/Cone.h"

#include "passes/raise/Match.h"

using namespace mlir;

namespace llmc::raise {

bool isMovement(Operation *Op) {
  return isa<onnx::IdentityOp, onnx::ReshapeOp, onnx::FlattenOp,
             onnx::TransposeOp, onnx::UnsqueezeOp, onnx::SqueezeOp,
             onnx::ExpandOp, onnx::TileOp, onnx::SliceOp, onnx::SplitOp,
             onnx::ConcatOp, onnx::GatherOp>(Op) ||
         (isa<onnx::CastOp, onnx::DropoutOp>(Op) &&
          skip(Op->getResult(0)) != Op->getResult(0));
}

Value beforeMove(Value V) {
  Operation *Op = V.getDefiningOp();
  if (!Op)
    return {};
  if (isa<onnx::ConcatOp>(Op) && Op->getNumOperands() > 1)
    return {};
  if (isMovement(Op))
    return Op->getOperand(0);
  auto IsScalar = [](Value W) { return scalar(W).has_value(); };
  if (auto Mul = dyn_cast<onnx::MulOp>(Op))
    return other(Mul, IsScalar);
  auto Div = dyn_cast<onnx::DivOp>(Op);
  return Div && IsScalar(Div.getRhs()) ? Div.getLhs() : Value();
}

bool isCacheUpdate(Operation *Op) {
  return isa<onnx::ScatterNDOp, onnx::ScatterElementsOp, onnx::TensorScatterOp>(
      Op);
}

/// Whether an operand is an elementwise gain or bias of the file.
static bool hasFixedTable(Operation *Op) {
  return llvm::any_of(Op->getOperands(), [](Value V) {
    return isFixed(V) && !scalar(V).has_value();
  });
}

static bool isFollowed(Operation *Op, const Roles &R, Mixing Mix) {
  if (isMovement(Op) || isCacheUpdate(Op))
    return true;
  bool Product = isa<onnx::MulOp, onnx::DivOp>(Op);
  bool OneOfData = llvm::count_if(Op->getOperands(),
                                  [&](Value V) { return R.isData(V); }) == 1;
  if (Mix != Mixing::None)
    return (Product || isa<onnx::AddOp, onnx::SubOp, onnx::NegOp>(Op)) &&
           (Mix == Mixing::All ||
            ((OneOfData || !Product) && !hasFixedTable(Op)));
  return Product && OneOfData && llvm::any_of(Op->getOperands(), [](Value V) {
           return scalar(V).has_value();
         });
}

Cone coneOf(Value V, const Roles &R, Mixing Mix, Value Stop) {
  Cone Out;
  llvm::SetVector<Value> Work;
  Work.insert(V);
  for (size_t I = 0; I < Work.size(); ++I) {
    Value Next = Work[I];
    Operation *Op = Next.getDefiningOp();
    if (!Op || Next == Stop || !isFollowed(Op, R, Mix)) {
      Out.Leaves.insert(Next);
      continue;
    }
    Out.Ops.insert(Op);
    for (Value Operand : Op->getOperands()) {
      if (R.isData(Operand))
        Work.insert(Operand);
      else if (isa<FloatType>(getElementTypeOrSelf(Operand.getType())) &&
               !scalar(Operand))
        Out.Tables.insert(Operand);
    }
  }
  return Out;
}

Value Cone::root(const Roles &R) const {
  Value Root;
  for (Value Leaf : Leaves) {
    if (auto Arg = dyn_cast<BlockArgument>(Leaf);
        Arg && R.of(Arg) == Role::Past)
      continue;
    if (Root)
      return {};
    Root = Leaf;
  }
  return Root;
}
} // namespace llmc::raise
