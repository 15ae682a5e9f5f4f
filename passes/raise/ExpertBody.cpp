// Rows of chosen experts between two products; see ExpertBody.h.
#include "passes/raise/ExpertBody.h"

#include "passes/raise/Cone.h"
#include "passes/raise/Experts.h"
#include "passes/raise/Heads.h"
#include "passes/raise/Match.h"

using namespace mlir;

namespace llmc::raise {

/// The features of the first product's result that V consists of, the same for
/// every expert and token; false when V is no choice of them.
bool ExpertBody::features(Value V, SmallVector<int64_t> &Out) {
  Cone C = coneOf(V, R, Mixing::None, First.Result);
  if (C.Leaves.size() != 1 || C.Leaves.front() != First.Result)
    return false;
  for (Operation *Op : C.Ops)
    if (!isMovement(Op))
      return false;
  Probe P(Main, R, Reader, Sample{0, First.Tokens, {}, 0});
  int64_t N = First.Features, Rows = eval::countOf(First.Shape) / N;
  std::vector<double> Ids;
  for (int64_t I = 0; I < Rows * N; ++I)
    Ids.push_back(double(I));
  P.bind(First.Result, eval::Tensor::ofFloats(DType::F64, First.Shape, Ids));
  Result<const eval::Tensor *> Got = P.evaluate(V);
  if (!Got || (*Got)->count() % Rows != 0)
    return false;
  int64_t Each = (*Got)->count() / Rows;
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
Value ExpertBody::chosen(ArrayRef<int64_t> Features) {
  SmallVector<int64_t> All;
  int64_t N = First.Features;
  bool Whole = int64_t(Features.size()) == N;
  for (int64_t E = 0; E < First.Experts; ++E)
    for (auto [I, F] : llvm::enumerate(Features)) {
      All.push_back(E * N + F);
      Whole &= F == int64_t(I);
    }
  FlatSymbolRefAttr W = First.Weight, Bias = First.Bias;
  if (!Whole) {
    W = Weights.rows(W, All);
    Bias = Bias ? Weights.rows(Bias, All) : Bias;
  }
  return makeExperts(B, First.Loc, First.X, First.Route, W, Bias, First.Slots,
                     First.Slots * int64_t(Features.size()), false, R);
}

Value ExpertBody::rows(Value V) {
  if (Value Known = New.lookup(V))
    return Known;
  SmallVector<int64_t> Features;
  if (features(V, Features))
    return New[V] = chosen(Features);
  Operation *Op = V.getDefiningOp();
  if (!Op) {
    Why = "an input of the graph is between the products";
    return {};
  }
  if (keepsRows(Op))
    return New[V] = rows(Op->getOperand(0));
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
    Operands.push_back(R.isData(Operand) ? rows(Operand) : Operand);
    if (!Why.empty())
      return {};
    if (R.isData(Operand))
      Most = std::max(Most, featuresOf(Operands.back()));
  }
  Operation *Copy = B.clone(*Op);
  Copy->setOperands(Operands);
  RankedTensorType Rows = rowsLike(First.X, Most);
  Copy->getResult(0).setType(RankedTensorType::get(
      Rows.getShape(), getElementTypeOrSelf(V), Rows.getEncoding()));
  R.markData(Copy->getResult(0));
  return New[V] = Copy->getResult(0);
}
} // namespace llmc::raise
