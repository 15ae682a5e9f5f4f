// choose-precision: decides, for one target, how every weight is stored, how
// every product treats its activations and what the cache holds. Decisions are
// annotations, so that they can be read and changed between passes; llm-to-exe
// turns them into layouts and constants.
#include "passes/quant/Passes.h"
#include "passes/quant/TargetDesc.h"

#include "dialects/llm/LlmDialect.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/StringMap.h"

using namespace mlir;

namespace llmc {
#define GEN_PASS_DEF_CHOOSEPRECISION
#include "passes/quant/Passes.h.inc"

namespace {
struct Choice {
  StringRef Matrix;      ///< layout id
  StringRef Activations; ///< "f32" or "int8"
  Type KvCache;
};

class ChoosePrecision : public impl::ChoosePrecisionBase<ChoosePrecision> {
public:
  using ChoosePrecisionBase::ChoosePrecisionBase;

  void runOnOperation() override {
    std::optional<TargetDesc> Desc = describeTarget(target);
    if (!Desc) {
      getOperation().emitError("unknown target '") << target << "'";
      return signalPassFailure();
    }
    Choice C;
    if (failed(choose(*Desc, C)) || failed(annotateWeights(C)))
      return signalPassFailure();
    annotateOps(C);
    OpBuilder B(&getContext());
    getOperation()->setAttr("llm.target", B.getStringAttr(target));
    getOperation()->setAttr("llm.precision", B.getStringAttr(precision));
    getOperation()->setAttr("llm.kv_cache", TypeAttr::get(C.KvCache));
  }

private:
  LogicalResult choose(const TargetDesc &Desc, Choice &C);
  LogicalResult annotateWeights(const Choice &C);
  LogicalResult setLayout(StringRef Weight, StringRef Layout);
  void annotateOps(const Choice &C);
};

LogicalResult ChoosePrecision::choose(const TargetDesc &Desc, Choice &C) {
  bool Cpu = Desc.Kind == TargetKind::Cpu;
  StringRef P = precision, A = activations, Kv = kvCache;
  if (P == "int8")
    C.Matrix = Cpu ? "p16.w8b32" : "n.w8b32";
  else if (P == "f32" && Cpu)
    C.Matrix = "p16.f32";
  else if (P == "f16" && !Cpu)
    C.Matrix = "n.f16";
  else
    return getOperation().emitError("target ")
           << target << " has no precision '" << P << "', expected "
           << (Cpu ? "f32 or int8" : "f16 or int8");

  if (A != "auto" && A != "f32" && A != "int8")
    return getOperation().emitError("unknown precision of activations '")
           << A << "', expected auto, f32 or int8";
  if (A == "int8" && (!Cpu || P != "int8"))
    return getOperation().emitError("int8 activations need int8 weights on a "
                                    "CPU target, found ")
           << P << " weights on " << target;
  C.Activations = Cpu && P == "int8" && A != "f32" ? "int8" : "f32";

  OpBuilder B(&getContext());
  if (Kv == "f32" || (Kv == "auto" && P == "f32"))
    C.KvCache = B.getF32Type();
  else if (Kv == "f16" || Kv == "auto")
    C.KvCache = B.getF16Type();
  else
    return getOperation().emitError("unknown type of the cache '")
           << Kv << "', expected auto, f16 or f32";
  return success();
}

LogicalResult ChoosePrecision::setLayout(StringRef Weight, StringRef Layout) {
  llm::WeightOp Op = getOperation().lookupSymbol<llm::WeightOp>(Weight);
  StringAttr Old = Op->getAttrOfType<StringAttr>("llm.layout");
  if (Old && Old.getValue() != Layout)
    return Op.emitError("weight '") << Weight << "' is used as "
                                    << Old.getValue() << " and as " << Layout;
  Op->setAttr("llm.layout", StringAttr::get(&getContext(), Layout));
  return success();
}

/// True for the op's attributes that name a matrix; all others name a vector.
bool isMatrix(Operation *Op, StringRef Attr) {
  return Attr == "weight" &&
         isa<llm::EmbedOp, llm::LinearOp, llm::QkvOp, llm::LogitsOp>(Op);
}

LogicalResult ChoosePrecision::annotateWeights(const Choice &C) {
  for (llm::WeightOp Op : getOperation().getOps<llm::WeightOp>())
    Op->removeAttr("llm.layout");
  SymbolTable Symbols(getOperation());
  WalkResult Result = getOperation().walk([&](Operation *Op) {
    if (isa<llm::WeightOp>(Op) || Op == getOperation())
      return WalkResult::advance();
    for (NamedAttribute Attr : Op->getAttrs()) {
      FlatSymbolRefAttr Ref = dyn_cast<FlatSymbolRefAttr>(Attr.getValue());
      if (!Ref || !Symbols.lookup<llm::WeightOp>(Ref.getValue()))
        continue;
      StringRef Layout =
          isMatrix(Op, Attr.getName()) ? C.Matrix : StringRef("vec.f32");
      if (failed(setLayout(Ref.getValue(), Layout)))
        return WalkResult::interrupt();
    }
    return WalkResult::advance();
  });
  return failure(Result.wasInterrupted());
}

void ChoosePrecision::annotateOps(const Choice &C) {
  StringAttr Policy = StringAttr::get(&getContext(), C.Activations);
  getOperation().walk([&](Operation *Op) {
    if (isa<llm::LinearOp, llm::QkvOp, llm::LogitsOp>(Op))
      Op->setAttr("llm.activations", Policy);
  });
}
} // namespace
} // namespace llmc
