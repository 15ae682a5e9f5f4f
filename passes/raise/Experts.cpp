// Parts of expert layers; see Experts.h.
#include "passes/raise/Experts.h"

#include "passes/raise/Heads.h"
#include "passes/raise/Match.h"

using namespace mlir;

namespace llmc::raise {

bool isElementwiseOp(Operation *Op) {
  if (isa<llm::GluOp, llm::ActivationOp, llm::AddOp, llm::ScaleOp>(Op))
    return true;
  return isa<onnx::MulOp, onnx::DivOp, onnx::AddOp, onnx::SubOp, onnx::PowOp,
             onnx::NegOp, onnx::TanhOp, onnx::ErfOp, onnx::SigmoidOp,
             onnx::SqrtOp, onnx::ReluOp, onnx::ExpOp, onnx::LogOp, onnx::AbsOp,
             onnx::ReciprocalOp, onnx::MaxOp, onnx::MinOp, onnx::ClipOp,
             onnx::GeluOp, onnx::SoftplusOp, onnx::WhereOp, onnx::LessOp,
             onnx::LessOrEqualOp, onnx::GreaterOp, onnx::GreaterOrEqualOp,
             onnx::CastOp, onnx::IdentityOp>(Op) ||
         Op->getName().stripDialect() == "swish" ||
         Op->getName().stripDialect() == "ms_quick_gelu";
}

void bindRows(Value V, Probe &P, const Roles &R, TokenRows &Rows,
              double Scale) {
  llvm::SetVector<Value> Work;
  Work.insert(V);
  for (size_t I = 0; I < Work.size() && I < 4096; ++I) {
    Value Next = Work[I];
    Operation *Op = Next.getDefiningOp();
    if (!Op || !R.isData(Next))
      continue;
    eval::Dims Shape;
    if (Rows.has(Next)) {
      if (P.shapeOf(Next, Shape) && eval::countOf(Shape) >= 0)
        P.bind(Next, randomTensor(Shape, 300 + I, Scale));
      continue;
    }
    Work.insert(Op->operand_begin(), Op->operand_end());
  }
}

RankedTensorType rowsLike(Value X, int64_t Features) {
  auto Type = cast<RankedTensorType>(X.getType());
  return withFeatures(RankedTensorType::get(Type.getShape(),
                                            Float32Type::get(Type.getContext()),
                                            Type.getEncoding()),
                      Features);
}

int64_t chosenAbove(Value V, const Roles &R) {
  llvm::SetVector<Value> Work;
  Work.insert(V);
  int64_t Most = 0;
  for (size_t I = 0; I < Work.size() && I < 4096; ++I) {
    Operation *Op = Work[I].getDefiningOp();
    if (!Op || isa<llm::LlmDialect>(Op->getDialect()) || !R.isData(Work[I]))
      continue;
    if (auto TopK = dyn_cast<onnx::TopKOp>(Op))
      if (std::optional<double> K = scalar(TopK->getOperand(1)))
        Most = std::max(Most, int64_t(*K));
    Work.insert(Op->operand_begin(), Op->operand_end());
  }
  return Most;
}

int64_t slotsOf(Value Route, int64_t Experts, func::FuncOp Main, const Roles &R,
                const eval::WeightReader &Reader) {
  int64_t Most = 0;
  TokenRows Rows(R);
  for (double Scale : {0.3, 4.0}) {
    Probe P(Main, R, Reader, Sample{0, 16, {}, 0});
    bindRows(Route, P, R, Rows, Scale);
    Result<const eval::Tensor *> T = P.evaluate(Route);
    if (!T || (*T)->count() % Experts != 0)
      return Experts;
    for (int64_t Row = 0; Row < (*T)->count() / Experts; ++Row) {
      int64_t Mine = 0;
      for (int64_t E = 0; E < Experts; ++E)
        Mine += eval::floatAt(**T, Row * Experts + E) != 0;
      Most = std::max(Most, Mine);
    }
  }
  // Groups may be chosen before experts are: the largest choice is no bound by
  // itself, but what a sample shows is none either without one.
  int64_t Chosen = chosenAbove(Route, R);
  return Chosen == 0 || Most > Chosen ? Experts : std::max<int64_t>(Most, 1);
}

Value makeExperts(OpBuilder &B, Location Loc, Value X, Value Route,
                  FlatSymbolRefAttr Weight, FlatSymbolRefAttr Bias,
                  int64_t Slots, int64_t Features, bool Combine, Roles &R) {
  auto New =
      llm::ExpertsOp::create(B, Loc, rowsLike(X, Features), X, Route,
                             Weight.getValue(), Bias, uint64_t(Slots), Combine);
  R.markData(New);
  return New;
}

Value makeRoute(OpBuilder &B, Location Loc, Value Choice, Value Share,
                int64_t Experts, Roles &R) {
  auto Integers = [&](ArrayRef<int64_t> Values) -> Value {
    auto Type = RankedTensorType::get({int64_t(Values.size())}, B.getI64Type());
    return onnx::ConstantOp::create(B, Loc, Type,
                                    DenseIntElementsAttr::get(Type, Values));
  };
  auto Two = RankedTensorType::get({2}, B.getF32Type());
  Value OffOn = onnx::ConstantOp::create(
      B, Loc, Two, DenseFPElementsAttr::get(Two, ArrayRef<float>{0, 1}));
  auto Type = cast<RankedTensorType>(Share.getType());
  SmallVector<int64_t> Wide(Type.getShape()), Column(Type.getShape());
  Wide.push_back(Experts);
  Column.push_back(1);
  Value Hot = onnx::OneHotOp::create(
      B, Loc, RankedTensorType::get(Wide, B.getF32Type()), Choice,
      Integers({Experts}), OffOn, -1);
  Value Tall = onnx::UnsqueezeOp::create(
      B, Loc, RankedTensorType::get(Column, B.getF32Type()), Share,
      Integers({-1}));
  Value Mul = onnx::MulOp::create(B, Loc, Hot.getType(), Hot, Tall);
  Value Out = onnx::ReduceSumOp::create(B, Loc, withFeatures(Type, Experts),
                                        Mul, Integers({-2}), 0, 0);
  for (Value V : {Hot, Tall, Mul, Out})
    R.markData(V);
  return Out;
}
} // namespace llmc::raise
