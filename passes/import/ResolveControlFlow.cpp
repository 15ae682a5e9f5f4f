// llmc-resolve-control-flow: decides every onnx.if that can be decided before
// the model runs. The importer has put both branches among the other ops, so
// an If only chooses among finished values.
#include "dialects/onnx/Onnx.h"
#include "passes/import/Passes.h"
#include "passes/import/ShapeAnalysis.h"
#include "passes/util/DeadCode.h"

namespace llmc {
#define GEN_PASS_DEF_RESOLVECONTROLFLOW
#include "passes/import/Passes.h.inc"

using namespace mlir;

namespace {
/// Whether an If takes the branch of the condition's true value.
enum class Side { Then, Else };

OperandRange yielded(onnx::IfOp If, Side S) {
  Region &R = S == Side::Then ? If.getThenBranch() : If.getElseBranch();
  return R.front().getTerminator()->getOperands();
}

/// The argument that a condition is, through ops that keep a truth value, and
/// whether it is negated on the way; nothing when it depends on more.
struct Flag {
  BlockArgument Arg;
  bool Negated = false;
};

std::optional<Flag> flagOf(Value Condition) {
  Flag F;
  while (Operation *Op = Condition.getDefiningOp()) {
    if (isa<onnx::NotOp>(Op))
      F.Negated = !F.Negated;
    else if (!isa<onnx::IdentityOp, onnx::CastOp, onnx::SqueezeOp,
                  onnx::UnsqueezeOp, onnx::ReshapeOp, onnx::FlattenOp>(Op))
      return std::nullopt;
    Condition = Op->getOperand(0);
  }
  F.Arg = dyn_cast<BlockArgument>(Condition);
  return F.Arg ? std::optional<Flag>(F) : std::nullopt;
}

bool isBool(Value V) {
  TensorType T = dyn_cast<TensorType>(V.getType());
  return T && T.getElementType().isInteger(1);
}

/// How many float arguments the values depend on: caches, where a branch uses
/// them.
size_t numFloatInputs(ValueRange Roots) {
  llvm::DenseSet<Value> Seen, Inputs;
  SmallVector<Value> Stack(Roots);
  while (!Stack.empty()) {
    Value V = Stack.pop_back_val();
    if (!Seen.insert(V).second)
      continue;
    Operation *Op = V.getDefiningOp();
    if (!Op) {
      TensorType T = dyn_cast<TensorType>(V.getType());
      if (T && isa<FloatType>(T.getElementType()))
        Inputs.insert(V);
      continue;
    }
    llvm::append_range(Stack, Op->getOperands());
    for (Region &R : Op->getRegions())
      for (Block &B : R)
        llvm::append_range(Stack, B.getTerminator()->getOperands());
  }
  return Inputs.size();
}

class Resolver {
public:
  explicit Resolver(func::FuncOp F) : F(F) {}

  /// Number of Ifs that are gone.
  int64_t run() {
    bool Changed = true;
    while (Changed) {
      Changed = false;
      Shapes = std::make_unique<ShapeAnalysis>(F);
      SmallVector<onnx::IfOp> Ifs(F.getOps<onnx::IfOp>());
      for (onnx::IfOp If : Ifs)
        Changed |= visit(If);
    }
    eraseDeadOps(F.getBody());
    dropFlags();
    updateResultTypes(F);
    return Resolved;
  }

private:
  bool visit(onnx::IfOp If) {
    if (std::optional<Side> S = known(If)) {
      take(If, *S);
      return true;
    }
    // A flag without meaning for the values: which implementation of the same
    // step runs. One decoder does for both: the one that has a past, which may
    // be empty.
    std::optional<Flag> Switch = flagOf(If.getCond());
    if (Switch && isBool(Switch->Arg)) {
      size_t Then = numFloatInputs(yielded(If, Side::Then));
      size_t Else = numFloatInputs(yielded(If, Side::Else));
      if (Then != Else) {
        Flags.insert(Switch->Arg.getArgNumber());
        take(If, Then > Else ? Side::Then : Side::Else);
        return true;
      }
    }
    return dropEqual(If);
  }

  /// The side that the condition's value says, where it is known.
  std::optional<Side> known(onnx::IfOp If) {
    const ValueInfo &Info = Shapes->of(If.getCond());
    if (!Info.HasData || Info.Data.size() != 1 || !Info.Data[0])
      return std::nullopt;
    std::optional<int64_t> C = Info.Data[0]->constant();
    if (!C)
      return std::nullopt;
    return *C ? Side::Then : Side::Else;
  }

  void take(onnx::IfOp If, Side S) {
    If.getOutputs().replaceAllUsesWith(yielded(If, S));
    If.erase();
    ++Resolved;
  }

  /// Results that both branches give alike.
  bool dropEqual(onnx::IfOp If) {
    bool Changed = false, AnyUsed = false;
    for (auto [R, Then, Else] :
         llvm::zip(If.getResults(), yielded(If, Side::Then),
                   yielded(If, Side::Else))) {
      if (Then == Else && !R.use_empty()) {
        R.replaceAllUsesWith(Then);
        Changed = true;
      }
      AnyUsed |= !R.use_empty();
    }
    if (AnyUsed)
      return Changed;
    If.erase();
    ++Resolved;
    return true;
  }

  /// Flags that nothing reads any more are no inputs of the model.
  void dropFlags() {
    for (unsigned I = F.getNumArguments(); I-- > 0;)
      if (Flags.contains(I) && F.getArgument(I).use_empty())
        (void)F.eraseArgument(I);
  }

  func::FuncOp F;
  std::unique_ptr<ShapeAnalysis> Shapes;
  llvm::DenseSet<unsigned> Flags;
  int64_t Resolved = 0;
};

class ResolveControlFlowPass
    : public impl::ResolveControlFlowBase<ResolveControlFlowPass> {
public:
  void runOnOperation() override {
    for (func::FuncOp F : getOperation().getOps<func::FuncOp>())
      if (!F.isExternal() && !F.getOps<onnx::IfOp>().empty())
        NumResolved += Resolver(F).run();
  }
};
} // namespace
} // namespace llmc
