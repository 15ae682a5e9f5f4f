// fuse-gate-up: both products under a GLU become one llm.linear with a glu
// epilogue: x is read once and the wide gate and up rows never exist in memory.
#include "passes/fusion/FusionRemarks.h"
#include "passes/fusion/Passes.h"
#include "passes/fusion/WeightTable.h"

#include "mlir/IR/Builders.h"

using namespace mlir;

namespace llmc {
#define GEN_PASS_DEF_FUSEGATEUP
#include "passes/fusion/Passes.h.inc"

namespace {
/// Rows that alternate; a panel of the packed layouts.
constexpr int64_t Stripe = 16;

/// "" when Op is a product that a GLU can take over, else why not.
std::string checkProduct(llm::LinearOp Op, StringRef What) {
  if (!Op)
    return (What + " is not a product").str();
  if (!Op->hasOneUse())
    return ("the product of " + What + " has other users").str();
  if (Op.getResidual() || Op.getNorm() != llm::NormKind::none ||
      Op.getActivation() != llm::ActivationKind::none ||
      Op.getGlu() != llm::ActivationKind::none)
    return ("the product of " + What + " has a prologue or epilogue").str();
  return {};
}

std::string match(llm::GluOp Glu, const WeightTable &Weights,
                  llm::LinearOp &Gate, llm::LinearOp &Up) {
  Gate = Glu.getGate().getDefiningOp<llm::LinearOp>();
  Up = Glu.getUp().getDefiningOp<llm::LinearOp>();
  std::string Why = checkProduct(Gate, "gate");
  if (Why.empty())
    Why = checkProduct(Up, "up");
  if (!Why.empty())
    return Why;
  if (Gate.getX() != Up.getX())
    return "gate and up are products of different rows";
  if (Gate.getBias().has_value() != Up.getBias().has_value())
    return "only one of gate and up has a bias";
  if (!Weights.sameForm({Gate.getWeight(), Up.getWeight()}))
    return "the file holds gate and up in different forms";
  int64_t N = cast<RankedTensorType>(Glu.getType()).getShape().back();
  if (N % Stripe != 0)
    return "n is " + std::to_string(N) + ", not a multiple of " +
           std::to_string(Stripe);
  return {};
}

/// Rows of two weights (matrices or biases of the two products), alternating.
llm::WeightOp interleave(WeightTable &Weights, StringRef GateName,
                         StringRef UpName, llm::LinearOp GateUser,
                         llm::LinearOp UpUser, StringRef Role) {
  llm::WeightOp Gate = Weights.lookup(GateName), Up = Weights.lookup(UpName);
  int64_t N = cast<RankedTensorType>(Gate.getType()).getDimSize(0);
  Pieces List;
  for (int64_t Row = 0; Row != N; Row += Stripe) {
    WeightTable::append(List, Gate, Row, Stripe);
    WeightTable::append(List, Up, Row, Stripe);
  }
  return Weights.create(List, {Gate, Up}, {GateUser, UpUser}, Role);
}

class FuseGateUp : public impl::FuseGateUpBase<FuseGateUp> {
public:
  void runOnOperation() override {
    WeightTable Weights(getOperation());
    llvm::SmallVector<llm::GluOp> Anchors;
    getOperation().walk([&](llm::GluOp Op) { Anchors.push_back(Op); });
    for (llm::GluOp Glu : Anchors) {
      llm::LinearOp Gate, Up;
      std::string Why = match(Glu, Weights, Gate, Up);
      if (Why.empty())
        rewrite(Glu, Gate, Up, Weights);
      else
        remarkMissed("fuse-gate-up", Glu, Why);
    }
    Weights.eraseUnused();
  }

private:
  void rewrite(llm::GluOp Glu, llm::LinearOp Gate, llm::LinearOp Up,
               WeightTable &Weights) {
    llm::WeightOp W = interleave(Weights, Gate.getWeight(), Up.getWeight(),
                                 Gate, Up, "gate_up");
    FlatSymbolRefAttr Bias;
    if (Gate.getBias())
      Bias = FlatSymbolRefAttr::get(interleave(
          Weights, *Gate.getBias(), *Up.getBias(), Gate, Up, "gate_up_bias"));
    OpBuilder B(Glu);
    llm::LinearOp Fused = llm::LinearOp::create(
        B, fusedLoc({Gate, Up, Glu}), Glu.getType(), Gate.getX(), Value(),
        W.getSymName(), Bias, llm::NormKind::none, nullptr, nullptr,
        llvm::APFloat(0.0f), llm::ActivationKind::none, Glu.getKind());
    remarkFused("fuse-gate-up", {Gate, Up, Glu});
    Glu.replaceAllUsesWith(Fused.getResult());
    Glu.erase();
    Gate.erase();
    Up.erase();
  }
};
} // namespace
} // namespace llmc
