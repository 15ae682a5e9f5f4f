// fuse-norm-linear: a norm moves into the prologue of the products that read
// it. A row is small, so that every product norming it again costs less than a
// phase of its own. All users must take it, else the norm stays and would only
// be computed more often.
#include "passes/fusion/FusionRemarks.h"
#include "passes/fusion/Passes.h"

#include "dialects/llm/LlmDialect.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace llmc {
#define GEN_PASS_DEF_FUSENORMLINEAR
#include "passes/fusion/Passes.h.inc"

namespace {
constexpr StringRef Name = "fuse-norm-linear";

template <typename OpTy> bool takesNorm(OpTy Op, Value Norm) {
  for (OpOperand &Use : Op->getOpOperands())
    if (Use.get() == Norm && Use.get() != Op.getX())
      return false;
  return Op.getX() == Norm && Op.getNorm() == llm::NormKind::none &&
         llvm::count(Op->getOperands(), Norm) == 1;
}

/// True when a user reads the norm as the x of a product without norm.
bool takesNorm(Operation *User, Value Norm) {
  return llvm::TypeSwitch<Operation *, bool>(User)
      .Case<llm::LinearOp, llm::QkvOp, llm::LogitsOp, llm::TakeRowsOp>(
          [&](auto Op) { return takesNorm(Op, Norm); })
      .Default([](Operation *) { return false; });
}

void giveNorm(Operation *User, llm::NormOp Norm) {
  llvm::TypeSwitch<Operation *>(User)
      .Case<llm::LinearOp, llm::QkvOp, llm::LogitsOp, llm::TakeRowsOp>(
          [&](auto Op) {
            Op.getXMutable().assign(Norm.getX());
            Op.setNorm(Norm.getKind());
            Op.setGainAttr(Norm.getGainAttr());
            Op.setNormBiasAttr(Norm.getBiasAttr());
            Op.setEpsAttr(Norm.getEpsAttr());
          });
}

std::string whyNot(llm::NormOp Norm) {
  if (Norm.getHeads() != 1)
    return "it norms each head";
  if (Norm->use_empty())
    return "it has no user";
  for (Operation *User : Norm->getUsers())
    if (!takesNorm(User, Norm.getResult()))
      return "a user cannot take it: " + nodeList({User});
  return {};
}

class FuseNormLinear : public impl::FuseNormLinearBase<FuseNormLinear> {
public:
  void runOnOperation() override {
    llvm::SmallVector<llm::NormOp> Norms;
    getOperation().walk([&](llm::NormOp Op) { Norms.push_back(Op); });
    for (llm::NormOp Norm : Norms) {
      std::string Why = whyNot(Norm);
      if (!Why.empty()) {
        remarkMissed(Name, Norm, Why);
        continue;
      }
      llvm::SmallVector<Operation *> Users(Norm->getUsers());
      llvm::sort(Users, [](Operation *A, Operation *B) {
        return A->isBeforeInBlock(B);
      });
      for (Operation *User : Users) {
        remarkFused(Name, {Norm, User});
        giveNorm(User, Norm);
        User->setLoc(fusedLoc({Norm, User}));
      }
      Norm.erase();
    }
  }
};
} // namespace
} // namespace llmc
