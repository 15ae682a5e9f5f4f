// A file with static quantisation was calibrated, and often trained, with
// rounded and saturated activations: they are part of what it computes. Those
// beside products are kept as elementwise functions of rows; others (inside of
// norms, rotations, gates) are dropped, since recognisers want these whole.
//
// Codes of more than 8 bits only saturate: their steps are finer than what sums
// in another order differ by. Angles of rotations are rounded, too, where a
// file makes them by a product.
//
// Rounding with one step commutes with everything that only moves elements, so
// that it can stand where rows are: queries, keys and values are rounded before
// their heads are laid out and cached, the heads' results after they are merged
// again. Scores and probabilities have no rows; they are noted on the softmax.
#include "passes/raise/StaticRounding.h"

#include "passes/raise/Match.h"
#include "passes/raise/QuantizedActivations.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/TypeUtilities.h"

#include <cmath>

using namespace mlir;

namespace llmc::raise {
namespace {
constexpr int MaxDepth = 32;

/// Ops that hand the elements of their first operand on, each at least once.
bool keepsElements(Operation *Op) {
  return isa<onnx::IdentityOp, onnx::ReshapeOp, onnx::TransposeOp,
             onnx::UnsqueezeOp, onnx::SqueezeOp, onnx::FlattenOp,
             onnx::ExpandOp>(Op);
}

Value sourceOf(Value V) {
  for (int I = 0; I < MaxDepth; ++I) {
    Operation *Op = V.getDefiningOp();
    if (!Op || !keepsElements(Op))
      break;
    V = Op->getOperand(0);
  }
  return V;
}

/// The operands of a product, also of a quantised one.
std::pair<Value, Value> factorsOf(Operation *Op) {
  if (onnx::QLinearMatMulOp Q = dyn_cast<onnx::QLinearMatMulOp>(Op))
    return {Q.getA(), Q.getB()};
  return {Op->getOperand(0), Op->getOperand(1)};
}

bool isAnyProduct(Operation *Op) {
  return isa<onnx::MatMulOp, onnx::GemmOp, onnx::QLinearMatMulOp,
             onnx::MatMulIntegerOp>(Op);
}

/// A product over one element, which makes angles of positions and frequencies.
bool isOuter(Operation *Op) {
  RankedTensorType Left =
      isAnyProduct(Op)
          ? dyn_cast<RankedTensorType>(factorsOf(Op).first.getType())
          : RankedTensorType();
  return Left && Left.getRank() > 0 && Left.getShape().back() == 1;
}

bool isProduct(Operation *Op) { return isAnyProduct(Op) && !isOuter(Op); }

/// Ops in which the value ends, through dequantisation and moves, with Joined
/// also as a part of others.
void endsOf(Value V, bool Joined, SmallVectorImpl<Operation *> &Ends) {
  llvm::SetVector<Value> Work;
  Work.insert(V);
  for (size_t I = 0; I < Work.size() && I < 64; ++I)
    for (Operation *User : Work[I].getUsers()) {
      bool Passes = keepsElements(User) ||
                    isa<onnx::DequantizeLinearOp>(User) ||
                    (Joined && isa<onnx::ConcatOp>(User));
      if (Passes && User->getNumResults() == 1)
        Work.insert(User->getResult(0));
      else
        Ends.push_back(User);
    }
}

/// The softmax that scores lead to, over scales, masks, casts and the column
/// of a sink.
onnx::SoftmaxOp softmaxBelow(Value V) {
  llvm::SetVector<Value> Work;
  Work.insert(V);
  for (size_t I = 0; I < Work.size() && I < 64; ++I)
    for (Operation *User : Work[I].getUsers()) {
      if (onnx::SoftmaxOp Softmax = dyn_cast<onnx::SoftmaxOp>(User))
        return Softmax;
      if (keepsElements(User) ||
          isa<onnx::DequantizeLinearOp, onnx::QuantizeLinearOp, onnx::MulOp,
              onnx::DivOp, onnx::AddOp, onnx::SubOp, onnx::WhereOp,
              onnx::CastOp, onnx::MaxOp, onnx::TanhOp, onnx::ClipOp,
              onnx::ConcatOp>(User))
        Work.insert(User->getResult(0));
    }
  return {};
}

/// The softmax that V comes from, over guards against NaN and what takes the
/// column of a sink away.
onnx::SoftmaxOp softmaxAbove(Value V) {
  for (int I = 0; I < MaxDepth; ++I) {
    V = sourceOf(V);
    Operation *Op = V.getDefiningOp();
    if (!Op)
      return {};
    if (onnx::SoftmaxOp Softmax = dyn_cast<onnx::SoftmaxOp>(Op))
      return Softmax;
    if (onnx::WhereOp Where = dyn_cast<onnx::WhereOp>(Op))
      V = scalar(Where.getX()) ? Where.getY() : Where.getX();
    else if (isa<onnx::CastOp, onnx::DropoutOp, onnx::SliceOp>(Op))
      V = Op->getOperand(0);
    else
      return {};
  }
  return {};
}

/// Whether V is a cache input, or one that was only moved.
bool isPast(Value V) { return isa<BlockArgument>(sourceOf(V)); }
} // namespace

/// Whether V is made of tensors of the file alone.
bool StaticRounding::isWeight(Value V) {
  V = sourceOf(V);
  Operation *Op = V.getDefiningOp();
  if (!Op)
    return false;
  if (onnx::DequantizeLinearOp D = dyn_cast<onnx::DequantizeLinearOp>(Op))
    return isWeight(D.getX());
  return isa<llm::QuantizedValueOp>(Op) || Maker.isRaw(V);
}

bool StaticRounding::ofActivations(Operation *Op) {
  if (!isProduct(Op))
    return false;
  auto [A, B] = factorsOf(Op);
  return !isWeight(A) && !isWeight(B);
}

std::optional<Rounding> StaticRounding::roundingOf(Operation *Op, Value Scale,
                                                   Value Zero) {
  IntegerType Code =
      dyn_cast<IntegerType>(getElementTypeOrSelf(Op->getResult(0).getType()));
  std::optional<double> Step = Maker.scalarOf(Scale), At = 0.0;
  if (Zero && !onnx::isNone(Zero))
    At = Maker.scalarOf(Zero);
  if (!Code || !Step || !At || !(*Step > 0))
    return std::nullopt;
  Fine = Code.getWidth() > 8;
  double Count = std::ldexp(1.0, int(Code.getWidth()));
  double Low = Code.isUnsigned() ? 0 : -Count / 2;
  return Rounding{*Step, Low - *At, Low + Count - 1 - *At};
}

/// Whether V is returned, behind a scale, a bias or a cap: logits are what a
/// product gives.
bool StaticRounding::isLogits(Value V) {
  SmallVector<Operation *> Ends;
  endsOf(V, /*Joined=*/false, Ends);
  for (int I = 0; I < 8 && Ends.size() == 1; ++I) {
    Operation *Op = Ends.front();
    bool Passes =
        isa<onnx::TanhOp, onnx::QuantizeLinearOp>(Op) ||
        (isa<onnx::MulOp, onnx::DivOp, onnx::AddOp>(Op) &&
         llvm::any_of(Op->getOperands(), [&](Value W) { return isWeight(W); }));
    if (!Passes)
      break;
    Ends.clear();
    endsOf(Op->getResult(0), /*Joined=*/false, Ends);
  }
  return llvm::any_of(Ends,
                      [](Operation *End) { return isa<func::ReturnOp>(End); });
}

StaticRounding::Place StaticRounding::placeOf(Operation *Op, Value X) {
  if (isLogits(Op->getResult(0)))
    return Place::None;
  SmallVector<Operation *> Ends;
  endsOf(Op->getResult(0), /*Joined=*/true, Ends);
  Value Source = sourceOf(X);
  Operation *From = Source.getDefiningOp();
  // The product may have been scaled, a linear may have a bias.
  for (int I = 0; From && I < 2; ++I)
    if (isa<onnx::MulOp, onnx::DivOp, onnx::AddOp>(From))
      for (Value Operand : From->getOperands())
        if (Operation *Up = sourceOf(Operand).getDefiningOp();
            Up && isProduct(Up) &&
            llvm::all_of(From->getOperands(), [&](Value V) {
              return V == Operand || isWeight(V);
            })) {
          From = Up;
          break;
        }
  if (From && ofActivations(From))
    return softmaxBelow(Op->getResult(0)) ? Place::Scores : Place::Context;
  if (llvm::any_of(Ends, [&](Operation *End) { return ofActivations(End); }))
    return softmaxAbove(X) ? Place::Probabilities : Place::Heads;
  if ((From && isProduct(From)) || llvm::any_of(Ends, isProduct))
    return Place::Rows;
  if ((From && isOuter(From)) || llvm::any_of(Ends, isOuter))
    return Place::Angles;
  return Place::None;
}

Value unrounded(Operation *Last) {
  if (!isa<onnx::MulOp>(Last))
    return Last->getOperand(0); // only saturated
  Value V = Last->getOperand(0);
  for (int I = 0; I < 3; ++I) // Clip, Round, Div
    V = V.getDefiningOp()->getOperand(0);
  return V;
}

Value StaticRounding::make(Value X, const Rounding &By) {
  OpBuilder B(X.getContext());
  B.setInsertionPointAfterValue(X);
  Location Loc = X.getLoc();
  Type T = floatLike(X);
  const auto Number = [&](double C) -> Value {
    RankedTensorType Type = RankedTensorType::get({}, B.getF32Type());
    return onnx::ConstantOp::create(B, Loc, Type,
                                    DenseElementsAttr::get(Type, float(C)));
  };
  if (Fine) {
    onnx::ClipOp Out = onnx::ClipOp::create(
        B, Loc, T, X, Number(By.Low * By.Step), Number(By.High * By.Step));
    Out->setAttr(RoundedAttr, B.getUnitAttr());
    return Out;
  }
  Value Step = Number(By.Step);
  Value Code =
      onnx::RoundOp::create(B, Loc, T, onnx::DivOp::create(B, Loc, T, X, Step));
  Code = onnx::ClipOp::create(B, Loc, T, Code, Number(By.Low), Number(By.High));
  onnx::MulOp Out = onnx::MulOp::create(B, Loc, T, Code, Step);
  Out->setAttr(RoundedAttr, B.getUnitAttr());
  return Out;
}

/// The positive number that Op multiplies its first or second operand with.
static double factorOf(Operation *Op, unsigned &Other) {
  if (!isa<onnx::MulOp, onnx::DivOp>(Op))
    return 0;
  bool Div = isa<onnx::DivOp>(Op);
  std::optional<double> C = scalar(Op->getOperand(1));
  Other = 0;
  if (!C && !Div) {
    C = scalar(Op->getOperand(0));
    Other = 1;
  }
  return !C ? 0 : (Div ? 1 / *C : *C);
}

/// Before the heads are laid out, and before they go to a cache: what is read
/// back from there is rounded already. A scale in between scales the step.
Value StaticRounding::ofHeads(Value X, Rounding By) {
  Operation *Below = nullptr;
  unsigned At = 0;
  Value Top = X;
  for (int I = 0; I < MaxDepth; ++I) {
    Operation *Op = Top.getDefiningOp();
    if (!Op)
      break;
    onnx::ConcatOp Concat = dyn_cast<onnx::ConcatOp>(Op);
    if (Concat && Concat.getInputs().size() == 2 &&
        isPast(Concat.getInputs()[0]))
      At = 1;
    else if (!onlyUser(Top) && Below)
      break;
    else if (keepsElements(Op))
      At = 0;
    else if (double By1 = factorOf(Op, At); By1 > 0 && std::isfinite(1 / By1))
      By.Step /= By1;
    else
      break;
    Below = Op;
    Top = Op->getOperand(At);
  }
  Value Made = make(Top, By);
  if (!Below)
    return Made;
  Below->setOperand(At, Made);
  return X;
}

/// Behind the moves that merge the heads.
Value StaticRounding::ofContext(Operation *Op, Value X, const Rounding &By) {
  for (Operation *User :
       llvm::make_early_inc_range(Op->getResult(0).getUsers())) {
    if (!isa<onnx::DequantizeLinearOp>(User))
      continue;
    Value V = User->getResult(0);
    Value Last = V;
    for (int I = 0; I < MaxDepth; ++I) {
      Operation *Next = onlyUser(V);
      if (!Next ||
          !(keepsElements(Next) ||
            isa<onnx::QuantizeLinearOp, onnx::DequantizeLinearOp>(Next)))
        break;
      V = Next->getResult(0);
      if (keepsElements(Next) && isa<FloatType>(getElementTypeOrSelf(V)))
        Last = V;
    }
    V = Last;
    // Every move may have been quantised, with one scale for all of them.
    onnx::DivOp Known = dyn_cast_or_null<onnx::DivOp>(onlyUser(V));
    bool Again = Known && isScalar(Known.getRhs(), By.Step);
    // The heads were merged before.
    if (V == User->getResult(0) && sourceOf(X) != X)
      return make(X, By);
    if (V == User->getResult(0) || Again)
      continue;
    SmallVector<OpOperand *> Uses;
    for (OpOperand &Use : V.getUses())
      Uses.push_back(&Use);
    Value Made = make(V, By);
    for (OpOperand *Use : Uses)
      Use->set(Made);
  }
  return X;
}

/// Notes the rounding of scores or probabilities on their softmax.
bool StaticRounding::mark(Operation *Op, Value X, Rounding By) {
  onnx::SoftmaxOp Softmax = softmaxAbove(X);
  StringRef Name = ProbRoundingAttr;
  if (!Softmax) {
    Name = ScoreRoundingAttr;
    Softmax = softmaxBelow(Op->getResult(0));
    // In units of the raw product.
    Operation *Scaled = sourceOf(X).getDefiningOp();
    if (onnx::MulOp Mul = dyn_cast_or_null<onnx::MulOp>(Scaled))
      By.Step /=
          scalar(Mul.getRhs()).value_or(scalar(Mul.getLhs()).value_or(0));
    else if (onnx::DivOp Div = dyn_cast_or_null<onnx::DivOp>(Scaled))
      By.Step *= scalar(Div.getRhs()).value_or(0);
  }
  if (!Softmax || !(By.Step > 0) || !std::isfinite(By.Step) ||
      Softmax->hasAttr(Name))
    return false;
  setRounding(Softmax, Name, By);
  return true;
}

Value StaticRounding::rounded(Operation *Op, Value X, Value Scale, Value Zero) {
  std::optional<Rounding> By = roundingOf(Op, Scale, Zero);
  if (!By)
    return {};
  Place At = placeOf(Op, X);
  // Weights stay what the file has; frequencies are no weights.
  if (isWeight(X) && At != Place::Angles)
    return {};
  switch (At) {
  case Place::None:
    return {};
  case Place::Rows:
  case Place::Angles:
    return make(X, *By);
  case Place::Heads:
    return ofHeads(X, *By);
  case Place::Context:
    return ofContext(Op, X, *By);
  case Place::Scores:
  case Place::Probabilities:
    if (!Fine)
      mark(Op, X, *By);
    return X;
  }
  return {};
}

} // namespace llmc::raise
