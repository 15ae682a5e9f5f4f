// Gather of a table of the file by the graph's token ids becomes llm.embed.
// Gathers by other indices (positions, shapes) are not touched: which input
// holds the tokens is decided in one place, Roles.h.
#include "passes/raise/Match.h"
#include "passes/raise/Passes.h"
#include "passes/raise/Roles.h"
#include "passes/raise/Weights.h"

namespace llmc::raise {
#define GEN_PASS_DEF_RAISEEMBEDDING
#include "passes/raise/Passes.h.inc"
} // namespace llmc::raise

using namespace mlir;

namespace llmc::raise {
namespace {

struct RaiseEmbedding : impl::RaiseEmbeddingBase<RaiseEmbedding> {
  void runOnOperation() override {
    func::FuncOp Main = graphOf(getOperation());
    if (!Main)
      return;
    Roles R(Main);
    WeightMaker Weights(getOperation());
    for (Operation &Op : llvm::make_early_inc_range(Main.getBody().front()))
      if (auto Gather = dyn_cast<onnx::GatherOp>(Op))
        raise(Gather, R, Weights);
    eraseDead(Main.getBody().front());
  }

  void raise(onnx::GatherOp Gather, const Roles &R, WeightMaker &Weights) {
    BlockArgument Arg = indexArgument(Gather.getIndices());
    if (!Arg || Gather.getAxis() != 0)
      return;
    std::optional<WeightView> Table = Weights.view(Gather.getData());
    if (!Table || Table->Shape.size() != 2)
      return;
    if (R.of(Arg) != Role::Tokens)
      return missed("raise-embedding", Gather,
                    "indices are not the token input");
    if (!isa<RankedTensorType>(Gather.getType()) || featuresOf(Gather) < 0)
      return missed("raise-embedding", Gather, "unknown number of features");
    Operation *Last = Gather;
    double Scale = 1;
    if (Gather->hasOneUse())
      if (auto Mul = dyn_cast<onnx::MulOp>(*Gather->user_begin()))
        if (Value C = other(Mul, [&](Value V) { return V == Gather; }))
          if (std::optional<double> S = scalar(C)) {
            Scale = *S;
            Last = Mul;
          }
    OpBuilder B(Last);
    auto Embed = llm::EmbedOp::create(
        B, Gather.getLoc(), Last->getResult(0).getType(), Gather.getIndices(),
        Weights.matrix(*Table, /*InOut=*/false), B.getF32FloatAttr(Scale));
    Last->getResult(0).replaceAllUsesWith(Embed);
    passed("raise-embedding", Embed, "llm.embed");
  }
};
} // namespace
} // namespace llmc::raise
