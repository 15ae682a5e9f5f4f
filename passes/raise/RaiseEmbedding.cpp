// Gather of a table of the file by the graph's token ids becomes llm.embed;
// which input holds the tokens is decided in one place, Roles.h. A Gather that
// is added to token rows and whose indices are, on samples, the positions plus
// a constant is a table of learned positions: llm.embed of
// llm.padded_positions. Any other Gather (rope tables, shapes) is not touched.
#include "passes/raise/Match.h"
#include "passes/raise/Passes.h"
#include "passes/raise/Probe.h"
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
    for (BlockArgument Arg : Main.getArguments())
      if (R.of(Arg) == Role::Types && !Arg.use_empty())
        Main.emitWarning() << "input '" << argName(Arg)
                           << "' is taken as 0 for every token";
    WeightMaker Weights(getOperation());
    for (Operation &Op : llvm::make_early_inc_range(Main.getBody().front()))
      if (auto Gather = dyn_cast<onnx::GatherOp>(Op))
        if (!raisePositions(Main, Gather, R, Weights))
          raise(Gather, R, Weights);
    eraseDead(Main.getBody().front());
  }

  /// What the indices are more than the positions, if always the same.
  std::optional<int64_t> offsetFromPositions(func::FuncOp Main, const Roles &R,
                                             Value Indices) {
    int64_t Past = R.find(Role::Past) ? 2 : 0;
    std::optional<int64_t> Offset;
    for (bool Shuffled : {false, true}) {
      Sample S{Past, 5, {}, 0};
      if (Shuffled && R.find(Role::Positions))
        S.Positions = {4, 0, 3, 2, 1};
      Probe P(Main, R, nullptr, S);
      Result<const eval::Tensor *> Got = P.evaluate(Indices);
      if (!Got || (*Got)->count() != S.Seq)
        return std::nullopt;
      for (int64_t I = 0; I < S.Seq; ++I) {
        int64_t Mine = eval::intAt(**Got, I) - S.position(I);
        if (Offset && *Offset != Mine)
          return std::nullopt;
        Offset = Mine;
      }
    }
    return Offset;
  }

  /// Learned positions, added to token rows.
  bool raisePositions(func::FuncOp Main, onnx::GatherOp Gather, Roles &R,
                      WeightMaker &Weights) {
    auto Add = dyn_cast_or_null<onnx::AddOp>(onlyUser(Gather));
    BlockArgument Ids = R.find(Role::Tokens);
    if (!Add || !Ids || Gather.getAxis() != 0 ||
        R.isData(Gather.getIndices()) || rankOf(Gather) < 2 ||
        !(R.isData(Add.getLhs()) || R.isData(Add.getRhs())))
      return false;
    std::optional<WeightView> Table = Weights.view(Gather.getData());
    if (!Table || Table->Shape.size() != 2)
      return false;
    std::optional<int64_t> Offset =
        offsetFromPositions(Main, R, Gather.getIndices());
    int64_t Rows = Table->Shape[0];
    if (!Offset || *Offset < 0 || *Offset >= Rows) {
      missed("raise-embedding", Gather, "indices are not the positions");
      return true;
    }
    FlatSymbolRefAttr Weight = Weights.matrix(*Table, /*InOut=*/false);
    if (*Offset > 0)
      Weight = Weights.rows(Weight,
                            llvm::to_vector(llvm::seq<int64_t>(*Offset, Rows)));
    OpBuilder B(Gather);
    auto Positions =
        llm::PaddedPositionsOp::create(B, Gather.getLoc(), Ids.getType(), Ids);
    auto Embed =
        llm::EmbedOp::create(B, Gather.getLoc(), Gather.getType(), Positions,
                             Weight, B.getF32FloatAttr(1.0f));
    Gather.replaceAllUsesWith(Embed.getResult());
    passed("raise-embedding", Embed, "llm.embed of positions");
    return true;
  }

  void raise(onnx::GatherOp Gather, Roles &R, WeightMaker &Weights) {
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
    R.markData(Embed);
    passed("raise-embedding", Embed, "llm.embed");
  }
};
} // namespace
} // namespace llmc::raise
