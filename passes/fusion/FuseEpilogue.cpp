// fuse-epilogue: activation and residual addition behind a product move into
// it, so that its result is written once and no phase (and barrier) is spent on
// an elementwise op. (A bias is already part of the product when raising ends.)
#include "passes/fusion/FusionRemarks.h"
#include "passes/fusion/Passes.h"

#include "dialects/llm/LlmDialect.h"

using namespace mlir;

namespace llmc {
#define GEN_PASS_DEF_FUSEEPILOGUE
#include "passes/fusion/Passes.h.inc"

namespace {
constexpr StringRef Name = "fuse-epilogue";

bool isPlain(llm::LinearOp Op) {
  return !Op.getResidual() && Op.getActivation() == llm::ActivationKind::none &&
         Op.getGlu() == llm::ActivationKind::none;
}

class FuseEpilogue : public impl::FuseEpilogueBase<FuseEpilogue> {
public:
  void runOnOperation() override {
    llvm::SmallVector<Operation *> Anchors;
    getOperation().walk([&](Operation *Op) {
      if (isa<llm::ActivationOp, llm::AddOp>(Op))
        Anchors.push_back(Op);
    });
    for (Operation *Op : Anchors) {
      if (llm::ActivationOp Act = dyn_cast<llm::ActivationOp>(Op))
        fuseActivation(Act);
      else
        fuseResidual(cast<llm::AddOp>(Op));
    }
  }

private:
  void fuseActivation(llm::ActivationOp Act);
  void fuseResidual(llm::AddOp Add);
};

void FuseEpilogue::fuseActivation(llm::ActivationOp Act) {
  llm::LinearOp Product = Act.getX().getDefiningOp<llm::LinearOp>();
  if (!Product)
    return;
  if (!Product->hasOneUse() || !isPlain(Product)) {
    remarkMissed(Name, Act,
                 isPlain(Product) ? "the product has other users"
                                  : "the product has an epilogue");
    return;
  }
  remarkFused(Name, {Product, Act});
  Product.setActivation(Act.getKind());
  Product->setLoc(fusedLoc({Product, Act}));
  Act.replaceAllUsesWith(Product.getResult());
  Act.erase();
}

/// The product that a residual addition goes into: of two candidates the later
/// one, whose own residual is then there already. Why: the reason against.
llm::LinearOp candidate(llm::AddOp Add, std::string &Why) {
  llm::LinearOp Best;
  for (Value V : {Add.getA(), Add.getB()}) {
    llm::LinearOp Op = V.getDefiningOp<llm::LinearOp>();
    if (!Op || Op->getBlock() != Add->getBlock())
      continue;
    if (!Op->hasOneUse())
      Why = "the product has other users";
    else if (Op.getResidual())
      Why = "the product has a residual";
    else if (!Best || Best->isBeforeInBlock(Op))
      Best = Op;
  }
  return Best;
}

void FuseEpilogue::fuseResidual(llm::AddOp Add) {
  std::string Why = "neither side is a product";
  llm::LinearOp Product = candidate(Add, Why);
  if (!Product) {
    remarkMissed(Name, Add, Why);
    return;
  }
  Value Residual = Add.getA() == Product.getResult() ? Add.getB() : Add.getA();
  remarkFused(Name, {Product, Add});
  // The residual may come after the product, which is pure: move it down.
  Product->moveBefore(Add);
  Product.getResidualMutable().assign(Residual);
  Product->setLoc(fusedLoc({Product, Add}));
  Add.replaceAllUsesWith(Product.getResult());
  Add.erase();
}
} // namespace
} // namespace llmc
