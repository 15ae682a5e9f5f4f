// The lazy evaluation of a backward slice with an explicit stack, so that a
// deep graph cannot overflow ours.
#include "compiler/eval/Evaluator.h"

#include "compiler/eval/Convert.h"
#include "compiler/eval/Ops.h"
#include "compiler/eval/QuantizedValue.h"
#include "dialects/onnx/Onnx.h"

#include "llvm/ADT/DenseSet.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;

namespace llmc::eval {

static const Tensor Absent;

//===----------------------------------------------------------------------===//
// OpCall
//===----------------------------------------------------------------------===//

const Tensor &OpCall::in(unsigned I) const {
  return I < Inputs.size() && Inputs[I] ? *Inputs[I] : Absent;
}

Dims OpCall::ints(unsigned I) const {
  return in(I).present() ? load<int64_t>(in(I)) : Dims();
}

Result<int64_t> OpCall::scalar(unsigned I, int64_t Default) const {
  if (!in(I).present())
    return Default;
  if (in(I).count() != 1 || !isInteger(in(I).Type))
    return malformedError("operand " + std::to_string(I) + " is " +
                          describe(in(I)) + ", expected one integer");
  return intAt(in(I), 0);
}

int64_t OpCall::attr(StringRef Name, int64_t Default) const {
  IntegerAttr A = Op->getAttrOfType<IntegerAttr>(Name);
  return A ? A.getInt() : Default;
}

double OpCall::floatAttr(StringRef Name, double Default) const {
  FloatAttr A = Op->getAttrOfType<FloatAttr>(Name);
  return A ? A.getValueAsDouble() : Default;
}

StringRef OpCall::text(StringRef Name, StringRef Default) const {
  StringAttr A = Op->getAttrOfType<StringAttr>(Name);
  return A ? A.getValue() : Default;
}

//===----------------------------------------------------------------------===//
// Evaluator
//===----------------------------------------------------------------------===//

void Evaluator::bind(Value V, Tensor T) { set(V, std::move(T)); }

void Evaluator::set(Value V, Tensor T) {
  Values[V] = std::make_shared<const Tensor>(std::move(T));
}

const Tensor *Evaluator::lookup(Value V) const {
  auto It = Values.find(V);
  return It == Values.end() ? nullptr : It->second.get();
}

static std::string nameOfOp(Operation *Op) {
  std::string Text = Op->getName().getStringRef().str();
  if (NameLoc Loc = dyn_cast<NameLoc>(Op->getLoc()))
    Text += " '" + Loc.getName().str() + "'";
  return Text;
}

static Status at(Operation *Op, const Status &S) {
  return Status(S.code(), nameOfOp(Op) + ": " + S.message());
}

Result<std::vector<Value>> Evaluator::needs(Value V) {
  Operation *Op = V.getDefiningOp();
  if (!Op)
    return unsupportedError(
        "evaluation: an argument of the graph is not given");
  std::vector<Value> Out;
  onnx::IfOp If = dyn_cast<onnx::IfOp>(Op);
  if (!If) {
    for (Value Operand : Op->getOperands())
      if (!isa<NoneType>(Operand.getType()))
        Out.push_back(Operand);
    return Out;
  }
  const Tensor *Condition = lookup(If.getCond());
  if (!Condition) {
    Out.push_back(If.getCond());
    return Out;
  }
  if (Condition->count() != 1)
    return at(Op, malformedError("condition is " + describe(*Condition)));
  Region &Taken = Condition->Bytes[0] ? If.getThenBranch() : If.getElseBranch();
  unsigned Index = cast<OpResult>(V).getResultNumber();
  Out.push_back(Taken.front().getTerminator()->getOperand(Index));
  return Out;
}

Result<const Tensor *> Evaluator::evaluate(Value Wanted) {
  if (const Tensor *Known = lookup(Wanted))
    return Known;
  std::vector<Value> Stack{Wanted};
  while (!Stack.empty()) {
    Value V = Stack.back();
    if (lookup(V) || (V.getDefiningOp() && runShape(V.getDefiningOp()))) {
      Stack.pop_back();
      continue;
    }
    LLMC_RETURN_IF_ERROR(Limit.work(1));
    LLMC_ASSIGN_OR_RETURN(std::vector<Value> Needed, needs(V));
    size_t Before = Stack.size();
    for (Value N : Needed)
      if (!lookup(N))
        Stack.push_back(N);
    if (Stack.size() != Before)
      continue;
    Stack.pop_back();
    LLMC_RETURN_IF_ERROR(run(V));
  }
  return lookup(Wanted);
}

/// Values that V is computed from, whichever branch is taken.
static std::vector<Value> sourcesOf(Value V) {
  Operation *Op = V.getDefiningOp();
  std::vector<Value> Out;
  if (onnx::IfOp If = dyn_cast_or_null<onnx::IfOp>(Op)) {
    unsigned Index = cast<OpResult>(V).getResultNumber();
    Out.push_back(If.getCond());
    for (Region *R : If.getRegions())
      Out.push_back(R->front().getTerminator()->getOperand(Index));
  } else if (Op) {
    Out.assign(Op->operand_begin(), Op->operand_end());
  }
  return Out;
}

void Evaluator::countUses(const std::vector<Value> &Wanted) {
  Uses.clear();
  llvm::DenseSet<Operation *> Seen;
  std::vector<Value> Open(Wanted);
  for (Value V : Wanted)
    ++Uses[V]; // never given up
  while (!Open.empty()) {
    Value V = Open.back();
    Open.pop_back();
    Operation *Op = V.getDefiningOp();
    // A result of onnx.if is computed on its own, of other ops all at once.
    if (!Op || lookup(V) || (!isa<onnx::IfOp>(Op) && !Seen.insert(Op).second))
      continue;
    for (Value Source : sourcesOf(V))
      if (++Uses[Source] == 1)
        Open.push_back(Source);
  }
}

void Evaluator::release(Value V) {
  auto It = Uses.find(V);
  if (It == Uses.end() || --It->second > 0 || !V.getDefiningOp())
    return;
  Values.erase(V);
}

void Evaluator::releaseOperands(Operation *Op) {
  if (Uses.empty())
    return;
  for (Value Operand : Op->getOperands())
    release(Operand);
  for (Value Result : Op->getResults())
    if (!Uses.contains(Result))
      Values.erase(Result);
}

Result<std::vector<Tensor>>
Evaluator::evaluateOnce(const std::vector<Value> &Wanted) {
  countUses(Wanted);
  std::vector<Tensor> Out;
  for (Value V : Wanted) {
    LLMC_ASSIGN_OR_RETURN(const Tensor *T, evaluate(V));
    Out.push_back(*T);
  }
  Uses.clear();
  return Out;
}

Status Evaluator::run(Value V) {
  Operation *Op = V.getDefiningOp();
  if (isa<onnx::IfOp>(Op)) {
    LLMC_ASSIGN_OR_RETURN(std::vector<Value> Source, needs(V));
    Values[V] = Values[Source.front()];
    // The other branch's value is counted, too: it may stay for good.
    if (!Uses.empty())
      release(Source.front());
    return Status::success();
  }
  if (isa<onnx::WeightOp>(Op))
    return runWeight(Op);
  if (llm::QuantizedValueOp Codes = dyn_cast<llm::QuantizedValueOp>(Op)) {
    Result<Tensor> T = quantizedValue(Codes, Reader, Limit);
    if (!T)
      return at(Op, T.status());
    set(V, T.take());
    return Status::success();
  }
  if (onnx::ConstantOp Constant = dyn_cast<onnx::ConstantOp>(Op)) {
    Result<Tensor> T = fromAttribute(Limit, Constant.getValue());
    if (!T)
      return at(Op, T.status());
    set(V, T.take());
    return Status::success();
  }
  return runOp(Op);
}

/// Answers Shape from the oracle, without its operand.
bool Evaluator::runShape(Operation *Op) {
  Dims Shape;
  onnx::ShapeOp S = dyn_cast<onnx::ShapeOp>(Op);
  if (!S || !Shapes || lookup(S.getData()) || !Shapes(S.getData(), Shape))
    return false;
  // The op sees a tensor that has dims but no bytes.
  Tensor Hollow{DType::U8, Shape, {}};
  OpCall Call{Op, {&Hollow}, Limit};
  Result<std::vector<Tensor>> Out = (*handlerOf("onnx.shape"))(Call);
  if (!Out)
    return false;
  set(Op->getResult(0), std::move(Out->front()));
  releaseOperands(Op);
  return true;
}

Status Evaluator::runWeight(Operation *Op) {
  onnx::WeightOp Weight = cast<onnx::WeightOp>(Op);
  onnx::WeightDataOp Data =
      SymbolTable::lookupNearestSymbolFrom<onnx::WeightDataOp>(
          Op, Weight.getDataAttr());
  if (!Reader || !Data)
    return at(Op, unsupportedError("evaluation: weights cannot be read here"));
  ShapedType Type = cast<ShapedType>(Data.getType());
  if (Type.getNumElements() > Limit.elementsLeft())
    return at(Op, unsupportedError(
                      "evaluation: a weight of " +
                      std::to_string(Type.getNumElements()) + " elements, " +
                      std::to_string(Limit.elementsLeft()) + " are left"));
  std::vector<uint8_t> Bytes;
  if (Status S = Reader(Data, Bytes); !S.ok())
    return at(Op, S);
  Result<Tensor> T = fromFileBytes(Limit, Type, std::move(Bytes));
  if (!T)
    return at(Op, T.status());
  set(Weight.getOutput(), T.take());
  return Status::success();
}

Status Evaluator::runOp(Operation *Op) {
  const OpHandler *Handler = handlerOf(Op->getName().getStringRef());
  if (!Handler)
    return at(Op, unsupportedError("evaluation of this op is not available"));
  OpCall Call{Op, {}, Limit};
  for (Value Operand : Op->getOperands())
    Call.Inputs.push_back(lookup(Operand));
  Result<std::vector<Tensor>> Out = (*Handler)(Call);
  if (!Out)
    return at(Op, Out.status());
  if (Out->size() != Op->getNumResults())
    return at(Op, internalError("evaluation gave " +
                                std::to_string(Out->size()) + " results"));
  for (auto [Result, T] : llvm::zip(Op->getResults(), *Out))
    set(Result, std::move(T));
  releaseOperands(Op);
  return Status::success();
}

} // namespace llmc::eval
