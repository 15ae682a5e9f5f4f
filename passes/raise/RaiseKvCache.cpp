// Finds which output continues which cache input, by structure: the output is
// made of that input by moving elements only (Concat with the new tokens, or a
// scatter of them into a cache of fixed size, in whatever layout). Names and
// order of inputs and outputs do not matter. What the layout means is proved
// later, when raise-attention evaluates a block over two steps.
#include "passes/raise/CacheNames.h"
#include "passes/raise/Cone.h"
#include "passes/raise/Match.h"
#include "passes/raise/Passes.h"

namespace llmc::raise {
#define GEN_PASS_DEF_RAISEKVCACHE
#include "passes/raise/Passes.h.inc"
} // namespace llmc::raise

using namespace mlir;

namespace llmc::raise {
namespace {

struct RaiseKvCache : impl::RaiseKvCacheBase<RaiseKvCache> {
  void runOnOperation() override {
    func::FuncOp Main = graphOf(getOperation());
    if (!Main)
      return;
    Block &Body = Main.getBody().front();
    returnWholeCaches(Main);
    constexpr int64_t Shown = 4;
    int64_t Pairs = 0, Crossed = 0;
    for (unsigned I = 0; I < Main.getNumArguments(); ++I)
      Main.removeArgAttr(I, CacheAttr);
    for (unsigned I = 0; I < Main.getNumResults(); ++I)
      Main.removeResultAttr(I, StringAttr::get(&getContext(), CacheAttr));
    for (OpOperand &Returned : Body.getTerminator()->getOpOperands()) {
      BlockArgument Past = pastOf(Returned.get());
      if (!Past)
        continue;
      if (Main.getArgAttr(Past.getArgNumber(), CacheAttr)) {
        missed("raise-kv-cache", Body.getTerminator(),
               "input '" + argName(Past) + "' is continued by two outputs");
        continue;
      }
      auto Number =
          IntegerAttr::get(IntegerType::get(&getContext(), 64), Pairs++);
      Main.setArgAttr(Past.getArgNumber(), CacheAttr, Number);
      Main.setResultAttr(Returned.getOperandNumber(), CacheAttr, Number);
      StringAttr Present = Main.getResultAttrOfType<StringAttr>(
          Returned.getOperandNumber(), onnx::NameAttr);
      if (!Present || !namesContradict(argName(Past), Present.getValue()))
        continue;
      if (++Crossed <= Shown)
        Main.emitWarning() << "cache input '" << argName(Past)
                           << "' is continued by output '" << Present.getValue()
                           << "', whatever their names say";
    }
    if (Crossed > Shown)
      Main.emitWarning() << Crossed - Shown
                         << " more cache inputs are continued by outputs with "
                            "other names";
  }

  /// Some files give the new rows alone, and their caller puts them behind the
  /// others: such an output becomes the whole cache.
  void returnWholeCaches(func::FuncOp Main) {
    Operation *Return = Main.getBody().front().getTerminator();
    llvm::DenseSet<Value> Continued;
    for (Value Out : Return->getOperands())
      if (BlockArgument Past = pastOf(Out))
        Continued.insert(Past);
    for (BlockArgument Arg : Main.getArguments()) {
      if (!isa<FloatType>(getElementTypeOrSelf(Arg.getType())) ||
          Continued.contains(Arg))
        continue;
      for (Operation *User : Arg.getUsers()) {
        auto Concat = dyn_cast<onnx::ConcatOp>(User);
        if (!Concat || Concat.getInputs().size() != 2 ||
            Concat.getInputs()[0] != Arg)
          continue;
        for (OpOperand &Out : Return->getOpOperands()) {
          if (skip(Out.get()) != skip(Concat.getInputs()[1]) ||
              !isa<RankedTensorType>(Concat.getType()))
            continue;
          Out.set(Concat);
          auto Type = Main.getFunctionType();
          SmallVector<mlir::Type> Results(Type.getResults());
          Results[Out.getOperandNumber()] = Concat.getType();
          Main.setFunctionType(
              FunctionType::get(&getContext(), Type.getInputs(), Results));
          passed("raise-kv-cache", Concat, "new rows as the whole cache");
          break;
        }
      }
    }
  }

  /// The one float input that V is made of by moving elements; null if V is
  /// that input itself, or no Concat adds something to it.
  BlockArgument pastOf(Value V) {
    // A state that an op replaces.
    if (Operation *Op = V.getDefiningOp())
      if (StringRef Name = Op->getName().stripDialect();
          Name.ends_with("causal_conv_with_state") ||
          Name.ends_with("linear_attention"))
        if (Op->getNumOperands() > 3 && V == Op->getResult(1))
          return dyn_cast<BlockArgument>(skip(Op->getOperand(3)));
    BlockArgument Past;
    bool Grows = false;
    llvm::SetVector<Value> Work;
    Work.insert(V);
    for (size_t I = 0; I < Work.size(); ++I) {
      Value Next = Work[I];
      if (auto Arg = dyn_cast<BlockArgument>(Next)) {
        if (!isa<FloatType>(getElementTypeOrSelf(Arg.getType())) ||
            (Past && Past != Arg))
          return {};
        Past = Arg;
        continue;
      }
      Operation *Op = Next.getDefiningOp();
      if (isCacheUpdate(Op)) {
        Grows = true;
        Work.insert(Op->getOperand(0)); // what it is written into
        continue;
      }
      if (!isMovement(Op))
        continue;
      if (auto Concat = dyn_cast<onnx::ConcatOp>(Op)) {
        Grows |= Concat.getInputs().size() > 1;
        Work.insert(Op->operand_begin(), Op->operand_end());
      } else {
        Work.insert(Op->getOperand(0)); // the rest are shapes and indices
      }
    }
    return Grows ? Past : BlockArgument();
  }
};
} // namespace
} // namespace llmc::raise
