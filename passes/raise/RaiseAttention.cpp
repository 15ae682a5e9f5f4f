// Attention blocks become llm.padded_attention.
//
// From the structure come only the ends of a block: what the products of
// queries, keys and values are made of at the bottom and the merged heads at
// the top. What is between them (head layout, grouped heads, where the scale
// sits, casts, guards against NaN, masks, sinks, how the cache is laid out) is
// not matched but proved by evaluation: AttentionProof.
#include "passes/raise/AttentionProof.h"
#include "passes/raise/Heads.h"
#include "passes/raise/Match.h"
#include "passes/raise/Passes.h"
#include "passes/raise/ReadingPass.h"
#include "passes/util/Rounding.h"

#include "llvm/ADT/SetVector.h"

#include <cmath>

namespace llmc::raise {
#define GEN_PASS_DEF_RAISEATTENTION
#include "passes/raise/Passes.h.inc"
} // namespace llmc::raise

using namespace mlir;

namespace llmc::raise {
namespace {

/// Fills what raise-mask left on the softmax; why it is not usable, or empty.
std::string readMask(onnx::SoftmaxOp Softmax, Attention &A) {
  if (auto Reason = Softmax->getAttrOfType<StringAttr>(MaskFailureAttr))
    return Reason.str();
  auto Window = Softmax->getAttrOfType<IntegerAttr>(WindowAttr);
  if (!Window)
    return "its mask was not evaluated (llmc-raise-mask)";
  A.Rule.Window = Window.getInt();
  if (auto Chunk = Softmax->getAttrOfType<IntegerAttr>(ChunkAttr))
    A.Rule.Chunk = Chunk.getInt();
  if (auto Step = Softmax->getAttrOfType<IntegerAttr>(StepAttr))
    A.StepTokens = Step.getInt();
  if (auto Heads = Softmax->getAttrOfType<DenseF64ArrayAttr>(SlopesAttr))
    A.Rule.Slopes.assign(Heads.asArrayRef().begin(), Heads.asArrayRef().end());
  if (auto Heads = Softmax->getAttrOfType<DenseF64ArrayAttr>(SinksAttr))
    A.Rule.Sinks.assign(Heads.asArrayRef().begin(), Heads.asArrayRef().end());
  return {};
}

/// What was no rotation among that which the scores are made of, or empty: it
/// is why queries and keys are no rows.
std::string rotationAbove(onnx::MatMulOp Scores) {
  llvm::SetVector<Value> Work;
  Work.insert(Scores.getA());
  Work.insert(Scores.getB());
  for (size_t I = 0; I < Work.size() && I < 64; ++I) {
    Operation *Op = Work[I].getDefiningOp();
    if (!Op || !isa<onnx::OnnxDialect>(Op->getDialect()))
      continue;
    if (auto Why = Op->getAttrOfType<StringAttr>(RopeFailureAttr))
      return " (of the rotation at '" + nodeName(Op) + "': " + Why.str() + ")";
    Work.insert(Op->operand_begin(), Op->operand_end());
  }
  return {};
}

struct RaiseAttention : ReadingPass<impl::RaiseAttentionBase<RaiseAttention>> {
  using ReadingPass::ReadingPass;

  void runOnGraph(func::FuncOp Main) override {
    Roles R(Main);
    Prover P(Main, R, Reader);
    WeightMaker Weights(getOperation());
    int64_t Layer = 0;
    bool Failed = false;
    for (Operation &Op : llvm::make_early_inc_range(Main.getBody().front())) {
      auto Softmax = dyn_cast<onnx::SoftmaxOp>(Op);
      if (!Softmax || !R.isData(Softmax.getOutput()))
        continue;
      Attention A;
      A.Block = blockOf(Softmax, R);
      if (!A.Block.Scores && !A.Block.Mix) {
        // A router or another softmax: what is left of it is reported later.
        missed("raise-attention", Softmax, A.Block.Failure);
        continue;
      }
      std::string Why = A.Block.Failure;
      if (Why.empty())
        Why = readMask(Softmax, A);
      if (Why.empty())
        Why = P.prove(A);
      if (Why.empty()) {
        create(A, R, Weights, Layer++);
        continue;
      }
      Failed = true;
      InFlightDiagnostic Error = Softmax.emitError();
      Error << "attention at '" << nodeName(Softmax) << "'";
      if (A.Block.Scores)
        Error << " with scores '" << nodeName(A.Block.Scores) << "'";
      if (A.Block.Mix)
        Error << " and values '" << nodeName(A.Block.Mix) << "'";
      Error << " is not supported: " << Why;
      if (A.Block.Scores)
        Error << rotationAbove(A.Block.Scores);
    }
    if (Failed)
      return signalPassFailure();
    eraseDead(Main.getBody().front());
  }

  FlatSymbolRefAttr perHead(WeightMaker &Weights, StringRef Name,
                            ArrayRef<double> Values) {
    if (Values.empty())
      return {};
    std::vector<float> Data(Values.begin(), Values.end());
    return Weights.inlined(Name, {int64_t(Data.size())}, Data);
  }

  /// The file's roundings; those of scores in units of scaled scores.
  void keepRoundings(const Attention &A, Operation *New) {
    onnx::SoftmaxOp Softmax = A.Block.Softmax;
    Rounding Scores = roundingAt(Softmax, ScoreRoundingAttr);
    Scores.Step *= A.Scale / (A.Q.Scale * A.K.Scale);
    setRounding(New, ScoreRoundingAttr, Scores);
    setRounding(New, ProbRoundingAttr, roundingAt(Softmax, ProbRoundingAttr));
  }

  void create(const Attention &A, Roles &R, WeightMaker &Weights,
              int64_t Layer) {
    Value Output = A.Block.Output;
    OpBuilder B(Output.getDefiningOp());
    OpBuilder Top(graphOf(getOperation()));
    std::string Name = "l" + std::to_string(Layer) + ".kv";
    Location Loc = onnx::MatMulOp(A.Block.Mix).getLoc();
    llm::StateOp::create(Top, Loc, Name, "paged_kv", Layer, A.KvHeads, A.Dim,
                         A.VDim);
    auto Rows = [&](const RowMap &Map, int64_t Count) {
      return selectRows(B, Map.Leaf, A.features(Map, Count), Weights, R);
    };
    Value Q = Rows(A.Q, A.Heads), K = Rows(A.K, A.KvHeads),
          V = Rows(A.V, A.KvHeads);
    if (A.V.Scale != 1) {
      V = llm::ScaleOp::create(B, Loc, V.getType(), V,
                               llvm::APFloat(float(A.V.Scale)));
      R.markData(V);
    }
    auto New = llm::PaddedAttentionOp::create(
        B, Loc, Output.getType(), Q, K, V, Name, A.Heads,
        llvm::APFloat(float(A.Scale)), A.Rule.Window,
        llvm::APFloat(float(A.Softcap)), A.Rule.Chunk,
        perHead(Weights, "slopes", A.Rule.Slopes),
        perHead(Weights, "sinks", A.Rule.Sinks));
    keepRoundings(A, New);
    Output.replaceAllUsesWith(New);
    R.markData(New);
    passed("raise-attention", New,
           Twine(A.Heads) + " heads over " + Twine(A.KvHeads) + " of " +
               Twine(A.Dim) + ", window " + Twine(A.Rule.Window));
  }
};
} // namespace

std::unique_ptr<Pass> createRaiseAttention(eval::WeightReader Reader) {
  return withReader<RaiseAttention>(std::move(Reader));
}
} // namespace llmc::raise
