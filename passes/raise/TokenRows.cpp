// Values with token rows; see TokenRows.h.
#include "passes/raise/TokenRows.h"

#include "passes/raise/Match.h"
#include "passes/raise/RowChoice.h"

using namespace mlir;

namespace llmc::raise {

bool keepsRows(Operation *Op) {
  return isa<onnx::ReshapeOp, onnx::FlattenOp, onnx::UnsqueezeOp,
             onnx::SqueezeOp, onnx::IdentityOp, onnx::DropoutOp>(Op) ||
         (isa<onnx::CastOp>(Op) && skip(Op->getResult(0)) != Op->getResult(0));
}

int64_t featuresOfRows(Value V) {
  auto Type = dyn_cast<RankedTensorType>(V.getType());
  if (!Type)
    return -1;
  int64_t F = 1, Rank = Type.getRank();
  for (int64_t D = Rank - 1; D >= 1 && !Type.isDynamicDim(D); --D)
    F *= Type.getDimSize(D);
  return Rank < 1 || Type.isDynamicDim(Rank - 1) ? -1 : F;
}

/// Whether Op passes the rows of its first operand on as they are.
static bool passesRows(Operation *Op) {
  if (featuresOfRows(Op->getResult(0)) != featuresOfRows(Op->getOperand(0)))
    return false;
  RowChoice::Kind What = rowChoiceOf(Op).What;
  return keepsRows(Op) || What == RowChoice::Kind::All ||
         What == RowChoice::Kind::Last;
}

bool TokenRows::has(Value V) {
  // Chains of residuals are long: the answer is kept, the depth is not.
  auto It = Known.find(V);
  if (It != Known.end())
    return It->second;
  SmallVector<Value> Stack{V};
  while (!Stack.empty()) {
    Value Next = Stack.back();
    Operation *Op = Next.getDefiningOp();
    bool Waits = false;
    if (Op && !isa<llm::LlmDialect>(Op->getDialect()))
      for (Value Operand : Op->getOperands())
        if (R.isData(Operand) && Operand.getDefiningOp() &&
            !Known.count(Operand)) {
          Stack.push_back(Operand);
          Waits = true;
        }
    if (Waits)
      continue;
    Known[Next] = find(Next);
    Stack.pop_back();
  }
  return Known[V];
}

/// With all operands known.
bool TokenRows::find(Value V) {
  Operation *Op = V.getDefiningOp();
  if (!Op)
    return false;
  if (isa<llm::LlmDialect>(Op->getDialect()))
    return !isa<llm::PaddedPositionsOp, llm::QuantizedValueOp>(Op);
  auto Has = [&](unsigned I) { return Known.lookup(Op->getOperand(I)); };
  int64_t F = featuresOfRows(V);
  if (Op->getNumOperands() == 0 || F < 1)
    return false;
  if (passesRows(Op))
    return Has(0);
  if (isa<onnx::AddOp>(Op))
    return Has(0) && Has(1) && featuresOfRows(Op->getOperand(0)) == F &&
           featuresOfRows(Op->getOperand(1)) == F;
  if (isa<onnx::MulOp>(Op))
    return (Has(0) && scalar(Op->getOperand(1))) ||
           (Has(1) && scalar(Op->getOperand(0)));
  if (isa<onnx::DivOp>(Op))
    return Has(0) && scalar(Op->getOperand(1)).value_or(0) != 0;
  return false;
}

Value TokenRows::origin(Value V) {
  while (Operation *Op = V.getDefiningOp()) {
    if (isa<llm::LlmDialect>(Op->getDialect()) || Op->getNumOperands() == 0 ||
        !passesRows(Op))
      break;
    V = Op->getOperand(0);
  }
  return V;
}
} // namespace llmc::raise
